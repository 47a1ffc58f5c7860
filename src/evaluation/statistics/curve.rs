//! What is solved for how much: the success-against-budget curve, and what it takes to a solution.

use super::{
    Bootstrap, Interval, Level, StatisticsError,
    checks::{not_negative, positive},
    task_means,
    tasks::mean,
    wilson,
};

/// Conversations by task, each with the cost at which it was solved, within one budget that was the same for all. The
/// unit is the caller's: programs, calls, tokens, money or seconds. Every task counts the same, whatever its number of
/// conversations.
///
/// Source: the empirical distribution of the cost to success with all else censored at the budget; run-time
/// distributions in Hoos and Stützle, "Evaluating Las Vegas Algorithms" (1998).
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    budget: f64,
    tasks: Vec<Vec<Option<f64>>>,
}

/// From this cost on the rate is so high.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// What is spent by each conversation.
    pub cost: f64,
    /// The share of tasks solved by then; with several conversations a task, the mean of their shares.
    pub rate: f64,
}

/// How a band around the curve is made, each point for itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Band {
    /// Wilson's interval; for one conversation a task only.
    Wilson(Level),
    /// The bootstrap over tasks, with the same draws at every point.
    Bootstrap(Bootstrap),
}

/// What a solution took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Conversations solved within the budget.
    pub solved: u64,
    /// All conversations.
    pub conversations: u64,
    /// The mean cost at which those were solved; `None` without any. It says nothing of the others, and falls where
    /// only the easy ones are solved.
    pub to_solution: Option<f64>,
    /// The mean of what came before the solving program, where the cost is counted in programs: its number less 1.
    ///
    /// Source: the "excess programs generated" of Liventsev, Grishina, Härmä and Moonen, "Fully Autonomous Programming
    /// with Large Language Models" (2023).
    pub excess: Option<f64>,
    /// The mean over all conversations of what they spent until solved or at their end, the budget: the restricted
    /// mean. Every task counts the same.
    ///
    /// Source: Royston and Parmar, "Restricted mean survival time" (2013).
    pub restricted: f64,
}

impl Curve {
    /// The curve of conversations by task: the cost at which each was solved, or `None`. What was solved beyond the
    /// budget counts as not solved.
    ///
    /// # Errors
    /// No task, a task without conversations, a cost or budget that is negative or not finite, a budget of 0.
    pub fn new(tasks: Vec<Vec<Option<f64>>>, budget: f64) -> Result<Self, StatisticsError> {
        positive("budget", budget)?;
        if tasks.is_empty() {
            return Err(StatisticsError::Nothing { what: "tasks" });
        }
        for (task, conversations) in tasks.iter().enumerate() {
            if conversations.is_empty() {
                return Err(StatisticsError::Nothing { what: "conversations" }.of_task(task));
            }
            for cost in conversations.iter().flatten() {
                not_negative("cost", *cost).map_err(|error| error.of_task(task))?;
            }
        }
        let within = |cost: Option<f64>| cost.filter(|cost| *cost <= budget);
        let tasks = tasks.into_iter().map(|task| task.into_iter().map(within).collect()).collect();
        Ok(Self { budget, tasks })
    }

    /// The rate solved when each conversation has spent so much.
    pub fn rate(&self, cost: f64) -> f64 {
        self.mean_of(|solved| f64::from(u8::from(solved.is_some_and(|solved| solved <= cost))))
    }

    /// Where the rate rises, from cost 0 to the budget; the first step is at 0, and none is at the budget but where it
    /// rises.
    pub fn steps(&self) -> Vec<Step> {
        let mut costs: Vec<f64> = self.tasks.iter().flatten().copied().flatten().chain([0.0]).collect();
        costs.sort_by(f64::total_cmp);
        costs.dedup();
        costs.into_iter().map(|cost| Step { cost, rate: self.rate(cost) }).collect()
    }

