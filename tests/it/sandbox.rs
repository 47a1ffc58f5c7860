//! Programs that attack, exhaust or confuse, each with its verdict, and what they leave behind: nothing.

use std::fs;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rolecall::domain::{Assertion, IoCase, Judgement, Language, Limits, OutputRule, Program, TestSuite, Verdict};
use rolecall::sandbox::{Job, LocalSandbox, Sandbox};
use tokio::sync::{Mutex, MutexGuard};
use tokio_util::sync::CancellationToken;

/// One sandbox at a time, so that every process below this one is its own.
pub(crate) static ALONE: Mutex<()> = Mutex::const_new(());

/// A sandbox of the built `rolecall` with one slot, and the right to be alone.
pub(crate) struct Alone {
    sandbox: LocalSandbox,
    _guard: MutexGuard<'static, ()>,
}

impl Deref for Alone {
    type Target = LocalSandbox;

    fn deref(&self) -> &LocalSandbox {
        &self.sandbox
    }
}

pub(crate) async fn sandbox() -> Alone {
    alone(&[Language::Python]).await
}

/// The same for other languages.
pub(crate) async fn alone(languages: &[Language]) -> Alone {
    let guard = ALONE.lock().await;
    let sandbox = LocalSandbox::start(PathBuf::from(env!("CARGO_BIN_EXE_rolecall")), 1, languages).await.unwrap();
    Alone { sandbox, _guard: guard }
}

/// Says why a test was not made, since this machine lacks something.
#[expect(clippy::print_stderr, reason = "a test that is skipped in silence looks like one that passed")]
pub(crate) fn skipped(reason: &str) {
    eprintln!("skipped: {reason}");
}

/// Processes below this one that sandboxes of this process started, as `pid command`. Other tests run a Jaeger or the built
/// command beside: what these start is theirs.
pub(crate) fn descendants() -> Vec<String> {
    let own = std::process::id().to_string();
    let mut found = Vec::new();
    let mut waiting = vec![own.clone()];
    while let Some(pid) = waiting.pop() {
        let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { continue };
        for thread in threads.flatten() {
            let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            for child in children.split_ascii_whitespace() {
                let command = fs::read_to_string(format!("/proc/{child}/cmdline")).unwrap_or_default();
                // One that has ended has no command any more, and counts.
                if pid == own && !command.is_empty() && !command.contains("__sandbox-launcher") {
                    continue;
                }
                found.push(format!("{child} {}", command.replace('\0', " ").chars().take(400).collect::<String>()));
                waiting.push(child.to_owned());
            }
        }
    }
    found
}

