//! The built command on files and machines that mean it no good. Each test guards against a fault that was there.

use std::{
    ffi::OsStr,
    fs::{self, File, OpenOptions},
    os::unix::ffi::OsStrExt,
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use super::cli::{EASY, events, rolecall, run, text};

/// What a command says, which must end by itself.
fn ended(mut command: Command) -> Output {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("{command:?} hangs");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.wait_with_output().unwrap()
}

#[test]
fn pipes_and_devices_in_place_of_files_are_refused_and_never_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.toml").display().to_string();
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for path in [pipe.as_str(), "/dev/zero"] {
        let commands: [&[&str]; 7] = [
            &["run", "--topology", path, "--task", EASY],
            &["run", "--topology", "seidr", "--task", path],
            &["run", "--topology", "seidr", "--benchmark", "quixbugs", "--path", path],
            &["judge", "--task", EASY, path],
            &["judge", "--task", EASY, "--samples-file", path],
            &["trace", "show", path],
            &["run", "--topology", "seidr", "--task", EASY, "--model", path],
        ];
        for arguments in commands {
            let output = ended(rolecall(arguments));
            let said = text(&output.stderr);
            assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(2), ""), "{arguments:?}: {said}");
            assert!(said.contains(path), "{arguments:?}: {said}");
        }
    }
}

#[test]
fn a_wall_budget_longer_than_any_duration_is_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    let traces = folder.path().display().to_string();
    let budget = "programs=1,wall_secs=1e300";
    let run_with = ["run", "--topology", "self_debug", "--task", EASY, "--seed", "1", "--json", "--budget", budget];
    let output = run(&[&run_with[..], &["--traces", &traces]].concat());
    let said = text(&output.stderr);
    assert_eq!((output.status.code(), said.contains("panicked")), (Some(0), false), "{said}");
    assert_eq!(events(&output)[0]["outcome"], "budget_programs");
}

#[test]
fn data_that_cannot_be_written_is_said_and_is_no_success() {
    let full = || OpenOptions::new().write(true).open("/dev/full").unwrap();
    let commands: [&[&str]; 4] =
        [&["roles", "--json"], &["topology", "show", "seidr"], &["--help"], &["judge", "--task", EASY, "/dev/null.py"]];
    for arguments in &commands[..3] {
        let output = rolecall(arguments).stdout(full()).output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(said.starts_with("error: stdout cannot be written: "), "{arguments:?}: {said}");
    }
    // A mistake keeps its own code, and who has read enough is no mistake.
    assert_eq!(rolecall(commands[3]).stdout(full()).output().unwrap().status.code(), Some(2));
    let mut child = rolecall(&["roles"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn json_is_one_object_a_line_from_every_verb() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::write(path("wrong.toml"), "extends = \"seidr\"\n[budget]\nprogramms = 3\n").unwrap();
    let traces = path("traces");
    let begin = ["run", "--topology", "self_debug", "--task", EASY, "--seed", "1", "--budget", "programs=1"];
    let trace = events(&run(&[&begin[..], &["--json", "--traces", &traces]].concat()))[0]["trace"].clone();
    let wrong = path("wrong.toml");
    let commands: [(&[&str], &str); 6] = [
        (&["roles"], "role"),
        (&["topology", "show", "seidr"], "topology"),
        (&["topology", "check", "seidr"], "checked"),
        (&["topology", "check", &wrong], "checked"),
        (&["topology", "diff", "seidr", "self_debug"], "difference"),
        (&["trace", "show", trace.as_str().unwrap()], "trace"),
    ];
    for (arguments, event) in commands {
        let events = events(&run(&[arguments, &["--json"]].concat()));
        assert!(!events.is_empty() && events.iter().all(|one| one["event"] == event), "{arguments:?}: {events:?}");
    }
    for arguments in [["topology", "show", &wrong], ["trace", "show", &wrong], ["judge", "--task", &wrong]] {
        let output = run(&[&arguments[..], &["--json"]].concat());
        assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(2), ""), "{arguments:?}");
    }
}

