//! Solved tasks in prompts: which, of what, and how they are written down.

use std::{collections::BTreeSet, sync::Arc};

use rolecall::{
    benchmarks::{benchmark, load_dir},
    conversation::{Company, ConversationRecord, ExampleError, ExamplePool, hold},
    domain::{FeedbackSet, Language, Problem},
    llm::{ChatRequest, Purpose, Subject, scripted::Scripted},
    prompts::{ExecutionFeedback, Fitting, Prompt, PromptData, fit},
    telemetry::{Projection, project},
    topology::Plan,
};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::{
    benchmarks::datasets,
    stage::{MadeUpSandbox, assignment, company, on_stage, talkative},
    support::{chain, node, plan, task},
};

/// Task files: id, statement, reference (none where it is empty).
pub fn task_files(tasks: &[(&str, &str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (id, statement, reference) in tasks {
        let reference = if reference.is_empty() { String::new() } else { format!("reference = '''\n{reference}'''\n") };
        let text = format!(
            "id = \"{id}\"\nlanguage = \"python\"\nentry_point = \"f\"\nstatement = \"{statement}\"\n{reference}[visible]\ncode = \"assert f(1) == 1\\n\"\n"
        );
        std::fs::write(folder.path().join(format!("{id}.toml")), text).unwrap();
    }
    folder
}

/// Task files as problems, by id.
fn problems(tasks: &[(&str, &str, &str)]) -> Vec<Problem> {
    load_dir(task_files(tasks).path()).unwrap()
}

/// `number` tasks that nobody else has.
fn numbered(number: usize) -> Vec<Problem> {
    let texts: Vec<[String; 3]> = (0..number)
        .map(|it| [format!("n{it:02}"), format!("Statement {it}."), format!("def f(x):\n    return x + {it} - {it}\n")])
        .collect();
    let rows: Vec<(&str, &str, &str)> = texts.iter().map(|[id, what, how]| (&**id, &**what, &**how)).collect();
    problems(&rows)
}

fn ids(pool: &ExamplePool, problem: &Problem, sample: u32, seed: u64) -> Vec<String> {
    pool.choose(problem, sample, seed).iter().map(|example| example.task.0.clone()).collect()
}

#[test]
fn the_splits_of_mbpp_divide_it() {
    let mbpp = benchmark("mbpp").unwrap();
    let tasks = mbpp.load(&datasets().join("mbpp"), Language::Python, FeedbackSet::Visible).unwrap();
    let sizes: Vec<(&str, usize)> = mbpp
        .splits()
        .iter()
        .map(|split| (split.name, tasks.iter().filter(|problem| (split.holds)(&problem.task)).count()))
        .collect();
    assert_eq!(sizes, [("all", 974), ("prompt", 10), ("test", 500), ("validation", 90), ("train", 374)]);
    assert_eq!(benchmark("quixbugs").unwrap().splits().len(), 1);
}

#[test]
fn the_choice_follows_from_seed_data_set_task_and_sample_alone() {
    let scored = problems(&[("a", "Asked for.", "def f(x):\n    return 7\n"), ("b", "Asked too.", "")]);
    let pool = ExamplePool::new("all", numbered(20), 3, &scored).unwrap();
    let mut reversed = numbered(20);
    reversed.reverse();
    let reversed = ExamplePool::new("all", reversed, 3, &scored).unwrap();
    let mut seen = BTreeSet::new();
    for (problem, sample, seed) in [(0, 0, 1), (0, 1, 1), (0, 0, 2), (1, 0, 1)] {
        let chosen = ids(&pool, &scored[problem], sample, seed);
        assert_eq!(chosen, ids(&pool, &scored[problem], sample, seed));
        assert_eq!(chosen, ids(&reversed, &scored[problem], sample, seed), "the order of the files");
        assert_eq!(chosen.iter().collect::<BTreeSet<_>>().len(), 3);
        seen.insert(chosen);
    }
    assert_eq!(seen.len(), 4, "each decides: {seen:?}");
    let all: BTreeSet<String> = (0..200).flat_map(|sample| ids(&pool, &scored[0], sample, 1)).collect();
    assert_eq!(all.len(), 20, "every example has its chance");
    assert!(ids(&ExamplePool::default(), &scored[0], 0, 1).is_empty());
}

#[test]
fn a_task_is_the_same_by_its_name_or_by_its_texts() {
    let scored = problems(&[("a", "Give back x.", "def f(x):\n    return x\n")]);
    let other = |id: &str, what: &str, how: &str| problems(&[(id, what, how), ("z", "Something.", "f = abs\n")]);
    // Of the user's own files one name may mean two tasks; then they are told apart by their texts.
    for (tasks, task_of) in [
        (other("a", "Give back x.", "def f(x):\n    return 1 * x\n"), "a"),
        (other("a", "Something else.", "def f(x):\n    return   x\n"), "a"),
    ] {
        let error = ExamplePool::new("all", tasks, 1, &scored).unwrap_err();
        assert!(matches!(&error, ExampleError::Scored { task, .. } if task.0 == task_of), "{error}");
        let said = "the examples' split `all` holds task a, which this run scores";
        assert!(error.to_string().starts_with(said), "{error}");
    }
    let pool = ExamplePool::new("all", other("a", "Something else.", "f = max\n"), 2, &scored).unwrap();
    assert_eq!(ids(&pool, &scored[0], 0, 1).len(), 2);
    // Under another name, with its statement or its reference, it is left out.
    for tasks in [
        other("b", "Give  back\\nx.", "def f(x):\n    return 1 * x\n"),
        other("b", "Something else.", "def f(x):\n\n    return x\n\n"),
    ] {
        let pool = ExamplePool::new("all", tasks.clone(), 1, &scored).unwrap();
        assert!((0..50).all(|sample| ids(&pool, &scored[0], sample, 1) == ["z"]));
        let error = ExamplePool::new("some", tasks, 2, &scored).unwrap_err();
        let said =
            "the examples' split `some` has 1 solved tasks in Python that may be shown with task a, and 2 are wanted";
        assert_eq!(error.to_string(), said);
    }
}

#[test]
fn only_tasks_with_a_reference_in_the_same_language_are_shown() {
    let scored = problems(&[("a", "Asked for.", "")]);
    let mut tasks = problems(&[("b", "One.", "f = abs\n"), ("c", "Two.", ""), ("d", "Three.", "f = max\n")]);
    let java = benchmark("humaneval-x").unwrap();
    tasks.extend(java.load(&datasets().join("humaneval-x"), Language::Java, FeedbackSet::Visible).unwrap());
    let pool = ExamplePool::new("all", tasks, 2, &scored).unwrap();
    assert!((0..20).all(|sample| ids(&pool, &scored[0], sample, 1).iter().all(|id| id == "b" || id == "d")));
}

/// A conversation about the task of [`support::task`], with examples.
async fn held(plan: Plan, model: Arc<Scripted>, count: u32) -> ConversationRecord {
    let alone = company(plan, model, MadeUpSandbox::by_text(), None);
    let mut company = Arc::into_inner(alone).unwrap();
    let assignment = assignment(task(3, None), 0);
    let scored = std::slice::from_ref(&*assignment.problem);
    company.examples = Arc::new(ExamplePool::new("all", numbered(9), count, scored).unwrap());
    hold(Arc::<Company>::new(company), assignment, CancellationToken::new()).await.unwrap()
}

fn shown(request: &ChatRequest) -> usize {
    request.messages.iter().map(|message| message.content.matches("Statement ").count()).sum()
}

#[test]
fn those_that_draft_show_examples_the_others_where_they_are_told_to() {
    on_stage(async {
        for repairs_too in [false, true] {
            let mut plan = chain(1, 4, 3);
            plan.nodes[4].examples = repairs_too;
            let model = talkative();
            let record = held(plan, model.clone(), 2).await;
            assert_eq!(record.head.examples.len(), 2);
            for request in model.requests() {
                let expected = match request.purpose {
                    Purpose::Draft => 2,
                    Purpose::Repair => 2 * usize::from(repairs_too),
                    _ => 0,
                };
                assert_eq!(shown(&request), expected, "{}", request.purpose);
            }
            let spans = project(&record, Projection::default());
            let named = spans
                .iter()
                .filter(|span| span.span.attributes.iter().any(|attribute| attribute.key == "rolecall.examples"));
            let services: BTreeSet<&str> = named.map(|span| span.service.as_str()).collect();
            let expected = if repairs_too { vec!["debugger", "synthesizer"] } else { vec!["synthesizer"] };
            assert_eq!(services.into_iter().collect::<Vec<_>>(), expected);
        }
    });
}

#[test]
fn a_learner_shows_them_in_both_prompts_and_an_actor_that_must_not_shows_none() {
    on_stage(async {
        for shows in [true, false] {
            let mut plan = plan(
                vec![
                    node("learner", "learner", serde_json::json!({})),
                    node("executor", "executor", serde_json::json!({})),
                ],
                &[("task", "learner"), ("learner", "executor"), ("executor", "learner")],
                4,
                rolecall::topology::BudgetLimits { programs: Some(3), ..Default::default() },
            );
            plan.nodes[0].examples = shows;
            let model = talkative();
            let record = held(plan, model.clone(), 1).await;
            assert_eq!(record.head.examples.len(), usize::from(shows));
            let purposes: BTreeSet<Purpose> = model.requests().iter().map(|request| request.purpose).collect();
            assert_eq!(purposes, BTreeSet::from([Purpose::Draft, Purpose::Repair]));
            assert!(model.requests().iter().all(|request| shown(request) == usize::from(shows)));
        }
    });
}

#[test]
fn a_prompt_that_is_too_long_loses_examples_first_the_last_first() {
    let scored = problems(&[("a", "Asked for.", "")]);
    let pool = ExamplePool::new("all", numbered(3), 3, &scored).unwrap();
    let mut subject = Subject::of(scored[0].task.clone(), None);
    subject.examples = pool.choose(&scored[0], 0, 1).into();
    let text = rolecall::config::embedded_file("prompts/synthesizer/draft.md").unwrap();
    let prompt = Prompt::load(Purpose::Draft, "synthesizer/draft", text).unwrap();
    let of_limit = |limit: usize| {
        let data = PromptData::new(Purpose::Draft, &subject, &ExecutionFeedback::default());
        match fit(&prompt, data, limit).unwrap() {
            Fitting::Fits { messages, shortened } => Some((messages.last().unwrap().content.clone(), shortened)),
            Fitting::TooLong { .. } => None,
        }
    };
    let mut numbers = BTreeSet::new();
    for limit in (0..1_000).rev() {
        let Some((content, shortened)) = of_limit(limit) else { break };
        let shown: Vec<bool> = subject.examples.iter().map(|it| content.contains(&it.statement)).collect();
        let number = shown.iter().filter(|shown| **shown).count();
        assert_eq!(shown, [number > 0, number > 1, number > 2], "the last ones go first");
        assert_eq!(shortened.first(), (number < 3).then_some(&"examples"));
        assert!(content.contains("Asked for."));
        numbers.insert(number);
    }
    assert_eq!(numbers, BTreeSet::from([0, 1, 2, 3]));
}
