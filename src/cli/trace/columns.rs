//! The table of `trace list`: as many columns as the terminal has room for.

use std::{collections::BTreeSet, path::PathBuf};

use unicode_width::UnicodeWidthStr;

use crate::telemetry::{Listed, clean, duration, utc};

/// Between two columns.
const GAP: usize = 2;

struct Column {
    title: &'static str,
    right: bool,
    /// Columns with the highest number are left out first; those with 0 never.
    spare: u8,
    cells: Vec<String>,
}

impl Column {
    fn width(&self) -> usize {
        self.cells.iter().map(|cell| cell.width()).chain([self.title.width()]).max().unwrap_or(0)
    }
}

/// One line a conversation, under a line of titles. Where `width` is known and too small, columns are left out:
/// `--json` has all.
pub fn table(rows: &[(PathBuf, Listed)], width: Option<usize>) -> String {
    let mut columns = columns(rows);
    let total = |columns: &[Column]| columns.iter().map(|column| column.width() + GAP).sum::<usize>() - GAP;
    while width.is_some_and(|width| total(&columns) > width) {
        let sparest = columns.iter().enumerate().filter(|(_, column)| column.spare > 0);
        let Some((index, _)) = sparest.max_by_key(|(_, column)| column.spare) else { break };
        columns.remove(index);
    }
    let titles = columns.iter().map(|column| (column, column.title));
    let mut text = line(titles);
    for row in 0..rows.len() {
        text += &line(columns.iter().map(|column| (column, column.cells[row].as_str())));
    }
    text
}

fn line<'a>(cells: impl Iterator<Item = (&'a Column, &'a str)>) -> String {
    let padded = cells.map(|(column, cell)| {
        let blank = " ".repeat(column.width().saturating_sub(cell.width()));
        if column.right { format!("{blank}{cell}") } else { format!("{cell}{blank}") }
    });
    let line = padded.collect::<Vec<_>>().join(&" ".repeat(GAP));
    format!("{}\n", line.trim_end())
}

fn columns(rows: &[(PathBuf, Listed)]) -> Vec<Column> {
    let digits = digits(rows);
    let column = |title, right, spare, cell: &dyn Fn(&Listed) -> String| {
        let cells = rows.iter().map(|(_, listed)| clean(&cell(listed))).collect();
        Column { title, right, spare, cells }
    };
    // A file that does not say which conversation it is of is at least named.
    let conversations = rows.iter().map(|(file, listed)| match &listed.conversation {
        Some(id) => clean(&head(id, digits)),
        None => clean(&file.file_name().unwrap_or_default().to_string_lossy()),
    });
    let conversations = conversations.collect();
    let word = |text: &Option<String>| text.clone().unwrap_or_else(|| "?".to_owned());
    let costs = rows.iter().any(|(_, listed)| !listed.cost_words().is_empty());
    let cost = costs.then(|| column("cost", true, 2, &Listed::cost_words));
    let mut columns = vec![
        column("started", false, 5, &|one| utc(one.start)),
        Column { title: "conversation", right: false, spare: 0, cells: conversations },
        // A run's id begins with its time: 13 signs tell runs apart that began in different milliseconds.
        column("run", false, 7, &|one| head(&word(&one.run), 13)),
        column("task", false, 0, &|one| match one.sample {
            Some(sample) if sample > 0 => format!("{} #{sample}", word(&one.task)),
            _ => word(&one.task),
        }),
        column("arrangement", false, 2, &|one| word(&one.arrangement)),
        column("outcome", false, 0, &outcome),
        column("solved", false, 0, &|one| match one.solved {
            Some(true) => "yes".to_owned(),
            Some(false) => "no".to_owned(),
            None => String::new(),
        }),
        column("programs", true, 1, &|one| one.programs.to_string()),
        column("calls", true, 4, &|one| one.model_calls.to_string()),
        column("tokens in/out", true, 3, &|one| {
            let lower_bound = if one.calls_without_usage > 0 { "≥" } else { "" };
            format!("{lower_bound}{}/{}", one.input_tokens, one.output_tokens)
        }),
        column("time", true, 0, &|one| duration(one.duration)),
        column("spans", true, 6, &|one| one.spans.to_string()),
    ];
    let before_time = columns.len() - 2;
    columns.splice(before_time..before_time, cost);
    columns
}

/// Why it ended, or how far it is.
fn outcome(one: &Listed) -> String {
    one.outcome.clone().unwrap_or_else(|| format!("({})", one.state_name()))
}

fn head(text: &str, signs: usize) -> String {
    text.chars().take(signs).collect()
}

/// How many digits of the ids tell the rows apart.
fn digits(rows: &[(PathBuf, Listed)]) -> usize {
    let ids: Vec<&str> = rows.iter().filter_map(|(_, listed)| listed.conversation.as_deref()).collect();
    let all: BTreeSet<&str> = ids.iter().copied().collect();
    let apart = |digits: &usize| ids.iter().map(|id| head(id, *digits)).collect::<BTreeSet<_>>().len() == all.len();
    [8, 12, 16].into_iter().find(apart).unwrap_or(32)
}
