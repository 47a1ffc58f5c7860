//! The prompts that are shipped, rendered: every word that a model is sent.

use std::sync::Arc;

use rolecall::{
    config::embedded_file,
    domain::{Example, Language, Profile, Program, TestCoverage, Verdict},
    ids::TaskId,
    llm::{Ancestor, ChatMessage, Purpose, Rival, Subject},
    prompts::{ExecutionFeedback, Prompt, PromptData},
};

use serde_json::{Value, json};

use super::{
    function_task, program_task,
    rendering::{failed, subject},
};

const PROGRAM: &str = "def inc(n):\n    return n - 1\n";

fn broken_function(diagnosis: Option<&str>) -> Subject {
    let mut task = function_task("inc", "def inc(n):", Some("import math\n"));
    task.starter = Some(Arc::new(Program::new(Language::Python, PROGRAM)));
    task.faulty_lines = vec![2];
    let tests = vec![
        failed(Verdict::Passed, "assert inc(0) == 1", 1.0, None, None),
        failed(Verdict::Wrong, "assert inc(1) == 2", 0.0, Some("0"), None),
        failed(Verdict::Crashed, "assert inc(None) == 2", 0.0, None, Some("TypeError: unsupported operand")),
    ];
    subject(task, PROGRAM, tests, diagnosis)
}

fn broken_program() -> Subject {
    let tests = vec![failed(Verdict::Wrong, "21\n", 0.0, Some("21"), None)];
    subject(program_task(), "print(int(input()))\n", tests, Some("It does not double."))
}

fn not_accepted() -> Subject {
    let mut subject = broken_function(None);
    let mut judgement = subject.judgement.as_deref().unwrap().clone();
    judgement.verdict = Verdict::CompileError;
    judgement.compile_output = Some("SyntaxError: invalid syntax (line 2)".to_owned());
    subject.judgement = Some(Arc::new(judgement));
    subject
}

fn shipped(purpose: Purpose, name: &str) -> Prompt {
    let text = embedded_file(&format!("prompts/{name}.md")).unwrap();
    Prompt::load(purpose, name, text).unwrap()
}

/// What the role of a shipped prompt shows where no setting says otherwise.
fn feedback(name: &str) -> ExecutionFeedback {
    feedback_with(name, &json!({}))
}

/// The same with settings.
fn feedback_with(name: &str, over: &Value) -> ExecutionFeedback {
    let role = rolecall::agents::role(name.split('/').next().unwrap()).unwrap();
    let shared = serde_json::to_value(ExecutionFeedback::default()).unwrap();
    let mut settings = role.default_settings();
    settings.retain(|key, _| shared.get(key).is_some());
    settings.extend(over.as_object().unwrap().clone());
    serde_json::from_value(settings.into()).unwrap()
}

fn render(purpose: Purpose, name: &str, subject: &Subject) -> String {
    let messages = shipped(purpose, name).render(&PromptData::new(purpose, subject, &feedback(name))).unwrap();
    let show = |message: &ChatMessage| format!("=== {}\n{}", message.role.name(), message.content);
    messages.iter().map(show).collect::<Vec<_>>().join("\n")
}

#[test]
fn drafting_prompts() {
    for name in ["synthesizer/draft", "learner/draft"] {
        let mut blank = broken_function(None);
        blank.program = None;
        let slug = name.replace('/', "_");
        insta::assert_snapshot!(format!("{slug}_function"), render(Purpose::Draft, name, &blank));
        insta::assert_snapshot!(format!("{slug}_starter"), render(Purpose::Draft, name, &broken_function(None)));
        let mut blank = broken_program();
        blank.program = None;
        insta::assert_snapshot!(format!("{slug}_program"), render(Purpose::Draft, name, &blank));
    }
}

#[test]
fn diagnosing_prompts() {
    for name in ["instructor/bug_summary", "instructor/completion", "teacher/chain_of_repair"] {
        let slug = name.replace('/', "_");
        insta::assert_snapshot!(format!("{slug}_function"), render(Purpose::Diagnose, name, &broken_function(None)));
        insta::assert_snapshot!(format!("{slug}_program"), render(Purpose::Diagnose, name, &broken_program()));
    }
}

#[test]
fn judging_prompts() {
    let mut subject = broken_function(None);
    let program = Arc::new(Program::new(Language::Python, "def inc(n):\n    return n + 2\n"));
    subject.other = Some(Rival { program, judgement: subject.judgement.clone() });
    insta::assert_snapshot!("critic_compare_shown", render(Purpose::Judge, "critic/compare", &subject));
    subject.judgement = None;
    subject.other.as_mut().unwrap().judgement = None;
    insta::assert_snapshot!("critic_compare_blind", render(Purpose::Judge, "critic/compare", &subject));
}

