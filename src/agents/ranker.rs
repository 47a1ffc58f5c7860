use std::{num::NonZeroU32, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{
    domain::Children,
    ids::{ActorName, MessageId},
    messages::{ExecutionReport, Judged, Kind, Message},
    runtime::{
        Fault, Inlets, NoteValue, Receives, Role, RoleEntry, RoleSpec, Routed, Seat, SettingKey, SettingsError, Turn,
    },
    selection::{Epsilon, Method},
};

pub(super) static ROLE: RoleEntry = RoleEntry::of::<Ranker>();

/// Candidates in a tournament where nothing else is said.
const TOURNAMENT_SIZE: u32 = 2;

/// Chooses the programs of a generation that are repaired: the beam. A filter: it says the kind that it takes.
///
/// A program that passes all tests leaves the population, since there is nothing to repair. Where nobody new may enter
/// the beam, the former beam is said again; where there is none either, nothing.
struct Ranker {
    width: usize,
    children: Children,
    selection: Selection,
    method: Method,
    actor: ActorName,
}

/// Settings of the ranker.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Settings {
    beam_width: NonZeroU32,
    children: Children,
    selection: Selection,
    /// For `tournament`.
    #[serde(skip_serializing_if = "Option::is_none")]
    tournament_size: Option<u32>,
    /// For methods that draw one parent after the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    replacement: Option<bool>,
    /// For `epsilon_lexicase`.
    #[serde(skip_serializing_if = "Option::is_none")]
    epsilon: Option<Epsilon>,
}

/// The word that names a method of selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Selection {
    Truncation,
    Tournament,
    Lexicase,
    EpsilonLexicase,
    LexicaseSingleOrder,
    Agreement,
}

impl Selection {
    fn name(self) -> &'static str {
        match self {
            Self::Truncation => "truncation",
            Self::Tournament => "tournament",
            Self::Lexicase => "lexicase",
            Self::EpsilonLexicase => "epsilon_lexicase",
            Self::LexicaseSingleOrder => "lexicase_single_order",
            Self::Agreement => "agreement",
        }
    }

    fn draws_one_by_one(self) -> bool {
        matches!(self, Self::Tournament | Self::Lexicase | Self::EpsilonLexicase)
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            beam_width: NonZeroU32::MIN,
            children: Children::Replace,
            selection: Selection::Truncation,
            tournament_size: None,
            replacement: None,
            epsilon: None,
        }
    }
}

impl Settings {
    fn method(&self) -> Method {
        let replacement = self.replacement.unwrap_or(false);
        match self.selection {
            Selection::Truncation => Method::Truncation,
            Selection::Tournament => {
                let size = self.tournament_size.unwrap_or(TOURNAMENT_SIZE) as usize;
                Method::Tournament { size, replacement }
            }
            Selection::Lexicase => Method::Lexicase { replacement },
            Selection::EpsilonLexicase => {
                Method::EpsilonLexicase { epsilon: self.epsilon.unwrap_or_default(), replacement }
            }
            Selection::LexicaseSingleOrder => Method::LexicaseSingleOrder,
            Selection::Agreement => Method::Agreement,
        }
    }
}

impl Role for Ranker {
    type Settings = Settings;