#[test]
fn nothing_that_a_program_prints_or_a_file_says_commands_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (program, arrangement) = (path("escapes.py"), path("escapes.toml"));
    fs::write(&program, "print('\\x1b[31mred\\x1b]0;title\\x07')\nraise ValueError('\\x1b[2J')\n").unwrap();
    fs::write(&arrangement, "extends = \"seidr\"\nname = \"a\\u001b[31mb\"\ndescription = \"c\\u009b31m\"\n").unwrap();
    let traces = path("traces");
    let run_it = ["run", "--topology", &arrangement, "--task", EASY, "--budget", "programs=0", "--traces", &traces];
    for arguments in [&["judge", "--task", EASY, &program][..], &["topology", "show", &arrangement], &run_it] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output.stderr));
        let said = text(&output.stdout) + &text(&output.stderr);
        assert!(said.contains('\u{fffd}'), "{arguments:?}: {said}");
        assert!(!said.contains(|one: char| one.is_control() && one != '\n'), "{arguments:?}: {said:?}");
    }
}

#[test]
fn options_without_effect_and_variables_that_are_no_text_are_mistakes() {
    for option in [["--language", "ruby"], ["--path", "examples"]] {
        let output = run(&[&["run", "--topology", "seidr", "--task", EASY][..], &option].concat());
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{option:?}: {said}");
        assert!(said.contains(&format!("{} has no use without --benchmark", option[0])), "{said}");
    }
    for variable in ["ROLECALL_BUDGET", "ROLECALL_MODEL", "ROLECALL_PARALLEL_TURNS"] {
        let mut command = rolecall(&["run", "--topology", "seidr", "--task", EASY]);
        let output = command.env(variable, OsStr::from_bytes(b"\xff")).output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{variable}: {said}");
        assert!(said.contains(&format!("{variable}:1:1: ")), "{said}");
    }
}

#[test]
fn explain_says_flag_also_where_an_option_repeats_its_default() {
    let command = ["run", "--topology", "seidr", "--task", EASY, "--explain", "--json"];
    let options = ["--samples", "1", "--feedback", "visible", "--traces", "traces"];
    for (arguments, expected) in [(&[&command[..], &options].concat(), "flag"), (&command.to_vec(), "default")] {
        let settings = events(&run(arguments));
        for key in ["samples", "feedback", "traces"] {
            let setting = settings.iter().find(|setting| setting["key"] == key).unwrap();
            assert_eq!(setting["source"], expected, "{key}");
        }
    }
}

#[test]
fn a_run_whose_traces_cannot_be_written_goes_on_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let taken = folder.path().join("taken");
    File::create(&taken).unwrap();
    let taken = taken.display().to_string();
    let begin = ["run", "--topology", "self_debug", "--task", EASY, "--seed", "1", "--budget", "programs=1"];
    let output = run(&[&begin[..], &["--json", "--traces", &taken]].concat());
    let said = text(&output.stderr);
    assert_eq!((output.status.code(), events(&output).len()), (Some(0), 2), "{said}");
    assert!(said.contains("spans could not be written (") && said.contains(&taken), "{said}");
}

#[test]
fn no_task_file_of_a_folder_is_passed_over_and_none_is_taken_twice() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("link.toml");
    let easy = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(EASY);
    fs::copy(easy, folder.path().join("easy.toml")).unwrap();
    std::os::unix::fs::symlink("nowhere", &link).unwrap();
    let tasks = folder.path().display().to_string();
    let twice = format!("{EASY}: duplicate task id `robot-walk`, first used in {EASY}");
    for (options, expected) in
        [(&["--tasks", &tasks][..], "link.toml: cannot read: "), (&["--task", EASY, "--task", EASY], &twice)]
    {
        let output = run(&[&["run", "--topology", "seidr"][..], options].concat());
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{options:?}: {said}");
        assert!(said.contains(expected), "{options:?}: {said}");
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_program() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("marked.py");
    fs::write(&program, "\u{feff}print('Hello')\n").unwrap();
    let output = run(&["judge", "--task", EASY, &program.display().to_string(), "--json"]);
    assert_eq!(events(&output)[0]["verdict"], "wrong", "{}", text(&output.stderr));
}

#[test]
fn every_variable_that_is_read_is_documented() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let documented = fs::read_to_string(root.join("docs/environment.md")).unwrap();
    let mut folders = vec![root.join("src")];
    let mut found = 0;
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let source = fs::read_to_string(&path).unwrap();
            let is_name = |word: &&str| word.chars().all(|one| one.is_ascii_uppercase() || one == '_');
            let is_ours = |word: &&str| ["ROLECALL_", "OTEL_", "OPENAI_"].iter().any(|start| word.starts_with(start));
            for word in source.split('"').filter(is_name).filter(is_ours) {
                assert!(documented.contains(&format!("`{word}`")), "{word} of {}", path.display());
                found += 1;
            }
        }
    }
    assert!(found > 10, "{found}");
}
