//! The shape of a trace, on the spans alone.

use std::collections::{BTreeMap, BTreeSet};

use opentelemetry_proto::tonic::{
    common::v1::{KeyValue, any_value::Value},
    trace::v1::{Span, span::SpanKind, status::StatusCode},
};
use rolecall::{
    conversation::{ConversationRecord, Outcome},
    ids::{MessageId, traceparent},
    llm::{ModelError, Purpose},
    messages::Message,
    runtime::Fault,
    telemetry::{Place, Projection, ResourceOf, SPANS_PER_TRACE, ServiceSpan, export_request, project},
};

use super::story::{self, SECRET, Story, seidr};

const WITH_CONTENT: Projection = Projection { content: true, context: None };

type Key = (Vec<u8>, Vec<u8>);

fn key(span: &Span) -> Key {
    (span.trace_id.clone(), span.span_id.clone())
}

fn by_id(spans: &[ServiceSpan]) -> BTreeMap<Key, &ServiceSpan> {
    spans.iter().map(|one| (key(&one.span), one)).collect()
}

fn text(attributes: &[KeyValue], name: &str) -> Option<String> {
    let value = attributes.iter().find(|one| one.key == name)?.value.as_ref()?.value.as_ref()?;
    Some(match value {
        Value::StringValue(text) => text.clone(),
        Value::IntValue(number) => number.to_string(),
        Value::DoubleValue(number) => number.to_string(),
        Value::BoolValue(flag) => flag.to_string(),
        other => format!("{other:?}"),
    })
}

fn get(one: &ServiceSpan, name: &str) -> Option<String> {
    text(&one.span.attributes, name)
}

fn named<'a>(spans: &'a [ServiceSpan], name: &str) -> Vec<&'a ServiceSpan> {
    spans.iter().filter(|one| one.span.name == name).collect()
}

fn failed(one: &ServiceSpan) -> bool {
    one.span.status.as_ref().is_some_and(|status| status.code() == StatusCode::Error)
}

fn parent<'a>(all: &BTreeMap<Key, &'a ServiceSpan>, one: &ServiceSpan) -> Option<&'a ServiceSpan> {
    all.get(&(one.span.trace_id.clone(), one.span.parent_span_id.clone())).copied()
}

#[test]
fn one_trace_with_unique_ids_whose_parents_all_resolve() {
    let record = seidr(0);
    let spans = project(&record, Projection::default());
    let all = by_id(&spans);
    assert_eq!(all.len(), spans.len(), "an id stands twice");
    let traces: BTreeSet<&Vec<u8>> = spans.iter().map(|one| &one.span.trace_id).collect();
    assert_eq!(traces, BTreeSet::from([&record.head.id.0.as_bytes().to_vec()]));
    let orphans: Vec<&str> =
        spans.iter().filter(|one| parent(&all, one).is_none()).map(|one| one.span.name.as_str()).collect();
    assert_eq!(orphans, ["invoke_workflow seidr"]);
    for one in &spans {
        let mut depth = 1;
        let mut at = one;
        while let Some(above) = parent(&all, at) {
            depth += 1;
            at = above;
        }
        assert!(depth <= 9, "{} is {depth} deep", one.span.name);
        assert!(one.span.end_time_unix_nano >= one.span.start_time_unix_nano + 1_000, "{}", one.span.name);
    }
}

#[test]
fn names_have_low_cardinality() {
    let spans = project(&seidr(0), Projection::default());
    let names: BTreeSet<&str> = spans.iter().map(|one| one.span.name.as_str()).collect();
    let expected = [
        "chat gpt-test",
        "conversation_started",
        "execute_tool profile",
        "execute_tool run_tests",
        "handoff",
        "invoke_agent debugger",
        "invoke_agent instructor",
        "invoke_agent ranker",
        "invoke_agent synthesizer",
        "invoke_workflow seidr",
        "round",
    ];
    assert_eq!(names, BTreeSet::from(expected));
}

#[test]
fn the_dependency_edges_are_the_arrangements() {
    let spans = project(&seidr(0), Projection::default());
    let all = by_id(&spans);
    let edges: BTreeSet<(&str, &str)> = spans
        .iter()
        .filter_map(|one| Some((parent(&all, one)?.service.as_str(), one.service.as_str())))
        .filter(|(from, to)| from != to)
        .collect();
    let expected = [
        ("debugger", "executor"),
        ("executor", "ranker"),
        ("instructor", "debugger"),
        ("ranker", "instructor"),
        ("rolecall", "executor"),
        ("rolecall", "ranker"),
        ("rolecall", "synthesizer"),
        ("synthesizer", "executor"),
    ];
    assert_eq!(edges, BTreeSet::from(expected));
}

