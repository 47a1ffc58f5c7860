//! Texts that attack their compiler: bombs, and what would read or write where it may not. The limits of the compiler are
//! lowered, so that a bomb goes off soon.

use rolecall::domain::Language::{self, Cpp, Go, Java, Rust};
use rolecall::domain::Verdict::{
    self, CompileError, Crashed, FileLimit, Memory, OutputLimit, TimeoutCpu, TimeoutWall, Wrong,
};

use super::{Attack, sandbox, withstand_as};
use crate::languages::io;
use crate::sandbox::judge;

/// Whatever ended the compiler; a bomb that it takes apart is an error of the text.
const BOMB: &[Verdict] = &[CompileError, Crashed, FileLimit, Memory, OutputLimit, TimeoutCpu, TimeoutWall];
const REFUSED: &[Verdict] = &[CompileError];

const CPP: &[Attack] = &[
    ("includes_itself_twice", BOMB, "#include __FILE__\n#include __FILE__\nint main() {}\n"),
    (
        "templates_without_end",
        REFUSED,
        "template <int N> struct A { static const int x = A<N + 1>::x; };\nint main() { return A<0>::x; }\n",
    ),
    (
        "templates_that_double",
        BOMB,
        "template <int N, class T> struct A { typename A<N - 1, A<N, T>>::type a; typename A<N - 1, A<N, T*>>::type b; using type = A; };\ntemplate <class T> struct A<0, T> { using type = int; };\nint main() { A<40, int> a; }\n",
    ),
    (
        "constants_without_end",
        BOMB,
        "constexpr int f() { int n = 0; for (;;) n ^= 1; return n; }\nconstexpr int x = f();\nint main() {}\n",
    ),
    (
        "macros_that_double",
        BOMB,
        "#define A(x) x x x x x x x x x x\n#define B(x) A(A(A(A(x))))\n#define C(x) B(B(B(x)))\nint main() { C(;) }\n",
    ),
    ("a_huge_initialiser", BOMB, "int big[600000000] = {1};\nint main() { return big[5]; }\n"),
    (
        "nests_deeply",
        &[CompileError, Crashed, Memory, TimeoutCpu, Wrong],
        "#define A(x) (((((((((((((((((((((((((((((((((((((((((((((((((x)))))))))))))))))))))))))))))))))))))))))))))))))\n#define B(x) A(A(A(A(A(A(A(A(A(x)))))))))\n#define C(x) B(B(B(B(B(B(B(B(B(x)))))))))\nint main() { return C(C(C(C(0)))); }\n",
    ),
    ("complains_without_end", BOMB, "#define A(x) x x x x x x x x x x\nint main() { A(A(A(A(A(A(undefined;)))))) }\n"),
    ("includes_users", REFUSED, "#include \"/etc/passwd\"\nint main() {}\n"),
    ("includes_a_device", REFUSED, "#include \"/dev/zero\"\nint main() {}\n"),
    ("includes_its_input", REFUSED, "#include \"/dev/stdin\"\nint main() {}\n"),
    ("embeds_users", REFUSED, "__asm__(\".incbin \\\"/etc/passwd\\\"\");\nint main() {}\n"),
    ("embeds_a_device", BOMB, "__asm__(\".incbin \\\"/dev/zero\\\"\");\nint main() {}\n"),
    ("is_no_text", REFUSED, "\u{0}\u{1}\u{2}int main\u{feff}() {}\n"),
    ("names_a_library", REFUSED, "#include \"../../usr/include/../../etc/shadow\"\nint main() {}\n"),
];

