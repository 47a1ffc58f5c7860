//! The single-threaded launcher that this binary becomes when it re-executes itself.

/// Runs the launcher and returns its exit code, if this process was started as one; `None` in every other case.
///
/// `main` calls this before anything else: no thread may exist yet.
pub fn intercept() -> Option<u8> {
    None
}