#[test]
fn a_fan_in_is_a_child_of_its_first_sender_and_linked_to_the_others() {
    let record = seidr(0);
    let spans = project(&record, Projection::default());
    let all = by_id(&spans);
    let ranker = named(&spans, "invoke_agent ranker")[0];
    let of = |place: &ServiceSpan| get(place, "rolecall.candidate").unwrap();
    assert_eq!(of(parent(&all, ranker).unwrap()), "starter");
    let linked: Vec<String> =
        ranker.span.links.iter().map(|link| of(all[&(link.trace_id.clone(), link.span_id.clone())])).collect();
    assert_eq!(linked, ["0.0", "0.1"]);
    let ranking: Vec<(String, String)> = ranker
        .span
        .events
        .iter()
        .map(|event| {
            assert_eq!(event.name, "rolecall.ranked");
            let word = |name| text(&event.attributes, name).unwrap();
            (word("rolecall.candidate"), word("rolecall.ranking"))
        })
        .collect();
    let expected = [("0.1", "kept"), ("starter", "dropped"), ("0.0", "dropped")];
    assert_eq!(ranking, expected.map(|(one, word)| (one.to_owned(), word.to_owned())));
}

#[test]
fn what_crosses_rounds_goes_through_a_handoff_linked_to_its_sender() {
    let spans = project(&seidr(0), Projection::default());
    let all = by_id(&spans);
    let handoffs = named(&spans, "handoff");
    assert_eq!(handoffs.iter().map(|one| one.service.as_str()).collect::<Vec<_>>(), ["rolecall", "ranker", "ranker"]);
    for handoff in &handoffs {
        assert_eq!(parent(&all, handoff).unwrap().span.name, "round");
        assert_eq!(get(parent(&all, handoff).unwrap(), "rolecall.generation"), get(handoff, "rolecall.generation"));
        for link in &handoff.span.links {
            assert_eq!(all[&(link.trace_id.clone(), link.span_id.clone())].span.name, "invoke_agent ranker");
        }
    }
    let receivers: Vec<&str> = spans
        .iter()
        .filter(|one| parent(&all, one).is_some_and(|above| above.span.name == "handoff"))
        .map(|one| one.span.name.as_str())
        .collect();
    assert_eq!(receivers, ["execute_tool run_tests", "invoke_agent instructor", "invoke_agent instructor"]);
}

#[test]
fn rounds_span_their_turns_and_the_root_spans_the_rounds() {
    let spans = project(&seidr(0), Projection::default());
    let all = by_id(&spans);
    for one in &spans {
        let Some(round) = std::iter::successors(Some(one), |at| parent(&all, at)).find(|at| at.span.name == "round")
        else {
            continue;
        };
        assert!(round.span.start_time_unix_nano <= one.span.start_time_unix_nano);
        assert!(round.span.end_time_unix_nano >= one.span.end_time_unix_nano);
        assert!(parent(&all, round).unwrap().span.end_time_unix_nano >= round.span.end_time_unix_nano);
    }
    let generations: Vec<String> =
        named(&spans, "round").into_iter().map(|one| get(one, "rolecall.generation").unwrap()).collect();
    assert_eq!(generations, ["0", "1", "2"]);
}