const JAVA: &[Attack] = &[
    (
        "constants_that_double",
        BOMB,
        "class Main { static final String A = \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\", B = A+A+A+A+A+A+A+A+A+A, C = B+B+B+B+B+B+B+B+B+B, D = C+C+C+C+C+C+C+C+C+C, E = D+D+D+D+D+D+D+D+D+D, F = E+E+E+E+E+E+E+E+E+E, G = F+F+F+F+F+F+F+F+F+F, H = G+G+G+G+G+G+G+G+G+G, I = H+H+H+H+H+H+H+H+H+H; public static void main(String[] a) { System.out.println(I); } }",
    ),
    (
        "types_that_double",
        BOMB,
        "import java.util.*; class Main { static <T> Map<T, T> f(T t) { return null; } public static void main(String[] a) { var x = f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(1)))))))))))))))))))))))))))))); } }",
    ),
    (
        "lambdas_that_double",
        BOMB,
        "class Main { interface F<A> { A f(A a); } static <T> T g(F<T> f) { return null; } static void g(Runnable r) {} static int g(java.util.function.Supplier<?> s) { return 0; } public static void main(String[] a) { g(() -> g(() -> g(() -> g(() -> g(() -> g(() -> g(() -> g(() -> g(() -> g(() -> g(() -> { })))))))))))); } }",
    ),
    (
        "imports_what_is_not_there",
        REFUSED,
        "import rolecall_0.Judge; class Main { public static void main(String[] a) { } }",
    ),
    ("is_no_text", REFUSED, "class Main \u{0} { \\uuuu0022 }"),
    (
        "opens_packages_of_the_library",
        REFUSED,
        "package java.lang; class Main { public static void main(String[] a) { System.out.println(\"escaped\"); } }",
    ),
    ("is_a_module", &[CompileError, Crashed, Wrong], "module evil { requires java.base; }"),
];

const GO: &[Attack] = &[
    (
        "embeds_users",
        REFUSED,
        "package main\nimport _ \"embed\"\n//go:embed /etc/passwd\nvar text string\nfunc main() { print(text) }\n",
    ),
    ("speaks_c", REFUSED, "package main\n// #include \"/etc/passwd\"\nimport \"C\"\nfunc main() { }\n"),
    (
        "links_by_name",
        &[CompileError, Wrong],
        "package main\nimport _ \"unsafe\"\n//go:linkname exit os.Exit\nfunc exit(n int)\nfunc main() { exit(0) }\n",
    ),
    ("a_huge_array", BOMB, "package main\nvar a [1 << 60]byte\nfunc main() { println(len(a)) }\n"),
    ("a_huge_initialiser", BOMB, "package main\nvar a = [1 << 30]int{1<<30 - 1: 1}\nfunc main() { println(a[5]) }\n"),
    (
        "constants_without_end",
        BOMB,
        "package main\nconst (a = 1 << 500; b = a * a)\nvar s = \"x\" + string(rune(b))\nfunc main() { println(b) }\n",
    ),
    ("types_that_hold_themselves", REFUSED, "package main\ntype T struct { a, b T }\nfunc main() { var t T; _ = t }\n"),
    (
        "types_that_double",
        BOMB,
        "package main\ntype A[T any] struct { n *A[A[T]] }\nfunc f[T any](t T) { f([]T{t}) }\nfunc main() { f(1); var a A[int]; _ = a }\n",
    ),
    ("is_no_text", REFUSED, "package main\nfunc main() { \u{0} }\n"),
    ("imports_what_is_outside", REFUSED, "package main\nimport _ \"../../../etc\"\nfunc main() { }\n"),
];

