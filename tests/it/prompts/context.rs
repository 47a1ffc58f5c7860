//! Prompts that must fit into a context: what is left out, in which order, and what never is.

use std::sync::Arc;

use rolecall::{
    domain::{Language, Profile, Program, TestCoverage, Verdict},
    llm::{Ancestor, ChatModel, ModelError, Purpose, Subject, estimated_tokens, scripted::Line, scripted::Scripted},
    prompts::{Fitting, PromptData, fit},
    runtime::Fault,
};
use serde_json::json;

use super::{
    carries::load,
    feedback::feedback,
    function_task,
    rendering::{failed, subject},
};
use crate::{
    stage::{MadeUpSandbox, company, hold_all, on_stage},
    support::{seidr, task},
};

const DIAGNOSIS: &str = "DIAGNOSIS that is kept";

/// A repair with all that may be left out: two earlier attempts, values, suspicious lines, three failing tests, output
/// of the compiler.
fn rich() -> Subject {
    let long = "t".repeat(790);
    let tests = (1..=3).map(|number| {
        failed(Verdict::Wrong, &format!("TEST_{number} {long}"), 0.0, Some(&"a".repeat(390)), Some(&"m".repeat(390)))
    });
    let mut subject =
        subject(function_task("inc", "def inc(n):", None), "PROGRAM = 1\n", tests.collect(), Some(DIAGNOSIS));
    let mut judgement = subject.judgement.as_deref().unwrap().clone();
    judgement.compile_output = Some(format!("COMPILER {}", "c".repeat(1_900)));
    subject.judgement = Some(Arc::new(judgement));
    let attempt = |number: u32| Ancestor {
        program: Arc::new(Program::new(Language::Python, format!("ATTEMPT_{number} = '{}'\n", "p".repeat(400)))),
        judgement: subject.judgement.clone().unwrap(),
        profile: None,
        siblings: Vec::new(),
        diagnosis: None,
    };
    subject.ancestors = vec![attempt(2), attempt(1)];
    let values = [("variable".to_owned(), vec!["1".to_owned()])].into();
    subject.profile = Some(Arc::new(Profile {
        tests: vec![TestCoverage { verdict: Verdict::Wrong, lines: [1].into() }],
        types: Default::default(),
        values: [(1, values)].into(),
    }));
    subject
}

fn data() -> PromptData {
    let settings = json!({"tests": "all", "test_tokens": 5000, "history": "all", "localisation": 1, "values": true});
    PromptData::new(Purpose::Repair, &rich(), &feedback(settings))
}

/// What each step leaves out, the words that the prompt then lacks, and those that it still has.
const STEPS: [(&[&str], &[&str], &[&str]); 7] = [
    (&[], &[], &["ATTEMPT_1", "ATTEMPT_2"]),
    (&["history"], &["ATTEMPT_1"], &["ATTEMPT_2", "variable: 1"]),
    (&["history"], &["ATTEMPT_1", "ATTEMPT_2"], &["variable: 1"]),
    (&["history", "values"], &["variable: 1"], &["line 1 (1.0)"]),
    (&["history", "values", "suspicious"], &["line 1 (1.0)"], &["TEST_3"]),
    (&["history", "values", "suspicious", "tests"], &["TEST_3"], &["TEST_2"]),
    (&["history", "values", "suspicious", "tests"], &["TEST_3", "TEST_2"], &["TEST_1"]),
];

/// What the prompt says within `limit` tokens, and what was left out.
fn within(limit: usize) -> Option<(String, Vec<&'static str>)> {
    match fit(&load("debugger/repair", Purpose::Repair), data(), limit).unwrap() {
        Fitting::Fits { messages, shortened } => {
            let tokens: usize = messages.iter().map(|message| estimated_tokens(&message.content) + 4).sum();
            assert!(tokens <= limit, "{tokens} of {limit}");
            Some((messages.into_iter().map(|message| message.content).collect::<Vec<_>>().join("\n"), shortened))
        }
        Fitting::TooLong { tokens } => {
            assert!(tokens > limit);
            None
        }
    }
}

