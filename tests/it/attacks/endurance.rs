//! A thousand executions leave nothing behind.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rolecall::domain::{IoCase, Language, OutputRule, TestSuite};

use super::{honest, left_behind, sandbox};
use crate::languages::{io, tested};
use crate::sandbox::{assertions, descendants, job, judge};

/// What this process and its launcher hold: descriptors, mounts, temporary files, control groups.
fn held() -> BTreeMap<&'static str, usize> {
    let entries = |path: &str| fs::read_dir(path).map_or(0, |entries| entries.flatten().count());
    let ours = |path: &str, name: &str| {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        entries.filter(|entry| entry.file_name().to_string_lossy().contains(name)).count()
    };
    let launcher = descendants().first().and_then(|process| process.split(' ').next().map(str::to_owned)).unwrap();
    let temporary = std::env::temp_dir().display().to_string();
    BTreeMap::from([
        ("descriptors", entries("/proc/self/fd")),
        ("descriptors of the launcher", entries(&format!("/proc/{launcher}/fd"))),
        ("mounts", fs::read_to_string("/proc/self/mountinfo").map_or(0, |text| text.lines().count())),
        ("temporary files", ours(&temporary, "rolecall")),
        ("control groups", groups(Path::new("/sys/fs/cgroup"), &format!("rolecall-{launcher}"), 6)),
    ])
}

fn groups(folder: &Path, name: &str, depth: usize) -> usize {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let count = |entry: fs::DirEntry| {
        let own = usize::from(entry.path().to_string_lossy().contains(name));
        own + if depth > 0 { groups(&entry.path(), name, depth - 1) } else { 0 }
    };
    folders.map(count).sum()
}

#[tokio::test]
async fn a_thousand_executions_leave_nothing_behind() {
    let mut executed = 0;
    for (language, times) in [
        (Language::Python, 700),
        (Language::Cpp, 20),
        (Language::Java, 20),
        (Language::JavaScript, 20),
        (Language::Go, 20),
        (Language::Rust, 20),
    ] {
        let sandbox = sandbox(language).await;
        // The first two decide what stays: a compiler that is kept, the runtime's own descriptors.
        for number in 0..2 {
            assert!(judge(&sandbox, &io(language, &honest(language, number), "", "42\n")).await.passed());
        }
        if language == Language::Cpp {
            assert!(judge(&sandbox, &many_cases(2)).await.passed());
        }
        let (before, processes) = (held(), descendants().len());
        for number in 2..2 + times {
            let judgement = match (language, number % 3) {
                (Language::Python, 0) => {
                    let program = format!("def f(n): return n + {number}\n");
                    let tests = assertions(&format!("assert f(1) == {}\n", number + 1));
                    judge(&sandbox, &job(&program, Some("f"), tests)).await
                }
                _ => judge(&sandbox, &io(language, &honest(language, number), "", "42\n")).await,
            };
            assert!(judgement.passed(), "{judgement:#?}");
            executed += 1;
        }
        if language == Language::Cpp {
            assert!(judge(&sandbox, &many_cases(200)).await.passed());
            let linked =
                tested(Language::Cpp, "int f(int n) { return n; }\n", "f", "int main() { assert(f(1) == 1); }\n");
            assert!(judge(&sandbox, &linked).await.passed());
            executed += 201;
        }
        assert_eq!(left_behind(processes).await, None, "{language}");
        // A connection that has ended is closed when the runtime gets to it; directories of others come and go.
        for _ in 0..500 {
            if held() == before {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert_eq!(held(), before, "{language}");
    }
    assert!(executed >= 1_000, "{executed}");
}

/// One program in C++ with so many cases, each a process.
fn many_cases(count: usize) -> rolecall::sandbox::Job {
    let program = "#include <cstdio>\nint main() { int n; scanf(\"%d\", &n); printf(\"%d\\n\", n + 1); }\n";
    let case = |n: usize| IoCase { stdin: n.to_string(), stdout: format!("{}\n", n + 1) };
    let mut job = io(Language::Cpp, program, "", "");
    job.tests = Arc::new(TestSuite::Io { cases: (0..count).map(case).collect(), rule: OutputRule::Tokens });
    job
}
