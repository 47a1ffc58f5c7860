//! Edges: do their names exist, and does the source say something that the target takes?

use std::collections::BTreeSet;

use crate::{
    config::{Located, Mistake, did_you_mean, listed, quoted},
    messages::{Intervention, Kind},
    runtime::RoleSpec,
};

use super::{
    Edge, Source, When,
    draft::{Draft, EdgeDraft},
    member::Member,
    plan::{TASK, kinds_carried},
};

/// An edge between actors that exist.
pub(super) struct Wire<'d> {
    pub(super) edge: Edge,
    /// The kinds that it carries; empty where a role is not known.
    pub(super) kinds: Vec<Kind>,
    pub(super) draft: &'d EdgeDraft,
}

/// Looks at every edge. The second value says whether every name was right.
pub(super) fn wires<'d>(
    draft: &'d Draft,
    members: &[Member<'d>],
    mistakes: &mut Vec<Mistake>,
) -> (Vec<Wire<'d>>, bool) {
    let mut wires = Vec::new();
    let mut joined = BTreeSet::new();
    let mut all_known = true;
    for edge in &draft.edges {
        let from = end(&edge.from, members, true, draft.whole, mistakes);
        let to = end(&edge.to, members, false, draft.whole, mistakes);
        let (Some(from), Some(Source::Actor(to))) = (from, to) else {
            all_known = false;
            continue;
        };
        if !joined.insert((edge.from.value.as_str(), edge.to.value.as_str())) {
            let message =
                format!("the edge from {} to {} stands twice", quoted(&edge.from.value), quoted(&edge.to.value));
            mistakes.push(Mistake::at(&edge.to.place, message));
            continue;
        }
        let kinds = carried(from, to, edge, members, mistakes);
        let when = when(from, to, edge, &kinds, members, mistakes);
        let intervene = intervene(from, edge, &kinds, mistakes);
        wires.push(Wire { edge: Edge { from, to, when, intervene }, kinds, draft: edge });
    }
    (wires, all_known)
}

fn end(
    name: &Located<String>,
    members: &[Member<'_>],
    begins: bool,
    whole: bool,
    mistakes: &mut Vec<Mistake>,
) -> Option<Source> {
    let written = name.value.as_str();
    if written == TASK {
        if begins {
            return Some(Source::Task);
        }
        mistakes.push(Mistake::at(&name.place, "nothing can be sent to `task`: an edge ends at an actor"));
        return None;
    }
    if let Some(index) = members.iter().position(|member| member.draft.name.value == written) {
        return Some(Source::Actor(index));
    }
    // Where a part of the file could not be read, the actor may stand there.
    if whole {
        let mut known: Vec<&str> = members.iter().map(|member| member.draft.name.value.as_str()).collect();
        if begins {
            known.insert(0, TASK);
        }
        let message = format!("there is no actor {}{}", quoted(written), did_you_mean(written, &known));
        mistakes.push(Mistake::at(&name.place, message).hint(format!("actors: {}", listed(known))));
    }
    None
}

fn spec_of(index: usize, members: &[Member<'_>]) -> Option<&'static RoleSpec> {
    members.get(index).and_then(|member| member.part.as_ref()).map(|part| part.entry.spec)
}

fn carried(
    from: Source,
    to: usize,
    edge: &EdgeDraft,
    members: &[Member<'_>],
    mistakes: &mut Vec<Mistake>,
) -> Vec<Kind> {
    let Some(target) = spec_of(to, members) else { return Vec::new() };
    let source = match from {
        Source::Task => None,
        Source::Actor(index) => match spec_of(index, members) {
            Some(spec) => Some(spec),
            None => return Vec::new(),
        },
    };
    let kinds = kinds_carried(source, target);
    if kinds.is_empty() {
        let says = match source {
            None => "it sends Task, or the starter to a role that runs programs".to_owned(),
            Some(source) => format!("it emits {}", kinds_listed(source.emits)),
        };
        let (from, to) = (quoted(&edge.from.value), quoted(&edge.to.value));
        let accepts = kinds_listed(target.accepts);
        let message = format!("an edge from {from} to {to} carries nothing: {says}, {to} accepts {accepts}");
        let takers = members
            .iter()
            .enumerate()
            .filter(|(index, _)| spec_of(*index, members).is_some_and(|spec| !kinds_carried(source, spec).is_empty()));
        let takers = listed(takers.map(|(_, member)| member.draft.name.value.as_str()));
        mistakes.push(Mistake::at(&edge.to.place, message).hint(format!("{from} can send to: {takers}")));
    }
    kinds
}

fn when(
    from: Source,
    to: usize,
    edge: &EdgeDraft,
    kinds: &[Kind],
    members: &[Member<'_>],
    mistakes: &mut Vec<Mistake>,
) -> When {
    let judged = kinds.iter().any(|kind| kind.is_judged());
    match &edge.when {
        Some(when) => {
            if when.value != When::Always && !judged && !kinds.is_empty() {
                let what = if from == Source::Task { "`task`".to_owned() } else { quoted(&edge.from.value) };
                let message = format!(
                    "`when = \"{}\"` has no use: {what} sends {}, which no test has judged",
                    when.value.word(),
                    kinds_listed(kinds),
                );
                mistakes.push(Mistake::at(&when.place, message).hint("leave `when` out, or write \"always\""));
            }
            when.value
        }
        None => {
            let opens = spec_of(to, members).is_some_and(|spec| kinds.iter().any(|kind| spec.opens_generation(*kind)));
            if opens { When::Failed } else { When::Always }
        }
    }
}

/// Only words can be taken out or exchanged; everything that an actor says can be dropped.
fn intervene(from: Source, edge: &EdgeDraft, kinds: &[Kind], mistakes: &mut Vec<Mistake>) -> Option<Intervention> {
    let written = edge.intervene.as_ref()?;
    let word = written.value.word();
    if from == Source::Task {
        let message = format!("`intervene = \"{word}\"` has no use on an edge from `task`");
        mistakes.push(Mistake::at(&written.place, message).hint("remove the edge"));
    } else if written.value != Intervention::Drop && kinds.iter().any(|kind| *kind != Kind::Diagnosis) {
        let message = format!(
            "`intervene = \"{word}\"` is for edges that carry Diagnosis alone, and this one carries {}",
            kinds_listed(kinds)
        );
        mistakes.push(Mistake::at(&written.place, message).hint("\"drop\" is for every edge between actors"));
    }
    Some(written.value)
}

fn kinds_listed(kinds: &[Kind]) -> String {
    listed(kinds.iter().map(|kind| kind.name()))
}
