//! The reference programs of HumanEval-X pass their tests in all six languages, but for those that fail by hand too.

use std::{path::PathBuf, sync::Arc};

use futures_util::{StreamExt, stream};
use rolecall::{
    benchmarks::benchmark,
    domain::{FeedbackSet, Judgement, Language, Problem, Program, TestSuite, Verdict},
    sandbox::{Job, LocalSandbox, Sandbox},
};
use tokio_util::sync::CancellationToken;

use crate::{benchmarks::datasets, sandbox::ALONE};

/// Why a reference does not pass, by hand neither (`../shared/datasets/humaneval-x` says so of the data).
const FAILING: &[(&str, &str)] = &[
    ("CPP/22", "includes boost/any.hpp"),
    ("CPP/137", "includes boost/any.hpp"),
    ("JavaScript/32", "an example calls a test function by a name that it does not have"),
    ("JavaScript/112", "returns the last of two values"),
    ("JavaScript/155", "0 is expected to have an even digit"),
];

/// The data sets and references that pass at times, and why.
const BY_CHANCE: &[(DataSet, &str, &str)] = &[
    (HUMANEVAL_X, "Go/95", "ranges over a map"),
    (HUMANEVALFIX, "Rust/32", "Newton's method never ends for some of the random polynomials that the test makes"),
];

/// A public data set: its name and its folder.
type DataSet = (&'static str, &'static str);

const HUMANEVAL: DataSet = ("humaneval", "humaneval");
const HUMANEVAL_X: DataSet = ("humaneval-x", "humaneval-x");
const HUMANEVALFIX: DataSet = ("humanevalfix", "humanevalpack");
const HUMANEVAL_JAVA: DataSet = ("humaneval-java", "humaneval-java");
const QUIXBUGS: DataSet = ("quixbugs", "quixbugs");

fn problems((name, folder): DataSet, language: Language, step: usize) -> Vec<Problem> {
    let all = benchmark(name).unwrap().load(&datasets().join(folder), language, FeedbackSet::Visible).unwrap();
    all.into_iter().step_by(step).collect()
}

/// Judges a program against the visible and the hidden tests.
async fn judged(sandbox: &LocalSandbox, problem: &Problem, program: &Arc<Program>) -> Vec<Judgement> {
    let hidden = problem.hidden.as_ref().map(|hidden| hidden.reveal().clone());
    let mut judgements = Vec::new();
    for tests in [Some(problem.task.visible.clone()), hidden].into_iter().flatten() {
        assert!(matches!(&*tests, TestSuite::Assertions { assertions, .. } if !assertions.is_empty()));
        let mut job = Job::of(&problem.task, program.clone(), tests);
        // Whether they are right, not how quick this machine is: a few need nearly their whole limit.
        job.limits.test_cpu_ms *= 3;
        judgements.push(sandbox.judge(&job, &CancellationToken::new()).await.unwrap());
    }
    judgements
}

/// What the programs of some problems come to, in two slots.
async fn all_judged<'p>(
    language: Language,
    programs: Vec<(&'p Problem, &'p Arc<Program>)>,
) -> Vec<(&'p Problem, Vec<Judgement>)> {
    let _guard = ALONE.lock().await;
    let launcher = PathBuf::from(env!("CARGO_BIN_EXE_rolecall"));
    let sandbox = LocalSandbox::start(launcher, 2, &[language]).await.unwrap();
    let judging = stream::iter(programs)
        .map(async |(problem, program)| (problem, judged(&sandbox, problem, program).await))
        .buffered(2);
    judging.collect().await
}

/// What does not pass of every `step`-th reference and is not known to fail.
async fn surprises(set: DataSet, language: Language, step: usize) -> Vec<String> {
    let problems = problems(set, language, step);
    let references = problems.iter().map(|problem| (problem, problem.reference.as_ref().unwrap())).collect();
    let mut surprises = Vec::new();
    for (problem, judgements) in all_judged(language, references).await {
        let id = problem.task.id.0.as_str();
        let failed = judgements.iter().find(|judgement| judgement.verdict != Verdict::Passed);
        // HumanEvalFix has other examples, and a library that is missing is missing there too.
        let applies = |task: &str| task == id && (set == HUMANEVAL_X || task.starts_with("CPP/"));
        if BY_CHANCE.iter().any(|(of, task, _)| *of == set && *task == id) {
            continue;
        }
        let known = FAILING.iter().find(|(task, _)| applies(task));
        match (failed, known) {
            (Some(judgement), None) => surprises.push(format!("{id}: {judgement:#?}")),
            (None, Some((task, reason))) => surprises.push(format!("{task} passes, though it {reason}")),
            _ => {}
        }
    }
    surprises
}

