//! What judged programs come to: which one is the best, which one ends the conversation.

use std::sync::Arc;

use super::{Delivery, Ledger, state::Part};
use crate::{
    conversation::Outcome,
    ids::{Generation, MessageId},
    messages::{Assessment, ExecutionReport, Message},
    topology::StopOn,
};

impl Ledger {
    /// Takes note of what an actor says of programs: an executor's reports, a critic's rewards.
    pub(super) fn judge_all(&mut self, delivery: &Delivery, said: &[Message]) {
        let spec = self.plan.nodes[delivery.to].spec;
        for message in said {
            match message {
                Message::ExecutionReport(report) if spec.evaluates => self.judge(delivery, report),
                Message::Assessment(assessment) if spec.assesses() => self.assess(delivery, assessment),
                _ => {}
            }
        }
    }

    fn judge(&mut self, delivery: &Delivery, report: &Arc<ExecutionReport>) {
        let is_starter = report.candidate.id == MessageId::STARTER;
        if !is_starter && self.judged.insert(report.candidate.id) {
            self.patches.add(report.judgement.verdict);
        }
        if self.ending.is_some() {
            return;
        }
        let passed = report.judgement.passed();
        if passed {
            self.first_pass.get_or_insert(report.candidate.id);
        }
        let ends = passed && (self.plan.stop.on == StopOn::Solved || is_starter);
        if !self.plan.rewards() {
            self.consider(report.judgement.score(), Message::ExecutionReport(report.clone()), report.id, delivery);
        } else if ends {
            self.best = Some((f64::INFINITY, report.clone()));
        }
        if ends {
            self.end_as(Outcome::TestsPassed, None);
        }
    }

    fn assess(&mut self, delivery: &Delivery, assessment: &Arc<Assessment>) {
        if self.ending.is_some() {
            return;
        }
        match assessment.reward {
            Some(reward) if !reward.is_nan() => {
                self.consider(reward, Message::Assessment(assessment.clone()), assessment.id, delivery);
            }
            // Unscored is not bad: it only is the best where there is none yet.
            _ if self.best.is_none() => self.best = Some((f64::NEG_INFINITY, assessment.report.clone())),
            _ => {}
        }
    }

    /// Updates the best program and the best to repair: the higher value, the earlier on ties. A program that passes every
    /// test is better than one that does not, whatever rounding made of its score or a critic says of it.
    fn consider(&mut self, value: f64, message: Message, id: MessageId, delivery: &Delivery) {
        let Some(report) = message.judged().cloned() else { return };
        let key = |report: &ExecutionReport, value: f64| (report.judgement.passed(), value);
        if self.best.as_ref().is_none_or(|(best, other)| key(&report, value) > key(other, *best)) {
            self.best = Some((value, report.clone()));
            self.improved_in = delivery.generation;
        }
        if report.judgement.passed() {
            return;
        }
        let part = Part { from: delivery.to, id, message };
        if self.best_failing.as_ref().is_none_or(|(best, _)| value > *best) {
            self.best_failing = Some((value, part.clone()));
        }
        if report.duplicate_of.is_none() {
            self.failing.push(part);
        }
    }

    /// Ends the conversation where the rounds up to `generation`, which is over, brought nothing better for as long as the
    /// arrangement allows.
    pub(super) fn ends_without_improvement(&mut self, generation: Generation) -> bool {
        let Some(rounds) = self.plan.stop.no_improvement else { return false };
        let ends = generation.saturating_sub(self.improved_in) >= rounds.get();
        if ends {
            let detail = format!("nothing better in {rounds} rounds: the best is of generation {}", self.improved_in);
            self.end_as(Outcome::NoImprovement, Some(detail));
        }
        ends
    }
}
