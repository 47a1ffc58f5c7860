//! `rolecall trace lineage`: which program came from which.

use super::{args::LineageArgs, files};
use crate::{
    cli::{
        exit::{Exit, Failure},
        terminal,
    },
    telemetry::{Lineage, SpanLines, lineage_dot, lineage_json, lineage_mermaid, lineage_text},
};

/// Carries out `rolecall trace lineage`.
///
/// # Errors
/// A file that is not there, or holds damaged lines: what could be read has been printed then.
pub fn lineage(args: &LineageArgs) -> Result<Exit, Failure> {
    let file = files::find(&args.conversation, &args.below)?;
    let mut lineage = Lineage::default();
    let mut damage = Vec::new();
    let mut spans = 0;
    let reading = SpanLines::new(files::open(&file)?).all(|portion| {
        spans += portion.spans.len();
        damage.extend(portion.damage);
        portion.spans.iter().for_each(|span| lineage.add(span));
    });
    reading.map_err(|error| files::unreadable(&file, &error))?;
    files::refuse_empty(&file, spans == 0, &damage)?;
    if args.json {
        terminal::json(&lineage_json(&lineage));
    } else if args.mermaid {
        files::print(&lineage_mermaid(&lineage));
    } else if args.dot {
        files::print(&lineage_dot(&lineage));
    } else if lineage.is_empty() {
        terminal::talk("no candidate was written yet");
    } else {
        files::print(&lineage_text(&lineage, files::look()));
    }
    files::ended(&file, &damage)
}
