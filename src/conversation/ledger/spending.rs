//! The budgets that calls of models take from: the conversation's, and an actor's own within it. A turn gets what both
//! have.

use std::collections::BTreeMap;

use crate::{
    budget::{BudgetKind, CallLimits, Charge, Grant, Meter},
    domain::Money,
    runtime::{Allowance, TurnRecord},
    topology::Plan,
};

/// One budget.
struct Purse {
    limits: CallLimits,
    /// Calls are reserved, since turns may be under way together; of everything else only one turn at a time takes.
    calls: Meter,
    spent: Charge,
}

impl Purse {
    fn new(limits: CallLimits) -> Self {
        Self { limits, calls: Meter::new(limits.model_calls), spent: Charge::default() }
    }

    fn left(&self, kind: BudgetKind) -> Option<u64> {
        self.limits.of(kind).map(|limit| limit.saturating_sub(self.spent.of(kind)))
    }
}

/// What a turn is offered of calls.
pub(super) enum Calls {
    /// Nothing limits them.
    Unlimited,
    /// So many.
    Some(u32),
    /// What others hold may be returned.
    Wait,
    /// None is left: of the actor's own budget, or of the conversation's.
    Nothing { own: bool },
}

/// Both levels.
pub(super) struct Spending {
    conversation: Purse,
    /// Of the actors that have one, by index.
    actors: BTreeMap<usize, Purse>,
}

impl Spending {
    pub(super) fn new(plan: &Plan) -> Self {
        let nodes = plan.nodes.iter().enumerate().filter(|(_, node)| node.budget != CallLimits::default());
        Self {
            conversation: Purse::new(plan.budget.calls()),
            actors: nodes.map(|(index, node)| (index, Purse::new(node.budget))).collect(),
        }
    }

    /// How many of these calls a turn of the actor may make.
    pub(super) fn offer(&self, actor: usize, wanted: u32) -> Calls {
        let own = self.actors.get(&actor).filter(|own| own.limits.model_calls.is_some());
        let whole = Some(&self.conversation).filter(|whole| whole.limits.model_calls.is_some());
        let grants = (whole.map(|whole| whole.calls.offer(wanted)), own.map(|own| own.calls.offer(wanted)));
        match grants {
            (Some(Grant::Nothing), _) => Calls::Nothing { own: false },
            (_, Some(Grant::Nothing)) => Calls::Nothing { own: true },
            (Some(Grant::Wait), _) | (_, Some(Grant::Wait)) => Calls::Wait,
            (Some(Grant::Some(whole)), Some(Grant::Some(own))) => Calls::Some(whole.min(own)),
            (Some(Grant::Some(calls)), None) | (None, Some(Grant::Some(calls))) => Calls::Some(calls),
            (None, None) => Calls::Unlimited,
        }
    }

    /// What a turn of the actor may take of everything but calls.
    pub(super) fn allow(&self, actor: usize, allowance: &mut Allowance) {
        let left = |kind| {
            let own = self.actors.get(&actor).and_then(|own| own.left(kind));
            self.conversation.left(kind).into_iter().chain(own).min()
        };
        allowance.tokens = left(BudgetKind::Tokens);
        allowance.cost = left(BudgetKind::Cost).map(Money);
        allowance.gpu_ms = left(BudgetKind::GpuSecs);
    }

    pub(super) fn reserve(&mut self, actor: usize, calls: u32) {
        self.both(actor).for_each(|purse| purse.calls.reserve(calls));
    }

    pub(super) fn settle(&mut self, actor: usize, record: &TurnRecord) {
        let (calls, charge) = (record.allowance.calls.unwrap_or(0), record.charge());
        let made = u32::try_from(charge.model_calls).unwrap_or(u32::MAX);
        for purse in self.both(actor) {
            purse.calls.settle(calls, made);
            purse.spent = purse.spent + charge;
        }
    }

    /// Whether it was the actor's own budget that refused a call, not the conversation's. Asked before what its turn took is
    /// settled.
    pub(super) fn is_own(&self, actor: usize, kind: BudgetKind, charge: &Charge) -> bool {
        let left = |purse: &Purse| purse.left(kind).map_or(u64::MAX, |left| left.saturating_sub(charge.of(kind)));
        self.actors.get(&actor).is_some_and(|own| left(own) < left(&self.conversation))
    }

    /// The limit in words: `tokens = 500`, `budget of ranker: tokens = 500`.
    pub(super) fn words(&self, own: Option<(usize, &str)>, kind: BudgetKind) -> String {
        match own.and_then(|(actor, name)| Some((self.actors.get(&actor)?, name))) {
            Some((purse, name)) => format!("budget of {name}: {}", purse.limits.words(kind)),
            None => self.conversation.limits.words(kind),
        }
    }

    fn both(&mut self, actor: usize) -> impl Iterator<Item = &mut Purse> {
        self.actors.get_mut(&actor).into_iter().chain([&mut self.conversation])
    }
}
