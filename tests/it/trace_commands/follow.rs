//! `trace show --follow`.

use std::{
    fs::{self, File, OpenOptions},
    io::{BufRead, BufReader, Write},
    process::{Child, Command, Stdio},
};

use rolecall::telemetry::{Follower, Look};
use serde_json::Value;

use super::scene::{Scene, begun, held};
use crate::telemetry::story::seidr;

fn follower(scene: &Scene, arguments: &[&str]) -> (Child, impl Iterator<Item = String> + use<>) {
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("rolecall"))
        .current_dir(&scene.folder)
        .args(["trace", "show", "--follow"])
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    (child, lines)
}

#[test]
fn lines_come_while_the_conversation_goes_on_and_end_with_it() {
    let scene = Scene::new();
    let record = seidr(0);
    let mut trace = begun(&scene, &record);
    let id = record.head.id.trace_id();
    let (mut child, mut lines) = follower(&scene, &[&id[..10]]);
    let mut until = |words: &str| assert!(lines.any(|line| line.contains(words)), "no `{words}`");
    until("arrangement seidr");
    trace.turn(&record.turns[0]);
    until("#0  synthesizer writes 0.0, 0.1");
    trace.turn(&record.turns[1]);
    until("executor runs starter");
    assert!(child.try_wait().unwrap().is_none(), "it ended before the conversation");
    record.turns[2..].iter().for_each(|turn| trace.turn(turn));
    trace.end(&record.end);
    until("tests_passed, solved");
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_finished_conversation_is_told_at_once_and_as_json_span_by_span() {
    let scene = Scene::new();
    let file = scene.write(&seidr(0));
    let spans = scene.json(&["show", "--follow", file.to_str().unwrap()]);
    let (last, spans) = spans.split_last().unwrap();
    assert_eq!(last["event"], "followed");
    assert_eq!(spans.len() as u64, crate::telemetry::files::seidr_spans());
    assert!(spans.iter().all(|span| span["event"] == "span"));
    assert_eq!(spans.last().unwrap()["name"], "invoke_workflow seidr");
    insta::assert_snapshot!(scene.stdout(&["show", "--follow", file.to_str().unwrap()]));
}

#[test]
fn a_line_that_is_half_written_is_waited_for() {
    let scene = Scene::new();
    let record = held(3, 0, 12);
    let written = fs::read(scene.write(&record)).unwrap();
    let file = scene.folder.path().join("growing.jsonl");
    fs::write(&file, "").unwrap();
    let mut follower = Follower::new(BufReader::new(File::open(&file).unwrap()), false, Look::default());
    let mut growing = OpenOptions::new().append(true).open(&file).unwrap();
    let mut text = String::new();
    for piece in written.chunks(700) {
        growing.write_all(piece).unwrap();
        while let Some(more) = follower.next_text().unwrap() {
            text += &more;
        }
    }
    assert!(follower.is_finished());
    assert_eq!(follower.take_damage(), []);
    assert_eq!(follower.read_bytes(), written.len() as u64);
    for turn in &record.turns {
        assert_eq!(text.matches(&format!(" #{}  ", turn.seq)).count(), 1, "turn {} in\n{text}", turn.seq);
    }
    let whole: Vec<Value> = scene.json(&["show", "--follow", &record.head.id.trace_id()]);
    assert_eq!(whole.last().unwrap()["event"], "followed");
}

#[test]
fn a_file_that_is_written_anew_is_told_from_the_beginning() {
    let scene = Scene::new();
    let record = seidr(0);
    let mut trace = begun(&scene, &record);
    record.turns[..4].iter().for_each(|turn| trace.turn(turn));
    let (mut child, mut lines) = follower(&scene, &[&record.head.id.trace_id()]);
    let mut until = |words: &str| assert!(lines.any(|line| line.contains(words)), "no `{words}`");
    until("#3  executor");
    drop(trace);
    // A resumed run begins the file again.
    let mut trace = begun(&scene, &record);
    until("arrangement seidr");
    record.turns.iter().for_each(|turn| trace.turn(turn));
    trace.end(&record.end);
    until("#0  synthesizer");
    until("tests_passed, solved");
    assert!(child.wait().unwrap().success());
}
