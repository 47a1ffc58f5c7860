//! A model as judge: it compares a program with the best so far, and is asked in both orders.

use std::sync::Arc;

use super::{
    answer::{Better, read},
    role::Opinion,
    settings::Tests,
};
use crate::{
    domain::{Judgement, Program},
    ids::MessageId,
    llm::{ModelError, Purpose, Rival, Subject},
    messages::{ExecutionReport, RewardSource},
    prompts::ExecutionFeedback,
    runtime::{Ask, Fault, Metered, NoteValue, Turn},
};

/// The most calls that one program costs: two orders, each asked for once more where the answer is unclear.
pub(super) const MOST_CALLS: u32 = 4;

/// The reward of the first program. The scale is the judge's own: its numbers rank, they do not measure.
const FIRST: f64 = 0.0;

/// How far a better program is above the best so far, and a worse one below.
const STEP: f64 = 1.0;

/// How the new program stands to the best so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Better,
    Worse,
    /// Equally good, or the two orders disagree: no improvement.
    Tie,
}

impl Standing {
    fn word(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Tie => "no better",
        }
    }
}

/// The best so far: highest reward of a judge, the earliest on ties.
#[derive(Clone)]
struct Best {
    reward: f64,
    report: Arc<ExecutionReport>,
}

/// Compares each program with the best of those judged before it: in earlier turns, then in this one.
pub(super) async fn compare_all(
    inbox: &[Arc<ExecutionReport>],
    tests: Tests,
    turn: &Turn,
) -> Result<Vec<Opinion>, Fault> {
    let model = turn.model().ok_or_else(|| Fault::Setup(format!("{} has no model", turn.seat().actor)))?;
    let mut judge = Judge { turn, model, tests, comparisons: Vec::new() };
    let mut best = best_so_far(turn);
    let mut opinions = Vec::new();
    for report in inbox {
        let opinion = match &best {
            None => Opinion { reward: Some(FIRST), comment: None },
            Some(best) => judge.compare(report, best).await?,
        };
        if let Some(reward) = opinion.reward
            && best.as_ref().is_none_or(|best| reward > best.reward)
        {
            best = Some(Best { reward, report: report.clone() });
        }
        opinions.push(opinion);
    }
    if !judge.comparisons.is_empty() {
        turn.note("comparisons", NoteValue::Text(judge.comparisons.join("; ")));
    }
    Ok(opinions)
}

fn best_so_far(turn: &Turn) -> Option<Best> {
    let mut best: Option<Best> = None;
    for assessment in turn.history().assessments() {
        // Rewards of other sources are on scales of their own.
        let Some(reward) = assessment.reward.filter(|_| assessment.source == RewardSource::Judge) else { continue };
        if best.as_ref().is_none_or(|best| reward > best.reward) {
            best = Some(Best { reward, report: assessment.report.clone() });
        }
    }
    best
}

/// One program as a judge may see it.
#[derive(Clone)]
struct Side {
    program: Arc<Program>,
    judgement: Option<Arc<Judgement>>,
}

struct Judge<'a> {
    turn: &'a Turn,
    model: Metered<'a>,
    tests: Tests,
    /// What was compared in which order, and what came of it.
    comparisons: Vec<String>,
}

impl Judge<'_> {
    async fn compare(&mut self, report: &ExecutionReport, best: &Best) -> Result<Opinion, Fault> {
        let pair = (report.candidate.id, best.report.candidate.id);
        let standing = match (self.side(report), self.side(&best.report)) {
            (Some(new), Some(old)) if new.program.hash() != old.program.hash() => {
                match self.in_both_orders(pair, &new, &old).await? {
                    Ok(standing) => standing,
                    Err(unscored) => return Ok(unscored),
                }
            }
            // Nobody need be asked: the same text is no improvement, and any program is better than none.
            (Some(_), Some(_)) | (None, None) => Standing::Tie,
            (Some(_), None) => Standing::Better,
            (None, Some(_)) => Standing::Worse,
        };
        let reward = match standing {
            Standing::Better => best.reward + STEP,
            Standing::Tie => best.reward,
            Standing::Worse => best.reward - STEP,
        };
        Ok(Opinion { reward: Some(reward), comment: Some(format!("{} than {}", standing.word(), pair.1)) })
    }

    /// A judge that prefers a place to a program disagrees with itself when the places are changed: that is a tie.
    async fn in_both_orders(
        &mut self,
        (new_id, old_id): (MessageId, MessageId),
        new: &Side,
        old: &Side,
    ) -> Result<Result<Standing, Opinion>, Fault> {
        let as_a = match self.ask(new, old).await? {
            Ok(Better::A) => Standing::Better,
            Ok(Better::B) => Standing::Worse,
            Ok(Better::Neither) => Standing::Tie,
            Err(unscored) => return Ok(Err(unscored)),
        };
        let as_b = match self.ask(old, new).await? {
            Ok(Better::B) => Standing::Better,
            Ok(Better::A) => Standing::Worse,
            Ok(Better::Neither) => Standing::Tie,
            Err(unscored) => return Ok(Err(unscored)),
        };
        self.comparisons.push(format!("{new_id} with {old_id}: as A {}, as B {}", as_a.word(), as_b.word()));
        Ok(Ok(if as_a == as_b { as_a } else { Standing::Tie }))
    }

    /// Asks which of `a` and `b` is better, once more where the answer is unclear; after that the program is unscored, with
    /// the raw answer in its comment.
    async fn ask(&self, a: &Side, b: &Side) -> Result<Result<Better, Opinion>, Fault> {
        let mut raw = String::new();
        for _ in 0..2 {
            let subject = self.subject(a, b);
            let ask = Ask {
                purpose: Purpose::Judge,
                prompt: "compare",
                subject,
                feedback: &ExecutionFeedback::default(),
                choices: &[0],
            };
            let reply = match self.model.ask(ask).await {
                Ok(reply) => reply,
                Err(Fault::Model(error @ (ModelError::Budget | ModelError::NothingToSay(_)))) => {
                    return Ok(Err(Opinion::unscored(error.to_string())));
                }
                Err(fault) => return Err(fault),
            };
            let Some(choice) = reply.choices.into_iter().next() else { continue };
            // The last line of an answer that was cut off may be the beginning of another.
            if !choice.was_cut()
                && let Some(better) = read(&choice.text)
            {
                return Ok(Ok(better));
            }
            raw = choice.text;
        }
        Ok(Err(Opinion::unscored(raw)))
    }

    fn side(&self, report: &ExecutionReport) -> Option<Side> {
        let judgement = (self.tests == Tests::Shown).then(|| report.judgement.clone());
        report.candidate.program.clone().map(|program| Side { program, judgement })
    }

    fn subject(&self, a: &Side, b: &Side) -> Subject {
        Subject {
            judgement: a.judgement.clone(),
            seen: Arc::new(self.turn.history().clone()),
            other: Some(Rival { program: b.program.clone(), judgement: b.judgement.clone() }),
            ..Subject::of(self.turn.task().clone(), Some(a.program.clone()))
        }
    }
}
