use super::{TraceVerb, diff, follow, lineage, list, push, show};
use crate::cli::exit::{Exit, Failure};

/// Carries out a verb of `trace`.
///
/// # Errors
/// A file that is not there, cannot be read, or is damaged: each mistake with file and line.
pub fn trace(verb: TraceVerb) -> Result<Exit, Failure> {
    match verb {
        TraceVerb::List(args) => list::list(&args),
        TraceVerb::Show(args) if args.follow => follow::follow(&args),
        TraceVerb::Show(args) => show::show(&args),
        TraceVerb::Diff(args) => diff::diff(&args),
        TraceVerb::Push(args) => push::push(&args),
        TraceVerb::Lineage(args) => lineage::lineage(&args),
    }
}
