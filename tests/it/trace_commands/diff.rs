//! `trace diff`.

use std::{fs, sync::Arc};

use rolecall::messages::Message;
use serde_json::{Value, json};

use super::scene::{Scene, held, line, span, stderr};
use crate::telemetry::story::{self, Story, refused, seidr};

fn diff(scene: &Scene, a: &std::path::Path, b: &std::path::Path) -> Value {
    scene.json(&["diff", a.to_str().unwrap(), b.to_str().unwrap()]).remove(0)
}

#[test]
fn the_same_conversation_held_twice_is_the_same_whatever_the_times() {
    let [one, two] = [Scene::new(), Scene::new()];
    let (a, b) = (one.write(&held(7, 0, 40)), two.write(&held(7, 0, 40)));
    assert_ne!(fs::read(&a).unwrap(), fs::read(&b).unwrap());
    let found = diff(&one, &a, &b);
    assert_eq!((&found["same"], &found["parting"]), (&json!(true), &Value::Null), "{found}");
    assert_eq!(found["steps"]["a"], found["same_steps"]);
    let text = one.stdout(&["diff", a.to_str().unwrap(), b.to_str().unwrap()]);
    assert!(text.contains(" steps are the same\n"), "{text}");
}

#[test]
fn t49_a_file_in_older_words_reads_as_one_in_those_of_today() {
    let [one, two] = [Scene::new(), Scene::new()];
    let (today, old) = (one.write_with(&seidr(0), true), two.write_with(&seidr(0), true));
    let mut text = fs::read_to_string(&old).unwrap();
    for (new_name, old_name) in [
        ("gen_ai.provider.name", "gen_ai.system"),
        ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
        ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
        ("gen_ai.input.messages", "gen_ai.prompt"),
        ("gen_ai.output.messages", "gen_ai.completion"),
        ("gen_ai.request.model", "llm.request.model"),
    ] {
        let (new_key, old_key) = (format!("\"key\":\"{new_name}\""), format!("\"key\":\"{old_name}\""));
        assert!(text.contains(&new_key), "{new_name}");
        text = text.replace(&new_key, &old_key);
    }
    // Nor are there the second words that a file of today has.
    for second in ["llm.provider", "llm.model_name", "llm.token_count.prompt", "llm.token_count.completion"] {
        assert!(text.contains(second));
        text = text.replace(second, "nobody.reads.this");
    }
    fs::write(&old, text).unwrap();
    let shown = |scene: &Scene, file: &std::path::Path| scene.stdout(&["show", file.to_str().unwrap(), "--content"]);
    let (page, page_of_old) = (shown(&one, &today), shown(&two, &old));
    assert!(page.contains(" tokens"), "{page}");
    assert_eq!(page, page_of_old);
    assert_eq!(diff(&one, &today, &old)["same"], json!(true));
    let tokens = |scene: &Scene| scene.json(&["list"]).remove(0)["input_tokens"].clone();
    assert_eq!(tokens(&one), tokens(&two));
}

#[test]
fn two_seeds_part_where_the_first_programs_differ() {
    let scene = Scene::new();
    let other = Scene::new();
    let (first, second) = (held(7, 0, 40), held(8, 0, 40));
    let (a, b) = (scene.write(&first), other.write(&second));
    let found = diff(&scene, &a, &b);
    assert_eq!(found["same"], false);
    let written = |record: &rolecall::conversation::ConversationRecord, seq: usize| {
        let candidates = record.turns[seq].messages().iter().filter_map(Message::candidate);
        candidates.map(|one| one.program.as_ref().map(|program| program.hash())).collect::<Vec<_>>()
    };
    let expected = (0..first.turns.len()).find(|&seq| written(&first, seq) != written(&second, seq)).unwrap();
    assert_eq!(found["parting"]["seq"], expected, "{found}");
    let facts = found["parting"]["facts"].as_array().unwrap();
    assert!(facts.iter().any(|fact| fact["what"] == "programs"), "{facts:?}");
    assert_eq!(found["head"][0]["what"], "seed");
}

/// SEIDR in small, with what one executor's turn found out changed.
fn changed(seq: usize) -> rolecall::conversation::ConversationRecord {
    let mut record = seidr(0);
    let turn = Arc::make_mut(&mut record.turns[seq]);
    let said = turn.attempts.last_mut().unwrap().result.as_mut().unwrap();
    let Message::ExecutionReport(report) = &said[0] else { panic!("no executor's turn") };
    said[0] = Message::ExecutionReport(story::report(report.id, &report.candidate, 4));
    record
}

