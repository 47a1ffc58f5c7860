//! Missing tools are the machine's fault, said before anything starts.

use std::fs;

use crate::cli::{rolecall, text};

/// Language, what it needs, a task's text in it.
const TASKS: &[(&str, &str, &str)] = &[
    ("cpp", "g++", "int main() { }"),
    ("java", "java", "class Main { }"),
    ("javascript", "node", "1"),
    ("go", "go", "package main"),
    ("rust", "rustc", "fn main() { }"),
];

#[test]
fn e40_a_missing_tool_ends_the_command_before_anything_starts() {
    let folder = tempfile::tempdir().unwrap();
    let nothing = folder.path().join("nothing");
    fs::create_dir(&nothing).unwrap();
    for (language, tool, program) in TASKS {
        let task = folder.path().join(format!("{language}.toml"));
        let starter = format!("starter = '{program}'\n");
        let body = "statement = \"x\"\n[[visible.io]]\nstdin = \"\"\nstdout = \"1\"\n";
        fs::write(&task, format!("id = \"t\"\nlanguage = \"{language}\"\n{starter}{body}")).unwrap();
        let candidate = folder.path().join("candidate");
        fs::write(&candidate, program).unwrap();
        let (task, candidate) = (task.display().to_string(), candidate.display().to_string());
        let traces = folder.path().join("traces");
        let into = traces.display().to_string();
        for arguments in [
            vec!["judge", "--task", &task, &candidate, "--json"],
            vec!["run", "--topology", "self_debug", "--task", &task, "--seed", "1", "--traces", &into, "--json"],
        ] {
            let output = rolecall(&arguments)
                .env("PATH", &nothing)
                .env_remove("ROLECALL_RUSTC")
                .env_remove("ROLECALL_CPP")
                .output()
                .unwrap();
            let said = text(&output.stderr);
            assert_eq!(output.status.code(), Some(69), "{arguments:?}: {said}");
            assert!(said.contains(&format!("needs {tool}")), "{said}");
            assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
            assert!(!traces.exists(), "something has started");
        }
    }
}
