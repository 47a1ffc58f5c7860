use std::fs::File;
use std::path::PathBuf;

use tokio_util::sync::CancellationToken;

use super::SandboxError;
use super::boxes::Launch;
use super::pack::Pack;
use super::process::{Bounds, Process, Step, Streams};
use super::slot::{ForkServer, failed};
use super::verdicts::{Halt, of_status};
use crate::domain::{Limits, Verdict};
use crate::languages::{BoxCommand, Recipe, Unit};

/// Most processes and threads of a compiler.
const PROCESSES: u32 = 256;

/// Largest file that a compiler may write, in bytes.
const FILE_BYTES: u64 = 256 << 20;

/// A program that can be run.
pub(super) struct Built {
    /// What its box holds.
    pub(super) files: Pack,
    /// The command.
    pub(super) run: BoxCommand,
    /// What the compiler said, warnings at most.
    pub(super) output: Option<String>,
}

/// What came of building.
pub(super) enum Building {
    /// A program.
    Built(Built),
    /// None: why, and what the compiler said.
    Refused(Halt, String),
}

/// Builds a unit in a box of its own, under limits of its own.
pub(super) async fn build(
    server: &mut ForkServer,
    unit: &Unit,
    recipe: Recipe,
    limits: &Limits,
    hidden: &[PathBuf],
    cancel: &CancellationToken,
) -> Result<Building, SandboxError> {
    let files = Pack::of(&unit.files).map_err(failed("packing files"))?;
    let Some(command) = &recipe.compile else {
        return Ok(Building::Built(Built { files, run: recipe.run, output: None }));
    };
    let limits = of_compiler(limits);
    let streams = Streams::new(&limits);
    let kept = Pack::empty().map_err(failed("packing files"))?;
    let launch = Launch {
        command,
        attempt: None,
        files: &files,
        keep: Some((&recipe.keep, &kept)),
        talks: false,
        limits: &limits,
        cpu_ms: limits.process_cpu_ms,
    };
    let stdin = File::open("/dev/null").map_err(failed("opening /dev/null"))?;
    let mut process = Process::spawn(server, &launch, stdin.into(), [&streams.stdout, &streams.stderr]).await?;
    let bounds = Bounds { cpu_ms: limits.test_cpu_ms, limits: &limits, flood: &streams.flood, cancel };
    let step = process.step(&bounds, async |channel| channel.receive().await).await?;
    let halted = match step {
        Step::Halted(halt) => Some(halt),
        Step::Done(..) => None,
    };
    let ended = process.retire(server).await?;
    let said = [&streams.stderr, &streams.stdout].map(|stream| stream.excerpt(false, hidden).text);
    let said = said.into_iter().filter(|text| !text.trim().is_empty()).collect::<Vec<_>>().join("\n");
    let halt = match halted {
        Some(halt) => halt,
        None if ended.status == 0 => {
            let output = (!said.is_empty()).then_some(said);
            return Ok(Building::Built(Built { files: kept.filled(ended.files), run: recipe.run, output }));
        }
        None if libc::WIFEXITED(ended.status) => Halt::new(Verdict::CompileError, first_line(&said)),
        None => of_status(ended.status, ended.cpu_ms, limits.test_cpu_ms),
    };
    let message = match halt.verdict {
        Verdict::CompileError => halt.message,
        _ => format!("while compiling: {}", halt.message),
    };
    Ok(Building::Refused(Halt::new(halt.verdict, message), said))
}

fn of_compiler(limits: &Limits) -> Limits {
    Limits {
        test_cpu_ms: limits.compile_cpu_ms,
        process_cpu_ms: 2 * limits.compile_cpu_ms,
        memory_bytes: limits.compile_memory_bytes,
        processes: PROCESSES,
        file_bytes: FILE_BYTES,
        ..limits.clone()
    }
}

/// The line of a compiler's output that says most: the first that names an error.
fn first_line(said: &str) -> String {
    let lines = || said.lines().map(str::trim).filter(|line| !line.is_empty());
    lines().find(|line| line.contains("error")).or_else(|| lines().next()).unwrap_or("it does not compile").to_owned()
}
