use crate::domain::{Judgement, Verdict};

/// The reward of a program that does not compile or parse, and of a reply without a program.
const NOT_RUNNABLE: f64 = 0.0;

/// The reward of a program that was stopped before its answer: a crash, a timeout, another limit, a broken rule.
const CRASHED: f64 = 0.25;

/// The reward of a program that runs and passes no test. What it passes adds up to half of what is left to 1.
const WRONG: f64 = 0.5;

/// The order of verdicts as a number in [0, 1], higher is better: accepted (1), then wrong by the share of tests passed
/// (from 0.5 on, below 1), then any crash, timeout or other limit (0.25), then what does not compile or holds no program (0).
///
/// The order is partial: two programs of one class that is not graded are equal. A program's class is its verdict's, so
/// that one crash weighs more than any number of passed tests. `None` where no test said anything of the program: our
/// machine failed, or nothing was run.
///
/// Order of classes as recalled of RePair (arXiv 2408.11296); the numbers are ours.
pub fn execution_reward(judgement: &Judgement) -> Option<f64> {
    match judgement.verdict {
        Verdict::Passed => Some(1.0),
        // A value that cannot be carried to the tests is an answer, and not the right one.
        Verdict::Wrong | Verdict::UnsupportedReturn => Some(WRONG + (1.0 - WRONG) * share_passed(judgement)),
        Verdict::Crashed
        | Verdict::TimeoutCpu
        | Verdict::TimeoutWall
        | Verdict::Memory
        | Verdict::OutputLimit
        | Verdict::ProcessLimit
        | Verdict::FileLimit
        | Verdict::Forbidden => Some(CRASHED),
        Verdict::CompileError | Verdict::NoCode => Some(NOT_RUNNABLE),
        Verdict::NotRun | Verdict::Infrastructure => None,
    }
}

/// Below 1, since one test at least did not pass.
fn share_passed(judgement: &Judgement) -> f64 {
    judgement.passed_tests() as f64 / judgement.tests.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::execution_reward;
    use crate::domain::{Judgement, Limits, TestResult, Verdict};

    const ALL: [Verdict; 15] = [
        Verdict::Passed,
        Verdict::Wrong,
        Verdict::TimeoutCpu,
        Verdict::TimeoutWall,
        Verdict::Memory,
        Verdict::OutputLimit,
        Verdict::ProcessLimit,
        Verdict::FileLimit,
        Verdict::Crashed,
        Verdict::Forbidden,
        Verdict::CompileError,
        Verdict::UnsupportedReturn,
        Verdict::NotRun,
        Verdict::NoCode,
        Verdict::Infrastructure,
    ];

    fn judgement(tests: &[Verdict]) -> Judgement {
        let mut judgement = Judgement::no_code(tests.iter().map(|_| String::new()), Limits::default());
        judgement.verdict = Verdict::of_program(tests.iter().copied());
        let result = |verdict: &Verdict| {
            let score = f64::from(u8::from(*verdict == Verdict::Passed));
            let test = String::new();
            TestResult { verdict: *verdict, score, test, expected: None, actual: None, message: None, cpu_ms: None }
        };
        judgement.tests = tests.iter().map(result).collect();
        judgement
    }

    /// The place of a verdict's class, the best first.
    fn class(verdict: Verdict) -> Option<u8> {
        match verdict {
            Verdict::Passed => Some(0),
            Verdict::Wrong | Verdict::UnsupportedReturn => Some(1),
            Verdict::CompileError | Verdict::NoCode => Some(3),
            Verdict::NotRun | Verdict::Infrastructure => None,
            _ => Some(2),
        }
    }

    fn verdicts() -> impl Strategy<Value = Vec<Verdict>> {
        prop::collection::vec(prop::sample::select(&ALL[..]), 0..12)
    }

    #[test]
    fn the_classes_stand_in_their_order() {
        use Verdict::{CompileError, Crashed, NoCode, Passed, TimeoutCpu, Wrong};
        let rewards = [
            &[NoCode][..],
            &[CompileError, CompileError],
            &[Passed, Passed, Passed, Crashed],
            &[TimeoutCpu, Wrong],
            &[Wrong, Wrong],
            &[Wrong, Passed],
            &[Passed, Passed],
        ]
        .map(|tests| execution_reward(&judgement(tests)).unwrap());
        assert_eq!(rewards, [0.0, 0.0, 0.25, 0.25, 0.5, 0.75, 1.0]);
        assert_eq!(execution_reward(&judgement(&[])), None);
        assert_eq!(execution_reward(&judgement(&[Verdict::Infrastructure, Wrong])), None);
    }

    proptest! {
        #[test]
        fn a_reward_is_in_0_to_1_and_keeps_the_order(one in verdicts(), other in verdicts()) {
            let (one, other) = (judgement(&one), judgement(&other));
            let (reward, other_reward) = (execution_reward(&one), execution_reward(&other));
            prop_assert_eq!(reward.is_none(), class(one.verdict).is_none());
            prop_assert!(reward.is_none_or(|reward| (0.0..=1.0).contains(&reward)));
            prop_assert_eq!(reward == Some(1.0), one.passed());
            let (Some(reward), Some(other_reward)) = (reward, other_reward) else { return Ok(()) };
            match class(one.verdict).cmp(&class(other.verdict)) {
                std::cmp::Ordering::Less => prop_assert!(reward > other_reward),
                std::cmp::Ordering::Greater => prop_assert!(reward < other_reward),
                std::cmp::Ordering::Equal if class(one.verdict) == Some(1) => {
                    // Crosswise, so that nothing is divided: the shares of tests passed decide.
                    let share = one.passed_tests() * other.tests.len();
                    let other_share = other.passed_tests() * one.tests.len();
                    prop_assert_eq!(reward.total_cmp(&other_reward), share.cmp(&other_share));
                }
                std::cmp::Ordering::Equal => prop_assert_eq!(reward, other_reward),
            }
        }
    }
}
