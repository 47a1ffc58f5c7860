//! Texts of new expressions, with what is needed to put parentheses where they are due and nowhere else.

use super::{
    kind::{Field, Kind},
    syntax::{NodeId, Syntax},
};

/// How tightly an expression binds, after the table at the end of the chapter on expressions of the Python reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Strength(u8);

impl Strength {
    /// A list of expressions without brackets.
    pub(super) const LIST: Self = Self(0);
    /// `lambda`.
    pub(super) const LAMBDA: Self = Self(1);
    pub(super) const CONDITIONAL: Self = Self(2);
    pub(super) const OR: Self = Self(3);
    pub(super) const AND: Self = Self(4);
    pub(super) const NOT: Self = Self(5);
    pub(super) const COMPARISON: Self = Self(6);
    pub(super) const SUM: Self = Self(10);
    pub(super) const PRODUCT: Self = Self(11);
    pub(super) const UNARY: Self = Self(12);
    pub(super) const POWER: Self = Self(13);
    /// Names, constants, calls, subscripts, anything in brackets.
    pub(super) const ATOM: Self = Self(15);

    /// Of a binary, boolean or comparison operator.
    pub(super) fn of_operator(operator: &str) -> Self {
        match operator {
            "or" => Self::OR,
            "and" => Self::AND,
            "|" => Self(7),
            "^" => Self(8),
            "&" => Self(9),
            "<<" | ">>" => Self(9),
            "+" | "-" => Self::SUM,
            "*" | "/" | "//" | "%" | "@" => Self::PRODUCT,
            "**" => Self::POWER,
            _ => Self::COMPARISON,
        }
    }

    fn above(self) -> Self {
        Self(self.0 + 1)
    }
}

/// The text of an expression and how tightly it binds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Expr {
    pub(super) text: String,
    strength: Strength,
}

impl Expr {
    pub(super) fn new(text: impl Into<String>, strength: Strength) -> Self {
        Self { text: text.into(), strength }
    }

    /// A name, a constant, a call: anything that never needs parentheses.
    pub(super) fn atom(text: impl Into<String>) -> Self {
        Self::new(text, Strength::ATOM)
    }

    /// The expression at `id` as written.
    pub(super) fn of(syntax: &Syntax, id: NodeId) -> Self {
        let text = syntax.text(id);
        let strength = if spans_lines_openly(text) { Strength::LIST } else { strength(syntax, id) };
        Self::new(text, strength)
    }

    /// The text, in parentheses where it binds less than `least`.
    pub(super) fn at_least(&self, least: Strength) -> String {
        if self.strength < least { format!("({})", self.text) } else { self.text.clone() }
    }

    /// `left operator right`.
    pub(super) fn binary(left: &Self, operator: &str, right: &Self) -> Self {
        let strength = Strength::of_operator(operator);
        let (at_left, at_right) = match operator {
            "**" => (strength.above(), strength),
            "or" | "and" => (strength, strength),
            _ if strength == Strength::COMPARISON => (strength.above(), strength.above()),
            _ => (strength, strength.above()),
        };
        Self::new(format!("{} {operator} {}", left.at_least(at_left), right.at_least(at_right)), strength)
    }

    /// `not self`.
    pub(super) fn not(&self) -> Self {
        Self::new(format!("not {}", self.at_least(Strength::NOT)), Strength::NOT)
    }

    /// `-self`.
    pub(super) fn minus(&self) -> Self {
        Self::new(format!("-{}", self.at_least(Strength::UNARY)), Strength::UNARY)
    }

    /// `function(arguments)`.
    pub(super) fn call(function: &str, arguments: &[&Self]) -> Self {
        let arguments: Vec<String> = arguments.iter().map(|argument| argument.at_least(Strength::LAMBDA)).collect();
        Self::atom(format!("{function}({})", arguments.join(", ")))
    }

    /// `self.method(arguments)`.
    pub(super) fn method(&self, method: &str, arguments: &str) -> Self {
        Self::atom(format!("{}.{method}({arguments})", self.as_object()))
    }

