//! From the outcomes of samples to one number a task, and from two arms to one difference a task.

use super::{StatisticsError, checks::finite};

/// The mean; 0 of no numbers, which callers refuse before.
pub(super) fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// The mean outcome of each task, in their order. Outcomes are 0 and 1, or shares such as of passed tests.
///
/// # Errors
/// No task, a task without an outcome, an outcome that is not finite.
pub fn task_means(tasks: &[Vec<f64>]) -> Result<Vec<f64>, StatisticsError> {
    if tasks.is_empty() {
        return Err(StatisticsError::Nothing { what: "tasks" });
    }
    let one = |(task, outcomes): (usize, &Vec<f64>)| {
        if outcomes.is_empty() {
            return Err(StatisticsError::Nothing { what: "outcomes" }.of_task(task));
        }
        finite("outcomes", outcomes).map_err(|error| error.of_task(task))?;
        Ok(mean(outcomes))
    };
    tasks.iter().enumerate().map(one).collect()
}

/// Mean outcome of the arm minus that of the baseline, task by task. Both must be of the same tasks in the same order;
/// the numbers of samples may differ.
///
/// # Errors
/// Different numbers of tasks, and what [`task_means`] refuses.
pub fn paired_differences(arm: &[Vec<f64>], baseline: &[Vec<f64>]) -> Result<Vec<f64>, StatisticsError> {
    if arm.len() != baseline.len() {
        return Err(StatisticsError::Unpaired { arm: arm.len(), baseline: baseline.len() });
    }
    let (arm, baseline) = (task_means(arm)?, task_means(baseline)?);
    Ok(arm.iter().zip(&baseline).map(|(arm, baseline)| arm - baseline).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_count_the_same_however_many_samples_they_have() {
        assert_eq!(task_means(&[vec![1.0, 0.0], vec![1.0]]).unwrap(), [0.5, 1.0]);
        assert_eq!(paired_differences(&[vec![1.0]], &[vec![0.0, 1.0, 0.0, 0.0]]).unwrap(), [0.75]);
    }

    #[test]
    fn what_has_no_mean_is_refused_with_its_task() {
        assert_eq!(task_means(&[]), Err(StatisticsError::Nothing { what: "tasks" }));
        assert_eq!(task_means(&[vec![1.0], vec![]]).unwrap_err().to_string(), "task 1: there are no outcomes");
        let error = task_means(&[vec![1.0, f64::NAN]]).unwrap_err();
        assert_eq!(error.to_string(), "task 0: number 1 of the outcomes is NaN, which is not finite");
        assert_eq!(
            paired_differences(&[vec![1.0]], &[]).unwrap_err().to_string(),
            "one arm has 1 tasks, the other 0: they cannot be paired"
        );
    }
}
