//! Parses, calls, prints, exits. Everything else is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = rolecall::sandbox::launcher::intercept() {
        return ExitCode::from(code);
    }
    ExitCode::from(rolecall::cli::main())
}
