//! What cannot be a shard, and what cannot be merged, in exact words.

use std::{fs, time::Duration};

use rusqlite::Connection;

use super::{FOUR, bytes, merge, printed, rows, shard, shards};
use crate::store::{
    model_server::ModelServer,
    scene::{Scene, words},
};

fn scene() -> Scene {
    Scene::new(&ModelServer::start(Duration::ZERO))
}

/// What a refused merge said, with the scene's folder and ids left out; nothing was merged.
fn refusal(scene: &Scene, sources: &[&str], code: i32) -> String {
    let sources: Vec<String> = sources.iter().map(|&source| source.to_owned()).collect();
    let output = merge(scene, &sources, &[]);
    assert_eq!(output.status.code(), Some(code), "{}", words(&output));
    assert!(!scene.folder.path().join("merged").exists(), "{}", words(&output));
    without_names(scene, &words(&output))
}

fn without_names(scene: &Scene, said: &str) -> String {
    let folder = scene.folder.path().canonicalize().unwrap();
    let said = said.replace(folder.to_str().unwrap(), "HERE");
    let is_id = |word: &str| word.len() == 36 && word.split('-').count() == 5;
    let words = said.split(' ').map(|word| {
        let bare = word.trim_end_matches([':', ',', ';', '\n']);
        if is_id(bare) { word.replace(bare, "ID") } else { word.to_owned() }
    });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_part_that_is_none_is_a_usage_error() {
    let scene = scene();
    for (part, expected) in [
        ("0/3", "`0/3`: the parts are 1/3 to 3/3"),
        ("4/3", "`4/3`: the parts are 1/3 to 3/3"),
        ("1/0", "`1/0` divides a run into no parts; N is at least 1"),
        ("two", "`two` is no part of a run; write I/N, as 2/3 for the second of three"),
        ("-1/3", "`-1/3` is no part of a run; write I/N, as 2/3 for the second of three"),
    ] {
        let output = scene.run(&[FOUR, &[&format!("--shard={part}")]].concat());
        assert_eq!(output.status.code(), Some(2));
        let expected = format!("error: invalid value '{part}' for '--shard <I/N>': {expected}\n");
        assert!(words(&output).starts_with(&expected), "{}", words(&output));
    }
    assert!(!scene.folder.path().join("store").exists());
}

#[test]
fn what_shards_cannot_share_is_refused_with_what_to_do() {
    let scene = scene();
    let without_seed: Vec<&str> = FOUR.iter().copied().filter(|word| !["--seed", "5"].contains(word)).collect();
    let (run, seedless) = (FOUR, without_seed.as_slice());
    for (command, more, expected) in [
        (seedless, &[][..], "error: --shard 1/3 needs --seed: each shard would draw another\n  hint: "),
        (run, &["--store", "memory"], "error: --shard 1/3: --store memory keeps nothing that could be merged\n"),
        (
            run,
            &["--calibrate-limits"],
            "error: --shard 1/3 and --calibrate-limits: each shard would measure other limits\n",
        ),
        (
            run,
            &["--run-budget", "model_calls=9"],
            "error: --shard 1/3 and [run.budget] (--run-budget): no shard knows what ",
        ),
        (run, &["--arm-budget", "wall_secs=9"], "error: --shard 1/3 and [arm.budget] (--arm-budget): no shard knows "),
        (
            run,
            &["--task-budget", "model_calls=9"],
            "error: --shard 1/3 and [task.budget] (--task-budget): no shard knows ",
        ),
        (run, &["--new"], "error: the argument '--shard <I/N>' cannot be used with '--new'\n"),
    ] {
        let output = scene.run(&[command, &["--shard", "1/3"], more].concat());
        assert_eq!(output.status.code(), Some(2), "{}", words(&output));
        assert!(words(&output).starts_with(expected), "{}", words(&output));
    }
    let output = scene.run(&[FOUR, &["--run-name", "a"]].concat());
    assert_eq!(output.status.code(), Some(2), "{}", words(&output));
    let output = scene.run(&["merge", "store", "--store", "memory"]);
    assert_eq!(output.status.code(), Some(2), "{}", words(&output));
}

#[test]
fn shards_that_are_missing_are_named() {
    let scene = scene();
    for number in ["1/12", "3/12"] {
        assert_eq!(shard(&scene, FOUR, number).status.code(), Some(0));
    }
    assert_eq!(
        refusal(&scene, &["s1", "s3"], 75),
        "error: run ID is not complete, and nothing was merged: shard 2/12 is missing, shard 4/12 is missing, shard 5/12 is \
         missing, shard 6/12 is missing, shard 7/12 is missing, shard 8/12 is missing, shard 9/12 is missing, shard 10/12 is \
         missing and 2 more\n  hint: run or resume these shards, or take what there is with --partial\n"
    );
}

#[test]
fn the_same_shard_twice_is_refused_and_so_are_two_divisions() {
    let scene = scene();
    let at = |name: &str| scene.folder.path().join(name);
    shards(&scene, FOUR, 3);
    fs::create_dir(at("copy")).unwrap();
    fs::copy(at("s2").join("rolecall.sqlite"), at("copy/rolecall.sqlite")).unwrap();
    assert_eq!(
        refusal(&scene, &["s1", "s2", "s3", "copy"], 2),
        "error: shard 2/3 is there twice: in HERE/s2/rolecall.sqlite and in HERE/copy/rolecall.sqlite\n"
    );
    for (part, others) in [("2/2", &["s1", "s3"][..]), ("4/4", &["s1", "s2", "s3"]), ("1/5", &["s1", "s2", "s3"])] {
        fs::remove_dir_all(at("other")).unwrap_or_default();
        let output = scene.run(&[FOUR, &["--shard", part, "--store", "other"]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", words(&output));
        let said = refusal(&scene, &[others, &["other"]].concat(), 2);
        let expected = format!(
            "error: shard 1/3 in HERE/s1/rolecall.sqlite and shard {part} in HERE/other/rolecall.sqlite do not fit: the run was divided twice\n"
        );
        assert_eq!(said, expected);
    }
    // Nor in one store.
    let output = scene.run(&[FOUR, &["--shard", "2/4", "--store", "s1"]].concat());
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        without_names(&scene, &words(&output)),
        "error: the store s1 has shard 1/3 of the same run, and a run is divided once\n  hint: keep shard 2/4 in another \
         store, name another run with --run-name, or remove that one: rolecall runs remove ID\n"
    );
}

#[test]
fn shards_of_other_runs_are_refused_unless_the_run_is_named() {
    let scene = scene();
    shards(&scene, FOUR, 2);
    let other: Vec<&str> = FOUR.iter().map(|word| if *word == "5" { "6" } else { word }).collect();
    let foreign = scene.run(&[&other, &["--shard", "2/2", "--store", "foreign"][..]].concat());
    assert_eq!(foreign.status.code(), Some(0), "{}", words(&foreign));
    assert_eq!(
        refusal(&scene, &["s1", "foreign"], 2),
        "error: there are shards of 2 runs: ID, ID\n  hint: name the one that is meant: --run RUN\n"
    );
    // A name makes another run of the same plan.
    let named = scene.run(&[FOUR, &["--shard", "1/2", "--store", "s2", "--run-name", "again"]].concat());
    assert_eq!(named.status.code(), Some(0), "{}", words(&named));
    assert!(refusal(&scene, &["s1", "s2"], 2).starts_with("error: there are shards of 2 runs: ID, ID\n"));
    let listed = printed(&scene.run(&["runs", "list", "--json", "--store", "s1"]));
    let run = listed["shard_of"].as_str().unwrap();
    let sources = ["s1".to_owned(), "s2".to_owned()];
    assert_eq!(printed(&merge(&scene, &sources, &["--run", &run[..8], "--json"]))["run"], run);
    let output = merge(&scene, &["s1".to_owned(), "foreign".to_owned()], &["--run", run]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(without_names(&scene, &words(&output)), "error: HERE/foreign/rolecall.sqlite has no shard of run ID\n");
}

#[test]
fn what_holds_no_shard_is_no_source() {
    let scene = scene();
    assert_eq!(scene.run(FOUR).status.code(), Some(0));
    shards(&scene, FOUR, 1);
    assert_eq!(refusal(&scene, &["store"], 2), "error: HERE/store/rolecall.sqlite has no shard of a run\n");
    assert_eq!(refusal(&scene, &["s1", "store"], 2), "error: HERE/store/rolecall.sqlite has no shard of run ID\n");
    let nowhere =
        "error: there is no store of rolecall to be read in nowhere: No such file or directory (os error 2)\n";
    assert_eq!(refusal(&scene, &["s1", "nowhere"], 2), nowhere);
    let foreign = refusal(&scene, &["s1", "m.toml"], 74);
    assert!(foreign.starts_with("error: HERE/m.toml is no store of rolecall"), "{foreign}");
}

#[test]
fn the_shards_own_store_is_not_merged_into_and_a_merged_run_is_not_divided() {
    let scene = scene();
    let sources = shards(&scene, FOUR, 2);
    let untouched = bytes(&scene, &sources);
    for target in ["s1", "./s2"] {
        let output = scene.run(&["merge", "s1", "s2", "--store", target]);
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(
            without_names(&scene, &words(&output)),
            format!(
                "error: the store {target} has shards of run ID, and stays as it is\n  hint: merge into another store with --store DIR\n"
            )
        );
    }
    printed(&merge(&scene, &sources, &["--json"]));
    let output = scene.run(&[FOUR, &["--shard", "2/2", "--store", "merged"]].concat());
    assert_eq!(output.status.code(), Some(2));
    let said = without_names(&scene, &words(&output));
    assert!(said.starts_with("error: shards of run ID have been merged in the store merged\n  hint: "), "{said}");
    for (name, content) in bytes(&scene, &sources) {
        assert!(untouched.get(&name).is_none_or(|before| *before == content), "{name}");
    }
}

#[test]
fn shards_of_other_code_or_other_models_do_not_fit() {
    let server = ModelServer::start(Duration::ZERO);
    let scene = Scene::new(&server);
    let run = [FOUR, &["--model", "m.toml"]].concat();
    shards(&scene, &run, 2);
    let file = scene.folder.path().join("s2/rolecall.sqlite");
    let edit = |from: &str, to: &str| {
        let store = Connection::open(&file).unwrap();
        let facts: Vec<u8> = store.query_row("SELECT facts FROM runs", [], |row| row.get(0)).unwrap();
        let facts = String::from_utf8(facts).unwrap();
        assert!(facts.contains(from), "{facts}");
        store.execute("UPDATE runs SET facts = ?1", [facts.replace(from, to).into_bytes()]).unwrap();
    };
    let version = env!("CARGO_PKG_VERSION");
    edit(&format!("\"code_version\":\"{version}\""), "\"code_version\":\"0.0.9\"");
    assert_eq!(
        refusal(&scene, &["s1", "s2"], 2),
        format!("error: shards 1/2 and 2/2 do not fit: rolecall {version} held the one and 0.0.9 the other\n")
    );
    edit("\"code_version\":\"0.0.9\"", &format!("\"code_version\":\"{version}\""));
    edit("\"model\":\"m\"", "\"model\":\"n\"");
    let said = refusal(&scene, &["s1", "s2"], 2);
    assert!(said.starts_with("error: shards 1/2 and 2/2 do not fit: the model of "), "{said}");
    assert!(said.ends_with(" is configured otherwise\n"), "{said}");

    // A store of a newer program is left alone.
    Connection::open(&file).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let newer = refusal(&scene, &["s1", "s2"], 74);
    assert!(newer.contains("has version 99, and this program knows versions up to "), "{newer}");
}

#[test]
fn a_damaged_row_is_found_before_anything_is_merged() {
    let scene = scene();
    let sources = shards(&scene, FOUR, 2);
    let damage = "UPDATE turns SET content = x'0709' WHERE id = (SELECT max(id) FROM turns)";
    Connection::open(scene.folder.path().join("s2/rolecall.sqlite")).unwrap().execute(damage, []).unwrap();
    let output = merge(&scene, &sources, &[]);
    assert_eq!(output.status.code(), Some(74), "{}", words(&output));
    assert!(rows(&scene.folder.path().join("merged")).is_empty());
}
