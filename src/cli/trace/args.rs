use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Where conversations are looked for that are named by their id.
#[derive(Args, Clone, Debug)]
pub struct Below {
    /// Folder that ids are looked for in.
    #[arg(long, value_name = "DIR", default_value = "traces")]
    pub traces: PathBuf,
}

/// Arguments of `trace list`.
#[derive(Args, Clone, Debug)]
pub struct ListArgs {
    /// Folder of trace files.
    #[arg(value_name = "DIR", default_value = "traces")]
    pub folder: PathBuf,
    /// Only runs whose id begins so.
    #[arg(long, value_name = "ID")]
    pub run: Option<String>,
    /// Only the task with this id. May be given several times.
    #[arg(long, value_name = "ID")]
    pub task: Vec<String>,
    /// Only conversations that ended so (tests_passed, failed, …), or that are `running` or `interrupted`. May be given
    /// several times.
    #[arg(long, value_name = "WORD")]
    pub outcome: Vec<String>,
    /// Only conversations that are not solved, or not yet.
    #[arg(long)]
    pub unsolved: bool,
    /// JSON on stdout: one object a line, and nothing else.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `trace show`.
#[derive(Args, Clone, Debug)]
pub struct ShowArgs {
    /// A trace file, or the id of its conversation or the first digits of it.
    #[arg(value_name = "FILE|ID")]
    pub conversation: String,
    #[command(flatten)]
    pub below: Below,
    /// Print what comes while it comes, until the conversation is over; Ctrl-C ends it before.
    #[arg(long)]
    pub follow: bool,
    /// Print prompts, replies, programs and test results below their steps, where the file has them.
    #[arg(long)]
    pub content: bool,
    /// The tree as one JSON object on one line of stdout; with --follow one object a span.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `trace diff`.
#[derive(Args, Clone, Debug)]
pub struct DiffArgs {
    /// A trace file, or the id of its conversation or the first digits of it.
    #[arg(value_name = "FILE|ID")]
    pub a: String,
    /// Another.
    #[arg(value_name = "FILE|ID")]
    pub b: String,
    #[command(flatten)]
    pub below: Below,
    /// How many steps of each are shown from where they part.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub steps: usize,
    /// JSON on stdout: one object, and nothing else.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `trace push`.
#[derive(Args, Clone, Debug)]
pub struct PushArgs {
    /// Trace files, folders of them, or ids.
    #[arg(value_name = "FILE|DIR", required = true)]
    pub files: Vec<String>,
    #[command(flatten)]
    pub below: Below,
    /// First add the open rounds and the root to conversations whose process was killed. Not for those that are to be
    /// resumed.
    #[arg(long)]
    pub close_open: bool,
    /// Give up when for so long nothing was delivered.
    #[arg(long, value_name = "SECONDS", default_value_t = 15)]
    pub wait_secs: u64,
    /// JSON on stdout: one object, and nothing else.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `trace lineage`.
#[derive(Args, Clone, Debug)]
pub struct LineageArgs {
    /// A trace file, or the id of its conversation or the first digits of it.
    #[arg(value_name = "FILE|ID")]
    pub conversation: String,
    #[command(flatten)]
    pub below: Below,
    /// As a Mermaid flowchart.
    #[arg(long, conflicts_with_all = ["dot", "json"])]
    pub mermaid: bool,
    /// As a graph for Graphviz.
    #[arg(long, conflicts_with = "json")]
    pub dot: bool,
    /// JSON on stdout: one object, and nothing else.
    #[arg(long)]
    pub json: bool,
}

/// What to do with traces.
#[derive(Debug, Subcommand)]
pub enum TraceVerb {
    /// List conversations: one line each, by their begin.
    List(ListArgs),
    /// Print a conversation as a tree.
    Show(ShowArgs),
    /// Say at which step two conversations part, and what each did from there.
    Diff(DiffArgs),
    /// Send to the collector of OTEL_EXPORTER_OTLP_ENDPOINT what it has not acknowledged; exit code 1 if not all was
    /// delivered.
    Push(PushArgs),
    /// Draw which program came from which; the way to the best one is marked.
    Lineage(LineageArgs),
}
