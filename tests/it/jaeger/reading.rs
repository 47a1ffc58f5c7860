//! What a reader of Jaeger sees of a conversation.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, LazyLock,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
};

use rolecall::{
    conversation::{ConversationRecord, Outcome},
    llm::{
        ModelError, Purpose,
        scripted::{Line, Scripted},
    },
    telemetry::{Projection, project},
};

use super::{
    api::SeenSpan,
    play::{Run, spans_of, trace_ids},
    server::Jaeger,
};
use crate::{
    stage::talkative,
    support::{mix, seidr},
};

const CAST: [&str; 5] = ["synthesizer", "executor", "ranker", "instructor", "debugger"];

/// A Jaeger that knows two conversations of the SEIDR cast: one whose debugger panics once, and one whose model is lost.
struct Library {
    jaeger: Jaeger,
    held: ConversationRecord,
    failed: ConversationRecord,
}

static LIBRARY: LazyLock<Library> = LazyLock::new(|| {
    let jaeger = Jaeger::for_good();
    let panicked = AtomicBool::new(false);
    let model = Scripted::with(move |request, _| {
        if request.purpose == Purpose::Repair && !panicked.swap(true, SeqCst) {
            return Line::panic("a fault of the model");
        }
        let text = |choice| format!("```python\ndef f(x): return {}\n```", mix(request.seed, choice));
        Line::say_all((0..u64::from(request.choices)).map(text)).usage(10, 5)
    });
    let hold = |model: Scripted| {
        let run = Run::to(Some(jaeger.site.endpoint()));
        let record = run.hold(seidr(2, 4, 20), Arc::new(model), 1).remove(0);
        let summary = run.finish();
        assert_eq!((summary.acknowledged, summary.waiting()), (summary.written, 0), "{summary:?}");
        record
    };
    let held = hold(model);
    let lost = ModelError::Unavailable { status: None, message: "timeout".to_owned(), attempts: Vec::new() };
    let failed = hold(Scripted::with(move |_, _| Line::fail(lost.clone())));
    Library { jaeger, held, failed }
});

impl Library {
    fn seen(&self, record: &ConversationRecord) -> Vec<SeenSpan> {
        self.jaeger.site.trace(&record.head.id.trace_id())
    }
}

fn by_id(spans: &[SeenSpan]) -> BTreeMap<&str, &SeenSpan> {
    spans.iter().map(|span| (span.id.as_str(), span)).collect()
}

fn named<'a>(spans: &'a [SeenSpan], start: &str) -> Vec<&'a SeenSpan> {
    spans.iter().filter(|span| span.name.starts_with(start)).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn t34_the_services_are_the_actors_and_the_conversation() {
    let services: BTreeSet<String> = CAST.iter().chain(&["rolecall"]).map(|&name| name.to_owned()).collect();
    assert_eq!(LIBRARY.jaeger.site.services(), services);
    for span in LIBRARY.seen(&LIBRARY.held) {
        assert_eq!(span.resource["ip"], "127.0.0.1");
        assert_eq!(span.resource["service.namespace"], "rolecall");
        assert_eq!(span.resource["service.instance.id"], LIBRARY.held.head.run.to_string());
        if span.service != "rolecall" && span.name != "handoff" {
            assert_eq!(span.tag("gen_ai.agent.name"), span.service, "{}", span.name);
        }
        if span.service != "rolecall" {
            assert_eq!(span.tag("rolecall.role"), span.service, "{}", span.name);
        }
    }
}

#[test]
fn operations_are_few_and_the_same_in_every_conversation() {
    let operations: BTreeSet<String> =
        LIBRARY.jaeger.site.services().iter().flat_map(|service| LIBRARY.jaeger.site.operations(service)).collect();
    let expected = [
        "chat scripted",
        "conversation_started",
        "execute_tool run_tests",
        "handoff",
        "invoke_agent debugger",
        "invoke_agent instructor",
        "invoke_agent ranker",
        "invoke_agent synthesizer",
        "invoke_workflow test",
        "round",
    ];
    assert_eq!(operations, expected.map(str::to_owned).into());
}

#[test]
fn a42_the_whole_conversation_is_one_trace_span_by_span() {
    for record in [&LIBRARY.held, &LIBRARY.failed] {
        let seen = LIBRARY.seen(record);
        let told = project(record, Projection::default());
        assert_eq!((seen.len(), told.len()), (spans_of(record), spans_of(record)));
        let all = by_id(&seen);
        for one in &told {
            let span = all[hex(&one.span.span_id).as_str()];
            let parent = Some(hex(&one.span.parent_span_id)).filter(|id| !id.is_empty());
            assert_eq!((&span.service, &span.name, &span.parent), (&one.service, &one.span.name, &parent));
            assert_eq!(span.links.len(), one.span.links.len());
        }
        let orphans: Vec<&str> =
            seen.iter().filter(|span| span.parent.is_none()).map(|span| span.name.as_str()).collect();
        assert_eq!(orphans, ["invoke_workflow test"]);
        for span in &seen {
            if let Some(parent) = &span.parent {
                assert!(all.contains_key(parent.as_str()), "{} hangs in the air", span.name);
            }
        }
    }
}

