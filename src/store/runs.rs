use std::path::Path;

use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::Value;

use super::{
    RunLock, Store, StoreError,
    rows::{execute, unreadable},
};

/// How far a run has come, as its row says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// It goes on, or its process was killed: [`Store::is_running`] tells which.
    Begun,
    /// It was interrupted and can be resumed.
    Parked,
    /// Every conversation has ended.
    Ended,
}

impl RunState {
    const ALL: [Self; 3] = [Self::Begun, Self::Parked, Self::Ended];

    /// The word of the row.
    pub fn name(self) -> &'static str {
        match self {
            Self::Begun => "begun",
            Self::Parked => "parked",
            Self::Ended => "ended",
        }
    }
}

/// A run: one call of the command.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRow {
    /// Its identity.
    pub run: String,
    /// The identity of what it was asked to do: equal for equal commands on equal files.
    pub plan: String,
    /// Unix time in ns.
    pub begun_ns: u64,
    /// How far it has come.
    pub state: RunState,
    /// What it was asked to do, and how to begin it again.
    pub facts: Value,
}

impl Store {
    /// Writes a run down, or writes down anew how it stands.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn put_run(&self, row: &RunRow) -> Result<(), StoreError> {
        let row = row.clone();
        self.writer.write(move |connection, file| write_run(connection, file, &row)).await
    }

    /// All runs, the newest first.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn runs(&self) -> Result<Vec<RunRow>, StoreError> {
        self.read(runs_of)
    }

    /// One run.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn run(&self, run: &str) -> Result<Option<RunRow>, StoreError> {
        self.read(|connection| {
            let sql = format!("{SELECT} WHERE run = ?1");
            connection.prepare_cached(&sql)?.query_row([run], row_of).optional()
        })
    }

    /// The newest run of a plan.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn newest_of(&self, plan: &str) -> Result<Option<RunRow>, StoreError> {
        self.read(|connection| {
            let sql = format!("{SELECT} WHERE plan = ?1 {NEWEST_FIRST} LIMIT 1");
            connection.prepare_cached(&sql)?.query_row([plan], row_of).optional()
        })
    }

    /// Makes this process the one that a run goes on in; `None` where another is.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn hold_run(&self, run: &str) -> Result<Option<RunLock>, StoreError> {
        RunLock::take(self.folder(), run)
    }

    /// Whether a run goes on in some process.
    pub fn is_running(&self, run: &str) -> bool {
        RunLock::is_held(self.folder(), run)
    }

    /// Removes a run with all that is kept of it.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn remove_run(&self, run: &str) -> Result<(), StoreError> {
        let run = run.to_owned();
        let change = move |connection: &Connection, file: &Path| {
            execute(connection, file, "DELETE FROM runs WHERE run = ?1", [&run])
        };
        self.writer.write(change).await
    }
}

const SELECT: &str = "SELECT run, plan, begun_ns, state, facts FROM runs";
/// Ids of shards do not tell when they were begun.
const NEWEST_FIRST: &str = "ORDER BY begun_ns DESC, run DESC";

/// All runs, the newest first.
pub(super) fn runs_of(connection: &Connection) -> rusqlite::Result<Vec<RunRow>> {
    let mut statement = connection.prepare(&format!("{SELECT} {NEWEST_FIRST}"))?;
    statement.query_map([], row_of)?.collect()
}

/// Writes a run down, or writes down anew how it stands.
pub(super) fn write_run(connection: &Connection, file: &Path, row: &RunRow) -> Result<(), StoreError> {
    let facts =
        serde_json::to_vec(&row.facts).map_err(|error| StoreError::Row(file.to_path_buf(), error.to_string()))?;
    let sql = "INSERT INTO runs (run, plan, begun_ns, state, facts) VALUES (?1, ?2, ?3, ?4, ?5)
               ON CONFLICT (run) DO UPDATE SET state = excluded.state, facts = excluded.facts";
    let begun_ns = row.begun_ns.cast_signed();
    execute(connection, file, sql, params![row.run, row.plan, begun_ns, row.state.name(), facts])
}

fn row_of(row: &Row<'_>) -> rusqlite::Result<RunRow> {
    let (state, facts): (String, Vec<u8>) = (row.get(3)?, row.get(4)?);
    let state = RunState::ALL.into_iter().find(|one| one.name() == state);
    Ok(RunRow {
        run: row.get(0)?,
        plan: row.get(1)?,
        begun_ns: row.get::<_, i64>(2)?.cast_unsigned(),
        state: state.ok_or_else(|| unreadable(3, "a state that is not known".into()))?,
        facts: serde_json::from_slice(&facts).map_err(|error| unreadable(4, error.into()))?,
    })
}
