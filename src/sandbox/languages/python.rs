/// The server that forks candidates.
pub(in crate::sandbox) fn candidate_server() -> String {
    [
        include_str!("../python/codec.py"),
        include_str!("../python/forkserver.py"),
        include_str!("../python/confine.py"),
        include_str!("../python/candidate.py"),
        include_str!("../python/tracer.py"),
        include_str!("../python/zygote.py"),
        "serve_candidates()\n",
    ]
    .join("\n")
}

/// The server that forks test runs.
pub(in crate::sandbox) fn test_server() -> String {
    [
        include_str!("../python/codec.py"),
        include_str!("../python/forkserver.py"),
        include_str!("../python/suite.py"),
        include_str!("../python/tester.py"),
        "serve_tests()\n",
    ]
    .join("\n")
}
