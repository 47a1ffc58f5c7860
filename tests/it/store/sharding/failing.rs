//! Disks that are full or read-only: the store that is merged into stays as it was.

use std::{fs, time::Duration};

use super::{FOUR, bytes, rows, shards};
use crate::store::{
    database::with_mounts,
    model_server::{ModelServer, choice, reply},
    scene::{Scene, words},
};

#[test]
fn a_merge_that_fails_leaves_both_sides_as_they_were() {
    // Replies that do not compress are more than the disk holds.
    let server = ModelServer::saying(Duration::ZERO, |body| {
        let line = |n| blake3::hash(format!("{} {n}", body["seed"]).as_bytes()).to_hex().to_string();
        let noise: String = (0..300).map(line).collect();
        reply(vec![choice(0, &format!("```python\n# {noise}\n```\n"), "stop")])
    });
    let scene = Scene::new(&server);
    let sources = shards(&scene, &[FOUR, &["--model", "m.toml"]].concat(), 2);
    let untouched = bytes(&scene, &sources);
    let small = "run --topology best_of_n --task tasks/robot-walk.toml --seed 1 --budget programs=2";
    for (mount, merging, code, said) in [
        ("size=2m", "", 74, "the disk of the store"),
        ("size=64m", "mount -o remount,ro merged && ", 74, "cannot be written"),
        ("size=64m", "", 0, ""),
    ] {
        let output = with_mounts(
            &scene,
            &format!(
                "rm -rf before after; mkdir -p merged && mount -t tmpfs -o {mount} none merged && \
                 \"$ROLECALL\" {small} --store merged 2> log || exit 98; cp merged/rolecall.sqlite before && \
                 {merging} \"$ROLECALL\" merge s1 s2 --store merged; code=$?; \
                 \"$ROLECALL\" runs list --store merged > listed 2>&1; cp -r merged after; exit $code"
            ),
        );
        assert_eq!(output.status.code(), Some(code), "{}", words(&output));
        assert!(words(&output).contains(said), "{}", words(&output));
        let at = |name: &str| rows(&scene.folder.path().join(name));
        assert_eq!(at("before") == at("after"), code != 0, "{said}");
        assert!(!at("before").is_empty());
        assert_eq!(bytes(&scene, &sources), untouched);
    }
}

#[test]
fn shards_on_a_disk_that_nobody_may_write_to_are_read() {
    let scene = Scene::new(&ModelServer::start(Duration::ZERO));
    shards(&scene, FOUR, 2);
    let output = with_mounts(
        &scene,
        "mount --bind s1 s1 && mount -o remount,bind,ro s1 && ! touch s1/x && \"$ROLECALL\" merge s1 s2 --store merged",
    );
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    assert_eq!(scene.run(&["resume", "--last", "--store", "merged"]).status.code(), Some(0));
}

#[test]
fn what_was_cut_off_on_such_a_disk_is_told_and_not_taken_for_whole() {
    let scene = Scene::new(&ModelServer::start(Duration::ZERO));
    shards(&scene, FOUR, 1);
    let at = |name: &str| scene.folder.path().join(name);
    let open = rusqlite::Connection::open(at("s1/rolecall.sqlite")).unwrap();
    open.execute("UPDATE runs SET state = 'parked'", []).unwrap();
    fs::create_dir(at("cut")).unwrap();
    for name in ["rolecall.sqlite", "rolecall.sqlite-wal"] {
        fs::copy(at("s1").join(name), at("cut").join(name)).unwrap();
    }
    let merging = "\"$ROLECALL\" merge cut --store merged";
    let output = with_mounts(&scene, &format!("mount --bind cut cut && mount -o remount,bind,ro cut && {merging}"));
    assert_eq!(output.status.code(), Some(2), "{}", words(&output));
    assert!(words(&output).contains("its process was killed"), "{}", words(&output));
    // Where it can be read, what stands beside the file counts.
    let output = with_mounts(&scene, merging);
    assert_eq!(output.status.code(), Some(75), "{}", words(&output));
    assert!(words(&output).contains("shard 1/1 has ended 4 of 4 conversations"), "{}", words(&output));
}
