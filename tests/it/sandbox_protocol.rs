//! What travels between candidate and tests, who is charged with what, and what ends in the middle.

use std::path::PathBuf;
use std::time::Duration;

use rolecall::domain::{Judgement, Verdict};
use rolecall::sandbox::{LocalSandbox, Sandbox, SandboxError};
use tokio_util::sync::CancellationToken;

use super::sandbox::{ALONE, assert_at_rest, assertions, descendants, io, job, judge, sandbox, verdicts};

/// Program, entry point and tests, all of which pass.
const PASSING: &[(&str, &str, &str)] = &[
    ("def f(x): return x", "f", VALUES),
    ("def f(xs): xs.sort()", "f", "xs = [3, 1, 2]\nys = xs\nassert f(xs) is None\nassert ys == [1, 2, 3]\n"),
    ("def f(xs): xs.append(xs); return xs", "f", "xs = [1]\nassert f(xs) is xs\nassert xs[1] is xs\n"),
    ("def f(a, b): a['k'] = b; return a['k']", "f", "a, b = {}, [1]\nassert f(a, b) is b\nassert a['k'] is b\n"),
    ("def f(n):\n    for k in range(n): yield k", "f", "g = f(3)\nassert next(g) == 0\nassert list(g) == [1, 2]\n"),
    ("def f(g, xs): return sorted(xs, key=g)", "f", "assert f(lambda x: -x, [1, 3, 2]) == [3, 2, 1]\n"),
    (
        "def f(g, n): return n if n == 0 else g(n - 1)",
        "f",
        "def again(n): return f(again, n) + 1\nassert f(again, 5) == 5\n",
    ),
    ("def f(n):\n    return lambda k: k + n", "f", "assert f(2)(3) == 5\n"),
    (
        "class Stack:\n    def __init__(self): self.xs = []\n    def push(self, x): self.xs.append(x); return self\n",
        "Stack",
        "s = Stack()\nassert s.push(1) is s\ns.push(2)\nassert s.xs == [1, 2]\n",
    ),
    ("SIZE = 3\ndef f(): return other()\ndef other(): return SIZE", "f", "assert f() == SIZE\nassert other() == 3\n"),
    (
        "class E(ValueError): pass\ndef f(n): raise E('no')",
        "f",
        "ok = False\ntry:\n    f(1)\nexcept ValueError as error:\n    ok = str(error) == 'no'\nassert ok\n",
    ),
    (
        "import re\ndef f(s): return re.search('b', s)",
        "f",
        "assert f('abc')\nassert f('abc').span() == (1, 2)\nassert not f('x')\n",
    ),
    ("def f(*a, **k): return a, k", "f", "assert f(1, *[2], x=3) == ((1, 2), {'x': 3})\n"),
];

/// One value of each kind, there and back.
const VALUES: &str = r#"
import math
from collections import Counter, OrderedDict, defaultdict, deque
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
def same(value):
    back = f(value)
    return back == value and type(back) is type(value) and repr(back) == repr(value)
for value in (None, True, 0, -1, 2**53, -2**70, 1.5, -0.0, 1e300, float('inf'), 'a\n\u00e9\U0001F600', '\ud800', b'\x00\xff', 1j):
    assert same(value)
assert f(7**6000) == 7**6000
for value in ([], [1, [2]], (), (1, (2, [3])), {}, {1: 'a', (1, 2): [3]}, {1, 2}, frozenset([1, (2,)]), range(1, 9, 2), bytearray(b'x'), ...):
    assert same(value)
for value in (Counter('aab'), OrderedDict([(2, 1), (1, 2)]), defaultdict(list, {1: [2]}), deque([1, 2], maxlen=3), Decimal('1.10'), Fraction(1, 3)):
    assert same(value)
for value in (date(2020, 2, 29), datetime(2020, 1, 1, 2, 3, 4, 5, timezone.utc), timedelta(1, 2, 3), int, ValueError, type(None)):
    assert same(value)