#[test]
fn no_round_is_deeper_than_the_cast() {
    let seen = LIBRARY.seen(&LIBRARY.held);
    let all = by_id(&seen);
    let above = |span: &SeenSpan| span.parent.as_ref().and_then(|id| all.get(id.as_str()).copied());
    let mut deepest = 0;
    for span in &seen {
        let path = std::iter::successors(Some(span), |at| above(at));
        let within = path.take_while(|at| at.name != "round" && !at.name.starts_with("invoke_workflow"));
        deepest = deepest.max(within.count());
    }
    // Everybody speaks once below the handoff or the first actor, and the last may ask a model.
    assert!((CAST.len()..=CAST.len() + 1).contains(&deepest), "{deepest} below a round");
    let rounds: BTreeSet<&str> = named(&seen, "round").iter().map(|round| round.tag("rolecall.generation")).collect();
    assert!(rounds.len() >= 3, "{rounds:?}");
}

#[test]
fn chat_spans_say_what_was_asked_and_what_came_back() {
    let seen = LIBRARY.seen(&LIBRARY.held);
    let chats: Vec<&SeenSpan> =
        named(&seen, "chat ").into_iter().filter(|chat| !chat.tag("rolecall.finish").is_empty()).collect();
    let calls: usize = LIBRARY
        .held
        .turns
        .iter()
        .flat_map(|turn| &turn.attempts)
        .flat_map(|attempt| &attempt.log.calls)
        .filter(|call| call.error.is_none())
        .count();
    assert_eq!(chats.len(), calls);
    let all = by_id(&seen);
    for chat in chats {
        let parent = all[chat.parent.as_deref().unwrap()];
        assert_eq!((&parent.service, &parent.name), (&chat.service, &format!("invoke_agent {}", chat.service)));
        for (name, value) in [
            ("span.kind", "client"),
            ("gen_ai.operation.name", "chat"),
            ("gen_ai.provider.name", "scripted"),
            ("gen_ai.request.model", "scripted"),
            ("gen_ai.request.temperature", "0.7"),
            ("gen_ai.request.max_tokens", "512"),
            ("gen_ai.usage.input_tokens", "10"),
            ("gen_ai.usage.output_tokens", "5"),
            ("rolecall.finish", "stop"),
            ("peer.service", "scripted"),
        ] {
            assert_eq!(chat.tag(name), value, "{name}");
        }
        assert!(chat.tag("gen_ai.request.seed").parse::<u64>().is_ok());
        assert!(chat.tag("gen_ai.response.finish_reasons").contains("\"stop\""));
        assert_eq!(chat.tag("gen_ai.input.messages"), "", "content was not asked for");
    }
    // Only what a model was asked has a model and tokens: other viewers would count them twice.
    for span in seen.iter().filter(|span| !span.name.starts_with("chat ")) {
        assert!(!span.tags.keys().any(|key| key.starts_with("gen_ai.usage.")), "{}", span.name);
        assert_eq!(span.tag("gen_ai.request.model"), "", "{}", span.name);
    }
}

#[test]
fn executions_say_what_the_tests_said_and_where_the_program_came_from() {
    let seen = LIBRARY.seen(&LIBRARY.held);
    let executions = named(&seen, "execute_tool run_tests");
    assert_eq!(executions.len(), 20);
    let candidates: BTreeSet<&str> = executions.iter().map(|span| span.tag("rolecall.candidate")).collect();
    assert_eq!(candidates.len(), executions.len());
    let mut programs = BTreeSet::new();
    for execution in &executions {
        let number = |name: &str| execution.tag(name).parse::<u32>().unwrap_or(0);
        let counted: u32 =
            execution.tags.keys().filter(|key| key.starts_with("rolecall.tests.")).map(|key| number(key)).sum();
        assert_eq!((number("rolecall.tests"), counted), (5, 5), "{:?}", execution.tags);
        assert_eq!(execution.tag("rolecall.verdict"), "wrong");
        assert_eq!(execution.tag("rolecall.language"), "python");
        assert!(execution.tag("rolecall.score").parse::<f64>().unwrap() < 1.0);
        programs.insert(number("rolecall.program"));
        match execution.tag("rolecall.origin") {
            "draft" => assert_eq!(execution.tag("rolecall.parent"), ""),
            "repair" => assert!(candidates.contains(execution.tag("rolecall.parent"))),
            other => panic!("{other}"),
        }
        let evaluations: Vec<_> =
            execution.events.iter().filter(|(name, _)| name == "gen_ai.evaluation.result").collect();
        assert_eq!(evaluations.len(), 1);
        assert_eq!(evaluations[0].1["gen_ai.evaluation.score.value"], execution.tag("rolecall.score"));
    }
    assert_eq!(programs, (1..=20).collect(), "every program has its number");
}

