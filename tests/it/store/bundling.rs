//! A run as one file, and what comes of it when it is made again.

use std::{fs, path::PathBuf, process::Output, time::Duration};

use rolecall::evaluation::bundle::Archive;
use serde_json::{Value, json};

use super::{
    model_server::{ModelServer, choice, reply},
    scene::{Scene, words},
};

const KEY: &str = "sk-SENTINEL-of-a-bundle";

/// A run with everything of the user's own: model file, tasks and prompts.
struct Bundled {
    scene: Scene,
    run: String,
    file: PathBuf,
}

impl Bundled {
    fn new() -> Self {
        // Two calls that ask for the same get different programs, and nothing else than the seed decides which.
        let server = ModelServer::saying(Duration::ZERO, |body| {
            let seed = body["seed"].as_u64().unwrap_or(0);
            let texts = (0..body["n"].as_u64().unwrap_or(1))
                .map(|index| choice(index, &format!("```python\nprint({})\n```\n", seed % 97 + index), "stop"));
            reply(texts.collect())
        });
        let scene = Scene::new(&server);
        scene.model_file("m.toml", &server.base_url, "api_key_env = 'BUNDLED_KEY'\n");
        let folder = scene.folder.path();
        fs::create_dir_all(folder.join("own/synthesizer")).unwrap();
        let prompt =
            fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/config/prompts/synthesizer/draft.md")).unwrap();
        fs::write(folder.join("own/synthesizer/draft.md"), prompt).unwrap();
        let mut command =
            scene.command(&["run", "--topology", "seidr", "--model", "m.toml", "--tasks", "tasks", "--prompts", "own"]);
        command.args(["--task-id", "robot-walk", "--seed", "1", "--budget", "programs=6"]).env("BUNDLED_KEY", KEY);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", words(&output));
        let run = scene.runs()[0]["run"].as_str().unwrap().to_owned();
        let file = folder.join("a.bundle");
        let bundled = Self { scene, run, file };
        assert_eq!(words(&bundled.bundle("a.bundle")), "");
        bundled
    }

    fn bundle(&self, file: &str) -> Output {
        let output = self.scene.run(&["bundle", &self.run, "--out", file]);
        assert_eq!(output.status.code(), Some(0), "{}", words(&output));
        output
    }

    /// What `reproduce` says of the bundle: its exit code, its differences, and the last object.
    fn reproduce(&self) -> (Option<i32>, Vec<Value>, Value) {
        let elsewhere = tempfile::tempdir().unwrap();
        let mut command = self.scene.command(&["reproduce", self.file.to_str().unwrap(), "--json"]);
        // Neither its store nor its folder, key or model.
        command.current_dir(elsewhere.path()).env("ROLECALL_STORE", "memory");
        let output = command.output().unwrap();
        let lines = String::from_utf8(output.stdout.clone()).unwrap();
        let mut events: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let last = events.pop().unwrap_or_else(|| panic!("{}", words(&output)));
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0, "nothing is left there");
        (output.status.code(), events, last)
    }

    /// The same with the files of the bundle changed.
    fn with(&self, change: impl FnOnce(&mut Archive)) -> (Option<i32>, Vec<String>) {
        let whole = fs::read(&self.file).unwrap();
        let mut archive = Archive::read(&self.file).unwrap();
        change(&mut archive);
        archive.write(&self.file).unwrap();
        let (code, events, _) = self.reproduce();
        fs::write(&self.file, whole).unwrap();
        let said = events.iter().map(|event| {
            let turn = event["turn"].as_u64().map_or(String::new(), |turn| format!("turn {turn}: "));
            format!("{turn}{}: {}", event["what"].as_str().unwrap(), event["words"].as_str().unwrap())
        });
        (code, said.collect())
    }
}

