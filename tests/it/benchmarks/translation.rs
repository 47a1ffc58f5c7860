//! Tasks that are translations.

use std::{collections::BTreeSet, io::Read, path::Path, sync::Arc};

use rolecall::{
    benchmarks::benchmark,
    domain::{FeedbackSet, Language, Problem, ScoredOn},
    llm::{ChatModel, Purpose, scripted::Line, scripted::Scripted},
};

use super::{datasets, problem_named};
use crate::{
    stage::{MadeUpSandbox, company, hold_all, on_stage},
    support::{judgement, seidr},
};

fn translated(from: Language, to: Language) -> Vec<Problem> {
    translated_in(&datasets().join("humaneval-x"), from, to)
}

fn translated_in(folder: &Path, from: Language, to: Language) -> Vec<Problem> {
    benchmark("humaneval-x").unwrap().translate(folder, (from, to), FeedbackSet::Visible).unwrap()
}

/// A folder with every eighth record of each language.
fn some_records() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for language in ["python", "cpp", "java", "js", "go", "rust"] {
        let packed =
            std::fs::File::open(datasets().join(format!("humaneval-x/humaneval_{language}.jsonl.gz"))).unwrap();
        let mut text = String::new();
        flate2::read::GzDecoder::new(packed).read_to_string(&mut text).unwrap();
        let some: String = text.lines().step_by(8).map(|line| format!("{line}\n")).collect();
        std::fs::write(folder.path().join(format!("humaneval_{language}.jsonl")), some).unwrap();
    }
    folder
}

/// Everything that the roles of a conversation are told of a problem which no program solves, and for what.
fn told(problem: &Problem) -> Vec<(Purpose, String)> {
    on_stage(async {
        let model = Arc::new(Scripted::with(|request, _| match request.purpose {
            Purpose::Diagnose => Line::say("It is wrong."),
            _ => Line::say(format!("```\nprogram {}\n```", request.seed)),
        }));
        let sandbox = MadeUpSandbox::new(|job| Ok(judgement(&vec![false; job.tests.len()])));
        let shared: Arc<dyn ChatModel> = model.clone();
        let company = company(seidr(1, 1, 3), shared, sandbox, None);
        hold_all(&company, &problem.task, 1, 1).await;
        let words = |request: &rolecall::llm::ChatRequest| -> String {
            request.messages.iter().map(|message| message.content.as_str()).collect()
        };
        model.requests().iter().map(|request| (request.purpose, words(request))).collect()
    })
}

#[test]
fn every_pair_of_languages_is_a_set_of_translations() {
    let folder = some_records();
    let pairs = Language::ALL.iter().flat_map(|from| Language::ALL.iter().map(move |to| (*from, *to)));
    for (from, to) in pairs.filter(|(from, to)| from != to) {
        let problems = translated_in(folder.path(), from, to);
        // 0, 8, …, 160; Rust has no task 32.
        let expected = if [from, to].contains(&Language::Rust) { 20 } else { 21 };
        assert_eq!(problems.len(), expected, "{from} to {to}");
        for problem in &problems {
            let (task, id) = (&problem.task, &problem.task.id);
            let source = task.source.as_ref().unwrap();
            assert_eq!((source.language, task.language), (from, to), "{id}");
            assert_eq!(task.dataset, format!("humaneval-x-from-{from}"));
            assert!(task.statement.starts_with(&format!(
                "Translate a program from {} to {}.",
                from.title(),
                to.title()
            )));
            assert!(task.entry_point.is_some() && task.starter.is_none() && !task.feedback.is_empty(), "{id}");
        }
    }
}

#[test]
fn a_prompt_of_a_translation_holds_the_source_and_never_the_reference() {
    for (from, to, id) in [
        (Language::Cpp, Language::Python, "Python/10"),
        (Language::Java, Language::Cpp, "CPP/25"),
        (Language::Python, Language::Java, "Java/11"),
        (Language::Rust, Language::JavaScript, "JavaScript/4"),
    ] {
        let problems = translated(from, to);
        let problem = problem_named(&problems, id);
        let source = &problem.task.source.as_ref().unwrap().text;
        let reference = &problem.reference.as_ref().unwrap().text;
        let body = reference.lines().map(str::trim).rfind(|line| line.len() > 8 && !source.contains(line)).unwrap();
        let told = told(problem);
        let purposes: BTreeSet<&str> = told.iter().map(|(purpose, _)| purpose.name()).collect();
        assert_eq!(purposes.len(), 3, "{purposes:?}");
        for (purpose, said) in told {
            let purpose = purpose.name();
            let fence = format!("```{from}\n");
            assert!(said.contains(source.trim_end()) && said.contains(&fence), "{id} {purpose}: {said}");
            assert!(!said.contains(body), "{id} {purpose}: {body}");
        }
        let written = benchmark("humaneval-x").unwrap();
        let written = written.load(&datasets().join("humaneval-x"), to, FeedbackSet::Visible).unwrap();
        let written = problem_named(&written, id);
        assert_eq!((&written.task.feedback, problem.scored_on()), (&problem.task.feedback, ScoredOn::Hidden));
    }
}

#[test]
fn every_shipped_prompt_of_a_model_shows_what_is_to_be_translated() {
    for name in [
        "synthesizer/draft",
        "learner/draft",
        "debugger/repair",
        "learner/repair",
        "instructor/bug_summary",
        "teacher/chain_of_repair",
    ] {
        let text = rolecall::config::embedded_file(&format!("prompts/{name}.md")).unwrap();
        assert!(text.contains("{% if source %}") && text.contains("{{ source | fenced(source_language) }}"), "{name}");
    }
}

#[test]
fn what_cannot_be_translated_says_why() {
    let refusal = |name: &str, from, to| {
        let loaded = benchmark(name).unwrap().translate(&datasets().join(name), (from, to), FeedbackSet::Visible);
        loaded.err().unwrap().to_string()
    };
    let expected = "quixbugs has no programs to translate\n  hint: humaneval-x has them";
    assert_eq!(refusal("quixbugs", Language::Java, Language::Python), expected);
    let expected = "a translation from Go to Go is none";
    assert_eq!(refusal("humaneval-x", Language::Go, Language::Go), expected);
    // Not that it is not read in Go: no language would do.
    assert!(refusal("mbpp", Language::Go, Language::Python).starts_with("mbpp has no programs to translate"));
}
