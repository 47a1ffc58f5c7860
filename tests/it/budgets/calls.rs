//! What one call comes to, against a server that answers as servers do.

use rolecall::{
    conversation::{ConversationRecord, Outcome},
    domain::Money,
    llm::openai::OpenAiSettings,
    topology::BudgetLimits,
};
use serde_json::json;

use super::{calls, connected, detail, repairing, reply, settings};
use crate::{
    openai::server::{Answer, Server, answer},
    stage::{MadeUpSandbox, company, hold_all, on_stage},
    support::task,
};

const PROGRAM: &str = "```python\ndef f(y): return 1\n```";

async fn held(budget: BudgetLimits, settings: OpenAiSettings) -> ConversationRecord {
    let company = company(repairing(budget, 1), connected(settings).await, MadeUpSandbox::by_text(), None);
    hold_all(&company, &task(3, None), 1, 1).await.remove(0)
}

/// The most that a call for one of its prompts can cost is far below a unit.
fn cost(units: f64) -> BudgetLimits {
    BudgetLimits { programs: Some(3), cost: Money::from_units(units), ..Default::default() }
}

/// T03: a call that is refused again and again is `max_retries` + 1 requests, all of them under one reservation, and costs
/// nothing, since the server said no.
#[test]
fn t03_retries_are_under_one_reservation_and_refusals_cost_nothing() {
    on_stage(async {
        let server = Server::start(vec![answer(503, "", "busy")]).await;
        let record = held(cost(1.0), settings(&server)).await;
        assert_eq!(record.end.outcome, Outcome::Failed);
        for call in calls(&record) {
            assert_eq!((call.attempts.len(), call.attempts_in_doubt()), (3, 0));
            assert_eq!((call.charge().tokens, call.charge().cost), (0, Money::ZERO));
        }
        assert_eq!(server.seen().len(), 3 * calls(&record).len());

        // What one request may take is there, what three may take is not: nothing is sent.
        let call = calls(&record).remove(0);
        let prompt: u64 = call.messages.iter().map(|message| message.content.len() as u64 + 16).sum();
        // Two drafts are asked for at once.
        let most = 3 * (prompt * 1_000 + 2 * 50 * 2_000);
        let limits = |nanos| BudgetLimits { cost: Some(Money(nanos)), ..cost(1.0) };
        let before = server.seen().len();
        let record = held(limits(most - 1), settings(&server)).await;
        assert_eq!((record.end.outcome, server.seen().len()), (Outcome::BudgetCost, before));
        assert!(detail(&record).starts_with("cost = 0.0"), "{}", detail(&record));
        held(limits(most), settings(&server)).await;
        assert_eq!(server.seen().len(), before + 3);
    });
}

/// T12: a request whose answer did not come was possibly billed: it is booked at its worst, and told apart from what is sure.
#[test]
fn t12_requests_of_unknown_outcome_are_booked_at_their_worst_and_told_apart() {
    on_stage(async {
        let good = reply(PROGRAM, json!({"prompt_tokens": 30, "completion_tokens": 40}));
        // The last one goes on for all that follow.
        let server = Server::start(vec![Answer::Silence, Answer::Close, good]).await;
        let quick = OpenAiSettings { timeout_secs: 0.2, ..settings(&server) };
        let record = held(BudgetLimits { programs: Some(1), ..cost(1.0) }, quick).await;
        let (call, spend) = (calls(&record).remove(0), record.end.spend);
        assert_eq!((call.attempts.len(), call.attempts_in_doubt(), spend.attempts_in_doubt), (3, 2, 2));
        assert_eq!(call.cost(), Some(Money(30 * 1_000 + 40 * 2_000)));
        let prompt: u64 = call.messages.iter().map(|message| message.content.len() as u64 + 16).sum();
        assert_eq!(call.cost_in_doubt(), Some(Money(2 * (prompt * 1_000 + 50 * 2_000))));
        assert_eq!((spend.cost, spend.cost_in_doubt), (call.cost().unwrap(), call.cost_in_doubt().unwrap()));
        assert_eq!(call.charge().cost, spend.cost + spend.cost_in_doubt);
        assert_eq!(call.charge().tokens, 70 + 2 * (prompt + 50));
    });
}

/// T16: a server that does not know the limit of a reply is booked in full, even beyond the budget, which is the end then.
#[test]
fn t16_a_reply_beyond_its_limit_is_booked_in_full() {
    on_stage(async {
        let server =
            Server::start(vec![reply(PROGRAM, json!({"prompt_tokens": 30, "completion_tokens": 5_000}))]).await;
        let record = held(BudgetLimits { programs: Some(9), ..cost(0.013) }, settings(&server)).await;
        let all = calls(&record);
        // The first one asked for two choices of 50.
        assert_eq!(all[0].overshoot(), Some(4_900), "told on the span and on stderr");
        assert_eq!(record.end.outcome, Outcome::BudgetCost);
        assert_eq!((all.len(), server.seen().len()), (2, 2), "5030 tokens cost 0.01003, and two of them are too much");
        assert_eq!(record.end.spend.cost, Money(2 * (30 * 1_000 + 5_000 * 2_000)));
    });
}

