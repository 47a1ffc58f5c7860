//! Budgets within one conversation: the conversation's, and an actor's own. The same answers give the same record.

use std::sync::Arc;

use rolecall::{
    budget::CallLimits,
    conversation::{ConversationRecord, Outcome},
    domain::Money,
    llm::{
        ChatModel,
        scripted::{Line, Scripted},
    },
    topology::{BudgetLimits, Plan},
};

use super::{calls, detail, priced, programs, repairing, writer};
use crate::{
    stage::{MadeUpSandbox, company, hold_all, on_stage},
    support::task,
};

fn held(plan: Plan, model: Arc<dyn ChatModel>) -> ConversationRecord {
    on_stage(async move {
        let company = company(plan, model, MadeUpSandbox::by_text(), None);
        hold_all(&company, &task(3, None), 1, 1).await.remove(0)
    })
}

/// Who made how many calls.
fn made(record: &ConversationRecord, actor: &str) -> usize {
    let turns = record.turns.iter().filter(|turn| turn.actor.0 == actor);
    turns.flat_map(|turn| &turn.attempts).map(|attempt| attempt.log.calls.len()).sum()
}

#[test]
fn an_actor_s_own_budget_ends_its_asking_and_the_record_is_equal_in_equal_runs() {
    let run = |parallel_turns| {
        let mut plan = repairing(programs(50), parallel_turns);
        plan.nodes[2].budget.model_calls = Some(5);
        held(plan, writer(priced()))
    };
    let record = run(1);
    assert_eq!((made(&record, "write"), made(&record, "repair")), (1, 5));
    assert_eq!(record.end.outcome, Outcome::BudgetModelCalls);
    assert!(record.end.deterministic, "nobody else had a say");
    let words = detail(&record);
    assert!(words.starts_with("budget of repair: model_calls = 5: not enough is left for repair, turn "), "{words}");
    assert_eq!(record.end.spend.programs, 7, "what was written is executed");
    for parallel_turns in [1, 4, 8] {
        let (one, other) = (run(parallel_turns), run(parallel_turns));
        let story = |record: &ConversationRecord| {
            let turns = record.turns.iter().map(|turn| (turn.seq, turn.actor.clone(), turn.allowance, turn.spend()));
            (turns.collect::<Vec<_>>(), record.end.outcome, detail(record).to_owned(), record.end.spend)
        };
        assert_eq!(story(&one), story(&other));
        assert_eq!(made(&one, "repair"), 5);
    }
}

#[test]
fn an_actor_s_money_is_within_the_conversation_s_and_the_words_say_whose_was_short() {
    // A call for one program costs 110000 billionths; its worst case is what its prompt and 50 tokens may take.
    for (own, whole, whose) in
        [(2_000_000, 90_000_000, "budget of repair: cost = 0.002"), (90_000_000, 2_000_000, "cost = 0.002")]
    {
        let mut plan = repairing(BudgetLimits { cost: Some(Money(whole)), ..programs(90) }, 1);
        plan.nodes[2].budget = CallLimits { cost: Some(Money(own)), ..Default::default() };
        let record = held(plan, writer(priced()));
        assert_eq!(record.end.outcome, Outcome::BudgetCost);
        assert!(record.end.deterministic && detail(&record).starts_with(whose), "{}", detail(&record));
        let spent: u64 =
            record.turns.iter().filter(|turn| turn.actor.0 == "repair").map(|turn| turn.charge().cost.0).sum();
        assert!(spent <= own && record.end.spend.cost.0 <= whole);
        assert!(spent > 0, "something was bought");
        assert_eq!(record.end.spend.cost.0, 110_000 * calls(&record).len() as u64);
        assert_eq!(record.end.spend.cost_words().unwrap().split_once(' ').unwrap().1, "USD");
    }
}

/// A turn that is taken again has what its first attempt left, so that a budget is not spent twice.
#[test]
fn a_second_attempt_has_what_the_first_one_left() {
    // Every second call panics: its turn is taken again, and nobody knows whether the call was served.
    let shaky = || {
        Arc::new(Scripted::with(|request, number| {
            let text = format!("```python\ndef f(y): return {}{number}\n```", request.seed);
            if number % 2 == 1 { Line::panic("as a model should not") } else { Line::say(text).usage(30, 40) }
        }))
    };
    for limit in 1..9 {
        let model = shaky();
        let budget = BudgetLimits { model_calls: Some(limit), ..programs(50) };
        let record = held(repairing(budget, 1), model.clone());
        assert!(model.calls() <= limit as usize, "{} calls of {limit}", model.calls());
        assert_eq!(record.end.spend.model_calls as usize, model.calls(), "a call that was lost is in the record");
    }
    let model = shaky();
    let record = held(repairing(BudgetLimits { tokens: Some(6_000), ..programs(50) }, 1), model.clone());
    let charged: u64 = record.turns.iter().map(|turn| turn.charge().tokens).sum();
    assert!(charged <= 6_000, "{charged}");
    let lost = calls(&record).into_iter().filter(|call| call.error.as_ref().is_some_and(|(kind, _)| kind == "lost"));
    assert!(lost.map(|call| call.charge().tokens).all(|tokens| tokens > 50) && model.calls() > 3);
}