#[test]
fn a_chat_span_says_what_was_asked_and_its_id_is_the_one_the_request_carried() {
    let record = seidr(0);
    let spans = project(&record, Projection::default());
    let chats = named(&spans, "chat gpt-test");
    assert_eq!(chats.len(), 5);
    let one = chats[0];
    assert_eq!(one.span.kind, SpanKind::Client as i32);
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let sent = format!("00-{}-{}-01", hex(&one.span.trace_id), hex(&one.span.span_id));
    assert_eq!(sent, traceparent(record.head.id, (0, 0, 0)));
    let expected = [
        ("gen_ai.operation.name", "chat"),
        ("gen_ai.provider.name", "openai"),
        ("gen_ai.request.model", "gpt-test"),
        ("gen_ai.response.model", "gpt-test-2026"),
        ("gen_ai.request.seed", "99"),
        ("gen_ai.request.temperature", "0.7"),
        ("gen_ai.request.max_tokens", "512"),
        ("gen_ai.request.choice.count", "2"),
        ("gen_ai.usage.input_tokens", "120"),
        ("gen_ai.usage.output_tokens", "40"),
        ("rolecall.finish", "stop"),
        ("server.address", "llm.example"),
        ("server.port", "8000"),
        ("peer.service", "llm.example"),
        ("openinference.span.kind", "LLM"),
    ];
    for (name, value) in expected {
        assert_eq!(get(one, name).as_deref(), Some(value), "{name}");
    }
    assert_eq!(one.span.events.len(), 2);
    assert_eq!(text(&one.span.events[0].attributes, "http.response.status_code").as_deref(), Some("503"));
    for other in spans.iter().filter(|one| !one.span.name.starts_with("chat ")) {
        assert_eq!(get(other, "gen_ai.usage.input_tokens"), None, "{}", other.span.name);
        assert_eq!(get(other, "gen_ai.request.model"), None, "{}", other.span.name);
    }
}

#[test]
fn unknown_usage_is_left_out() {
    let mut story = Story::new(0);
    let draft = |seq| vec![Message::Candidate(story::candidate(story::id(seq, 0), None))];
    let turn = story.turn("synthesizer", 0, &[], vec![story::task()], draft);
    let mut call = story::call(turn, Purpose::Draft);
    call.usage = rolecall::domain::Usage::default();
    story::log(turn).calls.push(call);
    let spans = project(&story.finish(Outcome::NothingLeft), Projection::default());
    assert_eq!(get(named(&spans, "chat gpt-test")[0], "gen_ai.usage.input_tokens"), None);
    let root = named(&spans, "invoke_workflow seidr")[0];
    assert_eq!(get(root, "rolecall.input_tokens"), None);
    assert_eq!(get(root, "rolecall.calls_without_usage").as_deref(), Some("1"));
}

#[test]
fn an_execution_is_the_executors_whole_turn() {
    let spans = project(&seidr(0), Projection::default());
    let executions = named(&spans, "execute_tool run_tests");
    assert_eq!(executions.len(), 8, "7 candidates and one attempt that panicked");
    assert!(named(&spans, "invoke_agent executor").is_empty());
    let draft = executions.iter().find(|one| get(one, "rolecall.candidate").as_deref() == Some("0.1")).unwrap();
    let expected = [
        ("gen_ai.tool.name", "run_tests"),
        ("gen_ai.agent.name", "executor"),
        ("rolecall.language", "python"),
        ("rolecall.verdict", "wrong"),
        ("rolecall.tests", "4"),
        ("rolecall.tests.passed", "1"),
        ("rolecall.tests.wrong", "3"),
        ("rolecall.cpu_ms", "12"),
        ("rolecall.program", "2"),
        ("rolecall.score", "0.25"),
        ("rolecall.suspicious_calls", "1"),
        ("rolecall.protocol", "split"),
    ];
    for (name, value) in expected {
        assert_eq!(get(draft, name).as_deref(), Some(value), "{name}");
    }
    assert_eq!(draft.span.events.len(), 1);
    assert_eq!(draft.span.events[0].name, "gen_ai.evaluation.result");
    assert_eq!(text(&draft.span.events[0].attributes, "gen_ai.evaluation.score.value").as_deref(), Some("0.25"));
    let repair = executions.iter().find(|one| get(one, "rolecall.candidate").as_deref() == Some("6.0")).unwrap();
    assert_eq!(get(repair, "rolecall.parent").as_deref(), Some("0.1"));
    let profiles = named(&spans, "execute_tool profile");
    let all = by_id(&spans);
    assert!(profiles.iter().all(|one| parent(&all, one).unwrap().span.name == "invoke_agent debugger"));
}

#[test]
fn only_a_panic_is_an_error_here_and_failed_tests_are_not() {
    let spans = project(&seidr(0), Projection::default());
    let failures: Vec<&ServiceSpan> = spans.iter().filter(|one| failed(one)).collect();
    assert_eq!(failures.len(), 1);
    assert_eq!(get(failures[0], "error.type").as_deref(), Some("panic"));
    assert_eq!(get(failures[0], "rolecall.attempt").as_deref(), Some("0"));
    let second = spans.iter().find(|one| get(one, "rolecall.attempt").as_deref() == Some("1")).unwrap();
    assert_eq!(second.span.parent_span_id, failures[0].span.parent_span_id);
    assert_eq!(get(second, "rolecall.candidate").as_deref(), Some("0.0"));
}

