//! Data sets and task files in six languages. Languages whose tests this build cannot read are passed over.

use rolecall::{
    benchmarks::{benchmark, listed_assertions, load_dir},
    domain::{FeedbackSet, Language, Problem, ScoredOn, TestSuite},
    languages::{limits, toolchain},
    prompts::{assemble, extract_program},
};

use super::{code, datasets, problem_named, task_files::refusal};

fn built_in() -> impl Iterator<Item = Language> {
    Language::ALL.iter().copied().filter(|language| toolchain(*language).is_some())
}

fn load(name: &str, folder: &str, language: Language, feedback: FeedbackSet) -> Vec<Problem> {
    let loaded = benchmark(name).unwrap().load(&datasets().join(folder), language, feedback);
    loaded.unwrap_or_else(|error| panic!("{name} in {language}: {error}"))
}

#[test]
fn humaneval_x_loads_in_every_language() {
    for language in built_in() {
        let problems = load("humaneval-x", "humaneval-x", language, FeedbackSet::Visible);
        let expected = if language == Language::Rust { 163 } else { 164 };
        assert_eq!(problems.len(), expected, "{language}");
        for problem in &problems {
            let task = &problem.task;
            assert_eq!((task.language, &task.limits), (language, &limits(language)));
            assert!(task.starter.is_none() && task.signature.is_some(), "{}", task.id);
            assert!(!task.visible.is_empty(), "{}", task.id);
            assert!(problem.hidden.as_ref().is_none_or(|hidden| !hidden.reveal().is_empty()), "{}", task.id);
            // The reference is a program, and it stays one; Python/115 alone has a part of its preamble in its function.
            let reference = &problem.reference.as_ref().unwrap().text;
            if task.id.0 != "Python/115" {
                assert_eq!(assemble(task, reference), *reference, "{}", task.id);
            }
        }
        let split = problems.iter().filter(|problem| problem.scored_on() == ScoredOn::Hidden).count();
        // What has examples that assert something, less what has no test besides these.
        let expected = match language {
            Language::Rust => 0,
            Language::Java => 157 - 1,   // Java/151 looks at no result of its examples.
            Language::Python => 157 - 3, // The examples of Python/119 are no program.
            Language::Go => 158 - 3,
            Language::Cpp | Language::JavaScript => 158 - 1,
        };
        assert_eq!(split, expected, "{language}");
    }
}

#[test]
fn humanevalfix_loads_in_every_language_and_names_the_function_that_the_data_names() {
    for language in built_in() {
        let problems = load("humanevalfix", "humanevalpack", language, FeedbackSet::Visible);
        assert_eq!(problems.len(), 40, "{language}");
        let written = load("humaneval-x", "humaneval-x", language, FeedbackSet::Visible);
        for problem in &problems {
            let task = &problem.task;
            let (starter, reference) = (task.starter.as_ref().unwrap(), problem.reference.as_ref().unwrap());
            assert_ne!(starter, reference, "{}", task.id);
            let same = written.iter().find(|other| other.task.id == task.id);
            // The record of HumanEval-X does not name its function: the loader finds it. Two are misspelt there.
            assert!(
                ["CPP/27", "Java/22"].contains(&task.id.0.as_str())
                    || same.is_none_or(|same| same.task.entry_point == task.entry_point),
                "{}: {:?} and {:?}",
                task.id,
                task.entry_point,
                same.map(|same| &same.task.entry_point)
            );
        }
    }
}

#[test]
fn feedback_all_leaves_tests_that_are_one_text() {
    for language in built_in().filter(|language| *language != Language::Python) {
        let all = load("humanevalfix", "humanevalpack", language, FeedbackSet::All);
        for problem in &all {
            let TestSuite::Assertions { code, assertions } = problem.task.feedback.as_ref() else { panic!() };
            assert_eq!(listed_assertions(language, code).unwrap(), *assertions, "{}", problem.task.id);
            assert_eq!(problem.scored_on(), ScoredOn::Feedback);
        }
    }
}

#[test]
fn known_faults_of_tasks_are_noted() {
    let cpp = load("humaneval-x", "humaneval-x", Language::Cpp, FeedbackSet::Visible);
    let fault = "known fault of the task: the tests call a function of the C library in place of the program's";
    assert_eq!(problem_named(&cpp, "CPP/23").notes, [fault]);
    if toolchain(Language::Rust).is_some() {
        let rust = load("humaneval-x", "humaneval-x", Language::Rust, FeedbackSet::Visible);
        let helper = "the tests call `encode_cyclic`, which only the reference defines";
        assert!(problem_named(&rust, "Rust/38").notes.iter().any(|note| note == helper));
    }
    // Its declaration runs on into the body.
    let cyclic = problem_named(&cpp, "CPP/38").reference.as_ref().unwrap();
    assert_eq!(cyclic.text.matches("int l=s.length();").count(), 2);
}