/// Changes a text file of an archive.
fn edit(archive: &mut Archive, name: impl Fn(&str) -> bool, from: &str, to: &str) {
    let (name, bytes) = archive.0.iter_mut().find(|(it, _)| name(it)).expect("there is such a file");
    let text = String::from_utf8(bytes.clone()).unwrap();
    assert!(text.contains(from), "{name} has no {from}: {text}");
    *bytes = text.replacen(from, to, 1).into_bytes();
}

fn is_conversation(name: &str) -> bool {
    name.starts_with("conversations/")
}

#[test]
fn a_run_is_made_again_from_its_bundle_alone() {
    let bundled = Bundled::new();
    bundled.bundle("b.bundle");
    let again = fs::read(bundled.scene.folder.path().join("b.bundle")).unwrap();
    assert!(fs::read(&bundled.file).unwrap() == again, "one run makes one file");
    // The model file is not asked, the tasks and prompts are not those of the folder.
    for gone in ["tasks", "own", "m.toml"] {
        let path = bundled.scene.folder.path().join(gone);
        if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
    }
    let (code, differences, last) = bundled.reproduce();
    assert_eq!((code, differences.as_slice()), (Some(0), &[][..]));
    assert_eq!(last["event"], "reproduced");
    assert_eq!((&last["conversations"], &last["programs"], &last["differences"]), (&1.into(), &6.into(), &0.into()));
}

#[test]
fn no_secret_and_no_folder_of_this_machine_is_in_a_bundle() {
    let bundled = Bundled::new();
    let folder = bundled.scene.folder.path().to_str().unwrap();
    for (name, bytes) in Archive::read(&bundled.file).unwrap().0 {
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(KEY), "{name}");
        assert!(!text.contains(folder), "{name}");
    }
}

#[test]
fn whatever_was_changed_is_found_and_named() {
    let bundled = Bundled::new();
    let has = |(code, said): (Option<i32>, Vec<String>), all: &[&str]| {
        assert_eq!(code, Some(3), "{said:#?}");
        for words in all {
            assert!(said.iter().any(|line| line.contains(words)), "{words}: {said:#?}");
        }
    };
    let verdict =
        bundled.with(|archive| edit(archive, is_conversation, "\"verdict\": \"wrong\"", "\"verdict\": \"passed\""));
    has(verdict, &["was changed", "verdict: ", "was passed, now wrong"]);
    // The first program that stands in the file is what a role said.
    let program =
        bundled.with(|archive| edit(archive, is_conversation, "\"text\": \"print(", "\"text\": \"print(1 + "));
    has(program, &["program: ", "is another program"]);
    let replies = bundled.with(|archive| {
        let (_, bytes) = archive.0.iter_mut().find(|(name, _)| is_conversation(name)).unwrap();
        let text = String::from_utf8(bytes.clone()).unwrap();
        *bytes = text.replace("```python\\nprint(", "```python\\nprint(1 + ").into_bytes();
    });
    has(replies, &["turn 3: program: 3.0 is another program", "turn 3: program: 3.3 is another program"]);
    let prompt = bundled
        .with(|archive| edit(archive, |name| name.ends_with("draft.md"), "---user---\n", "---user---\nHello.\n"));
    has(
        prompt,
        &[
            "files/run/own/synthesizer/draft.md was changed",
            "prompt: the file of synthesizer.draft is another",
            "arrangement: ",
        ],
    );
    let task = bundled
        .with(|archive| edit(archive, |name| name.ends_with("robot-walk.toml"), "stdin = \"2 R 3", "stdin = \"3 R 3"));
    has(task, &["task: robot-walk of ", "verdict: "]);
    let gone = bundled.with(|archive| archive.0.retain(|name, _| !is_conversation(name)));
    has(gone, &["is not there"]);
    let more = bundled.with(|archive| drop(archive.0.insert("files/run/x".to_owned(), Vec::new())));
    has(more, &["files/run/x is not in the list"]);
}

