//! One run out of several that are kept elsewhere: their conversations, together in one store.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use rusqlite::{Connection, OptionalExtension, params, params_from_iter, types::Value};

use super::{
    RunRow, RunState, Source, Store, StoreError,
    error::Said,
    pack::names_of_programs,
    rows::{conversations_of, execute, unreadable},
    runs::write_run,
};
use crate::ids::ConversationId;

/// The tables that hold a conversation's rows, with their columns. The last one is packed.
const TABLES: [(&str, &[&str]); 3] = [
    ("turns", &["seq", "attempt", "content"]),
    ("asked", &["seq", "attempt", "ordinal", "in_doubt", "content"]),
    ("answers", &["key", "shared", "content"]),
];

/// Runs of another store whose conversations are taken over.
pub struct Part {
    /// The other store.
    pub source: Source,
    /// Their ids there.
    pub runs: Vec<String>,
}

/// What taking over came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// Conversations that were not here.
    pub added: usize,
    /// Conversations that were here, less far than there.
    pub advanced: usize,
    /// Conversations that were here, as far as there or further.
    pub known: usize,
    /// Conversations of the run that have ended, with those that had before.
    pub ended: usize,
}

/// A conversation's row.
struct Kept {
    id: i64,
    run: String,
    head: Vec<u8>,
    finish: Option<Vec<u8>>,
}

/// What stands below a conversation's row.
struct Below {
    /// Hashes of what only ever grows: turns and answers.
    rows: BTreeMap<String, blake3::Hash>,
    asked: i64,
}

enum Comparison {
    Further,
    NotFurther,
    Contrary,
}

impl Store {
    /// Takes the conversations of all `parts` over into the run of `row`, which has ended where `planned` conversations have,
    /// and is parked else: all of it in one commit, or nothing. A conversation that is here already stays, or goes as far as
    /// there.
    ///
    /// # Errors
    /// [`StoreError::Contrary`] where a conversation is here and has gone another way; [`StoreError::Busy`] where another
    /// process began to write to a source; the store, or a source.
    pub async fn merge(&self, row: RunRow, planned: usize, parts: Vec<Part>) -> Result<Merged, StoreError> {
        let merged = Arc::new(Mutex::new(Merged::default()));
        let told = merged.clone();
        let change = move |connection: &Connection, file: &Path| {
            let merged = merge(connection, file, &row, planned, &parts)?;
            *told.lock().unwrap_or_else(PoisonError::into_inner) = merged;
            Ok(())
        };
        self.writer.write(change).await?;
        let merged = merged.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(*merged)
    }
}

fn merge(
    connection: &Connection,
    file: &Path,
    row: &RunRow,
    planned: usize,
    parts: &[Part],
) -> Result<Merged, StoreError> {
    let mut merged = Merged::default();
    // What conversations refer to goes first.
    write_run(connection, file, row)?;
    for Part { source, runs } in parts {
        let mut taking = Taking { connection, file, source, programs: BTreeSet::new() };
        for run in runs {
            for (conversation, _) in source.conversations(run)? {
                taking.conversation(conversation, &row.run, &mut merged)?;
            }
        }
        source.still_quiet()?;
    }
    let conversations = conversations_of(connection, &row.run).said(file)?;
    merged.ended = conversations.iter().filter(|(_, ended)| *ended).count();
    let state = if merged.ended == planned { RunState::Ended } else { RunState::Parked };
    write_run(connection, file, &RunRow { state, ..row.clone() })?;
    Ok(merged)
}

struct Taking<'a> {
    connection: &'a Connection,
    file: &'a Path,
    source: &'a Source,
    /// Programs that are here by now.
    programs: BTreeSet<String>,
}

