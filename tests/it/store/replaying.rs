//! A recorded run is asked again: no network, the same results; what it does not know, it says.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use super::{
    model_server::{ModelServer, choice, reply},
    scene::{Scene, conversations, results, words},
};

const SEIDR: &[&str] = &[
    "run",
    "--topology",
    "seidr",
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

fn replay(scene: &Scene, arguments: &[&str]) -> std::process::Output {
    let run = scene.runs().last().unwrap()["run"].as_str().unwrap().to_owned();
    let model = format!("replay:{run}");
    let mut words: Vec<&str> = arguments.to_vec();
    words.extend(["--model", &model]);
    scene.run(&words)
}

#[test]
fn a_replay_gives_the_same_results_and_asks_nobody() {
    let server = ModelServer::start(Duration::ZERO);
    let scene = Scene::new(&server);
    for model in ["m.toml", "templates"] {
        let recorded = scene.run(&[SEIDR, &["--model", model]].concat());
        assert_eq!(recorded.status.code(), Some(0), "{}", words(&recorded));
        let asked = server.answered().len();
        let run = scene.runs()[0]["run"].as_str().unwrap().to_owned();
        let name = format!("replay:{run}");
        let replayed = scene.run(&[SEIDR, &["--model", &name]].concat());
        assert_eq!(replayed.status.code(), Some(0), "{}", words(&replayed));
        assert_eq!(results(&replayed), results(&recorded), "{model}");
        assert_eq!(server.answered().len(), asked);
        let trace = conversations(&replayed).into_values().next().unwrap()["trace"].as_str().unwrap().to_owned();
        let trace = fs::read_to_string(scene.folder.path().join(trace)).unwrap();
        assert!(trace.contains(r#""rolecall.answered_from","value":{"stringValue":"replay"}"#), "{model}");
    }
}

#[test]
fn t20_a_reply_that_was_cut_short_and_calls_that_failed_are_replayed_as_they_were() {
    let calls = Arc::new(AtomicUsize::new(0));
    let server = {
        let calls = calls.clone();
        ModelServer::saying(Duration::ZERO, move |_| {
            let finish = if calls.fetch_add(1, SeqCst).is_multiple_of(3) { "length" } else { "stop" };
            reply(vec![choice(0, "```python\nprint(1)\n", finish)])
        })
    };
    let scene = Scene::new(&server);
    let recorded = scene.run(&[SEIDR, &["--model", "m.toml"]].concat());
    let replayed = replay(&scene, SEIDR);
    assert_eq!(results(&replayed), results(&recorded), "{}", words(&replayed));

    // A server that refuses: the conversations fail, and fail again in the same words.
    let scene = Scene::new(&server);
    scene.model_file("m.toml", "http://127.0.0.1:9/v1", "[limits]\nmax_retries = 1\nbackoff_secs = 0.01\n");
    let recorded = scene.run(&[SEIDR, &["--model", "m.toml"]].concat());
    assert_eq!(recorded.status.code(), Some(1), "{}", words(&recorded));
    let replayed = replay(&scene, SEIDR);
    assert_eq!(replayed.status.code(), Some(1), "{}", words(&replayed));
    assert_eq!(results(&replayed), results(&recorded));
}

#[test]
fn what_a_changed_arrangement_asks_beyond_the_recording_is_named() {
    let server = ModelServer::start(Duration::ZERO);
    let scene = Scene::new(&server);
    let recorded = scene.run(&[SEIDR, &["--model", "m.toml"]].concat());
    assert_eq!(recorded.status.code(), Some(0), "{}", words(&recorded));
    let asked = server.answered().len();
    let more: Vec<&str> = SEIDR.iter().map(|word| if *word == "programs=12" { "programs=16" } else { word }).collect();
    let replayed = replay(&scene, &more);
    assert_eq!(replayed.status.code(), Some(1), "{}", words(&replayed));
    for event in conversations(&replayed).into_values() {
        let detail = event["outcome_detail"].as_str().unwrap();
        assert!(detail.contains("has no answer to this call: "), "{detail}");
        assert_eq!(event["programs"], 12, "{event}");
    }
    assert_eq!(server.answered().len(), asked);
}

#[test]
fn a_replay_is_of_one_run_that_is_there() {
    let scene = Scene::new(&ModelServer::start(Duration::ZERO));
    for (models, expected) in [
        (&["--model", "replay:0123"][..], "no run"),
        (&["--model", "replay:0123", "--model", "synthesizer=templates"], "stands alone"),
        (&["--model", "synthesizer=replay:0123"], "as a whole"),
    ] {
        let output = scene.run(&[SEIDR, models].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(words(&output).contains(expected), "{}", words(&output));
    }
}
