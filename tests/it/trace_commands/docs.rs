//! docs/traces.md shows what is really printed.

use std::{fs, path::Path};

use super::scene::Scene;

#[test]
fn the_examples_of_the_documentation_are_what_is_printed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let scene = Scene::new();
    fs::copy(root.join("traces/example.jsonl"), scene.folder.path().join("traces/example.jsonl")).unwrap();
    let text = fs::read_to_string(root.join("docs/traces.md")).unwrap();
    let mut compared = 0;
    for block in text.split("```console\n$ rolecall trace ").skip(1) {
        let (command, rest) = block.split_once('\n').unwrap();
        let shown = rest.split("\n```").next().unwrap();
        let arguments: Vec<&str> = command.split(' ').collect();
        // The others are about conversations that are not in the repository.
        if command == "list traces" || command.contains("traces/example.jsonl") {
            assert_eq!(scene.stdout(&arguments).trim_end(), shown, "{command}");
            compared += 1;
        }
    }
    assert_eq!(compared, 4);
}

#[test]
fn every_key_of_the_json_is_documented() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let documented = fs::read_to_string(root.join("docs/json.md")).unwrap();
    let scene = Scene::new();
    let (a, b) = (scene.write(&super::scene::held(1, 0, 20)), scene.write(&super::scene::held(2, 1, 20)));
    let (a, b) = (a.to_str().unwrap(), b.to_str().unwrap());
    let commands: [&[&str]; 5] = [&["list"], &["show", a], &["show", "--follow", a], &["diff", a, b], &["lineage", a]];
    for command in commands {
        for object in scene.json(command) {
            let nested = ["spans", "parting", "candidates"].map(|key| object[key].clone());
            let nested =
                nested.iter().flat_map(|one| one.as_array().map_or(vec![one.clone()], |all| all[..1].to_vec()));
            for one in nested.chain([object.clone()]) {
                for key in one.as_object().into_iter().flatten().map(|(key, _)| key).filter(|key| *key != "event") {
                    assert!(documented.contains(&format!("`{key}`")), "`{key}` of {command:?}");
                }
            }
        }
    }
}