assert math.isnan(f(math.nan))
shared = [1]
both = f([shared, shared])
assert both[0] is both[1] is shared
assert list(f({'a': 1}.keys())) == ['a'] and list(f({'a': 1}.items())) == [('a', 1)]
"#;

#[tokio::test]
async fn values_travel_unharmed() {
    let sandbox = sandbox().await;
    for (program, entry, tests) in PASSING {
        let judgement = judge(&sandbox, &job(program, Some(entry), assertions(tests))).await;
        assert!(judgement.passed(), "{program}: {:#?}", judgement.tests);
    }
}

#[tokio::test]
async fn support_classes_live_on_both_sides() {
    let sandbox = sandbox().await;
    let class = "class Node:\n    def __init__(self, value, next=None):\n        self.value, self.next = value, next\n";
    let program = "def reverse(node):\n    last = None\n    while node: node.next, last, node = last, node, node.next\n    \
                   return last or Node(0)\n";
    let tests = format!(
        "{class}a = Node(1)\nb = Node(2, a)\nassert reverse(b) is a\nassert a.next is b and b.next is None\n\
         assert reverse(None).value == 0\n"
    );
    let mut job = job(program, Some("reverse"), assertions(&tests));
    job.support = Some(class.to_owned());
    let judgement = judge(&sandbox, &job).await;
    assert!(judgement.passed(), "{:#?}", judgement.tests);
}

#[tokio::test]
async fn an_exception_between_assertions_is_charged_to_those_that_it_keeps_from_running() {
    use Verdict::{Crashed, Passed};
    let sandbox = sandbox().await;
    let program = "def f(n):\n    if n == 2: raise KeyError(n)\n    return n\n";
    let tests = "def check(f):\n    assert f(1) == 1\n    x = f(2)\n    assert x == 2\n    assert f(3) == 3\ncheck(f)\n\
                 y = f(2)\nassert y == 2\nassert f(4) == 4\nassert y == 3\n";
    let judgement = judge(&sandbox, &job(program, Some("f"), assertions(tests))).await;
    assert_eq!(verdicts(&judgement), [Passed, Crashed, Crashed, Crashed, Passed, Crashed]);
    for test in [1, 2, 3, 5] {
        assert_eq!(judgement.tests[test].message.as_deref(), Some("KeyError: 2 (line 2 of the program)"), "{test}");
    }
}

#[tokio::test]
async fn after_a_death_the_rest_runs_in_a_new_process() {
    let sandbox = sandbox().await;
    let program = "import os\ndef f(n):\n    if n == 2: os._exit(0)\n    return n\n";
    let tests = "assert f(1) == 1\nassert f(2) == 2\nassert f(3) == 3\n";
    let judgement = judge(&sandbox, &job(program, Some("f"), assertions(tests))).await;
    assert_eq!(verdicts(&judgement), [Verdict::Passed, Verdict::Crashed, Verdict::Passed]);
}

#[tokio::test]
async fn a_timeout_after_a_pass_is_confirmed_at_twice_the_limit() {
    let sandbox = sandbox().await;
    let program = "import time\ndef f(n):\n    end = time.process_time() + n\n    while time.process_time() < end: pass\n    return n\n";
    let mut slow = job(program, Some("f"), assertions("assert f(0) == 0\nassert f(0.6) == 0.6\n"));
    slow.limits.test_cpu_ms = 400;
    let judgement = judge(&sandbox, &slow).await;
    assert!(judgement.passed() && judgement.near_limit, "{judgement:#?}");
    let mut first = job(program, Some("f"), assertions("assert f(0.6) == 0.6\nassert f(0) == 0\n"));
    first.limits.test_cpu_ms = 400;
    assert_eq!(verdicts(&judge(&sandbox, &first).await), [Verdict::TimeoutCpu, Verdict::NotRun]);
}

