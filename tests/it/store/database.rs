//! The store itself: several processes, full and read-only disks, files of others, damage.

use std::{
    fs,
    process::{Command, Output},
    time::Duration,
};

use rolecall::ids::ConversationId;
use rolecall::store::{Packed, RunRow, RunState, Store, StoreError};
use serde_json::json;

use super::{
    model_server::ModelServer,
    scene::{Scene, words},
};

const RUN: &[&str] =
    &["run", "--topology", "seidr", "--model", "m.toml", "--tasks", "tasks", "--samples", "4", "--seed", "5", "--json"];

fn id(number: u8) -> ConversationId {
    ConversationId(uuid::Uuid::from_bytes([number; 16]))
}

fn row(run: &str) -> RunRow {
    let run = run.to_owned();
    RunRow { run, plan: "p".to_owned(), begun_ns: 7, state: RunState::Begun, facts: json!({ "x": 1.5 }) }
}

fn refused(folder: &std::path::Path) -> StoreError {
    match Store::open(folder) {
        Err(error) => error,
        Ok(_) => panic!("it opens"),
    }
}

#[test]
fn a44_two_processes_begin_one_store_at_once() {
    let server = ModelServer::start(Duration::ZERO);
    for _ in 0..20 {
        let scene = Scene::new(&server);
        let processes: Vec<_> = (0..4).map(|_| scene.start(&["runs", "list"])).collect();
        for mut process in processes {
            assert_eq!(process.wait().unwrap().code(), Some(0));
        }
    }
}

#[test]
fn a44_two_runs_on_one_store_keep_all_their_rows() {
    let server = ModelServer::start(Duration::from_millis(5));
    let scene = Scene::new(&server);
    let run = |seed| {
        [
            "run",
            "--topology",
            "seidr",
            "--model",
            "m.toml",
            "--tasks",
            "tasks",
            "--budget",
            "programs=6",
            "--seed",
            seed,
        ]
    };
    let processes = [scene.start(&run("1")), scene.start(&run("2"))];
    for mut process in processes {
        assert_eq!(process.wait().unwrap().code(), Some(0));
    }
    let runs = scene.runs();
    assert_eq!(runs.len(), 2);
    for run in runs {
        assert_eq!((&run["state"], &run["ended"]), (&json!("ended"), &json!(2)), "{run}");
        let output = scene.run(&["resume", run["run"].as_str().unwrap(), "--json"]);
        assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    }
}

/// Runs a shell script in a mount name space of its own.
pub fn with_mounts(scene: &Scene, script: &str) -> Output {
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-c", script]).current_dir(scene.folder.path());
    command.env("ROLECALL", env!("CARGO_BIN_EXE_rolecall")).env("ROLECALL_STORE", scene.folder.path().join("store"));
    command.output().unwrap()
}

