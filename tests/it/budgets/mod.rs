//! Budgets of calls along whole conversations: in one, in several at once, and what each call comes to in money.

mod calls;
mod command;
mod own;
mod shared;

use std::sync::Arc;

use rolecall::{
    budget::ArmBudget,
    conversation::{Company, ConversationRecord},
    domain::{Currency, Money, Price},
    llm::{
        ChatModel, Terms,
        openai::{OpenAi, OpenAiSettings},
        scripted::{Line, Scripted},
    },
    runtime::CallRecord,
    topology::{BudgetLimits, Plan},
};
use serde_json::{Value, json};

use crate::{
    openai::server::{Answer, Server, answer},
    stage::{MadeUpSandbox, company},
    support::{node, plan},
};

/// 1 and 2 units a million tokens: 1000 and 2000 billionths a token.
const PRICE: Price = Price {
    input: Money(1_000_000_000),
    cached_input: Money(250_000_000),
    output: Money(2_000_000_000),
    currency: Currency::USD,
};

/// Drafts one program, then repairs it without end, at most 50 tokens a reply.
fn repairing(budget: BudgetLimits, parallel_turns: u32) -> Plan {
    let nodes = vec![
        node("write", "synthesizer", json!({ "drafts": 2 })),
        node("run", "executor", json!({})),
        node("repair", "debugger", json!({})),
    ];
    let edges = [("task", "write"), ("write", "run"), ("run", "repair"), ("repair", "run")];
    let mut plan = plan(nodes, &edges, parallel_turns, budget);
    plan.nodes.iter_mut().for_each(|node| node.parameters.max_output_tokens = Some(50));
    plan
}

fn programs(programs: u32) -> BudgetLimits {
    BudgetLimits { programs: Some(programs), ..Default::default() }
}

/// A company whose conversations share these budgets.
fn sharing(plan: Plan, model: Arc<dyn ChatModel>, budgets: ArmBudget) -> Arc<Company> {
    let mut company = company(plan, model, MadeUpSandbox::by_text(), None);
    Arc::get_mut(&mut company).unwrap().budgets = Arc::new(budgets);
    company
}

/// Says a program that is never right: 30 tokens in, 40 out.
fn writer(terms: Terms) -> Arc<Scripted> {
    let script = Scripted::with(|request, _| {
        let texts =
            (0..request.choices).map(|choice| format!("```python\ndef f(y): return {}{choice}\n```", request.seed));
        Line::say_all(texts).usage(30, 40)
    });
    Arc::new(script.on_terms(terms))
}

fn priced() -> Terms {
    Terms { price: Some(PRICE), ..Terms::FREE }
}

/// A reply with this usage.
fn reply(text: &str, usage: Value) -> Answer {
    let choices = json!([{"index": 0, "message": {"content": text}, "finish_reason": "stop"}]);
    answer(200, "", json!({"id": "a", "model": "m-2026-01-01", "choices": choices, "usage": usage}).to_string())
}

fn settings(server: &Server) -> OpenAiSettings {
    OpenAiSettings {
        model: Some("coder".to_owned()),
        max_retries: 2,
        backoff_secs: 0.001,
        price: Some(PRICE),
        gpus: Some(1),
        ..OpenAiSettings::new("coder", &server.base_url)
    }
}

async fn connected(settings: OpenAiSettings) -> Arc<dyn ChatModel> {
    Arc::new(OpenAi::connect(settings).await.unwrap().0)
}

fn calls(record: &ConversationRecord) -> Vec<CallRecord> {
    let attempts = record.turns.iter().flat_map(|turn| &turn.attempts);
    attempts.flat_map(|attempt| attempt.log.calls.clone()).collect()
}

fn detail(record: &ConversationRecord) -> &str {
    record.end.outcome_detail.as_deref().unwrap_or_default()
}
