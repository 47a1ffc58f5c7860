use std::path::Path;

use rolecall::{
    benchmarks::{BENCHMARKS, BenchmarkError, assertions, benchmark, load_samples},
    domain::{FeedbackSet, Language, Problem, ScoredOn},
};

use super::{assertion_texts, code, datasets, problem_named};

fn load_with(name: &str, path: &str, feedback: FeedbackSet) -> Vec<Problem> {
    benchmark(name).unwrap().load(&datasets().join(path), Language::Python, feedback).unwrap()
}

fn load(name: &str, path: &str) -> Vec<Problem> {
    load_with(name, path, FeedbackSet::Visible)
}

#[test]
fn every_benchmark_loads_its_folder_and_every_task_has_tests() {
    let expected =
        [("humaneval", "humaneval", 164), ("humanevalfix", "humanevalpack", 40), ("quixbugs", "quixbugs", 40)];
    for (name, folder, count) in expected.into_iter().chain([("mbpp", "mbpp", 974)]) {
        let problems = load(name, folder);
        assert_eq!(problems.len(), count, "{name}");
        for problem in &problems {
            let task = &problem.task;
            assert_eq!(task.dataset, name);
            assert!(!task.visible.is_empty() && !task.statement.is_empty(), "{}", task.id);
            assert!(problem.hidden.as_ref().is_none_or(|hidden| !hidden.reveal().is_empty()), "{}", task.id);
            assert!(problem.reference.is_some() && task.entry_point.is_some(), "{}", task.id);
        }
    }
    assert_eq!(BENCHMARKS.len(), 7);
}

#[test]
fn humanevalfix_has_visible_and_hidden_tests_and_a_faulty_starter() {
    let problems = load("humanevalfix", "humanevalpack/humanevalpack_python.jsonl");
    let split: Vec<_> = problems.iter().filter(|problem| problem.scored_on() == ScoredOn::Hidden).collect();
    assert_eq!(split.len(), 38);
    assert!(split.iter().all(|problem| problem.notes.is_empty()));

    // Its test holds nothing that is not among the examples.
    let shown = problem_named(&problems, "Python/34");
    assert_eq!((shown.scored_on(), shown.feedback), (ScoredOn::Feedback, FeedbackSet::Visible));
    assert_eq!(shown.notes, ["every test is a visible one: scored on feedback tests"]);

    let without = problem_named(&problems, "Python/38");
    assert_eq!(without.scored_on(), ScoredOn::Feedback);
    assert_eq!(without.notes, ["no visible assertion: run with feedback = all"]);
    assert_eq!(assertion_texts(&without.task.visible).len(), 1);

    let zero = problem_named(&problems, "Python/32");
    assert_eq!(assertion_texts(&zero.task.visible).len(), 2);
    assert_eq!(zero.task.signature.as_deref(), Some("def find_zero(xs: list):"));
    let preamble = zero.task.preamble.as_deref().unwrap();
    assert!(preamble.starts_with("import math\n") && preamble.contains("def poly(xs: list, x: float):"));
    let (starter, reference) = (zero.task.starter.as_ref().unwrap(), zero.reference.as_ref().unwrap());
    assert!(starter.text.contains("while begin - end > 1e-10"));
    assert!(reference.text.contains("while end - begin > 1e-10"));
    assert!(starter.text.starts_with("import math") && starter.text.contains("def poly"));
    assert!(problems.iter().all(|problem| problem.task.starter != problem.reference));
}

