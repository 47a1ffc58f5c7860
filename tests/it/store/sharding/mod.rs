//! A run in parts: each conversation in one part, together the run in one piece, and nothing else is put together.

mod failing;
mod going_on;
mod partition;
mod refused;
mod whole;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    process::Output,
};

use rusqlite::{Connection, types::Value as Column};
use serde_json::Value;

use super::scene::{Scene, words};

/// Four conversations with the offline model.
const FOUR: &[&str] = &[
    "run",
    "--topology",
    "seidr",
    "--tasks",
    "tasks",
    "--samples",
    "2",
    "--seed",
    "5",
    "--budget",
    "programs=12",
    "--json",
];

/// Holds one shard of `command` in a store of its own, `s1` for the first.
fn shard(scene: &Scene, command: &[&str], shard: &str) -> Output {
    let store = format!("s{}", shard.split('/').next().unwrap());
    scene.run(&[command, &["--shard", shard, "--store", &store]].concat())
}

/// Holds all of them.
fn shards(scene: &Scene, command: &[&str], of: usize) -> Vec<String> {
    let held = (1..=of).map(|number| {
        let output = shard(scene, command, &format!("{number}/{of}"));
        assert_eq!(output.status.code(), Some(0), "{}", words(&output));
        format!("s{number}")
    });
    held.collect()
}

fn merge(scene: &Scene, sources: &[String], more: &[&str]) -> Output {
    let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
    scene.run(&[&["merge"], sources.as_slice(), &["--store", "merged"], more].concat())
}

/// The one object that a command printed.
fn printed(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}", words(output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Every row of every table of a store, without the numbers that SQLite gives them. It must not be open elsewhere.
fn rows(store: &Path) -> BTreeSet<String> {
    let file = if store.is_dir() { store.join("rolecall.sqlite") } else { store.to_path_buf() };
    let connection = Connection::open(file).unwrap();
    let mut all = BTreeSet::new();
    for (table, columns) in [
        ("runs", "run, plan, begun_ns, state, facts"),
        ("conversations", "conversation, run, head, finish"),
        ("turns JOIN conversations AS c ON c.id = turns.conversation", "c.conversation, seq, attempt, content"),
        ("asked JOIN conversations AS c ON c.id = asked.conversation", "c.conversation, seq, in_doubt, content"),
        ("answers JOIN conversations AS c ON c.id = answers.conversation", "c.conversation, key, shared, content"),
        ("programs", "hash, language, text"),
    ] {
        let mut statement = connection.prepare(&format!("SELECT {columns} FROM {table}")).unwrap();
        let count = statement.column_count();
        let mut found = statement.query([]).unwrap();
        while let Some(row) = found.next().unwrap() {
            let columns: Vec<Column> = (0..count).map(|column| row.get(column).unwrap()).collect();
            all.insert(format!("{table}: {columns:?}"));
        }
    }
    all
}

/// The bytes of every file below these folders.
fn bytes(scene: &Scene, folders: &[String]) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for folder in folders {
        for entry in fs::read_dir(scene.folder.path().join(folder)).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_file() {
                all.insert(path.display().to_string(), fs::read(path).unwrap());
            }
        }
    }
    all
}
