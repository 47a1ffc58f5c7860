//! Runs that are interrupted, killed and go on; answers that are taken over and answers that are not.

use std::{
    process::Child,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{
    model_server::{ModelServer, choice, reply},
    scene::{Scene, conversations, results, words},
};

/// Ten conversations of one draft each, one after the other.
const TEN: &[&str] = &[
    "run",
    "--topology",
    "best_of_n",
    "--model",
    "m.toml",
    "--task",
    "tasks/robot-walk.toml",
    "--samples",
    "10",
    "--seed",
    "5",
    "--budget",
    "programs=1",
    "--concurrency",
    "1",
    "--json",
];

fn signal(process: &Child, kind: &str) {
    let id = process.id().to_string();
    assert!(std::process::Command::new("kill").args([kind, &id]).status().unwrap().success());
}

pub fn wait_until(what: impl Fn() -> bool) {
    let begun = Instant::now();
    while !what() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it never happens");
        thread::sleep(Duration::from_millis(5));
    }
}

fn ended(scene: &Scene) -> u64 {
    scene.runs().first().map_or(0, |run| run["ended"].as_u64().unwrap())
}

fn number(output: &std::process::Output, key: &str) -> u64 {
    conversations(output).values().map(|event| event[key].as_u64().unwrap()).sum()
}

#[test]
fn a27_what_ended_before_a_signal_is_kept_and_the_rest_goes_on() {
    for (kind, code) in [("-INT", 130), ("-TERM", 143), ("-USR1", 75)] {
        let server = ModelServer::start(Duration::from_millis(150));
        let scene = Scene::new(&server);
        let process = scene
            .command(TEN)
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        wait_until(|| ended(&scene) >= 3);
        assert_eq!(scene.runs()[0]["state"], "running");
        let refused = scene.run(&["resume", "--last"]);
        assert_eq!(refused.status.code(), Some(2), "{}", words(&refused));
        assert!(words(&refused).contains("goes on in another process"), "{}", words(&refused));
        signal(&process, kind);
        let output = process.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", words(&output));
        let kept = ended(&scene);
        assert!((3..10).contains(&kept) && words(&output).contains(&format!("{kept} of 10 conversations have ended")));
        assert!(words(&output).contains("go on with: rolecall resume"), "{}", words(&output));
        assert_eq!(scene.runs()[0]["state"], "parked");
        let output = scene.run(&["resume", "--last", "--json"]);
        assert_eq!(output.status.code(), Some(0), "{}", words(&output));
        assert_eq!(conversations(&output).len(), 10);
        assert_eq!(scene.runs()[0]["state"], "ended");
        assert_eq!(number(&output, "model_calls"), 10);
    }
}

#[test]
fn a27_the_second_signal_leaves_at_once_and_the_store_still_opens() {
    let server = ModelServer::start(Duration::from_secs(20));
    let scene = Scene::new(&server);
    let mut process = scene.start(TEN);
    wait_until(|| scene.runs().first().is_some_and(|run| run["begun"] == 1));
    thread::sleep(Duration::from_millis(300));
    signal(&process, "-INT");
    thread::sleep(Duration::from_millis(100));
    signal(&process, "-INT");
    assert_eq!(process.wait().unwrap().code(), Some(130));
    assert_eq!(scene.runs()[0]["ended"], 0);
}

