//! Cases from public reports of faults in other tools, each named after its id.

use std::fs;

use rolecall::{
    cli,
    topology::{Overrides, SettingSource},
};
use serde_json::json;

use super::support::{folder, load, load_with, repairing, right, said};

/// A01: a misspelt key or a dangling name is refused with its place and the nearest name, all in one pass.
#[test]
fn a01_misspelt_keys_and_dangling_names_are_told_together() {
    let text = repairing(
        &[
            ("{ from = \"c\", to = \"b\" }", "{ from = \"c\", to = \"debuger\" }"),
            ("programs = 9", "programs = 9\nmax_cals = 3"),
            ("[actors.c]", "[actors.debugger]"),
        ],
        "settings = { repiars = 2 }\n",
    );
    let folder = folder(&[("x.toml", text.as_bytes())]);
    let result = load(folder.path(), "x.toml");
    let expected = [
        "x.toml:5:22: there is no actor `c`",
        "x.toml:6:12: there is no actor `c`",
        "x.toml:6:22: there is no actor `debuger`; did you mean `debugger`?",
        "x.toml:10:1: `max_cals` is not a key of `budget`; did you mean `model_calls`?",
        "x.toml:17:14: `repiars` is not a key of `actors.debugger.settings`; did you mean `repairs`?",
    ];
    assert_eq!(said(folder.path(), &result), expected);
    let checked = cli::topology::check(&folder.path().join("x.toml").display().to_string(), false);
    assert_eq!(checked.code, 2);
    assert!(checked.stdout.ends_with("5 mistakes\n"), "{}", checked.stdout);
    assert!(checked.stdout.contains("hint: keys of `budget`: programs, model_calls, tokens"), "{}", checked.stdout);
}

/// A02: in TOML everything after a table's header belongs to that table.
#[test]
fn a02_a_top_level_key_below_a_table_is_told_where_to_go() {
    let text = right(&[], "[actors.critic]\nrole = \"executor\"\n\ndescription = \"mine\"\nseed = 7\n");
    let folder = folder(&[("x.toml", text.as_bytes())]);
    let expected = [
        "x.toml:12:9: `critic` cannot be reached from `task`",
        "x.toml:15:1: `description` is not a key of `actors.critic`; it is a top-level key: move it above the first table",
        "x.toml:16:1: `seed` is not a key of `actors.critic`; it is an option of the command line: `--seed`",
    ];
    assert_eq!(said(folder.path(), &load(folder.path(), "x.toml")), expected);
}

/// A05: what the file says takes effect, paths are relative to the file, and nothing is expanded.
#[test]
fn a05_settings_take_effect_paths_are_relative_to_the_file_and_nothing_is_expanded() {
    let text = repairing(&[], "prompt = \"prompts/mine.md\"\n[run]\nparallel_turns = 5\n");
    let prompt = "---user---\ncosts $5, see $HOME and ~/notes\n";
    let folder = folder(&[("sub/x.toml", text.as_bytes()), ("sub/prompts/mine.md", prompt.as_bytes())]);
    let overrides = Overrides::new(&[], &["programs=40".to_owned()], None, &|_| None);
    let checked = load_with(folder.path(), "sub/x.toml", &overrides).unwrap();
    assert_eq!(checked.plan.parallel_turns, 5);
    assert_eq!(&*checked.plan.nodes[2].prompts["repair"].text, prompt);
    let find = |key: &str| checked.explain.iter().find(|it| it.key == key).cloned().unwrap();
    let path = folder.path().join("sub/x.toml").display().to_string();
    assert_eq!(find("run.parallel_turns").value, json!(5));
    assert_eq!(find("run.parallel_turns").source, SettingSource::File { path, line: 18 });
    assert_eq!(find("budget.programs").source, SettingSource::Flag("--budget".to_owned()));
    assert_eq!(find("feedback.timeouts").source, SettingSource::Default);
}

/// A05: a variable in a path is a name with a dollar sign.
#[test]
fn a05_a_variable_in_a_path_stays() {
    let text = right(&[], "[actors.a.prompts]\ndraft = \"$HOME/mine.md\"\n");
    let folder = folder(&[("x.toml", text.as_bytes())]);
    let expected = ["x.toml:13:9: cannot read `$HOME/mine.md`: No such file or directory (os error 2)"];
    assert_eq!(said(folder.path(), &load(folder.path(), "x.toml")), expected);
    fs::create_dir(folder.path().join("$HOME")).unwrap();
    fs::write(folder.path().join("$HOME/mine.md"), "---user---\nhello\n").unwrap();
    load(folder.path(), "x.toml").unwrap();
}
