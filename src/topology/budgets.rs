//! Budgets: what they are, and which of them cannot be kept.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    budget::{CallLimits, SharedLimits},
    config::{Located, Mistake, listed, quoted},
    domain::{Currency, Money},
};

use super::{
    BudgetLimits, SharedBudgets,
    draft::{Draft, Values},
    member::{Member, Part},
};

/// The tables of the top level that hold budgets: of each conversation, and of several together.
const TABLES: [&str; 4] = ["budget", "run.budget", "arm.budget", "task.budget"];

fn number<'v>(values: &'v Values, table: &str, key: &str) -> Option<&'v Located<Value>> {
    values.get(&format!("{table}.{key}")).filter(|written| written.value.is_number())
}

fn seconds(values: &Values, table: &str, key: &str) -> Option<f64> {
    number(values, table, key).and_then(|written| written.value.as_f64())
}

fn small(values: &Values, table: &str, key: &str) -> Option<u32> {
    number(values, table, key).and_then(|written| written.value.as_u64()).and_then(|number| number.try_into().ok())
}

/// What calls may take, in a table of the top level or of an actor. A word for "no limit" is `None`.
pub(super) fn calls(values: &Values, table: &str) -> CallLimits {
    // A budget of more GPU seconds than a number of ms holds is as good as none.
    let gpu_ms = |secs: f64| format!("{:.0}", (secs * 1e3).floor().min(1e18)).parse().ok();
    CallLimits {
        model_calls: small(values, table, "model_calls"),
        tokens: number(values, table, "tokens").and_then(|written| written.value.as_u64()),
        // What is no amount is a mistake, and stands for nothing.
        cost: seconds(values, table, "cost").map(|units| Money::from_units(units).unwrap_or_default()),
        gpu_ms: seconds(values, table, "gpu_secs").and_then(gpu_ms),
    }
}

/// The budgets of each conversation.
pub(super) fn conversation(values: &Values) -> BudgetLimits {
    let CallLimits { model_calls, tokens, cost, gpu_ms } = calls(values, "budget");
    BudgetLimits {
        programs: small(values, "budget", "programs"),
        model_calls,
        tokens,
        cost,
        wall_secs: seconds(values, "budget", "wall_secs"),
        gpu_ms,
        generations: small(values, "budget", "generations"),
    }
}

/// The budgets that conversations share.
pub(super) fn shared(values: &Values) -> SharedBudgets {
    let limits =
        |table: &str| SharedLimits { calls: calls(values, table), wall_secs: seconds(values, table, "wall_secs") };
    SharedBudgets { run: limits("run.budget"), arm: limits("arm.budget"), task: limits("task.budget") }
}

/// The budget that makes a conversation run one turn at a time, so that it is never overspent: what is left of it follows
/// from how calls end.
pub(super) fn in_order(draft: &Draft) -> Option<String> {
    let keys = ["tokens", "cost", "gpu_secs"];
    let of = |values: &Values| keys.into_iter().find(|key| number(values, "budget", key).is_some());
    of(&draft.values).map(|key| format!("budget.{key}")).or_else(|| {
        draft.actors.iter().find_map(|actor| Some(format!("actors.{}.budget.{}", actor.name.value, of(&actor.values)?)))
    })
}

