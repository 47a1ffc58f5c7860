//! Programs in C++ that are linked with their tests and want to be called right.

use rolecall::domain::Language::Cpp;
use rolecall::domain::Verdict::{
    CompileError, Crashed, Forbidden, Memory, OutputLimit, ProcessLimit, TimeoutCpu, UnsupportedReturn, Wrong,
};

use super::{Attack, withstand_tested};

const TESTS: &str =
    "#include <assert.h>\nint main() {\n    assert(f(4) == 8);\n    assert(f(1) == 2);\n    assert(f(7) == 14);\n}\n";

const ATTACKS: &[Attack] = &[
    ("leaves_quickly", &[Crashed], "#include <cstdlib>\nint f(int) { std::quick_exit(0); }\n"),
    (
        "leaves_in_a_static_destructor",
        &[Wrong],
        "#include <unistd.h>\nstruct E { ~E() { _exit(0); } } e;\nint f(int) { return 0; }\n",
    ),
    (
        "leaves_in_a_constructor_before_all_others",
        &[Crashed, Forbidden],
        "#include <unistd.h>\n__attribute__((constructor(101))) void early() { _exit(0); }\nint f(int) { return 0; }\n",
    ),
    (
        "leaves_in_a_signal_handler",
        &[Crashed],
        "#include <csignal>\n#include <unistd.h>\nint f(int n) { signal(SIGSEGV, [](int) { _exit(0); }); raise(SIGSEGV); return n; }\n",
    ),
    (
        "leaves_from_another_thread",
        &[Crashed, Wrong],
        "#include <thread>\n#include <unistd.h>\nint f(int) { std::thread([] { _exit(0); }).join(); return 0; }\n",
    ),
    (
        "terminates_with_a_handler",
        &[Crashed],
        "#include <exception>\n#include <unistd.h>\nint f(int) noexcept { std::set_terminate([] { _exit(0); }); throw 1; }\n",
    ),
    (
        "throws_what_cannot_be_caught_by_type",
        &[Crashed],
        "struct E { E() {} E(const E&) { throw 1; } };\nint f(int) { throw E(); }\n",
    ),
    (
        "throws_a_huge_message",
        &[Crashed],
        "#include <stdexcept>\nint f(int) { throw std::runtime_error(std::string(50000000, 'x')); }\n",
    ),
    (
        "throws_a_message_that_is_no_text",
        &[Crashed],
        "#include <stdexcept>\nstruct E : std::exception { const char* what() const noexcept override { return \"\\xff\\xfe\\x80\"; } };\nint f(int) { throw E(); }\n",
    ),
    (
        "replaces_itself_by_another_program",
        &[Crashed],
        "#include <unistd.h>\nint f(int) { execl(\"/bin/true\", \"true\", (char*)0); return 0; }\n",
    ),
    ("forks_and_lets_both_answer", &[Forbidden, Wrong], "#include <unistd.h>\nint f(int) { fork(); return 0; }\n"),
    (
        "unrolls_the_stack",
        &[Crashed, Wrong, Forbidden],
        "#include <csetjmp>\nstd::jmp_buf b; int n;\nint f(int) { if (n++) std::longjmp(b, 1); setjmp(b); return 0; }\n",
    ),
    (
        "prints_results",
        &[Wrong],
        "#include <cstdio>\nint f(int n) { puts(\"passed 0\\npassed 1\\npassed 2\\ndone 3\"); return 0; }\n",
    ),
    (
        "closes_the_channel",
        &[Crashed],
        "#include <unistd.h>\nint f(int n) { for (int d = 0; d < 256; d++) close(d); return 0; }\n",
    ),
    (
        "puts_nothing_in_place_of_the_channel",
        &[Crashed],
        "#include <fcntl.h>\n#include <unistd.h>\nint f(int n) { int d = open(\"/dev/null\", O_RDWR); dup2(d, 3); return 0; }\n",
    ),
    (
        "reads_the_channel",
        &[Wrong, Crashed, TimeoutCpu],
        "#include <sys/socket.h>\nint f(int n) { char b[999]; recv(3, b, sizeof b, MSG_DONTWAIT); return 0; }\n",
    ),
    (
        "floods_the_channel",
        &[Forbidden],
        "#include <unistd.h>\nchar b[1 << 20];\nint f(int n) { for (;;) write(3, b, sizeof b); }\n",
    ),
    ("tampers_with_what_the_harness_says", &[Forbidden], include_str!("programs/interposer.cpp")),
    (
        "compares_by_turns",
        &[Forbidden, Wrong, UnsupportedReturn],
        "#include <optional>\nenum E { A };\nbool fresh;\nbool operator==(E, int) { bool was = fresh; fresh = false; return was; }\nstd::optional<E> f(int) { fresh = true; return A; }\n",
    ),
    (
        "defines_with_a_spliced_word",
        &[Wrong, CompileError],
        "int f(int n) { return 0; }\n#def\\\nine if(x) if (0)\n#def\\\nine int long\n",
    ),
    (
        "defines_what_the_calls_are_made_of",
        &[Wrong, CompileError, UnsupportedReturn],
        "#include <type_traits>\nint f(int n) { return 0; }\n#define begin(x) x\n#define rolecall\n#define try\n#define catch(x) if (0)\n",
    ),
    (
        "takes_the_names_of_the_harness",
        &[Wrong, CompileError],
        "namespace rolecall { inline void passed(int) {} }\nint reports; const char* nonce; const char* mask; long canary;\nvoid passed(int) {} void say(const char*, long) {}\nint f(int n) { return 0; }\n",
    ),
    (
        "has_a_type_that_turns_into_anything",
        &[UnsupportedReturn, CompileError],
        "struct E { template <class T> operator T() const { return T(8); } };\nE f(int) { return {}; }\n",
    ),
    (
        "has_a_reference_that_changes",
        &[Wrong, UnsupportedReturn, CompileError],
        "#include <thread>\nvolatile int shared;\nvolatile int& f(int) { static std::thread t([] { for (;;) shared = shared + 1; }); t.detach(); return shared; }\n",
    ),
    ("is_a_macro", &[CompileError, Wrong], "#define f(x) 8\n"),
    (
        "is_a_function_for_every_argument",
        &[Wrong],
        "template <class T> int f(T) { return 0; }\nint f(long) { return 8; }\n",
    ),
    ("includes_its_tests", &[CompileError, OutputLimit], "#include \"unit.cpp\"\nint f(int) { return 0; }\n"),
    (
        "specialises_what_compares",
        &[Wrong, CompileError, Forbidden],
        "#include <functional>\nnamespace std { template <> struct equal_to<int> { bool operator()(int, int) const { return true; } }; }\nint f(int) { return 0; }\n",
    ),
    (
        "replaces_allocation",
        &[Wrong, Crashed],
        "#include <new>\n#include <cstdlib>\n#include <unistd.h>\nvoid* operator new(std::size_t n) { static int k; if (k++ > 3) _exit(0); return malloc(n); }\nvoid operator delete(void*) noexcept { _exit(0); }\nint f(int) { return 0; }\n",
    ),
    ("forks_without_end", &[ProcessLimit], "#include <unistd.h>\nint f(int) { for (;;) fork(); }\n"),
    (
        "allocates_without_end",
        &[Memory],
        "#include <vector>\nint f(int) { std::vector<std::vector<int>> v; for (;;) v.emplace_back(1 << 20, 1); }\n",
    ),
    (
        "prints_without_end",
        &[OutputLimit],
        "#include <iostream>\nint f(int) { for (;;) std::cerr << \"xxxxxxxxxxxxxxxx\"; }\n",
    ),
    ("never_ends", &[TimeoutCpu], "int f(int) { for (volatile int n = 0;;) n = n + 1; }\n"),
];

