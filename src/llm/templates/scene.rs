//! What operators know of a program besides its syntax: names in scope, types, constants, whole lines.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    rc::Rc,
};

use super::{
    expression::Expr,
    kind::{Field, Kind},
    literals::{Constants, Literals},
    names::Names,
    shape::{Shape, Types},
    syntax::{NodeId, Syntax},
};

/// Most nodes of a program that operators look at, in source order: about 300 lines. What stands behind is not changed.
const MOST_SITES: usize = 3_000;

/// Nodes further down in the tree are not changed.
const DEEPEST_SITE: usize = 200;

/// Where an expression stands, as far as operators ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Argument of a call, or the value of a keyword argument.
    Argument,
    /// Operand of an arithmetic operator.
    Operand,
    /// Side of a comparison.
    Side,
    /// In the brackets of a subscript.
    Index,
    /// Bound or step of a slice.
    Bound,
    /// Right-hand side of an assignment.
    Assigned,
    /// Returned or yielded.
    Result,
    /// Decides a branch or a loop, or is a clause of what decides.
    Condition,
    /// What a loop or comprehension runs over.
    Iterable,
    /// Element of a list, tuple, set or dictionary, or of a comprehension.
    Element,
    /// Before a dot or a bracket.
    Object,
    /// A statement by itself, or anything else.
    Other,
}

/// A program with all that operators ask of it.
#[derive(Debug)]
pub(super) struct Scene {
    pub(super) syntax: Syntax,
    /// The line ending of the program.
    pub(super) newline: &'static str,
    pub(super) types: Types,
    /// Constants of the visible tests.
    pub(super) literals: Literals,
    /// Constants of the program.
    pub(super) own: Constants,
    names: Names,
    sites: Vec<NodeId>,
    /// Answers of [`Scene::variables`], since many operators ask the same.
    visible: RefCell<BTreeMap<NodeId, Rc<[String]>>>,
}

impl Scene {
    pub(super) fn new(syntax: Syntax, types: Types, literals: Literals) -> Self {
        let newline = if syntax.source().contains("\r\n") { "\r\n" } else { "\n" };
        let names = Names::new(&syntax);
        let sites = sites(&syntax);
        let own = Constants::of_program(&syntax);
        Self { syntax, newline, types, literals, own, names, sites, visible: RefCell::default() }
    }

    /// The nodes that operators may look at: no docstrings, imports, decorators, annotations or parameter names.
    pub(super) fn sites(&self) -> &[NodeId] {
        &self.sites
    }

    pub(super) fn expr(&self, id: NodeId) -> Expr {
        Expr::of(&self.syntax, id)
    }

    pub(super) fn shape(&self, id: NodeId) -> Shape {
        self.types.shape(&self.syntax, id)
    }

    /// Variables that have a value at `id`, those mentioned nearest first.
    pub(super) fn variables(&self, id: NodeId) -> Vec<String> {
        let known = self.visible.borrow().get(&id).cloned();
        let names = known.unwrap_or_else(|| {
            let names: Rc<[String]> = self.names.visible(&self.syntax, id).into();
            self.visible.borrow_mut().insert(id, names.clone());
            names
        });
        names.to_vec()
    }

    /// Variables that may stand where something of `shape` stands.
    pub(super) fn variables_like(&self, id: NodeId, shape: Shape) -> Vec<String> {
        let mut names = self.variables(id);
        names.retain(|name| self.types.of(name).fits(shape));
        names
    }

    /// Variables that may be numbers.
    pub(super) fn numbers(&self, id: NodeId) -> Vec<String> {
        let mut names = self.variables(id);
        names.retain(|name| self.types.of(name).numeric());
        names
    }

    /// Variables of the function around `id` that nothing reads.
    pub(super) fn unread(&self, id: NodeId) -> Vec<String> {
        let mut names = self.variables(id);
        names.retain(|name| self.names.is_unread(&self.syntax, id, name));
        names
    }

    /// Functions of the program, with how many parameters they take.
    pub(super) fn functions(&self) -> &[(String, usize)] {
        self.names.functions()
    }

    /// Names of attributes that the program mentions, in order of first mention.
    pub(super) fn attributes(&self) -> &[String] {
        self.names.attributes()
    }

    /// Whether `id` is an expression whose value is used (not a target, a name of a keyword, a function being called).
    pub(super) fn is_value(&self, id: NodeId) -> bool {
        let syntax = &self.syntax;
        if !syntax.kind(id).is_expression() {
            return false;
        }
        let field = syntax.field(id);
        let named = matches!(
            (syntax.parent_kind(id), field),
            (Kind::Call, Field::Function)
                | (Kind::Keyword | Kind::DefaultParameter | Kind::TypedDefault | Kind::Named, Field::Name)
                | (Kind::Attribute, Field::Attribute)
        );
        !named && !self.is_target(id)
    }