/// The tasks of every `step`-th problem whose starter passes: there is nothing to repair.
async fn passing_starters(set: DataSet, language: Language, step: usize) -> Vec<String> {
    let problems = problems(set, language, step);
    let starters = problems.iter().map(|problem| (problem, problem.task.starter.as_ref().unwrap())).collect();
    let judged = all_judged(language, starters).await.into_iter();
    let passing = judged.filter(|(_, all)| all.iter().all(|judgement| judgement.verdict == Verdict::Passed));
    passing.map(|(problem, _)| problem.task.id.0.clone()).collect()
}

macro_rules! references {
    ($($language:ident: $some:ident, $all:ident;)+) => {
        $(
            #[tokio::test]
            async fn $some() {
                assert_eq!(surprises(HUMANEVAL_X, Language::$language, 20).await, Vec::<String>::new());
            }

            #[tokio::test]
            #[ignore = "takes minutes: cargo test --test it references -- --ignored"]
            async fn $all() {
                assert_eq!(surprises(HUMANEVAL_X, Language::$language, 1).await, Vec::<String>::new());
            }
        )+
    };
}

references! {
    Python: some_python_references_pass, all_python_references_pass;
    Cpp: some_cpp_references_pass, all_cpp_references_pass;
    Java: some_java_references_pass, all_java_references_pass;
    JavaScript: some_javascript_references_pass, all_javascript_references_pass;
    Go: some_go_references_pass, all_go_references_pass;
    Rust: some_rust_references_pass, all_rust_references_pass;
}

/// Every reference passes and every buggy version fails, of each `step`-th task.
async fn bugs_are_bugs(set: DataSet, language: Language, step: usize, passing: &[&str]) {
    assert_eq!(surprises(set, language, step).await, Vec::<String>::new());
    assert_eq!(passing_starters(set, language, step).await, passing);
}

#[tokio::test]
async fn e46_some_java_bugs_are_bugs() {
    bugs_are_bugs(QUIXBUGS, Language::Java, 14, &[]).await;
    bugs_are_bugs(HUMANEVAL_JAVA, Language::Java, 14, &[]).await;
}

#[tokio::test]
#[ignore = "takes minutes: cargo test --test it references -- --ignored"]
async fn all_java_bugs_are_bugs() {
    bugs_are_bugs(QUIXBUGS, Language::Java, 1, &[]).await;
    bugs_are_bugs(HUMANEVAL_JAVA, Language::Java, 1, &[]).await;
    bugs_are_bugs(HUMANEVALFIX, Language::Java, 1, &[]).await;
}

#[tokio::test]
#[ignore = "takes minutes: cargo test --test it references -- --ignored"]
async fn all_bugs_of_humanevalfix_are_bugs() {
    bugs_are_bugs(HUMANEVALFIX, Language::Cpp, 1, &["CPP/23"]).await;
    bugs_are_bugs(HUMANEVALFIX, Language::JavaScript, 1, &[]).await;
    bugs_are_bugs(HUMANEVALFIX, Language::Go, 1, &[]).await;
    bugs_are_bugs(HUMANEVALFIX, Language::Rust, 1, &[]).await;
}

#[tokio::test]
async fn e46_python_bugs_are_bugs() {
    bugs_are_bugs(QUIXBUGS, Language::Python, 1, &[]).await;
    bugs_are_bugs(HUMANEVALFIX, Language::Python, 1, &[]).await;
}

#[tokio::test]
async fn e46_humaneval_references_pass_the_examples_of_their_documentation() {
    assert_eq!(surprises(HUMANEVAL, Language::Python, 1).await, Vec::<String>::new());
}
