//! Programs in Go.

use rolecall::domain::Language::Go;
use rolecall::domain::Verdict::{
    CompileError, Crashed, FileLimit, Forbidden, Memory, OutputLimit, ProcessLimit, TimeoutCpu, Wrong,
};

use super::{Attack, sandbox, withstand, withstand_as};
use crate::languages::tested;
use crate::sandbox::judge;

const WHOLE: &[Attack] = &[
    (
        "starts_threads_without_end",
        &[ProcessLimit, OutputLimit],
        "package main\nimport (\"runtime\"; \"syscall\")\nfunc main() { for { go func() { runtime.LockOSThread(); syscall.Nanosleep(&syscall.Timespec{Sec: 600}, nil) }() } }\n",
    ),
    (
        "starts_goroutines_without_end",
        &[Memory, OutputLimit],
        "package main\nfunc main() { for { go func() { select {} }() } }\n",
    ),
    (
        "starts_processes_without_end",
        &[Wrong, Crashed, ProcessLimit],
        "package main\nimport \"os/exec\"\nfunc main() { for n := 0; n < 400; n++ { exec.Command(\"/bin/sleep\", \"600\").Start() } }\n",
    ),
    (
        "allocates_without_end",
        &[Memory],
        "package main\nfunc main() { var held [][]byte; for { b := make([]byte, 1<<20); for n := range b { b[n] = 1 }; held = append(held, b) } }\n",
    ),
    (
        "prints_without_end",
        &[OutputLimit],
        "package main\nimport \"fmt\"\nfunc main() { for { fmt.Println(\"yyyyyyyyyyyyyyyy\") } }\n",
    ),
    (
        "panics_with_a_huge_message",
        &[Crashed, OutputLimit],
        "package main\nimport \"strings\"\nfunc main() { panic(strings.Repeat(\"\\xff\", 50000000)) }\n",
    ),
    (
        "fills_the_disk",
        &[FileLimit, Wrong],
        "package main\nimport (\"os\"; \"fmt\")\nfunc main() { b := make([]byte, 8<<20); n := 0; for k := 0; k < 100; k++ { if os.WriteFile(fmt.Sprint(\"/tmp/\", k), b, 0600) == nil { n++ } }; if n > 20 { fmt.Println(\"escaped\") } }\n",
    ),
    ("never_ends", &[TimeoutCpu], "package main\nfunc main() { for {} }\n"),
    (
        "ignores_every_signal",
        &[TimeoutCpu],
        "package main\nimport (\"os\"; \"os/signal\")\nfunc main() { c := make(chan os.Signal, 99); signal.Notify(c); for {} }\n",
    ),
    (
        "recurses_without_end",
        &[Crashed, Memory, TimeoutCpu],
        "package main\nfunc f(n int) int { return f(n+1) + n }\nfunc main() { println(f(0)) }\n",
    ),
    (
        "opens_connections",
        &[Wrong],
        "package main\nimport (\"net\"; \"fmt\"; \"time\")\nfunc main() { for _, k := range []string{\"tcp\", \"udp\", \"ip4:icmp\", \"tcp6\"} { if c, e := net.DialTimeout(k, \"127.0.0.1:22\", time.Second); e == nil { fmt.Println(\"escaped\", c) }; if l, e := net.Listen(\"tcp\", \"127.0.0.1:0\"); e == nil { fmt.Println(\"escaped\", l) } }; if _, e := net.LookupHost(\"example.org\"); e == nil { fmt.Println(\"escaped\") } }\n",
    ),
    (
        "reads_and_links_what_is_outside",
        &[Wrong],
        "package main\nimport (\"os\"; \"fmt\"; \"path/filepath\")\nfunc main() { os.Symlink(\"/etc/passwd\", \"l\"); for _, p := range []string{\"l\", \"/etc/passwd\", \"/proc/self/mem\", \"/root/.bashrc\", \"/dev/fd/3\"} { if _, e := os.ReadFile(p); e == nil { fmt.Println(\"escaped\") } }; if os.Link(\"/usr/bin/env\", \"e\") == nil || os.WriteFile(\"/usr/x\", nil, 0600) == nil { fmt.Println(\"escaped\") }; if f, _ := filepath.Glob(\"/proc/[0-9]*\"); len(f) > 0 { fmt.Println(\"escaped\") } }\n",
    ),
    (
        "calls_the_kernel_by_number",
        &[Wrong],
        "package main\nimport (\"syscall\"; \"fmt\")\nfunc main() { for _, n := range []uintptr{101, 165, 250, 272, 298, 321, 323, 425, 435} { if _, _, e := syscall.Syscall(n, 0x10000000, 0, 0); e == 0 { fmt.Println(\"escaped\", n) } } }\n",
    ),
];

const TESTS: &str = "func TestF(t *testing.T) {\n    assert := assert.New(t)\n    assert.Equal(8, F(4))\n    assert.Equal(2, F(1))\n}\n";

