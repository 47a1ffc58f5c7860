//! The smallest difference that an experiment could show, known before anything is spent.

use super::{
    Level, Spread, StatisticsError,
    checks::{inner_share, positive, share},
    exact_power::ExactPower,
    normal::{cumulative, quantile},
};

/// A two-sided comparison of two arms over the same tasks, as planned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedDesign {
    /// How many tasks both arms work on.
    pub tasks: u32,
    /// 1 − α: a difference counts where its p-value is at most α.
    pub level: Level,
    /// The chance with which the difference shall be found, such as 0.8.
    pub power: f64,
}

/// What is assumed of how far two arms solve the same tasks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Dependence {
    /// The share of tasks that one arm alone solves.
    Discordance(f64),
    /// The correlation (phi) of being solved by the one and by the other, from 0: unrelated, to 1: the same tasks.
    Correlation(f64),
}

/// How the chance to find a gain is worked out.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Calculation {
    /// By the normal approximation, as most programs do. The exact test then finds the gain less often than was wished:
    /// with a chance of 0.76 to 0.78 instead of 0.8 for some hundred tasks.
    Normal,
    /// Over all tables that could come out, with the p-values that the exact test will have. The work grows with the
    /// square of the tasks: a moment for a thousand.
    Exact,
}

/// Into how many parts the possible gains are cut where the first large enough one is looked for.
const PARTS: u32 = 100;

impl PairedDesign {
    /// The smallest gain over a `baseline` rate that McNemar's test with one conversation a task finds with the wanted
    /// power; `None` where no possible gain is large enough. For a loss, ask with the baseline's rate of failure.
    ///
    /// By the normal approximation, with ψ, the share of tasks on which the arms differ, the mean difference δ of n
    /// tasks has the standard error √(ψ/n) without an effect, and √((ψ−δ²)/n) with it.
    ///
    /// Sources: Miettinen, "The Matched Pairs Design in the Case of All-or-None Responses" (1968); Connor, "Sample Size
    /// for Testing Differences in Proportions for the Paired-Sample Design" (1987); the exact power: Duffy, "Asymptotic
    /// and Exact Power for the McNemar Test and its Analogue with R Controls per Case" (1984).
    ///
    /// # Errors
    /// No tasks; a rate, an assumption or a power outside of its range.
    pub fn detectable_gain(
        &self,
        baseline: f64,
        dependence: Dependence,
        calculation: Calculation,
    ) -> Result<Option<f64>, StatisticsError> {
        self.check()?;
        let baseline = share("baseline rate", baseline)?;
        let (least, most) = possible_gains(baseline, dependence)?;
        let exact = (calculation == Calculation::Exact).then(|| ExactPower::new(self.tasks, self.level));
        let enough = |gain: f64| {
            let discordance = discordance(baseline, gain, dependence);
            let power = match &exact {
                Some(exact) => exact.at((discordance + gain) / 2.0, (discordance - gain) / 2.0),
                None => self.chance(gain, discordance.sqrt(), (discordance - gain * gain).max(0.0).sqrt()),
            };
            power >= self.power
        };
        let gain = |part: u32| least + (most - least) * f64::from(part) / f64::from(PARTS);
        let first = (1..=PARTS).find(|part| enough(gain(*part)));
        Ok(first.map(|part| smallest(gain(part - 1), gain(part), enough)))
    }

    /// The smallest difference of mean outcomes that is found with the wanted power, with several samples a task;
    /// `None` above `most`, the largest that is possible (1 − baseline rate for a gain).
    ///
    /// The mean of n tasks has the standard error √((between + within / samples) / n); the normal approximation.
    ///
    /// Sources: Bloom, "Minimum Detectable Effects" (1995); the two parts of the variance: Snijders and Bosker,
    /// "Standard Errors and Sample Sizes for Two-Level Research" (1993); of language models: Miller, "Adding Error Bars
    /// to Evals" (2024).
    ///
    /// # Errors
    /// No tasks or samples; a variance that is negative; a power outside of its range.
    pub fn detectable_difference(
        &self,
        spread: Spread,
        samples: u32,
        most: f64,
    ) -> Result<Option<f64>, StatisticsError> {
        self.check()?;
        let most = positive("largest possible difference", most)?;
        let deviation = spread.of_one_task(samples)?;
        let enough = |difference: f64| self.chance(difference, deviation, deviation) >= self.power;
        Ok(enough(most).then(|| smallest(0.0, most, enough)))
    }

