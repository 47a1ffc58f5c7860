//! What the command line and the environment say over the file.

use rolecall::topology::{Overrides, SettingSource};
use serde_json::json;

use super::support::{folder, load_with, repairing, said};

fn no_variable(_: &str) -> Option<String> {
    None
}

fn options(model: &[&str], budget: &[&str], parallel_turns: Option<&str>) -> Overrides {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    Overrides::new(&owned(model), &owned(budget), parallel_turns, &no_variable)
}

#[test]
fn an_option_replaces_its_key_only() {
    let folder = folder(&[("x.toml", repairing(&[("programs = 9", "programs = 9\ngenerations = 3")], "").as_bytes())]);
    let overrides = options(&["c=openai:some/id=1"], &["programs=200", "wall_secs=1.5"], Some("unlimited"));
    let plan = load_with(folder.path(), "x.toml", &overrides).unwrap().plan;
    assert_eq!((plan.budget.programs, plan.budget.generations), (Some(200), Some(3)));
    assert_eq!(plan.budget.wall_secs, Some(1.5));
    assert_eq!(plan.parallel_turns, u32::MAX);
    let models: Vec<Option<&str>> = plan.nodes.iter().map(|node| node.model.as_deref()).collect();
    assert_eq!(models, [Some("templates"), None, Some("openai:some/id=1")]);
    assert!(!plan.nodes[2].exclusive, "this model does not avoid repeats");
}

#[test]
fn a_model_for_all_is_weaker_than_one_for_an_actor_and_stronger_than_the_file() {
    let text = repairing(&[], "model = \"openai:file\"\n");
    let folder = folder(&[("x.toml", text.as_bytes())]);
    let overrides = options(&["a=openai:one", "openai:all"], &[], None);
    let plan = load_with(folder.path(), "x.toml", &overrides).unwrap().plan;
    let models: Vec<Option<&str>> = plan.nodes.iter().map(|node| node.model.as_deref()).collect();
    assert_eq!(models, [Some("openai:one"), None, Some("openai:all")]);
}

#[test]
fn wrong_options_are_told_at_the_letter() {
    let folder = folder(&[("x.toml", repairing(&[], "").as_bytes())]);
    let overrides = options(
        &["nobody", "cc=templates", "b=templates", "a="],
        &["program=3", "programs=many,tokens", "cost=3"],
        Some("0"),
    );
    let count = "a whole number from 0 to 4294967294 or \"unlimited\"";
    let expected = [
        "--model:1:1: no model `nobody` is known".to_owned(),
        "--model:1:1: there is no actor `cc`; did you mean `c`?".to_owned(),
        "--model:1:1: `actors.b.model` has no use: the role `executor` asks no model".to_owned(),
        "--model:1:3: the name of a model is missing".to_owned(),
        "--budget:1:1: `program` is not a budget; did you mean `programs`?".to_owned(),
        format!("--budget:1:10: `budget.programs` must be {count}, not `many`"),
        "--budget:1:15: `tokens` is not KEY=VALUE".to_owned(),
        format!("--parallel-turns:1:1: `run.parallel_turns` must be {}, not `0`", count.replace("from 0", "from 1")),
    ];
    let said = said(folder.path(), &load_with(folder.path(), "x.toml", &overrides));
    assert_eq!(said, expected);
}

#[test]
fn the_environment_is_stronger_than_the_file_and_weaker_than_an_option() {
    let folder = folder(&[("x.toml", repairing(&[], "[run]\nparallel_turns = 2\n").as_bytes())]);
    let variable = |name: &str| match name {
        "ROLECALL_BUDGET" => Some("programs=70,model_calls=80".to_owned()),
        "ROLECALL_PARALLEL_TURNS" => Some("3".to_owned()),
        "ROLECALL_MODEL" => Some("c=openai:variable".to_owned()),
        _ => None,
    };
    let overrides = Overrides::new(&["openai:option".to_owned()], &["programs=60".to_owned()], None, &variable);
    let checked = load_with(folder.path(), "x.toml", &overrides).unwrap();
    assert_eq!((checked.plan.budget.programs, checked.plan.budget.model_calls), (Some(60), Some(80)));
    let source = |key: &str| checked.explain.iter().find(|it| it.key == key).map(|it| it.source.clone()).unwrap();
    assert_eq!(source("budget.programs"), SettingSource::Flag("--budget".to_owned()));
    assert_eq!(source("budget.model_calls"), SettingSource::Environment("ROLECALL_BUDGET".to_owned()));
    assert_eq!(source("run.parallel_turns"), SettingSource::Environment("ROLECALL_PARALLEL_TURNS".to_owned()));
    assert_eq!(source("actors.c.model"), SettingSource::Flag("--model".to_owned()));
    assert_eq!(source("search.parents"), SettingSource::Default);
}

#[test]
fn a_budget_in_tokens_runs_one_turn_at_a_time_and_says_so() {
    let folder = folder(&[("x.toml", repairing(&[], "[parameters]\nmax_output_tokens = 100\n").as_bytes())]);
    let checked = load_with(folder.path(), "x.toml", &options(&[], &["tokens=5000"], Some("8"))).unwrap();
    assert_eq!((checked.plan.parallel_turns, checked.plan.budget.tokens), (1, Some(5000)));
    let turns = checked.explain.iter().find(|it| it.key == "run.parallel_turns").unwrap();
    assert_eq!(turns.value, json!(1));
    assert_eq!(turns.source.to_string(), "because of budget.tokens");
    assert_eq!(checked.plan.nodes[2].parameters.max_output_tokens, Some(100));
}