#[test]
fn t46_a_ranker_is_linked_to_all_it_heard_and_says_who_stays() {
    let seen = LIBRARY.seen(&LIBRARY.held);
    let all = by_id(&seen);
    let trace = LIBRARY.held.head.id.trace_id();
    let rankers = named(&seen, "invoke_agent ranker");
    assert!(rankers.len() >= 2);
    for ranker in rankers {
        let mut heard: Vec<&str> = ranker.links.iter().map(|(_, span)| span.as_str()).collect();
        assert!(ranker.links.iter().all(|(of, _)| *of == trace));
        heard.extend(ranker.parent.as_deref());
        let heard: BTreeSet<&str> = heard.iter().map(|id| all[id].tag("rolecall.candidate")).collect();
        let ranked = ranker.events.iter().filter(|(name, _)| name == "rolecall.ranked");
        let word = |tags: &super::api::Tags, name: &str| tags[name].clone();
        let ranked: Vec<(String, String)> =
            ranked.map(|(_, tags)| (word(tags, "rolecall.candidate"), word(tags, "rolecall.ranking"))).collect();
        assert_eq!(ranked.iter().map(|(one, _)| one.as_str()).collect::<BTreeSet<_>>(), heard);
        assert_eq!(ranked.iter().filter(|(_, ranking)| ranking == "kept").count(), 2);
    }
    let handoffs = named(&seen, "handoff");
    assert!(!handoffs.is_empty());
    for handoff in handoffs {
        let round = all[handoff.parent.as_deref().unwrap()];
        assert_eq!((handoff.service.as_str(), round.name.as_str()), ("ranker", "round"));
        let [(_, sender)] = handoff.links.as_slice() else { panic!("{:?}", handoff.links) };
        let sender = all[sender.as_str()];
        assert_eq!(sender.name, "invoke_agent ranker");
        let generation = |span: &SeenSpan| span.tag("rolecall.generation").parse::<u32>().unwrap();
        assert_eq!(generation(round), generation(sender) + 1, "a link across generations");
        assert_eq!(handoff.tag("rolecall.sender_seq"), sender.tag("rolecall.seq"));
    }
}

#[test]
fn the_dependency_graph_is_the_arrangement() {
    let mut expected: BTreeMap<(String, String), u64> = BTreeMap::new();
    for record in [&LIBRARY.held, &LIBRARY.failed] {
        let told = project(record, Projection::default());
        let service: BTreeMap<_, _> = told.iter().map(|one| (&one.span.span_id, &one.service)).collect();
        for one in told.iter().filter(|one| !one.span.parent_span_id.is_empty()) {
            let edge = (service[&one.span.parent_span_id].clone(), one.service.clone());
            *expected.entry(edge).or_default() += 1;
        }
    }
    let seen = LIBRARY.jaeger.site.dependencies();
    assert_eq!(seen, expected);
    let between: BTreeSet<(&str, &str)> =
        seen.keys().map(|(from, to)| (from.as_str(), to.as_str())).filter(|(from, to)| from != to).collect();
    let arrangement = [
        ("rolecall", "synthesizer"),
        ("synthesizer", "executor"),
        ("executor", "ranker"),
        ("ranker", "instructor"),
        ("instructor", "debugger"),
        ("debugger", "executor"),
    ];
    // The ranker's handoffs are children of rounds.
    assert_eq!(between, arrangement.into_iter().chain([("rolecall", "ranker")]).collect());
}

#[test]
fn t42_only_faults_are_errors_and_a_healthy_trace_has_no_warning() {
    let errors = |record: &ConversationRecord| {
        let mut errors: Vec<String> = LIBRARY
            .seen(record)
            .iter()
            .filter(|span| span.failed())
            .map(|span| format!("{}: {}", span.name, span.tag("error.type")))
            .collect();
        errors.sort();
        errors
    };
    assert_eq!(LIBRARY.held.end.outcome, Outcome::BudgetPrograms);
    // The panic came in the middle of a call, of which nobody knows whether it was served.
    assert_eq!(errors(&LIBRARY.held), ["chat scripted: lost", "invoke_agent debugger: panic"]);
    assert_eq!(LIBRARY.failed.end.outcome, Outcome::Failed);
    let lost = ["chat scripted", "invoke_agent synthesizer", "invoke_workflow test"];
    assert_eq!(errors(&LIBRARY.failed), lost.map(|name| format!("{name}: unavailable")));
    for record in [&LIBRARY.held, &LIBRARY.failed] {
        for span in LIBRARY.seen(record) {
            assert_eq!(span.warnings, Vec::<String>::new(), "{}", span.name);
            assert!(span.microseconds >= 1, "{}", span.name);
        }
    }
}

