use std::os::fd::AsFd;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::SandboxError;
use super::lines::{Lines, Received};
use super::output::Comparison;
use super::slot::{ForkServer, failed};
use super::verdicts::of_status;

/// CPU time that a checker may take for one output, in s.
const CHECKER_CPU_SECS: u64 = 5;

/// How long one may take by the clock on the wall.
const PATIENCE: Duration = Duration::from_secs(4 * CHECKER_CPU_SECS);

/// Longest answer, in bytes.
const ANSWER_BYTES: usize = 64 << 10;

/// What the process of a checker says.
#[derive(Deserialize)]
#[serde(untagged)]
enum Said {
    Fault { fault: String },
    Ruling { right: bool, message: Option<String> },
}

/// Asks a checker, in a process of its own beside the tests', whether `stdout` answers `stdin`.
///
/// # Errors
/// [`SandboxError::Checker`] where it gives no bool, raises, or ends without an answer: never the candidate's fault.
pub(super) async fn ask(
    server: &mut ForkServer,
    checker: &str,
    (stdin, stdout): (&str, &str),
    cancel: &CancellationToken,
) -> Result<Comparison, SandboxError> {
    let broken = |reason: String| Err(SandboxError::Checker { reason });
    let mut request = json!({ "checker": checker, "cpu_secs": CHECKER_CPU_SECS });
    request["key"] = Value::from(blake3::hash(request.to_string().as_bytes()).to_hex().as_str());
    let question = format!("{}\n", json!({ "stdin": stdin, "stdout": stdout }));
    let (mut channel, theirs) = Lines::pair(ANSWER_BYTES).map_err(failed("opening a socket"))?;
    server.fork(format!("{request}\n").as_bytes(), &[theirs.as_fd()]).await?;
    drop(theirs);
    let answered = async {
        channel.send(question.as_bytes()).await?;
        channel.receive().await
    };
    let received = tokio::select! {
        () = cancel.cancelled() => return Err(SandboxError::Cancelled),
        received = tokio::time::timeout(PATIENCE, answered) => received,
    };
    let line = match received {
        Err(_) => return broken("it did not answer in time".to_owned()),
        Ok(received) => match received.map_err(failed("reading from a checker"))? {
            Received::Line(line) => line,
            Received::TooLong => return broken("it said too much".to_owned()),
            Received::End => {
                let ended = server.ended().await?;
                return broken(of_status(ended.status, ended.cpu_ms, u64::MAX).message);
            }
        },
    };
    match serde_json::from_slice(&line) {
        Ok(Said::Ruling { right, message }) => Ok(Comparison::whole(right, message)),
        Ok(Said::Fault { fault }) => broken(fault),
        Err(error) => broken(format!("it answered nonsense: {error}")),
    }
}