const RUST: &[Attack] = &[
    ("includes_users", REFUSED, "const T: &str = include_str!(\"/etc/passwd\");\nfn main() { println!(\"{T}\"); }"),
    (
        "includes_a_device",
        BOMB,
        "const T: &[u8] = include_bytes!(\"/dev/zero\");\nfn main() { println!(\"{}\", T.len()); }",
    ),
    (
        "reads_the_environment_of_its_compiler",
        &[CompileError, Wrong],
        "fn main() { for k in [option_env!(\"HOME\"), option_env!(\"USER\"), option_env!(\"CARGO_HOME\"), option_env!(\"ROLECALL_CACHE\")] { if k.is_some_and(|k| k != \"/tmp\") { println!(\"escaped\"); } } }",
    ),
    (
        "constants_without_end",
        BOMB,
        "const X: u64 = { let mut n = 0u64; loop { n ^= 1; if n == 9 { break n; } } };\nfn main() { println!(\"{X}\"); }",
    ),
    (
        "macros_without_end",
        BOMB,
        "#![recursion_limit = \"10000000\"]\nmacro_rules! m { ($($t:tt)*) => { m!($($t)* $($t)* x) } }\nfn main() { m!(x); }",
    ),
    (
        "types_without_end",
        BOMB,
        "#![recursion_limit = \"100000\"]\nstruct W<T>(T);\nfn f<T>(t: T, n: u32) { if n > 0 { f(W(t), n - 1) } }\nfn main() { f((), 9) }",
    ),
    (
        "a_huge_array",
        BOMB,
        "static A: [u64; 1 << 28] = [7; 1 << 28];\nfn main() { println!(\"{}\", A[std::env::args().count()]); }",
    ),
    (
        "nests_deeply",
        BOMB,
        "macro_rules! n { ($x:expr) => { (((((((((($x)))))))))) } }\nmacro_rules! m { ($x:expr) => { n!(n!(n!(n!(n!(n!(n!(n!(n!(n!($x)))))))))) } }\nfn main() { let _ = m!(m!(m!(m!(m!(m!(m!(m!(m!(m!(m!(m!(m!(1))))))))))))); }",
    ),
    (
        "is_a_macro_of_the_compiler",
        REFUSED,
        "#![crate_type = \"proc-macro\"]\nextern crate proc_macro;\n#[proc_macro]\npub fn m(_: proc_macro::TokenStream) -> proc_macro::TokenStream { loop {} }\nfn main() {}",
    ),
    (
        "links_against_what_is_outside",
        REFUSED,
        "#[link(name = \"/root/evil\")]\nextern \"C\" { fn evil(); }\nfn main() { unsafe { evil() } }",
    ),
    ("assembles_a_device", BOMB, "std::arch::global_asm!(\".incbin \\\"/dev/zero\\\"\");\nfn main() {}"),
];

async fn withstand_compiling(language: Language, attacks: &[Attack]) {
    withstand_as(language, attacks, |program| {
        let mut job = io(language, program, "", "escaped\n");
        job.limits.compile_cpu_ms = 3_000;
        job.limits.compile_memory_bytes = 1 << 30;
        job
    })
    .await;
}

#[tokio::test]
async fn the_cpp_compiler_is_held() {
    withstand_compiling(Cpp, CPP).await;
}

#[tokio::test]
async fn the_java_compiler_is_held() {
    withstand_compiling(Java, JAVA).await;
}

#[tokio::test]
async fn the_go_compiler_is_held() {
    withstand_compiling(Go, GO).await;
}

#[tokio::test]
async fn the_rust_compiler_is_held() {
    withstand_compiling(Rust, RUST).await;
}

/// Diagnostics name neither folders of this machine nor its users.
#[tokio::test]
async fn diagnostics_tell_nothing_of_the_machine() {
    let home = std::env::var("HOME").unwrap();
    for (language, program) in [
        (Cpp, "#include <bits/stdc++.h>\nint main() { std::sort(1, 2); std::vector<int&> v; }\n"),
        (Java, "class Main { public static void main(String[] a) { java.util.List<int> l = \"x\"; } }"),
        (Go, "package main\nimport \"nothing\"\nfunc main() { undefined() }\n"),
        (Rust, "fn main() { let x: Vec<i32> = \"x\".parse::<std::sync::Mutex<i32>>(); }"),
    ] {
        let sandbox = sandbox(language).await;
        let judgement = judge(&sandbox, &io(language, program, "", "")).await;
        assert_eq!(judgement.verdict, CompileError, "{judgement:#?}");
        let said = judgement.compile_output.unwrap();
        assert!(!said.contains(&home) && !said.contains(env!("CARGO_MANIFEST_DIR")), "{said}");
    }
}