    /// Whether `id` is assigned to (not the object or index inside a target).
    pub(super) fn is_target(&self, id: NodeId) -> bool {
        let syntax = &self.syntax;
        matches!(
            (syntax.parent_kind(id), syntax.field(id)),
            (Kind::Assignment | Kind::Augmented | Kind::For | Kind::ForIn, Field::Left)
                | (
                    Kind::PatternList
                        | Kind::TuplePattern
                        | Kind::ListPattern
                        | Kind::ListSplatPattern
                        | Kind::AsPatternTarget
                        | Kind::Delete
                        | Kind::Global
                        | Kind::Nonlocal,
                    _,
                )
        )
    }

    /// Where the expression stands; parentheres are looked through.
    pub(super) fn place(&self, id: NodeId) -> Place {
        let syntax = &self.syntax;
        let Some(parent) = syntax.parent(id) else { return Place::Other };
        match (syntax.kind(parent), syntax.field(id)) {
            (Kind::Parenthesized, _) => self.place(parent),
            (Kind::Arguments, _) | (Kind::Keyword, Field::Value) | (Kind::Call, Field::Arguments) => Place::Argument,
            (Kind::Binary | Kind::Unary, _) => Place::Operand,
            (Kind::Comparison, _) => Place::Side,
            (Kind::Subscript, Field::Subscript) => Place::Index,
            (Kind::Slice, _) => Place::Bound,
            (Kind::Assignment | Kind::Augmented, Field::Right) => Place::Assigned,
            (Kind::Return | Kind::Yield, _) => Place::Result,
            (Kind::If | Kind::While | Kind::Elif, Field::Condition) => Place::Condition,
            (Kind::IfClause | Kind::Assert | Kind::Boolean | Kind::Not, _) => Place::Condition,
            (Kind::Conditional, _) => {
                let middle = syntax.children(parent).get(1).copied();
                if middle == Some(id) { Place::Condition } else { self.place(parent) }
            }
            (Kind::For | Kind::ForIn, Field::Right) => Place::Iterable,
            (Kind::List | Kind::Tuple | Kind::Set | Kind::Pair | Kind::ExpressionList, _) => Place::Element,
            (kind, Field::Body) if kind.is_comprehension() => Place::Element,
            (Kind::Attribute, Field::Object) | (Kind::Subscript, Field::Value) => Place::Object,
            _ => Place::Other,
        }
    }

    /// The whole lines of a statement, its last line ending included; `None` when it shares a line with another.
    pub(super) fn lines(&self, statement: NodeId) -> Option<Range<usize>> {
        let source = self.syntax.source();
        let (start, end) = (self.syntax.start(statement), self.syntax.end(statement));
        let from = source[..start].rfind('\n').map_or(0, |at| at + 1);
        let to = source[end..].find('\n').map_or(source.len(), |at| end + at + 1);
        let before = source[from..start].chars().all(|c| c == ' ' || c == '\t');
        let rest = source[end..to].trim_start_matches([' ', '\t', '\r', '\n']);
        (before && (rest.is_empty() || rest.starts_with('#'))).then_some(from..to)
    }

    /// The white space before the statement on its line.
    pub(super) fn indent(&self, statement: NodeId) -> &str {
        let source = self.syntax.source();
        let start = self.syntax.start(statement);
        let from = source[..start].rfind('\n').map_or(0, |at| at + 1);
        let line = &source[from..start];
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }

    /// One step of indentation more than that of `statement`, in the program's own style.
    pub(super) fn deeper(&self, statement: NodeId) -> String {
        let indent = self.indent(statement);
        let step = if indent.contains('\t') { "\t" } else { "    " };
        format!("{indent}{step}")
    }

    /// The statement before and after this one in its block.
    pub(super) fn neighbours(&self, statement: NodeId) -> (Option<NodeId>, Option<NodeId>) {
        let Some(block) = self.syntax.parent(statement).filter(|_| self.is_statement(statement)) else {
            return (None, None);
        };
        let all = self.syntax.statements(block);
        match all.iter().position(|other| *other == statement) {
            Some(at) => (at.checked_sub(1).and_then(|at| all.get(at)).copied(), all.get(at + 1).copied()),
            None => (None, None),
        }
    }

    /// Whether `id` is a statement in a block or in the module.
    pub(super) fn is_statement(&self, id: NodeId) -> bool {
        matches!(self.syntax.parent_kind(id), Kind::Block | Kind::Module) && self.syntax.kind(id) != Kind::Comment
    }

