//! `kill -9` at random moments: no finished conversation is lost, no answered call is paid for twice, and the results are those
//! of a run that nobody disturbed.

use std::{thread, time::Duration};

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};

use super::{
    model_server::ModelServer,
    scene::{Scene, conversations, results, words},
};

const DELAY: Duration = Duration::from_millis(25);
const RUN: &[&str] = &[
    "run",
    "--topology",
    "seidr",
    "--model",
    "m.toml",
    "--tasks",
    "tasks",
    "--samples",
    "2",
    "--seed",
    "5",
    "--budget",
    "programs=12",
    "--json",
];

/// Kills runs at moments drawn from `seed` until `kills` have been killed.
fn kill_runs(kills: usize, seed: u64) {
    let mut chance = ChaCha8Rng::seed_from_u64(seed);
    let calm = Scene::new(&ModelServer::start(DELAY));
    let output = calm.run(RUN);
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    let expected = results(&output);
    assert_eq!(expected.len(), 4);
    let spans = calm.spans(&output);
    let mut killed = 0;
    while killed < kills {
        let server = ModelServer::start(DELAY);
        let scene = Scene::new(&server);
        // The first command begins a run, and those that follow go on with it by themselves.
        let mut finished = 0;
        for _ in 0..1 + chance.next_u32() % 4 {
            let mut process = scene.start(RUN);
            thread::sleep(Duration::from_millis(u64::from(chance.next_u32() % 800)));
            process.kill().unwrap();
            killed += usize::from(process.wait().unwrap().code().is_none());
            if let Some(run) = scene.runs().first() {
                let ended = run["ended"].as_u64().unwrap();
                assert!(ended >= finished, "a finished conversation was lost: {run}");
                finished = ended;
            }
            check(&scene);
            if scene.runs().first().is_some_and(|run| run["state"] == "ended") {
                break;
            }
        }
        // One that has ended is told again.
        let output = if scene.runs().is_empty() { scene.run(RUN) } else { scene.run(&["resume", "--last", "--json"]) };
        assert_eq!(output.status.code(), Some(0), "seed {seed}, {killed} kills: {}", words(&output));
        assert_eq!(results(&output), expected, "seed {seed}, {killed} kills");
        assert_eq!(scene.spans(&output), spans, "seed {seed}, {killed} kills");
        let doubts: usize =
            conversations(&output).values().map(|event| event["calls_in_doubt"].as_array().unwrap().len()).sum();
        let twice: usize = server.answered().values().map(|times| times - 1).sum();
        assert!(twice <= doubts, "seed {seed}, {killed} kills: {twice} calls answered twice, {doubts} in doubt");
    }
}

/// The store is whole.
fn check(scene: &Scene) {
    let file = scene.folder.path().join("store/rolecall.sqlite");
    if file.exists() {
        let connection = rusqlite::Connection::open(file).unwrap();
        let verdict: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(verdict, "ok");
    }
}

#[test]
fn a_run_killed_a_few_times_ends_as_if_it_had_not_been() {
    kill_runs(3, 1);
}

/// `ROLECALL_KILLS` says how many, `ROLECALL_KILL_SEED` when.
#[test]
#[ignore = "takes minutes: scripts/kill_test"]
fn kills_at_random_moments() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let seed = number("ROLECALL_KILL_SEED").unwrap_or(2026);
    kill_runs(number("ROLECALL_KILLS").unwrap_or(60) as usize, seed);
}
