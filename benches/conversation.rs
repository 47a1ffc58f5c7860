//! What a turn costs beside model and sandbox: conversations of the SEIDR cast on a scripted model that answers at once
//! and a sandbox that runs nothing, 64 at once and one at a time.
//!
//! `cargo bench --bench conversation` prints microseconds a turn, the median of several rounds, side by side.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    dead_code,
    missing_docs,
    reason = "a benchmark"
)]

#[path = "common/median.rs"]
mod median;
#[path = "../tests/it/stage.rs"]
mod stage;
#[path = "../tests/it/support.rs"]
mod support;

use std::time::Instant;

use median::median;
use stage::{MadeUpSandbox, company, hold_all, on_stage, talkative};
use support::{seidr, task};

const ROUNDS: usize = 7;
const CONVERSATIONS: u32 = 256;

fn main() {
    on_stage(async {
        let company = company(seidr(4, 4, 60), talkative(), MadeUpSandbox::by_text(), None);
        let task = task(5, None);
        let (mut one, mut many) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            for (at_once, figures) in [(1, &mut one), (64, &mut many)] {
                let start = Instant::now();
                let records = hold_all(&company, &task, CONVERSATIONS, at_once).await;
                let turns: usize = records.iter().map(|record| record.turns.len()).sum();
                figures.push(start.elapsed().as_secs_f64() * 1e6 / turns as f64);
            }
        }
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        println!("load {}", load.trim());
        println!("one conversation at a time: {:.1} us a turn", median(&one));
        println!("64 conversations at once:   {:.1} us a turn", median(&many));
    });
}