#[test]
fn humaneval_calls_check_and_joins_completions_to_the_prompt() {
    let problems = load("humaneval", "humaneval");
    for problem in &problems {
        let task = &problem.task;
        let entry_point = task.entry_point.as_ref().unwrap();
        let check = problem.hidden.as_ref().map_or(&task.visible, |hidden| hidden.reveal());
        assert!(code(check).contains(&format!("check({entry_point})")) || task.id.0 == "HumanEval/34", "{}", task.id);
        assert!(task.starter.is_none());
    }
    let first = problem_named(&problems, "HumanEval/0");
    assert_eq!(first.hidden.as_ref().unwrap().reveal().len(), 7);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("samples.jsonl");
    std::fs::write(&path, r#"{"task_id": "HumanEval/0", "completion": "    return False\n"}"#).unwrap();
    let program = load_samples(&path).unwrap()[0].program(&first.task);
    let head = "def has_close_elements(numbers: List[float], threshold: float) -> bool:\n";
    assert_eq!(program.text, format!("from typing import List\n\n\n{head}    return False\n"));
    // its prompt imports a module inside of the function's head
    assert_eq!(problem_named(&problems, "HumanEval/115").task.preamble.as_deref(), Some("import math\n"));
}

#[test]
fn quixbugs_has_one_assertion_a_table_row_and_support_classes() {
    let problems = load("quixbugs", "quixbugs");
    let tests =
        |name: &str| assertion_texts(&problem_named(&problems, &format!("QuixBugs/python/{name}")).task.visible);
    let table = |problem: &&Problem| !code(&problem.task.visible).contains("def test1()");
    assert_eq!(problems.iter().filter(table).count(), 31);
    // 242 rows, of which upstream skips two slow ones
    let rows = problems.iter().filter(table).map(|problem| problem.task.visible.len());
    assert_eq!(rows.sum::<usize>(), 240);
    assert_eq!(tests("bitcount")[0], "assert bitcount(127) == 7");
    assert_eq!(tests("flatten").len(), 7);
    assert!(tests("flatten")[0].starts_with("assert list(flatten([["));
    assert_eq!(tests("hanoi")[1], "assert hanoi(1, 1, 3) == [(1, 3)]");
    assert_eq!(tests("sqrt")[0], "assert abs(sqrt(2, 0.01) - 1.4166666666666665) <= 0.01");
    assert_eq!(tests("knapsack").len(), 9);

    let with_support: Vec<_> = problems.iter().filter(|problem| problem.task.support.is_some()).collect();
    assert_eq!(with_support.len(), 6);
    for problem in with_support {
        assert!(problem.task.support.as_ref().unwrap().starts_with("class Node:"));
        assert!(!code(&problem.task.visible).contains("class Node"), "{}", problem.task.id);
    }
    for problem in &problems {
        assert_eq!(problem.scored_on(), ScoredOn::Feedback);
        assert_eq!(problem.notes, ["the data set has one set of tests only: scored on feedback tests"]);
        assert!(problem.task.starter.is_some());
    }
}

#[test]
fn mbpp_shows_a_test_and_runs_the_setup_before_the_tests() {
    let problems = load("mbpp", "mbpp");
    let first = problem_named(&problems, "Mbpp/1");
    assert_eq!(first.task.entry_point.as_deref(), Some("min_cost"));
    assert!(first.task.statement.ends_with("assert min_cost([[1, 2, 3], [4, 8, 2], [1, 5, 3]], 2, 2) == 8"));
    assert_eq!((first.task.visible.len(), first.hidden.as_ref().unwrap().reveal().len()), (1, 3));
    assert!(!first.reference.as_ref().unwrap().text.contains('\r'));
    let tree = problem_named(&problems, "Mbpp/367");
    assert!(code(&tree.task.visible).starts_with("root = Node(1) \nroot.left"));
    assert_eq!(problem_named(&problems, "Mbpp/601").task.entry_point.as_deref(), Some("max_chain_length"));

    let sanitized = load("mbpp", "mbpp/sanitized-mbpp.json");
    assert_eq!(sanitized.len(), 427);
    assert!(code(&problem_named(&sanitized, "Mbpp/82").task.visible).starts_with("import math\nassert "));

    let all = load_with("mbpp", "mbpp", FeedbackSet::All);
    let first = problem_named(&all, "Mbpp/1");
    assert_eq!((first.task.visible.len(), first.task.feedback.len()), (1, 3));
    assert_eq!((first.scored_on(), first.feedback), (ScoredOn::Feedback, FeedbackSet::All));
}

#[test]
fn feedback_all_hides_nothing_and_loses_no_test() {
    let visible = load("humanevalfix", "humanevalpack");
    let all = load_with("humanevalfix", "humanevalpack", FeedbackSet::All);
    for (split, all) in visible.iter().zip(&all) {
        let hidden = split.hidden.as_ref().map_or(0, |hidden| hidden.reveal().len());
        assert_eq!(all.task.visible, split.task.visible);
        assert_eq!(all.task.feedback.len(), split.task.visible.len() + hidden, "{}", all.task.id);
        assert_eq!(all.scored_on(), ScoredOn::Feedback);
        // the joined list is what a fresh look at the joined text gives
        let listed: Vec<_> =
            assertions(code(&all.task.feedback)).unwrap().into_iter().map(|found| found.text).collect();
        assert_eq!(listed, assertion_texts(&all.task.feedback));
    }
}

#[test]
fn what_is_not_there_is_named_with_what_was_looked_for() {
    let empty = tempfile::tempdir().unwrap();
    let load = |path: &Path| benchmark("mbpp").unwrap().load(path, Language::Python, FeedbackSet::Visible);
    let error = load(empty.path()).err().unwrap().to_string();
    assert!(error.contains("looked for mbpp.jsonl, mbpp.jsonl.gz, sanitized-mbpp.json"), "{error}");
    for name in ["mbpp.jsonl", "mbpp.jsonl.gz"] {
        std::fs::write(empty.path().join(name), "").unwrap();
    }
    let error = load(empty.path()).err().unwrap().to_string();
    assert!(error.contains("several files would fit: mbpp.jsonl, mbpp.jsonl.gz"), "{error}");
    let error = load(&empty.path().join("none.jsonl")).err().unwrap();
    assert!(matches!(error, BenchmarkError::Read { .. }), "{error}");
    let error = benchmark("quixbug").err().unwrap().to_string();
    assert!(error.contains("did you mean `quixbugs`?"), "{error}");
}

#[test]
fn another_languages_file_is_refused() {
    let wrong =
        [("humanevalfix", "humanevalpack/humanevalpack_cpp.jsonl"), ("quixbugs", "quixbugs/quixbugs_java.jsonl")];
    for (name, path) in wrong {
        let path = datasets().join(path);
        let error = benchmark(name).unwrap().load(&path, Language::Python, FeedbackSet::Visible).err().unwrap();
        assert!(error.to_string().starts_with(&format!("{}:1: record 1", path.display())), "{error}");
    }
}
