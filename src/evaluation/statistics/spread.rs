//! How much the difference of two arms varies from task to task, and from sample to sample of one task.

use super::{
    StatisticsError,
    checks::{not_negative, share},
};

/// The variance of a task's difference between two arms, in its two parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Of what the difference of a task would be with endless samples.
    pub between: f64,
    /// Of one sample's difference around that; it falls with the number of samples.
    pub within: f64,
}

impl Spread {
    /// The spread that follows from assumptions, where nothing was measured: both arms solve a sample with chance
    /// `baseline`; the share `task_share` of the variance p(1−p) of one sample is due to its task (the intraclass
    /// correlation); `kinship` is the correlation of the arms' rates over tasks. Then the difference varies by
    /// 2p(1−p)·ι·(1−r) between tasks and by 2p(1−p)·(1−ι) within them.
    ///
    /// # Errors
    /// A number outside of 0 to 1.
    pub fn assumed(baseline: f64, task_share: f64, kinship: f64) -> Result<Self, StatisticsError> {
        let baseline = share("baseline rate", baseline)?;
        let task_share = share("share of variance between tasks", task_share)?;
        let kinship = share("correlation of the arms over tasks", kinship)?;
        let one_arm = baseline * (1.0 - baseline);
        Ok(Self { between: 2.0 * one_arm * task_share * (1.0 - kinship), within: 2.0 * one_arm * (1.0 - task_share) })
    }

    /// The standard deviation of the difference of one task, with so many samples of each arm.
    ///
    /// # Errors
    /// A part that is negative or not finite; no samples.
    pub fn of_one_task(self, samples: u32) -> Result<f64, StatisticsError> {
        let between = not_negative("variance between tasks", self.between)?;
        let within = not_negative("variance within tasks", self.within)?;
        if samples == 0 {
            return Err(StatisticsError::Nothing { what: "samples" });
        }
        Ok((between + within / f64::from(samples)).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_lessen_what_is_within_tasks_only() {
        let spread = Spread { between: 0.09, within: 0.07 };
        assert!((spread.of_one_task(1).unwrap() - 0.4).abs() < 1e-15);
        assert!((spread.of_one_task(u32::MAX).unwrap() - 0.3).abs() < 1e-9);
        assert_eq!(spread.of_one_task(0), Err(StatisticsError::Nothing { what: "samples" }));
        assert!(Spread { between: -0.1, within: 0.0 }.of_one_task(1).is_err());
        assert!(Spread { between: 0.0, within: f64::NAN }.of_one_task(1).is_err());
    }

    #[test]
    fn what_is_assumed_adds_up_to_two_arms() {
        // Unrelated arms: twice p(1−p), however it is split.
        for task_share in [0.0, 0.3, 1.0] {
            let spread = Spread::assumed(0.4, task_share, 0.0).unwrap();
            assert!((spread.between + spread.within - 0.48).abs() < 1e-15);
        }
        // Tasks decide all and both arms agree on them: nothing varies.
        assert_eq!(Spread::assumed(0.4, 1.0, 1.0).unwrap(), Spread { between: 0.0, within: 0.0 });
        assert_eq!(Spread::assumed(1.0, 0.5, 0.5).unwrap(), Spread { between: 0.0, within: 0.0 });
        for wrong in [f64::NAN, -0.1, 1.1] {
            assert!(Spread::assumed(wrong, 0.5, 0.5).is_err());
            assert!(Spread::assumed(0.5, wrong, 0.5).is_err() && Spread::assumed(0.5, 0.5, wrong).is_err());
        }
    }
}