/// Nothing but the slot's launcher and its two servers is left, zombies included, and the compiler that stays with the first
/// process of its box, where the language has one.
pub(crate) async fn assert_at_rest() {
    for _ in 0..200 {
        let found = descendants();
        let stays = found.iter().any(|process| process.contains("rolecall.Compiler"));
        if found.len() <= if stays { 5 } else { 3 } {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("left behind: {:#?}", descendants());
}

/// A suite from test text in which every line that begins with `assert` is an assertion.
pub(crate) fn assertions(code: &str) -> TestSuite {
    let assertions = code
        .lines()
        .enumerate()
        .filter(|(_, line)| line.trim_start().starts_with("assert "))
        .map(|(index, line)| Assertion { line: u32::try_from(index).unwrap() + 1, text: line.trim().to_owned() })
        .collect();
    TestSuite::Assertions { code: code.to_owned(), assertions }
}

pub(crate) fn job(program: &str, entry_point: Option<&str>, tests: TestSuite) -> Job {
    Job {
        program: Arc::new(Program::new(Language::Python, program)),
        tests: Arc::new(tests),
        entry_point: entry_point.map(str::to_owned),
        support: None,
        preamble: None,
        limits: Limits::default(),
    }
}

pub(crate) fn io(program: &str, stdin: &str, stdout: &str) -> Job {
    let cases = vec![IoCase { stdin: stdin.to_owned(), stdout: stdout.to_owned() }];
    job(program, None, TestSuite::Io { cases, rule: OutputRule::Tokens })
}

pub(crate) async fn judge(sandbox: &LocalSandbox, job: &Job) -> Judgement {
    sandbox.judge(job, &CancellationToken::new()).await.unwrap()
}

pub(crate) fn verdicts(judgement: &Judgement) -> Vec<Verdict> {
    judgement.tests.iter().map(|test| test.verdict).collect()
}

#[tokio::test]
async fn every_assertion_has_its_own_verdict() {
    let sandbox = sandbox().await;
    let program = "def f(n):\n    if n == 2:\n        raise ValueError('two')\n    return n + (n == 3)\n";
    let tests = "assert f(1) == 1\nassert f(2) == 2\nassert f(3) == 3\nassert f(4) == 4\n";
    let judgement = judge(&sandbox, &job(program, Some("f"), assertions(tests))).await;
    assert_eq!(verdicts(&judgement), [Verdict::Passed, Verdict::Crashed, Verdict::Wrong, Verdict::Passed]);
    assert_eq!(judgement.verdict, Verdict::Crashed);
    assert_eq!(judgement.tests[2].expected.as_deref(), Some("3"));
    assert_eq!(judgement.tests[2].actual.as_deref(), Some("4"));
    assert_eq!(judgement.tests[1].message.as_deref(), Some("ValueError: two (line 3 of the program)"));
}

/// No attack holds a judgement up for longer, even on a busy machine; what survives one sleeps for longer.
const HANG: Duration = Duration::from_secs(45);

/// Judges `program`, whose `f(1)` should be 2, says what came of it, and checks that the next program is unharmed.
pub(crate) async fn attack(program: &str) -> Judgement {
    let sandbox = sandbox().await;
    let started = Instant::now();
    let attacked = judge(&sandbox, &job(program, Some("f"), assertions("assert f(1) == 2\n"))).await;
    assert!(started.elapsed() < HANG, "held up by {program}");
    assert_at_rest().await;
    let honest = "def f(n):\n    return n + 1\n";
    let next = judge(&sandbox, &job(honest, Some("f"), assertions("assert f(1) == 2\n"))).await;
    assert_eq!(next.verdict, Verdict::Passed, "after {program}");
    attacked
}

/// One test per attack: its name, its verdict and its program.
macro_rules! attacks {
    ($($name:ident => $verdict:ident: $program:expr;)+) => {
        $(
            #[tokio::test]
            async fn $name() {
                let judgement = attack($program).await;
                assert_eq!(judgement.verdict, Verdict::$verdict, "{judgement:#?}");
            }
        )+
    };
}
pub(crate) use attacks;

attacks! {
    leaves_by_exit_code_in_the_call => Crashed: "import sys\ndef f(n):\n    sys.exit(0)\n";
    leaves_by_exit_code_at_once => Crashed: "import sys\nsys.exit(0)\ndef f(n):\n    return 2\n";
    leaves_hard_in_the_call => Crashed: "import os\ndef f(n):\n    os._exit(0)\n";
    leaves_hard_at_once => Crashed: "import os\nos._exit(0)\n";
    raises_system_exit => Crashed: "def f(n):\n    raise SystemExit\n";
    raises_keyboard_interrupt => Crashed: "def f(n):\n    raise KeyboardInterrupt\n";
    registers_an_exit_hook => Wrong: "import atexit, os\natexit.register(os._exit, 0)\ndef f(n):\n    return 1\n";
    kills_itself => Crashed: "import os\ndef f(n):\n    os.kill(os.getpid(), 9)\n    os.abort()\n";
    kills_everything => Wrong: r#"
import os
def f(n):
    try:
        os.kill(-1, 9)
    except OSError:
        pass
    return 1
"#;
    forks_without_end => ProcessLimit: r#"
import os
def f(n):
    while True:
        os.fork()
"#;
    starts_threads_without_end => ProcessLimit: r#"
import threading, time
def f(n):
    while True:
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
"#;
    allocates_without_end => Memory: "def f(n):\n    held = []\n    while True:\n        held.append(bytearray(1 << 20))\n";
    allocates_in_many_processes => Memory: r#"
import os, time
def f(n):
    for _ in range(8):
        if os.fork() == 0:
            held = bytearray(200 << 20)
            for at in range(0, len(held), 4096):
                held[at] = 1
            time.sleep(60)
    time.sleep(60)
"#;
    prints_without_end => OutputLimit: "def f(n):\n    while True:\n        print('x' * 1000)\n";
    writes_a_huge_file => FileLimit: "def f(n):\n    open('/tmp/big', 'wb').write(b'x' * (64 << 20))\n    return 2\n";
    fills_the_disk => FileLimit: r#"
def f(n):
    for k in range(100):
        open(f'/tmp/{k}', 'wb').write(b'x' * (8 << 20))
    return 2
"#;
    never_ends => TimeoutCpu: "def f(n):\n    while True:\n        pass\n";
    never_ends_while_loading => TimeoutCpu: "while True:\n    pass\n";
    never_ends_in_another_process => TimeoutCpu: r#"
import os
def f(n):
    if os.fork() == 0:
        while True:
            pass
    os.wait()
"#;
    recurses_deeply => Crashed: "def f(n):\n    return f(n + 1)\n";
    overflows_the_stack => Crashed: r#"
import functools, sys
sys.setrecursionlimit(10**9)
@functools.lru_cache(None)
def f(n): return f(n + 1)
"#;
    prints_forged_results => Wrong: r#"
import os
def f(n):
    print('ALL TESTS PASSED')
    for d in (1, 2):
        os.write(d, b'{"passed": 0}\n')
    return 1
"#;
    writes_forged_results_to_every_descriptor => Forbidden: r#"
import os
def f(n):
    for d in range(3, 256):
        try:
            os.write(d, b'{"id":0,"ok":2,"rows":[],"changed":[]}\n{"passed":0}\n{"end":true}\n')
        except OSError:
            pass
    return 1
"#;
    writes_without_end_to_every_descriptor => Forbidden: r#"
import os
def f(n):
    while True:
        for d in range(3, 12):
            try:
                os.write(d, b'x' * 100000)
            except OSError:
                pass
"#;
    closes_every_descriptor => Crashed: "import os\ndef f(n):\n    os.closerange(0, 256)\n    return 2\n";
    answers_from_a_forked_child_too => Passed: "import os\ndef f(n):\n    os.fork()\n    return n + 1\n";
    returns_what_equals_everything => Wrong: r#"
class Yes:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __bool__(self): return True
def f(n): return Yes()
"#;
    returns_an_int_that_equals_everything => UnsupportedReturn: r#"
class Yes(int):
    def __eq__(self, other): return True
    __hash__ = int.__hash__
def f(n): return Yes(7)
"#;
    claims_another_class => Wrong: r#"
class Yes:
    __class__ = int
    def __eq__(self, other): return True
def f(n): return Yes()
"#;
    walks_frames => Passed: r#"
import gc, sys
def f(n):
    frame = sys._getframe()
    seen = []
    while frame:
        seen += list(frame.f_locals.values())
        frame = frame.f_back
    seen += [o for o in gc.get_objects() if isinstance(o, (dict, list, str))]
    return [s for s in seen if isinstance(s, str) and 'f(1) ==' in s and 'assert' in s] or 2
"#;
    patches_builtins => Crashed: r#"
import builtins, json, os
def yes(*a, **k): return True
builtins.isinstance = builtins.bool = builtins.repr = builtins.len = yes
json.dumps = json.JSONEncoder.encode = yes
os.write = os.read = yes
def f(n): return 1
"#;
    patches_the_harness => Crashed: r#"
import sys
def f(n):
    frame = sys._getframe()
    while frame.f_back:
        frame = frame.f_back
        for name in ('Table', 'Reader', '_write', '_read', 'Unsupported'):
            frame.f_globals.pop(name, None)
    return 2
"#;
    escapes_its_session => Wrong: r#"
import os, time
def f(n):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(60)
        os._exit(0)
    return 1
"#;
    swallows_every_exception => TimeoutCpu: r#"
import signal
for s in range(1, 65):
    try: signal.signal(s, signal.SIG_IGN)
    except (OSError, ValueError): pass
def f(n):
    while True:
        try:
            while True: pass
        except BaseException:
            pass
"#;
    stops_itself => TimeoutWall: "import os, signal\ndef f(n):\n    os.kill(0, signal.SIGSTOP)\n    import time\n    time.sleep(60)\n";
    raises_a_huge_message => Crashed: "def f(n):\n    raise ValueError('x' * 50_000_000)\n";
    raises_with_hostile_text => Crashed: r#"
class E(Exception):
    def __str__(self): raise self
def f(n): raise E
"#;
    returns_a_huge_value => UnsupportedReturn: "def f(n):\n    return 'x' * 50_000_000\n";
    returns_an_endless_generator => UnsupportedReturn: "def f(n):\n    while True:\n        yield 1\n";
    returns_a_coroutine => UnsupportedReturn: "async def f(n):\n    return 2\n";
    returns_a_lone_surrogate => Wrong: "def f(n):\n    return '\\ud800'\n";
    returns_a_deep_value => Wrong: "def f(n):\n    v = []\n    for _ in range(50000):\n        v = [v]\n    return v\n";
    prints_invalid_utf_8 => Wrong: "import os\ndef f(n):\n    os.write(1, bytes(range(256)))\n    return 1\n";
    does_not_parse => CompileError: "def f(n)\n    return 2\n";
    is_no_text_that_compiles => CompileError: "def f(n):\n    return '\0'\n";
    nests_too_deeply_to_parse => CompileError: &("def f(n):\n    return ".to_owned() + &"(".repeat(5000) + &")".repeat(5000));
    is_not_there => Crashed: "def g(n):\n    return 2\n";
    reads_the_hosts_files => Passed: r#"
import os
def f(n):
    found = []
    for path in ('/etc/passwd', '/root/.ssh', '/root/.bashrc', '/home', '/proc/1/environ', '/proc/self/mem', '/sys', '/var'):
        if os.path.exists(path): found.append(path)
    return found or 2
"#;
    writes_outside_of_its_directory => Passed: r#"
import os
def f(n):
    places = []
    for path in ('/x', '/usr/x', '/etc/x', '/dev/x', '/lib/x', '/root/x'):
        try:
            open(path, 'w').close()
            places.append(path)
        except OSError: pass
    return places or 2
"#;
    opens_a_connection => Passed: r#"
import socket
def f(n):
    for family, place in ((socket.AF_INET, ('127.0.0.1', 22)), (socket.AF_INET, ('1.1.1.1', 53)), (socket.AF_INET6, ('::1', 22))):
        try:
            s = socket.socket(family, socket.SOCK_STREAM)
            s.settimeout(1)
            s.connect(place)
            return 'connected'
        except OSError: pass
    return 2
"#;
}

/// What the program says of itself, as printed.
async fn printed(program: &str) -> String {
    let sandbox = sandbox().await;
    let judgement = judge(&sandbox, &io(program, "", "")).await;
    assert_at_rest().await;
    format!("{}{}", judgement.stdout.text, judgement.stderr.text)
}

#[tokio::test]
async fn a_program_has_no_identity_no_environment_and_no_descriptor_of_ours() {
    let said = printed(
        "import os\nprint(os.getpid(), os.getcwd(), sorted(os.environ), os.listdir('/tmp'), os.listdir('/'))\n\
         print([d for d in range(256) if not os.system(f'true <&{d} 2>/dev/null')])\n",
    )
    .await;
    assert!(
        said.starts_with(
            "1 /tmp ['HOME', 'LANG', 'LC_ALL', 'PATH', 'PYTHONDONTWRITEBYTECODE', 'PYTHONHASHSEED', 'TMPDIR', 'TZ'] [] "
        ),
        "{said}"
    );
}

#[tokio::test]
async fn system_calls_that_reach_out_are_refused() {
    let said = printed(
        r#"
import ctypes, platform
c = ctypes.CDLL(None, use_errno=True)
def refused(*arguments):
    ctypes.set_errno(0)
    return c.syscall(*arguments) == -1 and ctypes.get_errno() in (1, 38)
if platform.machine() == 'x86_64':
    # unshare, ptrace, mount, bpf, keyctl, io_uring_setup, clone3, clone(NEWUSER), socket(INET), setns, x32 getpid
    calls = [(272, 0x10000000), (101, 0, 0, 0, 0), (165, 0, 0, 0, 0, 0), (321, 0, 0, 0), (250, 0, 0), (425, 1, 0), (435, 0, 0)]
    calls += [(56, 0x10000011, 0, 0, 0, 0), (41, 2, 1, 0), (308, 0, 0), (0x40000000 + 39,)]
    print([refused(*call) for call in calls])
else:
    print([True] * 11)
"#,
    )
    .await;
    assert_eq!(said, format!("[{}]\n", ["True"; 11].join(", ")));
}

#[tokio::test]
async fn a_profile_says_lines_types_and_values_also_of_a_killed_program() {
    let sandbox = sandbox().await;
    let program = "LIMIT = 3\n\ndef f(xs):\n    total = 0\n    for x in xs:\n        total += x\n    if total > LIMIT:\n        while total:\n            total += 0\n    return total\n";
    let tests = "assert f([1]) == 1\ny = f([])\nassert y == 0\nassert f([4]) == 4\n";
    let job = job(program, Some("f"), assertions(tests));
    let profile = sandbox.profile(&job, &CancellationToken::new()).await.unwrap();
    let lines = |test: usize| profile.tests[test].lines.iter().copied().collect::<Vec<_>>();
    assert_eq!(lines(0), [1, 3, 4, 5, 6, 7, 10]);
    assert_eq!(lines(1), [1, 3, 4, 5, 7, 10]);
    assert_eq!(lines(2), [1, 3, 4, 5, 6, 7, 8, 9]);
    let found = profile.tests.iter().map(|test| test.verdict).collect::<Vec<_>>();
    assert_eq!(found[..2], [Verdict::Passed, Verdict::Passed]);
    // A machine with much other work may stretch the wall further than the limit on CPU time.
    assert!(matches!(found[2], Verdict::TimeoutCpu | Verdict::TimeoutWall), "{found:?}");
    assert_eq!(profile.types["xs"].iter().collect::<Vec<_>>(), ["list", "list[int]"]);
    assert_eq!(profile.values[&6]["total"], ["0"]);
    assert_eq!(profile.values[&10]["total"], ["1", "0"]);
}