/// A conversation of one turn that ended in `fault`, with a call that failed in the same way.
fn ended_by(error: ModelError) -> ConversationRecord {
    let mut story = Story::new(0);
    let turn = story.turn("synthesizer", 0, &[], vec![story::task()], |_| Vec::new());
    let mut call = story::call(turn, Purpose::Draft);
    call.choices.clear();
    call.error = Some((error.kind(), error.to_string()));
    story::log(turn).calls.push(call);
    turn.attempts[0].result = Err(Fault::Model(error));
    let mut record = story.finish(Outcome::Failed);
    record.end.outcome_detail = Some(format!("synthesizer: model: no reply: {SECRET}"));
    record
}

#[test]
fn a_model_that_fails_is_an_error_on_the_call_the_turn_and_the_root() {
    let timeout = ModelError::Unavailable { status: None, message: SECRET.to_owned(), attempts: Vec::new() };
    let spans = project(&ended_by(timeout), Projection::default());
    let failures: Vec<&str> = spans.iter().filter(|one| failed(one)).map(|one| one.span.name.as_str()).collect();
    assert_eq!(failures, ["invoke_agent synthesizer", "chat gpt-test", "invoke_workflow seidr"]);
    assert!(!format!("{spans:?}").contains(SECRET));
    let root = named(&spans, "invoke_workflow seidr")[0];
    assert_eq!(get(root, "rolecall.outcome_detail").as_deref(), Some("synthesizer: unavailable"));
}

#[test]
fn a_model_with_nothing_to_say_and_a_cancelled_turn_are_no_errors() {
    for (error, word) in
        [(ModelError::NothingToSay("all tried".to_owned()), "nothing_to_say"), (ModelError::Cancelled, "cancelled")]
    {
        let mut record = ended_by(error);
        record.end.outcome = Outcome::NothingLeft;
        let spans = project(&record, Projection::default());
        assert!(!spans.iter().any(failed), "{word}");
        assert_eq!(get(named(&spans, "chat gpt-test")[0], "rolecall.ended_by").as_deref(), Some(word));
    }
}

#[test]
fn the_root_carries_what_people_search_for() {
    let record = seidr(0);
    let spans = project(&record, Projection::default());
    let root = named(&spans, "invoke_workflow seidr")[0];
    let conversation = record.head.id.trace_id();
    let seed = u64::MAX.to_string();
    let expected = [
        ("gen_ai.conversation.id", conversation.as_str()),
        ("rolecall.task", "interval-merge"),
        ("rolecall.dataset", "examples"),
        ("rolecall.arm", "seidr"),
        ("rolecall.seed", &seed),
        ("rolecall.outcome", "tests_passed"),
        ("rolecall.solved", "true"),
        ("rolecall.programs", "6"),
        ("rolecall.model_calls", "5"),
        ("rolecall.input_tokens", "600"),
        ("openinference.span.kind", "CHAIN"),
    ];
    for (name, value) in expected {
        assert_eq!(get(root, name).as_deref(), Some(value), "{name}");
    }
    assert_eq!(get(named(&spans, "conversation_started")[0], "rolecall.task").as_deref(), Some("interval-merge"));
    let refused = project(&story::refused(), Projection::default());
    assert_eq!(get(named(&refused, "invoke_agent synthesizer")[0], "rolecall.refused").as_deref(), Some("model_calls"));
}

#[test]
fn content_is_there_when_asked_for_and_never_else() {
    let record = seidr(0);
    assert!(!format!("{:?}", project(&record, Projection::default())).contains(SECRET));
    let spans = project(&record, WITH_CONTENT);
    for (span, name) in [
        ("chat gpt-test", "gen_ai.input.messages"),
        ("chat gpt-test", "gen_ai.output.messages"),
        ("invoke_agent instructor", "gen_ai.output.messages"),
        ("execute_tool run_tests", "gen_ai.tool.call.arguments"),
        ("execute_tool run_tests", "gen_ai.tool.call.result"),
    ] {
        let json = get(named(&spans, span)[0], name).unwrap();
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert!(json.contains(SECRET), "{span} {name}");
        if let Some(message) = value.as_array().and_then(|messages| messages.first()) {
            assert!(message["parts"][0]["content"].is_string(), "{span} {name}");
        }
    }
}

