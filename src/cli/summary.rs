//! The table at the end of a run.

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets::NOTHING};

use super::events::{by_error_type, seconds};
use crate::{
    conversation::ConversationRecord,
    domain::{Patches, ScoredOn, Spend},
};

/// One row a conversation, in the order of tasks and samples, and a row of sums.
pub fn table(records: &[ConversationRecord], trace_of: impl Fn(&ConversationRecord) -> String) -> String {
    let mut table = Table::new();
    table.load_preset(NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(["task", "solved", "outcome", "programs", "calls", "tokens in/out", "seconds", "trace"]);
    let mut total = Spend::default();
    for record in records {
        let (head, end) = (&record.head, &record.end);
        total += end.spend;
        let task = if head.sample > 0 { format!("{} #{}", head.task, head.sample) } else { head.task.0.clone() };
        let mut row = vec![Cell::new(task), Cell::new(solved_word(record)), Cell::new(end.outcome)];
        row.extend(numbers(&end.spend, seconds(end.ended_ns.saturating_sub(head.started_ns))));
        row.push(Cell::new(trace_of(record)));
        table.add_row(row);
    }
    let solved = records.iter().filter(|record| record.end.solved).count();
    let mut row = vec![Cell::new("all"), Cell::new(format!("{solved} of {}", records.len())), Cell::new("")];
    let time = records.iter().map(|record| record.end.ended_ns.saturating_sub(record.head.started_ns)).sum();
    row.extend(numbers(&total, seconds(time)));
    table.add_row(row);
    table.to_string()
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

fn numbers(spend: &Spend, seconds: f64) -> Vec<Cell> {
    let lower_bound = if spend.calls_without_usage > 0 { "≥" } else { "" };
    let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
    vec![
        right(spend.programs.to_string()),
        right(spend.model_calls.to_string()),
        right(format!("{lower_bound}{}/{}", spend.input_tokens, spend.output_tokens)),
        right(format!("{seconds:.1}")),
    ]
}
