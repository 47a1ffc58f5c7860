//! Budgets that conversations share: safety caps that hold at any concurrency.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use rolecall::{
    budget::{CallLimits, Charge, RunBudget, SharedLimits},
    conversation::{ConversationRecord, Outcome, hold},
    domain::Money,
    evaluation::{Selection, run_all},
    ids::RunId,
    llm::scripted::{Line, Scripted},
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{calls, connected, detail, priced, programs, repairing, reply, settings, sharing, writer};
use crate::{
    openai::server::{Answer, Server, answer},
    stage::{assignment, hold_all, on_stage},
    support::task,
};

fn calls_at_most(number: u32) -> SharedLimits {
    SharedLimits { calls: CallLimits { model_calls: Some(number), ..Default::default() }, wall_secs: None }
}

fn nothing() -> SharedLimits {
    SharedLimits::default()
}

/// A15: two arms, eight conversations at once, a server that fails every third request in its own way. What the server saw is
/// within the budget, and the records account for every request.
#[test]
fn a15_conversations_at_once_never_overspend_what_they_share() {
    const PROGRAM: &str = "```python\ndef f(y): return 1\n```";
    for (limits, requests_at_most) in [
        (CallLimits { model_calls: Some(9), ..Default::default() }, 27),
        (CallLimits { tokens: Some(40_000), ..Default::default() }, usize::MAX),
        (CallLimits { cost: Money::from_units(0.04), ..Default::default() }, usize::MAX),
    ] {
        on_stage(async {
            let answered = Arc::new(AtomicUsize::new(0));
            let count = answered.clone();
            let server = Server::answering(move |number| match number % 6 {
                2 => answer(503, "", "busy"),
                5 => Answer::Close,
                _ => {
                    count.fetch_add(1, SeqCst);
                    reply(PROGRAM, json!({"prompt_tokens": 30, "completion_tokens": 40}))
                }
            })
            .await;
            let model = connected(settings(&server)).await;
            let run = RunBudget::new(SharedLimits { calls: limits, wall_secs: None });
            let arms = ["a", "b"]
                .map(|arm| sharing(repairing(programs(40), 4), model.clone(), run.arm(arm, nothing(), nothing())));
            let task = task(3, None);
            let (one, other) =
                futures_util::future::join(hold_all(&arms[0], &task, 8, 8), hold_all(&arms[1], &task, 8, 8)).await;
            let records: Vec<ConversationRecord> = one.into_iter().chain(other).collect();
            let (answered, spent) = (answered.load(SeqCst) as u64, run.purse().spent());
            assert!(run.purse().is_settled());
            assert!(spent.model_calls <= limits.model_calls.map_or(u64::MAX, u64::from), "{spent:?}");
            assert!(spent.tokens <= limits.tokens.unwrap_or(u64::MAX), "{spent:?}");
            assert!(spent.cost <= limits.cost.unwrap_or(Money(u64::MAX)), "{spent:?}");
            assert!(70 * answered <= spent.tokens && Money(110_000 * answered) <= spent.cost, "the server's own count");
            let all: Vec<_> = records.iter().flat_map(calls).collect();
            let charged = all.iter().fold(Charge::default(), |sum, call| sum + call.charge());
            assert_eq!(charged, spent, "what was booked is what the records say");
            let attempts: usize = all.iter().map(|call| call.attempts.len()).sum();
            assert_eq!(attempts, server.seen().len(), "every request is in a record");
            assert!(attempts <= requests_at_most && all.len() > 2);
            let ended: Vec<_> =
                records.iter().filter(|record| detail(record).starts_with("budget of the run: ")).collect();
            assert!(!ended.is_empty() && ended.iter().all(|record| !record.end.deterministic));
        });
    }
}

#[test]
fn each_level_holds_within_the_one_above_and_says_its_name() {
    on_stage(async {
        for (run, arm, of_task, whose, most) in [
            (5, 9, 9, "budget of the run: model_calls = 5", 5),
            (9, 5, 9, "budget of the arm a: model_calls = 5", 5),
            (9, 9, 5, "budget of the task t: model_calls = 5", 5),
        ] {
            let run = RunBudget::new(calls_at_most(run));
            let model = writer(priced());
            let arm = run.arm("a", calls_at_most(arm), calls_at_most(of_task));
            let company = sharing(repairing(programs(20), 2), model.clone(), arm);
            let mut task = task(3, None);
            task.id.0 = "t".to_owned();
            let records = hold_all(&company, &task, 4, 4).await;
            assert_eq!((model.calls(), run.purse().spent().model_calls), (most, most as u64));
            for record in records {
                assert_eq!(record.end.outcome, Outcome::BudgetModelCalls);
                assert!(detail(&record).starts_with(whose) && !record.end.deterministic, "{}", detail(&record));
            }
        }
    });
}

