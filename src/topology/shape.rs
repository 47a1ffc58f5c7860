//! What is wrong with the arrangement as a whole: who is never reached, what never ends, what no test ever judges.

use std::collections::BTreeSet;

use crate::{
    config::{Mistake, Place, quoted},
    domain::Slots,
    messages::Kind,
    runtime::RoleSpec,
};

use super::{Source, draft::Draft, graph::Graph, member::Member, wiring::Wire};

/// Budgets that end a circle.
const ENDS: &str = "`programs`, `model_calls`, `tokens` or `generations`";

/// The arrangement as a graph.
pub(super) fn graph<'w>(members: usize, wires: impl Iterator<Item = &'w Wire<'w>>) -> Graph {
    let mut graph = Graph { roots: Vec::new(), next: vec![Vec::new(); members] };
    for wire in wires {
        match wire.edge.from {
            Source::Task => graph.roots.push(wire.edge.to),
            Source::Actor(from) => {
                if let Some(next) = graph.next.get_mut(from) {
                    next.push(wire.edge.to);
                }
            }
        }
    }
    graph
}

/// What the looking at shapes needs.
pub(super) struct Shape<'a> {
    pub(super) draft: &'a Draft,
    pub(super) members: &'a [Member<'a>],
    pub(super) wires: &'a [Wire<'a>],
    pub(super) graph: &'a Graph,
    /// Whether every edge names actors that exist.
    pub(super) names_right: bool,
}

