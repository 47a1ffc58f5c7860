//! The built command, as a user meets it: what it prints where, and how it ends.

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    net::TcpListener,
    path::Path,
    process::{Child, Command, Output, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;
use tempfile::TempDir;

pub const EASY: &str = "examples/tasks/robot-walk.toml";

pub fn rolecall(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rolecall"));
    command.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).stdin(Stdio::null());
    command.env("ROLECALL_STORE", "memory");
    for variable in ["OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL", "OTEL_EXPORTER_OTLP_ENDPOINT"] {
        command.env_remove(variable);
    }
    command
}

pub fn run(arguments: &[&str]) -> Output {
    rolecall(arguments).output().unwrap()
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Every line of stdout is one JSON object.
pub fn events(output: &Output) -> Vec<Value> {
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn traces() -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("traces").display().to_string();
    (folder, path)
}

#[test]
fn a_run_repairs_a_program_offline_and_says_so_as_json() {
    let (_folder, traces) = traces();
    let output =
        run(&["run", "--topology", "self_debug", "--task", EASY, "--seed", "1", "--traces", &traces, "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let events = events(&output);
    let [conversation, run] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!(conversation["event"], "conversation_finished");
    assert_eq!(conversation["outcome"], "tests_passed");
    assert_eq!((&conversation["solved"], &conversation["scored_on"]), (&true.into(), &"hidden".into()));
    assert!(conversation["programs"].as_u64().unwrap() >= 1);
    assert_eq!(conversation["programs"], conversation["programs_to_solve"]);
    let trace = fs::read_to_string(conversation["trace"].as_str().unwrap()).unwrap();
    assert!(trace.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
    assert_eq!((&run["event"], &run["solved"], &run["conversations"]), (&"run_finished".into(), &1.into(), &1.into()));
    assert!(!text(&output.stderr).contains(['\u{1b}', '\r']), "no colours or carriage returns away from a terminal");
}

#[test]
fn a_run_s_last_table_counts_first_errors_by_their_kind() {
    let (folder, traces) = traces();
    let mut arguments = vec!["run", "--topology", "self_debug", "--budget", "programs=1", "--seed", "1"];
    let starters = [
        ("wrong", "return n"),
        ("name", "return missing"),
        ("text", "return (n"),
        ("other", "return n // 0"),
        ("right", "return n + 1"),
    ];
    let files = starters.map(|(name, body)| {
        let file = folder.path().join(format!("{name}.toml")).display().to_string();
        let task = format!(
            "id = '{name}'\nlanguage = 'python'\nstatement = 'Add one.'\nentry_point = 'f'\n\
             starter = '''\ndef f(n):\n    {body}\n'''\n[visible]\ncode = 'assert f(1) == 2'\n"
        );
        fs::write(&file, task).unwrap();
        file
    });
    arguments.extend(files.iter().flat_map(|file| ["--task", file.as_str()]));
    arguments.extend(["--traces", &traces]);
    let said = text(&run(&arguments).stdout);
    let rows: Vec<String> = said
        .lines()
        .skip_while(|line| !line.contains("first error"))
        .take(5)
        .map(|line| line.split_whitespace().take(2).collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(rows, ["first error", "assertion 1", "name 1", "syntax 1", "other 1"], "{said}");
    arguments.push("--json");
    let last = events(&run(&arguments)).pop().unwrap();
    let kinds = last["error_types"].as_array().unwrap().iter().map(|kind| kind["error_type"].as_str().unwrap());
    assert_eq!(kinds.collect::<Vec<_>>(), ["assertion", "name", "syntax", "other"]);
}

#[test]
fn the_same_seed_gives_the_same_result_at_any_concurrency() {
    let result = |concurrency: &str| {
        let (_folder, traces) = traces();
        let mut arguments = vec!["run", "--topology", "self_debug", "--seed", "5", "--budget", "programs=12", "--json"];
        arguments.extend(["--samples", "2", "--concurrency", concurrency, "--traces", &traces]);
        for task in [EASY, "examples/tasks/parking-fee.toml", "examples/tasks/stock-reserve.toml"] {
            arguments.extend(["--task", task]);
        }
        let mut events = events(&run(&arguments));
        events.retain(|event| event["event"] == "conversation_finished");
        events.sort_by_key(|event| (event["task"].to_string(), event["sample"].as_u64()));
        for event in &mut events {
            for volatile in ["conversation", "run", "started_ns", "ended_ns", "seconds", "trace"] {
                event.as_object_mut().unwrap().remove(volatile);
            }
        }
        assert_eq!(events.len(), 6);
        events
    };
    assert_eq!(result("1"), result("8"));
}

#[test]
fn a_table_for_people_and_the_trace_as_a_tree() {
    let (_folder, traces) = traces();
    let output = run(&["run", "--topology", "self_debug", "--task", EASY, "--seed", "1", "--traces", &traces]);
    let table = text(&output.stdout);
    assert!(table.contains("robot-walk") && table.contains("tests_passed") && table.contains("1 of 1"), "{table}");
    let name = table.split_whitespace().find(|word| word.ends_with(".jsonl")).unwrap().to_owned();
    let shown = run(&["trace", "show", &name]);
    assert_eq!(shown.status.code(), Some(0));
    let tree = text(&shown.stdout);
    assert!(tree.contains("tests_passed") && tree.contains("executor") && tree.contains("debugger"), "{tree}");
}

#[test]
fn judge_says_each_test_s_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("wrong.py");
    fs::write(&program, "print('Hello')\n").unwrap();
    let output = run(&["judge", "--task", EASY, &program.display().to_string(), "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let [judged] = events(&output).try_into().unwrap();
    assert_eq!(
        (&judged["event"], &judged["task"], &judged["verdict"]),
        (&"judged".into(), &"robot-walk".into(), &"wrong".into())
    );
    assert_eq!((&judged["protocol"], &judged["compile_output"]), (&"split".into(), &serde_json::Value::Null));
    assert!(judged["tests"].as_array().unwrap().iter().any(|test| test["set"] == "hidden"));
    let page = text(&run(&["judge", "--task", EASY, &program.display().to_string()]).stdout);
    assert!(page.contains("wrong.py (robot-walk): wrong"), "{page}");
}

#[test]
fn judge_reads_samples_of_the_human_eval_format() {
    let folder = tempfile::tempdir().unwrap();
    let samples = folder.path().join("samples.jsonl");
    let line = |completion: &str| format!("{{\"task_id\": \"HumanEval/53\", \"completion\": {completion:?}}}\n");
    fs::write(&samples, [line("    return x + y\n"), line("    return x - y\n")].concat()).unwrap();
    let data = crate::benchmarks::datasets().join("humaneval").display().to_string();
    let arguments = ["judge", "--benchmark", "humaneval", "--path", &data, "--json", "--samples-file"];
    let output = run(&[&arguments[..], &[&samples.display().to_string()]].concat());
    let verdicts: Vec<String> = events(&output).iter().map(|event| event["verdict"].to_string()).collect();
    assert_eq!(verdicts, ["\"passed\"", "\"wrong\""], "{}", text(&output.stderr));
}

#[test]
fn mistakes_are_located_and_end_with_code_2_before_anything_starts() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let typo = file("typo.toml", "extends = \"seidr\"\n[budget]\nprogramms = 3\n");
    let task = file("task.toml", "id = 7\n");
    let data = file("data.jsonl", "{\"task_id\": \"a\"\n");
    let none = folder.path().join("none.toml").display().to_string();
    let cases: &[(&[&str], &str)] = &[
        (&["run", "--topology", &typo, "--task", EASY], "typo.toml:3:1: "),
        (&["run", "--topology", "seider", "--task", EASY], "seidr"),
        (&["run", "--topology", "seidr", "--task", &task], "task.toml:1:"),
        (&["run", "--topology", "seidr", "--task", &none], "none.toml"),
        (&["run", "--topology", "seidr", "--benchmark", "quixbug", "--path", "."], "quixbugs"),
        (&["run", "--topology", "seidr", "--benchmark", "quixbugs", "--path", &data], "data.jsonl:1:"),
        (&["run", "--topology", "seidr", "--benchmark", "quixbugs"], "--path"),
        (&["run", "--topology", "seidr", "--task", EASY, "--budget", "programs=many"], "programs"),
        (&["run", "--topology", "seidr", "--task", EASY, "--model", "debuger=templates"], "debugger"),
        (&["run", "--topology", "seidr", "--task", EASY, "--task-id", "robot-wolk"], "robot-walk"),
        (&["run", "--topology", "seidr"], "--task"),
        (&["judge", "--task", EASY], "no program"),
        (&["topology", "check", &typo], "typo.toml:3:1: "),
        (&["trace", "show", &typo], "typo.toml:1"),
        (&["fly"], "unrecognized subcommand"),
    ];
    for (arguments, expected) in cases {
        let output = run(arguments);
        let said = text(&output.stderr) + &text(&output.stdout);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(expected), "{arguments:?}: {said}");
        assert!(!said.contains("panicked"), "{said}");
    }
}

#[test]
fn a_task_without_a_starter_is_refused_where_the_model_needs_one() {
    let data = crate::benchmarks::datasets().join("humaneval").display().to_string();
    let output = run(&["run", "--topology", "seidr", "--benchmark", "humaneval", "--path", &data]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("synthesizer drafts with `templates`, which changes a starter program"));
}

#[test]
fn a05_explain_prints_each_effective_setting_with_its_source() {
    let output = run(&[
        "run",
        "--topology",
        "seidr",
        "--task",
        EASY,
        "--budget",
        "programs=7",
        "--seed",
        "3",
        "--explain",
        "--json",
    ]);
    let settings = events(&output);
    let find = |key: &str| settings.iter().find(|setting| setting["key"] == key).unwrap();
    assert_eq!(
        (&find("budget.programs")["value"], &find("budget.programs")["source"]),
        (&7.into(), &"--budget".into())
    );
    assert_eq!(find("seed")["source"], "flag");
    assert!(find("actors.ranker.settings.beam_width")["source"].as_str().unwrap().contains("seidr.toml"));
    assert_eq!(find("feedback.timeouts")["source"], "default");
}

#[test]
fn prompts_from_a_folder_are_checked_explained_and_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("mine/debugger/repair.md", "---user---\nRepair it:\n{{ program }}\n");
    write("broken/debugger/repair.md", "---user---\n{{ progam }}\n");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let check = |name: &str| run(&["topology", "check", "self_debug", "--prompts", &path(name)]);
    assert_eq!(check("mine").status.code(), Some(0));
    let broken = check("broken");
    let said = text(&broken.stdout);
    assert_eq!(broken.status.code(), Some(2));
    assert!(said.contains("broken/debugger/repair.md:2:4: a repair prompt has no `progam`"), "{said}");
    let said = text(&check("nowhere").stdout);
    assert!(said.contains("--prompts:1:1: there is no folder"), "{said}");

    let with = ["--task", EASY, "--prompts", &path("mine"), "--seed", "1", "--json"];
    let arguments = [&["run", "--topology", "self_debug"][..], &with].concat();
    let settings = events(&run(&[&arguments[..], &["--explain"]].concat()));
    let prompt = settings.iter().find(|setting| setting["key"] == "actors.debugger.prompts.repair").unwrap();
    assert_eq!(prompt["value"], path("mine/debugger/repair.md"));
    assert_eq!(prompt["source"], "because of prompts_dir");
    let (_folder, traces) = traces();
    let finished = events(&run(&[&arguments[..], &["--traces", &traces]].concat()));
    let hash = blake3::hash(&fs::read(path("mine/debugger/repair.md")).unwrap()).to_hex().to_string();
    assert_eq!(finished[0]["prompts"]["debugger.repair"], hash);
}

#[test]
fn a_part_of_a_data_set_is_scored_and_another_shown() {
    let folder = tempfile::tempdir().unwrap();
    let topology = folder.path().join("few.toml").display().to_string();
    let few = "extends = \"resample\"\nexamples = { benchmark = \"mbpp\", split = \"prompt\", count = 3 }\n";
    fs::write(&topology, few).unwrap();
    let data = crate::benchmarks::datasets().join("mbpp").display().to_string();
    let of = ["run", "--topology", &topology, "--benchmark", "mbpp", "--path", &data, "--model", "openai:m"];
    let refused = |options: &[&str]| {
        // A model that cannot be had ends the run after the examples were found right.
        let output = rolecall(&[&of[..], options].concat()).env("OPENAI_BASE_URL", "no address").output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        text(&output.stderr)
    };
    assert!(refused(&["--examples", &data]).contains("split `prompt` holds task Mbpp/1, which this run scores"));
    let said = refused(&["--examples", &data, "--split", "prompt"]);
    assert!(said.contains("split `prompt` holds task Mbpp/1, which this run scores"), "{said}");
    let said = refused(&["--split", "test"]);
    assert!(said.contains("examples come from mbpp, and nothing says where that is"), "{said}");
    let said = refused(&["--examples", &data, "--split", "tests"]);
    assert!(said.contains("mbpp has no split `tests`") && said.contains("did you mean `test`?"), "{said}");
    let said = refused(&["--examples", &data, "--split", "test"]);
    assert!(said.contains("model openai:m: "), "{said}");
    let said = text(&run(&["run", "--topology", "seidr", "--task", EASY, "--split", "all"]).stderr);
    assert!(said.contains("--split has no use without --benchmark"), "{said}");
}

#[test]
fn shipped_arrangements_are_right_and_can_be_listed_drawn_and_compared() {
    for name in ["seidr", "intervenor", "self_debug", "resample"] {
        assert_eq!(run(&["topology", "check", name]).status.code(), Some(0), "{name}");
    }
    assert!(text(&run(&["topology", "show", "seidr", "--mermaid"]).stdout).starts_with("flowchart"));
    assert!(text(&run(&["topology", "diff", "seidr", "self_debug"]).stdout).contains("ranker"));
    assert_eq!(events(&run(&["roles", "--json"])).len(), rolecall::agents::ROLES.len());
}

/// A server that takes connections and never answers.
fn silent_server() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    (listener, url)
}

fn interrupt(child: &Child) {
    rustix::process::kill_process(rustix::process::Pid::from_child(child), rustix::process::Signal::INT).unwrap();
}

#[test]
fn ctrl_c_ends_cleanly_with_what_is_done_saved() {
    let (_listener, url) = silent_server();
    let (_folder, traces) = traces();
    let mut child = rolecall(&["run", "--topology", "intervenor", "--task", EASY, "--model", "openai:m", "--json"])
        .args(["--seed", "1", "--traces", &traces])
        .env("OPENAI_BASE_URL", &url)
        .env("OPENAI_API_KEY", "k")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut talk = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(talk.next().unwrap().unwrap().starts_with("run "));
    std::thread::sleep(Duration::from_millis(500));
    interrupt(&child);
    let started = Instant::now();
    let status = child.wait().unwrap();
    assert!(started.elapsed() < Duration::from_secs(30));
    assert_eq!(status.code(), Some(130));
    let mut stdout = String::new();
    child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
    let events: Vec<Value> = stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events[0]["outcome"], "cancelled");
    assert!(Path::new(events[0]["trace"].as_str().unwrap()).exists());
    assert_eq!(events.last().unwrap()["event"], "run_finished");
}

#[test]
fn a_provider_that_refuses_the_key_ends_the_run_with_code_4() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        use std::io::Write;
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = [0; 4096];
            let _ = stream.read(&mut head);
            let body = r#"{"error": {"message": "bad key sk-SENTINEL", "code": "invalid_api_key"}}"#;
            let _ = write!(
                stream,
                "HTTP/1.1 401 Unauthorized\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
        }
    });
    let (_folder, traces) = traces();
    let output =
        rolecall(&["run", "--topology", "intervenor", "--task", EASY, "--model", "openai:m", "--traces", &traces])
            .env("OPENAI_BASE_URL", &url)
            .env("OPENAI_API_KEY", "sk-SENTINEL")
            .output()
            .unwrap();
    let said = text(&output.stderr) + &text(&output.stdout);
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(!said.contains("sk-SENTINEL"), "{said}");
}

#[test]
fn a_closed_pipe_is_no_panic() {
    let mut child = rolecall(&["roles", "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(!said.contains("panicked"), "{said}");
    child.wait().unwrap();
}