#[test]
fn parts_are_left_out_in_the_stated_order_and_no_more_than_needed() {
    let mut limit = 10_000;
    let tokens_of = |text: &str| estimated_tokens(text) + 8;
    let mut steps = STEPS.iter();
    let mut before: Option<String> = None;
    while let Some((text, shortened)) = within(limit) {
        for kept in ["PROGRAM = 1", DIAGNOSIS, "def inc(n):", "the next number"] {
            assert!(text.contains(kept), "{kept} at {limit} tokens:\n{text}");
        }
        if before.as_ref() != Some(&text) {
            match steps.next() {
                Some((words, gone, still)) => {
                    assert_eq!(shortened, *words, "at {limit} tokens");
                    assert!(gone.iter().all(|gone| !text.contains(gone)), "{gone:?} at {limit} tokens:\n{text}");
                    assert!(still.iter().all(|still| text.contains(still)), "{still:?} at {limit} tokens:\n{text}");
                }
                None => {
                    assert_eq!(shortened, ["history", "values", "suspicious", "tests", "texts"]);
                    assert!(
                        text.contains("TEST_1") && text.contains("COMPILER") && text.contains("left out"),
                        "{text}"
                    );
                }
            }
        }
        limit = tokens_of(&text) - 10;
        before = Some(text);
    }
    assert!(steps.next().is_none(), "every step was seen");
    let last = before.unwrap();
    let longest = last.lines().map(|line| line.chars().count()).filter(|chars| *chars > 0);
    assert!(longest.max().unwrap() < 250, "what is left is shortened to 100 characters each:\n{last}");
    assert!(within(0).is_none(), "statement, programs and diagnosis are never left out");
}

#[test]
fn drafts_lose_visible_tests_but_for_one() {
    let mut task = task(5, None);
    task.statement = "STATEMENT".to_owned();
    let subject = subject(task, "", Vec::new(), None);
    let subject = Subject { program: None, judgement: None, ..subject };
    let data = PromptData::new(Purpose::Draft, &subject, &feedback(json!({})));
    let prompt = load("synthesizer/draft", Purpose::Draft);
    let full: usize = prompt.render(&data).unwrap().iter().map(|it| estimated_tokens(&it.content) + 4).sum();
    let Fitting::Fits { messages, shortened } = fit(&prompt, data.clone(), full - 1).unwrap() else { panic!("fits") };
    assert_eq!(shortened, ["tests"]);
    assert!(messages[1].content.contains("assert f(1)") && messages[1].content.contains("STATEMENT"));
    assert!(messages[1].content.contains("and 1 more like them") && !messages[1].content.contains("assert f(5)"));
}

/// What debuggers of a conversation were sent, with the parts left out, where contexts have `context_tokens`.
fn conversation(context_tokens: u32) -> (Vec<Vec<String>>, usize, rolecall::conversation::ConversationRecord) {
    on_stage(async {
        let model = Arc::new(Scripted::with(|request, _| match request.purpose {
            Purpose::Diagnose => Line::say("the sign"),
            _ => Line::say(format!("```python\ndef f(x):\n    return {}\n```", request.seed)),
        }));
        let mut plan = seidr(1, 1, 4);
        for node in &mut plan.nodes {
            node.parameters.context_tokens = Some(context_tokens);
            node.parameters.max_output_tokens = Some(100);
            if let Some(history) = node.settings.get_mut("history") {
                *history = json!("all");
            }
        }
        let shared: Arc<dyn ChatModel> = model.clone();
        let company = company(plan, shared, MadeUpSandbox::by_text(), None);
        let record = hold_all(&company, &task(5, None), 1, 1).await.remove(0);
        let calls = record.turns.iter().flat_map(|turn| &turn.attempts).flat_map(|attempt| &attempt.log.calls);
        (calls.map(|call| call.shortened.clone()).collect(), model.calls(), record)
    })
}

#[test]
fn a_call_says_what_was_left_out_and_one_that_cannot_fit_is_never_sent() {
    let (shortened, _, record) = conversation(100_000);
    assert!(shortened.iter().all(Vec::is_empty) && record.end.spend.programs == 4);
    let (shortened, calls, record) = conversation(320);
    assert!(shortened.iter().any(|words| words.contains(&"history".to_owned())), "{shortened:?}");
    assert_eq!((record.end.spend.programs, calls), (4, shortened.len()));

    let (_, calls, record) = conversation(150);
    assert_eq!(calls, 0, "nothing is sent");
    assert_eq!(record.end.spend.model_calls, 0);
    let fault = record.turns[0].fault().unwrap();
    let Fault::Model(error @ ModelError::ContextLength { limit: 50, .. }) = fault else { panic!("{fault:?}") };
    assert_eq!((error.kind().as_str(), fault.is_retryable()), ("context_length", false));
    let detail = record.end.outcome_detail.unwrap();
    assert!(detail.starts_with("synthesizer, turn 0: model: the prompt synthesizer/draft needs about "), "{detail}");
    assert!(detail.contains(" tokens and may have 50, "), "{detail}");
}
