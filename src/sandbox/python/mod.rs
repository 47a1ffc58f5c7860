//! The texts of the Python servers, and of what they fork where it is run in boxes.

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

/// A candidate as a command in a box.
pub(in crate::sandbox) fn candidate_in_a_box() -> String {
    let texts =
        [include_str!("codec.py"), include_str!("candidate.py"), include_str!("boxed.py"), "answer_in_a_box()\n"];
    texts.join("\n")
}

/// A test run as a command in a box.
pub(in crate::sandbox) fn tests_in_a_box() -> String {
    [
        include_str!("codec.py"),
        include_str!("suite.py"),
        include_str!("tester.py"),
        include_str!("boxed.py"),
        "test_in_a_box()\n",
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
