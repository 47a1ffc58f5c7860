//! What the tests of topology files share.

use std::{fs, path::Path};

use rolecall::{
    config::Mistakes,
    llm::capabilities,
    topology::{Checked, Overrides, TopologyRef, load_plan},
};
use tempfile::TempDir;

/// A file with mistakes, and the first line of each as it is said.
pub struct Case {
    pub name: &'static str,
    pub text: String,
    pub said: &'static [&'static str],
}

/// A right arrangement of a synthesizer and an executor, changed: each pair replaces its first occurrence.
pub fn right(changes: &[(&str, &str)], tail: &str) -> String {
    let text = r#"model = "templates"
[actors.a]
role = "synthesizer"
[actors.b]
role = "executor"
[[edges]]
from = "task"
to = "a"
[[edges]]
from = "a"
to = "b"
"#;
    changed(text, changes, tail)
}

/// The same with a debugger that repairs what failed.
pub fn repairing(changes: &[(&str, &str)], tail: &str) -> String {
    let text = r#"model = "templates"
edges = [
  { from = "task", to = "a" },
  { from = "a", to = "b" },
  { from = "b", to = "c" },
  { from = "c", to = "b" },
]
[budget]
programs = 9
[actors.a]
role = "synthesizer"
[actors.b]
role = "executor"
[actors.c]
role = "debugger"
"#;
    changed(text, changes, tail)
}

fn changed(text: &str, changes: &[(&str, &str)], tail: &str) -> String {
    let mut text = text.to_owned();
    for (from, to) in changes {
        assert!(text.contains(from), "nothing to change: {from}");
        text = text.replacen(from, to, 1);
    }
    text + tail
}

/// A folder with these files.
pub fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    folder
}

/// Loads `name` of a folder, with nothing else said.
pub fn load(folder: &Path, name: &str) -> Result<Checked, Mistakes> {
    load_with(folder, name, &Overrides::default())
}

/// Loads `name` of a folder under overrides.
pub fn load_with(folder: &Path, name: &str, overrides: &Overrides) -> Result<Checked, Mistakes> {
    let path = folder.join(name).display().to_string();
    load_plan(&TopologyRef(path), overrides, &capabilities)
}

/// The mistakes as they are said, a line each without hints, the folder cut off.
pub fn said(folder: &Path, result: &Result<Checked, Mistakes>) -> Vec<String> {
    let Err(mistakes) = result else { return Vec::new() };
    let prefix = format!("{}/", folder.display());
    let text = mistakes.to_string().replace(&prefix, "");
    text.lines().filter(|line| !line.starts_with("  hint: ")).map(str::to_owned).collect()
}

/// Writes the case's text to `x.toml`, beside prompts that cannot be used, and compares what is said.
pub fn assert_said(case: &Case) {
    let files: &[(&str, &[u8])] =
        &[("x.toml", case.text.as_bytes()), ("empty.md", b" \n"), ("latin1.md", b"fa\xe7ade")];
    let folder = folder(files);
    let result = load(folder.path(), "x.toml");
    assert_eq!(said(folder.path(), &result), case.said, "case {}:\n{}", case.name, case.text);
}