    /// The chance of finding a difference: that a normal mean with it, and with the standard deviation `with` of one
    /// task, lies beyond what the test allows where the deviation is `without` it.
    fn chance(&self, difference: f64, without: f64, with: f64) -> f64 {
        let root = f64::from(self.tasks).sqrt();
        let allowed = -quantile(self.level.tail()) * without / root;
        if with <= 0.0 {
            return if difference.abs() > allowed { 1.0 } else { 0.0 };
        }
        cumulative((difference - allowed) * root / with) + cumulative((-difference - allowed) * root / with)
    }

    fn check(&self) -> Result<(), StatisticsError> {
        if self.tasks == 0 {
            return Err(StatisticsError::Nothing { what: "tasks" });
        }
        inner_share("power", self.power).map(|_| ())
    }
}

/// The smallest number between two at which something is so, that is not so at the lower one and is so at the upper
/// one.
fn smallest(mut not: f64, mut is: f64, so: impl Fn(f64) -> bool) -> f64 {
    loop {
        let middle = not + (is - not) / 2.0;
        if middle <= not || middle >= is {
            return is;
        }
        if so(middle) { is = middle } else { not = middle }
    }
}

/// The gains that a baseline and an assumption leave possible: no cell of the table of four is negative.
fn possible_gains(baseline: f64, dependence: Dependence) -> Result<(f64, f64), StatisticsError> {
    let missing = 1.0 - baseline;
    match dependence {
        Dependence::Discordance(discordance) => {
            let discordance = share("discordance", discordance)?;
            // What the baseline alone solves is (ψ−δ)/2, at most p; what the arm alone solves is (ψ+δ)/2, at most 1−p.
            let least = (discordance - 2.0 * baseline).max(0.0);
            Ok((least, discordance.min(2.0 * missing - discordance).max(least)))
        }
        Dependence::Correlation(correlation) => {
            let correlation = share("correlation", correlation)?;
            // The baseline alone solves none where the odds of the arm are those of the baseline divided by r².
            let spread = baseline + correlation * correlation * missing;
            let highest = if spread > 0.0 { baseline / spread } else { 0.0 };
            Ok((0.0, highest - baseline))
        }
    }
}