#[tokio::test]
async fn cpp_programs_that_are_wrong_are_never_called_right() {
    withstand_tested(
        Cpp,
        TESTS,
        "int f(int n) { return 2 * n; }
",
        ATTACKS,
    )
    .await;
}

/// Equality of library types that the program replaces: known by its turns from one call of `f` to the next.
#[tokio::test]
async fn replaced_comparisons_of_cpp_prove_nothing() {
    let tests = "#include <string>\n#include <vector>\nint main() {\n    assert((f(1) == std::vector<std::string>{\"one\"}));\n    assert((f(2) == std::vector<std::string>{\"two\"}));\n}\n";
    let attacks: &[Attack] = &[
        (
            "by_an_operator_in_std",
            &[Forbidden, Wrong],
            "#include <string>\n#include <vector>\nusing V = std::vector<std::string>;\nint fresh;\nnamespace std { bool operator==(const V&, const V&) { return fresh-- > 0; } }\nV f(int) { fresh = 1; return {\"no\"}; }\n",
        ),
        (
            "by_memcmp",
            &[Forbidden, Wrong],
            "#include <string>\n#include <vector>\nusing V = std::vector<std::string>;\nint fresh;\nextern \"C\" int memcmp(const void*, const void*, unsigned long) { return fresh-- > 0 ? 0 : 1; }\nV f(int) { fresh = 1; return {\"no!\"}; }\n",
        ),
    ];
    withstand_tested(Cpp, tests, "#include <string>\n#include <vector>\nstd::vector<std::string> f(int n) { return {n == 1 ? \"one\" : \"two\"}; }\n", attacks).await;
}