    /// An interval of the rate at each of the costs, `None` where [`Bootstrap::mean`] has none.
    ///
    /// # Errors
    /// Wilson's interval with several conversations of one task; what [`Bootstrap::mean`] refuses.
    pub fn band(&self, costs: &[f64], band: &Band) -> Result<Vec<Option<Interval>>, StatisticsError> {
        costs.iter().map(|cost| self.interval(*cost, band)).collect()
    }

    fn interval(&self, cost: f64, band: &Band) -> Result<Option<Interval>, StatisticsError> {
        let solved = |at: &Option<f64>| at.is_some_and(|at| at <= cost);
        match band {
            Band::Bootstrap(bootstrap) => {
                let outcomes =
                    |task: &Vec<Option<f64>>| task.iter().map(|at| f64::from(u8::from(solved(at)))).collect();
                let tasks: Vec<Vec<f64>> = self.tasks.iter().map(outcomes).collect();
                Ok(bootstrap.mean(&task_means(&tasks)?)?.interval)
            }
            Band::Wilson(level) => {
                if let Some(task) = self.tasks.iter().position(|task| task.len() > 1) {
                    let conversations = self.tasks[task].len();
                    return Err(StatisticsError::Clustered { conversations }.of_task(task));
                }
                let successes = self.tasks.iter().flatten().filter(|at| solved(at)).count();
                wilson(successes as u64, self.tasks.len() as u64, *level)
            }
        }
    }

    /// The area under the curve as a share of the whole, from 0 (nothing solved) to 1 (all solved at no cost): the rate
    /// at a budget drawn evenly from 0 to the whole.
    pub fn area(&self) -> f64 {
        self.mean_of(|solved| solved.map_or(0.0, |cost| 1.0 - cost / self.budget))
    }

    /// What a solution took.
    pub fn effort(&self) -> Effort {
        let costs: Vec<f64> = self.tasks.iter().flatten().copied().flatten().collect();
        let before: Vec<f64> = costs.iter().map(|cost| (cost - 1.0).max(0.0)).collect();
        Effort {
            solved: costs.len() as u64,
            conversations: self.tasks.iter().map(Vec::len).sum::<usize>() as u64,
            to_solution: (!costs.is_empty()).then(|| mean(&costs)),
            excess: (!costs.is_empty()).then(|| mean(&before)),
            restricted: self.mean_of(|solved| solved.unwrap_or(self.budget)),
        }
    }