#[test]
fn repairing_prompts() {
    for name in ["debugger/repair", "learner/repair"] {
        let slug = name.replace('/', "_");
        let diagnosed = broken_function(Some("It goes down where it should go up."));
        insta::assert_snapshot!(format!("{slug}_function"), render(Purpose::Repair, name, &diagnosed));
        insta::assert_snapshot!(format!("{slug}_program"), render(Purpose::Repair, name, &broken_program()));
        insta::assert_snapshot!(format!("{slug}_undiagnosed"), render(Purpose::Repair, name, &broken_function(None)));
        insta::assert_snapshot!(format!("{slug}_not_accepted"), render(Purpose::Repair, name, &not_accepted()));
        let mut none = broken_function(None);
        none.program = None;
        none.judgement = None;
        insta::assert_snapshot!(format!("{slug}_no_code"), render(Purpose::Repair, name, &none));
    }
}

#[test]
fn prompts_that_ask_for_a_program_show_examples() {
    let example = |number: i32| {
        let program = format!("def add(n):\n    return n + {number}\n");
        Arc::new(Example {
            dataset: "file".to_owned(),
            task: TaskId(format!("add-{number}")),
            statement: format!("Write a function add that adds {number}."),
            program: Arc::new(Program::new(Language::Python, program)),
        })
    };
    for (purpose, name) in [
        (Purpose::Draft, "synthesizer/draft"),
        (Purpose::Draft, "learner/draft"),
        (Purpose::Repair, "debugger/repair"),
        (Purpose::Repair, "learner/repair"),
    ] {
        let mut subject = broken_function(None);
        let without = render(purpose, name, &subject);
        subject.examples = [example(2), example(3)].into();
        let with = render(purpose, name, &subject);
        // The examples are put in, and nothing else changes.
        let begin = with.find("=== user\n").unwrap() + "=== user\n".len();
        let (shown, rest) = with[begin..].split_once("Here the examples end.\n\n").unwrap();
        assert_eq!(format!("{}{rest}", &with[..begin]), without, "{name}");
        insta::assert_snapshot!(format!("{}_examples", name.replace('/', "_")), shown);
    }
}

#[test]
fn static_diagnoses() {
    for name in super::carries::STATIC {
        let prompt = shipped(Purpose::Diagnose, name);
        let mut silent = broken_program();
        silent.judgement = None;
        let texts: Vec<String> = [
            (broken_function(None), json!({})),
            (broken_program(), json!({})),
            (not_accepted(), json!({})),
            (silent, json!({})),
            (broken_function(None), json!({"tests": "all"})),
            (broken_function(None), json!({"report": "raw", "tests": "all"})),
            (broken_function(None), json!({"tests": "none"})),
            (broken_function(None), json!({"tests": "none", "compile_output": false})),
        ]
        .iter()
        .map(|(subject, settings)| {
            let data = PromptData::new(Purpose::Diagnose, subject, &feedback_with(name, settings));
            format!("=== {settings}\n{}", prompt.render_text(&data).unwrap())
        })
        .collect();
        insta::assert_snapshot!(name.replace('/', "_"), texts.join("\n"));
    }
}

#[test]
fn prompts_with_all_that_settings_can_add() {
    let everything = json!({"localisation": 2, "values": true, "history": "all"});
    for (name, purpose) in super::carries::shipped_prompts(super::carries::REPAIRING) {
        if super::carries::STATIC.contains(&name.as_str()) {
            continue;
        }
        let mut subject = broken_function(Some("It goes down where it should go up."));
        let values = [("n".to_owned(), vec!["0".to_owned(), "1".to_owned()])].into();
        let covered = |verdict| TestCoverage { verdict, lines: [1, 2].into() };
        subject.profile = Some(Arc::new(Profile {
            tests: vec![covered(Verdict::Passed), covered(Verdict::Wrong), covered(Verdict::Crashed)],
            types: Default::default(),
            values: [(2, values)].into(),
        }));
        subject.ancestors = vec![Ancestor {
            program: Arc::new(Program::new(Language::Python, "def inc(n):\n    return n\n")),
            judgement: subject.judgement.clone().unwrap(),
            profile: None,
            siblings: Vec::new(),
            diagnosis: Some("It changes nothing.".to_owned()),
        }];
        let slug = name.replace('/', "_");
        for (kind, settings) in [
            ("everything", everything.clone()),
            ("raw", json!({"report": "raw"})),
            ("without_feedback", json!({"tests": "none", "compile_output": false, "statement": false})),
        ] {
            let messages = shipped(purpose, &name)
                .render(&PromptData::new(purpose, &subject, &feedback_with(&name, &settings)))
                .unwrap();
            insta::assert_snapshot!(format!("{slug}_{kind}"), &messages[1].content);
        }
    }
}

/// Guards two faults of public implementations: a repair prompt without the diagnosis, and one without the wrong program.
#[test]
fn every_repair_prompt_carries_all_that_is_known() {
    let subject = broken_function(Some("It goes down where it should go up."));
    for name in ["debugger/repair", "learner/repair"] {
        let text = render(Purpose::Repair, name, &subject);
        for needle in [
            &subject.task.statement,
            PROGRAM,
            "It goes down where it should go up.",
            "assert inc(1) == 2",
            "wrong",
            "1 of 3",
            "python",
            "def inc(n):",
        ] {
            assert!(text.contains(needle), "{name} lacks {needle:?}:\n{text}");
        }
    }
}
