//! The shards of a run, merged, are the run in one piece.

use serde_json::json;

use super::{FOUR, bytes, merge, printed, rows, shards};
use crate::store::{
    model_server::ModelServer,
    scene::{Scene, conversations, results, words},
};

fn of(events: &std::collections::BTreeMap<(String, u64), serde_json::Value>, key: &str) -> Vec<String> {
    events.values().map(|event| event[key].as_str().unwrap().to_owned()).collect()
}

#[test]
fn three_shards_of_the_example_tasks_are_the_run_in_one_piece() {
    let scene = Scene::new(&ModelServer::start(std::time::Duration::ZERO));
    let tasks = format!("{}/examples/tasks", env!("CARGO_MANIFEST_DIR"));
    let run = ["run", "--topology", "seidr", "--tasks", &tasks, "--seed", "5", "--budget", "programs=8", "--json"];
    let sources = shards(&scene, &run, 3);
    let before = bytes(&scene, &sources);
    let merged = printed(&merge(&scene, &sources, &["--json"]));
    let expected =
        json!({ "shards": 3, "missing": [], "planned": 32, "ended": 32, "added": 32, "advanced": 0, "known": 0 });
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(&merged[key], value, "{merged}");
    }
    assert_eq!(bytes(&scene, &sources), before, "merging only reads");

    let one_piece = scene.run(&run);
    let resumed = scene.run(&["resume", "--last", "--json", "--store", "merged"]);
    assert_eq!(resumed.status.code(), Some(0), "{}", words(&resumed));
    assert_eq!(results(&resumed).len(), 32);
    let text = |output| serde_json::to_string(&results(output).into_iter().collect::<Vec<_>>()).unwrap();
    assert_eq!(text(&resumed), text(&one_piece));

    // However many parts there are, conversations and traces have the same names.
    let alone = scene.run(&[&run[..], &["--shard", "1/1", "--store", "alone"]].concat());
    let (merged_ones, alone) = (conversations(&resumed), conversations(&alone));
    assert_eq!(of(&merged_ones, "conversation"), of(&alone, "conversation"));
    assert_eq!(of(&merged_ones, "trace"), of(&alone, "trace"));

    // Merged again, nothing changes.
    let before = rows(&scene.folder.path().join("merged"));
    let again = printed(&merge(&scene, &sources, &["--json"]));
    assert_eq!((&again["added"], &again["advanced"], &again["known"]), (&json!(0), &json!(0), &json!(32)));
    assert_eq!(rows(&scene.folder.path().join("merged")), before);
}

#[test]
fn a_merged_run_is_listed_exported_and_asked_again_like_any_other() {
    let server = ModelServer::start(std::time::Duration::ZERO);
    let scene = Scene::new(&server);
    let run = [FOUR, &["--model", "m.toml"]].concat();
    // More parts than conversations: some are empty.
    let sources = shards(&scene, &run, 6);
    let merged = printed(&merge(&scene, &sources, &["--json"]));
    let name = merged["run"].as_str().unwrap();
    let asked = server.answered().len();

    let listed = printed(&scene.run(&["runs", "list", "--json", "--store", "merged"]));
    for (key, value) in [("run", json!(name)), ("state", json!("ended")), ("ended", json!(4)), ("shard", json!(null))] {
        assert_eq!(listed[key], value, "{listed}");
    }
    assert!(!listed["arguments"].to_string().contains("--shard"), "{listed}");
    let listed = printed(&scene.run(&["runs", "list", "--json", "--store", "s2"]));
    assert_eq!((&listed["shard"], &listed["shard_of"]), (&json!("2/6"), &json!(name)), "{listed}");

    let one_piece = scene.run(&run);
    assert_eq!(server.answered().len(), 2 * asked, "the run in one piece is another, in another store");
    let export = |store: &str, run: &str| {
        let output = scene.run(&["export", run, "--format", "evalplus", "--store", store]);
        assert_eq!(output.status.code(), Some(0), "{}", words(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    let whole = scene.runs()[0]["run"].as_str().unwrap().to_owned();
    assert_eq!(export("merged", name), export("store", &whole));
    assert_eq!(export("merged", name).lines().count(), 4);

    let asked = server.answered().len();
    let model = format!("replay:{name}");
    let replayed = scene.run(&[FOUR, &["--model", &model, "--store", "merged"]].concat());
    assert_eq!(replayed.status.code(), Some(0), "{}", words(&replayed));
    assert_eq!(results(&replayed), results(&one_piece));
    assert_eq!(server.answered().len(), asked);
}

#[test]
fn shards_that_are_held_at_once_in_one_store_do_not_meet() {
    let server = ModelServer::start(std::time::Duration::from_millis(5));
    let scene = Scene::new(&server);
    let run = [FOUR, &["--model", "m.toml"]].concat();
    let processes = ["1/3", "2/3", "3/3"].map(|shard| scene.start(&[&run, &["--shard", shard][..]].concat()));
    for mut process in processes {
        assert_eq!(process.wait().unwrap().code(), Some(0));
    }
    assert_eq!(scene.runs().len(), 3);
    assert!(server.answered().values().all(|times| *times == 1), "{:?}", server.answered());
    let asked = server.answered().len();

    // A shard that has ended is told again and not held again.
    let again = scene.run(&[&run, &["--shard", "2/3"][..]].concat());
    assert_eq!((again.status.code(), conversations(&again).len()), (Some(0), 1), "{}", words(&again));
    assert_eq!((scene.runs().len(), server.answered().len()), (3, asked));

    // The command without a part is another run, and knows nothing of them but their answers.
    let one_piece = scene.run(&run);
    assert_eq!(one_piece.status.code(), Some(0), "{}", words(&one_piece));
    assert_eq!(scene.runs().len(), 4);
    // The folder, or the file in it, and twice the same is once.
    let sources = ["store".to_owned(), "store/rolecall.sqlite".to_owned()];
    assert_eq!(printed(&merge(&scene, &sources, &["--json"]))["added"], 4);
    let resumed = scene.run(&["resume", "--last", "--json", "--store", "merged"]);
    assert_eq!(results(&resumed), results(&one_piece), "{}", words(&resumed));
}