#[tokio::test]
async fn values_that_keep_the_tests_busy_are_a_timeout_of_that_test() {
    let sandbox = sandbox().await;
    let program = "def f(n): return 1 << 8_000_000\n";
    let mut busy = job(program, Some("f"), assertions("assert f(0) ** f(0) == 1\nassert f(1) == 1\n"));
    busy.limits.test_cpu_ms = 100;
    busy.limits.process_cpu_ms = 100;
    let judgement = judge(&sandbox, &busy).await;
    assert!(!judgement.passed());
    assert_ne!(judgement.tests[0].verdict, Verdict::Passed, "{judgement:#?}");
    assert!(judge(&sandbox, &job("def f(n): return n", Some("f"), assertions("assert f(1) == 1\n"))).await.passed());
    assert_at_rest().await;
}

#[tokio::test]
async fn cancelling_dropping_and_killing_leave_nothing_behind() {
    let sandbox = sandbox().await;
    let endless = job("import time\ndef f(n): time.sleep(60)\n", Some("f"), assertions("assert f(1) == 2\n"));
    let honest = job("def f(n): return n + 1\n", Some("f"), assertions("assert f(1) == 2\n"));
    let cancel = CancellationToken::new();
    let (result, ()) = tokio::join!(sandbox.judge(&endless, &cancel), async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        cancel.cancel();
    });
    assert!(matches!(result, Err(SandboxError::Cancelled)), "{result:?}");
    assert_at_rest().await;
    assert!(judge(&sandbox, &honest).await.passed());

    let never = CancellationToken::new();
    let dropped = tokio::time::timeout(Duration::from_millis(300), sandbox.judge(&endless, &never)).await;
    assert!(dropped.is_err());
    assert_at_rest().await;
    let other = job("def f(n): return 1 + n\n", Some("f"), assertions("assert f(1) == 2\n"));
    assert!(judge(&sandbox, &other).await.passed());
    assert_at_rest().await;

    // A server that is killed is our fault, never the candidate's; the next execution has a new slot.
    let servers = descendants().into_iter().filter(|process| process.contains("python")).collect::<Vec<_>>();
    assert_eq!(servers.len(), 2);
    let pid = servers[0].split(' ').next().and_then(|pid| pid.parse().ok()).and_then(rustix::process::Pid::from_raw);
    rustix::process::kill_process(pid.unwrap(), rustix::process::Signal::KILL).unwrap();
    let third = job("def f(n): return 2 + n - 1\n", Some("f"), assertions("assert f(1) == 2\n"));
    let first = sandbox.judge(&third, &never).await;
    assert!(first.is_err(), "{first:?}");
    assert!(judge(&sandbox, &third).await.passed());
    assert_at_rest().await;

    drop(sandbox);
    let _alone = ALONE.lock().await;
    // What was seen last counts: a second look could meet a process of a slot that is just being given up.
    let mut left = descendants();
    for _ in 0..200 {
        if left.is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
        left = descendants();
    }
    assert_eq!(left, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_slots_serve_many_at_once() {
    let _alone = ALONE.lock().await;
    let sandbox =
        LocalSandbox::start(PathBuf::from(env!("CARGO_BIN_EXE_rolecall")), 2, &[rolecall::domain::Language::Python])
            .await
            .unwrap();
    let jobs = (0..20).map(|n| {
        let tests = format!("assert f({n}) == {}\n", n + 1);
        job("def f(n): return n + 1 if n != 7 else exit()\n", Some("f"), assertions(&tests))
    });
    let jobs = jobs.collect::<Vec<_>>();
    let judgements = futures_util::future::join_all(jobs.iter().map(|job| judge(&sandbox, job))).await;
    for (n, judgement) in judgements.iter().enumerate() {
        assert_eq!(judgement.verdict, if n == 7 { Verdict::Crashed } else { Verdict::Passed }, "{n}");
    }
}

#[tokio::test]
async fn identical_jobs_are_executed_once() {
    let sandbox = sandbox().await;
    let program = "import time\ndef f(n):\n    time.sleep(0.5)\n    return time.time_ns()\n";
    let job = job(program, Some("f"), assertions("assert f(1) == 2\n"));
    let never = CancellationToken::new();
    let (one, other) = tokio::join!(sandbox.judge(&job, &never), sandbox.judge(&job, &never));
    let again = sandbox.judge(&job, &never).await.unwrap();
    let actual = |judgement: &Judgement| judgement.tests[0].actual.clone();
    assert_eq!(actual(&one.unwrap()), actual(&again));
    assert_eq!(actual(&other.unwrap()), actual(&again));
}

#[tokio::test]
async fn addresses_hashes_and_random_numbers_do_not_depend_on_what_ran_before() {
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..2 {
        let sandbox = sandbox().await;
        for round in 0..5 {
            let program = format!(
                "import random\nclass A: pass\n\
                 def f(n): return [id(A()), id([]), id('x' * n), hash('text'), random.random()]\n# {round}\n"
            );
            let judgement = judge(&sandbox, &job(&program, Some("f"), assertions("assert f(99) == 2\n"))).await;
            seen.insert(judgement.tests[0].actual.clone());
        }
    }
    assert_eq!(seen.len(), 1, "{seen:#?}");
}

#[tokio::test]
async fn a_program_cannot_claim_that_the_machine_failed() {
    let sandbox = sandbox().await;
    let writes = "import os\nfor d in range(3, 20):\n    try: os.write(d, b'{\"fault\":\"mine\"}\\n')\n    except OSError: pass\n";
    let loading = job(writes, Some("f"), assertions("assert f(1) == 2\n"));
    assert_eq!(judge(&sandbox, &loading).await.verdict, Verdict::Forbidden);
    assert_eq!(judge(&sandbox, &io(writes, "", "")).await.verdict, Verdict::Forbidden);
}

#[tokio::test]
async fn the_side_that_asks_the_program_is_the_actual_value() {
    let sandbox = sandbox().await;
    let tests =
        "x = [2]\nassert sorted(x) == sorted(f(1))\nassert 2 == f(1)\ny = f(1)\nassert [4] == y\nassert f(1) != [1]\n";
    let judgement = judge(&sandbox, &job("def f(n): return [n]", Some("f"), assertions(tests))).await;
    let shown = judgement.tests.iter().map(|test| (test.expected.as_deref().unwrap(), test.actual.as_deref().unwrap()));
    assert_eq!(shown.collect::<Vec<_>>(), [("[2]", "[1]"), ("2", "[1]"), ("[4]", "[1]"), ("!= [1]", "[1]")]);
}

#[tokio::test]
async fn a_death_or_a_value_that_cannot_travel_is_no_exception_that_tests_may_catch() {
    let sandbox = sandbox().await;
    let expects_an_exception =
        |clause: &str| format!("ok = False\ntry:\n    f(1)\n{clause}:\n    ok = True\nassert ok\n");
    let programs = [
        ("import os\ndef f(n): os._exit(0)\n", Verdict::Crashed),
        ("import sys\ndef f(n): return sys._getframe()\n", Verdict::UnsupportedReturn),
        ("def f(n):\n    while True: pass\n", Verdict::TimeoutCpu),
    ];
    for clause in ["except Exception", "except"] {
        for (program, verdict) in programs {
            let tests = assertions(&expects_an_exception(clause));
            let judgement = judge(&sandbox, &job(program, Some("f"), tests)).await;
            assert_eq!(judgement.tests[0].verdict, verdict, "{clause}: {program}\n{judgement:#?}");
        }
    }
    let honest = job("def f(n): raise ValueError\n", Some("f"), assertions(&expects_an_exception("except Exception")));
    assert_eq!(judge(&sandbox, &honest).await.tests[0].verdict, Verdict::Passed);
}