/// No conversation begins on a budget that is spent; those that did not are listed.
#[test]
fn a_run_whose_budget_is_spent_begins_no_further_conversation() {
    on_stage(async {
        let model = writer(priced());
        let arm = RunBudget::new(calls_at_most(7)).arm("arm", nothing(), nothing());
        let company = sharing(repairing(programs(4), 1), model.clone(), arm);
        let selection = Selection {
            run: RunId::new(),
            shard: None,
            arm: "arm".to_owned(),
            problems: vec![assignment(task(3, None), 0).problem],
            samples: 12,
            seed: 7,
            concurrency: 2,
            stop_before: None,
        };
        let records = Arc::new(std::sync::Mutex::new(Vec::new()));
        let done = {
            let records = records.clone();
            move |record| records.lock().unwrap().push(record)
        };
        run_all(company.clone(), &selection, CancellationToken::new(), done).await.unwrap();
        let (records, away) = (records.lock().unwrap(), company.budgets.turned_away());
        assert_eq!(model.calls(), 7);
        assert_eq!(records.len() + away.len(), 12, "each is held or turned away");
        assert!((3..=5).contains(&records.len()), "{}", records.len());
        assert!(away.iter().all(|one| one.why == "budget of the run: model_calls = 7"), "{away:?}");
        assert_eq!(away.last().unwrap().sample, 11);
    });
}

#[test]
fn a_panic_and_an_interrupt_leave_nothing_reserved() {
    on_stage(async {
        // Panics, faults, and calls that never end.
        let model = Arc::new(
            Scripted::with(|request, number| match number % 4 {
                0 => Line::panic("in the middle of a call"),
                3 => Line::say("late").delay(Duration::from_secs(3_600)),
                _ => Line::say(format!("```python\ndef f(y): return {}\n```", request.seed)).usage(30, 40),
            })
            .on_terms(priced()),
        );
        let run = RunBudget::new(SharedLimits {
            calls: CallLimits { model_calls: Some(500), cost: Money::from_units(5.0), ..Default::default() },
            wall_secs: None,
        });
        let company = sharing(repairing(programs(30), 4), model.clone(), run.arm("a", nothing(), nothing()));
        let stop = CancellationToken::new();
        let interrupt = async {
            while model.calls() < 20 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            stop.cancel();
        };
        let held = (0..8).map(|sample| hold(company.clone(), assignment(task(3, None), sample), stop.clone()));
        let (records, ()) = futures_util::future::join(futures_util::future::join_all(held), interrupt).await;
        let spent = run.purse().spent();
        assert!(run.purse().is_settled(), "{spent:?}");
        assert_eq!(spent.model_calls, model.calls() as u64, "a call that was begun was booked");
        let cancelled = records.iter().filter(|it| it.as_ref().unwrap().end.outcome == Outcome::Cancelled).count();
        assert!(cancelled > 0, "some calls never ended");
    });
}

#[test]
fn the_time_of_a_run_ends_what_is_open_and_lets_nothing_begin() {
    on_stage(async {
        let slow = Arc::new(Scripted::with(|request, _| {
            Line::say(format!("```python\ndef f(y): return {}\n```", request.seed)).delay(Duration::from_millis(30))
        }));
        let limits = SharedLimits { wall_secs: Some(0.3), ..Default::default() };
        let arm = RunBudget::new(limits).arm("arm", nothing(), nothing());
        let company = sharing(repairing(programs(1_000_000), 1), slow, arm);
        let records = hold_all(&company, &task(3, None), 3, 3).await;
        for record in &records {
            assert_eq!((record.end.outcome, record.end.deterministic), (Outcome::BudgetWall, false));
            assert_eq!(detail(record), "budget of the run: wall_secs = 0.3");
        }
        assert!(!company.budgets.admits("any", 0, rolecall::runtime::now_unix_nanos()));
    });
}

/// Turns that a journal holds are not paid for again, and count against what is shared all the same.
#[test]
fn what_was_spent_before_a_kill_counts_after_it() {
    on_stage(async {
        let held = |budgets, model: Arc<Scripted>, rows: Option<ConversationRecord>| async move {
            let company = sharing(repairing(programs(4), 1), model, budgets);
            for row in rows.iter().flat_map(|record| &record.turns).flat_map(|turn| &turn.attempts) {
                company.journal.append(rows.as_ref().unwrap().head.id, Arc::new(row.clone())).await.unwrap();
            }
            hold_all(&company, &task(3, None), 1, 1).await.remove(0)
        };
        let (run, again) = (RunBudget::new(calls_at_most(50)), RunBudget::new(calls_at_most(50)));
        let first = held(run.arm("arm", nothing(), nothing()), writer(priced()), None).await;
        let silent = writer(priced());
        let second = held(again.arm("arm", nothing(), nothing()), silent.clone(), Some(first.clone())).await;
        assert_eq!((silent.calls(), second.end.spend), (0, first.end.spend));
        assert_eq!(again.purse().spent(), run.purse().spent());
        assert!(again.purse().is_settled() && run.purse().spent().model_calls > 2);
    });
}
