use serde_json::Value;

use super::terminal;

/// What a verb says and how it ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// Data, for stdout.
    pub stdout: String,
    /// Talk, for stderr.
    pub stderr: String,
    /// Exit code.
    pub code: u8,
}

impl Printed {
    /// Data, and all is well.
    pub fn data(stdout: String) -> Self {
        Self { stdout, ..Self::default() }
    }

    /// One object of data, on one line, and all is well.
    pub fn json(object: &Value) -> Self {
        Self::data(format!("{object}\n"))
    }

    /// Says it, and gives the exit code.
    pub fn say(self) -> u8 {
        if !self.stdout.is_empty() {
            terminal::data(self.stdout.trim_end_matches('\n'));
        }
        if !self.stderr.is_empty() {
            terminal::talk(self.stderr.trim_end_matches('\n'));
        }
        self.code
    }
}
