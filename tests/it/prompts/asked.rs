//! What roles find out before they render a prompt: profiles and the past, only where a setting asks for them.

use std::sync::Arc;

use opentelemetry_proto::tonic::common::v1::any_value::Value as Attribute;
use rolecall::{
    conversation::ConversationRecord,
    domain::Language,
    llm::{ChatModel, Purpose, scripted::Line, scripted::Scripted},
    runtime::TurnRecord,
    telemetry::{Projection, project},
    topology::{BudgetLimits, Plan},
};
use serde_json::{Value, json};

use crate::{
    stage::{MadeUpSandbox, company, hold_all, on_stage},
    support::{node, plan, task},
};

/// Six programs of one line of descent, explained and repaired one after the other.
fn line(settings: &Value) -> Plan {
    let nodes = vec![
        node("synthesizer", "synthesizer", json!({})),
        node("executor", "executor", json!({})),
        node("instructor", "instructor", settings.clone()),
        node("debugger", "debugger", settings.clone()),
    ];
    let edges = [
        ("task", "synthesizer"),
        ("synthesizer", "executor"),
        ("executor", "instructor"),
        ("instructor", "debugger"),
        ("debugger", "executor"),
    ];
    plan(nodes, &edges, 1, BudgetLimits { programs: Some(6), ..Default::default() })
}

fn play(plan: Plan, language: Language) -> ConversationRecord {
    let model = Scripted::with(|request, n| match request.purpose {
        Purpose::Diagnose => Line::say(format!("diagnosis at call {n}")),
        _ => Line::say(format!("```\ndef f(x):\n    return 1000{n}\n```")),
    });
    play_with(plan, language, model)
}

fn play_with(plan: Plan, language: Language, model: Scripted) -> ConversationRecord {
    on_stage(async {
        let model: Arc<dyn ChatModel> = Arc::new(model);
        let mut task = task(3, None);
        task.language = language;
        let company = company(plan, model, MadeUpSandbox::by_text(), None);
        hold_all(&company, &task, 1, 1).await.remove(0)
    })
}

fn profiles(turn: &TurnRecord) -> usize {
    let executions = turn.attempts.iter().flat_map(|attempt| &attempt.log.executions);
    executions.filter(|execution| execution.what == "profile").count()
}

/// What the role's last turn sent.
fn last_prompt(record: &ConversationRecord, role: &str) -> String {
    let turn = record.turns.iter().rfind(|turn| turn.role == role).unwrap();
    turn.attempts[0].log.calls[0].messages[1].content.clone()
}

#[test]
fn a_program_is_profiled_only_where_a_prompt_shows_it_and_once() {
    for (settings, language, expected) in [
        (json!({}), Language::Python, 0),
        (json!({"history": "all"}), Language::Python, 0),
        (json!({"localisation": 2}), Language::Python, 5),
        (json!({"values": true, "history": "all"}), Language::Python, 5),
        (json!({"localisation": 2, "values": true}), Language::Go, 0),
    ] {
        let record = play(line(&settings), language);
        let by_role = |role: &str| -> usize {
            record.turns.iter().filter(|turn| turn.role == role).map(|turn| profiles(turn)).sum()
        };
        let programs: u32 = record.end.spend.programs;
        assert_eq!(programs, if language == Language::Python { 6 } else { programs }, "{settings}");
        // The instructor comes first; the debugger finds what is known already.
        assert_eq!((by_role("instructor"), by_role("debugger")), (expected, 0), "{settings} in {language}");
        assert!(record.turns.iter().all(|turn| turn.fault().is_none()), "{settings} in {language}");
    }
}

#[test]
fn the_past_of_a_program_is_its_own_line_with_the_diagnosis_that_led_on() {
    let record = play(line(&json!({"history": "last:2"})), Language::Python);
    // Calls: draft 0, then diagnosis 2n - 1 and repair 2n. The last repair is call 10, of program 8.
    let repair = last_prompt(&record, "debugger");
    let places: Vec<Option<usize>> = [
        "return 10008",
        "oldest first",
        "Attempt 3",
        "return 10004",
        "diagnosis at call 5",
        "Attempt 4",
        "return 10006",
        "diagnosis at call 7",
        "as far as is known",
        "diagnosis at call 9",
    ]
    .into_iter()
    .map(|needle| repair.find(needle))
    .collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}\n{repair}");
    assert!(!repair.contains("return 10002") && !repair.contains("diagnosis at call 3"), "{repair}");
    let diagnosis = last_prompt(&record, "instructor");
    assert!(diagnosis.contains("Attempt 4") && diagnosis.contains("return 10006"), "{diagnosis}");
    let none = play(line(&json!({})), Language::Python);
    assert!(!last_prompt(&none, "debugger").contains("Attempt"));
}

#[test]
fn one_turn_that_repairs_several_programs_mixes_up_no_diagnoses() {
    let mut plan = line(&json!({"history": "all"}));
    plan.nodes[0] = node("synthesizer", "synthesizer", json!({"drafts": 2}));
    plan.nodes[3] = node("debugger", "debugger", json!({"repairs": 1, "history": "all"}));
    plan.nodes[3].gathers = true;
    for (rank, node) in plan.nodes.iter_mut().enumerate() {
        node.rank = u32::try_from(rank).unwrap();
    }
    let model = Scripted::with(|request, n| match (request.purpose, &request.subject.program) {
        (Purpose::Diagnose, Some(program)) => {
            Line::say(format!("look at {}", program.text.trim().replace("def f(x):\n    ", "")))
        }
        _ => {
            Line::say_all((0..request.choices).map(|choice| format!("```\ndef f(x):\n    return {n}000{choice}\n```")))
        }
    });
    let record = play_with(plan, Language::Python, model);
    let mut pairs = 0;
    for turn in record.turns.iter().filter(|turn| turn.role == "debugger") {
        assert_eq!(turn.inbox.len(), 2, "it gathers");
        for call in &turn.attempts[0].log.calls {
            let text = &call.messages[1].content;
            for attempt in text.split("\nAttempt ").skip(1) {
                let program = attempt.lines().find(|line| line.contains("return ")).unwrap().trim();
                assert!(attempt.contains(&format!("look at {program}\n")), "{program}:\n{text}");
                pairs += 1;
            }
        }
    }
    assert!(pairs > 1, "{pairs}");
}

#[test]
fn a_span_says_what_was_left_out_of_its_prompt() {
    let mut plan = line(&json!({"history": "all"}));
    for node in &mut plan.nodes {
        node.parameters.context_tokens = Some(270);
    }
    let record = play(plan, Language::Python);
    let spans = project(&record, Projection::default());
    let mut seen = 0;
    for span in spans.iter().filter(|span| span.span.name.starts_with("chat ")) {
        let found = span.span.attributes.iter().find(|one| one.key == "rolecall.prompt.shortened");
        let Some(Attribute::ArrayValue(words)) = found.and_then(|one| one.value.as_ref()?.value.as_ref()) else {
            continue;
        };
        assert_eq!(words.values[0].value, Some(Attribute::StringValue("history".to_owned())));
        seen += 1;
    }
    let calls = record.turns.iter().flat_map(|turn| &turn.attempts).flat_map(|attempt| &attempt.log.calls);
    let shortened = calls.filter(|call| !call.shortened.is_empty()).count();
    assert!(seen > 0 && seen == shortened, "{seen} spans, {shortened} calls");
}
