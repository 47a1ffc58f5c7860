use std::{num::NonZeroU32, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{
    domain::Children,
    ids::ActorName,
    messages::{Judged, Kind, Message},
    runtime::{
        Fault, Inlets, NoteValue, Receives, Role, RoleEntry, RoleSpec, Routed, Seat, SettingKey, SettingsError, Turn,
    },
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
        accepts: &[Kind::ExecutionReport, Kind::Assessment],
        emits: &[Kind::ExecutionReport, Kind::Assessment],
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
        inlets.accept_judged();
    }
}

impl<M: Judged + Routed> Receives<M> for Ranker {
    async fn receive(&self, inbox: &[Arc<M>], turn: &Turn) -> Result<Vec<Message>, Fault> {
        let mut pool = Vec::new();
        if self.settings.children == Children::Compete {
            let beam = turn.history().last_said_by(&self.actor, turn.generation());
            pool.extend(beam.into_iter().filter(|message| message.judged().is_some()));
        }
        pool.extend(inbox.iter().cloned().map(M::into_message));
        let scores: Vec<f64> = pool.iter().map(score).collect();
        let kept = selection::truncation(&scores, self.settings.beam_width.get() as usize);
        turn.note("pool", NoteValue::Count(i64::try_from(pool.len()).unwrap_or(i64::MAX)));
        turn.note("kept", NoteValue::Count(i64::try_from(kept.len()).unwrap_or(i64::MAX)));
        Ok(kept.into_iter().map(|index| pool[index].clone()).collect())
    }
}

/// A critic's reward where there is one, else the mean score of the tests.
fn score(message: &Message) -> f64 {
    match message {
        Message::Assessment(assessment) => assessment.reward.unwrap_or(f64::NAN),
        _ => message.judged().map_or(f64::NAN, |report| report.judgement.score()),
    }
}
