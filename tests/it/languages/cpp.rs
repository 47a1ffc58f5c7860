use rolecall::domain::{Language::Cpp, Protocol, Verdict};

use super::{io, sandbox, tested};
use crate::sandbox::{assert_at_rest, judge, verdicts};

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
    let sandbox = sandbox(Cpp).await;
    let program = "#include <stdexcept>\n#include <cstdlib>\nint f(int n) {\n    if (n == 2) throw std::runtime_error(\"two\");\n    if (n == 4) std::exit(0);\n    return n == 3 ? 9 : n;\n}\n";
    let tests = "#include <assert.h>\nint main() {\n    assert(f(1) == 1);\n    assert(f(2) == 2);\n    assert(f(3) == 3);\n    assert(f(4) == 4);\n    assert(f(5) == 5);\n}\n";
    let judgement = judge(&sandbox, &tested(Cpp, program, "f", tests)).await;
    let expected = [Verdict::Passed, Verdict::Crashed, Verdict::Wrong, Verdict::Crashed, Verdict::Passed];
    assert_eq!(verdicts(&judgement), expected, "{judgement:#?}");
    assert_eq!(judgement.tests[2].expected.as_deref(), Some("3"));
    assert_eq!(judgement.tests[2].actual.as_deref(), Some("9"));
    assert_eq!(judgement.protocol, Protocol::InProcess);
    assert_at_rest().await;
}
