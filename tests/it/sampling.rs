//! How replies are sampled: temperatures by choice, and what their requests count as.

use std::sync::Arc;

use rolecall::{
    conversation::{ConversationRecord, Outcome},
    llm::{
        ChatModel, Temperature,
        scripted::{Line, Scripted},
    },
    topology::{BudgetLimits, Plan},
};
use serde_json::json;

use crate::{
    stage::{MadeUpSandbox, company, hold_all, on_stage},
    support::{node, plan, task},
};

/// Drafts that never pass; temperatures as given.
fn drafting(drafts: u32, temperatures: &[f64], budget: BudgetLimits) -> Plan {
    let nodes = vec![node("write", "synthesizer", json!({"drafts": drafts})), node("run", "executor", json!({}))];
    let mut plan = plan(nodes, &[("task", "write"), ("write", "run")], 4, budget);
    plan.nodes[0].parameters.temperature = Some(Temperature::ByChoice(temperatures.to_vec()));
    plan
}

fn held(plan: Plan, model: Arc<dyn ChatModel>) -> ConversationRecord {
    on_stage(async move {
        let company = company(plan, model, MadeUpSandbox::by_text(), None);
        hold_all(&company, &task(5, None), 1, 1).await.remove(0)
    })
}

/// A model that writes a program for each choice, but none where `silent` says so: by call and choice.
fn writer(silent: impl Fn(usize, u32) -> bool + Send + Sync + 'static) -> Arc<Scripted> {
    Arc::new(Scripted::with(move |request, n| {
        let reply = |choice: u32| match silent(n, choice) {
            true => "I cannot.".to_owned(),
            false => format!("```python\ndef f(x): return {}{n}{choice}\n```", request.seed),
        };
        Line::say_all((0..request.choices).map(reply))
    }))
}

/// Temperature and number of choices of each request.
fn asked(model: &Scripted) -> Vec<(f64, u32)> {
    let requests = model.requests();
    requests.iter().map(|it| (it.parameters.temperature.as_ref().unwrap().of(0), it.choices)).collect()
}

#[test]
fn neighbours_of_one_temperature_share_a_request_and_each_request_is_a_call() {
    for (temperatures, requests) in [
        (&[0.2, 0.6, 1.0][..], vec![(0.2, 1), (0.6, 1), (1.0, 3)]),
        (&[0.2, 0.2, 1.0, 0.2], vec![(0.2, 2), (1.0, 1), (0.2, 2)]),
        (&[0.5], vec![(0.5, 5)]),
    ] {
        let model = writer(|_, _| false);
        let record = held(drafting(5, temperatures, BudgetLimits::default()), model.clone());
        assert_eq!(asked(&model), requests);
        let spend = record.end.spend;
        assert_eq!((spend.programs, spend.model_calls as usize), (5, requests.len()));
        let calls = &record.turns[0].attempts[0].log.calls;
        let recorded =
            calls.iter().map(|call| (call.parameters.temperature.as_ref().unwrap().of(0), call.choices_wanted));
        assert_eq!(recorded.collect::<Vec<_>>(), requests, "each record says what was sent");
        let mut seeds: Vec<u64> = calls.iter().map(|call| call.seed).collect();
        seeds.dedup();
        assert_eq!(seeds.len(), requests.len(), "no two requests of a group have one seed");
    }
}

#[test]
fn a_budget_of_calls_counts_every_request_of_a_group() {
    let model = writer(|_, _| false);
    let budget = BudgetLimits { model_calls: Some(2), ..Default::default() };
    let record = held(drafting(5, &[0.2, 0.6, 1.0], budget), model.clone());
    assert_eq!(asked(&model), [(0.2, 1), (0.6, 1)]);
    assert_eq!((record.end.spend.model_calls, record.end.spend.programs), (2, 2));
    assert!(matches!(record.end.outcome, Outcome::BudgetModelCalls | Outcome::NothingLeft), "{:?}", record.end.outcome);
}

#[test]
fn a_reply_without_a_program_is_asked_for_again_at_its_own_temperature() {
    let model = writer(|call, _| call == 1);
    held(drafting(3, &[0.2, 0.6, 1.0], BudgetLimits::default()), model.clone());
    assert_eq!(asked(&model), [(0.2, 1), (0.6, 1), (1.0, 1), (0.6, 1)]);
}