#[test]
fn a25_a_killed_run_is_interrupted_and_not_alive_and_its_open_call_is_in_doubt() {
    let calls = Arc::new(AtomicUsize::new(0));
    let server = {
        let calls = calls.clone();
        ModelServer::saying(Duration::ZERO, move |_| {
            // Call 4 is never answered to the first process.
            if calls.fetch_add(1, SeqCst) == 3 {
                thread::sleep(Duration::from_secs(3));
            }
            reply(vec![choice(0, "```python\ndef main():\n    print(1)\nmain()\n```\n", "stop")])
        })
    };
    let scene = Scene::new(&server);
    scene.model_file("m.toml", &server.base_url, "[parameters]\nmax_output_tokens = 20\n");
    // A24: 6 calls of 100 tokens each, of which one is in doubt and counts at its most.
    let six = [&TEN[..7], &["--seed", "5", "--budget", "programs=6", "--json", "--parallel-turns", "1"]].concat();
    let mut process = scene.start(&six);
    wait_until(|| calls.load(SeqCst) == 4);
    thread::sleep(Duration::from_millis(100));
    process.kill().unwrap();
    process.wait().unwrap();
    assert_eq!(scene.runs()[0]["state"], "interrupted");
    let output = scene.run(&["resume", "--last", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    assert_eq!((number(&output, "model_calls"), number(&output, "programs")), (6, 6));
    assert_eq!(number(&output, "input_tokens") + number(&output, "output_tokens"), 600);
    assert_eq!(calls.load(SeqCst), 7, "three before the kill, the open one, and that and two more afterwards");
    let all = conversations(&output);
    let doubts = all.values().next().unwrap()["calls_in_doubt"].as_array().unwrap().clone();
    assert_eq!(doubts.len(), 1, "{doubts:?}");
    assert!(doubts[0]["at_most_tokens"].as_u64().unwrap() > 100, "{doubts:?}");
}

#[test]
fn a24_a_budget_of_tokens_counts_what_was_spent_before_a_kill_and_what_is_in_doubt() {
    let tokens = |kill: bool| {
        let calls = Arc::new(AtomicUsize::new(0));
        let server = {
            let calls = calls.clone();
            ModelServer::saying(Duration::ZERO, move |_| {
                if calls.fetch_add(1, SeqCst) == 2 && kill {
                    thread::sleep(Duration::from_secs(3));
                }
                reply(vec![choice(0, "```python\ndef main():\n    print(1)\nmain()\n```\n", "stop")])
            })
        };
        let scene = Scene::new(&server);
        let arrangement = "extends = 'best_of_n'\nparameters = { max_output_tokens = 20 }\n\
                           actors.synthesizer.settings.drafts = 80\nbudget = { tokens = 9000, programs = 80 }\n";
        std::fs::write(scene.folder.path().join("a.toml"), arrangement).unwrap();
        // Each request that may be sent counts at its most.
        scene.model_file("m.toml", &server.base_url, "[limits]\nmax_retries = 0\n");
        let run = ["run", "--topology", "a.toml", "--model", "m.toml", "--task", "tasks/robot-walk.toml", "--json"];
        let output = if kill {
            let mut process = scene.start(&run);
            wait_until(|| calls.load(SeqCst) == 3);
            process.kill().unwrap();
            process.wait().unwrap();
            scene.run(&["resume", "--last", "--json"])
        } else {
            scene.run(&run)
        };
        assert_eq!(output.status.code(), Some(0), "{}", words(&output));
        let event = conversations(&output).into_values().next().unwrap();
        assert_eq!(event["outcome"], "budget_tokens", "{event}");
        (event["model_calls"].as_u64().unwrap(), event["calls_in_doubt"][0]["at_most_tokens"].as_u64().unwrap_or(0))
    };
    let (calm, none) = tokens(false);
    let (killed, doubt) = tokens(true);
    assert_eq!(none, 0);
    assert!(doubt > 0);
    // What is in doubt is missing at the end: a call takes 100 tokens, and the most of what follows shrinks by 20.
    assert!(
        killed < calm && killed >= calm - doubt.div_ceil(80) - 1,
        "{killed} of {calm} calls, {doubt} tokens in doubt"
    );
}

/// What two conversations spent counts before the one that was open, which is the first of the run, spends anything more.
#[test]
fn a24_a_budget_of_the_run_counts_what_was_spent_before_a_kill() {
    let calls = Arc::new(AtomicUsize::new(0));
    let server = {
        let calls = calls.clone();
        ModelServer::saying(Duration::ZERO, move |_| {
            // The first call is not answered in the first life.
            if calls.fetch_add(1, SeqCst) == 0 {
                thread::sleep(Duration::from_secs(3));
            }
            reply(vec![choice(0, "```python\nprint(1)\n```\n", "stop")])
        })
    };
    let scene = Scene::new(&server);
    // Three calls each: the server gives one choice a call.
    let three = ["--samples", "3", "--budget", "programs=3", "--run-budget", "model_calls=7", "--concurrency", "3"];
    let mut process = scene.start(&[&TEN[..7], &three].concat());
    wait_until(|| ended(&scene) == 2);
    process.kill().unwrap();
    process.wait().unwrap();
    let output = scene.run(&["resume", "--last", "--json", "--concurrency", "1"]);
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    assert_eq!((conversations(&output).len(), number(&output, "model_calls")), (3, 7), "{}", words(&output));
}

#[test]
fn the_same_command_again_goes_on_and_new_begins_another() {
    let server = ModelServer::start(Duration::from_millis(60));
    let scene = Scene::new(&server);
    let mut process = scene.start(TEN);
    wait_until(|| ended(&scene) >= 2);
    process.kill().unwrap();
    process.wait().unwrap();
    let other = scene.run(&[TEN, &["--new"]].concat());
    assert_eq!(other.status.code(), Some(0));
    assert_eq!(scene.runs().len(), 2);
    let first = scene.runs()[1]["run"].as_str().unwrap().to_owned();
    assert_eq!(scene.runs()[1]["state"], "interrupted");
    // The newest run of this command has ended: there is nothing to go on with, unless one names it.
    let output = scene.run(&["resume", &first[..18], "--json"]);
    assert_eq!((output.status.code(), conversations(&output).len()), (Some(0), 10), "{}", words(&output));
    let ids =
        |output| conversations(output).into_values().map(|event| event["conversation"].clone()).collect::<Vec<_>>();
    assert_ne!(ids(&output), ids(&other));
    assert_eq!(results(&output), results(&other));
}

#[test]
fn a_run_whose_files_changed_does_not_go_on() {
    let server = ModelServer::start(Duration::from_millis(60));
    let scene = Scene::new(&server);
    let mut process = scene.start(TEN);
    wait_until(|| ended(&scene) >= 1);
    process.kill().unwrap();
    process.wait().unwrap();
    let task = scene.folder.path().join("tasks/robot-walk.toml");
    let (text, model) =
        (std::fs::read_to_string(&task).unwrap(), std::fs::read_to_string(scene.folder.path().join("m.toml")).unwrap());
    let changed = |words: &str, what: &str| assert!(words.contains("cannot go on") && words.contains(what), "{words}");
    let changed_text = text.replace("statement = '''", "statement = '''Now. ");
    assert_ne!(changed_text, text);
    std::fs::write(&task, changed_text).unwrap();
    let output = scene.run(&["resume", "--last"]);
    assert_eq!(output.status.code(), Some(2));
    changed(&words(&output), "the tasks");
    std::fs::write(&task, text).unwrap();
    scene.model_file("m.toml", &server.base_url, "[extra]\nmode = 'other'\n");
    let output = scene.run(&["resume", "--last"]);
    assert_eq!(output.status.code(), Some(2));
    changed(&words(&output), "the model");
    std::fs::write(scene.folder.path().join("m.toml"), model).unwrap();
    assert_eq!(scene.run(&["resume", "--last"]).status.code(), Some(0));
}

#[test]
fn without_a_run_there_is_nothing_to_resume() {
    let scene = Scene::new(&ModelServer::start(Duration::ZERO));
    for arguments in
        [&["resume", "--last"][..], &["resume", "0123"], &["runs", "show", "0123"], &["runs", "remove", "01"]]
    {
        let output = scene.run(arguments);
        assert_eq!(output.status.code(), Some(2));
        assert!(words(&output).contains("no run"), "{}", words(&output));
    }
}

#[test]
fn a_run_parks_before_its_time_is_up() {
    let server = ModelServer::start(Duration::from_millis(400));
    let scene = Scene::new(&server);
    let output = scene.run(&[TEN, &["--stop-before", "3s"]].concat());
    assert_eq!(output.status.code(), Some(75), "{}", words(&output));
    let kept = ended(&scene);
    assert!((1..10).contains(&kept), "{kept}");
    // None of those that were begun was cut off: each could end.
    assert_eq!(conversations(&output).len() as u64, kept);
    let output = scene.run(&["resume", "--last", "--json"]);
    assert_eq!((output.status.code(), conversations(&output).len()), (Some(0), 10));
}

#[test]
fn a29_repeats_are_told_apart_and_a_second_run_pays_nothing() {
    let calls = Arc::new(AtomicUsize::new(0));
    let server = {
        let calls = calls.clone();
        ModelServer::saying(Duration::ZERO, move |_| {
            let number = calls.fetch_add(1, SeqCst);
            reply(vec![choice(0, &format!("```python\ndef main():\n    print({number})\nmain()\n```\n"), "stop")])
        })
    };
    let scene = Scene::new(&server);
    let first = scene.run(&[TEN, &["--new"]].concat());
    assert_eq!(calls.load(SeqCst), 10, "{}", words(&first));
    let second = scene.run(&[TEN, &["--new"]].concat());
    assert_eq!((calls.load(SeqCst), number(&second, "answers_from_cache")), (10, 10));
    assert_eq!(results(&first), results(&second));
    let off = scene.run(&[TEN, &["--new", "--cache", "off"]].concat());
    assert_eq!((calls.load(SeqCst), number(&off, "answers_from_cache")), (20, 0));
}

#[test]
fn a28_an_answer_is_for_one_model_one_server_and_one_way_of_sampling() {
    let calls = Arc::new(AtomicUsize::new(0));
    let server = |calls: &Arc<AtomicUsize>| {
        let calls = calls.clone();
        ModelServer::saying(Duration::ZERO, move |body| {
            calls.fetch_add(1, SeqCst);
            reply(vec![choice(0, &format!("```python\nprint({})\n```\n", body["model"]), "stop")])
        })
    };
    let (one, other) = (server(&calls), server(&calls));
    let scene = Scene::new(&one);
    let once = |expected: usize, why: &str| {
        let output = scene
            .run(&TEN.iter().map(|word| if *word == "10" { "1" } else { word }).chain(["--new"]).collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(0), "{}", words(&output));
        assert_eq!(calls.load(SeqCst), expected, "{why}");
    };
    once(1, "the first");
    once(1, "the same");
    let mut asked = 1;
    for change in
        ["[parameters]\ntemperature = 0.5\n", "[parameters]\nmax_output_tokens = 9\n", "[extra]\nmode = 'x'\n"]
    {
        scene.model_file("m.toml", &one.base_url, change);
        asked += 1;
        once(asked, change);
    }
    scene.model_file("m.toml", &other.base_url, "");
    once(asked + 1, "another server");
    let text = format!("kind = 'openai'\nbase_url = '{}'\nmodel = 'beta'\n", one.base_url);
    std::fs::write(scene.folder.path().join("m.toml"), text).unwrap();
    once(asked + 2, "another model");
}

#[test]
fn t20_an_answer_that_was_cut_short_is_asked_for_again_by_the_next_run() {
    let calls = Arc::new(AtomicUsize::new(0));
    let server = {
        let calls = calls.clone();
        ModelServer::saying(Duration::ZERO, move |_| {
            let finish = if calls.fetch_add(1, SeqCst) == 0 { "length" } else { "stop" };
            reply(vec![choice(0, "```python\ndef main():\n    print(1)\nmain()\n```\n", finish)])
        })
    };
    let scene = Scene::new(&server);
    let one: Vec<&str> = TEN.iter().map(|word| if *word == "10" { "1" } else { word }).chain(["--new"]).collect();
    for (expected, why) in [(1, "cut short"), (2, "asked again"), (2, "whole, from the cache")] {
        let output = scene.run(&one);
        assert_eq!(output.status.code(), Some(0), "{}", words(&output));
        assert_eq!(calls.load(SeqCst), expected, "{why}");
    }
}

#[test]
fn runs_are_listed_shown_and_removed() {
    let scene = Scene::new(&ModelServer::start(Duration::ZERO));
    assert_eq!(scene.run(TEN).status.code(), Some(0));
    let run = scene.runs()[0]["run"].as_str().unwrap().to_owned();
    let shown = scene.run(&["runs", "show", &run, "--json"]);
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!((&shown["planned"], &shown["ended"], &shown["seed"]), (&json!(10), &json!(10), &json!(5)));
    for arguments in [&["runs", "list"][..], &["runs", "show", &run]] {
        let output = scene.run(arguments);
        assert!(String::from_utf8(output.stdout).unwrap().contains(&run));
    }
    assert_eq!(scene.run(&["runs", "remove", &run]).status.code(), Some(0));
    assert!(scene.runs().is_empty());
    assert_eq!(scene.run(&["runs", "list", "--store", "memory"]).status.code(), Some(2));
}

/// E43: what is held again after a kill, and what is answered too late, is counted once; the rate is that of a run that nothing
/// disturbed.
#[test]
fn e43_no_conversation_and_no_late_answer_counts_twice() {
    let program = |body: &Value| {
        let seed = body["seed"].as_u64().unwrap_or(0);
        reply(vec![choice(0, &format!("```python\nprint({})\n```\n", seed % 7), "stop")])
    };
    let six =
        ["run", "--topology", "best_of_n", "--model", "m.toml", "--tasks", "tasks", "--samples", "2", "--seed", "5"];
    let six = [&six[..], &["--budget", "programs=1", "--concurrency", "1", "--json"]].concat();
    let scene_of = |server: &ModelServer| {
        let scene = Scene::new(server);
        let from = format!("{}/examples/tasks/top-words.toml", env!("CARGO_MANIFEST_DIR"));
        std::fs::copy(from, scene.folder.path().join("tasks/top-words.toml")).unwrap();
        scene.model_file("m.toml", &server.base_url, "[limits]\ntimeout_secs = 0.4\nbackoff_secs = 0.01\n");
        scene
    };
    let calm = ModelServer::saying(Duration::ZERO, program);
    let unbroken = scene_of(&calm).run(&six);
    assert_eq!(conversations(&unbroken).len(), 6, "{}", words(&unbroken));

    let calls = Arc::new(AtomicUsize::new(0));
    let server = {
        let calls = calls.clone();
        ModelServer::saying(Duration::ZERO, move |body| {
            // The second answer comes too late for its request, and the fifth for its process.
            match calls.fetch_add(1, SeqCst) {
                1 => thread::sleep(Duration::from_secs(1)),
                4 => thread::sleep(Duration::from_millis(350)),
                _ => {}
            }
            program(body)
        })
    };
    let scene = scene_of(&server);
    let mut process = scene.start(&six);
    wait_until(|| calls.load(SeqCst) == 5);
    process.kill().unwrap();
    process.wait().unwrap();
    let output = scene.run(&six);
    assert!(words(&output).contains("goes on: 3 of 6 conversations have ended"), "{}", words(&output));
    assert_eq!(conversations(&output).len(), 6);
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 7, "one line each, and the run's");
    let solved = |output: &std::process::Output| {
        conversations(output)
            .into_iter()
            .map(|(key, event)| (key, event["solved"].clone(), event["model_calls"].clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(solved(&output), solved(&unbroken));
    assert_eq!(number(&output, "model_calls"), 6);
    assert_eq!(scene.runs().len(), 1);
}
