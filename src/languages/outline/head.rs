use tree_sitter::Node;

use super::{
    facts::{Facts, facts},
    read::{methods, name_of, statement_names, top_level},
};
use crate::{
    domain::Language,
    languages::syntax::{Syntax, named_children, nodes_below},
};

/// The head of a function, and what stands above it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionHead {
    /// Imports and helper functions above the function, and above the class around it.
    pub preamble: Option<String>,
    /// Its first lines up to the brace that opens its body; in a language of classes with what stands above it in its
    /// class.
    pub signature: String,
}

/// Takes `text` apart at the function `name`, which stands at its top level or in one of its classes.
pub fn function_head(language: Language, text: &str, name: &str) -> Option<FunctionHead> {
    let facts = facts(language)?;
    let syntax = Syntax::parse(language, (facts.grammar)(), text).ok()?;
    let top = top_level(&syntax);
    let (place, function) = top
        .iter()
        .enumerate()
        .rev()
        .find_map(|(place, node)| function_named(facts, *node, text, name).map(|function| (place, function)))?;
    let body = nodes_below(function).into_iter().find_map(|node| node.child_by_field_name("body"))?;
    if !text[body.start_byte()..].starts_with('{') {
        return None;
    }
    let start = top[place].start_byte();
    let signature = text[start..body.start_byte()].to_owned() + "{";
    // What stands above it ends with the last statement there, not with the function's own comment.
    let above = place.checked_sub(1).map(|last| text[..top[last].end_byte()].trim()).unwrap_or_default();
    let preamble = (!above.is_empty()).then(|| format!("{above}\n"));
    Some(FunctionHead { preamble, signature })
}

/// The node that defines the function `name`: `node` itself, or a method of it.
fn function_named<'t>(facts: &Facts, node: Node<'t>, text: &str, name: &str) -> Option<Node<'t>> {
    if !facts.classes.is_empty() {
        return methods(facts, node).into_iter().rfind(|method| name_of(*method, text) == name);
    }
    statement_names(facts, node, text).contains(name).then_some(node)
}

/// What stands around the last method of the class that `head` opens: the class's own head, for a reply that is a method
/// alone. `None` where `head` opens no class.
pub fn text_around_last_method(language: Language, head: &str) -> Option<&str> {
    let facts = facts(language).filter(|facts| !facts.classes.is_empty())?;
    let closed = format!("{head}\n}}}}");
    let syntax = Syntax::parse(language, (facts.grammar)(), &closed).ok()?;
    if syntax.root().has_error() {
        return None;
    }
    let class = named_children(syntax.root()).into_iter().rfind(|node| facts.classes.contains(&node.kind()))?;
    let method = methods(facts, class).pop()?;
    head.get(..method.start_byte())
}
