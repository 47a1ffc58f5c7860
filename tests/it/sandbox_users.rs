//! The built command as an ordinary user: a copy of it, in a directory that everybody may read, run by `setpriv` without any
//! right. Where the tests are not run by root they are run as the user who runs them.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::cli::{events, text};
use super::sandbox::skipped;
use super::sandbox_backends::{ATTACKS, LACKING};

/// A user whom nobody is.
const NOBODY: &str = "61234";

/// A directory with the command, a task, and the programs of all attacks.
struct Home {
    folder: TempDir,
}

impl Home {
    fn new() -> Option<Self> {
        if rustix::process::geteuid().is_root() && Command::new("setpriv").arg("--version").output().is_err() {
            skipped("there is no setpriv, by which root becomes an ordinary user");
            return None;
        }
        // Below /tmp some machines let no program be executed.
        let folder = tempfile::tempdir_in(if Path::new("/var/tmp").exists() { "/var/tmp" } else { "/tmp" }).unwrap();
        let place = folder.path();
        fs::set_permissions(place, Permissions::from_mode(0o777)).unwrap();
        fs::copy(env!("CARGO_BIN_EXE_rolecall"), place.join("rolecall")).unwrap();
        let task = "id = \"next\"\nlanguage = \"python\"\nstatement = \"f returns its argument plus 1.\"\n\
                    entry_point = \"f\"\n\n[visible]\ncode = \"assert f(1) == 2\"\n";
        fs::write(place.join("task.toml"), task).unwrap();
        for (index, (_, program)) in ATTACKS.iter().enumerate() {
            fs::write(place.join(format!("{index}.py")), program).unwrap();
        }
        Some(Self { folder })
    }

    fn run(&self, arguments: &[String]) -> Output {
        self.run_in(&[], arguments)
    }

    /// Runs it by another command.
    fn run_in(&self, outer: &[&str], arguments: &[String]) -> Output {
        let place = self.folder.path();
        let is_root = rustix::process::geteuid().is_root();
        let setpriv: &[&str] = &["setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"];
        let own = place.join("rolecall").display().to_string();
        let words = if is_root { setpriv } else { &[] }.iter().chain(outer).copied().chain([own.as_str()]);
        let words: Vec<&str> = words.collect();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).args(arguments).current_dir(place).stdin(Stdio::null()).env_clear();
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("ROLECALL_CACHE", place.join("cache"));
        command.output().unwrap()
    }

    /// Judges all attacks and gives the record of the isolation that each of them had.
    fn judge_attacks(&self, more: &[&str]) -> Option<(Value, Output)> {
        let given = ["judge", "--json", "--task", "task.toml"].into_iter().chain(more.iter().copied());
        let programs = (0..ATTACKS.len()).map(|index| format!("{index}.py"));
        let output = self.run(&given.map(str::to_owned).chain(programs).collect::<Vec<_>>());
        let said = text(&output.stderr);
        let is_lacking = LACKING.iter().any(|lacks| said.contains(lacks)) || said.contains("which this machine lacks");
        if output.status.code() == Some(69) && is_lacking {
            skipped(&said);
            return None;
        }
        assert_eq!(output.status.code(), Some(0), "{said}");
        let events = events(&output);
        let found: BTreeMap<u64, &str> =
            events.iter().map(|event| (event["index"].as_u64().unwrap(), event["verdict"].as_str().unwrap())).collect();
        for (index, (verdict, program)) in ATTACKS.iter().enumerate() {
            assert_eq!(found[&(index as u64)], verdict.name(), "{program}\n{}", events[index]);
        }
        Some((events[0]["isolation"].clone(), output))
    }
}

#[test]
fn an_ordinary_user_is_protected_by_name_spaces() {
    let Some(home) = Home::new() else { return };
    let Some((isolation, _)) = home.judge_attacks(&[]) else { return };
    assert!(["user_namespaces", "bubblewrap"].contains(&isolation["backend"].as_str().unwrap()), "{isolation}");
    assert_eq!(isolation["network"], true);
}

#[test]
fn an_ordinary_user_may_ask_for_reduced_isolation_and_every_record_says_so() {
    let Some(home) = Home::new() else { return };
    let Some((isolation, output)) = home.judge_attacks(&["--sandbox", "reduced"]) else { return };
    assert_eq!((&isolation["backend"], &isolation["network"]), (&"reduced".into(), &false.into()));
    assert!(text(&output.stderr).contains("warning: reduced isolation"), "{}", text(&output.stderr));
}

/// Inside a user name space that allows no further one, `bwrap` fails too.
#[test]
fn where_nothing_isolates_nothing_is_run_and_the_error_says_how_to_go_on() {
    let Some(home) = Home::new() else { return };
    let without = ["bwrap", "--dev-bind", "/", "/", "--unshare-user", "--disable-userns"];
    if !home.run_in(&without, &["--version".to_owned()]).status.success() {
        skipped("bwrap is not here, by which user name spaces are switched off");
        return;
    }
    let arguments = ["judge", "--json", "--task", "task.toml", "0.py"].map(str::to_owned);
    let output = home.run_in(&without, &arguments);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(69), String::new()));
    let said = text(&output.stderr);
    for expected in [
        "error: cannot isolate untrusted programs: root_namespaces: this is not root",
        "user_namespaces: creating a user name space failed",
        "bubblewrap: bwrap: ",
        "hint: allow user name spaces",
        "--sandbox reduced",
    ] {
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn the_doctor_tells_an_ordinary_user_what_there_is() {
    let Some(home) = Home::new() else { return };
    let output = home.run(&["doctor".to_owned(), "--json".to_owned()]);
    let events = events(&output);
    let [found] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!(output.status.code(), Some(if found["ready"] == true { 0 } else { 69 }), "{found}");
    let backends = found["backends"].as_array().unwrap();
    assert_eq!(backends.len(), 4);
    assert_eq!((&backends[0]["backend"], &backends[0]["works"]), (&"root_namespaces".into(), &false.into()));
    assert_eq!(backends[0]["refused"], "this is not root with all its rights");
    let python = &found["languages"][0];
    assert_eq!(python["language"], "python");
    assert_eq!(python["complete"], python["tools"][0]["missing"].is_null());
    let words = home.run(&["doctor".to_owned()]);
    assert_eq!(words.status.code(), output.status.code());
    let words = text(&words.stdout);
    for expected in ["kernel ", "Landlock ", "backend     reduced: ", "Python "] {
        assert!(words.contains(expected), "{words}");
    }
}