impl Taking<'_> {
    fn conversation(&mut self, conversation: ConversationId, run: &str, merged: &mut Merged) -> Result<(), StoreError> {
        let Some(there) = Kept::of(self.source.connection(), conversation).said(self.source.file())? else {
            return Ok(());
        };
        match Kept::of(self.connection, conversation).said(self.file)? {
            None => merged.added += 1,
            Some(here) if here.run != run => return Err(self.contrary(conversation)),
            Some(here) => match self.compared(&there, &here)? {
                Comparison::NotFurther => {
                    merged.known += 1;
                    return Ok(());
                }
                Comparison::Contrary => return Err(self.contrary(conversation)),
                Comparison::Further => {
                    let sql = "DELETE FROM conversations WHERE id = ?1";
                    execute(self.connection, self.file, sql, [here.id])?;
                    merged.advanced += 1;
                }
            },
        }
        self.copy(conversation, run, &there)
    }

    fn compared(&self, there: &Kept, here: &Kept) -> Result<Comparison, StoreError> {
        let below_there = there.below(self.source.connection()).said(self.source.file())?;
        let below_here = here.below(self.connection).said(self.file)?;
        Ok(compare((there, &below_there), (here, &below_here)))
    }

    fn contrary(&self, conversation: ConversationId) -> StoreError {
        let (path, source_file) = (self.file.to_path_buf(), self.source.file().to_path_buf());
        StoreError::Contrary { path, source_file, conversation }
    }

    fn copy(&mut self, conversation: ConversationId, run: &str, there: &Kept) -> Result<(), StoreError> {
        for bytes in [Some(&there.head), there.finish.as_ref()].into_iter().flatten() {
            self.copy_programs(bytes)?;
        }
        let sql = "INSERT INTO conversations (conversation, run, head, finish) VALUES (?1, ?2, ?3, ?4)";
        execute(self.connection, self.file, sql, params![conversation.0, run, there.head, there.finish])?;
        let id = self.connection.last_insert_rowid();
        TABLES.into_iter().try_for_each(|(table, columns)| self.copy_rows(table, columns, there.id, id))
    }

    fn copy_rows(&mut self, table: &str, columns: &[&str], from: i64, to: i64) -> Result<(), StoreError> {
        let (source, names) = (self.source, columns.join(", "));
        let (of_source, marks) = (source.file(), "?, ".repeat(columns.len()));
        let insert = format!("INSERT INTO {table} ({names}, conversation) VALUES ({marks}?)");
        let select = format!("SELECT {names} FROM {table} WHERE conversation = ?1 ORDER BY id");
        let mut select = source.connection().prepare_cached(&select).said(of_source)?;
        let mut rows = select.query([from]).said(of_source)?;
        while let Some(row) = rows.next().said(of_source)? {
            let values = (0..columns.len()).map(|column| row.get(column)).collect::<Result<Vec<Value>, _>>();
            let values = values.said(of_source)?;
            if let Some(Value::Blob(bytes)) = values.last() {
                self.copy_programs(bytes)?;
            }
            let values = values.into_iter().chain([Value::Integer(to)]);
            execute(self.connection, self.file, &insert, params_from_iter(values))?;
        }
        Ok(())
    }

    fn copy_programs(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        let source = self.source;
        let names = names_of_programs(bytes).map_err(|error| unreadable(0, error.into())).said(source.file())?;
        for name in names {
            if !self.programs.insert(name.clone()) {
                continue;
            }
            let sql = "SELECT language, text FROM programs WHERE hash = ?1";
            let columns = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
            let mut statement = source.connection().prepare_cached(sql).said(source.file())?;
            let (language, text): (String, String) = statement.query_row([&name], columns).said(source.file())?;
            let sql = "INSERT OR IGNORE INTO programs (hash, language, text) VALUES (?1, ?2, ?3)";
            execute(self.connection, self.file, sql, [name, language, text])?;
        }
        Ok(())
    }
}

impl Kept {
    fn of(connection: &Connection, conversation: ConversationId) -> rusqlite::Result<Option<Self>> {
        let sql = "SELECT id, run, head, finish FROM conversations WHERE conversation = ?1";
        let columns = |row: &rusqlite::Row<'_>| {
            Ok(Self { id: row.get(0)?, run: row.get(1)?, head: row.get(2)?, finish: row.get(3)? })
        };
        connection.prepare_cached(sql)?.query_row([conversation.0], columns).optional()
    }

    fn below(&self, connection: &Connection) -> rusqlite::Result<Below> {
        let mut rows = BTreeMap::new();
        for sql in [
            "SELECT seq || ' ' || attempt, content FROM turns WHERE conversation = ?1",
            "SELECT hex(key), content FROM answers WHERE conversation = ?1",
        ] {
            let mut statement = connection.prepare_cached(sql)?;
            let mut found = statement.query([self.id])?;
            while let Some(row) = found.next()? {
                rows.insert(row.get(0)?, blake3::hash(row.get_ref(1)?.as_blob()?));
            }
        }
        let sql = "SELECT count(*) FROM asked WHERE conversation = ?1";
        let asked = connection.prepare_cached(sql)?.query_row([self.id], |row| row.get(0))?;
        Ok(Below { rows, asked })
    }
}

/// How a conversation stands `there` to how it stands `here`: once begun, it only ever grows.
fn compare(there: (&Kept, &Below), here: (&Kept, &Below)) -> Comparison {
    let holds = |(more, more_below): (&Kept, &Below), (less, less_below): (&Kept, &Below)| {
        less_below.rows.iter().all(|(key, hash)| more_below.rows.get(key) == Some(hash))
            && (less.finish.is_none() || less.finish == more.finish)
    };
    if there.0.head != here.0.head {
        return Comparison::Contrary;
    }
    match (holds(there, here), holds(here, there)) {
        // A call that was asked and has no answer may have been paid for.
        (true, true) if there.1.asked > here.1.asked => Comparison::Further,
        (_, true) => Comparison::NotFurther,
        (true, false) => Comparison::Further,
        (false, false) => Comparison::Contrary,
    }
}
