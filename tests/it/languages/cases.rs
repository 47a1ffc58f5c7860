//! Faults of public evaluators, one test per case id: the cases of `execution_cases.rs` in the other languages.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rolecall::domain::{
    IoCase,
    Language::{self, Cpp, Go, Java, JavaScript, Python, Rust},
    OutputRule, TestSuite, Verdict,
};
use rolecall::sandbox::LocalSandbox;

use super::{io, sandbox, tested};
use crate::sandbox::{assertions, descendants, job, judge, verdicts};

/// A language with a program.
type One = (Language, &'static str);

async fn outcome(sandbox: &LocalSandbox, (language, program): One, stdin: &str, stdout: &str) -> Verdict {
    judge(sandbox, &io(language, program, stdin, stdout)).await.verdict
}

/// Nothing runs that did not run before, zombies included.
async fn at_rest(before: usize) {
    for _ in 0..200 {
        if descendants().len() <= before {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("left behind: {:#?}", descendants());
}

/// Each whole program has the verdict on this input and output, and leaves nothing behind.
async fn each(programs: &[One], stdin: &str, stdout: &str, expected: Verdict) {
    for one in programs {
        let sandbox = sandbox(one.0).await;
        let hello = IO_HELLO.iter().find(|(language, _)| *language == one.0).unwrap();
        assert_eq!(outcome(&sandbox, *hello, "", "hi").await, Verdict::Passed);
        let before = descendants().len();
        let judgement = judge(&sandbox, &io(one.0, one.1, stdin, stdout)).await;
        assert_eq!(judgement.verdict, expected, "{}\n{judgement:#?}", one.1);
        at_rest(before).await;
    }
}

const IO_HELLO: &[One] = &[
    (Python, "print('hi')\n"),
    (Cpp, "#include <cstdio>\nint main() { puts(\"hi\"); }\n"),
    (Java, "public class Main { public static void main(String[] a) { System.out.println(\"hi\"); } }\n"),
    (JavaScript, "console.log('hi')\n"),
    (Go, "package main\nimport \"fmt\"\nfunc main() { fmt.Println(\"hi\") }\n"),
    (Rust, "fn main() { println!(\"hi\"); }\n"),
];

/// Tests of `f`, which adds one, in each language.
fn tests_of_f(language: Language) -> &'static str {
    match language {
        Python => "assert f(1) == 2\nassert f(5) == 6\n",
        Cpp => "int main() {\n    assert(f(1) == 2);\n    assert(f(5) == 6);\n}\n",
        Java => {
            "class Main { public static void main(String[] a) {\n    assert new Solution().f(1) == 2;\n    assert new Solution().f(5) == 6;\n} }\n"
        }
        JavaScript => "console.assert(f(1) === 2)\nconsole.assert(f(5) === 6)\n",
        Go => "func TestF(t *testing.T) {\n    assert.Equal(t, 2, F(1))\n    assert.Equal(t, 6, F(5))\n}\n",
        Rust => "#[test]\nfn t() {\n    assert_eq!(f(1), 2);\n    assert_eq!(f(5), 6);\n}\n",
    }
}

/// What each test of `f` says of a program.
async fn verdicts_on_f(sandbox: &LocalSandbox, (language, program): One) -> Vec<Verdict> {
    let (tests, entry) = (tests_of_f(language), if language == Go { "F" } else { "f" });
    verdicts(&match language {
        Python => judge(sandbox, &job(program, Some(entry), assertions(tests))).await,
        _ => judge(sandbox, &tested(language, program, entry, tests)).await,
    })
}

#[tokio::test]
async fn e02_leaving_with_status_0_fails_in_all_six_languages() {
    for one in [
        (Python, "import os\ndef f(n): os._exit(0)\n"),
        (Cpp, "#include <cstdlib>\nint f(int n) { std::_Exit(0); }\n"),
        (Java, "class Solution { int f(int n) { System.exit(0); return 0; } }"),
        (JavaScript, "const f = (n) => process.exit(0)"),
        (Go, "import \"os\"\nfunc F(n int) int { os.Exit(0); return 0 }\n"),
        (Rust, "fn f(_: i32) -> i32 { std::process::exit(0) }"),
    ] {
        let sandbox = sandbox(one.0).await;
        assert_eq!(verdicts_on_f(&sandbox, one).await, [Verdict::Crashed; 2], "{}", one.1);
    }
}

#[tokio::test]
async fn e03_printed_results_decide_nothing_in_any_language() {
    let said = r#"ALL TESTS PASSED\n{\"passed\": true, \"exit_code\": 0}\nok\nPASS\n"#;
    for (language, program) in [
        (Python, "print(\"SAID\")\ndef f(n): return n + WRONG\n"),
        (Cpp, "#include <cstdio>\nint f(int n) { printf(\"SAID\"); return n + WRONG; }\n"),
        (Java, "class Solution { int f(int n) { System.out.print(\"SAID\"); return n + WRONG; } }"),
        (JavaScript, "console.log(\"SAID\")\nconst f = (n) => n + WRONG"),
        (Go, "import \"fmt\"\nfunc F(n int) int { fmt.Print(\"SAID\"); return n + WRONG }\n"),
        (Rust, "fn f(n: i32) -> i32 { print!(\"{}\", \"SAID\"); n + WRONG }"),
    ] {
        let sandbox = sandbox(language).await;
        for (added, expected) in [("0", Verdict::Wrong), ("1", Verdict::Passed)] {
            let program = program.replace("SAID", said).replace("WRONG", added).leak();
            assert_eq!(verdicts_on_f(&sandbox, (language, program)).await, [expected; 2], "{program}");
        }
    }
}

#[tokio::test]
async fn e06_a_console_assert_that_fails_is_a_failure() {
    let sandbox = sandbox(JavaScript).await;
    for head in ["", "console.assert = () => {}\n"] {
        let program = format!("{head}const twice = n => n\n");
        let wrong = tested(JavaScript, &program, "twice", "console.assert(twice(4) === 8)\n");
        assert_eq!(judge(&sandbox, &wrong).await.verdict, Verdict::Wrong, "{program}");
    }
}

#[tokio::test]
async fn e07_a_promise_is_not_true() {
    let sandbox = sandbox(JavaScript).await;
    let program = "async function isEven(n) { return false }\n";
    for (tests, expected) in [
        ("assert(isEven(4))\n", Verdict::UnsupportedReturn),
        ("(async () => { assert(await isEven(4)) })()\n", Verdict::Wrong),
    ] {
        assert_eq!(judge(&sandbox, &tested(JavaScript, program, "isEven", tests)).await.verdict, expected, "{tests}");
    }
}

#[tokio::test]
async fn e10_tests_that_are_absent_or_never_called_pass_nobody() {
    for (language, program, tests) in [
        (
            Cpp,
            "int f(int n) { return 0; }\n",
            ["int main() { }\n", "void check() { assert(f(1) == 2); }\nint main() { }\n"],
        ),
        (
            Java,
            "class Solution { int f(int n) { return 0; } }",
            [
                "class Main { public static void main(String[] a) { } }\n",
                "class Main { static void check() { assert new Solution().f(1) == 2; }\n public static void main(String[] a) { } }\n",
            ],
        ),
        (JavaScript, "const f = (n) => 0", ["", "const check = () => { assert(f(1) === 2) }\n"]),
        (
            Go,
            "func F(n int) int { return 0 }\n",
            ["func TestF(t *testing.T) { }\n", "func check(t *testing.T) { assert.Equal(t, 2, F(1)) }\n"],
        ),
        (Rust, "fn f(_: i32) -> i32 { 0 }", ["#[test]\nfn t() {}\n", "fn check() { assert_eq!(f(1), 2); }\n"]),
    ] {
        let sandbox = sandbox(language).await;
        for tests in tests {
            let judgement = judge(&sandbox, &tested(language, program, "f", tests)).await;
            assert_ne!(judgement.verdict, Verdict::Passed, "{tests}\n{judgement:#?}");
            assert!(verdicts(&judgement).iter().all(|verdict| *verdict != Verdict::Passed), "{tests}\n{judgement:#?}");
        }
    }
}

#[tokio::test]
async fn e25_loops_that_catch_everything_end_at_the_limit() {
    for (language, program, honest) in [
        (Cpp, "int f(int n) { for (;;) try { throw n; } catch (...) { } }\n", "int f(int n) { return n + 1; }\n"),
        (
            Java,
            "class Solution { int f(int n) { for (;;) try { throw new Error(); } catch (Throwable t) { } } }",
            "class Solution { int f(int n) { return n + 1; } }",
        ),
        (JavaScript, "const f = (n) => { for (;;) try { throw n } catch { } }", "const f = (n) => n + 1"),
        (
            Go,
            "func g() { defer func() { recover() }(); panic(1) }\nfunc F(n int) int { for { g() } }\n",
            "func F(n int) int { return n + 1 }\n",
        ),
        (
            Rust,
            "fn f(n: i32) -> i32 { std::panic::set_hook(Box::new(|_| ())); loop { let _ = std::panic::catch_unwind(|| panic!()); if n < 0 { return 0; } } }",
            "fn f(n: i32) -> i32 { n + 1 }",
        ),
    ] {
        let sandbox = sandbox(language).await;
        let started = Instant::now();
        let found = verdicts_on_f(&sandbox, (language, program)).await;
        assert_eq!(found, [Verdict::TimeoutCpu, Verdict::NotRun], "{program}");
        assert!(started.elapsed() < Duration::from_secs(60), "{program}");
        assert_eq!(verdicts_on_f(&sandbox, (language, honest)).await, [Verdict::Passed; 2], "{honest}");
    }
}

/// Each prints 7 and leaves somebody behind who holds the pipe.
const LEAVING_SOMEBODY: &[One] = &[
    (
        Cpp,
        "#include <unistd.h>\n#include <cstdio>\nint main() { puts(\"7\"); fflush(stdout); if (fork() == 0) { setsid(); if (fork() == 0) sleep(600); } }\n",
    ),
    (
        Java,
        "class Main { public static void main(String[] a) throws Exception { System.out.println(7); new ProcessBuilder(\"/bin/sleep\", \"600\").inheritIO().start(); } }",
    ),
    (
        JavaScript,
        "console.log(7); require('child_process').spawn('/bin/sleep', ['600'], { detached: true, stdio: 'inherit' }).unref()",
    ),
    (
        Go,
        "package main\nimport (\"fmt\"; \"os\"; \"os/exec\")\nfunc main() { fmt.Println(7); c := exec.Command(\"/bin/sleep\", \"600\"); c.Stdout = os.Stdout; c.Start() }\n",
    ),
    (Rust, "fn main() { println!(\"7\"); std::process::Command::new(\"/bin/sleep\").arg(\"600\").spawn().unwrap(); }"),
];

#[tokio::test]
async fn e26_descendants_hold_up_nothing_in_any_language() {
    let started = Instant::now();
    each(LEAVING_SOMEBODY, "", "7", Verdict::Passed).await;
    assert!(started.elapsed() < Duration::from_secs(120));
}

#[tokio::test]
async fn e27_a_full_pipe_blocks_nobody_in_any_language() {
    let programs: &[One] = &[
        (
            Cpp,
            "#include <iostream>\n#include <string>\nint main() { std::string s; std::getline(std::cin, s); std::cerr << std::string(1000000, 'w'); std::cout << s.size() + 7 - 1000000 << std::endl; }\n",
        ),
        (
            Java,
            "class Main { public static void main(String[] a) throws Exception { int n = System.in.readAllBytes().length; System.err.print(\"w\".repeat(1000000)); System.out.println(n + 7 - 1000000); } }",
        ),
        (
            JavaScript,
            "const n = require('fs').readFileSync(0).length; process.stderr.write('w'.repeat(1000000)); console.log(n + 7 - 1000000)",
        ),
        (
            Go,
            "package main\nimport (\"fmt\"; \"io\"; \"os\"; \"strings\")\nfunc main() { b, _ := io.ReadAll(os.Stdin); fmt.Fprint(os.Stderr, strings.Repeat(\"w\", 1000000)); fmt.Println(len(b) + 7 - 1000000) }\n",
        ),
        (
            Rust,
            "use std::io::Read;\nfn main() { let mut s = String::new(); std::io::stdin().read_to_string(&mut s).unwrap(); eprint!(\"{}\", \"w\".repeat(1000000)); println!(\"{}\", s.len() as i64 + 7 - 1000000); }",
        ),
    ];
    each(programs, &"x".repeat(1_000_000), "7", Verdict::Passed).await;
}

#[tokio::test]
async fn e28_programs_that_read_nothing_are_judged_by_their_output() {
    each(&IO_HELLO[1..], &"1 ".repeat(1_000_000), "hi", Verdict::Passed).await;
}

#[tokio::test]
async fn e32_time_of_all_threads_counts() {
    let sandbox = sandbox(Cpp).await;
    let threads = "#include <thread>\n#include <vector>\nint main() { std::vector<std::thread> t; for (int k = 0; k < 4; k++) t.emplace_back([] { for (volatile int n = 0;; n = n + 1) { } }); for (auto& one : t) one.join(); }\n";
    let judgement = judge(&sandbox, &io(Cpp, threads, "", "")).await;
    assert_eq!(judgement.verdict, Verdict::TimeoutCpu, "{judgement:#?}");
    assert!(judgement.cpu_ms >= 2_000 && judgement.cpu_ms < 8_000, "{judgement:#?}");
}

#[tokio::test]
async fn e34_hello_needs_no_more_than_256_mib_in_any_language() {
    for (language, program) in IO_HELLO {
        let sandbox = sandbox(*language).await;
        let mut hello = io(*language, program, "", "hi");
        hello.limits.memory_bytes = 256 << 20;
        let judgement = judge(&sandbox, &hello).await;
        assert_eq!(judgement.verdict, Verdict::Passed, "{judgement:#?}");
    }
}

#[tokio::test]
async fn e35_running_out_of_memory_is_called_so_in_every_language() {
    for (language, program) in [
        (Python, "x = bytearray(600 * 1024 * 1024); print(len(x))\n"),
        (
            Cpp,
            "#include <vector>\n#include <cstdio>\nint main() { std::vector<char> v(600u << 20, 1); printf(\"%zu\\n\", v.size()); }\n",
        ),
        (
            Java,
            "class Main { public static void main(String[] a) { byte[][] b = new byte[6][]; for (int k = 0; k < 6; k++) { b[k] = new byte[100 << 20]; java.util.Arrays.fill(b[k], (byte) 1); } System.out.println(6 * b[5].length); } }",
        ),
        (
            JavaScript,
            "const all = []; for (let k = 0; k < 6; k++) all.push(Buffer.alloc(100 << 20, 1)); console.log(all.length * (100 << 20))",
        ),
        (
            Go,
            "package main\nimport \"fmt\"\nfunc main() { b := make([]byte, 600<<20); for k := range b { b[k] = 1 }; fmt.Println(len(b)) }\n",
        ),
        (Rust, "fn main() { let v = vec![1u8; 600 << 20]; println!(\"{}\", v.len()); }"),
    ] {
        let sandbox = sandbox(language).await;
        let mut greedy = io(language, program, "", "629145600");
        greedy.limits.memory_bytes = 400 << 20;
        let judgement = judge(&sandbox, &greedy).await;
        assert_eq!(judgement.verdict, Verdict::Memory, "{judgement:#?}");
        // What a role that repairs the program reads.
        assert_eq!(judgement.tests[0].verdict.name(), "memory");
        assert!(judgement.tests[0].message.as_deref().is_some_and(|words| !words.is_empty()), "{judgement:#?}");
    }
    for one in [
        (
            Cpp,
            "#include <new>\n#include <cstdio>\nint main() { try { ::operator delete(::operator new(600u << 20)); puts(\"had\"); } catch (std::bad_alloc&) { puts(\"caught\"); } }\n",
        ),
        (
            Java,
            "class Main { public static void main(String[] a) { try { byte[][] b = new byte[9][]; for (int k = 0; k < 9; k++) b[k] = new byte[100 << 20]; System.out.println(b.length); } catch (OutOfMemoryError e) { System.out.println(\"caught\"); } } }",
        ),
    ] {
        let sandbox = sandbox(one.0).await;
        assert_eq!(outcome(&sandbox, one, "", "caught").await, Verdict::Passed, "{}", one.1);
    }
}

#[tokio::test]
async fn e36_recursion_has_room_in_go_and_javascript_too() {
    for one in [
        (
            Go,
            "package main\nimport \"fmt\"\nfunc f(n int) int { if n == 0 { return 0 }; return 1 + f(n-1) }\nfunc main() { fmt.Println(f(300000)) }\n",
        ),
        (JavaScript, "const f = (n) => n === 0 ? 0 : 1 + f(n - 1); console.log(f(100000) + 200000)"),
    ] {
        let sandbox = sandbox(one.0).await;
        assert_eq!(outcome(&sandbox, one, "", "300000").await, Verdict::Passed, "{}", one.1);
    }
}

#[tokio::test]
async fn e38_text_is_utf_8_in_every_language() {
    let programs: &[One] = &[
        (Python, "print(input() + ' na\u{ef}ve')\n"),
        (
            Cpp,
            "#include <iostream>\nint main() { std::string s; std::cin >> s; std::cout << s << \" na\u{ef}ve\\n\"; }\n",
        ),
        (
            Java,
            "class Main { public static void main(String[] a) { System.out.println(new java.util.Scanner(System.in).nextLine() + \" na\u{ef}ve\"); } }",
        ),
        (JavaScript, "console.log(require('fs').readFileSync(0, 'utf8').trim() + ' na\u{ef}ve')"),
        (
            Go,
            "package main\nimport \"fmt\"\nfunc main() { var s string; fmt.Scan(&s); fmt.Println(s, \"na\u{ef}ve\") }\n",
        ),
        (
            Rust,
            "fn main() { let mut s = String::new(); std::io::stdin().read_line(&mut s).unwrap(); println!(\"{} na\u{ef}ve\", s.trim()); }",
        ),
    ];
    each(programs, "\u{6570}\n", "\u{6570} na\u{ef}ve", Verdict::Passed).await;
}

#[tokio::test]
async fn e39_nothing_is_left_for_the_next_run_in_any_language() {
    let programs: &[One] = &[
        (
            Cpp,
            "#include <cstdio>\nint main() { FILE* f = fopen(\"hint.txt\", \"r\"); puts(f ? \"seen\" : \"new\"); fputs(\"42\", fopen(\"hint.txt\", \"w\")); fputs(\"1\", fopen(\"/tmp/other\", \"w\")); }\n",
        ),
        (
            Java,
            "import java.nio.file.*; class Main { public static void main(String[] a) throws Exception { System.out.println(Files.exists(Path.of(\"hint.txt\")) ? \"seen\" : \"new\"); Files.writeString(Path.of(\"hint.txt\"), \"42\"); } }",
        ),
        (
            JavaScript,
            "const fs = require('fs'); console.log(fs.existsSync('hint.txt') ? 'seen' : 'new'); fs.writeFileSync('hint.txt', '42')",
        ),
        (
            Go,
            "package main\nimport (\"fmt\"; \"os\")\nfunc main() { if _, e := os.Stat(\"hint.txt\"); e == nil { fmt.Println(\"seen\") } else { fmt.Println(\"new\") }; os.WriteFile(\"hint.txt\", nil, 0600) }\n",
        ),
        (
            Rust,
            "fn main() { println!(\"{}\", if std::path::Path::new(\"hint.txt\").exists() { \"seen\" } else { \"new\" }); std::fs::write(\"hint.txt\", \"42\").unwrap(); }",
        ),
    ];
    for (language, program) in programs {
        let sandbox = sandbox(*language).await;
        let case = IoCase { stdin: String::new(), stdout: "new".to_owned() };
        let mut twice = io(*language, program, "", "");
        twice.tests = Arc::new(TestSuite::Io { cases: vec![case.clone(), case], rule: OutputRule::Tokens });
        assert_eq!(verdicts(&judge(&sandbox, &twice).await), [Verdict::Passed; 2], "{program}");
        // Another execution in the same slot.
        let again = io(*language, program, "other input", "new");
        assert_eq!(judge(&sandbox, &again).await.verdict, Verdict::Passed, "{program}");
    }
}

#[tokio::test]
async fn a37_executed_programs_neither_outlive_nor_wait() {
    let leaving: &[One] = &[
        (Python, "import subprocess\nsubprocess.run(['/bin/sh', '-c', 'sleep 600 & echo hi'])\n"),
        (Cpp, "#include <cstdlib>\nint main() { return std::system(\"sleep 600 & echo hi\"); }\n"),
        (
            Java,
            "class Main { public static void main(String[] a) throws Exception { new ProcessBuilder(\"/bin/sh\", \"-c\", \"sleep 600 & echo hi\").inheritIO().start().waitFor(); } }",
        ),
        (
            JavaScript,
            "require('child_process').spawnSync('/bin/sh', ['-c', 'sleep 600 & echo hi'], { stdio: 'inherit' })",
        ),
        (
            Go,
            "package main\nimport (\"os\"; \"os/exec\")\nfunc main() { c := exec.Command(\"/bin/sh\", \"-c\", \"sleep 600 & echo hi\"); c.Stdout = os.Stdout; c.Run() }\n",
        ),
        (
            Rust,
            "fn main() { std::process::Command::new(\"/bin/sh\").args([\"-c\", \"sleep 600 & echo hi\"]).status().unwrap(); }",
        ),
    ];
    each(leaving, "", "hi", Verdict::Passed).await;
    let reading: &[One] = &[
        (Python, "import sys\nprint(repr(sys.stdin.readline()))\n"),
        (
            Cpp,
            "#include <iostream>\nint main() { std::string s; std::cout << (std::getline(std::cin, s) ? \"line\" : \"''\"); }\n",
        ),
        (
            Java,
            "class Main { public static void main(String[] a) throws Exception { System.out.println(System.in.read() < 0 ? \"''\" : \"line\"); } }",
        ),
        (JavaScript, "console.log(require('fs').readFileSync(0).length ? 'line' : \"''\")"),
        (
            Go,
            "package main\nimport (\"fmt\"; \"os\")\nfunc main() { n, _ := os.Stdin.Read(make([]byte, 9)); if n == 0 { fmt.Println(\"''\") } }\n",
        ),
        (
            Rust,
            "fn main() { let mut s = String::new(); if std::io::stdin().read_line(&mut s).unwrap() == 0 { println!(\"''\"); } }",
        ),
    ];
    each(reading, "", "''", Verdict::Passed).await;
}

#[tokio::test]
async fn a37_output_without_end_is_kept_by_its_head_and_counted() {
    for (language, program) in [
        (Python, "while True: print('y')\n"),
        (Cpp, "#include <cstdio>\nint main() { for (;;) puts(\"y\"); }\n"),
        (Java, "class Main { public static void main(String[] a) { for (;;) System.out.println(\"y\"); } }"),
        (JavaScript, "for (;;) require('fs').writeSync(1, 'y\\n')"),
        (Go, "package main\nimport \"fmt\"\nfunc main() { for { fmt.Println(\"y\") } }\n"),
        (Rust, "fn main() { loop { println!(\"y\"); } }"),
    ] {
        let sandbox = sandbox(language).await;
        let judgement = judge(&sandbox, &io(language, program, "", "hi")).await;
        assert_eq!(judgement.verdict, Verdict::OutputLimit, "{judgement:#?}");
        let stdout = &judgement.stdout;
        assert!(stdout.truncated && stdout.total_bytes >= 1 << 20 && stdout.text.starts_with("y\ny\n"), "{stdout:?}");
        assert!(stdout.text.len() <= (64 << 10) + 100, "{}", stdout.text.len());
    }
}

#[tokio::test]
async fn a37_death_by_a_signal_is_no_success() {
    let programs: &[One] = &[
        (Python, "import os\nprint('hi', flush=True)\nos.kill(os.getpid(), 9)\nos.abort()\n"),
        (Cpp, "#include <csignal>\n#include <unistd.h>\nint main() { write(1, \"hi\\n\", 3); raise(SIGKILL); }\n"),
        (
            Java,
            "class Main { public static void main(String[] a) throws Exception { System.out.println(\"hi\"); new ProcessBuilder(\"/bin/sh\", \"-c\", \"kill -9 $PPID\").start().waitFor(); } }",
        ),
        (JavaScript, "require('fs').writeSync(1, 'hi\\n'); process.kill(process.pid, 'SIGKILL')"),
        (
            Go,
            "package main\nimport (\"fmt\"; \"syscall\")\nfunc main() { fmt.Println(\"hi\"); syscall.Kill(syscall.Getpid(), syscall.SIGKILL); select {} }\n",
        ),
        (Rust, "extern \"C\" { fn raise(n: i32) -> i32; }\nfn main() { println!(\"hi\"); unsafe { raise(9) }; }"),
    ];
    each(programs, "", "hi", Verdict::Crashed).await;
}
