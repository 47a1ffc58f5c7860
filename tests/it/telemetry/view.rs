//! `trace show`: a file as a tree, also when it is not finished or damaged.

use std::fs;

use rolecall::telemetry::{TraceOptions, Traces, show};

use super::{files::tell, story::seidr};

fn written() -> String {
    let directory = tempfile::tempdir().unwrap();
    let record = seidr(0);
    let traces = Traces::open(record.head.run, TraceOptions::new(directory.path()));
    fs::read_to_string(tell(&traces, &record)).unwrap()
}

#[test]
fn a_conversation_reads_as_a_tree() {
    println!("{}", show(&written(), false).unwrap());
}