    const SPEC: RoleSpec = RoleSpec {
        name: "ranker",
        summary: "chooses the programs of a generation that are repaired, by their test scores or rewards",
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
            SettingKey {
                name: "selection",
                help: "how the beam is chosen: \"truncation\" (highest mean test score), \"tournament\", \"lexicase\", \
                       \"epsilon_lexicase\", \"lexicase_single_order\" or \"agreement\"",
            },
            SettingKey {
                name: "tournament_size",
                help: "for \"tournament\": programs in one tournament, a number from 2; 2 where absent",
            },
            SettingKey {
                name: "replacement",
                help: "for \"tournament\", \"lexicase\" and \"epsilon_lexicase\": whether a program may be chosen \
                       again, true or false; false where absent",
            },
            SettingKey {
                name: "epsilon",
                help: "for \"epsilon_lexicase\": how far below the best of a test a score still passes it, a number \
                       from 0 or \"mad\" (median absolute deviation of the test's scores); \"mad\" where absent",
            },
        ],
    };

    fn new(settings: Settings, seat: &Seat) -> Result<Self, SettingsError> {
        Ok(Self {
            width: settings.beam_width.get() as usize,
            children: settings.children,
            selection: settings.selection,
            method: settings.method(),
            actor: seat.actor.clone(),
        })
    }

    fn check(settings: &Settings) -> Vec<SettingsError> {
        let selection = settings.selection;
        let of_no_use = [
            ("tournament_size", settings.tournament_size.is_some() && selection != Selection::Tournament),
            ("replacement", settings.replacement.is_some() && !selection.draws_one_by_one()),
            ("epsilon", settings.epsilon.is_some() && selection != Selection::EpsilonLexicase),
        ];
        let no_use =
            |key| SettingsError { key, reason: format!("has no use with `selection = \"{}\"`", selection.name()) };
        let mut wrong: Vec<SettingsError> =
            of_no_use.into_iter().filter(|(_, written)| *written).map(|(key, _)| no_use(key)).collect();
        if settings.tournament_size.is_some_and(|size| size < 2) {
            let reason = "must be a whole number from 2: a tournament of 1 is a draw of lots".to_owned();
            wrong.push(SettingsError { key: "tournament_size", reason });
        }
        wrong
    }

    fn connect(inlets: &mut Inlets<'_, Self>) {
        inlets.accept_judged();
    }
}

/// Whether a program may enter the beam: there is nothing to repair in one that passes, and the twin of a duplicate is there.
fn eligible(report: &ExecutionReport) -> bool {
    !report.judgement.passed() && report.duplicate_of.is_none()
}

fn candidate(message: &Message) -> Option<MessageId> {
    message.judged().map(|report| report.candidate.id)
}

impl Ranker {
    /// What it said last in an earlier generation; a program that it chose twice is there twice.
    fn former_beam(&self, turn: &Turn) -> Vec<Message> {
        let said = turn.history().last_said_by(&self.actor, turn.generation());
        said.into_iter().filter(|message| message.judged().is_some()).collect()
    }

    /// Whom the beam is chosen among: parents first, each once.
    fn pool(&self, newcomers: Vec<Message>, turn: &Turn) -> Vec<Message> {
        let mut pool: Vec<Message> = Vec::new();
        if self.children == Children::Compete {
            for parent in self.former_beam(turn) {
                if pool.iter().all(|other| candidate(other) != candidate(&parent)) {
                    pool.push(parent);
                }
            }
        }
        pool.extend(newcomers);
        pool
    }

    /// What a program is chosen by: the scores of its tests; for methods that look at their mean alone, the reward in its
    /// place where a critic gives one.
    fn scores(&self, message: &Message) -> Vec<f64> {
        match (message, self.selection) {
            (Message::Assessment(assessment), Selection::Truncation | Selection::Tournament) => {
                vec![assessment.reward.unwrap_or(f64::NAN)]
            }
            _ => message.judged().into_iter().flat_map(|report| &report.judgement.tests).map(|it| it.score).collect(),
        }
    }
}

impl<M: Judged + Routed> Receives<M> for Ranker {
    async fn receive(&self, inbox: &[Arc<M>], turn: &Turn) -> Result<Vec<Message>, Fault> {
        let newcomers = inbox.iter().filter(|message| eligible(message.report()));
        let newcomers: Vec<Message> = newcomers.cloned().map(M::into_message).collect();
        let (pool, beam) = if newcomers.is_empty() {
            let beam = self.former_beam(turn);
            (beam.len(), beam)
        } else {
            let pool = self.pool(newcomers, turn);
            let scores: Vec<Vec<f64>> = pool.iter().map(|message| self.scores(message)).collect();
            let chosen = self.method.choose(&scores, self.width, &mut turn.rng("selection"));
            (pool.len(), chosen.into_iter().map(|index| pool[index].clone()).collect())
        };
        turn.note("selection", NoteValue::Text(self.selection.name().to_owned()));
        turn.note("pool", NoteValue::Count(i64::try_from(pool).unwrap_or(i64::MAX)));
        turn.note("kept", NoteValue::Count(i64::try_from(beam.len()).unwrap_or(i64::MAX)));
        Ok(beam)
    }
}
