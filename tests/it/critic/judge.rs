//! A model as judge, asked in both orders.

use std::{sync::Arc, time::Duration};

use rolecall::{
    budget::BudgetKind,
    conversation::ConversationRecord,
    llm::{
        ChatRequest, Purpose,
        scripted::{Line, Scripted},
    },
    runtime::{NoteValue, Refusal},
};
use serde_json::json;

use super::{assessments, drafts_assessed, held, judging, rewards};
use crate::{
    stage::{MadeUpSandbox, company, hold_all, on_stage},
    support::{mix, task},
};

/// Programs that are judged by the number that they return.
const NUMBERS: [&str; 5] = [
    "def f(x): return 5",
    "def f(x): return 3",
    "def f(x): return 7",
    "def f(x): return 7  # again",
    "def f(x): return 6",
];

fn number(text: &str) -> u32 {
    text.chars().filter_map(|letter| letter.to_digit(10)).next_back().unwrap()
}

/// The numbers of the two programs in the order in which they were presented.
fn presented(request: &ChatRequest) -> (u32, u32) {
    let subject = &request.subject;
    let (a, b) = (subject.program.as_ref().unwrap(), subject.other.as_ref().unwrap());
    let prompt: String = request.messages.iter().map(|message| message.content.as_str()).collect();
    let (place_a, place_b) = (prompt.find(&a.text).unwrap(), prompt.find(&b.program.text).unwrap());
    assert!(place_a < place_b, "{prompt}");
    (number(&a.text), number(&b.program.text))
}

/// Says which returns the larger number.
fn fair(request: &ChatRequest) -> Line {
    let (a, b) = presented(request);
    Line::say(match a.cmp(&b) {
        std::cmp::Ordering::Greater => "BETTER: A",
        std::cmp::Ordering::Less => "BETTER: B",
        std::cmp::Ordering::Equal => "BETTER: NEITHER",
    })
}

#[test]
fn the_reward_ranks_against_the_best_so_far() {
    let model = judging(&NUMBERS, |request, _| fair(request));
    let record = held(drafts_assessed(5, json!({ "reward": "judge" })), &model);
    // 5 is the first, 3 is worse than it, 7 better, 7 again is no better than 7, 6 is worse than 7.
    assert_eq!(rewards(&record), [0.0, -1.0, 1.0, 1.0, 0.0].map(Some));
    let asked: Vec<(u32, u32)> =
        model.requests().iter().filter(|one| one.purpose == Purpose::Judge).map(presented).collect();
    assert_eq!(
        asked,
        [(3, 5), (5, 3), (7, 5), (5, 7), (7, 7), (7, 7), (6, 7), (7, 6)],
        "both orders, against the best"
    );
    let said: Vec<String> = assessments(&record).iter().filter_map(|one| one.comment.clone()).collect();
    assert_eq!(said, ["worse than 0.0", "better than 0.0", "no better than 0.2", "worse than 0.2"]);
    let notes: Vec<NoteValue> = record
        .turns
        .iter()
        .flat_map(|turn| &turn.attempts[0].log.notes)
        .filter(|note| note.key == "comparisons")
        .map(|note| note.value.clone())
        .collect();
    assert_eq!(notes[0], NoteValue::Text("0.1 with 0.0: as A worse, as B worse".to_owned()));
    assert_eq!(notes.len(), 4);
}

#[test]
fn a_critic_that_gathers_compares_within_its_turn() {
    let mut plan = drafts_assessed(5, json!({ "reward": "judge" }));
    plan.nodes[2].gathers = true;
    let model = judging(&NUMBERS, |request, _| fair(request));
    let record = held(plan, &model);
    assert_eq!(rewards(&record), [0.0, -1.0, 1.0, 1.0, 0.0].map(Some));
    assert_eq!(record.turns.iter().filter(|turn| turn.role == "critic").count(), 1);
}

#[test]
fn the_same_rewards_at_concurrency_1_and_16_with_turns_in_parallel() {
    // Which of two programs is better depends on their texts alone; answers take their time, more or less.
    let model = || {
        Arc::new(Scripted::with(|request, _| {
            if request.purpose != Purpose::Judge {
                let texts = (0..request.choices).map(|choice| mix(request.seed, u64::from(choice)));
                return Line::say_all(texts.map(|number| format!("```python\ndef f(x): return {number}\n```")));
            }
            let (a, b) = (request.subject.program.as_ref().unwrap(), request.subject.other.as_ref().unwrap());
            let better = if a.hash() > b.program.hash() { "A" } else { "B" };
            Line::say(format!("BETTER: {better}")).delay(Duration::from_millis(request.seed % 4))
        }))
    };
    let held = |at_once| {
        on_stage(async move {
            let mut plan = drafts_assessed(6, json!({ "reward": "judge" }));
            plan.parallel_turns = 4;
            let company = company(plan, model(), MadeUpSandbox::by_text(), None);
            hold_all(&company, &task(5, None), 16, at_once).await
        })
    };
    let said = |records: Vec<ConversationRecord>| records.iter().map(assessments).collect::<Vec<_>>();
    let (alone, together) = (said(held(1)), said(held(16)));
    assert_eq!(alone, together);
    assert!(alone.iter().all(|said| said.len() == 6 && said.iter().all(|one| one.reward.is_some())));
}

