//! Programs in Java.

use rolecall::domain::Language::Java;
use rolecall::domain::Verdict::{
    CompileError, Crashed, FileLimit, Forbidden, Memory, OutputLimit, ProcessLimit, TimeoutCpu, UnsupportedReturn,
    Wrong,
};

use super::{Attack, withstand, withstand_tested};

const WHOLE: &[Attack] = &[
    (
        "starts_threads_without_end",
        &[ProcessLimit],
        "class Main { public static void main(String[] a) { for (;;) { var t = new Thread(() -> { try { Thread.sleep(600000); } catch (Exception e) {} }); t.setDaemon(true); t.start(); } } }",
    ),
    (
        "starts_processes_without_end",
        &[Wrong, Crashed, Memory, ProcessLimit, TimeoutCpu],
        "class Main { public static void main(String[] a) throws Exception { for (int n = 0; n < 400; n++) try { new ProcessBuilder(\"/bin/sleep\", \"600\").start(); } catch (Exception e) {} } }",
    ),
    (
        "allocates_without_end",
        &[Memory],
        "class Main { public static void main(String[] a) { var l = new java.util.ArrayList<byte[]>(); for (;;) l.add(new byte[1 << 20]); } }",
    ),
    (
        "allocates_outside_of_the_heap",
        &[Memory],
        "class Main { public static void main(String[] a) { var l = new java.util.ArrayList<Object>(); for (;;) l.add(java.nio.ByteBuffer.allocateDirect(1 << 24)); } }",
    ),
    (
        "prints_without_end",
        &[OutputLimit],
        "class Main { public static void main(String[] a) { for (;;) System.out.println(\"yyyyyyyyyyyyyyyy\"); } }",
    ),
    (
        "writes_a_huge_file",
        &[FileLimit, Crashed],
        "class Main { public static void main(String[] a) throws Exception { try (var o = new java.io.FileOutputStream(\"/tmp/x\")) { for (int n = 0; n < 64; n++) o.write(new byte[1 << 20]); } System.out.println(\"escaped\"); } }",
    ),
    (
        "never_ends_by_catching_everything",
        &[TimeoutCpu],
        "class Main { public static void main(String[] a) { for (;;) try { for (;;) { } } catch (Throwable t) { } } }",
    ),
    (
        "opens_connections",
        &[Wrong],
        "import java.net.*; class Main { public static void main(String[] a) { try { new ServerSocket(0); System.out.println(\"escaped\"); } catch (Exception e) { } try { new Socket(\"127.0.0.1\", 22); System.out.println(\"escaped\"); } catch (Exception e) { } try { InetAddress.getByName(\"example.org\"); System.out.println(\"escaped\"); } catch (Exception e) { } try { new DatagramSocket(); System.out.println(\"escaped\"); } catch (Exception e) { } } }",
    ),
    (
        "reads_and_links_what_is_outside",
        &[Wrong],
        "import java.nio.file.*; class Main { public static void main(String[] a) { for (String p : new String[] {\"/etc/passwd\", \"/proc/self/mem\", \"/proc/1/environ\", \"/root/.bashrc\", \"/dev/fd/3\", \"../../etc/shadow\"}) try { Files.createSymbolicLink(Path.of(\"l\"), Path.of(p)); Files.readAllBytes(Path.of(\"l\")); System.out.println(\"escaped\"); } catch (Exception e) { } finally { new java.io.File(\"l\").delete(); } try { Files.createLink(Path.of(\"h\"), Path.of(\"/usr/bin/env\")); System.out.println(\"escaped\"); } catch (Exception e) { } try { Files.write(Path.of(\"/usr/x\"), new byte[1]); System.out.println(\"escaped\"); } catch (Exception e) { } } }",
    ),
    (
        "attaches_to_machines",
        &[Wrong, CompileError, Crashed],
        "class Main { public static void main(String[] a) throws Exception { ProcessHandle.allProcesses().filter(p -> p.pid() != ProcessHandle.current().pid()).forEach(p -> { if (p.destroyForcibly() && p.pid() > 9) System.out.println(\"escaped\"); }); } }",
    ),
    (
        "leaves_a_thread_that_holds_up_the_end",
        &[TimeoutCpu],
        "class Main { public static void main(String[] a) { Runtime.getRuntime().addShutdownHook(new Thread(() -> { for (;;) { } })); System.out.println(\"escaped\"); } }",
    ),
    (
        "throws_a_huge_message",
        &[Crashed, OutputLimit, Memory],
        "class Main { public static void main(String[] a) { throw new RuntimeException(\"\\uffff\".repeat(50000000)); } }",
    ),
];

