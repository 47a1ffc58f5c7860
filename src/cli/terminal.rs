//! Where words go: stdout is data, stderr is talk. Nothing else prints.

use std::{
    io::{self, IsTerminal, Write},
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use serde::Serialize;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::{Layer, filter::Targets, fmt, layer::SubscriberExt, util::SubscriberInitExt};

/// Why data could not be written, the first time that it could not.
static UNWRITTEN: OnceLock<String> = OnceLock::new();

/// Set when the pipe that data goes to was found closed.
static CLOSED: AtomicBool = AtomicBool::new(false);

/// A line of data, made [`harmless`]. A closed pipe is no error: whoever read it has seen enough. Any other is kept for [`unwritten`], and
/// the work goes on: what a run does is in its trace files too.
pub fn data(text: &str) {
    painted(&harmless(text));
}

/// A line of data that holds colours of our own; whatever else is in it must be harmless already.
pub fn painted(text: &str) {
    let mut out = io::stdout().lock();
    check(writeln!(out, "{text}").and_then(|()| out.flush()));
}

/// Remembers data that was lost.
pub fn check(written: io::Result<()>) {
    match written {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => CLOSED.store(true, Ordering::Relaxed),
        Err(error) => {
            UNWRITTEN.get_or_init(|| error.to_string());
        }
    }
}

/// Whether whoever read the data has seen enough.
pub fn is_closed() -> bool {
    CLOSED.load(Ordering::Relaxed)
}

/// Why data was lost, where some was.
pub fn unwritten() -> Option<&'static str> {
    UNWRITTEN.get().map(String::as_str)
}

/// An object of data, on one line.
pub fn json(value: &impl Serialize) {
    match serde_json::to_string(value) {
        Ok(line) => data(&line),
        Err(error) => talk(&format!("cannot be written as JSON: {error}")),
    }
}

/// A line of talk, made [`harmless`].
pub fn talk(text: &str) {
    let mut err = io::stderr().lock();
    let _ = writeln!(err, "{}", harmless(text));
}

/// Control characters but tabs and line ends become U+FFFD: what a program printed or a file says may not command the
/// terminal.
fn harmless(text: &str) -> String {
    let is_harmful = |one: char| one.is_control() && one != '\n' && one != '\t';
    text.chars().map(|one| if is_harmful(one) { char::REPLACEMENT_CHARACTER } else { one }).collect()
}

/// Whether somebody watches stderr.
pub fn is_watched() -> bool {
    io::stderr().is_terminal() && std::env::var_os("CI").is_none()
}

/// Warnings and errors that the library logs are talk; what other libraries log stays unsaid, since some of them log whole
/// requests and replies.
pub fn listen() {
    let ours = Targets::new().with_target("rolecall", LevelFilter::WARN);
    let layer = fmt::layer().with_writer(io::stderr).with_ansi(false).without_time().with_target(false);
    // Fails only where a subscriber is set already, which then listens.
    let _ = tracing_subscriber::registry().with(layer.with_filter(ours)).try_init();
}
