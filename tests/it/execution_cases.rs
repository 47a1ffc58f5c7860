//! Faults of public evaluators, one test per case id.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rolecall::domain::{IoCase, OutputRule, TestSuite, TimeoutPolicy, Verdict};

use super::sandbox::{Alone, assert_at_rest, assertions, io, job, judge, sandbox, verdicts};

/// The verdict of a program whose tests are assertions on `entry_point`.
async fn verdict(sandbox: &Alone, program: &str, entry_point: &str, tests: &str) -> Verdict {
    judge(sandbox, &job(program, Some(entry_point), assertions(tests))).await.verdict
}

#[tokio::test]
async fn e01_an_object_that_equals_everything_is_wrong() {
    let sandbox = sandbox().await;
    let tests = "assert square(3) == 9\nassert square(-2) == 4\n";
    let yes = "class Yes:\n    def __eq__(self, o): return True\n    def __ne__(self, o): return False\n";
    assert_eq!(
        verdict(&sandbox, &format!("{yes}def square(n): return Yes()\n"), "square", tests).await,
        Verdict::Wrong
    );
    assert_eq!(verdict(&sandbox, "def square(n): return n * n\n", "square", tests).await, Verdict::Passed);
    assert_eq!(verdict(&sandbox, "def square(n): return float(n * n)\n", "square", tests).await, Verdict::Passed);
}

#[tokio::test]
async fn e02_leaving_with_status_0_is_no_pass() {
    let sandbox = sandbox().await;
    let tests = "assert inc(1) == 2\n";
    for program in [
        "import os\ndef inc(n): os._exit(0)\n",
        "import sys\ndef inc(n): sys.exit(0)\n",
        "def inc(n): raise SystemExit\n",
        "def inc(n): exit()\n",
        "import os\nos._exit(0)\n",
        "raise SystemExit\n",
    ] {
        assert_eq!(verdict(&sandbox, program, "inc", tests).await, Verdict::Crashed, "{program}");
    }
}

#[tokio::test]
async fn e03_printed_results_decide_nothing() {
    let sandbox = sandbox().await;
    let prints = "print('ALL TESTS PASSED'); print('{\"passed\": true, \"exit_code\": 0}')\n";
    let tests = "assert inc(1) == 2\n";
    assert_eq!(verdict(&sandbox, &format!("{prints}def inc(n): return n\n"), "inc", tests).await, Verdict::Wrong);
    let right =
        judge(&sandbox, &job(&format!("{prints}def inc(n): return n + 1\n"), Some("inc"), assertions(tests))).await;
    assert_eq!(right.verdict, Verdict::Passed);
    assert!(right.stdout.text.starts_with("ALL TESTS PASSED\n"), "{}", right.stdout.text);
}

#[tokio::test]
async fn e07_a_coroutine_is_not_true() {
    let sandbox = sandbox().await;
    let program = "async def is_even(n): return False\n";
    assert_eq!(verdict(&sandbox, program, "is_even", "assert is_even(4)\n").await, Verdict::UnsupportedReturn);
}

#[tokio::test]
async fn e10_no_tests_or_tests_never_called_are_no_pass() {
    let sandbox = sandbox().await;
    let wrong = "def add(a, b): return 0\n";
    assert_eq!(verdict(&sandbox, wrong, "add", "").await, Verdict::NotRun);
    let check = "def check(candidate):\n    assert candidate(2, 3) == 5\n";
    assert_eq!(verdict(&sandbox, wrong, "add", check).await, Verdict::NotRun);
    assert_eq!(verdict(&sandbox, "def add(a, b): return a + b\n", "add", check).await, Verdict::NotRun);
    assert_eq!(verdict(&sandbox, wrong, "add", &format!("{check}check(add)\n")).await, Verdict::Wrong);
    let none = TestSuite::Io { cases: Vec::new(), rule: OutputRule::Tokens };
    assert_eq!(judge(&sandbox, &job("print(1)\n", None, none)).await.verdict, Verdict::NotRun);
}

#[tokio::test]
async fn e13_the_order_of_a_set_is_the_same_on_every_run() {
    let program = "def common(a, b): return list(set(a) & set(b))\n";
    let tests = "assert common(['pear','fig','kiwi','plum'], ['fig','plum','kiwi']) == ['fig','kiwi','plum']\n";
    let mut seen = Vec::new();
    for _ in 0..5 {
        let sandbox = sandbox().await;
        let judgement = judge(&sandbox, &job(program, Some("common"), assertions(tests))).await;
        seen.push((judgement.verdict, judgement.tests[0].actual.clone()));
    }
    assert!(seen.iter().all(|one| *one == seen[0]), "{seen:?}");
}