    /// Whether a loop of the same function is around `id`.
    pub(super) fn in_loop(&self, id: NodeId) -> bool {
        self.syntax
            .lineage(id)
            .skip(1)
            .take_while(|id| !matches!(self.syntax.kind(*id), Kind::Function | Kind::Class))
            .any(|id| matches!(self.syntax.kind(id), Kind::For | Kind::While))
    }

    /// Expressions of the same function that satisfy `wanted`, each text once, in source order.
    pub(super) fn elsewhere(&self, id: NodeId, wanted: impl Fn(NodeId) -> bool) -> Vec<NodeId> {
        let root = self.syntax.function(id);
        let mut texts = BTreeSet::new();
        self.sites
            .iter()
            .copied()
            .filter(|other| *other != id && self.syntax.function(*other) == root && self.is_value(*other))
            .filter(|other| wanted(*other) && texts.insert(self.syntax.text(*other)))
            .collect()
    }
}

fn sites(syntax: &Syntax) -> Vec<NodeId> {
    let mut sites = Vec::new();
    let mut skip_to = 0;
    let mut depths: BTreeMap<NodeId, usize> = BTreeMap::new();
    for id in syntax.ids() {
        let depth = syntax.parent(id).and_then(|parent| depths.get(&parent)).map_or(0, |depth| depth + 1);
        depths.insert(id, depth);
        if sites.len() == MOST_SITES {
            break;
        }
        if syntax.start(id) < skip_to || depth > DEEPEST_SITE {
            continue;
        }
        let kind = syntax.kind(id);
        let hidden = match kind {
            Kind::Type | Kind::Decorator | Kind::Import | Kind::ImportFrom | Kind::FutureImport => true,
            Kind::ExpressionStatement => {
                matches!(syntax.children(id).as_slice(), [only] if syntax.kind(*only) == Kind::Str)
            }
            Kind::Identifier => {
                matches!(
                    syntax.parent_kind(id),
                    Kind::Parameters | Kind::LambdaParameters | Kind::TypedParameter | Kind::Function | Kind::Class
                )
            }
            _ => false,
        };
        if hidden {
            skip_to = syntax.end(id);
        } else if kind != Kind::Other && kind != Kind::Comment {
            sites.push(id);
        }
    }
    sites
}

#[cfg(test)]
impl Scene {
    /// The scene of a program of a test, with nothing known but its text.
    pub(super) fn of_text(text: &str) -> Option<Self> {
        Some(Self::new(Syntax::parse(text)?, Types::default(), Literals::default()))
    }
}

#[cfg(test)]
mod tests {
    use super::{Place, Scene};
    use crate::llm::templates::{kind::Kind, syntax::NodeId};

    fn find(scene: &Scene, text: &str) -> NodeId {
        scene.sites().iter().copied().rfind(|id| scene.syntax.text(*id) == text).unwrap()
    }

    #[test]
    fn docstrings_imports_and_annotations_are_no_sites() {
        let scene = Scene::of_text("import os\ndef f(a: int = 3) -> str:\n    'doc'\n    return a\n").unwrap();
        let texts: Vec<&str> = scene.sites().iter().map(|id| scene.syntax.text(*id)).collect();
        assert!(texts.contains(&"3") && texts.contains(&"return a"));
        assert!(!texts.contains(&"os") && !texts.contains(&"int") && !texts.contains(&"'doc'"));
    }

    #[test]
    fn only_names_with_a_value_are_in_scope() {
        let scene = Scene::of_text(
            "def f(p, q):\n    a = p\n    for i in a:\n        b = g(i)\n    return [x for x in a if b]\nlate = 1\n",
        )
        .unwrap();
        let call = find(&scene, "g(i)");
        let names = scene.variables(call);
        for name in ["p", "q", "a", "i", "b"] {
            assert!(names.iter().any(|other| other == name), "{name} is missing: {names:?}");
        }
        assert!(!names.iter().any(|name| name == "x"));
        assert_eq!(scene.unread(call), ["q"]);
        assert_eq!(scene.place(call), Place::Assigned);
        assert!(scene.variables(find(&scene, "b")).iter().any(|name| name == "x"));
    }

    #[test]
    fn a_statement_that_shares_its_line_has_no_lines_of_its_own() {
        let scene = Scene::of_text("a = 1; b = 2\nc = 3  # three\n").unwrap();
        let lines: Vec<bool> = scene
            .sites()
            .iter()
            .filter(|id| scene.syntax.kind(**id) == Kind::ExpressionStatement)
            .map(|id| scene.lines(*id).is_some())
            .collect();
        assert_eq!(lines, [false, false, true]);
    }
}
