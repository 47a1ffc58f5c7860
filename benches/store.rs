//! What keeping a run costs: the same conversations with the journal in memory and in a store, side by side.
//!
//! `cargo bench --bench store` prints, for a model that takes 20 ms a call and programs that are run, for the same with nothing run, and
//! for a model that takes no time either, seconds of both and their ratio (medians of several rounds, 64 conversations at once);
//! then the time and size of stores of growing length.
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
    sync::Arc,
    time::{Duration, Instant},
};

use common::{
    case::{AT_ONCE, cases},
    cast, median,
};
use rolecall::{
    conversation::{CacheMode, Company, Journal, MemoryJournal, StoreJournal},
    ids::RunId,
    store::{RunRow, RunState, Store},
};
use stage::{hold_all, on_stage};
use support::task;
use tokio_util::sync::CancellationToken;

async fn store_in(folder: &std::path::Path) -> Arc<Store> {
    let store = Arc::new(Store::open(folder).unwrap());
    let run = RunId(uuid::Uuid::nil()).to_string();
    let row = RunRow { run, plan: String::new(), begun_ns: 0, state: RunState::Begun, facts: serde_json::json!({}) };
    store.put_run(&row).await.unwrap();
    store
}

async fn seconds(company: Company, journal: Arc<dyn Journal>, conversations: u32) -> (f64, usize) {
    let company = Arc::new(Company { journal, ..company });
    let start = Instant::now();
    let records = hold_all(&company, &task(5, None), conversations, AT_ONCE).await;
    (start.elapsed().as_secs_f64(), records.iter().map(|record| record.turns.len()).sum())
}

fn main() {
    on_stage(async {
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        println!("load {}", load.trim());
        for case in cases().await {
            let (mut memory, mut stored) = (Vec::new(), Vec::new());
            for _ in 0..case.rounds {
                memory.push(seconds(case.company(), Arc::new(MemoryJournal::default()), case.conversations).await.0);
                let folder = tempfile::tempdir().unwrap();
                let store = store_in(folder.path()).await;
                let journal = StoreJournal::new(store, CacheMode::Write, CancellationToken::new());
                stored.push(seconds(case.company(), Arc::new(journal), case.conversations).await.0);
            }
            let (memory, stored) = (median(&memory), median(&stored));
            let ratio = stored / memory;
            println!("{}: memory {memory:.3} s, store {stored:.3} s, ratio {ratio:.3}", case.name);
        }
        for conversations in [250, 500, 1000] {
            let folder = tempfile::tempdir().unwrap();
            let store = store_in(folder.path()).await;
            let journal = StoreJournal::new(store, CacheMode::Write, CancellationToken::new());
            let (secs, turns) = seconds(cast(Duration::ZERO), Arc::new(journal), conversations).await;
            let bytes: u64 =
                std::fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().metadata().unwrap().len()).sum();
            let (each, size) = (secs * 1e6 / turns as f64, bytes as f64 / turns as f64);
            println!("{turns} turns in one store: {each:.0} us and {size:.0} bytes a turn");
        }
    });
}