#[test]
fn what_is_no_bundle_or_a_newer_one_has_a_clear_error() {
    let bundled = Bundled::new();
    let error = |bytes: &[u8]| {
        let file = bundled.scene.folder.path().join("x.bundle");
        fs::write(&file, bytes).unwrap();
        let output = bundled.scene.run(&["reproduce", "x.bundle"]);
        assert_eq!(output.status.code(), Some(2));
        words(&output)
    };
    let whole = fs::read(&bundled.file).unwrap();
    for bytes in [&b""[..], b"hello", &whole[..whole.len() / 2], &whole[..whole.len() - 1]] {
        let said = error(bytes);
        assert!(said.starts_with("error: x.bundle: "), "{said}");
    }
    let of = |change: &dyn Fn(&mut Archive)| {
        let mut archive = Archive::read(&bundled.file).unwrap();
        change(&mut archive);
        let file = bundled.scene.folder.path().join("y.bundle");
        archive.write(&file).unwrap();
        error(&fs::read(&file).unwrap())
    };
    let newer = of(&|archive| edit(archive, |name| name == "bundle.json", "\"format\": 1", "\"format\": 2"));
    assert!(newer.contains("it has format 2, and this program knows formats up to 1"), "{newer}");
    let none = of(&|archive| drop(archive.0.remove("bundle.json")));
    assert!(none.contains("there is no bundle.json in it"), "{none}");
    let broken = of(&|archive| edit(archive, is_conversation, "{", "["));
    assert!(broken.contains("conversations/") && broken.contains("at line 2 column 8"), "{broken}");
}

