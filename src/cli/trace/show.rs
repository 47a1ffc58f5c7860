//! `rolecall trace show`: a conversation as a tree.

use super::{args::ShowArgs, files};
use crate::{
    cli::{
        exit::{Exit, Failure},
        terminal,
    },
    telemetry::{ReadTrace, TraceDocument, show as page},
};

/// Says that a file has no content, where it was asked for.
const NO_CONTENT: &str = "note: the file has no prompts and replies: they are written only with \
                          OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true";

/// Carries out `rolecall trace show`.
///
/// # Errors
/// A file that is not there, or holds damaged lines: what could be read has been printed then.
pub fn show(args: &ShowArgs) -> Result<Exit, Failure> {
    let file = files::find(&args.conversation, &args.below)?;
    let trace = ReadTrace::read(files::open(&file)?).map_err(|error| files::unreadable(&file, &error))?;
    files::refuse_empty(&file, trace.spans.is_empty(), &trace.damage)?;
    if args.json {
        terminal::json(&TraceDocument::of(&trace));
    } else {
        if args.content && !trace.has_content() {
            terminal::talk(NO_CONTENT);
        }
        files::print(&page(&trace, args.content, files::look()));
    }
    files::ended(&file, &trace.damage)
}
