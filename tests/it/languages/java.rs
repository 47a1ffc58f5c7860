use rolecall::domain::{Language::Java, Protocol, Verdict};

use super::{io, own_verdicts, sandbox, tested};
use crate::sandbox::{assert_at_rest, judge, verdicts};

const TESTS: &str = "import java.util.*;\npublic class Main {\n    public static void main(String[] args) {\n        Solution s = new Solution();\n        List<Boolean> correct = Arrays.asList(\n            s.f(1) == 1,\n            s.f(2) == 2,\n            s.f(3) == 3,\n            s.f(4) == 4,\n            s.f(5) == 5\n        );\n        if (correct.contains(false)) {\n            throw new AssertionError();\n        }\n    }\n}\n";

#[tokio::test]
async fn e23_e38_java_programs_are_named_by_their_syntax_and_speak_utf8() {
    let sandbox = sandbox(Java).await;
    let real = "// It's \"public class Fake\" that people expect here\n/* public class Older {} */\npublic class Real {\n    static final String S = \"public class Str {\";\n    public static void main(String[] a) { System.out.println(new java.util.Scanner(System.in).nextInt() + 1); }\n}\n";
    let packaged = "package demo.app;\npublic class Main { public static void main(String[] a) { System.out.println(\"na\\u00efve ï\"); } }\n";
    let judgement = judge(&sandbox, &io(Java, real, "41\n", "42\n")).await;
    assert_eq!(judgement.verdict, Verdict::Passed, "{judgement:#?}");
    assert_eq!(judgement.protocol, Protocol::Split);
    let judgement = judge(&sandbox, &io(Java, packaged, "", "naïve ï\n")).await;
    assert_eq!(judgement.verdict, Verdict::Passed, "{judgement:#?}");
    assert_at_rest().await;
}

#[tokio::test]
async fn e36_a_java_program_may_recurse_deeply() {
    let sandbox = sandbox(Java).await;
    let deep = "class Solution { int f(int n) { return n == 0 ? 0 : 1 + f(n - 1); } }";
    let tests = "class Main { public static void main(String[] a) { assert new Solution().f(100000) == 100000; } }";
    let judgement = judge(&sandbox, &tested(Java, deep, "f", tests)).await;
    assert_eq!(verdicts(&judgement), [Verdict::Passed], "{judgement:#?}");
    let whole = "class Main { static int f(int n) { return n == 0 ? 0 : 1 + f(n - 1); }\n  public static void main(String[] a) { System.out.println(f(100000)); } }";
    let judgement = judge(&sandbox, &io(Java, whole, "", "100000\n")).await;
    assert_eq!(judgement.verdict, Verdict::Passed, "{judgement:#?}");
    let endless = "class Solution { int f(int n) { return 1 + f(n + 1); } }";
    let judgement = judge(&sandbox, &tested(Java, endless, "f", tests)).await;
    assert_eq!(verdicts(&judgement), [Verdict::Crashed], "{judgement:#?}");
    assert_eq!(judgement.tests[0].message.as_deref(), Some("java.lang.StackOverflowError"));
}

#[tokio::test]
async fn each_java_test_method_has_its_own_verdict_also_where_the_call_stands_before_the_assertion() {
    let program = "class Solution {\n    static int f(int n) {\n        if (n == 2) throw new IllegalStateException(\"two\");\n        if (n == 3) return f(n) + 1;\n        if (n == 4) System.exit(0);\n        return n == 5 ? 9 : n;\n    }\n}\n";
    let methods: String = (1..=6)
        .map(|n| format!("  @Test public void t{n}() {{ int r = Solution.f({n}); assertEquals({n}, r); }}\n"))
        .collect();
    let tests = format!("import org.junit.Test;\npublic class T {{\n{methods}}}\n");
    let sandbox = sandbox(Java).await;
    let judgement = judge(&sandbox, &tested(Java, program, "f", &tests)).await;
    let expected =
        [Verdict::Passed, Verdict::Crashed, Verdict::Crashed, Verdict::Crashed, Verdict::Wrong, Verdict::Passed];
    assert_eq!(verdicts(&judgement), expected, "{judgement:#?}");
    let said: Vec<_> = judgement.tests[1..4].iter().map(|test| test.message.clone().unwrap()).collect();
    let told = [
        "java.lang.IllegalStateException: two",
        "java.lang.StackOverflowError",
        "the process exited with code 0 before its answer",
    ];
    assert_eq!(said, told);
    assert_at_rest().await;
}

#[tokio::test]
async fn each_element_of_a_java_list_has_its_own_verdict() {
    let program = "class Solution {\n    int f(int n) {\n        if (n == 2) throw new IllegalStateException(\"two\");\n        if (n == 4) System.exit(0);\n        return n == 3 ? 9 : n;\n    }\n}\n";
    own_verdicts(Java, program, "f", TESTS).await;
}

