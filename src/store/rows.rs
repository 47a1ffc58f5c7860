//! Conversations and their finished turns.

use std::{collections::BTreeMap, io, path::Path};

use futures_util::future::BoxFuture;
use rusqlite::{Connection, OptionalExtension, params, types::Type};
use serde_json::Value;

use super::{
    Store, StoreError,
    error::Said,
    pack::{Packed, unpack},
};
use crate::{domain::Program, ids::ConversationId};

/// A conversation as it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct ConversationRow {
    /// What was known before its first turn.
    pub head: Value,
    /// How it ended; `None` while it goes on, or where it was cut off.
    pub finish: Option<Value>,
}

/// A finished attempt of a turn.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnRow {
    /// Its place in the logical order.
    pub seq: u32,
    /// 0 for the first attempt, 1 for the second.
    pub attempt: u8,
    /// What happened.
    pub content: Value,
}

/// Gives a value of the layers above. Called by the thread that writes, so that nobody else waits for it.
pub type Content = Box<dyn Fn() -> io::Result<Packed> + Send>;

impl Store {
    /// Writes down that a conversation of `run` begins. One that is there already stays as it is.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn begin_conversation(
        &self,
        run: String,
        conversation: ConversationId,
        head: Packed,
    ) -> Result<(), StoreError> {
        let change = move |connection: &Connection, file: &Path| {
            let head = unload(connection, file, &head)?;
            let sql = "INSERT OR IGNORE INTO conversations (conversation, run, head) VALUES (?1, ?2, ?3)";
            execute(connection, file, sql, params![conversation.0, run, head])
        };
        self.writer.write(change).await
    }

    /// Appends a finished attempt. One that is there already stays as it is. What was asked for it is answered by that.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn append_turn(
        &self,
        conversation: ConversationId,
        (seq, attempt): (u32, u8),
        content: Content,
    ) -> BoxFuture<'static, Result<(), StoreError>> {
        self.writer.write(move |connection, file| {
            let content = content().map_err(|error| StoreError::Row(file.to_path_buf(), error.to_string()))?;
            let content = unload(connection, file, &content)?;
            let sql = "INSERT OR IGNORE INTO turns (conversation, seq, attempt, content)
                       SELECT id, ?2, ?3, ?4 FROM conversations WHERE conversation = ?1";
            execute(connection, file, sql, params![conversation.0, seq, attempt, content])?;
            let sql = "DELETE FROM asked WHERE seq = ?2 AND attempt = ?3
                       AND conversation = (SELECT id FROM conversations WHERE conversation = ?1)";
            execute(connection, file, sql, params![conversation.0, seq, attempt])
        })
    }

    /// Writes down how a conversation ended.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn finish_conversation(&self, conversation: ConversationId, finish: Packed) -> Result<(), StoreError> {
        let change = move |connection: &Connection, file: &Path| {
            let finish = unload(connection, file, &finish)?;
            let sql = "UPDATE conversations SET finish = ?2 WHERE conversation = ?1 AND finish IS NULL";
            execute(connection, file, sql, params![conversation.0, finish])
        };
        self.writer.write(change).await
    }

    /// Whether a conversation has begun.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn has_conversation(&self, conversation: ConversationId) -> Result<bool, StoreError> {
        self.read(|connection| {
            let sql = "SELECT 1 FROM conversations WHERE conversation = ?1";
            connection.prepare_cached(sql)?.exists([conversation.0])
        })
    }

    /// What is kept of a conversation.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn conversation(&self, conversation: ConversationId) -> Result<Option<ConversationRow>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT head, finish FROM conversations WHERE conversation = ?1";
            let mut statement = connection.prepare_cached(sql)?;
            let columns = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
            let row: Option<(Vec<u8>, Option<Vec<u8>>)> = statement.query_row([conversation.0], columns).optional()?;
            row.map(|(head, finish)| {
                let mut programs = Programs::of(connection);
                let finish = finish.map(|finish| programs.unpack(&finish)).transpose()?;
                Ok(ConversationRow { head: programs.unpack(&head)?, finish })
            })
            .transpose()
        })
    }

    /// The finished attempts of a conversation, in the order in which they were appended.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn turns(&self, conversation: ConversationId) -> Result<Vec<TurnRow>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT turns.seq, turns.attempt, turns.content FROM turns JOIN conversations ON
                       conversations.id = turns.conversation WHERE conversations.conversation = ?1 ORDER BY turns.id";
            let mut programs = Programs::of(connection);
            let mut statement = connection.prepare_cached(sql)?;
            let rows = statement.query_map([conversation.0], |row| {
                let content: Vec<u8> = row.get(2)?;
                Ok(TurnRow { seq: row.get(0)?, attempt: row.get(1)?, content: programs.unpack(&content)? })
            })?;
            rows.collect()
        })
    }

    /// The conversations of a run that have been begun, and whether each has ended.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn conversations(&self, run: &str) -> Result<Vec<(ConversationId, bool)>, StoreError> {
        self.read(|connection| conversations_of(connection, run))
    }

    /// The first write that failed since the store was opened.
    pub fn failure(&self) -> Option<StoreError> {
        self.writer.failure()
    }
}

