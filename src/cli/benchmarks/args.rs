use std::path::PathBuf;

use clap::{Args, Subcommand};
use url::Url;

use crate::{benchmarks::Sha256, cli::args::SandboxChoice};

/// What to do with data sets.
#[derive(Debug, Subcommand)]
pub enum BenchmarksVerb {
    /// The data sets that can be named: languages, tasks, licence, source, where their files are looked for, which tests
    /// are hidden.
    List {
        /// JSON on stdout: one object a line, and nothing else.
        #[arg(long)]
        json: bool,
    },
    /// Judge every reference program, which should pass, and every program to repair, which should not. Exit code 0 if that
    /// is so, but for faults that are known; else 1.
    Check(CheckArgs),
    /// Download the files of a data set, or one file of any place, where the checksum is known. Exit code 1 where a file could
    /// not be had.
    Fetch(FetchArgs),
}

/// Arguments of `benchmarks check`.
#[derive(Args, Clone, Debug)]
pub struct CheckArgs {
    /// The data set, or a mapping of a JSON Lines file of yours.
    #[arg(value_name = "NAME|FILE.toml")]
    pub name: String,
    /// File of the data set, or the folder that it is in [default: the folder NAME in ROLECALL_DATASETS, else in
    /// rolecall/datasets in the user's data directory].
    #[arg(long, value_name = "PATH")]
    pub path: Option<PathBuf>,
    /// Only programs in this language [default: every language whose file is there; of a single file python, or the only one].
    #[arg(long, value_name = "NAME")]
    pub language: Option<String>,
    /// Only this part of the data set.
    #[arg(long, value_name = "NAME")]
    pub split: Option<String>,
    /// Only the task with this id. May be given several times.
    #[arg(long, value_name = "ID")]
    pub task_id: Vec<String>,
    /// Only the tasks whose ids stand in this file, one a line.
    #[arg(long, value_name = "FILE")]
    pub task_ids: Option<PathBuf>,
    /// How strictly programs are isolated [default: strict].
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub sandbox: Option<SandboxChoice>,
    /// One JSON object a line on stdout, and nothing else.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `benchmarks fetch`.
#[derive(Args, Clone, Debug)]
pub struct FetchArgs {
    /// The data set.
    #[arg(value_name = "NAME", required_unless_present = "url")]
    pub name: Option<String>,
    /// Folder for the files [default: where the data set is looked for].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Only the file for this language.
    #[arg(long, value_name = "NAME", conflicts_with = "url")]
    pub language: Option<String>,
    /// Take the files of the data set from this folder of another server. Their checksums stay.
    #[arg(long, value_name = "URL", conflicts_with = "url")]
    pub mirror: Option<Url>,
    /// Take this one file. Needs --sha256, and NAME or --out.
    #[arg(long, value_name = "URL", requires = "sha256")]
    pub url: Option<Url>,
    /// SHA-256 of that file, 64 hexadecimal digits.
    #[arg(long, value_name = "HEX", requires = "url")]
    pub sha256: Option<Sha256>,
    /// What that file is to be called [default: as in the URL].
    #[arg(long, value_name = "NAME", requires = "url")]
    pub file: Option<String>,
    /// Longest file that is taken, in bytes.
    #[arg(long, value_name = "N", default_value_t = 256 << 20)]
    pub max_bytes: u64,
    /// One JSON object a line on stdout, and nothing else.
    #[arg(long)]
    pub json: bool,
}