#[test]
fn long_content_is_shortened_and_stays_json() {
    let mut story = Story::new(0);
    let turn = story.turn("synthesizer", 0, &[], vec![story::task()], |_| Vec::new());
    let mut call = story::call(turn, Purpose::Draft);
    call.messages[0].content = "🌍\u{0}\u{202e}é".repeat(40_000);
    story::log(turn).calls.push(call);
    let spans = project(&story.finish(Outcome::NothingLeft), WITH_CONTENT);
    let chat = named(&spans, "chat gpt-test")[0];
    let json = get(chat, "gen_ai.input.messages").unwrap();
    assert!(json.len() <= 64 << 10 && json.len() > 8 << 10, "{} bytes", json.len());
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value[0]["role"], "user");
    assert!(value[0]["parts"][0]["content"].as_str().unwrap().ends_with("bytes left out]"));
    assert_eq!(get(chat, "rolecall.truncated").as_deref(), Some("true"));
}

#[test]
fn every_resource_is_an_actor_on_the_same_machine() {
    let of = ResourceOf { namespace: "ci".to_owned(), instance: "run-1".to_owned(), more: Vec::new() };
    let request = export_request(project(&seidr(0), Projection::default()), &of);
    let services: Vec<String> = request
        .resource_spans
        .iter()
        .map(|resource| {
            let attributes = &resource.resource.as_ref().unwrap().attributes;
            assert_eq!(text(attributes, "ip").as_deref(), Some("127.0.0.1"));
            assert_eq!(text(attributes, "service.namespace").as_deref(), Some("ci"));
            assert_eq!(text(attributes, "service.instance.id").as_deref(), Some("run-1"));
            text(attributes, "service.name").unwrap()
        })
        .collect();
    assert_eq!(services, ["debugger", "executor", "instructor", "ranker", "rolecall", "synthesizer"]);
}

#[test]
fn a_long_conversation_goes_on_in_a_linked_trace() {
    let mut story = Story::new(0);
    let starter = story::candidate(MessageId::STARTER, None);
    let mut report = story.execute(0, None, &starter, 0);
    let mut cause = report.id;
    for generation in 1..=700 {
        let repair = story.repair(generation, cause, &report, 1).remove(0);
        report = story.execute(generation, Some(repair.id), &repair, 0);
        cause = report.id;
    }
    let record = story.finish(Outcome::BudgetGenerations);
    let spans = project(&record, Projection::default());
    let all = by_id(&spans);
    let mut sizes: BTreeMap<&[u8], usize> = BTreeMap::new();
    spans.iter().for_each(|one| *sizes.entry(&one.span.trace_id).or_default() += 1);
    assert_eq!(sizes.len(), spans.len().div_ceil(SPANS_PER_TRACE + 10));
    assert!(sizes.values().all(|size| *size < 2_000), "{sizes:?}");
    let roots = named(&spans, "invoke_workflow seidr");
    assert_eq!(roots.len(), sizes.len());
    assert_eq!(spans.iter().filter(|one| parent(&all, one).is_none()).count(), roots.len(), "an orphan");
    let follows = |from: &ServiceSpan, to: &ServiceSpan| {
        from.span.links.iter().any(|link| (link.trace_id.clone(), link.span_id.clone()) == key(&to.span))
    };
    for pair in roots.windows(2) {
        assert!(follows(pair[0], pair[1]) && follows(pair[1], pair[0]));
        assert_eq!(get(pair[0], "gen_ai.conversation.id"), get(pair[1], "gen_ai.conversation.id"));
    }
    let crossing = named(&spans, "handoff")
        .into_iter()
        .filter(|one| one.span.links.iter().any(|link| link.trace_id != one.span.trace_id))
        .count();
    assert_eq!(crossing, roots.len() - 1);
}

#[test]
fn the_context_that_a_run_was_started_in_is_a_link_of_its_roots_alone() {
    let context = Place::of_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
    let spans = project(&seidr(0), Projection { content: false, context });
    let outside: Vec<&ServiceSpan> =
        spans.iter().filter(|one| one.span.links.iter().any(|link| link.trace_id != one.span.trace_id)).collect();
    assert_eq!(outside.len(), 1);
    assert_eq!(outside[0].span.name, "invoke_workflow seidr");
    assert!(outside[0].span.parent_span_id.is_empty());
}
