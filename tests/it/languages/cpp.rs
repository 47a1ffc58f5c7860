use rolecall::domain::{Language::Cpp, Protocol, Verdict};

use super::{io, own_verdicts, sandbox, surprises, tested};
use crate::sandbox::{assert_at_rest, judge};

#[tokio::test]
async fn a_cpp_program_reads_and_prints() {
    let sandbox = sandbox(Cpp).await;
    let program = "#include <iostream>\nint main() { int n; std::cin >> n; std::cout << n * 2 << std::endl; }\n";
    let judgement = judge(&sandbox, &io(Cpp, program, "21\n", "42\n")).await;
    assert_eq!(judgement.verdict, Verdict::Passed, "{judgement:#?}");
    assert_eq!(judgement.protocol, Protocol::Split);
    assert_at_rest().await;
}

#[tokio::test]
async fn each_assertion_of_a_cpp_test_has_its_own_verdict() {
    let program = "#include <stdexcept>\n#include <cstdlib>\nint f(int n) {\n    if (n == 2) throw std::runtime_error(\"two\");\n    if (n == 4) std::exit(0);\n    return n == 3 ? 9 : n;\n}\n";
    let tests = "#include <assert.h>\nint main() {\n    assert(f(1) == 1);\n    assert(f(2) == 2);\n    assert(f(3) == 3);\n    assert(f(4) == 4);\n    assert(f(5) == 5);\n}\n";
    own_verdicts(Cpp, program, "f", tests).await;
}

/// Programs of `f`, which should double its argument, against `f(4) == 8` and `f(1) == 2`.
async fn none_surprises(cases: &[(Verdict, &str)]) {
    let tests = "#undef NDEBUG\n#include <assert.h>\nint main() {\n    assert(f(4) == 8);\n    assert(f(1) == 2);\n}\n";
    let found = surprises(Cpp, tests, "int f(int n) { return 2 * n; }\n", cases).await;
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[tokio::test]
async fn e04_assertions_cannot_be_switched_off_by_the_program() {
    none_surprises(&[
        (Verdict::Wrong, "#define NDEBUG\nint f(int n) { return 0; }\n"),
        (
            Verdict::Wrong,
            "#include <cassert>\n#undef assert\n#define assert(x) ((void)0)\nint f(int n) { return 0; }\n",
        ),
        (
            Verdict::Wrong,
            "int f(int n) { return 0; }\n#define if(x) if (false)\n#define try if (0)\n#define int long\n",
        ),
    ])
    .await;
}

#[tokio::test]
async fn e36_recursion_may_go_as_deep_as_memory_allows() {
    let sandbox = sandbox(Cpp).await;
    let program = "long f(long n) { volatile char pad[64]; pad[0] = (char)n; return n == 0 ? 0 : 1 + f(n - 1) + (pad[0] - pad[0]); }\n";
    let tests = "int main() { assert(f(300000) == 300000); }\n";
    let judgement = judge(&sandbox, &tested(Cpp, program, "f", tests)).await;
    assert_eq!(judgement.verdict, Verdict::Passed, "{judgement:#?}");
    let whole = format!("#include <cstdio>\n{program}int main() {{ printf(\"%ld\\n\", f(300000)); }}\n");
    let judgement = judge(&sandbox, &io(Cpp, &whole, "", "300000\n")).await;
    assert_eq!(judgement.verdict, Verdict::Passed, "{judgement:#?}");
}

#[tokio::test]
async fn cpp_programs_cannot_forge_their_verdicts() {
    none_surprises(&[
        (Verdict::Crashed, "#include <cstdlib>\nint f(int n) { std::exit(0); }\n"),
        (Verdict::Crashed, "#include <cstdlib>\nint f(int n) { if (n == 1) std::_Exit(0); return 2 * n; }\n"),
        (Verdict::Crashed, "#include <cstdlib>\nstruct Leave { Leave() { std::_Exit(0); } } leave;\nint f(int n) { return 0; }\n"),
        (Verdict::Crashed, "#include <csignal>\nint f(int n) { raise(SIGKILL); return 0; }\n"),
        (Verdict::Wrong, "#include <cstdlib>\nint early = std::atexit([] { std::_Exit(0); });\nint f(int n) { return 0; }\n"),
        (Verdict::UnsupportedReturn, "struct E { bool operator==(int) const { return true; } };\nE f(int n) { return {}; }\n"),
        (Verdict::UnsupportedReturn, "struct E { };\ntemplate <class T> bool operator==(E, T) { return true; }\nE f(int n) { return {}; }\n"),
        (Verdict::Wrong, "enum E { NONE };\nbool operator==(E, int) { return true; }\nE f(int n) { return NONE; }\n"),
        (Verdict::Wrong, "extern \"C\" long write(int, const void*, unsigned long n) { return n; }\nint f(int n) { return 0; }\n"),
        (Verdict::Forbidden, "extern \"C\" long write(int, const void*, unsigned long);\nint f(int n) { for (int d = 3; d < 9; d++) write(d, \"passed 0\\n\", 9); return 0; }\n"),
        (Verdict::CompileError, "#ifndef Q\n#define Q\nnamespace z {\n#include \"unit.cpp\"\n}\n#endif\nint f(int n) { return 0; }\n"),
        (Verdict::CompileError, "int f(int n) { return 2 * n; }\n#if 0\n"),
        (Verdict::CompileError, "int f(int n) { return 2 * n;\n"),
        (Verdict::Passed, "#include <iostream>\nint f(int n) { return 2 * n; }\nint main() { std::cout << f(3); return 0; }\n"),
    ])
    .await;
}

#[tokio::test]
async fn comparisons_that_cpp_programs_replace_do_not_hold() {
    let tests = "#include <string>\n#include <vector>\nint main() {\n    assert(f(1) == std::vector<std::string>{\"one\"});\n}\n";
    let start = "#include <string>\n#include <vector>\nusing strings = std::vector<std::string>;\n";
    let [ours, theirs, memory] = [
        "bool operator==(const strings&, const strings&) { return true; }\nstrings f(int) { return {\"two\"}; }\n",
        "namespace std { bool operator==(const strings&, const strings&) { return true; } }\nstrings f(int) { return {\"two\"}; }\n",
        "extern \"C\" int memcmp(const void*, const void*, unsigned long) { return 0; }\nstrings f(int) { return {\"two\"}; }\n",
    ]
    .map(|rest| format!("{start}{rest}"));
    let honest = format!("{start}strings f(int) {{ return {{\"one\"}}; }}\n");
    // The harness compares texts and containers itself, so what the program puts in their place is never asked.
    let cases = [ours, theirs, memory];
    let cases: Vec<(Verdict, &str)> = cases.iter().map(|program| (Verdict::Wrong, program.as_str())).collect();
    let found = surprises(Cpp, tests, &honest, &cases).await;
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[tokio::test]
async fn cpp_compilers_speak_of_the_program_by_its_own_lines() {
    let sandbox = sandbox(Cpp).await;
    let program = "int f(int n) {\n    return n * \"a\";\n}\n";
    let judgement = judge(&sandbox, &tested(Cpp, program, "f", "int main() { assert(f(1) == 2); }\n")).await;
    assert_eq!(judgement.verdict, Verdict::CompileError);
    let said = judgement.compile_output.unwrap();
    assert!(said.contains("program.cpp:2:"), "{said}");
}