#[test]
fn only_a_whole_run_whose_files_are_as_they_were_can_be_bundled() {
    let bundled = Bundled::new();
    let refused = |run: &str| {
        let output = bundled.scene.run(&["bundle", run, "--out", "no.bundle"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(!bundled.scene.folder.path().join("no.bundle").exists());
        words(&output)
    };
    assert!(refused("ffff").contains("no run"));
    let task = bundled.scene.folder.path().join("tasks/robot-walk.toml");
    let text = fs::read_to_string(&task).unwrap();
    fs::write(&task, text.replacen("stdin = \"2 R 3", "stdin = \"3 R 3", 1)).unwrap();
    let said = refused(&bundled.run);
    assert!(said.contains("the tasks changed since the run was begun"), "{said}");
}

/// Public data sets are named and not copied, unless somebody wants them copied.
#[test]
fn a_public_data_set_stays_outside() {
    let server = ModelServer::start(Duration::ZERO);
    let scene = Scene::new(&server);
    let data = crate::benchmarks::datasets().join("quixbugs");
    let data = data.to_str().unwrap();
    let arguments =
        ["run", "--topology", "best_of_n", "--model", "templates", "--benchmark", "quixbugs", "--path", data];
    let mut command = scene.command(&arguments);
    let output =
        command.args(["--task-id", "QuixBugs/python/gcd", "--seed", "1", "--budget", "programs=2"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    let run = scene.runs()[0]["run"].as_str().unwrap().to_owned();
    let output = scene.run(&["bundle", &run, "--out", "q.bundle"]);
    assert!(words(&output).contains("left out, since it belongs to a public data set"), "{}", words(&output));
    let without = scene.run(&["reproduce", "q.bundle"]);
    assert_eq!(without.status.code(), Some(2));
    assert!(words(&without).contains("say where it is with --path"), "{}", words(&without));
    for arguments in [&["q.bundle", "--path", data][..], &["whole.bundle"]] {
        scene.run(&["bundle", &run, "--out", "whole.bundle", "--with-data"]);
        let output = scene.run(&[&["reproduce"][..], arguments].concat());
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &words(&output);
        assert!(output.status.code() == Some(0) && said.contains("all the same"), "{said}");
    }
}

/// A bundle of somebody else must not write outside of its own folder, read what nobody named, weaken the isolation or ask anybody.
#[test]
fn a_hostile_bundle_is_refused_before_anything_is_done() {
    let bundled = Bundled::new();
    let refused = |from: &str, to: &str, words_wanted: &str| {
        let whole = fs::read(&bundled.file).unwrap();
        let mut archive = Archive::read(&bundled.file).unwrap();
        edit(&mut archive, |name| name == "bundle.json", from, to);
        archive.write(&bundled.file).unwrap();
        let output = bundled.scene.run(&["reproduce", "a.bundle"]);
        fs::write(&bundled.file, whole).unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", words(&output));
        assert!(words(&output).contains(words_wanted), "{to}: {}", words(&output));
    };
    let escape = bundled.scene.folder.path().join("escaped");
    let escape = escape.to_str().unwrap();
    refused(
        "\"folder\": \"run\",\n  \"inputs\"",
        &format!("\"folder\": \"{escape}\",\n  \"inputs\""),
        "leads out of it",
    );
    refused("\"folder\": \"run\",\n  \"inputs\"", "\"folder\": \"../../x\",\n  \"inputs\"", "leads out of it");
    refused("\"name\": \"run/own", &format!("\"name\": \"{escape}/own"), "leads out of it");
    refused("\"name\": \"run/own", "\"name\": \"run/../../own", "leads out of it");
    let outside = bundled.scene.folder.path().join("tasks");
    refused("      \"tasks\",", &format!("      \"{}\",", outside.display()), "which is beyond it");
    refused("      \"tasks\",", "      \"tasks\",\n      \"--sandbox\",\n      \"reduced\",", "--sandbox reduced");
    assert!(!std::path::Path::new(escape).exists());
}

#[test]
fn what_an_endpoint_said_is_not_made_again() {
    let server = ModelServer::saying(Duration::ZERO, |_| json!({ "reward": 0.5 }));
    let scene = Scene::new(&server);
    let cast = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/config/topologies/repair.toml")).unwrap();
    let endpoint = format!("reward = \"endpoint\"\nendpoint = \"{}/score\"\n#", server.base_url);
    fs::write(scene.folder.path().join("cast.toml"), cast.replace("reward = \"execution\"", &endpoint)).unwrap();
    let arguments = ["run", "--topology", "cast.toml", "--tasks", "tasks", "--budget", "programs=2"];
    let output = scene.run(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    let run = scene.runs()[0]["run"].as_str().unwrap().to_owned();
    let name = format!("replay:{run}");
    let replay = [&arguments[..], &["--model", &name]].concat();
    for arguments in [&["bundle", run.as_str()][..], &replay] {
        let output = scene.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(words(&output).contains("critic asks an endpoint for rewards"), "{}", words(&output));
    }
}

/// What the environment decided of a run stays decided, wherever it goes on or is made again.
#[test]
fn variables_that_decide_what_a_run_is_are_kept_with_it() {
    let scene = Scene::new(&ModelServer::start(Duration::ZERO));
    let arguments =
        ["run", "--topology", "seidr", "--model", "templates", "--tasks", "tasks", "--seed", "1", "--samples", "2"];
    let mut command = scene.command(&arguments);
    command.args(["--stop-before", "0.001s", "--concurrency", "1"]).env("ROLECALL_BUDGET", "programs=5");
    assert_eq!(command.output().unwrap().status.code(), Some(75), "it is parked");
    let mut command = scene.command(&["resume", "--last", "--json"]);
    let output = command.env("ROLECALL_BUDGET", "programs=9").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    for event in crate::store::scene::conversations(&output).values() {
        assert!(event["programs"].as_u64().unwrap() <= 5, "{event}");
    }
    let run = scene.runs()[0]["run"].as_str().unwrap().to_owned();
    assert_eq!(words(&scene.run(&["bundle", &run, "--out", "v.bundle"])), "");
    let output = scene.run(&["reproduce", "v.bundle"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("4 conversations"), "{}", words(&output));
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
}