#[tokio::test]
async fn e22_the_main_guard_runs_in_programs_alone() {
    let sandbox = sandbox().await;
    let program = "def main():\n    n = int(input()); print(n * 2)\nif __name__ == \"__main__\":\n    main()\n";
    assert_eq!(judge(&sandbox, &io(program, "21", "42")).await.verdict, Verdict::Passed);
    let guarded = "def double(n): return n * 2\nif __name__ == '__main__':\n    print(double(int(input('n? '))))\n";
    assert_eq!(verdict(&sandbox, guarded, "double", "assert double(4) == 8\n").await, Verdict::Passed);
    let unguarded = "def double(n): return n * 2\nprint(double(int(input('n? '))))\n";
    assert_eq!(verdict(&sandbox, unguarded, "double", "assert double(4) == 8\n").await, Verdict::Passed);
}

#[tokio::test]
async fn e25_a_loop_that_no_alarm_can_stop_is_stopped_from_outside() {
    let sandbox = sandbox().await;
    for program in [
        "import collections, itertools\ndef f(n): collections.deque(itertools.repeat(0), maxlen=0)\n",
        "def f(n):\n    while n == 1:\n        try: sum(range(1000))\n        except BaseException: pass\n    return n\n",
    ] {
        let mut one = job(program, Some("f"), assertions("assert f(1) == 1\nassert f(2) == 2\n"));
        let judgement = judge(&sandbox, &one).await;
        assert_eq!(verdicts(&judgement), [Verdict::TimeoutCpu, Verdict::NotRun], "{program}");
        assert!(judgement.cpu_ms < 2_000, "{judgement:?}");
        one.limits.timeouts = TimeoutPolicy::All;
        let expected = if program.contains("while") { Verdict::Passed } else { Verdict::TimeoutCpu };
        assert_eq!(verdicts(&judge(&sandbox, &one).await), [Verdict::TimeoutCpu, expected], "{program}");
        assert_at_rest().await;
        assert_eq!(verdict(&sandbox, "def f(n): return n\n", "f", "assert f(1) == 1\n").await, Verdict::Passed);
    }
}

#[tokio::test]
async fn e26_descendants_hold_up_nothing_and_do_not_survive() {
    let sandbox = sandbox().await;
    for program in [
        "import subprocess\nprint(7, flush=True)\nsubprocess.Popen(['sleep', '60'])\n",
        "import os, time\nprint(7, flush=True)\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        time.sleep(60)\n",
    ] {
        let started = Instant::now();
        let judgement = judge(&sandbox, &io(program, "", "7")).await;
        assert_eq!(judgement.verdict, Verdict::Passed, "{judgement:?}");
        assert!(started.elapsed() < Duration::from_secs(20), "held up by a descendant");
        assert_at_rest().await;
    }
}

#[tokio::test]
async fn e27_a_full_pipe_blocks_nobody() {
    let sandbox = sandbox().await;
    let program = "import sys\nsys.stderr.write('w' * 1_000_000); print(7)\n";
    assert_eq!(judge(&sandbox, &io(program, "", "7")).await.verdict, Verdict::Passed);
    let swapped = "import sys\nsys.stdout.write('w' * 1_000_000); print(7, file=sys.stderr)\n";
    assert_eq!(judge(&sandbox, &io(swapped, "", &"w".repeat(1_000_000))).await.verdict, Verdict::Passed);
    let copies = "import sys\ntext = sys.stdin.read()\nsys.stderr.write('w' * 1_000_000)\nprint(len(text))\n";
    assert_eq!(judge(&sandbox, &io(copies, &"x".repeat(1_000_000), "1000000")).await.verdict, Verdict::Passed);
}

#[tokio::test]
async fn e28_a_program_that_reads_nothing_is_judged_by_its_output() {
    let sandbox = sandbox().await;
    let judgement = judge(&sandbox, &io("print('YES')\n", &"1 ".repeat(1_000_000), "YES")).await;
    assert_eq!(judgement.verdict, Verdict::Passed, "{judgement:?}");
}

#[tokio::test]
async fn e32_a_sleeping_program_ends_by_the_clock_on_the_wall() {
    let sandbox = sandbox().await;
    let mut sleeper = io("import time; time.sleep(60); print(1)\n", "", "1");
    sleeper.limits.test_cpu_ms = 100;
    let judgement = judge(&sandbox, &sleeper).await;
    assert_eq!(judgement.verdict, Verdict::TimeoutWall);
    // Ended at the wall limit and not when it awoke; both clocks are in the record, of the test too.
    let wall = sleeper.limits.wall_ms(sleeper.limits.test_cpu_ms);
    assert!((wall..60_000).contains(&judgement.wall_ms), "{judgement:?}");
    assert!(judgement.cpu_ms < 1_000, "{judgement:?}");
    assert!(judgement.tests[0].cpu_ms.unwrap() < 1_000, "{judgement:?}");
}

