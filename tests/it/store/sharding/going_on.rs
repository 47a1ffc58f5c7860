//! Shards that were killed or parked, merged before and after they went on.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use serde_json::json;

use super::{merge, printed, rows, shard};
use crate::store::{
    model_server::{ModelServer, choice, reply},
    resuming::wait_until,
    scene::{Scene, results, words},
};

/// Six conversations of one draft each, one after the other.
const SIX: &[&str] = &[
    "run",
    "--topology",
    "best_of_n",
    "--model",
    "m.toml",
    "--task",
    "tasks/robot-walk.toml",
    "--samples",
    "6",
    "--seed",
    "5",
    "--budget",
    "programs=1",
    "--concurrency",
    "1",
    "--json",
];

/// A server that leaves the fifth call without an answer until `go_on` is set: the shard that makes it cannot end before.
fn server() -> (ModelServer, Arc<AtomicBool>) {
    let (calls, go_on) = (AtomicUsize::new(0), Arc::new(AtomicBool::new(false)));
    let may_answer = go_on.clone();
    let server = ModelServer::saying(Duration::ZERO, move |body| {
        if calls.fetch_add(1, SeqCst) >= 4 {
            wait_until(|| may_answer.load(SeqCst));
        }
        let seed = body["seed"].as_u64().unwrap();
        reply(vec![choice(0, &format!("```python\nprint({})\n```\n", seed % 9973), "stop")])
    });
    (server, go_on)
}

/// Holds shard 1 of 2 as a whole, and shard 2 until `kind` after its first conversation.
fn cut_off(scene: &Scene, go_on: &AtomicBool, kind: &str) -> Vec<String> {
    assert_eq!(shard(scene, SIX, "1/2").status.code(), Some(0));
    let mut process = scene.start(&[SIX, &["--shard", "2/2", "--store", "s2"]].concat());
    wait_until(|| {
        let output = scene.run(&["runs", "list", "--json", "--store", "s2"]);
        let run = serde_json::from_slice::<serde_json::Value>(&output.stdout);
        run.is_ok_and(|run| run["ended"] == 1 && run["begun"] == 2)
    });
    let running = merge(scene, &["s1".to_owned(), "s2".to_owned()], &["--partial"]);
    assert_eq!(running.status.code(), Some(75), "{}", words(&running));
    let said = "error: shard 2/2 goes on in another process, and nothing was merged: ";
    assert!(words(&running).starts_with(said), "{}", words(&running));
    let id = process.id().to_string();
    assert!(std::process::Command::new("kill").args([kind, &id]).status().unwrap().success());
    process.wait().unwrap();
    go_on.store(true, SeqCst);
    vec!["s1".to_owned(), "s2".to_owned()]
}

#[test]
fn a_shard_that_was_cut_off_goes_on_and_is_merged() {
    for kind in ["-KILL", "-USR1"] {
        let (server, go_on) = server();
        let scene = Scene::new(&server);
        let sources = cut_off(&scene, &go_on, kind);
        let early = merge(&scene, &sources, &[]);
        assert_eq!(early.status.code(), Some(75), "{}", words(&early));
        let said = words(&early);
        assert!(said.contains("is not complete, and nothing was merged: shard 2/2 has ended "), "{said}");
        assert!(!scene.folder.path().join("merged").exists());

        // By the command, as a scheduler gives it again.
        let resumed = shard(&scene, SIX, "2/2");
        assert_eq!(resumed.status.code(), Some(0), "{}", words(&resumed));
        assert_eq!(printed(&merge(&scene, &sources, &["--json"]))["ended"], 6);
        let merged = scene.run(&["resume", "--last", "--json", "--store", "merged"]);
        assert_eq!(merged.status.code(), Some(0), "{}", words(&merged));
        // Only the call that was under way when the shard was cut off may have been answered to nobody.
        let answered: usize = server.answered().values().sum();
        assert!((6..=7).contains(&answered), "{:?}", server.answered());
        let one_piece = scene.run(SIX);
        assert_eq!(results(&merged), results(&one_piece));
    }
}

#[test]
fn what_there_is_can_be_taken_and_taken_again_when_it_is_more() {
    let (server, go_on) = server();
    let scene = Scene::new(&server);
    let sources = cut_off(&scene, &go_on, "-KILL");
    let part = printed(&merge(&scene, &sources, &["--partial", "--json"]));
    let (ended, added) = (part["ended"].as_u64().unwrap(), part["added"].as_u64().unwrap());
    assert_eq!((ended, added), (4, 5), "the second conversation of the shard was under way: {part}");
    assert!(part["missing"][0].as_str().unwrap().starts_with("shard 2/2 has ended "), "{part}");
    let listed = printed(&scene.run(&["runs", "list", "--json", "--store", "merged"]));
    assert_eq!((&listed["state"], &listed["planned"]), (&json!("parked"), &json!(6)), "{listed}");

    let at = |name: &str| scene.folder.path().join(name);
    fs::create_dir(at("old")).unwrap();
    for name in ["rolecall.sqlite", "rolecall.sqlite-wal"] {
        fs::copy(at("s2").join(name), at("old").join(name)).unwrap();
    }
    assert_eq!(scene.run(&["resume", "--last", "--store", "s2"]).status.code(), Some(0));
    let all = printed(&merge(&scene, &sources, &["--json"]));
    assert_eq!((&all["ended"], &all["missing"]), (&json!(6), &json!([])), "{all}");
    assert_eq!(all["added"].as_u64().unwrap(), 6 - added, "{all}");
    assert_eq!(all["advanced"].as_u64().unwrap(), added - ended, "{all}");
    let listed = printed(&scene.run(&["runs", "list", "--json", "--store", "merged"]));
    assert_eq!(listed["state"], "ended", "{listed}");

    // An old copy of a shard takes nothing back.
    let before = rows(&at("merged"));
    let old = printed(&merge(&scene, &["s1".to_owned(), "old".to_owned()], &["--partial", "--json"]));
    assert_eq!((&old["known"], &old["advanced"], &old["ended"]), (&json!(5), &json!(0), &json!(6)), "{old}");
    assert_eq!(rows(&at("merged")), before);
    let merged = scene.run(&["resume", "--last", "--json", "--store", "merged"]);
    assert_eq!(results(&merged), results(&scene.run(SIX)), "{}", words(&merged));
}

#[test]
fn what_is_missing_of_a_merged_run_can_be_held_there_and_is_not_held_twice() {
    let (server, go_on) = server();
    let scene = Scene::new(&server);
    let sources = cut_off(&scene, &go_on, "-USR1");
    printed(&merge(&scene, &sources, &["--partial", "--json"]));
    let resumed = scene.run(&["resume", "--last", "--json", "--store", "merged"]);
    assert_eq!(resumed.status.code(), Some(0), "{}", words(&resumed));
    assert_eq!(results(&resumed), results(&scene.run(SIX)));

    // The shard goes on as well: now two stores have held the same conversation.
    assert_eq!(shard(&scene, SIX, "2/2").status.code(), Some(0));
    let before = rows(&scene.folder.path().join("merged"));
    let refused = merge(&scene, &sources, &[]);
    assert_eq!(refused.status.code(), Some(2), "{}", words(&refused));
    assert!(words(&refused).contains("was held twice, and nothing tells which counts"), "{}", words(&refused));
    assert_eq!(rows(&scene.folder.path().join("merged")), before, "nothing of it is merged");
}
