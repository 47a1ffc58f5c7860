//! Files by URL and checksum, from a server on this machine.

use std::{
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    path::Path,
    process::{Output, Stdio},
    sync::mpsc,
    thread,
};

use rolecall::benchmarks::{Sha256, origins};
use tempfile::TempDir;

use super::datasets;
use crate::cli::{events, rolecall, text};

const BODY: &[u8] = b"one\ntwo\n";

/// A server that answers each request by its path; the thread ends with the test's process.
fn server(answer: impl Fn(&str) -> Vec<u8> + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
            let Some(first) = lines.next() else { continue };
            for _ in lines.by_ref().take_while(|line| !line.is_empty()) {}
            let _ = stream.write_all(&answer(first.split(' ').nth(1).unwrap()));
        }
    });
    format!("http://{address}")
}

fn answer(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n");
    [head.as_bytes(), body].concat()
}

fn good(_: &str) -> Vec<u8> {
    answer("200 OK", "", BODY)
}

fn sum(bytes: &[u8]) -> String {
    Sha256::of(bytes).unwrap().to_string()
}

fn fetched(out: &Path, arguments: &[&str]) -> Output {
    let mut command = rolecall(&["benchmarks", "fetch", "--out"]);
    command.arg(out).args(arguments).env_remove("HTTP_PROXY").env_remove("http_proxy").env("NO_PROXY", "*");
    command.output().unwrap()
}

fn out() -> (TempDir, std::path::PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("a/b");
    (dir, out)
}

fn files(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_file_with_the_right_checksum_is_kept_and_asked_for_once() {
    let (_dir, out) = out();
    let url = format!("{}/data/set.jsonl?key=1", server(good));
    let first = fetched(&out, &["mbpp", "--url", &url, "--sha256", &sum(BODY), "--json"]);
    assert_eq!(first.status.code(), Some(0), "{}", text(&first.stderr));
    assert_eq!(std::fs::read(out.join("set.jsonl")).unwrap(), BODY);
    let [event] = &events(&first)[..] else { panic!() };
    assert_eq!((&event["event"], &event["benchmark"]), (&"fetched".into(), &"mbpp".into()));
    assert_eq!((&event["licence"], &event["already"]), (&"CC BY 4.0".into(), &false.into()));
    // Nobody listens there.
    let again = ["--url", "http://127.0.0.1:1/set.jsonl", "--sha256", &sum(BODY), "--json"];
    assert_eq!(events(&fetched(&out, &again))[0]["already"], true);
    let other = fetched(&out, &["--url", &url, "--sha256", &sum(b"x")]);
    assert_eq!(other.status.code(), Some(1));
    assert!(text(&other.stderr).contains("there is another file of this name, with SHA-256"));
    assert_eq!(std::fs::read(out.join("set.jsonl")).unwrap(), BODY);
    assert_eq!(files(&out), ["set.jsonl"]);
}

#[test]
fn what_is_not_right_leaves_nothing_behind() {
    let url = server(|path| match path {
        "/cut" => b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\nconnection: close\r\n\r\none".to_vec(),
        "/endless" => {
            let head = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n".to_vec();
            [head, vec![b'x'; 100_000]].concat()
        }
        "/packed" => answer("200 OK", "content-encoding: gzip\r\n", BODY),
        "/missing" => answer("404 Not Found", "", b"no"),
        "/round" => answer("302 Found", "location: /round\r\n", b""),
        "/away" => answer("302 Found", "location: ftp://127.0.0.1/set\r\n", b""),
        "/here" => answer("301 Moved", "location: /set\r\n", b""),
        _ => good(path),
    });
    for (path, sha256, said) in [
        ("/set", sum(b"other"), "in place of"),
        ("/cut", sum(BODY), "127.0.0.1"),
        ("/endless", sum(BODY), "the file is longer than 5000 bytes"),
        ("/packed", sum(BODY), "the server packs the file with `gzip`"),
        ("/missing", sum(BODY), "the server answers 404"),
        ("/round", sum(BODY), "more than 5 redirects"),
        ("/away", sum(BODY), "it redirects to a place that is not followed"),
    ] {
        let (_dir, out) = out();
        let output = fetched(&out, &["--url", &format!("{url}{path}"), "--sha256", &sha256, "--max-bytes", "5000"]);
        assert_eq!(output.status.code(), Some(1), "{path}");
        assert!(text(&output.stderr).contains(said), "{path}: {}", text(&output.stderr));
        assert_eq!(files(&out), Vec::<String>::new(), "{path}");
    }
    let (_dir, out) = out();
    let moved = fetched(&out, &["--url", &format!("{url}/here"), "--sha256", &sum(BODY)]);
    assert_eq!((moved.status.code(), files(&out)), (Some(0), vec!["here".to_owned()]), "{}", text(&moved.stderr));
}

#[test]
fn an_interrupt_ends_a_download_and_leaves_nothing() {
    let (_dir, out) = out();
    let (asked, was_asked) = mpsc::channel();
    let url = server(move |_| {
        asked.send(()).unwrap();
        loop {
            thread::park();
        }
    });
    let mut command =
        rolecall(&["benchmarks", "fetch", "--url", &format!("{url}/set"), "--sha256", &sum(BODY), "--out"]);
    let mut child = command.arg(&out).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    was_asked.recv().unwrap();
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT).unwrap();
    assert_eq!((child.wait().unwrap().code(), files(&out)), (Some(130), Vec::new()));
}

