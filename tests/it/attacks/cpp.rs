//! Whole programs in C++: what a native program can do to a machine.

use rolecall::domain::Language::Cpp;
use rolecall::domain::Verdict::{
    Crashed, FileLimit, Memory, OutputLimit, ProcessLimit, TimeoutCpu, TimeoutWall, Wrong,
};

use super::{Attack, withstand, withstand_as};

const RESOURCES: &[Attack] = &[
    ("forks_without_end", &[ProcessLimit], "#include <unistd.h>\nint main() { for (;;) fork(); }\n"),
    (
        "hops_from_process_to_process",
        &[Wrong],
        "#include <unistd.h>\nint main() { if (fork()) return 0; for (;;) if (fork()) _exit(0); }\n",
    ),
    (
        "starts_threads_without_end",
        &[ProcessLimit],
        "#include <thread>\n#include <chrono>\nint main() { for (;;) std::thread([] { std::this_thread::sleep_for(std::chrono::hours(1)); }).detach(); }\n",
    ),
    (
        "leaves_zombies",
        &[Wrong, ProcessLimit],
        "#include <unistd.h>\nint main() { for (int k = 0; k < 500; k++) if (fork() == 0) _exit(0); }\n",
    ),
    (
        "allocates_without_end",
        &[Memory],
        "#include <vector>\n#include <string>\nint main() { std::vector<std::string> held; for (;;) held.emplace_back(1 << 20, 'x'); }\n",
    ),
    (
        "allocates_in_many_processes",
        &[Memory],
        "#include <unistd.h>\n#include <cstring>\n#include <cstdlib>\nint main() { for (int k = 0; k < 8; k++) if (fork() == 0) { memset(malloc(200 << 20), 1, 200 << 20); sleep(60); } sleep(60); }\n",
    ),
    (
        "shares_memory_that_has_no_name",
        &[Memory],
        "#include <sys/mman.h>\n#include <unistd.h>\n#include <cstring>\nint main() { for (int k = 0; k < 6; k++) if (fork() == 0) { void* p = mmap(0, 300 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0); memset(p, 1, 300 << 20); sleep(60); } sleep(60); }\n",
    ),
    (
        "hides_memory_in_the_private_directory",
        &[Wrong],
        "#include <cstdio>\n#include <string>\n#include <csignal>\nint main() { signal(SIGXFSZ, SIG_IGN); std::string mib(1 << 20, 'x'); long total = 0; for (int k = 0; k < 100; k++) { FILE* f = fopen((\"/tmp/\" + std::to_string(k)).c_str(), \"w\"); if (!f) break; for (int m = 0; m < 8; m++) if (fwrite(mib.data(), 1, mib.size(), f) == mib.size() && fflush(f) == 0) total++; } puts(total > 100 ? \"escaped\" : \"held\"); }\n",
    ),
    (
        "hides_memory_in_posix_shared_memory",
        &[Wrong, Crashed, FileLimit],
        "#include <fcntl.h>\n#include <unistd.h>\n#include <sys/mman.h>\n#include <cstring>\n#include <cstdio>\n#include <string>\n#include <csignal>\nint main() { signal(SIGXFSZ, SIG_IGN); long total = 0; for (int k = 0; k < 40; k++) { int d = shm_open((\"/m\" + std::to_string(k)).c_str(), O_CREAT | O_RDWR, 0600); if (d < 0 || ftruncate(d, 10 << 20)) break; void* p = mmap(0, 10 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, d, 0); if (p == MAP_FAILED) break; memset(p, 1, 10 << 20); munmap(p, 10 << 20); total += 10; } puts(total > 100 ? \"escaped\" : \"held\"); }\n",
    ),
    (
        "asks_for_more_than_there_is_before_it_starts",
        &[Crashed, Memory],
        "static char big[2000000000];\nint main(int n, char**) { big[n * 1000] = 1; return big[n]; }\n",
    ),
    (
        "writes_a_huge_file",
        &[FileLimit],
        "#include <cstdio>\n#include <string>\nint main() { FILE* f = fopen(\"/tmp/big\", \"w\"); std::string mib(1 << 20, 'x'); for (int k = 0; k < 64; k++) fwrite(mib.data(), 1, mib.size(), f); puts(\"escaped\"); }\n",
    ),
    (
        "uses_up_inodes",
        &[Wrong],
        "#include <sys/stat.h>\n#include <cstdio>\n#include <string>\nint main() { int made = 0; while (made < 100000 && mkdir((\"/tmp/\" + std::to_string(made)).c_str(), 0700) == 0) made++; puts(made > 5000 ? \"escaped\" : \"held\"); }\n",
    ),
    ("prints_without_end", &[OutputLimit], "#include <cstdio>\nint main() { for (;;) puts(\"yyyyyyyyyyyyyyyy\"); }\n"),
    (
        "complains_without_end",
        &[OutputLimit],
        "#include <unistd.h>\nchar b[65536];\nint main() { for (;;) if (write(2, b, sizeof b) < 0) return 0; }\n",
    ),
    (
        "prints_a_million_lines",
        &[OutputLimit],
        "#include <cstdio>\nint main() { for (int k = 0; k < 1000000; k++) printf(\"%d\\n\", k); }\n",
    ),
    (
        "prints_invalid_utf_8",
        &[Wrong],
        "#include <cstdio>\nint main() { for (int k = 0; k < 256; k++) putchar(k); fputs(\"escaped\\n\", stderr); }\n",
    ),
    ("computes_without_end", &[TimeoutCpu], "int main() { for (volatile unsigned n = 0;; n++) {} }\n"),
    (
        "computes_without_end_in_a_child",
        &[TimeoutCpu],
        "#include <unistd.h>\n#include <sys/wait.h>\nint main() { if (fork() == 0) for (volatile unsigned n = 0;; n++) {} wait(0); }\n",
    ),
    (
        "ignores_every_signal",
        &[TimeoutCpu],
        "#include <csignal>\n#include <sys/resource.h>\nint main() { for (int s = 1; s < 65; s++) signal(s, SIG_IGN); rlimit l{RLIM_INFINITY, RLIM_INFINITY}; setrlimit(RLIMIT_CPU, &l); for (volatile unsigned n = 0;; n++) {} }\n",
    ),
    (
        "recurses_without_end",
        &[Crashed, Memory],
        "int f(volatile int n) { volatile char pad[4096]; pad[0] = n; return f(n + 1) + pad[0]; }\nint main() { return f(0); }\n",
    ),
    ("jumps_to_nowhere", &[Crashed], "int main() { ((void (*)())1)(); }\n"),
    ("dumps_its_core", &[Crashed], "#include <cstdlib>\nint main() { abort(); }\n"),
];

