//! Which tests are visible, which validate, which are hidden, in every data set.

use std::collections::BTreeSet;

use rolecall::{
    benchmarks::benchmark,
    domain::{FeedbackSet, Language, OutputRule, Problem, ScoredOn, TestSuite},
};

use super::{assertion_texts, datasets, problem_named};

fn load(name: &str, folder: &str, language: Language, feedback: FeedbackSet) -> Vec<Problem> {
    benchmark(name).unwrap().load(&datasets().join(folder), language, feedback).unwrap()
}

fn hidden(problem: &Problem) -> &TestSuite {
    problem.hidden.as_ref().unwrap().reveal()
}

#[test]
fn humaneval_s_examples_are_visible_where_they_parse() {
    let problems = load("humaneval", "humaneval", Language::Python, FeedbackSet::Visible);
    let (with, without): (Vec<_>, Vec<_>) =
        problems.iter().partition(|problem| problem.feedback == FeedbackSet::Visible);
    assert_eq!((with.len(), without.len()), (135, 29));
    for problem in &without {
        assert!(problem.notes.iter().any(|note| note == "no visible assertion: run with feedback = all"));
        assert_eq!((problem.scored_on(), &problem.task.visible), (ScoredOn::Feedback, &problem.task.feedback));
    }
    let shown = |id: &str| assertion_texts(&problem_named(&problems, id).task.visible).join("\n");
    assert_eq!(shown("HumanEval/0").lines().count(), 2);
    assert_eq!(
        shown("HumanEval/51").lines().nth(1),
        Some(r#"assert remove_vowels("abcdef\nghijklm") == 'bcdf\nghjklm'"#)
    );
    assert!(shown("HumanEval/72").contains("assert will_it_fly([1, 2], 5) == False"));
    // The hidden tests of a task are those of `test` that are none of its examples.
    let search = problem_named(&problems, "HumanEval/75");
    assert_eq!(shown("HumanEval/75"), "assert is_multiply_prime(30) == True");
    assert_eq!(hidden(search).len(), 9);
    assert!(!hidden(search).names().contains(&"assert candidate(30) == True".to_owned()));
}

#[test]
fn humaneval_x_s_hidden_tests_hold_no_visible_one() {
    // Assertions of `example_test` and of what is left of `test`, in tasks that have both.
    for (language, visible, hidden_tests) in [
        (Language::Python, 472, 760),
        (Language::Cpp, 448, 767),
        (Language::Java, 445, 748),
        (Language::JavaScript, 450, 765),
        (Language::Go, 442, 761),
    ] {
        let problems = load("humaneval-x", "humaneval-x", language, FeedbackSet::Visible);
        let split: Vec<_> = problems.iter().filter(|problem| problem.hidden.is_some()).collect();
        for problem in &split {
            let shown: BTreeSet<_> = problem.task.visible.names().into_iter().collect();
            assert!(hidden(problem).names().iter().all(|name| !shown.contains(name)), "{}", problem.task.id);
            assert!(problem.notes.iter().all(|note| !note.contains("taken apart")), "{}", problem.task.id);
        }
        let count = |suites: &mut dyn Iterator<Item = &TestSuite>| suites.map(TestSuite::len).sum::<usize>();
        let found = (
            count(&mut split.iter().map(|problem| problem.task.visible.as_ref())),
            count(&mut split.iter().map(|problem| hidden(problem))),
        );
        assert_eq!(found, (visible, hidden_tests), "{language}");
        // Where everything feeds back, no test is lost, and prompts show what they showed.
        let all = load("humaneval-x", "humaneval-x", language, FeedbackSet::All);
        for (problem, all) in problems.iter().zip(&all) {
            assert_eq!((all.scored_on(), &all.task.visible), (ScoredOn::Feedback, &problem.task.visible));
            let fewest = problem.hidden.as_ref().map_or(0, |hidden| hidden.reveal().len());
            assert!(all.task.feedback.len() >= fewest.max(1), "{}", all.task.id);
        }
    }
}

#[test]
fn psb2_has_25_problems_whose_edge_cases_come_first() {
    let expected = [("psb2/basement", 1998), ("psb2/gcd", 2000), ("psb2/solve-boolean", 1888)];
    for language in [Language::Python, Language::Cpp] {
        let problems = load("psb2", "psb2", language, FeedbackSet::Visible);
        assert_eq!(problems.len(), 25);
        let mut tolerant = 0;
        for problem in &problems {
            let task = &problem.task;
            let validation = problem.validation.as_ref().unwrap().reveal();
            assert_eq!((task.visible.len(), task.feedback.len(), validation.len()), (5, 5, 50), "{}", task.id);
            assert_eq!(validation.names()[..5], task.visible.names());
            let (TestSuite::Io { cases, rule }, TestSuite::Io { cases: scored, .. }) =
                (validation.as_ref(), hidden(problem))
            else {
                panic!()
            };
            assert!(scored.iter().all(|case| !cases.contains(case)) && scored.len() >= 1888, "{}", task.id);
            assert_eq!(problem.scored_on(), ScoredOn::Hidden);
            tolerant += usize::from(matches!(rule, OutputRule::Tolerance(tolerance) if f64::from(*tolerance) == 1e-3));
        }
        assert_eq!(tolerant, 5, "those that answer with numbers that have a fraction");
        for (id, hidden_tests) in expected {
            assert_eq!(hidden(problem_named(&problems, id)).len(), hidden_tests, "{id}");
        }
        let TestSuite::Io { cases, .. } = problem_named(&problems, "psb2/cut-vector").task.visible.as_ref() else {
            panic!()
        };
        assert_eq!((cases[0].stdin.as_str(), cases[0].stdout.as_str()), ("1\n0\n", "1\n0\n0\n\n"));
    }
    let fed_back = load("psb2", "psb2", Language::Python, FeedbackSet::Validation);
    for problem in &fed_back {
        assert_eq!((problem.task.feedback.len(), problem.feedback), (50, FeedbackSet::Validation));
        assert_eq!(
            (problem.task.visible.len(), problem.validation.is_none(), problem.hidden.is_some()),
            (5, true, true)
        );
    }
    assert_eq!(problem_named(&fed_back, "psb2/gcd").scored_on(), ScoredOn::Hidden);
}

#[test]
fn java_bugs_have_junit_tests_support_classes_and_faulty_lines() {
    let quixbugs = load("quixbugs", "quixbugs", Language::Java, FeedbackSet::Visible);
    assert_eq!(quixbugs.len(), 40);
    let tests: usize = quixbugs.iter().map(|problem| problem.task.visible.len()).sum();
    // 260 less the two that ask too much of a right program.
    assert_eq!(tests, 258);
    assert!(
        quixbugs
            .iter()
            .all(|problem| !problem.task.faulty_lines.is_empty() && problem.scored_on() == ScoredOn::Feedback)
    );
    let bitcount = problem_named(&quixbugs, "QuixBugs/java/BITCOUNT");
    assert_eq!(bitcount.task.faulty_lines, [15]);
    assert!(bitcount.task.starter.as_ref().unwrap().text.lines().nth(14).unwrap().contains("n ^ (n - 1)"));
    let paths = problem_named(&quixbugs, "QuixBugs/java/MINIMUM_SPANNING_TREE");
    let support = paths.task.support.as_ref().unwrap();
    assert!(support.starts_with("package java_programs;\n") && support.contains("class WeightedEdge"));

    let humaneval = load("humaneval-java", "humaneval-java", Language::Java, FeedbackSet::Visible);
    assert_eq!(humaneval.len(), 59);
    let lines = |id: &str| problem_named(&humaneval, id).task.faulty_lines.clone();
    assert_eq!((lines("HumanEval-Java/ADD"), lines("HumanEval-Java/ANTI_SHUFFLE")), (vec![11], vec![22, 23, 24]));
    let add = &problem_named(&humaneval, "HumanEval-Java/ADD").task;
    assert_eq!(add.signature.as_deref(), Some("public class ADD {\n    public static int add(int x, int y) {"));
}

#[test]
fn repair_tasks_say_which_lines_the_fix_changes() {
    let quixbugs = load("quixbugs", "quixbugs", Language::Python, FeedbackSet::Visible);
    assert_eq!(problem_named(&quixbugs, "QuixBugs/python/bitcount").task.faulty_lines, [4]);
    assert!(quixbugs.iter().all(|problem| (1..=2).contains(&problem.task.faulty_lines.len())));
    for language in
        [Language::Python, Language::Cpp, Language::Java, Language::JavaScript, Language::Go, Language::Rust]
    {
        let problems = load("humanevalfix", "humanevalpack", language, FeedbackSet::Visible);
        for problem in problems {
            let lines = &problem.task.faulty_lines;
            let last = problem.task.starter.as_ref().unwrap().text.lines().count();
            assert!(!lines.is_empty() && lines.is_sorted(), "{}", problem.task.id);
            assert!(
                lines.iter().all(|line| (1..=last).contains(&usize::try_from(*line).unwrap())),
                "{}",
                problem.task.id
            );
        }
    }
}