#[test]
fn a44_a_full_disk_stops_the_buying_and_what_was_stored_stays() {
    // Replies that do not compress fill the disk within a few turns.
    let server = ModelServer::saying(Duration::from_millis(2), |body| {
        let noise: String =
            (0..6_000).map(|n| blake3::hash(format!("{} {n}", body["seed"]).as_bytes()).to_hex().to_string()).collect();
        super::model_server::reply(vec![super::model_server::choice(
            0,
            &format!("```python\n# {noise}\n```\n"),
            "stop",
        )])
    });
    let scene = Scene::new(&server);
    let output = with_mounts(
        &scene,
        &format!(
            "mkdir store && mount -t tmpfs -o size=2m none store && \"$ROLECALL\" {} ; code=$?; \
             \"$ROLECALL\" runs list --json > listed || exit 99; cat store/rolecall.sqlite > kept; exit $code",
            RUN.join(" ")
        ),
    );
    assert_eq!(output.status.code(), Some(74), "{}", words(&output));
    assert!(words(&output).contains("the disk of the store"), "{}", words(&output));
    let answered = server.answered().values().sum::<usize>();
    assert!((2..60).contains(&answered), "{answered}");
    let listed = fs::read_to_string(scene.folder.path().join("listed")).unwrap();
    assert!(listed.contains(r#""planned":8"#), "{listed}");
}

#[test]
fn a_store_that_cannot_be_written_is_told_before_anything_is_bought() {
    let server = ModelServer::start(Duration::ZERO);
    let scene = Scene::new(&server);
    let output = with_mounts(
        &scene,
        &format!("mkdir store && mount -t tmpfs -o ro none store && \"$ROLECALL\" {}", RUN.join(" ")),
    );
    assert_eq!(output.status.code(), Some(74), "{}", words(&output));
    assert!(words(&output).contains("read-only"), "{}", words(&output));
    fs::write(scene.folder.path().join("a-file"), "x").unwrap();
    let output = scene.run(&[RUN, &["--store", "a-file"]].concat());
    assert_eq!(output.status.code(), Some(74), "{}", words(&output));
    assert_eq!(server.answered().len(), 0);
}

#[test]
fn a_file_of_another_program_a_newer_or_a_damaged_one_is_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rolecall.sqlite");
    let check = |bytes: &[u8], is_right: fn(&StoreError) -> bool| {
        fs::write(&file, bytes).unwrap();
        let error = refused(folder.path());
        assert!(is_right(&error), "{error}");
        assert!(fs::read(&file).unwrap() == bytes, "the file was changed: {error}");
    };
    check(&b"no database at all, but long enough to have a header ".repeat(40), |it| {
        matches!(it, StoreError::Foreign(_))
    });
    fs::remove_file(&file).unwrap();

    let made = |change: &dyn Fn(&rusqlite::Connection)| {
        let other = tempfile::tempdir().unwrap();
        let path = other.path().join("x");
        let connection = rusqlite::Connection::open(&path).unwrap();
        change(&connection);
        drop(connection);
        fs::read(path).unwrap()
    };
    let foreign = made(&|connection| connection.execute_batch("CREATE TABLE t (x)").unwrap());
    check(&foreign, |it| matches!(it, StoreError::Foreign(_)));
    let newer = made(&|connection| {
        connection
            .execute_batch("PRAGMA application_id = 0x526f6c65; PRAGMA user_version = 99; CREATE TABLE t (x)")
            .unwrap();
    });
    check(&newer, |it| matches!(it, StoreError::Newer { found: 99, .. }));
}

#[tokio::test]
async fn damage_in_the_middle_is_told_with_what_may_help() {
    let folder = tempfile::tempdir().unwrap();
    {
        let store = Store::open(folder.path()).unwrap();
        for number in 0..300 {
            store.put_run(&row(&format!("{number:040}"))).await.unwrap();
        }
    }
    let file = folder.path().join("rolecall.sqlite");
    let mut bytes = fs::read(&file).unwrap();
    assert!(bytes.len() > 5 * 4096);
    bytes[4096..].fill(0xa5);
    fs::write(&file, &bytes).unwrap();
    let error = Store::open(folder.path()).map_or_else(|error| error, |store| store.runs().unwrap_err());
    assert!(matches!(error, StoreError::Damaged(..)), "{error}");
    assert!(error.to_string().contains(".recover"), "{error}");
}

#[tokio::test]
async fn what_is_written_together_fails_alone() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    store.put_run(&row("1")).await.unwrap();
    // A conversation of a run that is not there cannot be begun; the writes beside it can be.
    let good = |n: u8| store.begin_conversation("1".to_owned(), id(n), Packed::of(&n).unwrap());
    let bad = store.begin_conversation("none".to_owned(), id(9), Packed::of(&0).unwrap());
    let (one, none, two) = tokio::join!(good(1), bad, good(2));
    assert!(one.is_ok() && two.is_ok() && none.is_err(), "{one:?} {none:?} {two:?}");
    assert_eq!(store.conversations("1").unwrap(), vec![(id(1), false), (id(2), false)]);
    assert!(store.failure().is_some());
    store.remove_run("1").await.unwrap();
    assert_eq!((store.runs().unwrap(), store.conversation(id(1)).unwrap()), (vec![], None));
}

#[test]
fn a_run_is_alive_as_long_as_its_process() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let lock = store.hold_run("r").unwrap().unwrap();
    assert!(store.is_running("r") && store.hold_run("r").unwrap().is_none());
    drop(lock);
    assert!(!store.is_running("r") && store.hold_run("r").unwrap().is_some());
}