#[test]
fn a_completion_of_a_prompt_becomes_a_program() {
    let cpp = load("humaneval-x", "humaneval-x", Language::Cpp, FeedbackSet::Visible);
    let task = &problem_named(&cpp, "CPP/10").task;
    assert_eq!(task.entry_point.as_deref(), Some("make_palindrome"));
    assert_eq!(task.signature.as_deref(), Some("string make_palindrome(string str){"));
    let preamble = task.preamble.as_ref().unwrap();
    assert!(preamble.starts_with("#include<stdio.h>\n") && preamble.contains("bool is_palindrome(string str)"));
    let program = extract_program("    return str;\n}\n", task).unwrap();
    assert!(program.ends_with("string make_palindrome(string str){\n    return str;\n}\n"), "{program}");
    assert_eq!(program.matches("make_palindrome").count(), 1);
    assert!(program.contains("bool is_palindrome"));
}

#[test]
fn go_programs_and_tests_import_what_they_use() {
    if toolchain(Language::Go).is_none() {
        return;
    }
    let go = load("humaneval-x", "humaneval-x", Language::Go, FeedbackSet::Visible);
    let first = problem_named(&go, "Go/17");
    assert!(first.reference.as_ref().unwrap().text.starts_with("package main\n\n\nimport \"strings\"\n"));
    assert!(code(&first.task.visible).starts_with("package main\n\nimport (\n    \"testing\"\n"));
    let shadowed = problem_named(&go, "Go/28").reference.as_ref().unwrap();
    assert!(!shadowed.text.contains("import \"strings\""), "{}", shadowed.text);
}

#[test]
fn other_names_of_languages_and_languages_that_a_data_set_lacks() {
    assert_eq!(Language::from_name("c++"), Some(Language::Cpp));
    assert_eq!(Language::from_name("js"), Some(Language::JavaScript));
    let error = benchmark("mbpp").unwrap().load(&datasets(), Language::Java, FeedbackSet::Visible).err().unwrap();
    let expected = "mbpp is not read in Java, only in Python\n  hint: in Java there are humaneval-x, humanevalfix, humaneval-java, quixbugs";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn task_files_are_checked_in_their_language() {
    let text = "id = 'inc'\nlanguage = 'cpp'\nstatement = 's'\nentry_point = 'inc'\npreamble = 'int half(int n) {'\n\
                starter = 'int dec(int n) { return n - 1; }'\n[visible]\ncode = 'int main() { assert(inc(1) == 2; }'\n\
                [hidden]\ncode = 'int main() { assert(dec(1) == 2); }'\n";
    let mistakes = refusal(text);
    for expected in [
        "FILE:5:12: `preamble`: not valid C++",
        "FILE:6:11: `starter` does not define the entry point `inc`",
        "FILE:8:8: `visible.code`: not valid C++",
        "FILE:10:8: `hidden.code`: the tests never mention `inc`: any program would pass",
    ] {
        assert!(mistakes.contains(expected), "{mistakes}");
    }
    let none = text.replace("assert(inc(1) == 2;", "inc(1);");
    assert!(refusal(&none).contains("`visible.code`: no assertion: any program would pass"));
}

#[test]
fn e10_a_javascript_test_function_that_nobody_calls_is_refused() {
    let text = "id = 'inc'\nlanguage = 'js'\nstatement = 's'\nentry_point = 'inc'\n[visible]\n\
                code = 'const check = () => { console.assert(inc(1) === 2) }'\n";
    assert!(refusal(text).contains("nothing uses `check`, so this assertion is never reached"), "{}", refusal(text));
}

#[test]
fn the_examples_in_other_languages_load() {
    if built_in().count() < Language::ALL.len() {
        return;
    }
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/tasks-languages");
    let problems = load_dir(&dir).unwrap_or_else(|error| panic!("{error}"));
    let languages: std::collections::BTreeSet<_> = problems.iter().map(|problem| problem.task.language).collect();
    assert_eq!(languages.len(), 5);
    for problem in &problems {
        let (task, hidden) = (&problem.task, problem.hidden.as_ref().unwrap().reveal());
        let (starter, reference) = (task.starter.as_ref().unwrap(), problem.reference.as_ref().unwrap());
        assert!(task.visible.len() >= 4 && hidden.len() >= 4, "{}", task.id);
        let changed =
            starter.text.lines().zip(reference.text.lines()).enumerate().filter(|(_, (one, other))| one != other);
        let changed: Vec<_> = changed.map(|(line, _)| u32::try_from(line + 1).unwrap()).collect();
        assert_eq!(changed, task.faulty_lines, "{}", task.id);
        assert_eq!(assemble(task, &starter.text), starter.text, "{}", task.id);
    }
}
