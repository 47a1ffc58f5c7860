//! The syntax tree of one program, copied out of tree-sitter into a flat list, so that it can be kept and shared.

use tree_sitter::{Parser, TreeCursor};

use super::kind::{Field, Kind};

/// A node of a [`Syntax`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NodeId(u32);

impl NodeId {
    fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Debug)]
struct Node {
    kind: Kind,
    field: Field,
    named: bool,
    start: usize,
    end: usize,
    line: u32,
    parent: Option<NodeId>,
    children: Vec<NodeId>,
}

/// A program text that parses, with its nodes in source order (a parent before its children).
#[derive(Debug)]
pub(super) struct Syntax {
    text: String,
    nodes: Vec<Node>,
}

/// A parser for Python; `None` when the grammar does not fit the library (a fault of the build).
pub(super) fn parser() -> Option<Parser> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_python::LANGUAGE.into()).ok()?;
    Some(parser)
}

/// Whether `text` parses without an error.
pub(super) fn parses(parser: &mut Parser, text: &str) -> bool {
    parser.parse(text, None).is_some_and(|tree| !tree.root_node().has_error())
}

impl Syntax {
    /// Parses `text`; `None` when it has syntax errors.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let tree = parser()?.parse(text, None)?;
        if tree.root_node().has_error() {
            return None;
        }
        let mut syntax = Self { text: text.to_owned(), nodes: Vec::new() };
        syntax.copy(&mut tree.walk());
        Some(syntax)
    }

    fn copy(&mut self, cursor: &mut TreeCursor) {
        let mut parent: Option<NodeId> = None;
        loop {
            let node = cursor.node();
            let id = NodeId(self.nodes.len() as u32);
            self.nodes.push(Node {
                kind: Kind::of(node.kind()),
                field: Field::of(cursor.field_name()),
                named: node.is_named(),
                start: node.start_byte(),
                end: node.end_byte(),
                line: node.start_position().row as u32 + 1,
                parent,
                children: Vec::new(),
            });
            if let Some(parent) = parent {
                self.nodes[parent.index()].children.push(id);
            }
            if cursor.goto_first_child() {
                parent = Some(id);
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
                parent = parent.and_then(|parent| self.nodes[parent.index()].parent);
            }
        }
    }

    /// The whole program.
    pub(super) fn source(&self) -> &str {
        &self.text
    }

    /// Every node in source order.
    pub(super) fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    pub(super) fn kind(&self, id: NodeId) -> Kind {
        self.nodes[id.index()].kind
    }

    pub(super) fn field(&self, id: NodeId) -> Field {
        self.nodes[id.index()].field
    }

    /// First byte.
    pub(super) fn start(&self, id: NodeId) -> usize {
        self.nodes[id.index()].start
    }

    /// Byte after the last.
    pub(super) fn end(&self, id: NodeId) -> usize {
        self.nodes[id.index()].end
    }

    /// 1-based line of the first byte.
    pub(super) fn line(&self, id: NodeId) -> u32 {
        self.nodes[id.index()].line
    }

    pub(super) fn text(&self, id: NodeId) -> &str {
        &self.text[self.start(id)..self.end(id)]
    }

    pub(super) fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.nodes[id.index()].parent
    }

    /// Kind of the parent; [`Kind::Other`] for the root.
    pub(super) fn parent_kind(&self, id: NodeId) -> Kind {
        self.parent(id).map_or(Kind::Other, |parent| self.kind(parent))
    }

    /// Named children without comments, in source order.
    pub(super) fn children(&self, id: NodeId) -> Vec<NodeId> {
        let named = |child: &NodeId| {
            self.nodes[child.index()].named && !matches!(self.kind(*child), Kind::Comment | Kind::LineContinuation)
        };
        self.nodes[id.index()].children.iter().copied().filter(named).collect()
    }

    /// Children that are tokens of the language (operators, keywords, brackets), in source order.
    pub(super) fn tokens(&self, id: NodeId) -> Vec<NodeId> {
        self.nodes[id.index()].children.iter().copied().filter(|child| !self.nodes[child.index()].named).collect()
    }

    /// The child in `field`.
    pub(super) fn child(&self, id: NodeId, field: Field) -> Option<NodeId> {
        self.nodes[id.index()].children.iter().copied().find(|child| self.field(*child) == field)
    }

    /// The operator token of a binary, boolean, unary or augmented node, or of a comparison with two operands.
    pub(super) fn operator(&self, id: NodeId) -> Option<NodeId> {
        let mut tokens = self.tokens(id).into_iter();
        let first = tokens.next()?;
        tokens.next().is_none().then_some(first)
    }

    /// The node itself and its ancestors, nearest first.
    pub(super) fn lineage(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(Some(id), |id| self.parent(*id))
    }

    /// The node and all below it, in source order.
    pub(super) fn descendants(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let end = self.end(id);
        (id.0..self.nodes.len() as u32)
            .map(NodeId)
            .take_while(move |other| *other == id || (self.start(*other) < end && self.contains(id, *other)))
    }

    /// Whether `inner` lies within `outer`.
    pub(super) fn contains(&self, outer: NodeId, inner: NodeId) -> bool {
        self.start(outer) <= self.start(inner) && self.end(inner) <= self.end(outer)
    }

    /// The innermost statement that the node belongs to: the ancestor or self that stands in a block or the module.
    pub(super) fn statement(&self, id: NodeId) -> Option<NodeId> {
        self.lineage(id).find(|id| matches!(self.parent_kind(*id), Kind::Block | Kind::Module))
    }

    /// The innermost function that the node lies in (not the node itself).
    pub(super) fn function(&self, id: NodeId) -> Option<NodeId> {
        self.lineage(id).skip(1).find(|id| self.kind(*id) == Kind::Function)
    }

    /// The statements of a block or of the module.
    pub(super) fn statements(&self, block: NodeId) -> Vec<NodeId> {
        self.children(block)
    }

    /// The expression inside any parentheses.
    pub(super) fn bare(&self, id: NodeId) -> NodeId {
        let mut id = id;
        while self.kind(id) == Kind::Parenthesized {
            match self.children(id).as_slice() {
                [inner] => id = *inner,
                _ => break,
            }
        }
        id
    }

    /// For a call: its function and its positional and keyword arguments (a sole generator is one argument).
    pub(super) fn call(&self, id: NodeId) -> Option<(NodeId, Vec<NodeId>)> {
        if self.kind(id) != Kind::Call {
            return None;
        }
        let function = self.child(id, Field::Function)?;
        let arguments = self.child(id, Field::Arguments)?;
        let arguments =
            if self.kind(arguments) == Kind::Arguments { self.children(arguments) } else { vec![arguments] };
        Some((function, arguments))
    }

    /// For a call of a method: the object, the method's name and the arguments.
    pub(super) fn method_call(&self, id: NodeId) -> Option<(NodeId, NodeId, Vec<NodeId>)> {
        let (function, arguments) = self.call(id)?;
        if self.kind(function) != Kind::Attribute {
            return None;
        }
        Some((self.child(function, Field::Object)?, self.child(function, Field::Attribute)?, arguments))
    }

    /// Whether the node lies in a string (in an f-string's braces).
    pub(super) fn in_string(&self, id: NodeId) -> bool {
        self.lineage(id).skip(1).any(|id| self.kind(id) == Kind::Str)
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, Syntax};

    #[test]
    fn nodes_know_their_text_statement_and_function() {
        let syntax = Syntax::parse("def f(a):\n    if a:\n        return g(a + 1)\n").unwrap();
        let call = syntax.ids().find(|id| syntax.kind(*id) == Kind::Call).unwrap();
        assert_eq!(syntax.text(call), "g(a + 1)");
        assert_eq!(syntax.line(call), 3);
        assert_eq!(syntax.text(syntax.statement(call).unwrap()), "return g(a + 1)");
        assert_eq!(syntax.kind(syntax.function(call).unwrap()), Kind::Function);
        assert_eq!(syntax.call(call).unwrap().1.len(), 1);
    }

    #[test]
    fn a_text_with_a_syntax_error_has_no_tree() {
        assert!(Syntax::parse("def f(:\n").is_none());
        assert!(Syntax::parse("").is_some());
    }
}
