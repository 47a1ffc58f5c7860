use crate::{
    config::{Mistake, Mistakes, listed, quoted},
    llm::Capabilities,
    messages::Kind,
};

use super::{
    Edge, ExplainedSetting, Overrides, Plan, Search, TopologyRef, budgets,
    draft::Draft,
    examples,
    explain::explain,
    fingerprint::fingerprint,
    limits,
    member::{Member, member},
    overlay,
    prompts::check_folder,
    shape::{Shape, graph},
    wiring::{Wire, wires},
};

/// An arrangement that was found right.
#[derive(Clone, Debug)]
pub struct Checked {
    /// What the conversation runs.
    pub plan: Plan,
    /// `description` of the file.
    pub description: Option<String>,
    /// Every effective setting with its source.
    pub explain: Vec<ExplainedSetting>,
}

/// Reads an arrangement with all that it extends, lays the overrides over it and checks everything. Nothing is started
/// and no model is asked; `check` and `run` both call this.
///
/// `capabilities` says what a model of a name can do; `None` means that there is no such model.
///
/// # Errors
/// Every mistake at once, sorted by place.
pub fn load_plan(
    reference: &TopologyRef,
    overrides: &Overrides,
    capabilities: &dyn Fn(&str) -> Option<Capabilities>,
) -> Result<Checked, Mistakes> {
    let mut mistakes = Vec::new();
    let mut draft = overlay::load(reference, &mut mistakes)?;
    overrides.apply(&mut draft, &mut mistakes);
    let plan = resolve(&draft, capabilities, &mut mistakes);
    match Mistakes::collect(mistakes) {
        Some(mistakes) => Err(mistakes),
        None => {
            let description = draft.values.text("description").map(str::to_owned);
            let explain = explain(&draft, &plan);
            Ok(Checked { plan, description, explain })
        }
    }
}

/// The plan of a draft. Where there are mistakes it is not complete.
fn resolve(draft: &Draft, capabilities: &dyn Fn(&str) -> Option<Capabilities>, mistakes: &mut Vec<Mistake>) -> Plan {
    let members: Vec<Member<'_>> =
        draft.actors.iter().map(|actor| member(draft, actor, capabilities, mistakes)).collect();
    let (wires, names_right) = wires(draft, &members, mistakes);
    let graph = graph(members.len(), wires.iter());
    Shape { draft, members: &members, wires: &wires, graph: &graph, names_right }.check(mistakes);
    check_purposes(&members, &wires, mistakes);
    budgets::check(&draft.values, &members, mistakes);
    check_folder(draft, &members, mistakes);
    let examples = examples::settings(&draft.values, &members, mistakes);

    let ranks = graph.ranks();
    let edges: Vec<Edge> = wires.into_iter().map(|wire| wire.edge).collect();
    let nodes = members.into_iter().zip(ranks).filter_map(|(member, rank)| {
        member.part.map(|part| {
            let mut node = part.node;
            node.rank = rank;
            node
        })
    });
    let mut plan = Plan {
        name: draft.values.text("name").map_or_else(|| draft.path.stem(), str::to_owned),
        nodes: nodes.collect(),
        edges,
        parallel_turns: limits::parallel_turns(draft),
        search: Search::default(),
        stop: limits::stop(&draft.values),
        budget: budgets::conversation(&draft.values),
        shared: budgets::shared(&draft.values),
        feedback: limits::feedback(&draft.values),
        examples,
        hash: String::new(),
    };
    let drafting = plan.drafting().next().is_some();
    plan.search = limits::search(&draft.values, drafting, plan.ranker().is_some());
    plan.hash = fingerprint(&plan);
    plan
}

/// Whether each model answers what its actor cannot do without, for the kinds that reach the actor.
fn check_purposes(members: &[Member<'_>], wires: &[Wire<'_>], mistakes: &mut Vec<Mistake>) {
    for (index, member) in members.iter().enumerate() {
        let Some(part) = &member.part else { continue };
        let Some(model) = &part.model else { continue };
        let into = wires.iter().filter(|wire| wire.edge.to == index);
        let mut kinds: Vec<Kind> = into.flat_map(|wire| wire.kinds.iter().copied()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let mut needed: Vec<_> = kinds.iter().filter_map(|kind| part.entry.needs(&part.node.settings, *kind)).collect();
        needed.sort_unstable();
        needed.dedup();
        for purpose in needed.into_iter().filter(|purpose| !model.capabilities.answers.contains(purpose)) {
            let message = format!(
                "{} asks its model to {purpose}, and {} answers only {}",
                quoted(&member.draft.name.value),
                quoted(&model.name),
                listed(model.capabilities.answers.iter().map(|purpose| purpose.name())),
            );
            let hint = "give the actor another `model`";
            mistakes.push(Mistake::at(&member.draft.name.place, message).hint(hint));
        }
    }
}