const TESTS: &str = "public class Main {\n    public static void main(String[] args) {\n        Solution s = new Solution();\n        assert s.f(4) == 8;\n        assert s.f(1) == 2;\n        assert s.g(1).equals(java.util.List.of(1));\n    }\n}\n";

const RIGHT: &str =
    "class Solution { int f(int n) { return 2 * n; } Object g(int n) { return java.util.List.of(n); } }";

const FORGING: &[Attack] = &[
    (
        "leaves_while_its_class_is_loaded",
        &[Crashed],
        "class Solution { static { System.exit(0); } int f(int n) { return 0; } Object g(int n) { return 0; } }",
    ),
    (
        "leaves_by_a_hook",
        &[Crashed, Wrong],
        "class Solution { static { Runtime.getRuntime().addShutdownHook(new Thread(() -> Runtime.getRuntime().halt(0))); } int f(int n) { System.exit(0); return 0; } Object g(int n) { return 0; } }",
    ),
    (
        "leaves_from_a_thread",
        &[Crashed, Wrong],
        "class Solution { int f(int n) { new Thread(() -> System.exit(0)).start(); for (;;) Thread.yield(); } Object g(int n) { return 0; } }",
    ),
    (
        "leaves_by_a_cleaner",
        &[Crashed, Wrong],
        "class Solution { int f(int n) { java.lang.ref.Cleaner.create().register(new Object(), () -> Runtime.getRuntime().halt(0)); System.gc(); return 0; } Object g(int n) { return 0; } }",
    ),
    (
        "throws_what_is_thrown_by_assertions",
        &[Crashed],
        "class Solution { int f(int n) { throw new AssertionError(\"passed\"); } Object g(int n) { throw new ThreadDeath(); } }",
    ),
    (
        "throws_what_describes_itself",
        &[Crashed],
        "class Solution { static class E extends RuntimeException { public String toString() { throw this; } public String getMessage() { throw this; } } int f(int n) { throw new E(); } Object g(int n) { throw new E(); } }",
    ),
    (
        "interrupts_the_harness",
        &[Crashed, Wrong, Forbidden],
        "class Solution { int f(int n) { for (Thread t : Thread.getAllStackTraces().keySet()) t.interrupt(); return 0; } Object g(int n) { return 0; } }",
    ),
    (
        "handles_what_nobody_catches",
        &[Crashed, Wrong],
        "class Solution { int f(int n) { Thread.setDefaultUncaughtExceptionHandler((t, e) -> Runtime.getRuntime().halt(0)); throw new StackOverflowError(); } Object g(int n) { return 0; } }",
    ),
    (
        "prints_results",
        &[Wrong],
        "class Solution { int f(int n) { System.out.println(\"passed 0\\npassed 1\\npassed 2\\ndone 3\"); return 0; } Object g(int n) { return java.util.List.of(); } }",
    ),
    (
        "takes_the_place_of_what_compares",
        &[Crashed, Wrong, CompileError, Forbidden],
        "package rolecall; import java.util.Set; public class Values { public static class Unsupported extends RuntimeException { } public static Object plain(Object v, Set<String> o) { return 1; } public static Object items(Object v, boolean d, Set<String> o) { return 1; } public static Object other(Object v) { return v instanceof Integer i ? i + 1 : 2; } public static String show(Object v, Set<String> o) { return \"\"; } public static String shortened(String s) { return s; } }\nclass Solution { int f(int n) { return n * 2; } Object g(int n) { return 0; } }",
    ),
    (
        "takes_the_place_of_the_launcher",
        &[Crashed, Wrong, CompileError, Forbidden],
        "package rolecall; class Launcher { public static void main(String[] a) { System.exit(0); } }\nclass ProgramLoader { }\npublic class Solution { public int f(int n) { return 0; } public Object g(int n) { return 0; } }",
    ),
    (
        "takes_the_names_of_the_library",
        &[Wrong, UnsupportedReturn, CompileError, Crashed],
        "class Objects { static boolean equals(Object a, Object b) { return true; } }\nclass Integer { static int valueOf(int n) { return 8; } }\nclass AssertionError extends Error { }\nclass Judge { static void start() { } }\nclass String { }\nclass Object { public boolean equals(java.lang.Object o) { return true; } }\nclass Solution { int f(int n) { return 0; } Object g(int n) { return new Object(); } }",
    ),
    (
        "returns_what_equals_everything",
        &[UnsupportedReturn, Wrong],
        "class Solution { static class Yes extends java.util.AbstractList<Integer> { public boolean equals(Object o) { return true; } public int size() { return 1; } public Integer get(int n) { return 7; } } int f(int n) { return 0; } Object g(int n) { return new Yes(); } }",
    ),
    (
        "returns_a_list_without_end",
        &[UnsupportedReturn, Wrong, Memory, TimeoutCpu],
        "class Solution { int f(int n) { return 0; } Object g(int n) { return java.util.Collections.nCopies(Integer.MAX_VALUE, 1); } }",
    ),
    (
        "returns_a_list_that_holds_itself",
        &[UnsupportedReturn, Wrong, Crashed],
        "class Solution { int f(int n) { return 0; } Object g(int n) { var l = new java.util.ArrayList<Object>(); l.add(l); return l; } }",
    ),
    (
        "deserialises_itself_into_the_harness",
        &[Wrong, Crashed, CompileError, UnsupportedReturn],
        "import java.io.*; class Solution implements Serializable { Object readResolve() { System.exit(0); return null; } int f(int n) { try { var b = new ByteArrayOutputStream(); new ObjectOutputStream(b).writeObject(this); new ObjectInputStream(new ByteArrayInputStream(b.toByteArray())).readObject(); } catch (Exception e) { } return 0; } Object g(int n) { return 0; } }",
    ),
    (
        "calls_the_harness_by_providers_and_beans",
        &[Wrong, Crashed, CompileError, UnsupportedReturn],
        "class Solution { static String harness() { for (var s : Thread.getAllStackTraces().values()) for (var e : s) if (e.getClassName().startsWith(\"rolecall_\")) return e.getClassName(); for (var e : new Throwable().getStackTrace()) if (e.getClassName().startsWith(\"rolecall_\")) return e.getClassName(); return \"\"; } int f(int n) { try { new java.beans.Statement(Class.forName(harness()), \"done\", new Object[0]).execute(); } catch (Throwable t) { } return 0; } Object g(int n) { return 0; } }",
    ),
    (
        "looks_for_unsafe",
        &[Wrong, Crashed, CompileError, UnsupportedReturn],
        "class Solution { int f(int n) { try { var f = sun.misc.Unsafe.class.getDeclaredField(\"theUnsafe\"); f.setAccessible(true); ((sun.misc.Unsafe) f.get(null)).putInt(0L, 1); } catch (Throwable t) { } return 0; } Object g(int n) { return 0; } }",
    ),
    (
        "allocates_without_end",
        &[Memory],
        "class Solution { int f(int n) { var l = new java.util.ArrayList<byte[]>(); for (;;) l.add(new byte[1 << 20]); } Object g(int n) { return 0; } }",
    ),
    (
        "swallows_every_error",
        &[TimeoutCpu],
        "class Solution { int f(int n) { for (;;) try { for (;;) { } } catch (Throwable t) { } } Object g(int n) { return 0; } }",
    ),
];

#[tokio::test]
async fn java_programs_are_held() {
    withstand(Java, WHOLE).await;
}

#[tokio::test]
async fn java_programs_that_are_wrong_are_never_called_right() {
    withstand_tested(Java, TESTS, RIGHT, FORGING).await;
}
