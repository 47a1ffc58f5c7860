//! Prompt files: what is refused when they are loaded, and what they make of their data.

use std::sync::Arc;

use rolecall::{
    domain::{Excerpt, Judgement, Language, Limits, Program, Protocol, Task, TestResult, Verdict},
    llm::{ChatRole, Purpose, Subject},
    prompts::{ExecutionFeedback, Prompt, PromptData},
};

use super::function_task;

/// The data of a repair prompt where no setting says otherwise.
fn repair_data(subject: &Subject) -> PromptData {
    PromptData::new(Purpose::Repair, subject, &ExecutionFeedback::default())
}

/// A subject with a failing program, a report on it and a diagnosis.
pub fn subject(task: Task, program: &str, tests: Vec<TestResult>, diagnosis: Option<&str>) -> Subject {
    let judgement = Judgement {
        verdict: Verdict::of_program(tests.iter().map(|test| test.verdict)),
        tests,
        compile_output: None,
        stdout: Excerpt::default(),
        stderr: Excerpt::default(),
        cpu_ms: 1,
        wall_ms: 1,
        peak_memory_bytes: None,
        protocol: Protocol::Split,
        limits: Limits::default(),
        near_limit: false,
        suspicious: Vec::new(),
    };
    Subject {
        judgement: Some(Arc::new(judgement)),
        diagnosis: diagnosis.map(str::to_owned),
        ..Subject::of(Arc::new(task), Some(Arc::new(Program::new(Language::Python, program))))
    }
}

/// A failed test.
pub fn failed(verdict: Verdict, test: &str, score: f64, actual: Option<&str>, message: Option<&str>) -> TestResult {
    TestResult {
        verdict,
        score,
        test: test.to_owned(),
        expected: Some("2".to_owned()),
        actual: actual.map(str::to_owned),
        message: message.map(str::to_owned),
        cpu_ms: None,
    }
}

fn load(text: &str) -> Result<Prompt, String> {
    Prompt::load(Purpose::Repair, "p.md", text)
        .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}

#[test]
fn a04_marks_in_data_reach_the_prompt_byte_for_byte() {
    let marks = "{{ task }} {# {% raw %} ${HOME} {} $5 ~ %s \\n &amp; <b> 'q' {{{\r\n\u{0}数\n";
    let mut task = function_task("f", marks, Some(marks));
    task.statement = format!("Write fn f() {{ }}{marks}");
    let subject =
        subject(task.clone(), marks, vec![failed(Verdict::Wrong, marks, 0.0, Some(marks), Some(marks))], Some(marks));
    let text = "---user---\n{{ task.statement }}|{{ program }}|{{ diagnosis }}|{{ task.signature }}|\
                {% if report %}{% for t in report.shown %}{{ t.test }}|{{ t.message }}{% endfor %}{% endif %}|{{ task.preamble }}";
    // These may be absent in general, so a real prompt must ask first.
    let text = text
        .replace("{{ diagnosis }}", "{% if diagnosis %}{{ diagnosis }}{% endif %}")
        .replace("{{ task.signature }}", "{% if task.signature %}{{ task.signature }}{% endif %}")
        .replace("{{ t.message }}", "{% if t.message %}{{ t.message }}{% endif %}")
        .replace("{{ task.preamble }}", "{% if task.preamble %}{{ task.preamble }}{% endif %}");
    let messages = load(&text).unwrap().render(&repair_data(&subject)).unwrap();
    assert_eq!(messages.len(), 1);
    assert_eq!(messages[0].content, [task.statement.as_str(), marks, marks, marks, marks, marks, marks].join("|"));
}

#[test]
fn a04_an_unknown_name_is_an_error_of_the_file_with_its_line() {
    let text = "---system---\nYou repair.\n\n---user---\nSee task.statment.\n{{ task.statment }}\n{% if repot.shown %}x{% endif %}\n";
    insta::assert_snapshot!(load(text).unwrap_err());
    insta::assert_snapshot!(
        Prompt::load(Purpose::Draft, "d.md", "---user---\n{{ diagnosis }}").unwrap_err()[0].to_string()
    );
}

#[test]
fn mistakes_of_a_prompt_file_are_found_when_it_is_loaded() {
    let mistakes: Vec<String> = [
        "",
        "Hello\n---user---\nx\n",
        "---system---\nonly this\n",
        "---user---\n \n---sytem---\nx\n",
        "---user---\na\n---user---\nb\n",
        "---user---\na\n\n{% if program %}\nnever closed\n",
        "---user---\na\n{{ program | nofilter }}\n",
        "---user---\n{{ diagnosis }}\n",
        "---user---\n\n{% for test in report.shown %}{{ test.inptu }}{% endfor %}\n",
        "---user---\n{% include 'other.md' %}\n",
    ]
    .into_iter()
    .map(|text| format!("{text:?}\n{}\n", load(text).unwrap_err()))
    .collect();
    insta::assert_snapshot!(mistakes.join("\n"));
}

#[test]
fn parts_become_messages_and_the_hash_is_that_of_the_file() {
    let text = "\u{feff}---system---\nYou repair.\n\n---user---\n{# a remark #}\n{% if program %}\nIt is:\n{{ program | fenced(task.language) }}\n{% endif %}\n";
    let prompt = load(text).unwrap();
    let program = "x = '```'\n";
    let data = repair_data(&subject(function_task("f", "def f():", None), program, vec![], None));
    let messages = prompt.render(&data).unwrap();
    assert_eq!(messages.iter().map(|message| message.role).collect::<Vec<_>>(), [ChatRole::System, ChatRole::User]);
    assert_eq!(messages[0].content, "You repair.");
    assert_eq!(messages[1].content, "It is:\n````python\nx = '```'\n````\n");
    assert_eq!(prompt.render_text(&data).unwrap(), messages[1].content);
    assert_eq!(prompt.hash(), load(text).unwrap().hash());
    assert_ne!(prompt.hash(), load(&text.replace("It is", "This is")).unwrap().hash());
}

#[test]
fn a38_feedback_is_shortened_between_characters() {
    let long = format!("{}数{}", "a".repeat(399), "数".repeat(5_000));
    let tests = (0..9).map(|_| failed(Verdict::Wrong, &long, 0.0, Some(&long), Some(&long))).collect();
    let data = repair_data(&subject(function_task("f", "def f():", None), &long, tests, Some(&long)));
    let report = data.report.as_ref().unwrap();
    assert_eq!((report.shown.len(), report.more_failing, report.total), (1, 8, 9));
    let chars = |text: &Option<String>| text.as_ref().map_or(0, |text| text.chars().count());
    for test in &report.shown {
        let size = test.test.chars().count() + chars(&test.expected) + chars(&test.actual) + chars(&test.message);
        assert!(size <= 2_000 && test.test.contains("characters left out"), "{size}");
    }
    assert_eq!(data.program.as_ref(), Some(&long), "a program is never shortened");
    assert_eq!(data.diagnosis.as_ref(), Some(&long), "nor is a diagnosis");
}

#[test]
fn faulty_lines_belong_to_the_starter_alone() {
    let mut task = function_task("f", "def f():", None);
    task.starter = Some(Arc::new(Program::new(Language::Python, "a\nb\nc\n")));
    task.faulty_lines = vec![2, 9];
    let of = |program: &str| repair_data(&subject(task.clone(), program, vec![], None)).faulty_lines;
    assert_eq!(of("a\nb\nc\n").iter().map(|line| (line.number, line.text.as_str())).collect::<Vec<_>>(), [(2, "b")]);
    assert!(of("a\nB\nc\n").is_empty());
}
