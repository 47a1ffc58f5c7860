//! Intervals by drawing tasks again.

use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

use super::{
    Interval, Level, StatisticsError,
    checks::finite,
    normal::{cumulative, quantile},
    tasks::mean,
};
use crate::{ids::keyed, selection::below};

/// How ends are read off the means of resamples.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Method {
    /// Their quantiles.
    Percentile,
    /// Quantiles corrected for bias and for a spread that grows with the mean.
    ///
    /// Source: Efron, "Better Bootstrap Confidence Intervals" (1987).
    Bca,
}

/// The bootstrap over tasks: as many tasks as there are, drawn with replacement, each with all its samples, again and
/// again. So what varies is the choice of tasks, and samples of one task are never taken for independent ones.
///
/// Source: Efron and Tibshirani, "An Introduction to the Bootstrap" (1993), chapters 13 and 14; drawing whole clusters:
/// Davison and Hinkley, "Bootstrap Methods and their Application" (1997), section 3.8.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bootstrap {
    /// How sure the interval shall be.
    pub level: Level,
    /// How the interval is read off.
    pub method: Method,
    /// How many resamples are drawn.
    pub resamples: u32,
    /// What the draws are keyed by; equal seeds draw equal tasks, whatever their values are.
    pub seed: u64,
}

/// A mean and its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean of all tasks.
    pub value: f64,
    /// `None` where there is one task only, which says nothing of how tasks vary.
    pub interval: Option<Interval>,
    /// How the interval was read off: percentiles where a correction was asked for that is not defined, since all tasks
    /// are equal or all resamples lie on one side.
    pub method: Method,
}

impl Bootstrap {
    /// The mean of numbers that stand for a task each, and its interval: [`super::task_means`] for one arm,
    /// [`super::paired_differences`] for two.
    ///
    /// # Errors
    /// No task, a number that is not finite, no resamples.
    pub fn mean(&self, tasks: &[f64]) -> Result<Estimate, StatisticsError> {
        let means = self.resampled_means(tasks)?;
        let value = mean(tasks);
        let plain = (self.level.tail(), 1.0 - self.level.tail());
        let corrected = match self.method {
            Method::Percentile => None,
            Method::Bca => self.corrected_tails(tasks, value, &means),
        };
        let method = if corrected.is_some() { Method::Bca } else { Method::Percentile };
        let (low, high) = corrected.unwrap_or(plain);
        let interval = Interval { low: at_share(&means, low), high: at_share(&means, high) };
        Ok(Estimate { value, interval: (tasks.len() > 1).then_some(interval), method })
    }

    /// The means of the resamples, from the lowest to the highest.
    ///
    /// # Errors
    /// Those of [`Self::mean`].
    pub fn resampled_means(&self, tasks: &[f64]) -> Result<Vec<f64>, StatisticsError> {
        finite("tasks", tasks)?;
        if tasks.is_empty() || self.resamples == 0 {
            return Err(StatisticsError::Nothing { what: if tasks.is_empty() { "tasks" } else { "resamples" } });
        }
        let mut rng = ChaCha8Rng::from_seed(*keyed(self.seed, 0, None, &["bootstrap"]).finalize().as_bytes());
        let mut one =
            |_| (0..tasks.len()).map(|_| tasks[below(&mut rng, tasks.len())]).sum::<f64>() / tasks.len() as f64;
        let mut means: Vec<f64> = (0..self.resamples).map(&mut one).collect();
        means.sort_by(f64::total_cmp);
        Ok(means)
    }

    /// The shares of the resamples below each end, by bias correction and acceleration.
    fn corrected_tails(&self, tasks: &[f64], value: f64, means: &[f64]) -> Option<(f64, f64)> {
        // Equal sums in another order differ in their last bits.
        let tie = 1e-12 * tasks.iter().fold(0.0_f64, |most, task| most.max(task.abs()));
        let lower = means.iter().filter(|mean| **mean < value - tie).count() as f64;
        let not_higher = means.iter().filter(|mean| **mean <= value + tie).count() as f64;
        let bias = quantile((lower + not_higher) / (2.0 * means.len() as f64));
        // Leaving a task out moves the mean by its distance from it, but for a factor that cancels.
        let distances: Vec<f64> = tasks.iter().map(|task| task - value).collect();
        let squares: f64 = distances.iter().map(|distance| distance * distance).sum();
        let cubes: f64 = distances.iter().map(|distance| distance * distance * distance).sum();
        let acceleration = cubes / (6.0 * squares * squares.sqrt());
        if !bias.is_finite() || !acceleration.is_finite() || squares <= tie * tie {
            return None;
        }
        let corrected = |z: f64| cumulative(bias + (bias + z) / (1.0 - acceleration * (bias + z)));
        let z = -quantile(self.level.tail());
        Some((corrected(-z), corrected(z)))
    }
}

