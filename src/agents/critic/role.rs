use std::sync::Arc;

use super::{
    endpoint::Endpoint,
    judge,
    settings::{KEYS, Settings},
};
use crate::{
    llm::Purpose,
    messages::{Assessment, ExecutionReport, Kind, Message, RewardSource},
    runtime::{Fault, Inlets, PromptKey, Receives, Role, RoleEntry, RoleSpec, Seat, SettingsError, Turn},
    selection::{execution_reward, group_scores},
};

pub(in crate::agents) static ROLE: RoleEntry = RoleEntry::of::<Critic>();

/// Says how good a judged program is (RePair's critic).
struct Critic {
    settings: Settings,
    endpoint: Option<Endpoint>,
}

/// What a source says of one program: its reward, `None` where it cannot be told, and words.
pub(super) struct Opinion {
    pub(super) reward: Option<f64>,
    pub(super) comment: Option<String>,
}

impl Opinion {
    /// Why there is no reward. Never 0, which would be one.
    pub(super) fn unscored(comment: impl Into<String>) -> Self {
        Self { reward: None, comment: Some(comment.into()) }
    }
}

impl Role for Critic {
    type Settings = Settings;

    const SPEC: RoleSpec = RoleSpec {
        name: "critic",
        summary: "says how good a judged program is: by its verdict, a model that judges, or a reward endpoint",
        accepts: &[Kind::ExecutionReport],
        emits: &[Kind::Assessment],
        gathers: false,
        evaluates: false,
        asks: &[(Kind::ExecutionReport, Purpose::Judge)],
        prompts: &[PromptKey { key: "compare", default: "critic/compare", purpose: Purpose::Judge }],
        settings: KEYS,
    };

    fn new(settings: Settings, _: &Seat) -> Result<Self, SettingsError> {
        let endpoint = match settings.reward {
            RewardSource::Endpoint => Some(Endpoint::new(&settings)?),
            RewardSource::Execution | RewardSource::Agreement | RewardSource::Judge => None,
        };
        Ok(Self { settings, endpoint })
    }

    fn check(settings: &Settings) -> Vec<SettingsError> {
        settings.mistakes()
    }

    fn calls(settings: &Settings, _: Kind, _: u32) -> u32 {
        if settings.reward == RewardSource::Judge { judge::MOST_CALLS } else { 0 }
    }

    fn needs(settings: &Settings, _: Kind) -> Option<Purpose> {
        (settings.reward == RewardSource::Judge).then_some(Purpose::Judge)
    }

    fn variables(settings: &Settings) -> Vec<(&'static str, String)> {
        let name = settings.endpoint_env.iter().filter(|_| settings.reward == RewardSource::Endpoint);
        name.map(|name| ("endpoint_env", name.clone())).collect()
    }

    fn connect(inlets: &mut Inlets<'_, Self>) {
        inlets.accept::<ExecutionReport>();
    }
}

impl Receives<ExecutionReport> for Critic {
    async fn receive(&self, inbox: &[Arc<ExecutionReport>], turn: &Turn) -> Result<Vec<Message>, Fault> {
        let opinions = match (self.settings.reward, &self.endpoint) {
            (RewardSource::Judge, _) => judge::compare_all(inbox, self.settings.tests(), turn).await?,
            (RewardSource::Endpoint, Some(endpoint)) => endpoint.ask_all(inbox, turn).await?,
            (RewardSource::Agreement, _) => by_agreement(inbox),
            (RewardSource::Execution | RewardSource::Endpoint, _) => inbox.iter().map(by_execution).collect(),
        };
        let assessment = |(index, (report, opinion)): (usize, (&Arc<ExecutionReport>, Opinion))| {
            let Opinion { reward, comment } = opinion;
            let (id, source) = (turn.message_id(index), self.settings.reward);
            Message::Assessment(Arc::new(Assessment { id, report: report.clone(), reward, source, comment }))
        };
        Ok(inbox.iter().zip(opinions).enumerate().map(assessment).collect())
    }
}

/// Programs that pass the same tests speak for each other: those received together are the population.
fn by_agreement(inbox: &[Arc<ExecutionReport>]) -> Vec<Opinion> {
    let scores = |report: &Arc<ExecutionReport>| report.judgement.tests.iter().map(|test| test.score).collect();
    let scores: Vec<Vec<f64>> = inbox.iter().map(scores).collect();
    let rewards = group_scores(&scores).into_iter();
    rewards.map(|reward| Opinion { reward: Some(reward as f64), comment: None }).collect()
}

fn by_execution(report: &Arc<ExecutionReport>) -> Opinion {
    Opinion { reward: execution_reward(&report.judgement), comment: None }
}
