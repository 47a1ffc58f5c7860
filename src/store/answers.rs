//! What models answered, and what they were asked and have not answered yet.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, params};
use serde_json::Value;

use super::{
    Store, StoreError,
    pack::Packed,
    rows::{Programs, execute, unload},
};
use crate::ids::{CallPlace, ConversationId};

/// A call that was about to be made when nothing more was heard of it.
#[derive(Clone, Debug, PartialEq)]
pub struct AskedRow {
    /// Which.
    pub place: CallPlace,
    /// What was asked.
    pub content: Value,
}

/// One choice that a model gave.
#[derive(Clone, Debug)]
pub struct AnswerRow {
    /// What it was asked: equal keys ask the same.
    pub key: [u8; 32],
    /// Whether other conversations may have it: those that were cut short may not.
    pub shared: bool,
    /// What it said.
    pub content: Packed,
}

impl Store {
    /// Writes down that a call is about to be made.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn ask(&self, place: CallPlace, content: Packed) -> Result<(), StoreError> {
        let change = move |connection: &Connection, file: &Path| {
            let content = unload(connection, file, &content)?;
            let sql = "INSERT INTO asked (conversation, seq, attempt, ordinal, content)
                       SELECT id, ?2, ?3, ?4, ?5 FROM conversations WHERE conversation = ?1";
            let CallPlace { conversation, seq, attempt, ordinal } = place;
            execute(connection, file, sql, params![conversation.0, seq, attempt, ordinal, content])
        };
        self.writer.write(change).await
    }

    /// Writes down what a call gave, a row a choice; it is answered by that, also where it gave nothing.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn answer(&self, place: CallPlace, choices: Vec<AnswerRow>) -> Result<(), StoreError> {
        let change = move |connection: &Connection, file: &Path| {
            let CallPlace { conversation, seq, attempt, ordinal } = place;
            for AnswerRow { key, shared, content } in &choices {
                let content = unload(connection, file, content)?;
                let sql = "INSERT OR IGNORE INTO answers (key, conversation, shared, content)
                           SELECT ?1, id, ?3, ?4 FROM conversations WHERE conversation = ?2";
                execute(connection, file, sql, params![key, conversation.0, shared, content])?;
            }
            let sql = "DELETE FROM asked WHERE seq = ?2 AND attempt = ?3 AND ordinal = ?4 AND NOT in_doubt
                       AND conversation = (SELECT id FROM conversations WHERE conversation = ?1)";
            execute(connection, file, sql, params![conversation.0, seq, attempt, ordinal])
        };
        self.writer.write(change).await
    }

    /// What this conversation was told for `key`, or else, with `others`, what any was that may be shared, the first one ever;
    /// and whether it is its own.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn answered(
        &self,
        conversation: ConversationId,
        key: &[u8; 32],
        others: bool,
    ) -> Result<Option<(Value, bool)>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT answers.content, conversations.conversation = ?2 AS own FROM answers JOIN conversations
                       ON conversations.id = answers.conversation WHERE answers.key = ?1 AND (own OR (?3 AND answers.shared))
                       ORDER BY own DESC, answers.id LIMIT 1";
            let row: Option<(Vec<u8>, bool)> = connection
                .prepare_cached(sql)?
                .query_row(params![key, conversation.0, others], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            row.map(|(content, own)| Ok((Programs::of(connection).unpack(&content)?, own))).transpose()
        })
    }

    /// Those calls of a conversation that were about to be made and of which nothing more was heard are in doubt from now on, until
    /// their turn is appended, whatever becomes of the same calls when they are made again.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn doubt(&self, conversation: ConversationId) -> Result<(), StoreError> {
        let change = move |connection: &Connection, file: &Path| {
            let sql = "UPDATE asked SET in_doubt = 1
                       WHERE conversation = (SELECT id FROM conversations WHERE conversation = ?1)";
            execute(connection, file, sql, params![conversation.0])
        };
        self.writer.write(change).await
    }

    /// The calls of a conversation that were about to be made and of which nothing more was heard.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn unanswered(&self, conversation: ConversationId) -> Result<Vec<AskedRow>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT asked.seq, asked.attempt, asked.ordinal, asked.content FROM asked JOIN conversations ON
                       conversations.id = asked.conversation WHERE conversations.conversation = ?1
                       ORDER BY asked.id";
            let mut programs = Programs::of(connection);
            let mut statement = connection.prepare_cached(sql)?;
            let rows = statement.query_map([conversation.0], |row| {
                let content: Vec<u8> = row.get(3)?;
                let place = CallPlace { conversation, seq: row.get(0)?, attempt: row.get(1)?, ordinal: row.get(2)? };
                Ok(AskedRow { place, content: programs.unpack(&content)? })
            })?;
            rows.collect()
        })
    }
}
