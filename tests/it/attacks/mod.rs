//! Attacks in six languages: each a program with the verdicts that it may have. None ever passes: a whole program prints
//! `escaped` where it got out, which is the output that its case wants. After each nothing runs that did not run before, the
//! slot is the same one, and an honest program in it passes.
//!
//! Those on Python's warm interpreters are in `sandbox.rs` and `sandbox_attacks.rs`; more on results in `languages`.

mod compilers;
mod cpp;
mod cpp_forging;
mod endurance;
mod go;
mod java;
mod javascript;
mod neighbours;
mod python;
mod rust;

use std::time::{Duration, Instant};

use rolecall::domain::{Judgement, Language, Verdict};
use rolecall::sandbox::Job;

use super::languages::{io, tested};
use super::sandbox::{Alone, alone, descendants, judge};

/// Name, acceptable verdicts, program.
pub(super) type Attack = (&'static str, &'static [Verdict], &'static str);

/// No attack holds a judgement up for longer, even on a busy machine; what survives one sleeps for longer.
const HANG: Duration = Duration::from_secs(90);

/// CPU time of an attack, in ms: what waits for it to be spent is soon done.
const TEST_CPU_MS: u64 = 1_000;

/// Whole programs: each is to print nothing or anything but `escaped`.
pub(super) async fn withstand(language: Language, attacks: &[Attack]) {
    withstand_as(language, attacks, |program| io(language, program, "7\n", "escaped\n")).await;
}

/// Programs of the function `f`, none of which is right but the honest one.
pub(super) async fn withstand_tested(language: Language, tests: &str, right: &str, attacks: &[Attack]) {
    withstand_as(language, attacks, |program| tested(language, program, "f", tests)).await;
    let sandbox = alone(&[language]).await;
    let judgement = judge(&sandbox, &tested(language, right, "f", tests)).await;
    assert!(judgement.passed(), "{judgement:#?}");
}

/// The same for jobs of any kind, in one slot one after another.
pub(super) async fn withstand_as(language: Language, attacks: &[Attack], job: impl Fn(&str) -> Job) {
    let sandbox = alone(&[language]).await;
    let honest = |number: usize| io(language, &honest(language, number), "", "42\n");
    assert!(judge(&sandbox, &honest(0)).await.passed());
    let (launcher, before) = (launcher(), descendants().len());
    let mut found = Vec::new();
    for (number, (name, expected, program)) in attacks.iter().enumerate() {
        let started = Instant::now();
        let mut job = job(program);
        job.limits.test_cpu_ms = job.limits.test_cpu_ms.min(TEST_CPU_MS);
        let judgement = judge(&sandbox, &job).await;
        if judgement.verdict == Verdict::Passed || !expected.contains(&judgement.verdict) {
            found.push(format!("{name}: {expected:?} expected\n{}", described(&judgement)));
        }
        if started.elapsed() > HANG {
            found.push(format!("{name} held the judgement up"));
        }
        if let Some(left) = left_behind(before).await {
            found.push(format!("{name} left behind {left:#?}"));
        }
        let next = judge(&sandbox, &honest(number + 1)).await;
        if !next.passed() {
            found.push(format!("{name} harmed the next program\n{}", described(&next)));
        }
    }
    assert_eq!(self::launcher(), launcher, "another slot");
    assert!(found.is_empty(), "{}", found.join("\n"));
}

fn described(judgement: &Judgement) -> String {
    let mut short = judgement.clone();
    for excerpt in [&mut short.stdout, &mut short.stderr] {
        excerpt.text = excerpt.text.chars().take(600).collect();
    }
    format!("{short:#?}")
}

/// The slot's launcher.
fn launcher() -> Option<String> {
    descendants().into_iter().next()
}

/// More processes than there were before, once those that are ending have ended.
pub(super) async fn left_behind(before: usize) -> Option<Vec<String>> {
    for _ in 0..200 {
        if descendants().len() <= before {
            return None;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Some(descendants())
}

/// A program that prints 42, another one for each number.
pub(super) fn honest(language: Language, number: usize) -> String {
    match language {
        Language::Python => format!("print(42)  # {number}\n"),
        Language::Cpp => format!("extern \"C\" int puts(const char*);\nint main() {{ puts(\"42\"); }} // {number}\n"),
        Language::Java => {
            format!("class Main {{ public static void main(String[] a) {{ System.out.println(42); }} }} // {number}\n")
        }
        Language::JavaScript => format!("console.log(42) // {number}\n"),
        Language::Go => {
            format!("package main\nimport \"os\"\nfunc main() {{ os.Stdout.WriteString(\"42\\n\") }} // {number}\n")
        }
        Language::Rust => format!("fn main() {{ println!(\"42\"); }} // {number}\n"),
    }
}

/// A sandbox of one language, for tests that judge by themselves.
pub(super) async fn sandbox(language: Language) -> Alone {
    alone(&[language]).await
}
