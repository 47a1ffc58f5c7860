/// What a verb says and how it ends; `main` prints and exits.
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
}
