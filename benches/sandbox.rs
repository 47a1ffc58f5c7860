//! What one candidate process and one judgement cost beside a bare interpreter that does nothing, in one run:
//! `cargo bench --bench sandbox` prints milliseconds (medians of interleaved rounds) and ratios.
//!
//! The interpreter is the same in every row: the one that the sandbox finds, by its true path, never a shim.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, missing_docs, reason = "a benchmark")]

#[path = "common/median.rs"]
mod median;

use std::{
    path::PathBuf,
    process::{Command, Stdio},
    sync::Arc,
    time::Instant,
};

use median::median;
use rolecall::{
    benchmarks::assertions,
    domain::{IoCase, Language, Limits, OutputRule, Program, TestSuite},
    sandbox::{Job, LocalSandbox, Sandbox},
};
use tokio_util::sync::CancellationToken;

const ROUNDS: usize = 100;

/// Another program each round: the sandbox does not run the same job twice.
fn job(round: usize, text: &str, entry_point: Option<&str>, tests: TestSuite) -> Job {
    Job {
        program: Arc::new(Program::new(Language::Python, format!("{text}\n# {round}\n"))),
        tests: Arc::new(tests),
        entry_point: entry_point.map(str::to_owned),
        support: None,
        preamble: None,
        limits: Limits::default(),
    }
}

/// One process that does nothing.
fn nothing(round: usize) -> Job {
    let cases = vec![IoCase { stdin: String::new(), stdout: String::new() }];
    job(round, "pass", None, TestSuite::Io { cases, rule: OutputRule::Tokens })
}

/// A small function with eight assertions.
fn judgement(round: usize) -> Job {
    let code: String = (1..9).map(|n| format!("assert f({n}) == {}\n", n + 1)).collect();
    let tests = TestSuite::Assertions { assertions: assertions(&code).unwrap(), code };
    job(round, "def f(n):\n    return n + 1", Some("f"), tests)
}

fn interpreter() -> String {
    let name = std::env::var("ROLECALL_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let question = "import os, sys; print(os.path.realpath(sys.executable))";
    let output = Command::new(name).args(["-c", question]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Milliseconds of a command that must succeed.
fn timed(command: &mut Command) -> f64 {
    let start = Instant::now();
    assert!(command.stdin(Stdio::null()).stdout(Stdio::null()).status().unwrap().success());
    start.elapsed().as_secs_f64() * 1e3
}

async fn judged(sandbox: &LocalSandbox, job: &Job) -> f64 {
    let start = Instant::now();
    assert!(sandbox.judge(job, &CancellationToken::new()).await.unwrap().passed());
    start.elapsed().as_secs_f64() * 1e3
}

/// The interpreter in name spaces of bubblewrap, with the file system read-only.
fn bubblewrap(python: &str) -> Command {
    let mut command = Command::new("bwrap");
    command.args(["--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev", "--tmpfs", "/tmp"]);
    command.args([python, "-c", "pass"]);
    command
}

#[tokio::main]
async fn main() {
    let launcher = PathBuf::from(env!("CARGO_BIN_EXE_rolecall"));
    let warm = LocalSandbox::start(launcher.clone(), 1, &[Language::Python]).await.unwrap();
    let cold = LocalSandbox::start_cold(launcher, 1, &[Language::Python]).await.unwrap();
    let python = interpreter();
    let wrapped = bubblewrap(&python).stderr(Stdio::null()).stdout(Stdio::null()).status().is_ok_and(|it| it.success());
    let mut rows: [Vec<f64>; 5] = Default::default();
    for round in 0..ROUNDS {
        rows[0].push(timed(Command::new(&python).args(["-c", "pass"])));
        rows[1].push(judged(&cold, &nothing(round)).await);
        rows[2].push(judged(&warm, &nothing(round)).await);
        rows[3].push(judged(&warm, &judgement(round)).await);
        if wrapped {
            rows[4].push(timed(&mut bubblewrap(&python)));
        }
    }
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("load {}; {ROUNDS} interleaved rounds, medians; {python}", load.trim());
    let [bare, cold, warm, judgement] = [0, 1, 2, 3].map(|row| median(&rows[row]));
    println!("bare python3 -c pass                  {bare:7.2} ms");
    match rows[4].is_empty() {
        true => println!("bubblewrap                            not installed, or not allowed here"),
        false => println!("bubblewrap                            {:7.2} ms", median(&rows[4])),
    }
    println!("ours, cold (resident launcher)        {cold:7.2} ms");
    println!("ours, warm                            {warm:7.2} ms");
    println!("judgement, 8 assertions, warm         {judgement:7.2} ms (the first of a slot {:.2} ms)", rows[3][0]);
    println!("ratio warm {:.2}", warm / bare);
    println!("ratio cold {:.2}", cold / bare);
    println!("ratio judgement {:.2}", judgement / bare);
}