#[tokio::test]
async fn e32_cpu_time_is_the_sum_over_threads_and_children() {
    let sandbox = sandbox().await;
    // Each is busy for 0.6 s by its own CPU clock, however loaded the machine is; the limit of a test is 1 s.
    let busy = "import os, threading, time\ndef busy(n):\n    while time.thread_time() < 0.6: pass\n    return n\n";
    let threads = "threads = [threading.Thread(target=busy, args=(1,)) for _ in range(4)]\n\
                   for t in threads: t.start()\nfor t in threads: t.join()\n";
    let children = "for _ in range(4):\n    if os.fork() == 0:\n        busy(1)\n        os._exit(0)\n\
                    for _ in range(4): os.wait()\n";
    for (work, verdict) in
        [("busy(1)\n", Verdict::Passed), (threads, Verdict::TimeoutCpu), (children, Verdict::TimeoutCpu)]
    {
        let judgement = judge(&sandbox, &io(&format!("{busy}{work}print(1)\n"), "", "1")).await;
        assert_eq!(judgement.verdict, verdict, "{work}\n{judgement:?}");
        let called = format!("{busy}def f(n):\n    {}\n    return n\n", work.trim_end().replace('\n', "\n    "));
        let judgement = judge(&sandbox, &job(&called, Some("f"), assertions("assert f(1) == 1\n"))).await;
        assert_eq!(judgement.verdict, verdict, "{work}\n{judgement:?}");
    }
    assert_at_rest().await;
}

#[tokio::test]
async fn e35_running_out_of_memory_has_its_own_word_and_catching_it_is_allowed() {
    let sandbox = sandbox().await;
    let program = "x = bytearray(600 * 1024 * 1024); print(len(x))\n";
    assert_eq!(judge(&sandbox, &io(program, "", "629145600")).await.verdict, Verdict::Memory);
    let catches = "try:\n    x = bytearray(600 * 1024 * 1024)\nexcept MemoryError:\n    print('caught')\n";
    assert_eq!(judge(&sandbox, &io(catches, "", "caught")).await.verdict, Verdict::Passed);
}

#[tokio::test]
async fn e36_deep_recursion_has_room() {
    let sandbox = sandbox().await;
    let program = "import sys; from functools import lru_cache\nsys.setrecursionlimit(10**6)\n@lru_cache(None)\n\
                   def f(n): return 0 if n == 0 else 1 + f(n - 1)\nprint(f(50000))\n";
    let judgement = judge(&sandbox, &io(program, "", "50000")).await;
    assert_eq!(judgement.verdict, Verdict::Passed, "{judgement:?}");
}

#[tokio::test]
async fn e39_nothing_is_left_for_the_next_run_or_the_next_test() {
    let sandbox = sandbox().await;
    for place in ["hint.txt", "/tmp/hint.txt"] {
        let writes = format!("open('{place}', 'w').write('42'); print('?')\n");
        assert_eq!(judge(&sandbox, &io(&writes, "", "42")).await.verdict, Verdict::Wrong);
        let reads = judge(&sandbox, &io(&format!("print(open('{place}').read())\n"), "", "42")).await;
        assert_eq!(reads.verdict, Verdict::Crashed);
        assert!(reads.tests[0].message.as_deref().unwrap().starts_with("FileNotFoundError"), "{reads:?}");
        let both = format!("import os\nprint(os.path.exists('{place}'))\nopen('{place}', 'w').write('42')\n");
        let case = IoCase { stdin: String::new(), stdout: "False".to_owned() };
        let mut twice = io(&both, "", "");
        twice.tests = Arc::new(TestSuite::Io { cases: vec![case.clone(), case], rule: OutputRule::Tokens });
        assert_eq!(judge(&sandbox, &twice).await.verdict, Verdict::Passed);
    }
    // What a run sets in its interpreter is gone in the next one.
    let marks = "import sys, builtins, math\nbuiltins.hint = math.hint = '42'\ndef f(n): return n\n";
    let looks = "import builtins, math\ndef f(n): return [hasattr(builtins, 'hint'), hasattr(math, 'hint')]\n";
    assert_eq!(verdict(&sandbox, marks, "f", "assert f(1) == 1\n").await, Verdict::Passed);
    assert_eq!(verdict(&sandbox, looks, "f", "assert f(1) == [False, False]\n").await, Verdict::Passed);
}
