use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;
use thiserror::Error;

use super::{super::records::TaskRow, Archive, archive::is_plain};
use crate::{
    conversation::{ConversationEnd, ConversationHead},
    ids::{ConversationId, TaskId},
    runtime::Finished,
    store::{Packed, RunRow, RunState, Store, StoreError, TurnRow},
};

/// Version of what a bundle holds. It goes up when a reader of before would misunderstand it.
pub const FORMAT: u32 = 1;

const ABOUT: &str = "bundle.json";
const CONVERSATIONS: &str = "conversations/";
const FILES: &str = "files/";

/// Why a bundle cannot be read or put into a store.
#[derive(Debug, Error)]
pub enum BundleError {
    /// It has not what bundles have.
    #[error("it is no bundle of a run: {0}")]
    NoBundle(String),
    /// A later version wrote it.
    #[error("it has format {found}, and this program knows formats up to {FORMAT}: a newer rolecall can read it")]
    Newer {
        /// Its format.
        found: u32,
    },
    /// One of its files does not read.
    #[error("{name}: {why}")]
    File {
        /// Which.
        name: String,
        /// What is wrong.
        why: String,
    },
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A file that the run read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// Its name below `files/`.
    pub name: String,
    /// BLAKE3 of its bytes.
    pub hash: String,
    /// Whether it is in the bundle: files of public data sets are not, unless that was asked for.
    pub included: bool,
}

/// What a bundle says of itself, in `bundle.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct About {
    format: u32,
    run: String,
    begun_ns: u64,
    /// What the store keeps of the run.
    facts: Value,
    /// The folder that the command was given in, below `files/`.
    folder: String,
    inputs: Vec<Input>,
    tasks: Vec<TaskRow>,
    /// BLAKE3 of every conversation's file, by its name.
    conversations: BTreeMap<String, String>,
}

/// A conversation, whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BundledConversation {
    /// What was known before.
    pub head: ConversationHead,
    /// Its finished attempts, in the order in which they were appended.
    pub turns: Vec<Finished>,
    /// How it ended, as the store keeps it.
    pub finish: Value,
}

impl BundledConversation {
    /// How it ended.
    ///
    /// # Errors
    /// What is kept of it does not read.
    pub fn end(&self) -> Result<ConversationEnd, serde_json::Error> {
        ConversationEnd::deserialize(&self.finish["end"])
    }

    /// The conversations of a run that have ended, in the order of data sets, tasks and samples.
    ///
    /// # Errors
    /// What is stored does not read; the store.
    pub fn of_run(store: &Store, run: &str) -> Result<Vec<Self>, BundleError> {
        let mut all = Vec::new();
        for (id, _) in store.conversations(run)? {
            let Some((row, finish)) = store.conversation(id)?.and_then(|row| row.finish.clone().map(|it| (row, it)))
            else {
                continue;
            };
            let name = id.to_string();
            let turns = store.turns(id)?.into_iter().map(|TurnRow { content, .. }| read(&name, content));
            let turns = turns.collect::<Result<_, _>>()?;
            all.push(Self { head: read(&name, row.head)?, turns, finish });
        }
        all.sort_by(|a, b| a.place().cmp(&b.place()));
        Ok(all)
    }

    /// Data set, task and sample.
    pub fn place(&self) -> (&str, &TaskId, u32) {
        (&self.head.dataset, &self.head.task, self.head.sample)
    }
}

/// A run as one file.
#[derive(Clone, Debug, PartialEq)]
pub struct Bundle {
    /// The run.
    pub run: String,
    /// Unix time in ns, when it was begun.
    pub begun_ns: u64,
    /// What the store keeps of it beside its conversations.
    pub facts: Value,
    /// The folder that its command was given in, below the files.
    pub folder: String,
    /// What it read.
    pub inputs: Vec<Input>,
    /// Its tasks.
    pub tasks: Vec<TaskRow>,
    /// What was said.
    pub conversations: Vec<BundledConversation>,
    /// The files, by their names.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Files that are not what the bundle says of them.
    pub altered: Vec<String>,
}

impl Bundle {
    /// As files of an archive.
    ///
    /// # Errors
    /// A value that JSON has no form for.
    pub fn pack(&self) -> Result<Archive, BundleError> {
        let mut files = BTreeMap::new();
        let mut conversations = BTreeMap::new();
        for conversation in &self.conversations {
            let name = format!("{CONVERSATIONS}{}.json", conversation.head.id);
            let bytes = written(&name, conversation)?;
            conversations.insert(name.clone(), hash(&bytes));
            files.insert(name, bytes);
        }
        let about = About {
            format: FORMAT,
            run: self.run.clone(),
            begun_ns: self.begun_ns,
            facts: self.facts.clone(),
            folder: self.folder.clone(),
            inputs: self.inputs.clone(),
            tasks: self.tasks.clone(),
            conversations,
        };
        files.insert(ABOUT.to_owned(), written(ABOUT, &about)?);
        files.extend(self.files.iter().map(|(name, bytes)| (format!("{FILES}{name}"), bytes.clone())));
        Ok(Archive(files))
    }

