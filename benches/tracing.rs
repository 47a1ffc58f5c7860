//! What tracing costs: the same conversations without traces, and with trace files and a collector that only counts, side by
//! side; 64 conversations at once, 60 programs each.
//!
//! `cargo bench --bench tracing` prints, for a model that takes 20 ms a call, seconds of both and their ratio (medians of several
//! rounds), in the sandbox and in one that runs nothing, so that hardly anything is left but talk; then, for a model that takes no
//! time and nothing run, the CPU time of the process for each span, its delivery included.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    dead_code,
    missing_docs,
    reason = "a benchmark"
)]

mod common;
#[path = "../tests/it/stage.rs"]
mod stage;
#[path = "../tests/it/support.rs"]
mod support;

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use common::{
    case::{AT_ONCE, Case, cases},
    median,
};
use rolecall::{
    ids::RunId,
    telemetry::{Endpoint, TraceOptions, Traces},
};
use stage::{hold_all, on_stage};
use support::task;

/// A collector that reads requests, and takes them.
fn sink() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1/traces", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || take(stream.unwrap()));
        }
    });
    url
}

fn take(stream: TcpStream) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    loop {
        let (mut length, mut line) = (0u64, String::new());
        loop {
            line.clear();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line == "\r\n" {
                break;
            }
        }
        std::io::copy(&mut reader.by_ref().take(length), &mut std::io::sink()).unwrap();
        let answer = "HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n";
        stream.write_all(answer.as_bytes()).unwrap();
    }
}

/// CPU time of this process, in seconds.
fn cpu() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Seconds by the wall until the last conversation has ended, CPU seconds until the last span is delivered, and spans.
async fn play(case: &Case, url: Option<&str>, folder: &Path) -> (f64, f64, u64) {
    let traces = url.map(|url| {
        let options = TraceOptions { endpoint: Some(Endpoint::at(url.parse().unwrap())), ..TraceOptions::new(folder) };
        Arc::new(Traces::open(RunId::new(), options))
    });
    let mut company = case.company();
    if let Some(traces) = traces.clone() {
        company.observer = traces;
    }
    let company = Arc::new(company);
    let (cpu_before, begin) = (cpu(), Instant::now());
    hold_all(&company, &task(5, None), case.conversations, AT_ONCE).await;
    let wall = begin.elapsed().as_secs_f64();
    let spans = match traces {
        Some(traces) => {
            let summary = tokio::task::spawn_blocking(move || traces.finish(Duration::from_secs(60))).await.unwrap();
            assert_eq!(summary.acknowledged, summary.written);
            summary.written
        }
        None => 0,
    };
    (wall, cpu() - cpu_before, spans)
}

fn main() {
    on_stage(async {
        let url = sink();
        // Kept to the end: where files were deleted just now, ext4 is slow to make others.
        let folder = tempfile::tempdir().unwrap();
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        println!("load {}", load.trim());
        for case in cases().await {
            let (mut without, mut with, mut each) = (Vec::new(), Vec::new(), Vec::new());
            for _ in 0..case.rounds {
                let (wall, cpu_without, _) = play(&case, None, folder.path()).await;
                let (traced, cpu_with, spans) = play(&case, Some(&url), folder.path()).await;
                without.push(wall);
                with.push(traced);
                each.push((cpu_with - cpu_without) * 1e6 / spans as f64);
            }
            let (without, with) = (median(&without), median(&with));
            let (ratio, each) = (with / without, median(&each));
            println!(
                "{}: without {without:.3} s, traced {with:.3} s, ratio {ratio:.3}; {each:.1} us of CPU a span",
                case.name
            );
        }
    });
}