/// Budgets that cannot be kept are mistakes.
pub(super) fn check(values: &Values, members: &[Member<'_>], mistakes: &mut Vec<Mistake>) {
    let asking: Vec<&Member<'_>> = members.iter().filter(|it| it.part.as_ref().is_some_and(|part| part.asks)).collect();
    for table in TABLES {
        Checking { top: values, values, shown: table.to_owned(), table, asking: &asking }.check(mistakes);
    }
    for member in &asking {
        let own = std::slice::from_ref(member);
        let shown = format!("actors.{}.budget", member.draft.name.value);
        Checking { top: values, values: &member.draft.values, shown, table: "budget", asking: own }.check(mistakes);
    }
    check_currencies(&asking, mistakes);
}

/// One table of budgets, and the actors whose calls take from it.
struct Checking<'a, 'd> {
    top: &'a Values,
    values: &'a Values,
    table: &'a str,
    /// The table as messages name it.
    shown: String,
    asking: &'a [&'a Member<'d>],
}

impl Checking<'_, '_> {
    fn check(&self, mistakes: &mut Vec<Mistake>) {
        if let Some(written) = number(self.values, self.table, "cost") {
            if written.value.as_f64().and_then(Money::from_units).is_none() {
                let message = format!("`{}.cost` has more than 9 decimals, or is too much to count", self.shown);
                mistakes.push(Mistake::at(&written.place, message));
            }
            let hint = "add `[price]` with `input_per_million` and `output_per_million` to the model's file";
            self.refuse("cost", "price", hint, |part| part.terms().price.is_none(), mistakes);
            self.unbounded("cost", mistakes);
        }
        let has_no_gpus = |part: &Part| {
            let terms = part.terms();
            terms.gpus.is_none() || (terms.gpus != Some(0) && terms.longest_ms.is_none())
        };
        self.refuse("gpu_secs", "number of GPUs", "add `gpus` to the model's file", has_no_gpus, mistakes);
        self.unbounded("tokens", mistakes);
    }

    /// A budget whose unit is not known of every model.
    fn refuse(&self, key: &str, what: &str, hint: &str, lacks: impl Fn(&Part) -> bool, mistakes: &mut Vec<Mistake>) {
        let Some(written) = number(self.values, self.table, key) else { return };
        let parts = self.asking.iter().filter_map(|member| member.part.as_ref()).filter(|part| lacks(part));
        let mut models: Vec<String> = parts.filter_map(|part| part.model.as_ref()).map(|it| quoted(&it.name)).collect();
        models.sort_unstable();
        models.dedup();
        if !models.is_empty() {
            let path = format!("{}.{key}", self.shown);
            let message = format!("`{path}` cannot be kept: the {what} of {} is not known", listed(models));
            mistakes.push(Mistake::at(&written.place, message).hint(hint));
        }
    }

    /// A budget whose calls have no worst case.
    fn unbounded(&self, key: &str, mistakes: &mut Vec<Mistake>) {
        let Some(written) = number(self.values, self.table, key) else { return };
        let unbounded = self.asking.iter().filter(|member| {
            let path = "parameters.max_output_tokens";
            let Some(part) = &member.part else { return false };
            // An actor whose model is not known is a mistake of its own.
            let Some(model) = &part.model else { return false };
            let by_model = model.capabilities.max_output_tokens.is_some();
            let is_free = key == "cost" && part.terms().price.is_some_and(|price| price.is_free());
            let bounded = by_model || is_free || part.node.parameters.max_output_tokens.is_some();
            !bounded && !member.draft.values.mentions(path) && !self.top.mentions(path)
        });
        let names: Vec<&str> = unbounded.map(|member| member.draft.name.value.as_str()).collect();
        if !names.is_empty() {
            let path = format!("{}.{key}", self.shown);
            let message = format!("`{path}` cannot be kept: no `max_output_tokens` for {}", listed(names));
            let hint = "set `max_output_tokens` in `[parameters]`, in the actors' own or in the model's file";
            mistakes.push(Mistake::at(&written.place, message).hint(hint));
        }
    }
}

/// Amounts of two currencies cannot be added up.
fn check_currencies(asking: &[&Member<'_>], mistakes: &mut Vec<Mistake>) {
    let mut first: BTreeMap<Currency, &str> = BTreeMap::new();
    for member in asking {
        let Some((part, model)) = member.part.as_ref().and_then(|part| Some((part, part.model.as_ref()?))) else {
            continue;
        };
        let Some(price) = part.terms().price.filter(|price| !price.is_free()) else { continue };
        if let Some((other, of)) = first.iter().next().filter(|(other, _)| **other != price.currency) {
            let message =
                format!("{} is priced in {} and {} in {other}", quoted(&model.name), price.currency, quoted(of));
            let hint = "models of one arrangement need prices of one currency";
            mistakes.push(Mistake::at(&member.draft.name.place, message).hint(hint));
        } else {
            first.insert(price.currency, &model.name);
        }
    }
}
