//! Control groups: what they notice that nothing else does, and that none is left behind. Where this machine lets nobody
//! make one, each test says so and is skipped.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use rolecall::domain::{Judgement, Verdict};
use rolecall::sandbox::Sandbox;
use rustix::process::{Pid, Signal, kill_process};

use super::sandbox::{Alone, assertions, attack, descendants, io, job, judge, sandbox, skipped};

/// A sandbox with control groups, if there can be one.
async fn bounded() -> Option<Alone> {
    let sandbox = sandbox().await;
    let isolation = sandbox.isolation();
    if isolation.memory == "rlimit" || isolation.pids == "rlimit" {
        skipped(&format!("control groups cannot be made here: {isolation:?}"));
        return None;
    }
    Some(sandbox)
}

fn says_group(judgement: &Judgement) -> bool {
    judgement.tests[0].message.as_deref().is_some_and(|message| message.contains("control group"))
}

/// Groups of ours, of launchers that live or not.
fn groups() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![PathBuf::from("/sys/fs/cgroup")];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                let is_ours = entry.file_name().to_string_lossy().starts_with("rolecall-");
                if is_ours { found.push(entry.path()) } else { waiting.push(entry.path()) }
            }
        }
    }
    found
}

fn launchers() -> Vec<i32> {
    let launchers = descendants().into_iter().filter(|process| process.contains("__sandbox-launcher"));
    // The launcher comes first, then what it started.
    launchers.filter_map(|process| process.split(' ').next()?.parse().ok()).collect()
}

/// The groups that the launcher of this process id made.
fn groups_of(launcher: i32) -> Vec<PathBuf> {
    groups().into_iter().filter(|path| path.ends_with(format!("rolecall-{launcher}"))).collect()
}

async fn until(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..500 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("never: {what}; groups {:?}, processes {:?}", groups(), descendants());
}

#[tokio::test]
async fn children_that_the_kernel_killed_count_though_the_program_answers_well() {
    let Some(sandbox) = bounded().await else { return };
    let program = r#"
import os, time
def f(n):
    children = []
    for _ in range(6):
        child = os.fork()
        if child == 0:
            held = b'x' * (150 << 20)
            time.sleep(2)  # Until all hold theirs.
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    return n + 1
"#;
    let judgement = judge(&sandbox, &job(program, Some("f"), assertions("assert f(1) == 2\n"))).await;
    assert_eq!(judgement.verdict, Verdict::Memory, "{judgement:#?}");
}

/// What waits in sockets is in no process's memory, so nothing but the kernel can see it. The first process, which is
/// smaller than the others, is not the one that the kernel ends.
#[tokio::test]
async fn memory_that_no_process_holds_counts_though_the_program_exits_with_0() {
    let Some(sandbox) = bounded().await else { return };
    let program = r#"
import os, socket, time
children = []
for _ in range(40):
    child = os.fork()
    if child == 0:
        held = b'x' * (3 << 20)
        pairs = [socket.socketpair() for _ in range(100)]
        for one, other in pairs:
            one.setblocking(False)
            try:
                while True:
                    one.send(held[:1 << 14])
            except OSError:
                pass
        time.sleep(60)
    children.append(child)
os.wait()
os._exit(0)
"#;
    let mut job = io(program, "", "");
    job.limits.test_cpu_ms = 10_000;
    let judgement = judge(&sandbox, &job).await;
    assert_eq!(judgement.verdict, Verdict::Memory, "{judgement:#?}");
    assert!(says_group(&judgement), "{judgement:#?}");
}

#[tokio::test]
async fn a_fork_that_was_refused_counts_though_the_program_answers_well() {
    let Some(sandbox) = bounded().await else { return };
    let program = r#"
import os, time
def f(n):
    try:
        while True:
            if os.fork() == 0:
                time.sleep(60)
    except OSError:
        return n + 1
"#;
    let judgement = judge(&sandbox, &job(program, Some("f"), assertions("assert f(1) == 2\n"))).await;
    assert_eq!(judgement.verdict, Verdict::ProcessLimit, "{judgement:#?}");
    assert!(says_group(&judgement), "{judgement:#?}");
    // As many as the limit says are no offence.
    let program =
        program.replace("while True", "for _ in range(60)").replace("    except OSError:\n", "    finally:\n");
    let judgement = judge(&sandbox, &job(&program, Some("f"), assertions("assert f(1) == 2\n"))).await;
    assert_eq!(judgement.verdict, Verdict::Passed, "{judgement:#?}");
}

/// The private directory has its own limit: filling it is no misuse of memory.
#[tokio::test]
async fn memory_and_the_private_directory_are_counted_apart() {
    let program = r#"
def f(n):
    for k in range(3):
        open(f'/tmp/{k}', 'wb').write(b'x' * (15 << 20))
    held = bytearray(400 << 20)
    for at in range(0, len(held), 4096):
        held[at] = 1
    return n + 1
"#;
    assert_eq!(attack(program).await.verdict, Verdict::Passed);
}

#[tokio::test]
async fn no_group_is_left_after_use() {
    let Some(sandbox) = bounded().await else { return };
    let launcher = launchers()[0];
    assert_eq!(groups_of(launcher).len(), 2, "memory and processes");
    let hog = "def f(n):\n    held = []\n    while True:\n        held.append(bytearray(1 << 20))\n";
    judge(&sandbox, &job(hog, Some("f"), assertions("assert f(1) == 2\n"))).await;
    drop(sandbox);
    until("the groups are gone", || groups_of(launcher).is_empty()).await;
    until("the processes are gone", || launchers().is_empty()).await;
}

#[tokio::test]
async fn what_a_killed_launcher_leaves_behind_the_next_one_removes() {
    let Some(first) = bounded().await else { return };
    let launcher = launchers()[0];
    kill_process(Pid::from_raw(launcher).unwrap(), Signal::KILL).unwrap();
    until("its processes are gone", || descendants().is_empty()).await;
    assert!(!groups_of(launcher).is_empty(), "the kernel removes none");
    drop(first);
    let Some(_next) = bounded().await else { return };
    assert_eq!(groups_of(launcher), Vec::<PathBuf>::new());
}