/// T23: the price is that of the name that was configured, whatever name answers; what the server says of money stands apart.
#[test]
fn t23_the_configured_name_has_the_price_and_the_server_s_own_words_stand_apart() {
    on_stage(async {
        let usage = json!({"prompt_tokens": 30, "completion_tokens": 40, "cost": 0.123_456, "prompt_tokens_details": {"cached_tokens": 20}});
        let server = Server::start(vec![reply(PROGRAM, usage.clone())]).await;
        let record = held(BudgetLimits { programs: Some(1), ..cost(1.0) }, settings(&server)).await;
        let call = calls(&record).remove(0);
        assert_eq!((call.model.as_str(), call.served_model.as_deref()), ("coder", Some("m-2026-01-01")));
        assert_eq!(call.cost(), Some(Money(10 * 1_000 + 20 * 250 + 40 * 2_000)), "what was kept costs less");
        assert_eq!(call.usage.reported_cost, Some(Money(123_456_000)));
        assert_eq!(record.end.spend.reported_cost, Some(Money(123_456_000)));

        // Without a price the cost is unknown, and the sum says that it lacks it.
        let unknown = OpenAiSettings { price: None, ..settings(&server) };
        let record = held(BudgetLimits { programs: Some(1), ..Default::default() }, unknown.clone()).await;
        let spend = record.end.spend;
        assert_eq!((calls(&record)[0].cost(), spend.known_cost(), spend.calls_without_cost), (None, None, 1));
        assert_eq!((spend.cost_words().as_deref(), spend.currency), (Some("?"), None));
        // A budget of money that came so far all the same asks nothing.
        let before = server.seen().len();
        assert_eq!(held(cost(1.0), unknown).await.end.outcome, Outcome::BudgetCost);
        assert_eq!(server.seen().len(), before);
    });
}

/// A price, and a server that is silent about usage: the cost is unknown, and the budget counts the worst.
#[test]
fn t23_a_price_without_usage_is_an_unknown_cost_and_is_charged_at_its_worst() {
    on_stage(async {
        let server = Server::start(vec![reply(PROGRAM, json!(null))]).await;
        let record = held(BudgetLimits { programs: Some(1), ..cost(1.0) }, settings(&server)).await;
        let call = calls(&record).remove(0);
        assert_eq!((call.cost(), record.end.spend.calls_without_cost), (None, 1));
        assert!(call.charge().cost >= Money(50 * 2_000) && call.charge().tokens >= 50);
    });
}

#[test]
fn a_budget_of_gpu_time_reserves_the_longest_call_and_is_no_promise_for_another_run() {
    on_stage(async {
        let server = Server::start(vec![reply(PROGRAM, json!({"prompt_tokens": 3, "completion_tokens": 4}))]).await;
        let timed = OpenAiSettings { total_secs: 5.0, gpus: Some(2), ..settings(&server) };
        let limits = |secs: u64| BudgetLimits { programs: Some(2), gpu_ms: Some(secs * 1_000), ..Default::default() };
        // 5 s and one to notice that they are over, on 2 GPUs.
        let record = held(limits(11), timed.clone()).await;
        assert_eq!((record.end.outcome, server.seen().len()), (Outcome::BudgetGpu, 0));
        assert!(!record.end.deterministic && detail(&record).starts_with("gpu_secs = 11"), "{}", detail(&record));
        let record = held(limits(13), timed).await;
        assert!(record.end.outcome == Outcome::BudgetPrograms && record.end.deterministic, "{}", detail(&record));
        let busy: u64 = calls(&record).iter().flat_map(|call| &call.attempts).map(|attempt| attempt.duration_ms).sum();
        let charged: u64 = record.turns.iter().map(|turn| turn.charge().gpu_ms).sum();
        assert_eq!(charged, 2 * busy);
    });
}

/// A server that refuses the form of a request is asked in another, within the same number of requests that may be billed.
#[test]
fn a_request_in_other_words_is_no_further_call_and_has_no_further_retries() {
    on_stage(async {
        let refusal = r#"{"error": {"message": "Unsupported parameter: 'max_tokens'"}}"#;
        let server = Server::answering(move |number| match number {
            1 => answer(400, "", refusal),
            _ => answer(500, "", "out of order"),
        })
        .await;
        let record = held(cost(1.0), settings(&server)).await;
        let first = calls(&record).remove(0);
        let statuses: Vec<_> = first.attempts.iter().map(|attempt| attempt.status.unwrap()).collect();
        assert_eq!(statuses, [500, 400, 500, 500], "3 requests that may have been billed, and one that was refused");
        assert_eq!(first.attempts_in_doubt(), 3);
    });
}
