//! What a role author writes: a specification, settings, and one `receive` per kind of message. No actix, no spans, no retries.

use std::{future::Future, sync::Arc};

use serde::{Serialize, de::DeserializeOwned};
use thiserror::Error;

use super::{Fault, Inlets, Routed, Seat, Turn};
use crate::{
    domain::Slots,
    llm::Purpose,
    messages::{Kind, Message},
};

/// One key of `[actors.NAME.settings]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettingKey {
    /// The key.
    pub name: &'static str,
    /// Its values and meaning, for `rolecall roles` and the generated reference.
    pub help: &'static str,
}

/// One prompt of a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromptKey {
    /// The key under `[actors.NAME.prompts]`.
    pub key: &'static str,
    /// The embedded prompt used by default.
    pub default: &'static str,
    /// What it asks for, which says what it can show.
    pub purpose: Purpose,
}

/// What the graph needs to know of a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoleSpec {
    /// The word in `role = "…"`.
    pub name: &'static str,
    /// One line for listings.
    pub summary: &'static str,
    /// Kinds of messages that it takes.
    pub accepts: &'static [Kind],
    /// Kinds of messages that it says. A filter says the kind that it takes.
    pub emits: &'static [Kind],
    /// Whether it waits for all messages of a generation and takes them in one turn.
    pub gathers: bool,
    /// Whether it runs programs: the budget of programs counts what it is given.
    pub evaluates: bool,
    /// What it asks a model for, by the kind received. Empty for roles that ask none.
    pub asks: &'static [(Kind, Purpose)],
    /// Prompts that it renders.
    pub prompts: &'static [PromptKey],
    /// Keys of its settings.
    pub settings: &'static [SettingKey],
}

impl RoleSpec {
    /// Whether its turns on this kind write programs.
    pub fn writes(&self, kind: Kind) -> bool {
        kind != Kind::Candidate && self.accepts.contains(&kind) && self.emits.contains(&Kind::Candidate)
    }

    /// Whether it writes first drafts.
    pub fn drafts(&self) -> bool {
        self.writes(Kind::Task)
    }

    /// Whether it waits for all judged programs of a generation and says some of them again: a ranker.
    pub fn chooses(&self) -> bool {
        self.gathers && self.accepts.iter().any(|kind| kind.is_judged() && self.emits.contains(kind))
    }

    /// Whether it says how good judged programs are: a critic.
    pub fn assesses(&self) -> bool {
        self.emits.contains(&Kind::Assessment) && !self.accepts.contains(&Kind::Assessment)
    }

    /// Whether a judged message given to it opens the next generation.
    pub fn opens_generation(&self, kind: Kind) -> bool {
        kind.is_judged() && (self.emits.contains(&Kind::Diagnosis) || self.emits.contains(&Kind::Candidate))
    }
}

/// Settings that parse but make no sense.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{key}`: {reason}")]
pub struct SettingsError {
    /// The key at fault.
    pub key: &'static str,
    /// What is wrong with its value, and what would be right.
    pub reason: String,
}

/// A role. It has no conversation state: the past is read from [`Turn::history`], so that a restart loses nothing and one
/// instance can take many turns at once.
pub trait Role: Sized + Send + Sync + 'static {
    /// Its settings. Every field has a default; unknown keys are refused (`#[serde(default, deny_unknown_fields)]`).
    type Settings: DeserializeOwned + Serialize + Default + Clone + Send + Sync;

    /// What the graph needs to know.
    const SPEC: RoleSpec;

    /// Builds the role for a seat. Called again, with the same settings, after a panic.
    ///
    /// # Errors
    /// Where the settings make no sense.
    fn new(settings: Self::Settings, seat: &Seat) -> Result<Self, SettingsError>;

    /// What is wrong with settings that parse; called by `topology check`.
    fn check(_settings: &Self::Settings) -> Vec<SettingsError> {
        Vec::new()
    }

    /// How many programs a turn on this kind wants to write; `None` where it writes none.
    fn slots(_settings: &Self::Settings, _kind: Kind) -> Option<Slots> {
        None
    }

    /// The most calls of a model that a turn on this kind makes when it may write `programs` programs.
    fn calls(_settings: &Self::Settings, _kind: Kind, _programs: u32) -> u32 {
        0
    }

    /// The purpose that a turn on this kind cannot do without: its model must answer it. `topology check` compares.
    fn needs(_settings: &Self::Settings, kind: Kind) -> Option<Purpose> {
        Self::SPEC.asks.iter().find(|(received, _)| *received == kind).map(|(_, purpose)| *purpose)
    }

    /// Variables of the environment that it reads under these settings, each behind the key that names it. A run refuses
    /// to start without one of them.
    fn variables(_settings: &Self::Settings) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Names the kinds that it receives: one `inlets.accept::<…>()` per entry of `SPEC.accepts`.
    fn connect(inlets: &mut Inlets<'_, Self>);
}

/// That a role takes messages of type `M`.
pub trait Receives<M: Routed>: Role {
    /// Takes a turn on one message, or on all of a generation where the actor gathers.
    ///
    /// What is returned takes effect when the turn retires, in logical order. A failed program is a message, not an error.
    ///
    /// # Errors
    /// [`Fault`] where a server or our machine failed.
    fn receive(&self, inbox: &[Arc<M>], turn: &Turn) -> impl Future<Output = Result<Vec<Message>, Fault>> + Send;
}
