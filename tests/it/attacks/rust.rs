//! Programs in Rust, besides those of `languages`.

use rolecall::domain::Language::Rust;
use rolecall::domain::Verdict::{
    CompileError, Crashed, FileLimit, Forbidden, Memory, OutputLimit, ProcessLimit, TimeoutCpu, UnsupportedReturn,
    Wrong,
};

use super::{Attack, withstand, withstand_tested};

const WHOLE: &[Attack] = &[
    (
        "starts_threads_without_end",
        &[ProcessLimit],
        "fn main() { loop { std::thread::spawn(|| std::thread::sleep(std::time::Duration::from_secs(600))); } }",
    ),
    (
        "starts_processes_without_end",
        &[Wrong, ProcessLimit],
        "fn main() { for _ in 0..400 { let _ = std::process::Command::new(\"/bin/sleep\").arg(\"600\").spawn(); } }",
    ),
    ("allocates_without_end", &[Memory], "fn main() { let mut v = Vec::new(); loop { v.push(vec![1u8; 1 << 20]); } }"),
    ("prints_without_end", &[OutputLimit], "fn main() { loop { println!(\"yyyyyyyyyyyyyyyy\"); } }"),
    (
        "writes_a_huge_file",
        &[FileLimit],
        "fn main() { std::fs::write(\"/tmp/x\", vec![1u8; 64 << 20]).unwrap(); println!(\"escaped\"); }",
    ),
    (
        "recurses_without_end",
        &[Crashed, Memory],
        "fn f(n: u64) -> u64 { let b = [n; 99]; f(n + 1) + std::hint::black_box(b)[7] }\nfn main() { println!(\"{}\", f(0)); }",
    ),
    ("never_ends", &[TimeoutCpu], "fn main() { loop { std::hint::black_box(1); } }"),
    (
        "opens_connections",
        &[Wrong],
        "use std::net::*;\nfn main() { if TcpStream::connect(\"127.0.0.1:22\").is_ok() || TcpListener::bind(\"127.0.0.1:0\").is_ok() || UdpSocket::bind(\"0.0.0.0:0\").is_ok() || \"example.org:80\".to_socket_addrs().is_ok() { println!(\"escaped\"); } }",
    ),
    (
        "reads_and_links_what_is_outside",
        &[Wrong],
        "use std::{fs, os::unix::fs::symlink};\nfn main() { for p in [\"/etc/passwd\", \"/proc/self/mem\", \"/proc/1/environ\", \"/root/.bashrc\", \"/dev/fd/3\", \"../../etc/shadow\"] { let _ = fs::remove_file(\"l\"); let _ = symlink(p, \"l\"); if fs::read(\"l\").is_ok() { println!(\"escaped\"); } } if fs::hard_link(\"/usr/bin/env\", \"h\").is_ok() || fs::write(\"/usr/x\", \"\").is_ok() { println!(\"escaped\"); } }",
    ),
    (
        "aborts_in_a_destructor",
        &[Crashed],
        "struct D;\nimpl Drop for D { fn drop(&mut self) { std::process::abort(); } }\nfn main() { let _d = D; println!(\"escaped\"); }",
    ),
];

const TESTS: &str = "#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn t() {\n        assert_eq!(f(4), 8);\n        assert_eq!(f(1), 2);\n    }\n}\n";