const FORGING: &[Attack] = &[
    ("leaves_in_init", &[Crashed], "import \"os\"\nfunc init() { os.Exit(0) }\nfunc F(n int) int { return 0 }\n"),
    (
        "leaves_while_variables_get_their_values",
        &[Crashed],
        "import \"os\"\nvar x = func() int { os.Exit(0); return 1 }()\nfunc F(n int) int { return x }\n",
    ),
    ("leaves_in_the_call", &[Crashed], "import \"os\"\nfunc F(n int) int { os.Exit(0); return 0 }\n"),
    (
        "leaves_from_a_goroutine",
        &[Crashed],
        "import (\"os\"; \"time\")\nfunc F(n int) int { go os.Exit(0); time.Sleep(time.Hour); return 0 }\n",
    ),
    ("leaves_in_a_deferred_call", &[Crashed], "import \"os\"\nfunc F(n int) int { defer os.Exit(0); panic(1) }\n"),
    (
        "leaves_in_a_finalizer",
        &[Wrong, Crashed],
        "import (\"os\"; \"runtime\")\ntype X struct{ n [9]int }\nfunc F(n int) int { x := &X{}; runtime.SetFinalizer(x, func(*X) { os.Exit(0) }); x = nil; runtime.GC(); runtime.GC(); return 0 }\n",
    ),
    (
        "leaves_on_a_signal",
        &[Crashed],
        "import (\"os\"; \"os/signal\"; \"syscall\"; \"time\")\nfunc F(n int) int { c := make(chan os.Signal, 1); signal.Notify(c, syscall.SIGUSR1); go func() { <-c; os.Exit(0) }(); syscall.Kill(syscall.Getpid(), syscall.SIGUSR1); time.Sleep(time.Hour); return 0 }\n",
    ),
    ("ends_its_goroutine", &[Crashed], "import \"runtime\"\nfunc F(n int) int { runtime.Goexit(); return 0 }\n"),
    (
        "replaces_itself",
        &[Crashed],
        "import \"syscall\"\nfunc F(n int) int { syscall.Exec(\"/bin/true\", []string{\"true\"}, nil); return 0 }\n",
    ),
    (
        "prints_results",
        &[Wrong],
        "import \"fmt\"\nfunc F(n int) int { fmt.Println(\"ok\\nPASS\\npassed 0\\npassed 1\\ndone 2\"); return 0 }\n",
    ),
    (
        "writes_to_every_descriptor",
        &[Forbidden],
        "import \"syscall\"\nfunc F(n int) int { for d := 3; d < 99; d++ { syscall.Write(d, []byte(\"passed 0\\n\")) }; return 0 }\n",
    ),
    (
        "closes_the_channel",
        &[Crashed],
        "import \"syscall\"\nfunc F(n int) int { for d := 0; d < 99; d++ { syscall.Close(d) }; return 0 }\n",
    ),
    ("tampers_with_what_the_harness_says", &[Forbidden, Crashed], include_str!("programs/interposer.go")),
    ("dumps_its_heap_to_find_the_nonce", &[Wrong, Crashed, Forbidden], include_str!("programs/heap.go")),
    (
        "shadows_testing",
        &[CompileError, Wrong],
        "type testing struct{}\ntype assert struct{}\nfunc TestF(t int) {}\nfunc F(n int) int { return 0 }\n",
    ),
    (
        "takes_the_names_of_the_harness",
        &[Wrong],
        "type T struct{}\nfunc (t *T) Errorf(f string, a ...any) {}\nvar h, judge, channel = 1, 2, 3\nfunc run(n int, f func()) {}\nfunc done() {}\nfunc F(n int) int { return 0 }\n",
    ),
    (
        "gives_operators_another_meaning",
        &[CompileError],
        "func append(a ...any) {}\nfunc len(a any) int { return 0 }\nfunc panic(a any) {}\nfunc recover() any { return nil }\nfunc F(n int) int { return 0 }\n",
    ),
    (
        "returns_what_shows_itself",
        &[Crashed, Wrong],
        "import \"os\"\ntype E struct{}\nfunc (E) GoString() string { os.Exit(0); return \"8\" }\nfunc (E) Equal(any) bool { return 1 == 1 }\nfunc F(n int) any { return E{} }\n",
    ),
    ("returns_a_type_of_its_own", &[Wrong, CompileError], "type int int64\nfunc F(n int) int { return 8 }\n"),
    (
        "panics_with_what_describes_itself",
        &[Crashed],
        "type E struct{}\nfunc (e E) Error() string { panic(e) }\nfunc F(n int) int { panic(E{}) }\n",
    ),
    (
        "panics_with_a_huge_message",
        &[Crashed],
        "import \"strings\"\nfunc F(n int) int { panic(strings.Repeat(\"\\xff\", 50000000)) }\n",
    ),
    (
        "allocates_without_end",
        &[Memory],
        "func F(n int) int { var v [][]byte; for { b := make([]byte, 1<<20); for k := range b { b[k] = 1 }; v = append(v, b) } }\n",
    ),
    ("asks_for_more_than_there_is", &[Crashed, Memory], "func F(n int) int { return len(make([]byte, n<<50)) }\n"),
    ("never_ends", &[TimeoutCpu], "func F(n int) int { for {} }\n"),
];

#[tokio::test]
async fn go_programs_are_held() {
    withstand(Go, WHOLE).await;
}

#[tokio::test]
async fn go_programs_that_are_wrong_are_never_called_right() {
    withstand_as(Go, FORGING, |program| tested(Go, program, "F", TESTS)).await;
    let sandbox = sandbox(Go).await;
    let right = judge(&sandbox, &tested(Go, "func F(n int) int { return 2 * n }\n", "F", TESTS)).await;
    assert!(right.passed(), "{right:#?}");
}