#[tokio::test]
async fn e05_java_assert_statements_count_without_a_switch() {
    let sandbox = sandbox(Java).await;
    let tests = "public class Main { public static void main(String[] a) { assert Solution.twice(4) == 8; } }";
    let wrong = "class Solution { static int twice(int n) { return n; } }";
    let right = "class Solution { static int twice(int n) { return 2 * n; } }\nclass Main {}";
    let judgement = judge(&sandbox, &tested(Java, wrong, "twice", tests)).await;
    assert_eq!(verdicts(&judgement), [Verdict::Wrong], "{judgement:#?}");
    // A class of the same name as the tests' is the program's own affair.
    let judgement = judge(&sandbox, &tested(Java, right, "twice", tests)).await;
    assert_eq!(verdicts(&judgement), [Verdict::Passed], "{judgement:#?}");
}

#[tokio::test]
async fn e01_java_objects_that_equal_everything_prove_nothing() {
    let sandbox = sandbox(Java).await;
    let tests = "import java.util.*;\nclass Main { public static void main(String[] a) {\n  assert new Solution().f().equals(Arrays.asList(1, 2));\n  assert Objects.equals(new Solution().f(), List.of(1, 2));\n} }";
    for body in [
        "class Solution { Object f() { return new Object() { public boolean equals(Object o) { return true; } }; } }",
        "class Yes extends java.util.ArrayList<Integer> { public boolean equals(Object o) { return true; } }\nclass Solution { Object f() { return new Yes(); } }",
        "class Objects { static boolean equals(Object a, Object b) { return true; } }\nclass List { static Object of(int... a) { return null; } }\nclass Arrays { static Object asList(int... a) { return null; } }\nclass Solution { Object f() { return java.util.List.of(1); } }",
        "class Solution { Object f() { return java.util.Collections.unmodifiableList(new java.util.AbstractList<Integer>() {\n  public boolean equals(Object o) { return true; } public Integer get(int n) { return 7; } public int size() { return 2; } }); } }",
    ] {
        let judgement = judge(&sandbox, &tested(Java, body, "f", tests)).await;
        let verdicts = verdicts(&judgement);
        let rejected = |verdict: &Verdict| matches!(verdict, Verdict::UnsupportedReturn | Verdict::Wrong);
        assert!(verdicts.iter().all(rejected), "{body}\n{judgement:#?}");
    }
}

#[tokio::test]
async fn java_programs_cannot_reach_their_harness() {
    let sandbox = sandbox(Java).await;
    let honest = "class Solution { int f(int n) { return n; } }";
    assert_eq!(judge(&sandbox, &tested(Java, honest, "f", TESTS)).await.verdict, Verdict::Passed);
    let heads = [
        // Looks for the harness on the stack and calls it.
        "static { for (StackTraceElement e : new Throwable().getStackTrace()) try { java.lang.reflect.Method m = Class.forName(e.getClassName()).getMethod(\"begin\", int.class); m.invoke(null, 0); } catch (Exception x) {} }",
        // The same by handles.
        "static { try { Class<?> c = Class.forName(\"rolecall.Launcher\"); java.lang.invoke.MethodHandles.privateLookupIn(c, java.lang.invoke.MethodHandles.lookup()); } catch (Exception x) {} }",
        // Leaves, at the first chance or by a hook.
        "static { Runtime.getRuntime().halt(0); }",
        "static { Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println(\"passed\"))); System.exit(0); }",
        // Writes to whatever is open.
        "static { for (int n = 0; n < 10; n++) try (var o = new java.io.FileOutputStream(\"/proc/self/fd/\" + n)) { o.write(\"passed 0\\n\".getBytes()); } catch (Exception x) {} }",
        // Calls the fixed part of the harness.
        "static { rolecall.Launcher.main(new String[] {\"classes\", \"x\"}); }",
    ];
    for head in heads {
        let program = format!("class Solution {{ {head} int f(int n) {{ return 0; }} }}");
        let judgement = judge(&sandbox, &tested(Java, &program, "f", TESTS)).await;
        assert!(verdicts(&judgement).iter().all(|verdict| *verdict != Verdict::Passed), "{head}\n{judgement:#?}");
    }
    assert_at_rest().await;
}

#[tokio::test]
async fn a_java_program_that_does_not_compile_says_where() {
    let sandbox = sandbox(Java).await;
    let program = "class Solution {\n    int f(int n) {\n        return \"one\";\n    }\n}\n";
    let judgement = judge(&sandbox, &tested(Java, program, "f", TESTS)).await;
    assert_eq!(judgement.verdict, Verdict::CompileError, "{judgement:#?}");
    assert!(judgement.compile_output.as_deref().unwrap_or_default().contains("Solution.java:3"), "{judgement:#?}");
}