    /// The mean over tasks of the mean over their conversations.
    fn mean_of(&self, value: impl Fn(Option<f64>) -> f64) -> f64 {
        let task = |task: &Vec<Option<f64>>| mean(&task.iter().map(|solved| value(*solved)).collect::<Vec<_>>());
        mean(&self.tasks.iter().map(task).collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{super::Method, *};

    fn bootstrap() -> Bootstrap {
        Bootstrap { level: Level::PERCENT_95, method: Method::Percentile, resamples: 500, seed: 3 }
    }

    #[test]
    fn the_rate_rises_where_something_was_solved() {
        let curve = Curve::new(vec![vec![Some(1.0), None], vec![Some(4.0), Some(1.0)]], 10.0).unwrap();
        let step = |cost, rate| Step { cost, rate };
        assert_eq!(curve.steps(), [step(0.0, 0.0), step(1.0, 0.5), step(4.0, 0.75)]);
        assert_eq!((curve.rate(0.9), curve.rate(1.0), curve.rate(100.0)), (0.0, 0.5, 0.75));
        assert!((curve.area() - (0.5 * 3.0 + 0.75 * 6.0) / 10.0).abs() < 1e-15);
        let effort = curve.effort();
        assert_eq!((effort.solved, effort.conversations), (3, 4));
        assert_eq!((effort.to_solution, effort.excess), (Some(2.0), Some(1.0)));
        assert_eq!(effort.restricted, 4.0);
    }

    #[test]
    fn nothing_solved_and_all_solved_at_no_cost() {
        let none = Curve::new(vec![vec![None]; 3], 5.0).unwrap();
        assert_eq!((none.area(), none.rate(5.0), none.steps().len()), (0.0, 0.0, 1));
        assert_eq!((none.effort().to_solution, none.effort().excess, none.effort().restricted), (None, None, 5.0));
        let all = Curve::new(vec![vec![Some(0.0)]; 3], 5.0).unwrap();
        assert_eq!((all.area(), all.rate(0.0), all.effort().excess), (1.0, 1.0, Some(0.0)));
    }

    #[test]
    fn beyond_the_budget_is_not_solved_and_at_it_is() {
        let curve = Curve::new(vec![vec![Some(5.0)], vec![Some(5.1)]], 5.0).unwrap();
        assert_eq!((curve.rate(5.0), curve.rate(6.0), curve.effort().solved), (0.5, 0.5, 1));
    }

    #[test]
    fn tasks_count_the_same_however_many_conversations_they_have() {
        let curve = Curve::new(vec![vec![Some(1.0)], vec![None; 9]], 2.0).unwrap();
        assert_eq!((curve.rate(2.0), curve.area(), curve.effort().restricted), (0.5, 0.25, 1.5));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        assert!(Curve::new(vec![], 1.0).is_err());
        assert!(Curve::new(vec![vec![]], 1.0).is_err());
        for wrong in [f64::NAN, f64::INFINITY, -1.0] {
            assert!(Curve::new(vec![vec![None]], wrong).is_err());
            let error = Curve::new(vec![vec![None], vec![Some(wrong)]], 1.0).unwrap_err();
            assert!(error.to_string().starts_with("task 1: the cost is"), "{error}");
        }
        assert!(Curve::new(vec![vec![None]], 0.0).is_err());
    }

    #[test]
    fn a_band_of_independent_trials_is_refused_for_clusters() {
        let single = Curve::new(vec![vec![Some(1.0)], vec![None]], 4.0).unwrap();
        let band = single.band(&[0.0, 2.0], &Band::Wilson(Level::PERCENT_95)).unwrap();
        assert_eq!(band, [wilson(0, 2, Level::PERCENT_95).unwrap(), wilson(1, 2, Level::PERCENT_95).unwrap()]);
        let several = Curve::new(vec![vec![None], vec![Some(1.0), None]], 4.0).unwrap();
        assert_eq!(
            several.band(&[1.0], &Band::Wilson(Level::PERCENT_95)).unwrap_err().to_string(),
            "task 1: it has 2 conversations, which are not independent trials: use the bootstrap over tasks"
        );
        let band = several.band(&[1.0], &Band::Bootstrap(bootstrap())).unwrap();
        assert_eq!(band, [Some(Interval { low: 0.0, high: 0.5 })]);
    }

    proptest! {
        #[test]
        fn it_never_falls_and_area_and_restricted_mean_say_the_same(
            tasks in prop::collection::vec(prop::collection::vec(prop::option::of(0.0..30.0_f64), 1..4), 1..12)
        ) {
            let curve = Curve::new(tasks, 20.0).unwrap();
            let steps = curve.steps();
            prop_assert!(steps.windows(2).all(|pair| pair[0].cost < pair[1].cost && pair[0].rate < pair[1].rate));
            prop_assert!((curve.effort().restricted - 20.0 * (1.0 - curve.area())).abs() < 1e-9);
            let costs: Vec<f64> = steps.iter().map(|step| step.cost).collect();
            let band = curve.band(&costs, &Band::Bootstrap(bootstrap())).unwrap();
            let rises = |pair: &[Option<Interval>]| match (pair[0], pair[1]) {
                (Some(a), Some(b)) => a.low <= b.low + 1e-12 && a.high <= b.high + 1e-12,
                (a, b) => a == b,
            };
            prop_assert!(band.windows(2).all(rises));
        }
    }
}
