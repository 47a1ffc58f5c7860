//! The critic: where its rewards come from, and what becomes of them.

mod endpoint;
mod judge;
mod settings;
mod trace;

use std::sync::Arc;

use rolecall::{
    conversation::ConversationRecord,
    llm::{
        ChatRequest, Purpose,
        scripted::{Line, Scripted},
    },
    messages::{Assessment, Message},
    topology::{BudgetLimits, Plan},
};
use serde_json::{Value, json};

use crate::{
    stage::{MadeUpSandbox, company, hold_all, on_stage},
    support::{node, plan, task},
};

/// Drafts are executed, then assessed one after the other; nobody repairs.
pub fn drafts_assessed(drafts: usize, settings: Value) -> Plan {
    plan(
        vec![
            node("synthesizer", "synthesizer", json!({ "drafts": drafts })),
            node("executor", "executor", json!({})),
            node("critic", "critic", settings),
        ],
        &[("task", "synthesizer"), ("synthesizer", "executor"), ("executor", "critic")],
        1,
        BudgetLimits { programs: Some(100), ..Default::default() },
    )
}

#[test]
fn the_last_program_of_a_budget_is_assessed_too_and_can_be_the_best() {
    for gathers in [false, true] {
        let mut plan = drafts_assessed(2, json!({ "reward": "judge" }));
        plan.budget.programs = Some(2);
        plan.nodes[2].gathers = gathers;
        let model = judging(&["def f(x): return 1", "def f(x): return 2"], |request, _| {
            let second = request.subject.program.as_ref().is_some_and(|program| program.text.contains('2'));
            Line::say(if second { "BETTER: A" } else { "BETTER: B" })
        });
        let record = held(plan, &model);
        assert_eq!(record.end.outcome, rolecall::conversation::Outcome::BudgetPrograms);
        assert_eq!(rewards(&record), [Some(0.0), Some(1.0)]);
        assert_eq!(record.end.best.map(|best| best.to_string()).as_deref(), Some("0.1"));
    }
}

/// A model that drafts these programs (a text without `def` is no program) and judges as it is told, by request and number
/// of the judging call.
pub fn judging(
    programs: &[&str],
    judge: impl Fn(&ChatRequest, usize) -> Line + Send + Sync + 'static,
) -> Arc<Scripted> {
    let replies: Vec<String> = programs.iter().map(|text| format!("```python\n{text}\n```")).collect();
    let judged = std::sync::atomic::AtomicUsize::new(0);
    Arc::new(Scripted::with(move |request, n| match request.purpose {
        Purpose::Judge => judge(request, judged.fetch_add(1, std::sync::atomic::Ordering::SeqCst)),
        // The second request is for replies without a program.
        _ if n > 0 => Line::say("none"),
        _ => Line::say_all(replies.clone()).usage(10, 5),
    }))
}

/// Holds one conversation of `plan`.
pub fn held(plan: Plan, model: &Arc<Scripted>) -> ConversationRecord {
    let model = model.clone();
    on_stage(async move {
        let company = company(plan, model, MadeUpSandbox::by_text(), None);
        hold_all(&company, &task(5, None), 1, 1).await.remove(0)
    })
}

/// What the critics said, in logical order.
pub fn assessments(record: &ConversationRecord) -> Vec<Arc<Assessment>> {
    let said = record.turns.iter().flat_map(|turn| turn.messages());
    let assessment = |message: &Message| match message {
        Message::Assessment(assessment) => Some(assessment.clone()),
        _ => None,
    };
    said.filter_map(assessment).collect()
}

/// The rewards alone.
pub fn rewards(record: &ConversationRecord) -> Vec<Option<f64>> {
    assessments(record).iter().map(|assessment| assessment.reward).collect()
}
