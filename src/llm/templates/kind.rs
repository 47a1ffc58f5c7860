/// Declares [`Kind`] with the name that the grammar gives to each of its members.
macro_rules! kinds {
    ($($name:ident = $text:literal,)*) => {
        /// The node kinds of the Python grammar that operators look at; everything else is [`Kind::Other`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(super) enum Kind { $($name,)* Other }

        impl Kind {
            /// The member with this name in the grammar of `tree-sitter-python`.
            pub(super) fn of(name: &str) -> Self {
                match name { $($text => Self::$name,)* _ => Self::Other }
            }
        }
    };
}

kinds! {
    Module = "module", Block = "block", Comment = "comment",
    ExpressionStatement = "expression_statement", Assignment = "assignment", Augmented = "augmented_assignment",
    Return = "return_statement", If = "if_statement", Elif = "elif_clause", Else = "else_clause",
    While = "while_statement", For = "for_statement", Break = "break_statement", Continue = "continue_statement",
    Pass = "pass_statement", Function = "function_definition", Class = "class_definition",
    Decorated = "decorated_definition", Decorator = "decorator", Parameters = "parameters",
    LambdaParameters = "lambda_parameters", DefaultParameter = "default_parameter",
    TypedParameter = "typed_parameter", TypedDefault = "typed_default_parameter",
    Import = "import_statement", ImportFrom = "import_from_statement", FutureImport = "future_import_statement",
    Global = "global_statement", Nonlocal = "nonlocal_statement", Assert = "assert_statement",
    Raise = "raise_statement", Delete = "delete_statement", Try = "try_statement", With = "with_statement",
    AsPattern = "as_pattern", AsPatternTarget = "as_pattern_target", Type = "type",
    Call = "call", Arguments = "argument_list", Keyword = "keyword_argument", Attribute = "attribute",
    Subscript = "subscript", Slice = "slice", Binary = "binary_operator", Unary = "unary_operator",
    Not = "not_operator", Boolean = "boolean_operator", Comparison = "comparison_operator",
    Conditional = "conditional_expression", Parenthesized = "parenthesized_expression", Named = "named_expression",
    List = "list", Tuple = "tuple", Dictionary = "dictionary", Pair = "pair", Set = "set",
    ExpressionList = "expression_list", PatternList = "pattern_list", TuplePattern = "tuple_pattern",
    ListPattern = "list_pattern", ListSplatPattern = "list_splat_pattern", ListSplat = "list_splat",
    DictionarySplat = "dictionary_splat", ListComprehension = "list_comprehension",
    SetComprehension = "set_comprehension", DictionaryComprehension = "dictionary_comprehension",
    Generator = "generator_expression", ForIn = "for_in_clause", IfClause = "if_clause", Lambda = "lambda",
    Yield = "yield", Await = "await", Identifier = "identifier", Integer = "integer", Float = "float",
    Str = "string", ConcatenatedString = "concatenated_string", StringContent = "string_content",
    Interpolation = "interpolation", True = "true", False = "false", None = "none",
    LineContinuation = "line_continuation",
}

impl Kind {
    /// Whether a node of this kind is an expression that has a value.
    pub(super) fn is_expression(self) -> bool {
        matches!(
            self,
            Self::Call
                | Self::Attribute
                | Self::Subscript
                | Self::Binary
                | Self::Unary
                | Self::Not
                | Self::Boolean
                | Self::Comparison
                | Self::Conditional
                | Self::Parenthesized
                | Self::List
                | Self::Tuple
                | Self::Dictionary
                | Self::Set
                | Self::Lambda
                | Self::Await
                | Self::Identifier
                | Self::Integer
                | Self::Float
                | Self::Str
                | Self::ConcatenatedString
                | Self::True
                | Self::False
                | Self::None
        ) || self.is_comprehension()
    }

    /// Whether it binds variables of its own by `for … in`.
    pub(super) fn is_comprehension(self) -> bool {
        matches!(
            self,
            Self::ListComprehension | Self::SetComprehension | Self::DictionaryComprehension | Self::Generator
        )
    }

    /// Whether it is a constant of one token.
    pub(super) fn is_constant(self) -> bool {
        matches!(self, Self::Integer | Self::Float | Self::Str | Self::True | Self::False | Self::None)
    }

    /// Whether it is a statement that holds blocks.
    pub(super) fn is_compound(self) -> bool {
        matches!(
            self,
            Self::If
                | Self::While
                | Self::For
                | Self::Function
                | Self::Class
                | Self::Decorated
                | Self::Try
                | Self::With
        )
    }
}

/// The field of its parent that a node stands in, as far as operators ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Left,
    Right,
    Condition,
    Consequence,
    Alternative,
    Body,
    Function,
    Arguments,
    Object,
    Attribute,
    Value,
    Subscript,
    Name,
    Key,
    Argument,
    Parameters,
    Type,
    Definition,
    Other,
}

impl Field {
    /// The member with this name in the grammar; no name and names nobody asks for are [`Field::Other`].
    pub(super) fn of(name: Option<&str>) -> Self {
        match name {
            Some("left") => Self::Left,
            Some("right") => Self::Right,
            Some("condition") => Self::Condition,
            Some("consequence") => Self::Consequence,
            Some("alternative") => Self::Alternative,
            Some("body") => Self::Body,
            Some("function") => Self::Function,
            Some("arguments") => Self::Arguments,
            Some("object") => Self::Object,
            Some("attribute") => Self::Attribute,
            Some("value") => Self::Value,
            Some("subscript") => Self::Subscript,
            Some("name") => Self::Name,
            Some("key") => Self::Key,
            Some("argument") => Self::Argument,
            Some("parameters") => Self::Parameters,
            Some("type" | "return_type") => Self::Type,
            Some("definition") => Self::Definition,
            _ => Self::Other,
        }
    }
}
