//! What is said of a task before anybody drafts: plans, and tests that nobody scores by.

use std::sync::Arc;

use rolecall::{
    conversation::ConversationRecord,
    domain::Verdict,
    llm::{
        Purpose,
        scripted::{Line, Scripted},
    },
    messages::TestsRun,
};

use crate::{
    stage::{MadeUpSandbox, company, hold_all, on_stage},
    support::{briefed, judgement, task},
};

const TESTS: &str =
    "```python\nassert f(1) == 1\nassert f(2) == 2\nnot a test\nassert f(3) == 3\nassert f(4) == 4\n```";

/// Plans `PLAN`, writes the tests of `replies` in turn, and programs that return the number of the request.
fn model(replies: &'static [&'static str]) -> Arc<Scripted> {
    let asked = std::sync::atomic::AtomicUsize::new(0);
    Arc::new(Scripted::with(move |request, number| match request.purpose {
        Purpose::Plan => Line::from("PLAN: mind the empty list").usage(1, 1),
        Purpose::Test => {
            let asked = asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            Line::from(replies[asked.min(replies.len() - 1)]).usage(1, 1)
        }
        _ => {
            let programs =
                (0..request.choices).map(|one| format!("```python\ndef f(x):\n    return {number}.{one}\n```"));
            Line::say_all(programs.collect::<Vec<_>>()).usage(1, 1)
        }
    }))
}

/// Programs pass every test of fewer than `passes`, and fail the others.
fn held(tests: &str, replies: &'static [&'static str], passes: usize) -> (ConversationRecord, Arc<Scripted>) {
    let (tests, model) = (tests.to_owned(), model(replies));
    let asked = model.clone();
    let record = on_stage(async move {
        let sandbox = MadeUpSandbox::new(move |job| {
            Ok(judgement(&(0..job.tests.len()).map(|test| test < passes).collect::<Vec<_>>()))
        });
        let company = company(briefed(&tests, 6), model, sandbox, None);
        hold_all(&company, &task(5, None), 1, 1).await.remove(0)
    });
    (record, asked)
}

#[test]
fn a_plan_reaches_every_prompt_that_writes() {
    let (record, model) = held("feedback", &[TESTS], 2);
    let requests = model.requests();
    for purpose in [Purpose::Draft, Purpose::Test] {
        let asked: Vec<_> = requests.iter().filter(|request| request.purpose == purpose).collect();
        assert!(!asked.is_empty());
        assert!(asked.iter().all(|request| request.subject.plan.as_deref() == Some("PLAN: mind the empty list")));
    }
    let drafts: Vec<_> = requests.iter().filter(|request| request.purpose == Purpose::Draft).collect();
    assert!(drafts.iter().all(|request| request.messages.iter().any(|one| one.content.contains("PLAN: mind"))));
    assert_eq!(record.end.spend.programs, 6);
    let order: Vec<&str> = record.turns.iter().take(3).map(|turn| turn.actor.0.as_str()).collect();
    assert_eq!(order, ["analyst", "tester", "synthesizer"]);
}

#[test]
fn generated_tests_are_run_as_the_executor_is_told_and_never_score() {
    for (tests, run, number) in
        [("feedback", TestsRun::Feedback, 5), ("generated", TestsRun::Generated, 3), ("both", TestsRun::Both, 8)]
    {
        let (record, _) = held(tests, &[TESTS], 3);
        let reports: Vec<_> =
            record.turns.iter().flat_map(|turn| turn.messages()).filter_map(|it| it.judged()).collect();
        assert!(!reports.is_empty());
        assert!(reports.iter().all(|report| report.tests == run && report.judgement.tests.len() == number), "{tests}");
        // Three of the task's five tests pass, and all three of the tester's: only the task's decide.
        assert!(!record.end.solved, "{tests}: {:?}", record.end);
        assert_eq!(record.end.programs_to_solve.is_some(), tests == "generated", "{tests}");
        assert_eq!(record.end.hidden_verdict, None::<Verdict>);
    }
    let (record, _) = held("generated", &[TESTS], 5);
    assert!(record.end.solved, "a program that passes the task's own tests is one that solves it");
}

#[test]
fn a_tester_without_a_test_is_asked_once_more_and_then_the_tasks_own_are_run() {
    let (record, model) = held("generated", &["I cannot.", TESTS], 2);
    assert_eq!(model.requests().iter().filter(|request| request.purpose == Purpose::Test).count(), 2);
    let report = record.turns.iter().flat_map(|turn| turn.messages()).find_map(|it| it.judged()).unwrap();
    assert_eq!(report.tests, TestsRun::Generated);
    let (record, model) = held("generated", &["I cannot."], 2);
    assert_eq!(model.requests().iter().filter(|request| request.purpose == Purpose::Test).count(), 2);
    let report = record.turns.iter().flat_map(|turn| turn.messages()).find_map(|it| it.judged()).unwrap();
    assert_eq!((report.tests, report.judgement.tests.len()), (TestsRun::Feedback, 5));
}
