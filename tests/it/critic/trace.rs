//! Rewards in a trace, and in what is shown of it.

use rolecall::{
    conversation::ConversationRecord,
    llm::scripted::Line,
    telemetry::{Projection, ResourceOf, export_request, project},
};
use serde_json::json;

use super::{drafts_assessed, held, judging};
use crate::trace_commands::scene::page;

const PROGRAMS: [&str; 2] = ["def f(x): return 1", "def f(x): return 2"];

fn pages(record: &ConversationRecord, content: bool) -> (String, String) {
    let spans = project(record, Projection { content, context: None });
    let critics = spans.iter().filter(|one| one.span.name == "invoke_agent critic").map(|one| one.span.clone());
    let critics = serde_json::to_string(&critics.collect::<Vec<_>>()).unwrap();
    let of = ResourceOf { namespace: "rolecall".to_owned(), instance: "run".to_owned(), more: Vec::new() };
    let file = serde_json::to_string(&export_request(spans, &of)).unwrap() + "\n";
    (critics, page(&file))
}

#[test]
fn a_reward_is_an_attribute_an_event_and_a_part_of_the_line() {
    let model = judging(&PROGRAMS, |_, n| Line::say(["BETTER: B", "BETTER: A"][n]));
    let (spans, page) = pages(&held(drafts_assessed(2, json!({ "reward": "judge" })), &model), false);
    for part in [
        r#"{"key":"rolecall.reward","value":{"doubleValue":-1.0}}"#,
        r#"{"key":"rolecall.reward.source","value":{"stringValue":"judge"}}"#,
        r#"{"key":"gen_ai.evaluation.score.value","value":{"doubleValue":-1.0}}"#,
        r#"{"key":"rolecall.comparisons","value":{"stringValue":"0.1 with 0.0: as A worse, as B worse"}}"#,
    ] {
        assert!(spans.contains(part), "{part} in {spans}");
    }
    assert!(
        page.contains("critic on 0.0  reward 0 (judge)") && page.contains("critic on 0.1  reward -1 (judge)"),
        "{page}"
    );
    assert!(page.contains("asks scripted to judge"), "{page}");
    let of_candidate = page.lines().find(|line| line.contains("0.1  program 2")).unwrap();
    assert!(of_candidate.contains("  reward -1"), "{of_candidate}");
}

#[test]
fn what_is_unscored_has_no_number_and_its_words_are_content() {
    let model = judging(&PROGRAMS, |_, _| Line::say("9 of 10"));
    let record = held(drafts_assessed(2, json!({ "reward": "judge" })), &model);
    let (spans, page) = pages(&record, false);
    assert!(page.contains("critic on 0.1  unscored (judge)"), "{page}");
    assert_eq!(spans.matches(r#""key":"rolecall.reward","#).count(), 1, "that of the first program");
    assert!(spans.contains(r#"{"key":"rolecall.unscored","value":{"intValue":"1"}}"#), "{spans}");
    assert!(!spans.contains("9 of 10") && pages(&record, true).0.contains("9 of 10"));
}

#[test]
fn a_turn_on_several_programs_names_each_with_its_reward() {
    let mut plan = drafts_assessed(3, json!({}));
    plan.nodes[2].gathers = true;
    let model =
        judging(&["nothing", "def f(x): return 1", "def f(x): pass  # 9"], |_, _| Line::panic("not to be asked"));
    let (spans, page) = pages(&held(plan, &model), false);
    assert!(!spans.contains(r#""key":"rolecall.reward","#), "no one number for three programs: {spans}");
    assert!(page.contains("0.2 reward 0 (execution)"), "{page}");
}