#[test]
fn two_orders_that_disagree_are_a_tie() {
    for answers in [["A", "A"], ["B", "B"], ["A", "NEITHER"], ["NEITHER", "A"]] {
        let model = judging(&NUMBERS[..2], move |_, n| Line::say(format!("BETTER: {}", answers[n % 2])));
        let record = held(drafts_assessed(2, json!({ "reward": "judge" })), &model);
        assert_eq!(rewards(&record), [Some(0.0), Some(0.0)], "{answers:?}");
    }
}

#[test]
fn nobody_is_asked_about_the_same_text_or_about_no_program() {
    let programs = ["nothing here", "def f(x): return 1", "def f(x): return 1", "nothing here"];
    let model = judging(&programs, |_, _| Line::panic("not to be asked"));
    let record = held(drafts_assessed(4, json!({ "reward": "judge" })), &model);
    // Replies without a program come last: the first program, its twin, and two that are worse.
    assert_eq!(rewards(&record), [0.0, 0.0, -1.0, -1.0].map(Some));
}

#[test]
fn an_unclear_answer_is_asked_for_once_more_and_what_is_cut_off_is_unclear() {
    let cut = |text: &str| {
        let choice = |text: &str| rolecall::llm::Choice {
            text: text.to_owned(),
            finish_reason: "length".to_owned(),
            reasoning: None,
            note: None,
            logprobs: None,
        };
        Line::choices(vec![choice(text)])
    };
    for first in [Line::say("B, I think."), cut("BETTER: A"), Line::say_all(Vec::<String>::new())] {
        let model = judging(&NUMBERS[..2], move |_, n| match n {
            0 => first.clone(),
            1 => Line::say("BETTER: A"),
            _ => Line::say("BETTER: B"),
        });
        let record = held(drafts_assessed(2, json!({ "reward": "judge" })), &model);
        assert_eq!((rewards(&record), record.end.spend.model_calls), (vec![Some(0.0), Some(1.0)], 4));
    }
}

#[test]
fn an_unscored_program_is_not_the_best_and_the_next_one_is_judged() {
    let model = judging(&NUMBERS[..3], |request, _| {
        let (a, b) = presented(request);
        if a == 3 || b == 3 { Line::say("hard to say") } else { fair(request) }
    });
    let record = held(drafts_assessed(3, json!({ "reward": "judge" })), &model);
    assert_eq!(rewards(&record), [Some(0.0), None, Some(1.0)]);
}

#[test]
fn a_budget_of_calls_that_ends_in_a_comparison_leaves_it_unscored() {
    let mut plan = drafts_assessed(3, json!({ "reward": "judge" }));
    plan.budget.model_calls = Some(2);
    let model = judging(&NUMBERS[..3], |request, _| fair(request));
    let record = held(plan, &model);
    assert_eq!(record.end.outcome, rolecall::conversation::Outcome::BudgetModelCalls);
    assert_eq!(record.end.spend.model_calls, 2);
    assert_eq!(rewards(&record), [Some(0.0), None], "the third was not begun");
    assert_eq!(assessments(&record)[1].comment.as_deref(), Some("a budget has too little left for the call"));
    let refused = record.turns.iter().filter_map(|turn| turn.attempts[0].log.refused.clone());
    assert_eq!(refused.collect::<Vec<_>>(), [Refusal::own(BudgetKind::ModelCalls)]);
}

#[test]
fn a_critic_that_asks_no_model_goes_on_after_the_last_call() {
    let mut plan = drafts_assessed(2, json!({}));
    plan.budget.model_calls = Some(1);
    // One reply a call: the second draft is refused, which ends the asking.
    let model = judging(&NUMBERS[..1], |_, _| Line::panic("not to be asked"));
    let record = held(plan, &model);
    assert_eq!(record.end.outcome, rolecall::conversation::Outcome::BudgetModelCalls);
    assert!(matches!(rewards(&record)[..], [Some(_)]));
}

#[test]
fn what_the_tests_said_is_shown_where_the_arrangement_says_so() {
    for (tests, shown) in [("none", false), ("shown", true)] {
        let model = judging(&NUMBERS[..2], |request, _| fair(request));
        held(drafts_assessed(2, json!({ "reward": "judge", "tests": tests })), &model);
        let requests = model.requests();
        let judging: Vec<_> = requests.iter().filter(|one| one.purpose == Purpose::Judge).collect();
        assert_eq!(judging.len(), 2);
        for request in judging {
            let prompt = &request.messages.last().unwrap().content;
            let said = |program: &str| prompt.contains(&format!("Program {program} passes"));
            assert_eq!((said("A"), said("B")), (shown, shown), "{prompt}");
            let known = request.subject.other.as_ref().unwrap().judgement.is_some();
            assert_eq!((request.subject.judgement.is_some(), known), (shown, shown));
        }
    }
}
