//! Which names have a value where.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    kind::{Field, Kind},
    syntax::{NodeId, Syntax},
};

/// Most names that one place is told of: the nearest.
const MOST_VISIBLE: usize = 40;

/// A place where a name gets a value.
#[derive(Debug)]
struct Binding {
    start: usize,
    /// The node outside of which the name means nothing: a function, a comprehension or the module.
    scope: NodeId,
    parameter: bool,
}

/// All names of a program.
#[derive(Debug)]
pub(super) struct Names {
    bindings: BTreeMap<String, Vec<Binding>>,
    /// Where each name is written, in source order.
    mentions: BTreeMap<String, Vec<NodeId>>,
    functions: Vec<(String, usize)>,
    attributes: Vec<String>,
}

impl Names {
    pub(super) fn new(syntax: &Syntax) -> Self {
        let mut names = Self {
            bindings: BTreeMap::new(),
            mentions: BTreeMap::new(),
            functions: Vec::new(),
            attributes: Vec::new(),
        };
        let mut attributes = BTreeSet::new();
        for id in syntax.ids() {
            match syntax.kind(id) {
                Kind::Identifier => names.identifier(syntax, id),
                Kind::Function => {
                    let parameters = syntax.child(id, Field::Parameters).map_or(0, |id| syntax.children(id).len());
                    if let Some(name) = syntax.child(id, Field::Name) {
                        names.functions.push((syntax.text(name).to_owned(), parameters));
                    }
                }
                Kind::Attribute => {
                    if let Some(name) = syntax.child(id, Field::Attribute)
                        && syntax.field(id) != Field::Function
                        && attributes.insert(syntax.text(name))
                    {
                        names.attributes.push(syntax.text(name).to_owned());
                    }
                    names.own_attribute(syntax, id);
                }
                _ => {}
            }
        }
        names
    }

    fn identifier(&mut self, syntax: &Syntax, id: NodeId) {
        if matches!(
            (syntax.parent_kind(id), syntax.field(id)),
            (Kind::Attribute, Field::Attribute) | (Kind::Keyword, Field::Name) | (Kind::Type, _)
        ) {
            return;
        }
        let name = syntax.text(id).to_owned();
        if let Some((scope, parameter)) = binding_scope(syntax, id) {
            let binding = Binding { start: syntax.start(id), scope, parameter };
            self.bindings.entry(name.clone()).or_default().push(binding);
        }
        self.mentions.entry(name).or_default().push(id);
    }

    /// `self.x = …` makes `self.x` a variable of every method of the class.
    fn own_attribute(&mut self, syntax: &Syntax, id: NodeId) {
        let object = syntax.child(id, Field::Object);
        let of_self = object.is_some_and(|object| syntax.text(object) == "self");
        let assigned = syntax.parent_kind(id) == Kind::Assignment && syntax.field(id) == Field::Left;
        let class = syntax.lineage(id).find(|id| syntax.kind(*id) == Kind::Class);
        if let (true, true, Some(scope)) = (of_self, assigned, class) {
            let binding = Binding { start: syntax.start(scope), scope, parameter: true };
            self.bindings.entry(syntax.text(id).to_owned()).or_default().push(binding);
        }
    }

    /// Variables that have a value at `id`, those mentioned nearest first, at most [`MOST_VISIBLE`]. A name has a value
    /// after the place that binds it, or anywhere in a loop that both stand in.
    pub(super) fn visible(&self, syntax: &Syntax, id: NodeId) -> Vec<String> {
        let function = syntax.function(id);
        let mut names = Vec::new();
        for (name, bindings) in self.bindings.iter().filter(|(name, _)| !matches!(name.as_str(), "self" | "_")) {
            if let Some(binding) = bindings.iter().find(|binding| self.has_value(syntax, binding, id, function)) {
                let global = syntax.kind(binding.scope) == Kind::Module && function.is_some();
                names.push((global, self.distance(syntax, name, id), name));
            }
        }
        names.sort();
        names.into_iter().take(MOST_VISIBLE).map(|(_, _, name)| name.clone()).collect()
    }

