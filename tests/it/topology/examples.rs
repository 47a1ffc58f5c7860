//! `[examples]` in files and on the command line.

use std::path::PathBuf;

use rolecall::topology::{ExampleSource, Overrides, SettingSource};
use serde_json::json;

use super::support::{Case, assert_said, folder, load, load_with, repairing, right, said};

#[test]
fn what_makes_no_sense_is_said_at_its_place() {
    let cases = [
        Case {
            name: "a_split_that_there_is_not",
            text: right(&[], "[examples]\nbenchmark = \"mbpp\"\nsplit = \"trian\"\ncount = 2\n"),
            said: &["x.toml:14:9: there is no split `trian` of mbpp; did you mean `train`?"],
        },
        Case {
            name: "a_split_of_task_files",
            text: right(&[], "[examples]\ntasks = \"solved\"\nsplit = \"train\"\ncount = 2\n"),
            said: &["x.toml:14:9: there is no split `train` of task files"],
        },
        Case {
            name: "a_data_set_that_there_is_not",
            text: right(&[], "[examples]\nbenchmark = \"mbp\"\nsplit = \"train\"\n"),
            said: &["x.toml:13:13: there is no data set `mbp`; did you mean `mbpp`?"],
        },
        Case {
            name: "two_sources",
            text: right(&[], "[examples]\ntasks = \"solved\"\nbenchmark = \"mbpp\"\n"),
            said: &["x.toml:13:9: `examples.tasks` and `examples.benchmark` are two sources"],
        },
        Case {
            name: "a_path_of_nothing",
            text: right(&[], "[examples]\npath = \"solved\"\n"),
            said: &["x.toml:13:8: `examples.path` has no use without `examples.benchmark`"],
        },
        Case {
            name: "words_for_numbers",
            text: right(
                &[("role = \"synthesizer\"", "role = \"synthesizer\"\nexamples = \"yes\"")],
                "[examples]\ncount = -1\n",
            ),
            said: &[
                "x.toml:4:12: `actors.a.examples` must be true or false, not the string `yes`",
                "x.toml:14:9: `examples.count` must be a whole number from 0 to 4294967294, not the number -1",
            ],
        },
        Case {
            name: "a_role_that_writes_nothing",
            text: right(&[("role = \"executor\"", "role = \"executor\"\nexamples = true")], ""),
            said: &["x.toml:6:1: `actors.b.examples` has no use: the role `executor` writes no programs"],
        },
        Case {
            name: "nobody_shows_them",
            text: right(
                &[("role = \"synthesizer\"", "role = \"synthesizer\"\nexamples = false")],
                "[examples]\ncount = 1\n",
            ),
            said: &["x.toml:14:9: `examples.count` has no use: no actor shows examples"],
        },
        Case {
            name: "in_the_wrong_table",
            text: right(&[("role = \"synthesizer\"", "role = \"synthesizer\"\nsettings.examples = true")], ""),
            said: &[
                "x.toml:4:10: `examples` is not a key of `actors.a.settings`; it is a key of the actor: write it in `[actors.a]`",
            ],
        },
    ];
    for case in &cases {
        assert_said(case);
    }
}

#[test]
fn a_prompt_that_shows_no_examples_is_a_mistake_where_there_are_some() {
    let own = |count: u32, more: &str| {
        let actor = format!("role = \"synthesizer\"\nprompt = \"mine.md\"\n{more}");
        let text = right(&[("role = \"synthesizer\"", actor.as_str())], &format!("[examples]\ncount = {count}\n"));
        let folder = folder(&[("x.toml", text.as_bytes()), ("mine.md", b"---user---\n{{ task.statement }}\n")]);
        said(folder.path(), &load(folder.path(), "x.toml"))
    };
    assert!(own(0, "").is_empty());
    assert_eq!(own(2, ""), ["x.toml:2:9: no prompt of `a` shows examples"]);
    assert_eq!(own(2, "examples = true"), ["x.toml:5:12: no prompt of `a` shows examples"]);
}