#[test]
fn arguments_that_cannot_be_are_refused_before_anybody_is_asked() {
    let (_dir, out) = out();
    let right = sum(BODY);
    for (arguments, said) in [
        (vec!["quixbugs"], "no checksum of the files of quixbugs is known"),
        (vec!["human-eval"], "did you mean `humaneval`?"),
        (vec!["humaneval", "--language", "go"], "humaneval is not read in Go"),
        (vec!["--url", "http://127.0.0.1:1/x"], "--sha256"),
        (vec!["--url", "http://127.0.0.1:1/x", "--sha256", "12"], "a SHA-256 is 64 hexadecimal digits"),
        (vec!["--url", "http://127.0.0.1:1/", "--sha256", &right], "give --file NAME"),
        (vec!["--url", "http://127.0.0.1:1/x", "--sha256", &right, "--file", "../x"], "`../x` cannot name a file here"),
    ] {
        let output = fetched(&out, &arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text(&output.stderr).contains(said), "{}", text(&output.stderr));
    }
    let secret = fetched(&out, &["--url", "http://me:word@127.0.0.1:1/x", "--sha256", &right]);
    assert_eq!(secret.status.code(), Some(1));
    assert!(text(&secret.stderr).contains("without a name or password") && !text(&secret.stderr).contains("word@"));
}

#[test]
fn public_data_is_fetched_by_name_and_a_mirror_cannot_change_it() {
    let folder = datasets().join("humaneval");
    let bytes = std::fs::read(folder.join("HumanEval.jsonl.gz")).unwrap();
    let right = server(move |path| match path {
        "/a/HumanEval.jsonl.gz" => answer("200 OK", "", &bytes),
        _ => answer("404 Not Found", "", b""),
    });
    let (_dir, out) = out();
    let wrong = fetched(&out, &["humaneval", "--mirror", &server(good)]);
    assert_eq!((wrong.status.code(), files(&out)), (Some(1), Vec::new()));
    let output = fetched(&out, &["humaneval", "--mirror", &format!("{right}/a")]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(files(&out), ["HumanEval.jsonl.gz"]);
    assert!(text(&output.stderr).contains("the data of humaneval is MIT: https://"), "{}", text(&output.stderr));
}

#[test]
fn files_go_where_the_data_set_is_looked_for() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("humanevalpack")).unwrap();
    for (name, folder) in [("humanevalfix", "humanevalpack"), ("mbpp", "mbpp")] {
        let url = format!("{}/set.jsonl", server(good));
        let mut command = rolecall(&["benchmarks", "fetch", name, "--url", &url, "--sha256", &sum(BODY)]);
        let output = command.env("ROLECALL_DATASETS", root.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert_eq!(files(&root.path().join(folder)), ["set.jsonl"]);
    }
}

#[test]
fn published_checksums_are_those_of_the_public_data_here() {
    let mut seen = 0;
    for origin in ["humaneval", "humaneval-x"].into_iter().flat_map(origins) {
        let bytes = std::fs::read(datasets().join(origin.benchmark).join(origin.file())).unwrap();
        assert_eq!(sum(&bytes), origin.sha256, "{}", origin.url);
        seen += 1;
    }
    assert_eq!(seen, 7);
}
