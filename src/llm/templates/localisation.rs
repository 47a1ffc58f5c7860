//! Fault localisation: how suspicious each line of a program is, from what its tests executed.

use std::collections::BTreeMap;

use crate::domain::{Judgement, Profile};

/// What a line counts that no failing test executed, and what every line counts at least.
const FLOOR: f64 = 0.02;
/// How often a line may be boosted: 2 to this power is the most.
const MOST_BOOSTS: u32 = 3;

/// Suspicion of lines, 1 for the most suspicious, at least [`FLOOR`]; all alike where nothing is known.
///
/// The measure is that of [`Profile::suspiciousness`]. Relative to the largest it is raised to the third power, which sets
/// apart what the measure hardly does.
#[derive(Clone, Debug, Default)]
pub(super) struct Suspicion {
    lines: BTreeMap<u32, f64>,
    boosts: BTreeMap<u32, u32>,
}

impl Suspicion {
    /// From line coverage by test; tests that were not run, or that failed through our fault, say nothing.
    pub(super) fn new(profile: Option<&Profile>) -> Self {
        let measured = profile.map(Profile::suspiciousness).unwrap_or_default();
        let largest = measured.values().copied().fold(f64::MIN_POSITIVE, f64::max);
        let lines = measured.into_iter().map(|(line, raw)| (line, (raw / largest).powi(3).max(FLOOR))).collect();
        Self { lines, boosts: BTreeMap::new() }
    }

    /// Doubles the weight of the first line in which each better program differs from the parent: something there matters.
    pub(super) fn boost<'a>(
        &mut self,
        parent: (&str, &Judgement),
        tried: impl Iterator<Item = (&'a str, &'a Judgement)>,
    ) {
        let (text, judgement) = parent;
        let before = judgement.passed_tests();
        for (other, _) in tried.filter(|(_, other)| other.passed_tests() > before) {
            let boosts = self.boosts.entry(first_difference(text, other)).or_default();
            *boosts = (*boosts + 1).min(MOST_BOOSTS);
        }
    }

    /// The weight of a change in `line` of the statement that begins in `statement_line`.
    pub(super) fn of(&self, line: u32, statement_line: u32) -> f64 {
        let boost = f64::from(1_u32 << self.boosts.get(&line).copied().unwrap_or_default());
        let weight = if self.lines.is_empty() {
            1.0
        } else {
            let known = self.lines.get(&line).or_else(|| self.lines.get(&statement_line));
            known.copied().unwrap_or(FLOOR)
        };
        weight * boost
    }
}

/// 1-based line of the first byte in which two texts differ.
fn first_difference(one: &str, two: &str) -> u32 {
    let same = one.bytes().zip(two.bytes()).take_while(|(a, b)| a == b);
    1 + same.filter(|(a, _)| *a == b'\n').count() as u32
}

#[cfg(test)]
mod tests {
    use super::{FLOOR, Suspicion, first_difference};
    use crate::domain::{Profile, TestCoverage, Verdict};

    fn profile(tests: &[(Verdict, &[u32])]) -> Profile {
        let tests = tests
            .iter()
            .map(|(verdict, lines)| TestCoverage { verdict: *verdict, lines: lines.iter().copied().collect() })
            .collect();
        Profile { tests, ..Profile::default() }
    }

    #[test]
    fn lines_that_only_failing_tests_execute_come_first() {
        let profile = profile(&[
            (Verdict::Passed, &[1, 2]),
            (Verdict::Wrong, &[1, 3]),
            (Verdict::NotRun, &[9]),
            (Verdict::Passed, &[1, 4]),
        ]);
        let suspicion = Suspicion::new(Some(&profile));
        assert_eq!(suspicion.of(3, 3), 1.0);
        // 1 / sqrt(1 * 3), to the third power.
        assert!((suspicion.of(1, 1) - 0.192_45).abs() < 1e-4);
        assert_eq!(suspicion.of(2, 2), FLOOR);
        assert_eq!(suspicion.of(7, 3), 1.0, "a line that is never recorded counts as its statement");
        assert_eq!(suspicion.of(9, 9), FLOOR);
    }

    #[test]
    fn without_a_failing_test_every_line_is_alike() {
        assert_eq!(Suspicion::new(None).of(5, 5), 1.0);
        let passing = profile(&[(Verdict::Passed, &[1])]);
        assert_eq!(Suspicion::new(Some(&passing)).of(5, 5), 1.0);
    }

    #[test]
    fn the_first_difference_has_a_line() {
        assert_eq!(first_difference("a\nb\nc", "a\nb\nd"), 3);
        assert_eq!(first_difference("a\nb", "x\nb"), 1);
        assert_eq!(first_difference("a", "a\nb"), 1);
    }
}