const REACHING_OUT: &[Attack] = &[
    (
        "forks_twice_into_a_session_of_its_own",
        &[Wrong],
        "#include <unistd.h>\nint main() { if (fork() == 0) { setsid(); if (fork() == 0) { setsid(); for (int d = 0; d < 256; d++) close(d); sleep(600); } _exit(0); } }\n",
    ),
    (
        "adopts_orphans",
        &[Wrong],
        "#include <sys/prctl.h>\n#include <unistd.h>\nint main() { prctl(PR_SET_CHILD_SUBREAPER, 1); prctl(PR_SET_PDEATHSIG, 0); for (int k = 0; k < 5; k++) if (fork() == 0) { if (fork() == 0) { prctl(PR_SET_PDEATHSIG, 0); sleep(600); } _exit(0); } }\n",
    ),
    (
        "signals_everybody",
        &[Wrong],
        "#include <initializer_list>\n#include <csignal>\n#include <unistd.h>\n#include <cstdio>\nint main() { signal(SIGTERM, SIG_IGN); for (int s : {SIGTERM, SIGSTOP, SIGKILL}) { kill(1, s); kill(getppid(), s); kill(-1, s); } for (int p = 2; p < 40000; p++) if (p != getpid() && kill(p, SIGKILL) == 0) puts(\"escaped\"); }\n",
    ),
    (
        "debugs_its_parent",
        &[Wrong],
        "#include <sys/ptrace.h>\n#include <sys/uio.h>\n#include <unistd.h>\n#include <cstdio>\nint main() { char b[64]; iovec l{b, 64}, r{(void*)0x400000, 64}; if (ptrace(PTRACE_ATTACH, getppid(), 0, 0) == 0 || ptrace(PTRACE_SEIZE, 1, 0, 0) == 0 || ptrace(PTRACE_TRACEME, 0, 0, 0) == 0 || process_vm_readv(1, &l, 1, &r, 1, 0) > 0) puts(\"escaped\"); }\n",
    ),
    (
        "looks_into_proc_and_sys",
        &[Wrong],
        "#include <unistd.h>\n#include <cstdio>\n#include <initializer_list>\nint main() { for (auto p : {\"/proc/1/environ\", \"/proc/self/mem\", \"/proc/cpuinfo\", \"/sys/kernel\", \"/sys/fs/cgroup\", \"/dev/fd/3\", \"/dev/mem\", \"/dev/kmsg\", \"/dev/tty\", \"/dev/sda\", \"/dev/vda\", \"/run\", \"/var\", \"/home\", \"/root/.bashrc\", \"/etc/passwd\", \"/etc/shadow\"}) if (access(p, F_OK) == 0) printf(\"%s\\n\", p), puts(\"escaped\"); }\n",
    ),
    (
        "follows_links_out",
        &[Wrong],
        "#include <unistd.h>\n#include <fcntl.h>\n#include <cstdio>\n#include <initializer_list>\nint main() { int k = 0; for (auto p : {\"/etc/passwd\", \"/proc/1/root/etc/passwd\", \"../../../../etc/passwd\", \"/root\"}) { char n[9]; sprintf(n, \"l%d\", k++); symlink(p, n); if (open(n, O_RDONLY) >= 0) puts(\"escaped\"); } if (link(\"/usr/bin/env\", \"hard\") == 0 || rename(\"/usr/bin/env\", \"env\") == 0 || chdir(\"/root\") == 0 || open(\"/usr/x\", O_CREAT | O_WRONLY, 0600) >= 0) puts(\"escaped\"); }\n",
    ),
    (
        "mounts_and_leaves_its_root",
        &[Wrong],
        "#include <sys/mount.h>\n#include <sched.h>\n#include <unistd.h>\n#include <sys/syscall.h>\n#include <cstdio>\nint main() { if (mount(\"t\", \"/tmp\", \"tmpfs\", 0, \"\") == 0 || mount(\"\", \"/\", 0, MS_REMOUNT | MS_BIND, 0) == 0 || umount2(\"/tmp\", MNT_DETACH) == 0 || chroot(\"/tmp\") == 0 || unshare(CLONE_NEWUSER) == 0 || unshare(CLONE_NEWNS) == 0 || syscall(SYS_pivot_root, \"/tmp\", \"/tmp\") == 0 || setns(0, 0) == 0 || syscall(SYS_open_tree, -100, \"/\", 1) >= 0 || syscall(SYS_clone, CLONE_NEWUSER | 17, 0, 0, 0, 0) >= 0 || syscall(435, 0, 0) >= 0) puts(\"escaped\"); }\n",
    ),
    (
        "takes_powers_back",
        &[Wrong],
        "#include <unistd.h>\n#include <sys/types.h>\n#include <sys/stat.h>\n#include <sys/prctl.h>\n#include <sys/time.h>\n#include <sys/resource.h>\n#include <sched.h>\n#include <cstdio>\nint main() { sched_param s{1}; timeval t{0, 0}; rlimit l{1000, 1000}; bool root = getuid() == 0; if (root || setuid(0) == 0 || setgid(0) == 0 || seteuid(0) == 0 || prctl(PR_CAPBSET_READ, 99, 0, 0, 0) == 1 || mknod(\"/tmp/d\", S_IFBLK | 0600, 0x800) == 0 || sched_setscheduler(0, SCHED_FIFO, &s) == 0 || nice(-20) != -1 || settimeofday(&t, 0) == 0 || sethostname(\"x\", 1) == 0 || setrlimit(RLIMIT_NPROC, &l) == 0) puts(\"escaped\"); }\n",
    ),
    (
        "opens_sockets_of_every_kind",
        &[Wrong],
        "#include <sys/socket.h>\n#include <netdb.h>\n#include <cstdio>\n#include <initializer_list>\nint main() { for (int family = 2; family < 46; family++) for (int kind : {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW}) for (int protocol : {0, 1, 255}) if (socket(family, kind, protocol) >= 0) printf(\"%d\\n\", family), puts(\"escaped\"); addrinfo* found; if (getaddrinfo(\"localhost\", \"80\", 0, &found) == 0 && socket(found->ai_family, SOCK_STREAM, 0) >= 0) puts(\"escaped\"); if (getaddrinfo(\"example.org\", \"80\", 0, &found) == 0) puts(\"escaped\"); }\n",
    ),
    (
        "uses_calls_with_a_history_of_holes",
        &[Wrong],
        "#include <unistd.h>\n#include <sys/syscall.h>\n#include <cstdio>\nint main() { long buffer[64] = {}; long calls[] = {SYS_keyctl, SYS_add_key, SYS_request_key, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_io_uring_setup, SYS_fanotify_init, SYS_open_by_handle_at, SYS_kcmp, SYS_memfd_create, SYS_shmget, SYS_msgget, SYS_quotactl, SYS_syslog, SYS_init_module, SYS_personality}; for (long call : calls) { if (call == SYS_personality ? syscall(call, 0x40000) >= 0 : syscall(call, 1, buffer, 0, 0, 0) >= 0) printf(\"%ld\\n\", call), puts(\"escaped\"); } if (syscall(SYS_keyctl, 0, -3, 1) >= 0) puts(\"escaped\"); }\n",
    ),
    (
        "calls_by_foreign_numbers",
        &[Wrong, Crashed, rolecall::domain::Verdict::Forbidden],
        "#include <cstdio>\nint main() {\n#if defined(__x86_64__)\nlong r; __asm__ volatile(\"syscall\" : \"=a\"(r) : \"a\"(0x40000000L + 39) : \"rcx\", \"r11\"); if (r > 0) puts(\"escaped\"); fflush(stdout); __asm__ volatile(\"int $0x80\" : \"=a\"(r) : \"a\"(20)); if (r > 0) puts(\"escaped\");\n#endif\n}\n",
    ),
    (
        "types_into_the_terminal",
        &[Wrong],
        "#include <sys/ioctl.h>\n#include <cstdio>\n#include <initializer_list>\nint main() { for (int d = 0; d < 16; d++) for (unsigned long high : {0UL, 1UL << 32}) { char c = 'x'; if (ioctl(d, TIOCSTI | high, &c) == 0 || ioctl(d, TIOCSCTTY, 1) == 0) puts(\"escaped\"); } }\n",
    ),
    (
        "writes_to_every_descriptor",
        &[Wrong],
        "#include <unistd.h>\nint main() { for (int d = 3; d < 1024; d++) { write(d, \"escaped\\n\", 8); write(d, \"0 0 0 []\\n\", 9); } write(2, \"escaped\\n\", 8); }\n",
    ),
    (
        "closes_every_descriptor",
        &[Wrong],
        "#include <unistd.h>\nint main() { for (int d = 0; d < 1024; d++) close(d); if (fork() == 0) sleep(600); }\n",
    ),
    (
        "replaces_itself",
        &[Wrong],
        "#include <unistd.h>\nint main() { execl(\"/bin/sh\", \"sh\", \"-c\", \"echo out; exec sleep 0\", (char*)0); }\n",
    ),
    (
        "rewrites_its_own_file",
        &[Wrong],
        "#include <fcntl.h>\n#include <unistd.h>\n#include <cstdio>\nint main() { unlink(\"program\"); int d = open(\"program\", O_CREAT | O_WRONLY, 0777); write(d, \"#!/bin/sh\\necho escaped\\n\", 23); symlink(\"/\", \"classes\"); }\n",
    ),
    ("leaves_with_another_code", &[Crashed], "#include <cstdio>\nint main() { puts(\"escaped\"); return 3; }\n"),
    (
        "dies_by_its_own_hand",
        &[Crashed],
        "#include <csignal>\n#include <cstdio>\nint main() { puts(\"escaped\"); fflush(stdout); raise(SIGKILL); }\n",
    ),
];

const WAITING: &[Attack] = &[
    ("sleeps_past_the_limit", &[TimeoutWall], "#include <unistd.h>\nint main() { for (;;) pause(); }\n"),
    (
        "stops_itself",
        &[TimeoutWall],
        "#include <csignal>\n#include <unistd.h>\nint main() { kill(0, SIGSTOP); raise(SIGSTOP); pause(); }\n",
    ),
];

#[tokio::test]
async fn cpp_programs_cannot_use_up_the_machine() {
    withstand(Cpp, RESOURCES).await;
}

#[tokio::test]
async fn cpp_programs_cannot_reach_out() {
    withstand(Cpp, REACHING_OUT).await;
}

#[tokio::test]
async fn cpp_programs_that_wait_end_by_the_clock_on_the_wall() {
    withstand_as(Cpp, WAITING, |program| {
        let mut job = crate::languages::io(Cpp, program, "", "escaped\n");
        job.limits.test_cpu_ms = 100;
        job
    })
    .await;
}
