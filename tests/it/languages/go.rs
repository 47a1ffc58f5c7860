use rolecall::domain::{Language::Go, Protocol, Verdict};

use super::{io, own_verdicts, sandbox, tested};
use crate::sandbox::{assert_at_rest, judge, verdicts};

const TESTS: &str = "func TestF(t *testing.T) {\n    assert := assert.New(t)\n    assert.Equal(1, F(1))\n    assert.Equal(2, F(2))\n    assert.Equal(3, F(3))\n    if got := F(4); got != 4 {\n        t.Errorf(\"got %d\", got)\n    }\n    assert.Equal(5, F(5))\n}\n";

#[tokio::test]
async fn e34_a_go_program_with_or_without_its_package_reads_and_prints() {
    let sandbox = sandbox(Go).await;
    let program = "import \"fmt\"\n\nfunc main() {\n    var n int\n    fmt.Scan(&n)\n    fmt.Println(n * 2)\n}\n";
    for head in ["", "package main\n"] {
        let judgement = judge(&sandbox, &io(Go, &format!("{head}{program}"), "21\n", "42\n")).await;
        assert_eq!(judgement.verdict, Verdict::Passed, "{judgement:#?}");
        assert_eq!(judgement.protocol, Protocol::Split);
    }
    assert_at_rest().await;
}

#[tokio::test]
async fn each_assertion_of_a_go_test_has_its_own_verdict() {
    let program = "package main\n\nimport \"os\"\n\nfunc F(n int) int {\n    if n == 2 {\n        panic(\"two\")\n    }\n    if n == 4 {\n        os.Exit(0)\n    }\n    if n == 3 {\n        return 9\n    }\n    return n\n}\n\nfunc main() { os.Exit(3) }\n";
    own_verdicts(Go, program, "F", TESTS).await;
}

#[tokio::test]
async fn go_programs_that_change_the_language_or_leave_early_do_not_pass() {
    let sandbox = sandbox(Go).await;
    let tests = "func TestF(t *testing.T) {\n    assert.Equal(t, true, F())\n    assert.True(t, F())\n}\n";
    for program in [
        "const true = 1 == 2\nfunc F() bool { return true }\n",
        "import \"os\"\nfunc init() { os.Exit(0) }\nfunc F() bool { return false }\n",
        "import \"os\"\nfunc init() { for n := 0; n < 10; n++ { os.NewFile(uintptr(n), \"\").WriteString(\"passed 0\\n\") } }\nfunc F() bool { return 1 == 1 }\n",
        "import \"runtime\"\nfunc F() bool { runtime.Goexit(); return 1 == 1 }\n",
        "type MyBool bool\nfunc F() MyBool { return 1 == 1 }\n",
    ] {
        let judgement = judge(&sandbox, &tested(Go, program, "F", tests)).await;
        assert!(verdicts(&judgement).iter().all(|verdict| *verdict != Verdict::Passed), "{program}\n{judgement:#?}");
    }
    assert_at_rest().await;
}

#[tokio::test]
async fn a_go_program_that_does_not_compile_says_where() {
    let sandbox = sandbox(Go).await;
    let program = "import \"math\"\n\nfunc F(n int) int {\n    return n\n}\n";
    let judgement = judge(&sandbox, &tested(Go, program, "F", TESTS)).await;
    assert_eq!(judgement.verdict, Verdict::CompileError, "{judgement:#?}");
    assert!(judgement.compile_output.as_deref().unwrap_or_default().contains("program.go:1"), "{judgement:#?}");
}
