/// What the process ends with; the table in the README is this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Every conversation ended, solved or not.
    Ended,
    /// Some ended as `failed`, or by a fault of this machine; something was not delivered or not to be had; a data set's own
    /// programs are not as they should be.
    SomeFailed,
    /// Usage, configuration, task or data file.
    Usage,
    /// A run that was made again differs from the recorded one.
    Differs,
    /// A provider refused for good: key or quota.
    Refused,
    /// This machine lacks something: isolation, a tool.
    Machine,
    /// A bug of Rolecall.
    Bug,
    /// The store cannot be written or read.
    Store,
    /// SIGUSR1 or `--stop-before`: the run was parked and waits to be resumed.
    Parked,
    /// Ctrl-C.
    Interrupted,
    /// SIGTERM.
    Terminated,
}

impl Exit {
    /// The process's exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Ended => 0,
            Self::SomeFailed => 1,
            Self::Usage => 2,
            Self::Differs => 3,
            Self::Refused => 4,
            Self::Machine => 69,
            Self::Bug => 70,
            Self::Store => 74,
            Self::Parked => 75,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }
}

/// An error that ends a command: what to say, and with which code.
#[derive(Debug)]
pub struct Failure {
    /// The code.
    pub exit: Exit,
    /// What is said on stderr; several lines where there are several mistakes.
    pub message: String,
}

impl Failure {
    /// Usage, configuration, task or data file.
    pub fn usage(message: impl std::fmt::Display) -> Self {
        Self { exit: Exit::Usage, message: message.to_string() }
    }

    /// The store cannot be written or read.
    pub fn store(message: impl std::fmt::Display) -> Self {
        Self { exit: Exit::Store, message: message.to_string() }
    }

    /// This machine lacks something.
    pub fn machine(message: impl std::fmt::Display) -> Self {
        Self { exit: Exit::Machine, message: message.to_string() }
    }
}