    fn has_value(&self, syntax: &Syntax, binding: &Binding, id: NodeId, function: Option<NodeId>) -> bool {
        let kind = syntax.kind(binding.scope);
        if !syntax.contains(binding.scope, id) && kind != Kind::Module {
            return false;
        }
        let comprehension = kind.is_comprehension();
        let own = comprehension || Some(binding.scope) == function || function.is_none();
        !own || binding.parameter
            || comprehension
            || syntax.end(id) < binding.start && self.share_loop(syntax, id, binding.start)
            || binding.start < syntax.start(id) && !self.in_same_statement(syntax, id, binding.start)
    }

    fn share_loop(&self, syntax: &Syntax, id: NodeId, start: usize) -> bool {
        syntax
            .lineage(id)
            .take_while(|id| syntax.kind(*id) != Kind::Function)
            .filter(|id| matches!(syntax.kind(*id), Kind::For | Kind::While))
            .any(|id| syntax.start(id) <= start && start < syntax.end(id))
    }

    /// `x = … id …` with `x` bound here for the first time.
    fn in_same_statement(&self, syntax: &Syntax, id: NodeId, start: usize) -> bool {
        let Some(statement) = syntax.statement(id) else { return false };
        syntax.kind(statement) == Kind::ExpressionStatement
            && syntax.start(statement) <= start
            && start < syntax.end(statement)
            && !self.share_loop(syntax, id, start)
    }

    /// Bytes to the nearest other mention.
    fn distance(&self, syntax: &Syntax, name: &str, id: NodeId) -> usize {
        let start = syntax.start(id);
        let Some(mentions) = self.mentions.get(name) else { return usize::MAX };
        let at = mentions.partition_point(|at| syntax.start(*at) < start);
        let near = mentions[at.saturating_sub(1)..mentions.len().min(at + 2)].iter().filter(|at| **at != id);
        near.map(|at| syntax.start(*at).abs_diff(start)).min().unwrap_or(usize::MAX)
    }

    /// Whether `name` is bound in the function around `id` and nothing in that function reads it.
    pub(super) fn is_unread(&self, syntax: &Syntax, id: NodeId, name: &str) -> bool {
        let Some(function) = syntax.function(id) else { return false };
        let bound_here = self
            .bindings
            .get(name)
            .is_some_and(|bindings| bindings.iter().any(|binding| syntax.contains(function, binding.scope)));
        let mut mentions = self.mentions.get(name).into_iter().flatten();
        bound_here && !mentions.any(|at| syntax.contains(function, *at) && binding_scope(syntax, *at).is_none())
    }

    pub(super) fn functions(&self) -> &[(String, usize)] {
        &self.functions
    }

    pub(super) fn attributes(&self) -> &[String] {
        &self.attributes
    }
}

/// Where the identifier binds a name, the scope that it binds it in and whether as a parameter.
fn binding_scope(syntax: &Syntax, id: NodeId) -> Option<(NodeId, bool)> {
    let mut at = id;
    let (binder, parameter) = loop {
        let parent = syntax.parent(at)?;
        match (syntax.kind(parent), syntax.field(at)) {
            (
                Kind::PatternList
                | Kind::TuplePattern
                | Kind::ListPattern
                | Kind::ListSplatPattern
                | Kind::AsPatternTarget,
                _,
            ) => at = parent,
            (Kind::AsPattern, _) if syntax.kind(at) == Kind::AsPatternTarget => at = parent,
            (Kind::Other, _) if matches!(syntax.kind(at), Kind::AsPattern | Kind::Other) => at = parent,
            (Kind::Assignment | Kind::For | Kind::ForIn, Field::Left) | (Kind::Named, Field::Name) => {
                break (parent, false);
            }
            (Kind::Augmented, Field::Left) => return None,
            (Kind::DefaultParameter | Kind::TypedDefault, Field::Name) | (Kind::TypedParameter, Field::Other) => {
                at = parent;
            }
            (Kind::Parameters | Kind::LambdaParameters, _) => break (parent, true),
            (Kind::With | Kind::Try, _) => break (parent, false),
            _ => return None,
        }
    };
    let scope = syntax.lineage(binder).find(|id| {
        let kind = syntax.kind(*id);
        let comprehension = kind.is_comprehension() && syntax.kind(binder) == Kind::ForIn;
        comprehension || matches!(kind, Kind::Function | Kind::Lambda | Kind::Module)
    })?;
    Some((scope, parameter))
}
