//! The table at the end of a run.

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets::NOTHING};

use super::events::{by_error_type, seconds};
use crate::{
    budget::TurnedAway,
    conversation::ConversationRecord,
    domain::{Patches, ScoredOn, Spend},
};

/// One row a conversation, in the order of tasks and samples, and a row of sums.
pub fn table(records: &[ConversationRecord], trace_of: impl Fn(&ConversationRecord) -> String) -> String {
    let mut table = Table::new();
    table.load_preset(NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    // Where nothing has a price, nobody wants to read of money.
    let costs = records.iter().any(|record| record.end.spend.currency.is_some());
    let cost = costs.then_some("cost");
    let header = ["task", "solved", "outcome", "programs", "calls", "tokens in/out"];
    table.set_header(header.into_iter().chain(cost).chain(["seconds", "trace"]));
    let mut total = Spend::default();
    for record in records {
        let (head, end) = (&record.head, &record.end);
        total += end.spend;
        let task = if head.sample > 0 { format!("{} #{}", head.task, head.sample) } else { head.task.0.clone() };
        let mut row = vec![Cell::new(task), Cell::new(solved_word(record)), Cell::new(end.outcome)];
        row.extend(numbers(&end.spend, costs, seconds(end.ended_ns.saturating_sub(head.started_ns))));
        row.push(Cell::new(trace_of(record)));
        table.add_row(row);
    }
    let solved = records.iter().filter(|record| record.end.solved).count();
    let mut row = vec![Cell::new("all"), Cell::new(format!("{solved} of {}", records.len())), Cell::new("")];
    let time = records.iter().map(|record| record.end.ended_ns.saturating_sub(record.head.started_ns)).sum();
    row.extend(numbers(&total, costs, seconds(time)));
    table.add_row(row);
    table.to_string()
}

/// The most that requests of unknown outcome can have cost beside the sums; `None` where there is none.
pub fn in_doubt(records: &[ConversationRecord]) -> Option<String> {
    let mut total = Spend::default();
    records.iter().for_each(|record| total += record.end.spend);
    let requests = total.attempts_in_doubt;
    (requests > 0).then(|| {
        let cost = total.currency.map(|currency| format!(", for at most {} {currency} more", total.cost_in_doubt));
        format!("{requests} requests without an answer were possibly billed{}", cost.unwrap_or_default())
    })
}

/// The conversations that were not begun since a budget was spent; `None` where there is none.
pub fn turned_away(turned_away: &[TurnedAway], planned: usize) -> Option<String> {
    const NAMED: usize = 5;
    let first = turned_away.first()?;
    let name = |one: &TurnedAway| match one.sample {
        0 => one.task.clone(),
        sample => format!("{} #{sample}", one.task),
    };
    let named: Vec<String> = turned_away.iter().take(NAMED).map(name).collect();
    let more = turned_away.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!(
        "{} of {planned} conversations were not begun ({}): {}{more}",
        turned_away.len(),
        first.why,
        named.join(", ")
    ))
}

/// All programs of roles by the four outcomes of program repair; `None` where there is none.
pub fn patches(records: &[ConversationRecord]) -> Option<String> {
    let mut all = Patches::default();
    records.iter().for_each(|record| all += record.end.patches);
    let Patches { plausible, wrong, timeout, uncompilable } = all;
    (all != Patches::default()).then(|| {
        format!(
            "programs: {plausible} plausible, {wrong} wrong, {timeout} out of time, {uncompilable} that do not compile"
        )
    })
}

/// What became of conversations by the mistake of their first failing program; `None` where there is no second kind.
pub fn error_types(records: &[ConversationRecord]) -> Option<String> {
    let kinds = by_error_type(records);
    if kinds.len() < 2 {
        return None;
    }
    let mut table = Table::new();
    table.load_preset(NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(["first error", "programs", "solved", "share"]);
    for kind in kinds {
        let share = 100.0 * kind.solved as f64 / kind.conversations as f64;
        let numbers = [kind.conversations.to_string(), kind.solved.to_string(), format!("{share:.1} %")];
        let numbers = numbers.map(|text| Cell::new(text).set_alignment(CellAlignment::Right));
        table.add_row([Cell::new(kind.error_type)].into_iter().chain(numbers));
    }
    Some(table.to_string())
}

fn solved_word(record: &ConversationRecord) -> &'static str {
    match (record.end.solved, record.end.starter_passed, record.head.scored_on) {
        (false, _, _) => "no",
        (true, true, _) => "yes (starter)",
        (true, false, ScoredOn::Hidden) => "yes",
        (true, false, ScoredOn::Feedback) => "yes (feedback)",
    }
}

fn numbers(spend: &Spend, costs: bool, seconds: f64) -> Vec<Cell> {
    let lower_bound = if spend.calls_without_usage > 0 { "≥" } else { "" };
    let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
    let cost = costs.then(|| right(spend.cost_words().unwrap_or_else(|| "0".to_owned())));
    let counts = [
        right(spend.programs.to_string()),
        right(spend.model_calls.to_string()),
        right(format!("{lower_bound}{}/{}", spend.input_tokens, spend.output_tokens)),
    ];
    counts.into_iter().chain(cost).chain([right(format!("{seconds:.1}"))]).collect()
}
