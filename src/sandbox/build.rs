use std::path::PathBuf;

use tokio_util::sync::CancellationToken;

use super::SandboxError;
use super::boxes::Launch;
use super::compiler::{Compiled, compile};
use super::diagnostics;
use super::pack::Pack;
use super::process::{Bounds, Outputs, Process, Step, Streams};
use super::slot::{ForkServer, Slot, failed, nothing};
use super::text::without_addresses;
use super::verdicts::{Halt, of_status};
use crate::domain::{Limits, Verdict};
use crate::languages::{BoxCommand, Toolchain, Tools, Unit};

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

/// With what, and under which limits, a unit is built.
pub(super) struct How<'a> {
    pub(super) toolchain: &'a dyn Toolchain,
    pub(super) tools: &'a Tools,
    /// Limits of the execution; those of the compiler follow from them.
    pub(super) limits: &'a Limits,
    /// Paths of this machine that outputs may name.
    pub(super) hidden: &'a [PathBuf],
}

/// Builds a unit: by the compiler that stays where the language has one, else in a box of its own, under limits of its own.
pub(super) async fn build(
    slot: &mut Slot,
    unit: &Unit,
    how: &How<'_>,
    cancel: &CancellationToken,
) -> Result<Building, SandboxError> {
    let recipe = how.toolchain.recipe(unit, how.tools);
    let Some(command) = &recipe.compile else {
        let files = Pack::of(&unit.files).map_err(failed("packing files"))?;
        return Ok(Building::Built(Built { files, run: recipe.run, output: None }));
    };
    let limits = of_compiler(how.limits);
    let streams = Streams::new(&limits);
    let bounds = Bounds { cpu_ms: limits.test_cpu_ms, limits: &limits, flood: &streams.flood, cancel };
    let made = match how.toolchain.resident(how.tools) {
        Some(resident) => {
            let Slot { tests, compiler, .. } = slot;
            match compile(tests, compiler, &resident, unit, &limits, &bounds).await? {
                Ok(Compiled { good: true, said, files, .. }) => Ok((files, said)),
                Ok(Compiled { said, .. }) => Err((None, said)),
                Err(halt) => Err((Some(halt), String::new())),
            }
        }
        None => in_a_box(&mut slot.candidates, command, &recipe.keep, unit, &streams, &bounds).await?,
    };
    let clean = |said: String| {
        let said = diagnostics::of_program(&said, unit);
        how.hidden.iter().fold(without_addresses(&said), |text, path| text.replace(&*path.to_string_lossy(), "..."))
    };
    Ok(match made {
        Ok((files, said)) => {
            let output = (!said.trim().is_empty()).then(|| clean(said));
            Building::Built(Built { files, run: recipe.run, output })
        }
        Err((None, said)) => {
            let said = clean(said);
            Building::Refused(Halt::new(Verdict::CompileError, first_line(&said)), said)
        }
        Err((Some(halt), said)) => {
            let message = format!("while compiling: {}", halt.message);
            Building::Refused(Halt::new(halt.verdict, message), clean(said))
        }
    })
}

/// Runs a compiler once: what it built and said, or why it built nothing (nothing: it ended by itself) and what it said.
async fn in_a_box(
    server: &mut ForkServer,
    command: &BoxCommand,
    keep: &[String],
    unit: &Unit,
    streams: &Streams,
    bounds: &Bounds<'_>,
) -> Result<Result<(Pack, String), (Option<Halt>, String)>, SandboxError> {
    let limits = bounds.limits;
    let files = Pack::of(&unit.files).map_err(failed("packing files"))?;
    let kept = Pack::empty().map_err(failed("packing files"))?;
    let keep = Some((keep, &kept));
    let launch =
        Launch { command, attempt: None, files: &files, keep, talks: false, limits, cpu_ms: limits.process_cpu_ms };
    let outputs = Outputs::Captured([&streams.stdout, &streams.stderr]);
    let mut process = Process::spawn(server, &launch, nothing()?, outputs).await?;
    let step = process.step(bounds, async |channel| channel.receive().await).await?;
    let ended = process.retire(server).await?;
    let said = [&streams.stderr, &streams.stdout].map(|stream| stream.excerpt(false, &[]).text);
    let said = said.into_iter().filter(|text| !text.trim().is_empty()).collect::<Vec<_>>().join("\n");
    Ok(match step {
        Step::Halted(halt) => Err((Some(halt), said)),
        Step::Done(..) if ended.status == 0 => Ok((kept.filled(ended.files), said)),
        Step::Done(..) if libc::WIFEXITED(ended.status) => Err((None, said)),
        Step::Done(..) => {
            let halt = of_status(ended.status, ended.cpu_ms, limits.test_cpu_ms);
            Err((Some(halt.in_the_light_of(&streams.stderr)), said))
        }
    })
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
