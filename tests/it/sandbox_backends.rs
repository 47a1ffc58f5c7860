//! Bubblewrap and reduced isolation with the attacks that matter most, and the self-test that chooses among backends. Where
//! this machine lacks what a test needs, the test says so and is skipped.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rolecall::domain::{IoCase, Language, TestSuite, Verdict};
use rolecall::sandbox::{Backend, Backends, LocalSandbox, Sandbox, SandboxError, examine};

use super::sandbox::{ALONE, assertions, descendants, io, job, judge, skipped};

fn launcher() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_rolecall"))
}

/// How a machine that lacks a backend says so.
pub(crate) const LACKING: [&str; 3] =
    ["bwrap is not on the path", "the kernel has no Landlock", "creating a user name space failed"];

/// A sandbox of this backend, where this machine has it.
async fn of(backend: Backend) -> Option<LocalSandbox> {
    match LocalSandbox::start_with(launcher(), 1, &[Language::Python], &Backends::only(backend)).await {
        Ok(sandbox) => {
            assert_eq!(sandbox.isolation().backend, backend.name());
            Some(sandbox)
        }
        Err(SandboxError::Isolation { reason }) if LACKING.iter().any(|lacks| reason.contains(lacks)) => {
            skipped(&reason);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Nothing that a program started lives: the slots of these backends end with the execution.
async fn assert_nothing_lives() {
    for _ in 0..500 {
        if descendants().is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("left behind: {:#?}", descendants());
}

/// Programs whose `f(1)` should be 2.
pub(crate) const ATTACKS: &[(Verdict, &str)] = &[
    (Verdict::Passed, "def f(n):\n    return n + 1\n"),
    (Verdict::Crashed, "import os\ndef f(n):\n    os._exit(0)\n"),
    (Verdict::Crashed, "def f(n):\n    raise SystemExit\n"),
    (Verdict::Wrong, "class Yes:\n    def __eq__(self, other): return True\ndef f(n): return Yes()\n"),
    (Verdict::TimeoutCpu, "def f(n):\n    while True:\n        pass\n"),
    (Verdict::Memory, "def f(n):\n    held = []\n    while True:\n        held.append(bytearray(1 << 20))\n"),
    (Verdict::OutputLimit, "def f(n):\n    while True:\n        print('x' * 1000)\n"),
    (Verdict::FileLimit, "def f(n):\n    open('big', 'wb').write(b'x' * (64 << 20))\n    return 2\n"),
    (
        Verdict::ProcessLimit,
        "import os, time\ndef f(n):\n    while True:\n        if os.fork() == 0:\n            time.sleep(60)\n",
    ),
    (
        Verdict::Forbidden,
        "import os\ndef f(n):\n    for d in range(3, 256):\n        try:\n            os.write(d, b'{\"id\":0,\"ok\":2,\"rows\":[],\"changed\":[]}\\n{\"passed\":0}\\n')\n        except OSError:\n            pass\n    return 1\n",
    ),
    (
        Verdict::Wrong,
        "import os, time\ndef f(n):\n    if os.fork() == 0:\n        os.setsid()\n        if os.fork() == 0:\n            time.sleep(60)\n        os._exit(0)\n    return 1\n",
    ),
    (
        Verdict::Passed,
        "import os\ndef f(n):\n    found = []\n    for path in ('/etc/shadow', '/root/.bashrc', '/proc/self/mem', '/var/log', '/etc/passwd'):\n        try:\n            open(path).close()\n            found.append(path)\n        except OSError: pass\n    return found or 2\n",
    ),
    (
        Verdict::Passed,
        "import os\ndef f(n):\n    places = []\n    for path in ('/x', '/usr/x', '/etc/x', '/var/tmp/x', '/home/x'):\n        try:\n            open(path, 'w').close()\n            places.append(path)\n        except OSError: pass\n    return places or 2\n",
    ),
    (
        Verdict::Passed,
        "import socket\ndef f(n):\n    for place in (('127.0.0.1', 22), ('1.1.1.1', 53)):\n        try:\n            s = socket.socket()\n            s.settimeout(1)\n            s.connect(place)\n            return 'connected'\n        except OSError: pass\n    return 2\n",
    ),
];

async fn attack_all(sandbox: &LocalSandbox) {
    for (verdict, program) in ATTACKS {
        let judgement = judge(sandbox, &job(program, Some("f"), assertions("assert f(1) == 2\n"))).await;
        assert_eq!(judgement.verdict, *verdict, "{program}\n{judgement:#?}");
        assert_nothing_lives().await;
    }
    // One case after another in the same place: the program's own file is all that either finds.
    let program = "import os\nprint(len(os.listdir('.')), input())\nopen('left', 'w').close()\nif os.fork() == 0:\n    os.setsid()\n    while True: pass\n";
    let mut twice = io(program, "a\n", "1 a\n");
    let TestSuite::Io { cases, .. } = Arc::make_mut(&mut twice.tests) else { panic!() };
    cases.push(IoCase { stdin: "b\n".to_owned(), stdout: "1 b\n".to_owned() });
    let judgement = judge(sandbox, &twice).await;
    assert_eq!(judgement.verdict, Verdict::Passed, "{judgement:#?}");
    assert_nothing_lives().await;
}

#[tokio::test]
async fn bubblewrap_holds_against_attacks() {
    let _alone = ALONE.lock().await;
    let Some(sandbox) = of(Backend::Bubblewrap).await else { return };
    assert!(sandbox.isolation().network);
    attack_all(&sandbox).await;
}

#[tokio::test]
async fn user_namespaces_hold_against_attacks() {
    let _alone = ALONE.lock().await;
    let Some(sandbox) = of(Backend::UserNamespaces).await else { return };
    let honest = job("def f(n):\n    return n + 1\n", Some("f"), assertions("assert f(1) == 2\n"));
    assert_eq!(judge(&sandbox, &honest).await.verdict, Verdict::Passed);
}

#[tokio::test]
async fn the_self_test_names_each_check() {
    let _alone = ALONE.lock().await;
    for backend in Backend::STRICT.into_iter().chain([Backend::Reduced]) {
        let report = examine(&launcher(), backend).await.unwrap();
        let names: Vec<_> = report.checks.iter().map(|check| check.name).collect();
        match (&report.refused, backend) {
            (Some(reason), _) => assert!(!report.works() && !reason.is_empty() && names.is_empty()),
            (None, Backend::Reduced) => {
                assert_eq!(names, ["write_outside", "loopback", "process_limit", "memory_limit", "survivor"]);
            }
            (None, _) => assert_eq!(
                names,
                ["write_outside", "loopback", "host_processes", "process_limit", "memory_limit", "survivor"]
            ),
        }
    }
}
