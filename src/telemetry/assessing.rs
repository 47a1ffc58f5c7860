//! What a critic's turn says of programs: attributes where it is one, an evaluation event for each.

use super::{attributes as name, content, span::Draft, values::Attributes};
use crate::{
    messages::{Assessment, Message},
    runtime::{Finished, TurnRecord},
};

/// Describes the assessments that an attempt of the turn said first; those that a filter passed on were said elsewhere.
pub fn describe(draft: &mut Draft, turn: &TurnRecord, attempt: &Finished, with_content: bool) {
    let said = attempt.result.as_deref().unwrap_or_default();
    let own: Vec<&Assessment> = said.iter().filter_map(|message| said_by(message, turn)).collect();
    let Some(first) = own.first() else { return };
    draft.set(name::REWARD_SOURCE, first.source.name());
    if let [assessment] = own[..] {
        draft.set(name::REWARD, assessment.reward);
    }
    let unscored = own.iter().filter(|assessment| assessment.reward.is_none()).count();
    draft.set(name::UNSCORED, (unscored > 0).then_some(unscored));
    for assessment in own {
        draft.event(name::EVALUATION, attempt.ended_ns, evaluation(assessment, with_content));
    }
}

fn said_by<'a>(message: &'a Message, turn: &TurnRecord) -> Option<&'a Assessment> {
    match message {
        Message::Assessment(assessment) if assessment.id.seq == turn.seq => Some(assessment),
        _ => None,
    }
}

fn evaluation(assessment: &Assessment, with_content: bool) -> Attributes {
    // A comment may be a model's own words.
    let comment = assessment.comment.as_deref().filter(|_| with_content);
    Attributes::new()
        .with(name::EVALUATION_NAME, assessment.source.name())
        .with(name::EVALUATION_SCORE, assessment.reward)
        .with(name::EVALUATION_LABEL, if assessment.reward.is_some() { "scored" } else { "unscored" })
        .with(name::EVALUATION_EXPLANATION, comment.map(|comment| content::head(comment, content::LIMIT_BYTES)))
        .with(name::CANDIDATE, assessment.report.candidate.id.to_string())
}