/// The conversations of a run that have been begun, and whether each has ended.
pub(super) fn conversations_of(connection: &Connection, run: &str) -> rusqlite::Result<Vec<(ConversationId, bool)>> {
    let sql = "SELECT conversation, finish IS NOT NULL FROM conversations WHERE run = ?1 ORDER BY id";
    let mut statement = connection.prepare_cached(sql)?;
    statement.query_map([run], |row| Ok((ConversationId(row.get(0)?), row.get(1)?)))?.collect()
}

/// Writes down the programs that a row names; gives its bytes.
pub(super) fn unload<'p>(connection: &Connection, file: &Path, packed: &'p Packed) -> Result<&'p [u8], StoreError> {
    for (hash, program) in &packed.programs {
        let sql = "INSERT OR IGNORE INTO programs (hash, language, text) VALUES (?1, ?2, ?3)";
        execute(connection, file, sql, [&hash.0, program.language.name(), &program.text])?;
    }
    Ok(&packed.bytes)
}

pub(super) fn execute(
    connection: &Connection,
    file: &Path,
    sql: &str,
    values: impl rusqlite::Params,
) -> Result<(), StoreError> {
    let mut statement = connection.prepare_cached(sql).said(file)?;
    statement.execute(values).said(file)?;
    Ok(())
}

/// Finds the programs of rows, each once.
pub(super) struct Programs<'c> {
    connection: &'c Connection,
    found: BTreeMap<String, Program>,
}

impl<'c> Programs<'c> {
    pub(super) fn of(connection: &'c Connection) -> Self {
        Self { connection, found: BTreeMap::new() }
    }

    pub(super) fn unpack(&mut self, bytes: &[u8]) -> rusqlite::Result<Value> {
        unpack(bytes, &mut |hash| self.find(hash)).map_err(|error| unreadable(0, error.into()))
    }

    fn find(&mut self, hash: &str) -> io::Result<Program> {
        if let Some(program) = self.found.get(hash) {
            return Ok(program.clone());
        }
        let sql = "SELECT language, text FROM programs WHERE hash = ?1";
        let columns = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let (language, text): (String, String) = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_row([hash], columns))
            .map_err(|error| io::Error::other(format!("program {hash}: {error}")))?;
        let language = serde_json::from_value(Value::String(language))?;
        let program = Program { language, text };
        self.found.insert(hash.to_owned(), program.clone());
        Ok(program)
    }
}

/// A column that does not read.
pub(super) fn unreadable(column: usize, error: Box<dyn std::error::Error + Send + Sync>) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Blob, error)
}
