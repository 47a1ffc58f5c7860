use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::SandboxError;
use super::lines::Received;
use super::output::Comparison;
use super::pool::Hall;
use super::python;
use super::slot::{ForkServer, failed};
use super::split::{Boxed, Tests};
use super::verdicts::of_status;
use crate::domain::Limits;

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

/// Where checkers run.
pub(super) struct Desk<'a> {
    /// Starts them.
    pub(super) server: &'a mut ForkServer,
    /// What they are started with as commands in boxes; absent where a warm interpreter forks them.
    pub(super) boxed: Option<&'a Hall>,
}

impl Desk<'_> {
    async fn start(&mut self, request: &[u8]) -> Result<Tests, SandboxError> {
        let text = self.boxed.map(|_| python::tests_in_a_box()).unwrap_or_default();
        let boxed = self.boxed.map(|Hall { toolchain, tools, .. }| Boxed {
            toolchain: *toolchain,
            tools,
            candidate: "",
            tests: &text,
        });
        Tests::start(self.server, boxed.as_ref(), request, ANSWER_BYTES).await
    }
}

/// Asks a checker, in a process of its own beside the tests', whether `stdout` answers `stdin`.
///
/// # Errors
/// [`SandboxError::Checker`] where it gives no bool, raises, or ends without an answer: never the candidate's fault.
pub(super) async fn ask(
    desk: &mut Desk<'_>,
    checker: &str,
    (stdin, stdout): (&str, &str),
    cancel: &CancellationToken,
) -> Result<Comparison, SandboxError> {
    let broken = |reason: String| Err(SandboxError::Checker { reason });
    let mut request = json!({ "checker": checker, "cpu_secs": CHECKER_CPU_SECS });
    request["key"] = Value::from(blake3::hash(request.to_string().as_bytes()).to_hex().as_str());
    let question = format!("{}\n", json!({ "stdin": stdin, "stdout": stdout }));
    let mut side = desk.start(format!("{request}\n").as_bytes()).await?;
    let Some(channel) = side.channel() else { return broken("it did not start".to_owned()) };
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
                let ended = side.bury(desk.server, &Limits::default()).await?;
                return broken(of_status(ended.status, ended.cpu_ms, u64::MAX).message);
            }
        },
    };
    side.end(desk.server).await?;
    match serde_json::from_slice(&line) {
        Ok(Said::Ruling { right, message }) => Ok(Comparison::whole(right, message)),
        Ok(Said::Fault { fault }) => broken(fault),
        Err(error) => broken(format!("it answered nonsense: {error}")),
    }
}