    /// `self[subscript]`.
    pub(super) fn subscript(&self, subscript: &str) -> Self {
        Self::atom(format!("{}[{subscript}]", self.as_object()))
    }

    /// Before a dot or a bracket: a number needs parentheses there too.
    fn as_object(&self) -> String {
        let digit = self.text.starts_with(|c: char| c.is_ascii_digit());
        if digit { format!("({})", self.text) } else { self.at_least(Strength::ATOM) }
    }
}

/// Whether a line ends outside of every bracket, so that the text needs parentheses of its own elsewhere.
fn spans_lines_openly(text: &str) -> bool {
    let mut depth = 0_usize;
    text.contains('\n')
        && !text.starts_with(['"', '\''])
        && text.chars().any(|c| {
            match c {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            c == '\n' && depth == 0
        })
}

/// How tightly the expression at `id` binds.
fn strength(syntax: &Syntax, id: NodeId) -> Strength {
    match syntax.kind(id) {
        Kind::ExpressionList | Kind::PatternList | Kind::Yield | Kind::ListSplat => Strength::LIST,
        Kind::Lambda | Kind::Named => Strength::LAMBDA,
        Kind::Conditional => Strength::CONDITIONAL,
        Kind::Not => Strength::NOT,
        Kind::Comparison => Strength::COMPARISON,
        Kind::Boolean | Kind::Binary => {
            syntax.operator(id).map_or(Strength::LIST, |operator| Strength::of_operator(syntax.text(operator)))
        }
        Kind::Unary => Strength::UNARY,
        Kind::Await => Strength::POWER,
        _ => Strength::ATOM,
    }
}

/// How tightly an expression must bind to stand where `id` stands.
pub(super) fn needed(syntax: &Syntax, id: NodeId) -> Strength {
    let Some(parent) = syntax.parent(id) else { return Strength::LIST };
    let field = syntax.field(id);
    match syntax.kind(parent) {
        Kind::Binary => {
            let strength = strength(syntax, parent);
            let power = strength == Strength::POWER;
            if (field == Field::Left) == power { strength.above() } else { strength }
        }
        Kind::Boolean => strength(syntax, parent),
        Kind::Comparison => Strength::COMPARISON.above(),
        Kind::Unary => Strength::UNARY,
        Kind::Not => Strength::NOT,
        Kind::Attribute => Strength::ATOM,
        Kind::Call if field == Field::Function => Strength::ATOM,
        Kind::Subscript if field == Field::Value => Strength::ATOM,
        Kind::Await => Strength::ATOM,
        Kind::Conditional => Strength::OR,
        Kind::ForIn | Kind::IfClause => Strength::OR,
        Kind::ListSplat | Kind::DictionarySplat => Strength(7),
        Kind::Return | Kind::Yield if syntax.kind(id) == Kind::ExpressionList => Strength::LIST,
        Kind::Assignment | Kind::Augmented => Strength::LIST,
        Kind::Return | Kind::Parenthesized => Strength::LIST,
        _ => Strength::LAMBDA,
    }
}

#[cfg(test)]
mod tests {
    use super::{Expr, Strength};

    #[test]
    fn parentheses_stand_where_they_are_due() {
        let sum = Expr::binary(&Expr::atom("a"), "-", &Expr::atom("b"));
        assert_eq!(Expr::binary(&sum, "-", &sum).text, "a - b - (a - b)");
        assert_eq!(Expr::binary(&sum, "*", &Expr::atom("c")).text, "(a - b) * c");
        assert_eq!(Expr::binary(&sum, "<", &sum).text, "a - b < a - b");
        assert_eq!(Expr::binary(&sum, "<", &sum).not().text, "not a - b < a - b");
        assert_eq!(sum.minus().text, "-(a - b)");
        assert_eq!(sum.method("m", "").text, "(a - b).m()");
        assert_eq!(Expr::new("a, b", Strength::LIST).subscript("0").text, "(a, b)[0]");
        assert_eq!(Expr::atom("7").method("bit_length", "").text, "(7).bit_length()");
    }
}