#[test]
fn one_verdict_that_is_not_the_same_is_the_step_at_which_they_part() {
    let [one, two] = [Scene::new(), Scene::new()];
    let a = one.write(&seidr(0));
    for seq in [1, 2, 7, 8] {
        let b = two.write(&changed(seq));
        let found = diff(&one, &a, &b);
        assert_eq!(found["parting"]["seq"], seq, "{found}");
        let what: Vec<&Value> =
            found["parting"]["facts"].as_array().unwrap().iter().map(|fact| &fact["what"]).collect();
        assert_eq!(what, ["verdict", "tests", "score"]);
    }
    let text = one.stdout(&["diff", a.to_str().unwrap(), two.write(&changed(7)).to_str().unwrap(), "--steps", "2"]);
    insta::assert_snapshot!(text);
}

#[test]
fn one_that_goes_on_parts_from_one_that_does_not() {
    let [one, two, three] = [Scene::new(), Scene::new(), Scene::new()];
    let a = one.write(&seidr(0));
    let b = two.write(&seidr(0));
    Scene::cut(&b, 8, 200);
    let found = diff(&one, &a, &b);
    assert_eq!((&found["parting"]["seq"], &found["same_steps"]), (&json!(7), &json!(7)), "{found}");
    assert_eq!(found["finished"], json!({"a": true, "b": false}));
    let text = one.run(&["diff", a.to_str().unwrap(), b.to_str().unwrap()]);
    assert!(String::from_utf8(text.stdout.clone()).unwrap().contains("b has no such step: it is not finished"));
    assert!(stderr(&text).contains("the last line is cut off"));
    let c = three.write(&refused());
    assert_eq!(diff(&one, &a, &c)["parting"]["seq"], 0);
    let empty = three.write(&Story::new(9).finish(rolecall::conversation::Outcome::NothingLeft));
    assert_eq!(diff(&one, &empty, &empty)["same"], true);
}

#[test]
fn a_damaged_file_is_not_compared() {
    let scene = Scene::new();
    let a = scene.write(&seidr(0));
    let b = scene.write(&seidr(1));
    fs::write(&b, fs::read_to_string(&b).unwrap().replacen('\n', "\nrubbish\n", 1)).unwrap();
    let output = scene.run(&["diff", a.to_str().unwrap(), b.to_str().unwrap()]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    assert!(stderr(&output).contains(".jsonl:2: no OTLP"), "{}", stderr(&output));
    assert_eq!(scene.run(&["diff", a.to_str().unwrap(), "missing.jsonl"]).status.code(), Some(2));
}

#[test]
fn where_prompt_files_have_hashes_it_is_said_whether_both_asked_with_the_same() {
    let scene = Scene::new();
    let file = |name: &str, hash: &str, finish: &str| {
        let chat: Vec<(&str, Value)> = vec![
            ("gen_ai.operation.name", json!("chat")),
            ("rolecall.seq", json!(0)),
            ("rolecall.purpose", json!("repair")),
            ("rolecall.finish", json!(finish)),
            ("rolecall.prompt_hash", json!(hash)),
        ];
        let path = scene.folder.path().join(name);
        fs::write(&path, line("debugger", &[span(1, 0, "chat x", &chat)])).unwrap();
        path
    };
    let (a, b, c, d) =
        (file("a", "1", "stop"), file("b", "1", "length"), file("c", "2", "length"), file("d", "2", "stop"));
    assert_eq!(diff(&scene, &a, &b)["parting"]["same_prompt_files"], true);
    assert_eq!(diff(&scene, &a, &c)["parting"]["same_prompt_files"], false);
    assert_eq!(diff(&scene, &a, &d)["same"], true, "prompts alone are no step");
    let text = scene.stdout(&["diff", a.to_str().unwrap(), b.to_str().unwrap()]);
    assert!(text.contains("0 steps are the same; they part at #0, debugger in round 0\n"), "{text}");
    assert!(
        text.contains("replies ended by  a  stop") && text.contains("both asked with the same prompt files"),
        "{text}"
    );
}
