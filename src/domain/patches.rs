use serde::{Deserialize, Serialize};

use super::Verdict;

/// Judged programs by the four outcomes of program repair, as "The Art of Repair" (arXiv 2505.02931) counts patches.
/// The starter is none of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patches {
    /// Every test passed.
    pub plausible: u32,
    /// A test failed by its value, an exception or a limit other than time.
    pub wrong: u32,
    /// Time ran out.
    pub timeout: u32,
    /// It does not compile or parse, or the reply held no program.
    pub uncompilable: u32,
}

impl Patches {
    /// Counts a program of this verdict. A failure of our machine says nothing of it.
    pub fn add(&mut self, verdict: Verdict) {
        let count = match verdict {
            Verdict::Infrastructure => return,
            Verdict::Passed => &mut self.plausible,
            Verdict::CompileError | Verdict::NoCode => &mut self.uncompilable,
            verdict if verdict.is_timeout() => &mut self.timeout,
            _ => &mut self.wrong,
        };
        *count = count.saturating_add(1);
    }
}

impl std::ops::AddAssign for Patches {
    fn add_assign(&mut self, other: Self) {
        self.plausible = self.plausible.saturating_add(other.plausible);
        self.wrong = self.wrong.saturating_add(other.wrong);
        self.timeout = self.timeout.saturating_add(other.timeout);
        self.uncompilable = self.uncompilable.saturating_add(other.uncompilable);
    }
}

#[cfg(test)]
mod tests {
    use super::{Patches, Verdict};

    #[test]
    fn every_verdict_is_one_of_the_four() {
        let mut patches = Patches::default();
        let all = [Verdict::Passed, Verdict::Wrong, Verdict::Crashed, Verdict::Memory, Verdict::Forbidden];
        let others = [Verdict::TimeoutCpu, Verdict::TimeoutWall, Verdict::CompileError, Verdict::NoCode];
        for verdict in all.into_iter().chain(others) {
            patches.add(verdict);
        }
        patches.add(Verdict::Infrastructure);
        assert_eq!(patches, Patches { plausible: 1, wrong: 4, timeout: 2, uncompilable: 2 });
    }
}
