//! What a judgement of a small function with eight assertions costs, beside a bare interpreter that does nothing, in one
//! run: `cargo bench --bench sandbox` prints milliseconds (medians of interleaved rounds) and their ratio.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, missing_docs, reason = "a benchmark")]

use std::{
    path::PathBuf,
    process::{Command, Stdio},
    sync::Arc,
    time::Instant,
};

use rolecall::{
    benchmarks::assertions,
    domain::{Language, Limits, Program, TestSuite},
    sandbox::{Job, LocalSandbox, Sandbox},
};
use tokio_util::sync::CancellationToken;

const ROUNDS: usize = 200;

fn job(round: usize) -> Job {
    let code: String = (1..9).map(|n| format!("assert f({n}) == {}\n", n + 1)).collect();
    let tests = TestSuite::Assertions { assertions: assertions(&code).unwrap(), code };
    Job {
        // Another text each time: the sandbox does not run the same job twice.
        program: Arc::new(Program::new(Language::Python, format!("def f(n):\n    return n + 1\n# {round}\n"))),
        tests: Arc::new(tests),
        entry_point: Some("f".to_owned()),
        support: None,
        preamble: None,
        limits: Limits::default(),
    }
}

fn bare() -> f64 {
    let start = Instant::now();
    let status = Command::new("/usr/bin/python3").args(["-c", "pass"]).stdin(Stdio::null()).status().unwrap();
    assert!(status.success());
    start.elapsed().as_secs_f64() * 1e3
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[tokio::main]
async fn main() {
    let sandbox =
        LocalSandbox::start(PathBuf::from(env!("CARGO_BIN_EXE_rolecall")), 1, &[Language::Python]).await.unwrap();
    let never = CancellationToken::new();
    let (mut judged, mut plain) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let start = Instant::now();
        assert!(sandbox.judge(&job(round), &never).await.unwrap().passed());
        judged.push(start.elapsed().as_secs_f64() * 1e3);
        plain.push(bare());
    }
    let (first, judged, plain) = (judged[0], median(judged), median(plain));
    println!("load {}", std::fs::read_to_string("/proc/loadavg").unwrap_or_default().trim());
    println!("bare python3 -c pass: {plain:.1} ms");
    println!("first judgement of a slot: {first:.1} ms");
    println!("judgement, warm: {judged:.1} ms");
    println!("ratio judgement {:.2}", judged / plain);
}
