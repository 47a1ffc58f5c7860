use super::{args::BenchmarksVerb, check::check, fetch::fetch, list::list};
use crate::cli::exit::{Exit, Failure};

/// Carries out `rolecall benchmarks`.
///
/// # Errors
/// Bad arguments and files; a machine that cannot isolate programs.
pub async fn benchmarks(verb: BenchmarksVerb) -> Result<Exit, Failure> {
    match verb {
        BenchmarksVerb::List { json } => Ok(list(json)),
        BenchmarksVerb::Check(args) => check(&args).await,
        BenchmarksVerb::Fetch(args) => fetch(&args).await,
    }
}
