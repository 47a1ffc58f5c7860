//! The texts of the warm Python servers.

/// The server that forks candidates.
pub(in crate::sandbox) fn candidate_server() -> String {
    [
        include_str!("codec.py"),
        include_str!("forkserver.py"),
        include_str!("confine.py"),
        include_str!("candidate.py"),
        include_str!("tracer.py"),
        include_str!("zygote.py"),
        "serve_candidates()\n",
    ]
    .join("\n")
}

/// The server that forks test runs and checkers.
pub(in crate::sandbox) fn test_server() -> String {
    [
        include_str!("codec.py"),
        include_str!("forkserver.py"),
        include_str!("suite.py"),
        include_str!("checker.py"),
        include_str!("tester.py"),
        "serve_tests()\n",
    ]
    .join("\n")
}
