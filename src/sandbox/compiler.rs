use std::io;
use std::os::fd::OwnedFd;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;

use super::SandboxError;
use super::boxes::{KEEP_BYTES, Launch};
use super::pack::Pack;
use super::process::{Bounds, Outputs, Process, Step, Streams};
use super::slot::{ForkServer, failed};
use super::verdicts::Halt;
use crate::domain::{Limits, Verdict};
use crate::languages::{Resident, Unit};

/// Longest head line of an answer, in bytes.
const LINE_BYTES: u64 = 4_096;

/// Most files that one unit may become.
const MOST_FILES: usize = 4_096;

/// CPU time of a whole compiler, in ms: each unit has a limit of its own.
const LIFE_CPU_MS: u64 = 3_600_000;

/// A compiler that stays in a box of its own and builds unit after unit.
pub(super) struct Compiler {
    process: Process,
    talk: BufReader<UnixStream>,
    left: u32,
}

/// What a compiler made of a unit.
pub(super) struct Compiled {
    /// Whether it is a program.
    pub(super) good: bool,
    /// Whether the compiler had no memory left for it.
    is_spent: bool,
    /// What the compiler said.
    pub(super) said: String,
    /// What was built.
    pub(super) files: Pack,
}

/// Builds a unit with the compiler that stays; starts one where there is none or it has built enough.
///
/// A compiler that a limit ended is not used again: `Err` inside is why.
pub(super) async fn compile(
    server: &mut ForkServer,
    kept: &mut Option<Compiler>,
    resident: &Resident,
    unit: &Unit,
    limits: &Limits,
    bounds: &Bounds<'_>,
) -> Result<Result<Compiled, Halt>, SandboxError> {
    let mut compiler = match kept.take() {
        Some(compiler) if compiler.left > 0 => compiler,
        Some(worn) => {
            worn.process.retire(server).await?;
            Compiler::start(server, resident, limits).await?
        }
        None => Compiler::start(server, resident, limits).await?,
    };
    compiler.left -= 1;
    let Compiler { process, talk, .. } = &mut compiler;
    let step = process.step(bounds, async |_| exchange(talk, resident, unit).await).await?;
    let halt = match step {
        Step::Done(Ok(compiled), _) if compiled.is_spent => Halt::new(Verdict::Memory, "memory limit exceeded"),
        Step::Done(Ok(compiled), _) => {
            *kept = Some(compiler);
            return Ok(Ok(compiled));
        }
        Step::Done(Err(_), _) => Halt::new(Verdict::Infrastructure, "the compiler ended"),
        Step::Halted(halt) => halt,
    };
    compiler.process.retire(server).await?;
    match halt.verdict {
        Verdict::Infrastructure => Err(SandboxError::Harness(halt.message)),
        _ => Ok(Err(halt)),
    }
}

impl Compiler {
    async fn start(server: &mut ForkServer, resident: &Resident, limits: &Limits) -> Result<Self, SandboxError> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().map_err(failed("opening a socket"))?;
        ours.set_nonblocking(true).map_err(failed("opening a socket"))?;
        let talk = UnixStream::from_std(ours).map_err(failed("opening a socket"))?;
        let stdin = OwnedFd::from(theirs);
        let stdout = stdin.try_clone().map_err(failed("opening a socket"))?;
        let nothing = Pack::empty().map_err(failed("packing files"))?;
        let launch = Launch {
            command: &resident.command,
            attempt: None,
            files: &nothing,
            keep: None,
            talks: false,
            limits,
            cpu_ms: LIFE_CPU_MS,
        };
        let stderr = Streams::new(limits).stderr;
        let process = Process::spawn(server, &launch, stdin, Outputs::Given { stdout, stderr: &stderr }).await?;
        Ok(Self { process, talk: BufReader::new(talk), left: resident.units })
    }
}

/// Sends a unit and reads what became of it.
async fn exchange(talk: &mut BufReader<UnixStream>, resident: &Resident, unit: &Unit) -> io::Result<Compiled> {
    let mut request = format!("unit {}\n", unit.files.len()).into_bytes();
    for file in &unit.files {
        request.extend_from_slice(format!("{} {}\n", file.path, file.text.len()).as_bytes());
        request.extend_from_slice(file.text.as_bytes());
    }
    talk.write_all(&request).await?;
    let head = line(talk).await?;
    let mut fields = head.split(' ');
    let (Some("unit"), Some(word @ ("ok" | "error" | "memory")), Some(said), Some(files)) =
        (fields.next(), fields.next(), fields.next(), fields.next())
    else {
        return Err(io::Error::other("not an answer of a compiler"));
    };
    let said = bytes(talk, number(said)?).await?;
    let mut built = Vec::new();
    for _ in 0..number(files)?.min(MOST_FILES as u64) {
        let head = line(talk).await?;
        let (path, length) = head.rsplit_once(' ').ok_or_else(|| io::Error::other("not a file of a compiler"))?;
        built.push((format!("{}/{path}", resident.directory), bytes(talk, number(length)?).await?));
    }
    let said = String::from_utf8_lossy(&said).into_owned();
    Ok(Compiled { good: word == "ok", is_spent: word == "memory", said, files: Pack::of_bytes(&built)? })
}

async fn line(talk: &mut BufReader<UnixStream>) -> io::Result<String> {
    let mut line = Vec::new();
    talk.take(LINE_BYTES).read_until(b'\n', &mut line).await?;
    if line.pop() != Some(b'\n') {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    String::from_utf8(line).map_err(io::Error::other)
}

async fn bytes(talk: &mut BufReader<UnixStream>, length: u64) -> io::Result<Vec<u8>> {
    if length > KEEP_BYTES {
        return Err(io::Error::other("more was built than is allowed"));
    }
    let mut content = Vec::new();
    talk.take(length).read_to_end(&mut content).await?;
    if content.len() as u64 == length { Ok(content) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

fn number(field: &str) -> io::Result<u64> {
    field.parse().map_err(io::Error::other)
}
