//! Conversations on a real actor system: determinism at any concurrency, panics that cost one turn, interrupts.

use std::{
    cell::Cell,
    collections::BTreeSet,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

use opentelemetry_proto::tonic::{common::v1::any_value::Value, trace::v1::status::StatusCode};
use rolecall::{
    agents::ROLES,
    conversation::{Assignment, ConversationRecord, Outcome, hold},
    evaluation::{RunError, Selection, run_all},
    llm::scripted::{Line, Scripted},
    messages::{Kind, Message},
    runtime::{Fault, TurnRecord, Watch},
    sandbox::SandboxError,
    telemetry::{Projection, ServiceSpan, project},
    topology::{BudgetLimits, Edge, Plan, Source, When},
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::{
    stage::{MadeUpSandbox, assignment, company, hold_all, on_stage, talkative},
    support::{briefed, chain, node, plan, seidr, task},
};

/// What took effect, without times.
pub fn story(record: &ConversationRecord) -> Vec<String> {
    let line =
        |turn: &Arc<TurnRecord>| format!("{} {} {:?} {:?}", turn.seq, turn.actor, turn.programs, turn.messages());
    let end = &record.end;
    let mut story: Vec<String> = record.turns.iter().map(line).collect();
    story.push(format!("{:?} {:?} {:?} {:?} {:?}", end.outcome, end.solved, end.best, end.best_score, end.spend));
    story
}

/// The learner and teacher cast: every role that the SEIDR cast lacks.
pub fn school() -> Plan {
    plan(
        vec![
            node("learner", "learner", json!({})),
            node("executor", "executor", json!({})),
            node("teacher", "teacher", json!({})),
        ],
        &[("task", "learner"), ("learner", "executor"), ("executor", "teacher"), ("teacher", "learner")],
        4,
        BudgetLimits { programs: Some(5), ..Default::default() },
    )
}

/// The learner's cast with a critic whose model judges every program that failed.
pub fn judged() -> Plan {
    let mut plan = school();
    plan.nodes.push(node("critic", "critic", json!({ "reward": "judge" })));
    plan.edges.retain(|edge| edge.from != Source::Actor(1));
    plan.edges.push(Edge { from: Source::Actor(1), to: 3, when: When::Failed, intervene: None });
    plan.edges.push(Edge { from: Source::Actor(3), to: 2, when: When::Failed, intervene: None });
    plan
}

#[test]
fn the_same_story_at_concurrency_1_and_64_and_twice() {
    on_stage(async {
        let company = company(seidr(2, 4, 20), talkative(), MadeUpSandbox::by_text(), None);
        let one = hold_all(&company, &task(5, None), 64, 1).await;
        let many = hold_all(&company, &task(5, None), 64, 64).await;
        for (one, many) in one.iter().zip(&many) {
            assert_eq!(story(one), story(many));
            assert_eq!(one.end.spend.programs, 20);
        }
        assert_ne!(story(&one[0]), story(&one[1]), "two samples are two conversations");
    });
}

/// Panics at the first attempt of turn `at`.
fn panics_once_at(at: u32) -> Watch {
    let calls = Arc::new(AtomicUsize::new(0));
    Arc::new(move |_, seq| {
        if seq == at && calls.fetch_add(1, SeqCst) == 0 {
            panic!("injected at turn {seq}");
        }
    })
}

#[test]
fn a20_a_panic_in_any_role_at_any_step_costs_that_attempt_only() {
    on_stage(async {
        for make in [seidr as fn(u32, u32, u32) -> Plan, chain] {
            let calm = company(make(2, 4, 12), talkative(), MadeUpSandbox::by_text(), None);
            let calm = hold_all(&calm, &task(5, None), 1, 1).await;
            for at in calm[0].turns.iter().map(|turn| turn.seq) {
                let watch = panics_once_at(at);
                let company = company(make(2, 4, 12), talkative(), MadeUpSandbox::by_text(), Some(watch));
                let record = hold_all(&company, &task(5, None), 1, 1).await.remove(0);
                assert_eq!(story(&record), story(&calm[0]), "a panic at turn {at} changed the story");
                let hurt = record.turns.iter().find(|turn| turn.seq == at).unwrap();
                assert_eq!(hurt.attempts.len(), 2);
                assert!(
                    matches!(&hurt.attempts[0].result, Err(Fault::Panic { message }) if message.contains("injected"))
                );
            }
        }
    });
}

#[test]
fn a20_an_actor_that_keeps_panicking_ends_its_own_conversation_by_name_and_no_other() {
    on_stage(async {
        let model = Arc::new(Scripted::with(|request, _| {
            if request.draw.sample == 2 { Line::panic("boom") } else { Line::say("```python\ndef f(x): return x\n```") }
        }));
        let company = company(school(), model, MadeUpSandbox::by_text(), None);
        let started = Instant::now();
        let records = hold_all(&company, &task(2, None), 5, 2).await;
        assert!(started.elapsed() < Duration::from_secs(10));
        for (sample, record) in records.iter().enumerate() {
            if sample == 2 {
                assert_eq!(record.end.outcome, Outcome::Failed);
                assert_eq!(record.end.outcome_detail.as_deref(), Some("learner, turn 0: panicked: boom"));
            } else {
                assert!(record.end.solved, "{:?}", record.end);
            }
        }
    });
}

#[test]
fn every_registered_role_starts_accepts_says_what_it_may_and_survives_a_panic() {
    on_stage(async {
        for role in ROLES {
            let actor = role.spec.name;
            let plan = match actor {
                "learner" | "teacher" => school(),
                "analyst" | "tester" => briefed("feedback", 12),
                "critic" => judged(),
                _ => seidr(2, 4, 12),
            };
            let first = Arc::new(AtomicUsize::new(0));
            let watch: Watch = Arc::new(move |name, _| {
                if name.0 == actor && first.fetch_add(1, SeqCst) == 0 {
                    panic!("injected");
                }
            });
            let model = talkative();
            let company = company(plan, model.clone(), MadeUpSandbox::by_text(), Some(watch));
            let record = hold_all(&company, &task(5, None), 1, 1).await.remove(0);
            every_attempt_and_call_is_in_the_trace(&record, &model);
            let turns: Vec<_> = record.turns.iter().filter(|turn| turn.role == role.spec.name).collect();
            assert!(!turns.is_empty(), "{actor} took no turn");
            assert_eq!(turns.iter().filter(|turn| turn.attempts.len() == 2).count(), 1, "{actor}");
            let mut accepted: Vec<Kind> = Vec::new();
            for turn in turns {
                assert!(turn.fault().is_none(), "{actor}: {:?}", turn.fault());
                accepted.extend(turn.inbox.iter().map(Message::kind));
                assert!(turn.messages().iter().all(|message| role.spec.emits.contains(&message.kind())), "{actor}");
            }
            assert!(accepted.iter().all(|kind| role.spec.accepts.contains(kind)), "{actor}");
            // Keys of the settings that are listed are the keys that there are, with a default or without one.
            let listed: Vec<&str> = role.spec.settings.iter().map(|key| key.name).collect();
            let defaults = role.default_settings();
            let with_default: Vec<&str> = listed.iter().copied().filter(|key| defaults.contains_key(*key)).collect();
            assert_eq!(with_default, defaults.keys().collect::<Vec<_>>(), "{actor}");
            for key in listed.iter().filter(|key| !defaults.contains_key(**key)) {
                assert_eq!(role.check_key(key, &serde_json::Value::Null), Ok(()), "{actor}: {key}");
            }
        }
    });
}

/// One span of the actor's service for each attempt, an error where it failed; one `chat` span for each request, with
/// the id that the request carried.
fn every_attempt_and_call_is_in_the_trace(record: &ConversationRecord, model: &Scripted) {
    let spans = project(record, Projection::default());
    let number = |span: &ServiceSpan, name: &str| {
        let found = span.span.attributes.iter().find(|one| one.key == name)?;
        match found.value.as_ref()?.value.as_ref()? {
            Value::IntValue(number) => Some(*number),
            _ => None,
        }
    };
    let is_turn =
        |span: &&ServiceSpan| span.span.name.starts_with("invoke_agent ") || span.span.name == "execute_tool run_tests";
    for turn in &record.turns {
        for attempt in &turn.attempts {
            let of_attempt = |span: &&ServiceSpan| {
                let place = (number(span, "rolecall.seq"), number(span, "rolecall.attempt"));
                span.service == turn.actor.0 && place == (Some(turn.seq.into()), Some(attempt.attempt.into()))
            };
            let found: Vec<_> = spans.iter().filter(is_turn).filter(of_attempt).collect();
            assert_eq!(found.len(), 1, "{} turn {} attempt {}", turn.actor.0, turn.seq, attempt.attempt);
            let failed = found[0].span.status.as_ref().is_some_and(|status| status.code() == StatusCode::Error);
            assert_eq!(failed, attempt.result.is_err(), "{} turn {}", turn.actor.0, turn.seq);
        }
    }
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let chats = spans.iter().filter(|span| span.span.name.starts_with("chat "));
    let in_trace: BTreeSet<String> =
        chats.map(|one| format!("00-{}-{}-01", hex(&one.span.trace_id), hex(&one.span.span_id))).collect();
    let sent: BTreeSet<String> = model.requests().into_iter().filter_map(|request| request.traceparent).collect();
    assert_eq!(sent, in_trace, "what requests carried and the spans of their calls");
}

#[test]
fn a21_a_burst_of_reports_loses_none() {
    on_stage(async {
        let mut plan = seidr(2, u32::MAX, 120);
        plan.nodes[0] = node("synthesizer", "synthesizer", json!({ "drafts": 120 }));
        let sandbox = MadeUpSandbox::by_text();
        let company = company(plan, talkative(), sandbox.clone(), None);
        let record = hold_all(&company, &task(5, None), 1, 1).await.remove(0);
        assert_eq!(record.end.spend.programs, 120);
        assert_eq!(sandbox.executions.load(SeqCst), 120);
    });
}

#[test]
fn a22_more_conversations_than_permits_all_finish() {
    on_stage(async {
        let company = company(school(), talkative(), MadeUpSandbox::by_text(), None);
        let records = hold_all(&company, &task(3, None), 9, 2).await;
        for record in records {
            assert!(matches!(record.end.outcome, Outcome::BudgetPrograms | Outcome::TestsPassed), "{:?}", record.end);
        }
    });
}

#[test]
fn a16_a_deadline_is_kept_while_mail_keeps_coming() {
    on_stage(async {
        let mut plan = chain(1, 4, 1_000_000);
        plan.budget = BudgetLimits { programs: Some(1_000_000), wall_secs: Some(0.5), ..Default::default() };
        let company = company(plan, talkative(), MadeUpSandbox::by_text(), None);
        let started = Instant::now();
        let record = hold(company, assignment(task(5, None), 0), CancellationToken::new()).await.unwrap();
        assert_eq!(record.end.outcome, Outcome::BudgetWall);
        assert!(!record.end.deterministic);
        assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    });
}

/// A conversation that goes on after a kill has left of its time what the turns before it did not take.
#[test]
fn a24_time_that_was_taken_before_a_kill_is_not_given_again() {
    let held = |took: Duration| {
        on_stage(async move {
            let whole = company(chain(1, 1, 3), talkative(), MadeUpSandbox::by_text(), None);
            let record = hold(whole, assignment(task(5, None), 0), CancellationToken::new()).await.unwrap();
            let mut row = record.turns[0].attempts[0].clone();
            row.ended_ns = row.started_ns + u64::try_from(took.as_nanos()).unwrap();
            let mut plan = chain(1, 1, 3);
            plan.budget.wall_secs = Some(600.0);
            let company = company(plan, talkative(), MadeUpSandbox::by_text(), None);
            company.journal.append(record.head.id, Arc::new(row)).await.unwrap();
            hold(company, assignment(task(5, None), 0), CancellationToken::new()).await.unwrap().end.outcome
        })
    };
    assert_eq!(held(Duration::from_secs(601)), Outcome::BudgetWall);
    assert_eq!(held(Duration::from_secs(1)), Outcome::BudgetPrograms);
}

#[test]
fn an_interrupt_ends_a_conversation_that_waits_for_a_model() {
    on_stage(async {
        let model = Arc::new(Scripted::with(|_, _| Line::say("late").delay(Duration::from_secs(600))));
        let company = company(school(), model, MadeUpSandbox::by_text(), None);
        let stop = CancellationToken::new();
        let conversation = hold(company, assignment(task(5, None), 0), stop.clone());
        let interrupt = async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            stop.cancel();
        };
        let (record, ()) = futures_util::future::join(conversation, interrupt).await;
        assert_eq!(record.unwrap().end.outcome, Outcome::Cancelled);
    });
}

#[test]
fn a_deadline_that_cuts_a_model_call_off_is_budget_wall_and_not_cancelled() {
    on_stage(async {
        for _ in 0..20 {
            let model = Arc::new(Scripted::with(|_, _| Line::say("late").delay(Duration::from_secs(600))));
            let mut plan = school();
            plan.budget.wall_secs = Some(0.02);
            let company = company(plan, model, MadeUpSandbox::by_text(), None);
            let record = hold(company, assignment(task(5, None), 0), CancellationToken::new()).await.unwrap();
            assert_eq!(record.end.outcome, Outcome::BudgetWall, "{:?}", record.end.outcome_detail);
        }
    });
}

#[test]
fn a_server_that_is_silent_about_usage_does_not_make_a_token_budget_endless() {
    on_stage(async {
        let mut plan = seidr(1, 1, 1_000);
        plan.budget.tokens = Some(20_000);
        let silent = Arc::new(Scripted::with(|request, _| Line::say(format!("```python\nx = {}\n```", request.seed))));
        let company = company(plan, silent, MadeUpSandbox::by_text(), None);
        let record = hold_all(&company, &task(5, None), 1, 1).await.remove(0);
        assert_eq!(record.end.outcome, Outcome::BudgetTokens);
        let spend = record.end.spend;
        assert!(spend.model_calls > 1 && spend.calls_without_usage == spend.model_calls, "{spend:?}");
        assert_eq!((spend.input_tokens, spend.output_tokens), (0, 0), "what is not known is not reported");
    });
}

#[test]
fn a_fault_of_the_machine_is_retried_once_and_is_never_a_wrong_answer() {
    on_stage(async {
        for failures in [1, 2] {
            let calls = AtomicUsize::new(0);
            let sandbox = MadeUpSandbox::new(move |job| {
                if calls.fetch_add(1, SeqCst) < failures {
                    return Err(SandboxError::Harness("no slot".to_owned()));
                }
                Ok(crate::support::judgement(&vec![true; job.tests.len()]))
            });
            let company = company(school(), talkative(), sandbox, None);
            let record = hold_all(&company, &task(2, None), 1, 1).await.remove(0);
            if failures == 1 {
                assert_eq!(record.end.outcome, Outcome::TestsPassed);
            } else {
                assert_eq!(record.end.outcome, Outcome::Failed);
                assert!(record.end.infrastructure_error);
            }
        }
    });
}

#[test]
fn a_reply_without_a_program_is_asked_for_once_more_and_then_spent() {
    on_stage(async {
        let model = Arc::new(Scripted::with(|_, _| Line::say("I would rather not.")));
        let sandbox = MadeUpSandbox::by_text();
        let company = company(school(), model.clone(), sandbox.clone(), None);
        let record = hold_all(&company, &task(2, None), 1, 1).await.remove(0);
        assert_eq!(record.end.outcome, Outcome::BudgetPrograms);
        assert_eq!(record.end.spend.programs, 5);
        assert_eq!(sandbox.executions.load(SeqCst), 0, "there was nothing to run");
        let drafts = record.turns.iter().find(|turn| turn.role == "learner").unwrap();
        assert_eq!(drafts.attempts[0].log.calls.len(), 2);
    });
}

#[test]
fn a_gathering_role_that_diagnoses_or_writes_takes_every_message_it_gathered() {
    on_stage(async {
        let mut plan = chain(3, 4, 18);
        for node in &mut plan.nodes[3..] {
            node.gathers = true;
        }
        let company = company(plan, talkative(), MadeUpSandbox::by_text(), None);
        let record = hold_all(&company, &task(5, None), 1, 1).await.remove(0);
        let first = |role: &str| record.turns.iter().find(|turn| turn.role == role).unwrap();
        // Three drafts failed, each is diagnosed twice, each diagnosis is repaired three times: 18 wanted, 15 left.
        assert_eq!((first("instructor").inbox.len(), first("instructor").messages().len()), (3, 6));
        assert_eq!((first("debugger").inbox.len(), first("debugger").messages().len()), (6, 15));
        let parents: std::collections::BTreeSet<_> =
            first("debugger").messages().iter().filter_map(|message| message.candidate()?.parent).collect();
        assert_eq!(parents.len(), 3);
        assert_eq!(record.end.spend.programs, 18);
    });
}

#[test]
fn a_conversation_whose_holder_panics_is_told_and_the_others_are_held() {
    on_stage(async {
        let company = company(chain(2, 4, 4), talkative(), MadeUpSandbox::by_text(), None);
        let Assignment { run, arm, problem, seed, .. } = assignment(task(5, None), 0);
        let (problems, shard) = (vec![problem], None);
        let selection = Selection { run, arm, problems, samples: 3, shard, seed, concurrency: 1, stop_before: None };
        let held = Rc::new(Cell::new(0));
        let counter = held.clone();
        let done = move |record: ConversationRecord| {
            assert!(record.head.sample != 1, "a fault of whoever takes the record");
            counter.set(counter.get() + 1);
        };
        let result = run_all(company, &selection, CancellationToken::new(), done).await;
        assert!(matches!(result, Err(RunError::Lost(_))), "{result:?}");
        assert_eq!(held.get(), 2);
    });
}