    /// What an archive holds. What was altered since is noted and no error: it is for the comparison to say what it changes.
    ///
    /// # Errors
    /// An archive that is no bundle; a newer one; a file in it that does not read.
    pub fn unpack(Archive(mut files): Archive) -> Result<Self, BundleError> {
        let none = || BundleError::NoBundle(format!("there is no {ABOUT} in it"));
        let about = files.remove(ABOUT).ok_or_else(none)?;
        let value: Value = parsed(ABOUT, &about)?;
        let format = value["format"].as_u64().and_then(|format| u32::try_from(format).ok());
        match format {
            Some(found) if found > FORMAT => return Err(BundleError::Newer { found }),
            Some(_) => {}
            None => return Err(BundleError::NoBundle(format!("{ABOUT} says no format"))),
        }
        let about: About = read(ABOUT, value)?;
        let names = about.inputs.iter().map(|input| &input.name).chain([&about.folder]);
        if let Some(name) = names.into_iter().find(|name| !is_plain(name)) {
            return Err(BundleError::NoBundle(format!("{ABOUT} names `{name}`, which leads out of it")));
        }
        let mut altered = Vec::new();
        let mut conversations = Vec::new();
        for (name, said) in &about.conversations {
            let Some(bytes) = files.remove(name) else {
                altered.push(format!("{name} is not there"));
                continue;
            };
            if hash(&bytes) != *said {
                altered.push(format!("{name} was changed"));
            }
            conversations.push(parsed(name, &bytes)?);
        }
        let mut inputs = BTreeMap::new();
        for input in about.inputs.iter().filter(|input| input.included) {
            match files.remove(&format!("{FILES}{}", input.name)) {
                None => altered.push(format!("{FILES}{} is not there", input.name)),
                Some(bytes) => {
                    if hash(&bytes) != input.hash {
                        altered.push(format!("{FILES}{} was changed", input.name));
                    }
                    inputs.insert(input.name.clone(), bytes);
                }
            }
        }
        altered.extend(files.keys().map(|name| format!("{name} is not in the list of {ABOUT}")));
        conversations.sort_by(|a: &BundledConversation, b| a.place().cmp(&b.place()));
        let About { run, begun_ns, facts, folder, inputs: listed, tasks, .. } = about;
        Ok(Self { run, begun_ns, facts, folder, inputs: listed, tasks, conversations, files: inputs, altered })
    }

    /// Puts the run into a store, as if it had been held there.
    ///
    /// # Errors
    /// The store.
    pub async fn restore(&self, store: &Store) -> Result<(), BundleError> {
        let row = RunRow {
            run: self.run.clone(),
            plan: String::new(),
            begun_ns: self.begun_ns,
            state: RunState::Ended,
            facts: self.facts.clone(),
        };
        store.put_run(&row).await?;
        for conversation in &self.conversations {
            let id: ConversationId = conversation.head.id;
            store.begin_conversation(self.run.clone(), id, packed(&conversation.head)?).await?;
            for turn in conversation.turns.clone() {
                let place = (turn.seq, turn.attempt);
                store.append_turn(id, place, Box::new(move || Packed::of(&turn))).await?;
            }
            store.finish_conversation(id, packed(&conversation.finish)?).await?;
        }
        Ok(())
    }
}

/// BLAKE3, in hexadecimal digits.
pub fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

fn packed(value: &impl Serialize) -> Result<Packed, BundleError> {
    Packed::of(value).map_err(|error| BundleError::File { name: "a row".to_owned(), why: error.to_string() })
}

fn written(name: &str, value: &impl Serialize) -> Result<Vec<u8>, BundleError> {
    let wrong = |error: serde_json::Error| BundleError::File { name: name.to_owned(), why: error.to_string() };
    let mut bytes = serde_json::to_vec_pretty(value).map_err(wrong)?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn parsed<T: DeserializeOwned>(name: &str, bytes: &[u8]) -> Result<T, BundleError> {
    serde_json::from_slice(bytes).map_err(|error| BundleError::File { name: name.to_owned(), why: error.to_string() })
}

fn read<T: DeserializeOwned>(name: &str, value: Value) -> Result<T, BundleError> {
    serde_json::from_value(value).map_err(|error| BundleError::File { name: name.to_owned(), why: error.to_string() })
}
