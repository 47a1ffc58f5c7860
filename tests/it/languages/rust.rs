use rolecall::domain::{Language::Rust, Protocol, Verdict};

use super::{io, own_verdicts, sandbox, surprises, tested};
use crate::sandbox::{assert_at_rest, judge};

#[tokio::test]
async fn a_rust_program_reads_and_prints() {
    let sandbox = sandbox(Rust).await;
    let program = "fn main() {\n    let mut s = String::new();\n    std::io::stdin().read_line(&mut s).unwrap();\n    println!(\"{}\", s.trim().parse::<i64>().unwrap() * 2);\n}\n";
    let judgement = judge(&sandbox, &io(Rust, program, "21\n", "42\n")).await;
    assert_eq!(judgement.verdict, Verdict::Passed, "{judgement:#?}");
    assert_eq!(judgement.protocol, Protocol::Split);
    assert_at_rest().await;
}

#[tokio::test]
async fn each_assertion_of_a_rust_test_has_its_own_verdict() {
    let program = "fn f(n: i32) -> i32 {\n    if n == 2 { panic!(\"two\"); }\n    if n == 4 { std::process::exit(0); }\n    if n == 3 { 9 } else { n }\n}\n";
    let tests = "#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn one() {\n        assert_eq!(f(1), 1);\n        assert!(f(2) == 2);\n        assert_eq!(f(3), 3, \"three\");\n        assert_eq!(f(4), 4);\n    }\n    #[test]\n    fn two() {\n        assert_ne!(f(5), 6);\n    }\n}\n";
    let judgement = own_verdicts(Rust, program, "f", tests).await;
    assert_eq!(judgement.tests[1].message.as_deref(), Some("panicked: two (line 2 of the program)"));
    assert_eq!(judgement.suspicious, ["line 3: std::process::exit(0)"]);
}

#[tokio::test]
async fn rust_programs_cannot_forge_their_verdicts() {
    let tests = "#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn t() {\n        assert_eq!(f(4), 8);\n        assert_eq!(f(1), 2);\n    }\n}\n";
    let cases = [
        (Verdict::Crashed, "fn f(n: i32) -> i32 { std::process::exit(0) }"),
        (Verdict::Crashed, "fn f(n: i32) -> i32 { if n == 1 { std::process::exit(0) } 2 * n }"),
        (
            Verdict::Crashed,
            "fn f(n: i32) -> i32 { std::panic::set_hook(Box::new(|_| std::process::exit(0))); panic!() }",
        ),
        (Verdict::Crashed, "fn f(n: i32) -> i32 { i32::MAX + n }"),
        (Verdict::Wrong, "macro_rules! assert_eq { ($($t:tt)*) => {} }\nfn f(n: i32) -> i32 { 0 }"),
        (
            Verdict::Wrong,
            "#[no_mangle] pub extern \"C\" fn write(_: i32, _: *const u8, n: usize) -> isize { n as isize }\nfn f(n: i32) -> i32 { 0 }",
        ),
        (
            Verdict::Forbidden,
            "use std::io::Write; use std::os::fd::FromRawFd;\nfn f(n: i32) -> i32 { for d in 3..9 { let mut file = unsafe { std::fs::File::from_raw_fd(d) }; \
             let _ = file.write_all(b\"passed 0\\n\"); std::mem::forget(file); } 0 }",
        ),
        (
            Verdict::UnsupportedReturn,
            "#[derive(Debug)] pub struct E; impl PartialEq<i32> for E { fn eq(&self, _: &i32) -> bool { true } }\nfn f(n: i32) -> E { E }",
        ),
        (Verdict::CompileError, "fn f(n: i32) -> i32 { 2 * n }\n#[cfg(any())]"),
        (Verdict::CompileError, "fn f(n: i32) -> i32 {"),
        (Verdict::CompileError, "#[no_mangle] pub extern \"C\" fn main() -> i32 { 0 }\nfn f(n: i32) -> i32 { 2 * n }"),
        (
            Verdict::Passed,
            "#![forbid(unsafe_code)]\n#![deny(warnings)]\nfn main() { println!(\"{}\", f(3)); }\nfn f(n: i32) -> i32 { 2 * n }",
        ),
    ];
    let found = surprises(Rust, tests, "fn f(n: i32) -> i32 { 2 * n }", &cases).await;
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[tokio::test]
async fn macros_and_types_of_rust_programs_decide_nothing() {
    let tests = "use super::*;\n#[test]\nfn t() {\n    assert_eq!(f(vec![1]), vec![format!(\"{}\", 1)]);\n}\n";
    let cases = [
        (
            Verdict::Wrong,
            "macro_rules! vec { ($($t:tt)*) => { Vec::new() } }\nfn f(n: Vec<i32>) -> Vec<String> { Vec::new() }",
        ),
        (
            Verdict::Wrong,
            "macro_rules! format { ($($t:tt)*) => { String::new() } }\nfn f(n: Vec<i32>) -> Vec<String> { vec![String::new()] }",
        ),
        (
            Verdict::UnsupportedReturn,
            "#[derive(Debug)] pub struct E; impl PartialEq<String> for E { fn eq(&self, _: &String) -> bool { true } }\nfn f(n: Vec<i32>) -> Vec<E> { vec![E] }",
        ),
    ];
    let honest = "fn f(n: Vec<i32>) -> Vec<String> { n.into_iter().map(|n| n.to_string()).collect() }";
    let found = surprises(Rust, tests, honest, &cases).await;
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[tokio::test]
async fn e36_recursion_in_rust_may_go_as_deep_as_memory_allows() {
    let sandbox = sandbox(Rust).await;
    let program = "fn f(n: u64) -> u64 { if n == 0 { 0 } else { 1 + f(n - 1) } }\n";
    let judgement =
        judge(&sandbox, &tested(Rust, program, "f", "#[test] fn t() { assert_eq!(f(200000), 200000); }\n")).await;
    assert_eq!(judgement.verdict, Verdict::Passed, "{judgement:#?}");
}
