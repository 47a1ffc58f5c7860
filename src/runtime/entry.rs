use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{Cast, Fault, Role, RoleSpec, Seat, SettingsError, start_role};
use crate::{domain::Slots, llm::Purpose, messages::Kind};

/// Settings as the file gives them, over the defaults.
type Given = Map<String, Value>;

/// What starts a role's actor.
type Start = fn(&Given, Arc<Seat>) -> Result<Cast, Fault>;

/// What finds mistakes in settings as a whole.
type Check = fn(&Given) -> Result<Vec<SettingsError>, String>;

/// A role in the list of roles, with its type erased: what `topology check` and the conversation need of it.
pub struct RoleEntry {
    /// What the role is.
    pub spec: &'static RoleSpec,
    defaults: fn() -> Map<String, Value>,
    check_key: fn(&str, &Value) -> Result<(), String>,
    check: Check,
    slots: fn(&Given, Kind) -> Option<Slots>,
    calls: fn(&Given, Kind, u32) -> u32,
    needs: fn(&Given, Kind) -> Option<Purpose>,
    variables: fn(&Given) -> Vec<(&'static str, String)>,
    start: Start,
}

impl RoleEntry {
    /// The entry of role `R`.
    pub const fn of<R: Role>() -> Self {
        Self {
            spec: const { &R::SPEC },
            defaults: defaults::<R>,
            check_key: check_key::<R>,
            check: check::<R>,
            slots: slots::<R>,
            calls: calls::<R>,
            needs: needs::<R>,
            variables: variables::<R>,
            start: start::<R>,
        }
    }

    /// Every key of the role's settings with its default.
    pub fn default_settings(&self) -> Map<String, Value> {
        (self.defaults)()
    }

    /// Whether `value` is right for the key `key` of the settings: its type, and what it may be on its own.
    ///
    /// # Errors
    /// What would be right, in words.
    pub fn check_key(&self, key: &str, value: &Value) -> Result<(), String> {
        (self.check_key)(key, value)
    }

    /// What is wrong with settings as a whole.
    ///
    /// # Errors
    /// Where they do not even parse.
    pub fn check(&self, settings: &Given) -> Result<Vec<SettingsError>, String> {
        (self.check)(settings)
    }

    /// How many programs a turn on this kind wants to write under these settings.
    pub fn slots(&self, settings: &Given, kind: Kind) -> Option<Slots> {
        (self.slots)(settings, kind)
    }

    /// The most model calls that a turn on this kind makes under these settings.
    pub fn calls(&self, settings: &Given, kind: Kind, programs: u32) -> u32 {
        (self.calls)(settings, kind, programs)
    }

    /// The purpose that a turn on this kind cannot do without under these settings.
    pub fn needs(&self, settings: &Given, kind: Kind) -> Option<Purpose> {
        (self.needs)(settings, kind)
    }

    /// Variables of the environment that it reads under these settings, each behind the key that names it.
    pub fn variables(&self, settings: &Given) -> Vec<(&'static str, String)> {
        (self.variables)(settings)
    }

    /// Starts an actor for the role; inside an actix system only.
    ///
    /// # Errors
    /// Where the settings do not parse.
    pub fn start(&self, settings: &Given, seat: Arc<Seat>) -> Result<Cast, Fault> {
        (self.start)(settings, seat)
    }
}

fn parse<T: DeserializeOwned>(settings: &Given) -> Result<T, String> {
    serde_json::from_value(Value::Object(settings.clone())).map_err(|error| error.to_string())
}

fn defaults<R: Role>() -> Map<String, Value> {
    match serde_json::to_value(R::Settings::default()) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

fn check_key<R: Role>(key: &str, value: &Value) -> Result<(), String> {
    let mut alone = Map::new();
    alone.insert(key.to_owned(), value.clone());
    parse::<R::Settings>(&alone).map(drop)
}

fn check<R: Role>(settings: &Given) -> Result<Vec<SettingsError>, String> {
    parse(settings).map(|settings| R::check(&settings))
}

fn slots<R: Role>(settings: &Given, kind: Kind) -> Option<Slots> {
    parse(settings).ok().and_then(|settings| R::slots(&settings, kind))
}

fn calls<R: Role>(settings: &Given, kind: Kind, programs: u32) -> u32 {
    parse(settings).map_or(0, |settings| R::calls(&settings, kind, programs))
}

fn needs<R: Role>(settings: &Given, kind: Kind) -> Option<Purpose> {
    parse(settings).ok().and_then(|settings| R::needs(&settings, kind))
}

fn variables<R: Role>(settings: &Given) -> Vec<(&'static str, String)> {
    parse(settings).map_or_else(|_| Vec::new(), |settings| R::variables(&settings))
}

fn start<R: Role>(settings: &Given, seat: Arc<Seat>) -> Result<Cast, Fault> {
    let settings = parse::<R::Settings>(settings).map_err(Fault::Setup)?;
    Ok(start_role::<R>(settings, seat))
}