/// The share of tasks that one arm alone solves.
fn discordance(baseline: f64, gain: f64, dependence: Dependence) -> f64 {
    match dependence {
        Dependence::Discordance(discordance) => discordance,
        Dependence::Correlation(correlation) => {
            let arm = baseline + gain;
            let (missing, arm_missing) = (1.0 - baseline, (1.0 - arm).max(0.0));
            let common = correlation * (baseline * missing * arm * arm_missing).sqrt();
            baseline * arm_missing + arm * missing - 2.0 * common
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NORMAL: Calculation = Calculation::Normal;

    fn test(tasks: u32) -> PairedDesign {
        PairedDesign { tasks, level: Level::PERCENT_95, power: 0.8 }
    }

    #[test]
    fn by_hand_with_one_variance() {
        // (1.96 + 0.8416) × 0.5 / √100
        let spread = Spread { between: 0.25, within: 0.0 };
        let found = test(100).detectable_difference(spread, 1, 1.0).unwrap().unwrap();
        assert!((found - 0.140_079).abs() < 1e-5, "{found}");
    }

    #[test]
    fn where_no_gain_is_possible_or_large_enough_none_is_named() {
        assert_eq!(test(100).detectable_gain(1.0, Dependence::Correlation(0.5), NORMAL), Ok(None));
        assert_eq!(test(100).detectable_gain(0.5, Dependence::Correlation(1.0), NORMAL), Ok(None));
        assert_eq!(test(100).detectable_gain(0.5, Dependence::Discordance(0.0), NORMAL), Ok(None));
        assert_eq!(test(1).detectable_gain(0.5, Dependence::Discordance(0.3), NORMAL), Ok(None));
        assert_eq!(test(3).detectable_gain(0.9, Dependence::Correlation(0.0), NORMAL), Ok(None));
        let wide = Spread { between: 1.0, within: 0.0 };
        assert_eq!(test(2).detectable_difference(wide, 1, 1.0), Ok(None));
    }

    #[test]
    fn the_exact_test_needs_a_little_more() {
        for (tasks, baseline) in [(40, 0.3), (80, 0.5), (164, 0.7)] {
            let found = |calculation| {
                test(tasks).detectable_gain(baseline, Dependence::Correlation(0.5), calculation).unwrap().unwrap()
            };
            let (normal, exact) = (found(NORMAL), found(Calculation::Exact));
            assert!(normal < exact && exact < 1.2 * normal, "{tasks} tasks: {normal} {exact}");
        }
        assert_eq!(test(5).detectable_gain(0.0, Dependence::Correlation(0.5), Calculation::Exact), Ok(None));
    }

    #[test]
    fn without_any_spread_any_difference_shows() {
        let none = Spread { between: 0.0, within: 0.0 };
        let found = test(10).detectable_difference(none, 1, 1.0).unwrap().unwrap();
        assert!(found > 0.0 && found < 1e-300);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let half = Dependence::Discordance(0.5);
        assert_eq!(test(0).detectable_gain(0.5, half, NORMAL), Err(StatisticsError::Nothing { what: "tasks" }));
        for wrong in [f64::NAN, -0.1, 1.1] {
            assert!(test(9).detectable_gain(wrong, half, NORMAL).is_err());
            assert!(test(9).detectable_gain(0.5, Dependence::Discordance(wrong), NORMAL).is_err());
            assert!(test(9).detectable_gain(0.5, Dependence::Correlation(wrong), NORMAL).is_err());
            assert!(PairedDesign { power: wrong, ..test(9) }.detectable_gain(0.5, half, NORMAL).is_err());
        }
        let spread = Spread { between: 0.1, within: 0.1 };
        assert!(test(9).detectable_difference(spread, 0, 1.0).is_err());
        assert!(test(9).detectable_difference(spread, 1, f64::NAN).is_err());
    }

    #[test]
    fn several_samples_help_as_far_as_tasks_do_not_decide() {
        let found = |samples| {
            let spread = Spread::assumed(0.5, 0.5, 0.5).unwrap();
            test(164).detectable_difference(spread, samples, 0.5).unwrap().unwrap()
        };
        let (one, five, endless) = (found(1), found(5), found(u32::MAX));
        assert!(one > five && five > endless);
        // The parts are 0.125 and 0.25.
        assert!((endless / one - (0.125_f64 / 0.375).sqrt()).abs() < 1e-5);
    }

    proptest! {
        #[test]
        fn more_tasks_more_power_and_likeness_help(
            tasks in 20..400_u32, baseline in 0.05..0.95_f64, correlation in 0.0..0.95_f64
        ) {
            let gain = |tasks, baseline, correlation| {
                test(tasks).detectable_gain(baseline, Dependence::Correlation(correlation), NORMAL).unwrap()
            };
            if let Some(found) = gain(tasks, baseline, correlation) {
                prop_assert!(found > 0.0 && found <= 1.0 - baseline + 1e-12);
                prop_assert!(gain(2 * tasks, baseline, correlation).is_some_and(|more| more < found));
            }
        }

        #[test]
        fn a_share_that_differs_and_the_correlation_behind_it_agree(
            tasks in 30..400_u32, baseline in 0.1..0.9_f64, correlation in 0.0..0.9_f64
        ) {
            let likeness = Dependence::Correlation(correlation);
            if let Some(found) = test(tasks).detectable_gain(baseline, likeness, NORMAL).unwrap() {
                let share = discordance(baseline, found, likeness);
                let again = test(tasks).detectable_gain(baseline, Dependence::Discordance(share), NORMAL).unwrap();
                prop_assert!(again.is_some_and(|again| (again - found).abs() < 1e-9), "{found} {again:?}");
            }
        }
    }
}
