//! `trace lineage`.

use std::fs;

use rolecall::ids::MessageId;
use serde_json::{Value, json};

use super::scene::{Scene, held, line, span, stderr};
use crate::telemetry::story::seidr;

#[test]
fn the_tree_is_drawn_in_three_ways() {
    let scene = Scene::new();
    let file = scene.write(&seidr(0));
    let file = file.to_str().unwrap();
    insta::assert_snapshot!("text", scene.stdout(&["lineage", file]));
    insta::assert_snapshot!("mermaid", scene.stdout(&["lineage", file, "--mermaid"]));
    insta::assert_snapshot!("dot", scene.stdout(&["lineage", file, "--dot"]));
    assert_eq!(scene.run(&["lineage", file, "--dot", "--mermaid"]).status.code(), Some(2));
}

#[test]
fn the_path_of_a_real_conversation_is_that_of_its_parents() {
    let scene = Scene::new();
    for seed in [1, 2, 3] {
        let record = held(seed, 0, 60);
        let file = scene.write(&record);
        let found = scene.json(&["lineage", file.to_str().unwrap()]).remove(0);
        let candidates = || record.turns.iter().flat_map(|turn| turn.messages()).filter_map(|one| one.candidate());
        let parent = |id: MessageId| candidates().find(|one| one.id == id).and_then(|one| one.parent);
        let mut path: Vec<String> =
            std::iter::successors(record.end.best, |id| parent(*id)).map(|id| id.to_string()).collect();
        path.reverse();
        assert_eq!(found["path"], json!(path));
        assert!(path.len() > 1 || seed > 1, "{path:?}");
        let mut known: Vec<MessageId> = candidates().map(|one| one.id).collect();
        known.sort();
        known.dedup();
        let rows = found["candidates"].as_array().unwrap();
        assert_eq!(rows.len(), known.len());
        for row in rows {
            let one = candidates().find(|one| one.id.to_string() == row["candidate"].as_str().unwrap()).unwrap();
            assert_eq!(row["parent"], json!(one.parent.map(|parent| parent.to_string())));
            assert_eq!(row["program_hash"], json!(one.program.as_ref().map(|program| program.hash().0)));
            assert_eq!(row["author"], one.author.0);
        }
    }
}

#[test]
fn one_that_is_not_finished_shows_the_best_so_far() {
    let scene = Scene::new();
    let file = scene.write(&seidr(0));
    Scene::cut(&file, 9, 30);
    let text = scene.stdout(&["lineage", file.to_str().unwrap()]);
    assert!(text.starts_with("candidates  * leads to the best so far\n"), "{text}");
    assert!(text.contains("* starter") && text.contains("not run"), "{text}");
    Scene::cut(&file, 1, 0);
    let none = scene.run(&["lineage", file.to_str().unwrap()]);
    assert_eq!((none.status.code(), none.stdout.len()), (Some(0), 0));
    assert!(stderr(&none).contains("no candidate was written yet"));
}

#[test]
fn t46_a_circle_ends_a_parent_may_be_missing_and_no_text_breaks_a_drawing() {
    let run = |own, candidate: &str, parent: &str| {
        let attributes: Vec<(&str, Value)> = vec![
            ("gen_ai.tool.name", json!("run_tests")),
            ("rolecall.candidate", json!(candidate)),
            ("rolecall.parent", json!(parent)),
            ("rolecall.verdict", json!("passed")),
            ("rolecall.edit", json!("a \"quote\"] --> <b>\n\u{202e}\\")),
        ];
        span(own, 0, "execute_tool run_tests", &attributes)
    };
    let scene = Scene::new();
    let file = scene.folder.path().join("x.jsonl");
    let spans = [run(1, "1.0", "2.0"), run(2, "2.0", "1.0"), run(3, "3.0", "77.0"), run(4, "\"];x", "3.0")];
    fs::write(&file, line("executor", &spans)).unwrap();
    let file = file.to_str().unwrap();
    assert!(scene.stdout(&["lineage", file]).contains("from 77.0 (not here)"));
    let mermaid = scene.stdout(&["lineage", file, "--mermaid"]);
    assert!(mermaid.contains("-->|\"a #34;quote#34;] --#62; #60;b#62;\u{fffd}\u{fffd}#92;\"|"), "{mermaid}");
    let dot = scene.stdout(&["lineage", file, "--dot"]);
    assert!(dot.contains(r#"label="a \"quote\"] --> <b>"#) && dot.ends_with("\\\\\"];\n}\n"), "{dot}");
    assert_eq!(scene.json(&["lineage", file])[0]["candidates"].as_array().unwrap().len(), 4);
}