impl Shape<'_> {
    /// Adds every mistake of shape. Nothing is said to be missing where a part of the file could not be read.
    pub(super) fn check(&self, mistakes: &mut Vec<Mistake>) {
        if self.draft.whole {
            self.executors(mistakes);
            if self.names_right {
                self.unreached(mistakes);
            }
        }
        self.task_edges(mistakes);
        self.circles(mistakes);
        self.endless_drafts(mistakes);
        self.parents_of_a_beam(mistakes);
    }

    /// A ranker chooses the parents; `search.parents` would overrule it.
    fn parents_of_a_beam(&self, mistakes: &mut Vec<Mistake>) {
        let Some(index) = self.indices().find(|index| self.spec(*index).is_some_and(RoleSpec::chooses)) else { return };
        for (key, right) in [("search.parents", "beam"), ("search.barrier", "generation")] {
            let Some(written) = self.draft.values.get(key).filter(|it| it.value.as_str() != Some(right)) else {
                continue;
            };
            let message =
                format!("`{key}` is for arrangements without a ranker: here {} chooses the parents", self.name(index));
            mistakes.push(Mistake::at(&written.place, message).hint("remove it, or remove the ranker"));
        }
    }

    fn spec(&self, index: usize) -> Option<&'static RoleSpec> {
        self.members.get(index).and_then(|member| member.part.as_ref()).map(|part| part.entry.spec)
    }

    fn name(&self, index: usize) -> String {
        self.members.get(index).map_or_else(String::new, |member| quoted(&member.draft.name.value))
    }

    fn place(&self, index: usize) -> Place {
        let start = || Place::start_of(&self.draft.source);
        self.members.get(index).map_or_else(start, |member| member.draft.name.place.clone())
    }

    fn executors(&self, mistakes: &mut Vec<Mistake>) {
        let start = Place::start_of(&self.draft.source);
        if self.members.is_empty() {
            let none =
                Mistake::at(&start, "there are no actors").hint("an actor is a table `[actors.NAME]` with a `role`");
            return mistakes.push(none);
        }
        let executors: Vec<usize> =
            self.indices().filter(|&index| self.spec(index).is_some_and(|it| it.evaluates)).collect();
        let all_known = self.members.iter().all(|member| member.part.is_some());
        if executors.is_empty() {
            if all_known {
                let none = Mistake::at(&start, "no actor runs programs").hint("one actor needs `role = \"executor\"`");
                mistakes.push(none);
            }
            return;
        }
        if !all_known || !self.names_right {
            return;
        }
        let reached: BTreeSet<usize> = self.graph.reached().into_iter().collect();
        for index in self.indices().filter(|index| reached.contains(index)) {
            let says = self.spec(index).map_or(&[][..], |spec| spec.emits);
            let works = says.contains(&Kind::Candidate) || says.contains(&Kind::Diagnosis);
            if works && !self.graph.reached_from(&[index]).iter().any(|other| executors.contains(other)) {
                let message = format!("no way leads from {} to an executor: its work would be lost", self.name(index));
                let names = executors.iter().map(|&index| self.name(index)).collect::<Vec<_>>().join(", ");
                mistakes.push(Mistake::at(&self.place(index), message).hint(format!("executors: {names}")));
            }
        }
    }

    fn indices(&self) -> std::ops::Range<usize> {
        0..self.members.len()
    }

    fn unreached(&self, mistakes: &mut Vec<Mistake>) {
        if self.members.is_empty() {
            return;
        }
        if self.graph.roots.is_empty() {
            let none =
                Mistake::at(&Place::start_of(&self.draft.source), "no edge begins at `task`: nothing would start");
            return mistakes.push(none.hint("add `[[edges]]` with `from = \"task\"`"));
        }
        let reached: BTreeSet<usize> = self.graph.reached().into_iter().collect();
        for index in self.indices().filter(|index| !reached.contains(index)) {
            let message = format!("{} cannot be reached from `task`", self.name(index));
            let hint = "add an edge that leads to it, or take the actor out";
            mistakes.push(Mistake::at(&self.place(index), message).hint(hint));
        }
    }

    /// The starter takes the way of first drafts, where somebody writes them.
    fn task_edges(&self, mistakes: &mut Vec<Mistake>) {
        let from_task = || self.wires.iter().filter(|wire| wire.edge.from == Source::Task);
        let Some(drafter) = from_task().find(|wire| wire.kinds == [Kind::Task]) else { return };
        for wire in from_task().filter(|wire| wire.kinds == [Kind::Candidate]) {
            let message = format!(
                "{} gets the starter on the way of the drafts of {}, not from `task`",
                self.name(wire.edge.to),
                self.name(drafter.edge.to),
            );
            mistakes.push(Mistake::at(&wire.draft.to.place, message).hint("take this edge out"));
        }
    }

    /// Edges that carry nothing close no circle.
    fn circles(&self, mistakes: &mut Vec<Mistake>) {
        let graph = graph(self.members.len(), self.wires.iter().filter(|wire| !wire.kinds.is_empty()));
        if let Some((from, to)) = self.circle_without_writer(&graph) {
            let message = format!("nobody writes a program in the circle {}", self.circle(&graph, from, to));
            mistakes.push(Mistake::at(&self.back_place(from, to), message).hint("such a circle would never end"));
        }
        let ended = ["programs", "model_calls", "tokens", "generations"].iter().any(|key| self.limits(key));
        let widths = self.draft.values.get("search.widths").and_then(|written| written.value.as_array());
        if ended || widths.is_some_and(|widths| !widths.is_empty()) {
            return;
        }
        if let Some(&(from, to)) = graph.back_edges().first() {
            let message = format!("no budget ends the circle {}", self.circle(&graph, from, to));
            mistakes.push(
                Mistake::at(&self.back_place(from, to), message)
                    .hint(format!("set {ENDS} in `[budget]`, or `search.widths`")),
            );
        }
    }

    /// Whether a budget is set, to whatever value.
    fn limits(&self, key: &str) -> bool {
        let path = format!("budget.{key}");
        match self.draft.values.get(&path) {
            Some(written) => written.value.is_number(),
            None => self.draft.values.mentions(&path),
        }
    }

    fn circle_without_writer(&self, graph: &Graph) -> Option<(usize, usize)> {
        let writes = |index: usize| self.spec(index).is_none_or(|spec| spec.emits.contains(&Kind::Candidate));
        let mut filters = Graph { roots: self.indices().collect(), next: graph.next.clone() };
        for (index, next) in filters.next.iter_mut().enumerate() {
            if writes(index) {
                next.clear();
            }
            next.retain(|&to| !writes(to));
        }
        filters.back_edges().first().copied()
    }

    fn circle(&self, graph: &Graph, from: usize, to: usize) -> String {
        let mut way = graph.way(to, from);
        way.push(to);
        let names =
            way.iter().filter_map(|&index| self.members.get(index)).map(|member| member.draft.name.value.as_str());
        quoted(&names.collect::<Vec<_>>().join(" -> "))
    }

    fn back_place(&self, from: usize, to: usize) -> Place {
        let wire = self.wires.iter().find(|wire| wire.edge.from == Source::Actor(from) && wire.edge.to == to);
        wire.map_or_else(|| self.place(to), |wire| wire.draft.to.place.clone())
    }

    fn endless_drafts(&self, mistakes: &mut Vec<Mistake>) {
        if ["programs", "model_calls", "tokens"].iter().any(|key| self.limits(key)) {
            return;
        }
        for member in self.members {
            let slots = member.part.as_ref().and_then(|part| part.node.slots.get(&Kind::Task));
            if slots == Some(&Slots::Budget) {
                let place = member.draft.values.get("settings.drafts").map_or(&member.draft.name.place, |it| &it.place);
                let message = format!("no budget ends the drafts of {}", quoted(&member.draft.name.value));
                let hint = "set `programs`, `model_calls` or `tokens` in `[budget]`";
                mistakes.push(Mistake::at(place, message).hint(hint));
            }
        }
    }
}