#[test]
fn paths_are_relative_to_the_file_that_they_stand_in_and_the_command_line_goes_first() {
    let base = repairing(
        &[],
        "examples = true\n[examples]\nbenchmark = \"mbpp\"\npath = \"data\"\nsplit = \"prompt\"\ncount = 3\n",
    );
    let over = "extends = \"../base.toml\"\n[examples]\nsplit = \"train\"\n";
    let moved = "extends = \"../base.toml\"\nexamples = { tasks = \"solved\", split = \"all\" }\n";
    let files: &[(&str, &[u8])] =
        &[("base.toml", base.as_bytes()), ("over/x.toml", over.as_bytes()), ("over/y.toml", moved.as_bytes())];
    let folder = folder(files);
    let mbpp = |path: Option<PathBuf>| Some(ExampleSource::Benchmark { name: "mbpp".to_owned(), path });
    let settings = |name: &str, overrides: Overrides| {
        let checked = load_with(folder.path(), name, &overrides).unwrap_or_else(|mistakes| panic!("{mistakes}"));
        checked.plan.examples
    };

    let plain = settings("over/x.toml", Overrides::default());
    assert_eq!((plain.count, plain.split.as_str()), (3, "train"));
    assert_eq!(plain.source, mbpp(Some(folder.path().join("over/../data"))));
    // The source of an overlay takes the place of its base's.
    let moved = settings("over/y.toml", Overrides::default());
    assert_eq!(moved.source, Some(ExampleSource::Tasks(folder.path().join("over/solved"))));
    let given = settings("over/x.toml", Overrides::default().with_examples(Some("here"), None));
    assert_eq!(given.source, mbpp(Some("here".into())));
    let given = settings("over/y.toml", Overrides::default().with_examples(Some("here"), None));
    assert_eq!(given.source, Some(ExampleSource::Tasks("here".into())));
    let given = settings("over/y.toml", Overrides::default().with_examples(Some("here"), Some("mbpp")));
    assert_eq!(given.source, mbpp(Some("here".into())));

    let split = Overrides::default().with_examples(Some("here"), Some("quixbugs"));
    let result = load_with(folder.path(), "over/x.toml", &split);
    assert_eq!(said(folder.path(), &result), ["over/x.toml:3:9: there is no split `train` of quixbugs"]);
    let none = Overrides::default().with_examples(Some(" "), None);
    assert_eq!(
        said(folder.path(), &load_with(folder.path(), "base.toml", &none)),
        ["--examples:1:1: the value of --examples is empty"]
    );
}

#[test]
fn an_option_without_effect_is_a_mistake() {
    let folder = folder(&[("x.toml", right(&[], "").as_bytes())]);
    let given = Overrides::default().with_examples(Some("here"), None);
    let said = said(folder.path(), &load_with(folder.path(), "x.toml", &given));
    assert_eq!(said, ["--examples:1:1: --examples has no use: `examples.count` is 0"]);
}

#[test]
fn who_shows_them_is_explained_and_part_of_the_hash() {
    let text = |count: u32, more: &str| repairing(&[], &format!("{more}[examples]\ncount = {count}\n"));
    let checked = |text: &str| {
        let folder = folder(&[("x.toml", text.as_bytes())]);
        load(folder.path(), "x.toml").unwrap_or_else(|mistakes| panic!("{mistakes}"))
    };
    let some = checked(&text(2, ""));
    assert_eq!(some.plan.nodes.iter().map(|node| node.examples).collect::<Vec<_>>(), [true, false, false]);
    let row = some.explain.iter().find(|row| row.key == "actors.a.examples").unwrap();
    assert_eq!((&row.value, &row.source), (&json!(true), &SettingSource::Default));
    assert!(some.explain.iter().all(|row| row.key != "actors.b.examples"));

    let hash = |text: &str| checked(text).plan.hash;
    assert_ne!(some.plan.hash, hash(&text(3, "")));
    assert_ne!(some.plan.hash, hash(&text(2, "examples = true\n")));
    assert_eq!(hash(&text(0, "")), hash(&text(0, "examples = true\n")), "nothing is shown in either");
}
