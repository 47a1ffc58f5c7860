use std::{num::NonZeroU32, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{
    domain::Children,
    ids::ActorName,
    messages::{ExecutionReport, Kind, Message},
    runtime::{Fault, Inlets, NoteValue, Receives, Role, RoleEntry, RoleSpec, Seat, SettingKey, SettingsError, Turn},
    selection,
};

pub(super) static ROLE: RoleEntry = RoleEntry::of::<Ranker>();

/// Keeps the best programs of a generation. A filter: it says the kind that it takes.
struct Ranker {
    settings: Settings,
    actor: ActorName,
}

/// Settings of the ranker.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Settings {
    beam_width: NonZeroU32,
    children: Children,
}

impl Default for Settings {
    fn default() -> Self {
        Self { beam_width: NonZeroU32::MIN, children: Children::Replace }
    }
}

impl Role for Ranker {
    type Settings = Settings;

    const SPEC: RoleSpec = RoleSpec {
        name: "ranker",
        summary: "keeps the best programs of a generation by mean test score",
        accepts: &[Kind::ExecutionReport],
        emits: &[Kind::ExecutionReport],
        gathers: true,
        evaluates: false,
        asks: &[],
        prompts: &[],
        settings: &[
            SettingKey { name: "beam_width", help: "programs kept of each generation: a number from 1" },
            SettingKey {
                name: "children",
                help: "\"replace\": the beam is chosen among the children; \"compete\": among children and parents",
            },
        ],
    };

    fn new(settings: Settings, seat: &Seat) -> Result<Self, SettingsError> {
        Ok(Self { settings, actor: seat.actor.clone() })
    }

    fn connect(inlets: &mut Inlets<'_, Self>) {
        inlets.accept::<ExecutionReport>();
    }
}

impl Receives<ExecutionReport> for Ranker {
    async fn receive(&self, inbox: &[Arc<ExecutionReport>], turn: &Turn) -> Result<Vec<Message>, Fault> {
        let mut pool: Vec<Arc<ExecutionReport>> = Vec::new();
        if self.settings.children == Children::Compete {
            let beam = turn.history().last_said_by(&self.actor, turn.generation());
            pool.extend(beam.iter().filter_map(|message| match message {
                Message::ExecutionReport(report) => Some(report.clone()),
                _ => None,
            }));
        }
        pool.extend(inbox.iter().cloned());
        let scores: Vec<f64> = pool.iter().map(|report| report.judgement.score()).collect();
        let kept = selection::truncation(&scores, self.settings.beam_width.get() as usize);
        turn.note("pool", NoteValue::Count(i64::try_from(pool.len()).unwrap_or(i64::MAX)));
        turn.note("kept", NoteValue::Count(i64::try_from(kept.len()).unwrap_or(i64::MAX)));
        Ok(kept.into_iter().map(|index| Message::ExecutionReport(pool[index].clone())).collect())
    }
}