const FORGING: &[Attack] = &[
    (
        "leaves_in_a_destructor",
        &[Crashed],
        "struct D;\nimpl Drop for D { fn drop(&mut self) { std::process::exit(0); } }\nfn f(_: i32) -> i32 { let _d = D; panic!() }",
    ),
    (
        "leaves_in_a_thread_s_last_words",
        &[Crashed, Wrong],
        "struct D;\nimpl Drop for D { fn drop(&mut self) { std::process::exit(0); } }\nthread_local!(static X: D = D);\nfn f(_: i32) -> i32 { X.with(|_| ()); std::thread::spawn(|| X.with(|_| ())).join().unwrap(); 0 }",
    ),
    (
        "leaves_before_main",
        &[Crashed, CompileError],
        "#[used]\n#[link_section = \".init_array\"]\nstatic EARLY: extern \"C\" fn() = early;\nextern \"C\" fn early() { std::process::exit(0) }\nfn f(_: i32) -> i32 { 0 }",
    ),
    (
        "panics_with_what_panics_when_dropped",
        &[Crashed],
        "struct D;\nimpl Drop for D { fn drop(&mut self) { panic!() } }\nfn f(_: i32) -> i32 { std::panic::panic_any(D) }",
    ),
    (
        "panics_with_a_huge_message",
        &[Crashed, OutputLimit],
        "fn f(_: i32) -> i32 { panic!(\"{}\", \"x\".repeat(50_000_000)) }",
    ),
    (
        "swallows_panics",
        &[Wrong],
        "fn f(_: i32) -> i32 { std::panic::set_hook(Box::new(|_| ())); std::panic::catch_unwind(|| panic!()).unwrap_or(0) }",
    ),
    (
        "shadows_macros_and_names",
        &[Wrong, CompileError],
        "macro_rules! assert_eq { ($($t:tt)*) => {} }\nmacro_rules! assert { ($($t:tt)*) => {} }\nmacro_rules! panic { ($($t:tt)*) => { loop {} } }\nmacro_rules! println { ($($t:tt)*) => {} }\nmod std { pub mod panic { pub fn catch_unwind() {} } }\nmod core {}\nstruct Option;\nstruct Vec;\ntrait PartialEq {}\nfn Some(_: i32) {}\nfn f(_: i32) -> i32 { 0 }",
    ),
    (
        "has_methods_for_every_type",
        &[Wrong, CompileError],
        "pub trait T { fn rolecall_text(&self) -> ::std::option::Option<String> { None } fn rolecall_against(&self, _: bool, _: i32) -> bool { false } fn eq(&self, _: &Self) -> bool { true } }\nimpl<X: ?Sized> T for X {}\nfn f(_: i32) -> i32 { 0 }",
    ),
    (
        "derefs_to_the_right_value",
        &[UnsupportedReturn, CompileError],
        "#[derive(Debug)]\npub struct E(i32);\nimpl PartialEq<i32> for E { fn eq(&self, n: &i32) -> bool { unsafe { static mut T: bool = false; T = !T; T || *n == 0 } } }\nfn f(_: i32) -> E { E(0) }",
    ),
    ("includes_its_tests", &[CompileError], "mod again { include!(\"program.rs\"); }\nfn f(_: i32) -> i32 { 0 }"),
    (
        "includes_the_channel",
        &[CompileError],
        "const C: &str = include_str!(\"/dev/fd/3\");\nfn f(_: i32) -> i32 { 0 }",
    ),
    (
        "writes_to_every_descriptor",
        &[Forbidden],
        "extern \"C\" { fn write(d: i32, p: *const u8, n: usize) -> isize; }\nfn f(_: i32) -> i32 { for d in 3..99 { unsafe { write(d, b\"passed 0\\n\".as_ptr(), 9) }; } 0 }",
    ),
    (
        "closes_the_channel",
        &[Crashed],
        "extern \"C\" { fn close(d: i32) -> i32; }\nfn f(_: i32) -> i32 { for d in 0..99 { unsafe { close(d) }; } 0 }",
    ),
    ("tampers_with_what_the_harness_says", &[Forbidden, Crashed], include_str!("programs/interposer.rs.txt")),
    (
        "replaces_the_memory_functions",
        &[Wrong, CompileError, Crashed, Forbidden],
        "#[no_mangle]\npub extern \"C\" fn bcmp(_: *const u8, _: *const u8, _: usize) -> i32 { 0 }\n#[no_mangle]\npub extern \"C\" fn exit(_: i32) -> ! { loop {} }\nfn f(_: i32) -> i32 { 0 }",
    ),
    (
        "allocates_without_end",
        &[Memory],
        "fn f(_: i32) -> i32 { let mut v = Vec::new(); loop { v.push(vec![1u8; 1 << 20]); } }",
    ),
    ("never_ends", &[TimeoutCpu], "fn f(_: i32) -> i32 { loop { std::hint::black_box(1); } }"),
];

#[tokio::test]
async fn rust_programs_are_held() {
    withstand(Rust, WHOLE).await;
}

#[tokio::test]
async fn rust_programs_that_are_wrong_are_never_called_right() {
    withstand_tested(Rust, TESTS, "fn f(n: i32) -> i32 { 2 * n }", FORGING).await;
}

/// Equality of texts that the program replaces: known by its turns from one call of `f` to the next.
#[tokio::test]
async fn replaced_comparisons_of_rust_prove_nothing() {
    let tests = "#[test]\nfn t() {\n    assert_eq!(f(1), \"one\");\n    assert_eq!(f(2), \"two\");\n}\n";
    let right = "fn f(n: i32) -> String { if n == 1 { \"one\" } else { \"two\" }.to_string() }";
    let attacks: &[Attack] = &[("by_turns", &[Forbidden, Wrong], include_str!("programs/turns.rs.txt"))];
    withstand_tested(Rust, tests, right, attacks).await;
}