/// The value below which a share of the sorted values lies, interpolated between neighbours (type 7 of Hyndman and Fan,
/// "Sample Quantiles in Statistical Packages", 1996).
fn at_share(sorted: &[f64], share: f64) -> f64 {
    let place = share.clamp(0.0, 1.0) * (sorted.len().saturating_sub(1)) as f64;
    let below = place.floor() as usize;
    match (sorted.get(below), sorted.get(below + 1)) {
        (Some(low), Some(high)) => low + (high - low) * (place - place.floor()),
        (Some(last), None) => *last,
        (None, _) => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bootstrap(method: Method) -> Bootstrap {
        Bootstrap { level: Level::PERCENT_95, method, resamples: 2_000, seed: 7 }
    }

    #[test]
    fn one_task_has_no_interval_and_equal_tasks_have_no_width() {
        for method in [Method::Percentile, Method::Bca] {
            let one = bootstrap(method).mean(&[0.4]).unwrap();
            assert_eq!((one.value, one.interval), (0.4, None));
            let all = bootstrap(method).mean(&[1.0; 20]).unwrap();
            assert_eq!(all.interval, Some(Interval { low: 1.0, high: 1.0 }));
            assert_eq!(all.method, Method::Percentile);
        }
    }

    #[test]
    fn nothing_and_nan_are_refused() {
        let bootstrap = bootstrap(Method::Percentile);
        assert_eq!(bootstrap.mean(&[]), Err(StatisticsError::Nothing { what: "tasks" }));
        assert!(matches!(bootstrap.mean(&[0.0, f64::NAN]), Err(StatisticsError::NotFinite { at: 1, .. })));
        let none = Bootstrap { resamples: 0, ..bootstrap };
        assert_eq!(none.mean(&[0.0, 1.0]), Err(StatisticsError::Nothing { what: "resamples" }));
    }

    #[test]
    fn a_seed_gives_the_same_draws_and_another_gives_others() {
        let tasks: Vec<f64> = (0..30).map(|at| f64::from(at % 7) / 7.0).collect();
        let first = bootstrap(Method::Bca);
        assert_eq!(first.resampled_means(&tasks), first.resampled_means(&tasks));
        assert_ne!(first.resampled_means(&tasks), Bootstrap { seed: 8, ..first }.resampled_means(&tasks));
    }

    #[test]
    fn every_resample_of_two_tasks_comes_as_often_as_it_should() {
        let means = bootstrap(Method::Percentile).resampled_means(&[0.0, 1.0]).unwrap();
        let count = |mean: f64| means.iter().filter(|at| **at == mean).count();
        assert_eq!(means.len(), 2_000);
        for (mean, expected) in [(0.0, 500_usize), (0.5, 1_000), (1.0, 500)] {
            assert!(count(mean).abs_diff(expected) < 100, "{mean}: {}", count(mean));
        }
    }

    #[test]
    fn the_correction_follows_the_longer_tail() {
        let mut tasks = vec![0.0; 25];
        tasks.extend([0.2, 0.5, 1.0, 1.0]);
        let plain = bootstrap(Method::Percentile).mean(&tasks).unwrap().interval.unwrap();
        let corrected = bootstrap(Method::Bca).mean(&tasks).unwrap();
        assert_eq!(corrected.method, Method::Bca);
        let corrected = corrected.interval.unwrap();
        assert!(corrected.low > plain.low && corrected.high > plain.high, "{plain:?} {corrected:?}");
    }

    #[test]
    fn quantiles_lie_between_neighbours() {
        assert_eq!(at_share(&[1.0, 2.0, 4.0], 0.75), 3.0);
        assert_eq!((at_share(&[1.0, 2.0], 0.0), at_share(&[1.0, 2.0], 1.0)), (1.0, 2.0));
    }

    proptest! {
        #[test]
        fn the_interval_stays_among_the_values_and_moves_with_them(
            tasks in prop::collection::vec(0.0..=1.0_f64, 2..30), shift in -3.0..3.0_f64
        ) {
            let few = Bootstrap { resamples: 200, ..bootstrap(Method::Percentile) };
            let Interval { low, high } = few.mean(&tasks).unwrap().interval.unwrap();
            prop_assert!(low <= high && low >= 0.0 && high <= 1.0);
            let moved: Vec<f64> = tasks.iter().map(|task| task + shift).collect();
            let moved = few.mean(&moved).unwrap().interval.unwrap();
            prop_assert!((moved.low - low - shift).abs() < 1e-9 && (moved.high - high - shift).abs() < 1e-9);
        }
    }
}
