use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::writing;
use crate::{
    domain::Slots,
    llm::Purpose,
    messages::{Diagnosis, Judged, Kind, Message},
    runtime::{
        Fault, Inlets, PromptKey, Receives, Role, RoleEntry, RoleSpec, Routed, Seat, SettingKey, SettingsError, Turn,
    },
};

pub(super) static ROLE: RoleEntry = RoleEntry::of::<Debugger>();

/// Repairs a failing program, with a diagnosis or from the test results alone.
struct Debugger;

/// Settings of the debugger.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Settings {
    repairs: Slots,
}

impl Default for Settings {
    fn default() -> Self {
        Self { repairs: Slots::Fixed(1) }
    }
}

impl Role for Debugger {
    type Settings = Settings;

    const SPEC: RoleSpec = RoleSpec {
        name: "debugger",
        summary: "repairs a failing program, with a diagnosis or from the test results alone",
        accepts: &[Kind::Diagnosis, Kind::ExecutionReport, Kind::Assessment],
        emits: &[Kind::Candidate],
        gathers: false,
        evaluates: false,
        asks: &[
            (Kind::Diagnosis, Purpose::Repair),
            (Kind::ExecutionReport, Purpose::Repair),
            (Kind::Assessment, Purpose::Repair),
        ],
        prompts: &[PromptKey { key: "repair", default: "debugger/repair", purpose: Purpose::Repair }],
        settings: &[SettingKey { name: "repairs", help: writing::REPAIRS_HELP }],
    };

    fn new(_: Settings, _: &Seat) -> Result<Self, SettingsError> {
        Ok(Self)
    }

    fn check(settings: &Settings) -> Vec<SettingsError> {
        writing::check_repairs(settings.repairs)
    }

    fn slots(settings: &Settings, _: Kind) -> Option<Slots> {
        Some(settings.repairs)
    }

    fn calls(_: &Settings, _: Kind, programs: u32) -> u32 {
        writing::most_calls(programs)
    }

    fn connect(inlets: &mut Inlets<'_, Self>) {
        inlets.accept::<Diagnosis>();
        inlets.accept_judged();
    }
}

impl Receives<Diagnosis> for Debugger {
    async fn receive(&self, inbox: &[Arc<Diagnosis>], turn: &Turn) -> Result<Vec<Message>, Fault> {
        writing::repair_diagnosed(inbox, turn).await
    }
}

impl<M: Judged + Routed> Receives<M> for Debugger {
    async fn receive(&self, inbox: &[Arc<M>], turn: &Turn) -> Result<Vec<Message>, Fault> {
        writing::repair_reported(inbox, turn).await
    }
}
