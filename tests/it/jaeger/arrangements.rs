//! Every shipped arrangement in a real Jaeger: its dependency graph is the arrangement, its traces are healthy, and each span
//! says what a reader looks for.

use std::collections::{BTreeMap, BTreeSet};

use rolecall::topology::{Plan, Source, TopologyRef};

use super::{
    api::SeenSpan,
    play::{Run, spans_of},
    server::{Jaeger, Site},
};
use crate::{arrangements::shipped, stage::talkative, support::task};

type Edges = BTreeSet<(String, String)>;

/// The edges of the file, those of the task being the conversation's.
fn arranged(plan: &Plan) -> Edges {
    let sender = |from: Source| match from {
        Source::Task => "rolecall".to_owned(),
        Source::Actor(index) => plan.nodes[index].name.0.clone(),
    };
    plan.edges.iter().map(|edge| (sender(edge.from), plan.nodes[edge.to].name.0.clone())).collect()
}

/// The edges that were counted since `before` was asked.
fn new_edges(site: &Site, before: &BTreeMap<(String, String), u64>) -> Edges {
    let now = site.dependencies();
    now.into_iter().filter(|(edge, calls)| before.get(edge) != Some(calls)).map(|(edge, _)| edge).collect()
}

#[test]
fn the_dependency_graph_of_every_shipped_arrangement_is_that_of_its_file() {
    let jaeger = Jaeger::start();
    let site = &jaeger.site;
    for name in TopologyRef::shipped() {
        let plan = shipped(&name, &["programs=40"]);
        let arranged = arranged(&plan);
        let actors: BTreeSet<String> = plan.nodes.iter().map(|node| node.name.0.clone()).collect();
        let asking: BTreeSet<String> =
            plan.nodes.iter().filter(|node| node.model.is_some()).map(|node| node.name.0.clone()).collect();
        // Where nobody drafts, the task brings the first program.
        let starter = plan.drafting().next().is_none().then_some("def f(x): return 0");
        let before = site.dependencies();
        let run = Run::to(Some(site.endpoint()));
        let record = run.hold_about(task(5, starter), plan, talkative(), 1).remove(0);
        run.finish();
        let seen = site.trace(&record.head.id.trace_id());
        assert_eq!(seen.len(), spans_of(&record), "{name}");
        let edges = new_edges(site, &before);
        let between: Edges = edges.iter().filter(|(from, to)| from != to && from != "rolecall").cloned().collect();
        let expected: Edges = arranged.iter().filter(|(from, _)| from != "rolecall").cloned().collect();
        assert_eq!(between, expected, "{name}");
        let begun: Edges = arranged.iter().filter(|(from, _)| from == "rolecall").cloned().collect();
        assert!(begun.is_subset(&edges), "{name}: {begun:?} are not all in {edges:?}");
        // Whoever else stands below a round does so by a handoff into it.
        let handing: BTreeSet<&str> = named(&seen, "handoff").map(|span| span.service.as_str()).collect();
        for (_, to) in edges.iter().filter(|(from, to)| from == "rolecall" && to != "rolecall") {
            let may = begun.iter().any(|(_, first)| first == to) || handing.contains(to.as_str());
            assert!(may, "{name}: rolecall -> {to}");
        }
        // A loop is a request to a model.
        let loops: BTreeSet<String> =
            edges.iter().filter(|(from, to)| from == to && from != "rolecall").map(|(from, _)| from.clone()).collect();
        assert!(loops.is_subset(&asking), "{name}: {loops:?}");
        let services: BTreeSet<String> = seen.iter().map(|span| span.service.clone()).collect();
        assert_eq!(services, actors.into_iter().chain(["rolecall".to_owned()]).collect(), "{name}");
        reads_well(&name, &seen);
        let deepest = seen.iter().map(|span| depth(span, &seen)).max().unwrap();
        // Root, round, handoff, everybody once, and a request to a model or a use of the sandbox.
        assert!(deepest <= services.len() - 1 + 4, "{name}: {deepest} deep");
    }
}

/// How many spans stand above this one, and itself.
fn depth(span: &SeenSpan, all: &[SeenSpan]) -> usize {
    let above = |of: &&SeenSpan| all.iter().find(|one| of.parent.as_deref() == Some(&one.id));
    std::iter::successors(Some(span), above).count()
}

fn named<'a>(spans: &'a [SeenSpan], start: &'a str) -> impl Iterator<Item = &'a SeenSpan> {
    spans.iter().filter(move |span| span.name.starts_with(start))
}

/// What the traces of all arrangements have in common.
fn reads_well(name: &str, seen: &[SeenSpan]) {
    for span in seen {
        // No id, number or attempt is part of a name.
        let known = match span.name.split_once(' ') {
            Some(("invoke_workflow", of)) => of == name,
            Some(("invoke_agent", of)) => of == span.service,
            Some(("chat", of)) => of == "scripted",
            Some(("execute_tool", of)) => ["run_tests", "profile"].contains(&of),
            _ => ["conversation_started", "round", "handoff"].contains(&span.name.as_str()),
        };
        assert!(known, "{name}: {}", span.name);
        assert_eq!(span.warnings, Vec::<String>::new(), "{name}: {}", span.name);
        assert!(!span.failed(), "{name}: {} {}", span.name, span.tag("error.type"));
    }
    for chat in named(seen, "chat ") {
        for key in [
            "gen_ai.request.model",
            "gen_ai.usage.input_tokens",
            "gen_ai.usage.output_tokens",
            "gen_ai.request.temperature",
            "gen_ai.request.max_tokens",
            "gen_ai.response.finish_reasons",
            "rolecall.finish",
            "rolecall.purpose",
        ] {
            assert_ne!(chat.tag(key), "", "{name}: {key} of {}", chat.service);
        }
    }
    for execution in named(seen, "execute_tool run_tests") {
        for key in ["rolecall.verdict", "rolecall.candidate", "rolecall.tests", "rolecall.tests.passed"] {
            assert_ne!(execution.tag(key), "", "{name}: {key}");
        }
    }
}
