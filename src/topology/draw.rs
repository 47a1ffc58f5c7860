//! Drawings of an arrangement: as text for the terminal and as a Mermaid flowchart for documents.

use std::fmt::Write;

use super::{Checked, Edge, ExplainedSetting, Node, Plan, SettingSource, Source, When};
use crate::{agents::role, runtime::RoleEntry};

/// A listing of the actors and, for each sender, of what it sends to whom; then the limits.
pub fn text(checked: &Checked) -> String {
    let plan = &checked.plan;
    let mut out = plan.name.clone();
    if let Some(description) = &checked.description {
        let _ = write!(out, ": {description}");
    }
    out.push_str("\n\nactors\n");
    let width = plan.nodes.iter().map(|node| node.name.0.chars().count()).max().unwrap_or(0);
    for node in &plan.nodes {
        let _ = writeln!(out, "  {:width$}  {}", node.name.0, traits(node));
    }
    out.push_str("\nmessages\n");
    let senders = std::iter::once(Source::Task).chain((0..plan.nodes.len()).map(Source::Actor));
    for sender in senders {
        let mut edges = plan.edges_from(sender).peekable();
        if edges.peek().is_some() {
            let _ = writeln!(out, "  {}", plan.source_name(sender));
        }
        for edge in edges {
            let back = if leads_back(plan, edge) { "   (back)" } else { "" };
            let _ = writeln!(out, "    {} -> {}{back}", label(plan, edge), plan.source_name(Source::Actor(edge.to)));
        }
    }
    out.push_str("\nlimits\n");
    for setting in checked.explain.iter().filter(|setting| is_limit(setting)) {
        let _ = writeln!(out, "  {} = {}", setting.key, setting.value);
    }
    out
}

/// What is drawn of an actor beside its name; settings only where they are not the role's own.
fn traits(node: &Node) -> String {
    let mut traits = vec![format!("role {}", node.spec.name)];
    traits.extend(node.model.as_ref().map(|model| format!("model {model}")));
    traits.extend(node.gathers.then(|| "gathers a generation".to_owned()));
    let defaults = role(node.spec.name).map(RoleEntry::default_settings).unwrap_or_default();
    let own = node.settings.iter().filter(|(key, value)| defaults.get(*key) != Some(value));
    traits.extend(own.map(|(key, value)| format!("{key} = {value}")));
    traits.join(", ")
}

/// Settings of the whole arrangement that are not the defaults.
fn is_limit(setting: &ExplainedSetting) -> bool {
    let sections = ["budget.", "run.", "search.", "stop.", "feedback.", "examples."];
    setting.source != SettingSource::Default && sections.iter().any(|section| setting.key.starts_with(section))
}

fn leads_back(plan: &Plan, edge: &Edge) -> bool {
    let rank = |index: usize| plan.nodes.get(index).map(|node| node.rank);
    match edge.from {
        Source::Task => false,
        Source::Actor(from) => rank(edge.to) <= rank(from),
    }
}

fn label(plan: &Plan, edge: &Edge) -> String {
    let kinds: Vec<&str> = plan.kinds(edge).iter().map(|kind| kind.name()).collect();
    let mut label = kinds.join(", ");
    if edge.when != When::Always {
        label = format!("{label}, {}", edge.when.word());
    }
    match edge.intervene {
        Some(intervene) => format!("{label} [{}]", intervene.word()),
        None => label,
    }
}

/// A Mermaid flowchart with the kinds of messages on its edges.
pub fn mermaid(plan: &Plan) -> String {
    let mut out = "flowchart LR\n  task([task])\n".to_owned();
    for (index, node) in plan.nodes.iter().enumerate() {
        let mut lines = vec![node.name.0.clone()];
        if node.spec.name != node.name.0 {
            lines.push(node.spec.name.to_owned());
        }
        lines.extend(node.model.clone());
        let lines: Vec<String> = lines.iter().map(|line| escaped(line)).collect();
        let _ = writeln!(out, "  a{index}[\"{}\"]", lines.join("<br/>"));
    }
    for edge in &plan.edges {
        let from = match edge.from {
            Source::Task => "task".to_owned(),
            Source::Actor(from) => format!("a{from}"),
        };
        let _ = writeln!(out, "  {from} -- \"{}\" --> a{}", label(plan, edge), edge.to);
    }
    out
}

/// Names of models are the user's; a flowchart takes these signs for its own.
fn escaped(text: &str) -> String {
    let signs = text.chars().map(|sign| match sign {
        '"' | '<' | '>' | '&' | '#' => format!("#{};", u32::from(sign)),
        control if control.is_control() => " ".to_owned(),
        other => other.to_string(),
    });
    signs.collect()
}