#[test]
fn t44_a_conversation_is_found_by_what_its_root_says() {
    let site = &LIBRARY.jaeger.site;
    let [held, failed] = [&LIBRARY.held, &LIBRARY.failed].map(|record| record.head.id.trace_id());
    let one = |id: &String| BTreeSet::from([id.clone()]);
    assert_eq!(site.search("rolecall", &[("rolecall.outcome", "budget_programs")]), one(&held));
    assert_eq!(site.search("rolecall", &[("rolecall.outcome", "failed")]), one(&failed));
    assert_eq!(site.search("rolecall", &[("gen_ai.conversation.id", &held)]), one(&held));
    assert_eq!(site.search("rolecall", &[("rolecall.task", "t")]).len(), 2);
    assert_eq!(site.search("rolecall", &[("rolecall.task", "t"), ("rolecall.programs", "20")]), one(&held));
    assert_eq!(site.search("rolecall", &[("rolecall.task", "u")]), BTreeSet::new());
    assert_eq!(site.search("debugger", &[("error.type", "panic")]), one(&held));
    assert_eq!(site.search("rolecall", &[("rolecall.solved", "false"), ("rolecall.arm", "arm")]).len(), 2);
    assert_eq!(site.search("rolecall", &[("rolecall.run", &LIBRARY.held.head.run.to_string())]), one(&held));
    assert_eq!(site.search("executor", &[("rolecall.verdict", "wrong")]), one(&held));
    assert_eq!(site.search("executor", &[("rolecall.candidate", "0.1")]), one(&held));
    assert_eq!(site.search("synthesizer", &[("rolecall.finish", "stop")]), one(&held));
    // Values are compared as whole texts, whatever their type: numbers, lists, events and resources too.
    assert_eq!(site.search("synthesizer", &[("gen_ai.request.temperature", "0.7")]).len(), 2);
    assert_eq!(site.search("synthesizer", &[("gen_ai.request.temperature", "0.70")]), BTreeSet::new());
    assert_eq!(site.search("debugger", &[("gen_ai.response.finish_reasons", "[\"stop\",\"stop\"]")]), one(&held));
    assert_eq!(site.search("debugger", &[("gen_ai.response.finish_reasons", "stop")]), BTreeSet::new());
    assert_eq!(site.search("ranker", &[("rolecall.ranking", "kept")]), one(&held));
    assert_eq!(site.search("ranker", &[("service.namespace", "rolecall")]), one(&held));
}

#[test]
fn a_conversation_of_a_thousand_programs_goes_on_in_a_linked_trace() {
    let site = &Jaeger::shared().site;
    let run = Run::to(Some(site.endpoint()));
    let records = run.hold(seidr(2, 8, 1_000), talkative(), 1);
    assert_eq!(records[0].end.spend.programs, 1_000);
    run.finish();
    let conversation = trace_ids(&records).remove(0);
    let parts: Vec<String> =
        site.search("rolecall", &[("gen_ai.conversation.id", &conversation)]).into_iter().collect();
    let traces: BTreeMap<&str, Vec<SeenSpan>> = parts.iter().map(|id| (id.as_str(), site.trace(id))).collect();
    let sizes: Vec<usize> = traces.values().map(Vec::len).collect();
    assert!(sizes.len() >= 2 && sizes.iter().all(|size| *size < 2_000), "{sizes:?}");
    // A later part has a root and a beginning of its own.
    assert_eq!(sizes.iter().sum::<usize>(), spans_of(&records[0]) + 2 * (sizes.len() - 1));
    let root = |id: &str| traces[id].iter().find(|span| span.parent.is_none()).unwrap();
    let mut at = root(&conversation);
    let mut walked = BTreeSet::from([at.trace.as_str()]);
    while let Some((next, span)) = at.links.iter().find(|(trace, _)| !walked.contains(trace.as_str())) {
        let next = root(next);
        assert_eq!(next.id, *span);
        assert!(next.links.contains(&(at.trace.clone(), at.id.clone())), "a link back");
        walked.insert(&next.trace);
        at = next;
    }
    assert_eq!(walked.len(), traces.len(), "every part is reached from the first");
    for span in traces.values().flatten() {
        assert_eq!(span.warnings, Vec::<String>::new(), "{}", span.name);
    }
}
