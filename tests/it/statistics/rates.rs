//! Of one arm: pass@k, Wilson's interval, bounds, the curve.

use rolecall::evaluation::statistics::{
    Band, Curve, Endings, Interval, Level, Samples, difference_bounds, mean_pass_at_k, pass_at_k, wilson,
};
use serde_json::{Value, json};

use super::reference::{Inputs, compare};

#[test]
fn pass_at_k_is_that_of_its_authors() {
    let mut inputs = Inputs::of(1);
    let cases: Vec<_> = (0..300)
        .map(|at| {
            let (tasks, most) =
                (if at % 3 == 0 { inputs.whole(2, 20) } else { 1 }, inputs.one_of(&[1, 5, 20, 200, 3_000]));
            let tasks: Vec<Samples> = inputs.many(tasks, |inputs| {
                let samples = inputs.whole(1, most);
                Samples { samples, solved: inputs.whole(0, samples) }
            });
            let k = inputs.whole(1, tasks.iter().map(|task| task.samples).min().unwrap());
            let ours = mean_pass_at_k(&tasks, k).unwrap();
            if let [task] = tasks[..] {
                assert_eq!(pass_at_k(task, k), Ok(ours));
            }
            let samples: Vec<u64> = tasks.iter().map(|task| task.samples).collect();
            let solved: Vec<u64> = tasks.iter().map(|task| task.solved).collect();
            (json!({ "samples": samples, "solved": solved, "k": k }), json!(ours))
        })
        .collect();
    compare("pass_at_k", &cases);
}

#[test]
fn wilson_is_statsmodels() {
    let mut inputs = Inputs::of(2);
    let cases: Vec<_> = (0..400)
        .map(|at| {
            let most = inputs.one_of(&[1, 10, 164, 100_000]);
            let trials = inputs.whole(1, most);
            let successes = match at % 5 {
                0 => 0,
                1 => trials,
                _ => inputs.whole(0, trials),
            };
            let level = inputs.one_of(&[0.5, 0.8, 0.9, 0.95, 0.99, 0.999_9]);
            let Interval { low, high } = wilson(successes, trials, Level::new(level).unwrap()).unwrap().unwrap();
            (json!({ "successes": successes, "trials": trials, "level": level }), json!([low, high]))
        })
        .collect();
    compare("wilson", &cases);
}

#[test]
fn bounds_are_those_of_all_that_could_have_been() {
    let mut inputs = Inputs::of(3);
    let cases: Vec<_> = (0..200)
        .map(|_| {
            let mut endings = || Endings {
                solved: inputs.whole(0, 9),
                unsolved: inputs.whole(1, 9),
                infrastructure_errors: inputs.whole(0, 5),
                model_errors: inputs.whole(0, 5),
            };
            let (arm, baseline) = (endings(), endings());
            let Interval { low, high } = difference_bounds(arm, baseline).unwrap();
            let counts = |of: Endings| json!([of.solved, of.unsolved, of.infrastructure_errors + of.model_errors]);
            let ours = json!([arm.worst().rate(), arm.best().rate(), low, high]);
            (json!({ "arm": counts(arm), "baseline": counts(baseline) }), ours)
        })
        .collect();
    compare("bounds", &cases);
}

#[test]
fn the_curve_is_scipys_distribution_of_what_is_censored_at_the_budget() {
    let mut inputs = Inputs::of(4);
    let cases: Vec<_> = (0..200)
        .map(|at| {
            let budget = inputs.one_of(&[5.0, 30.0, 100.0]);
            let (tasks, most) = (inputs.whole(1, 25), if at % 2 == 0 { 1 } else { 5 });
            let solved = |inputs: &mut Inputs| {
                // Whole numbers as of programs, some at and some beyond the budget, or money.
                let cost =
                    if at % 3 == 0 { inputs.unit() * 1.2 * budget } else { inputs.whole(1, budget as u64 + 2) as f64 };
                (inputs.unit() < 0.6).then_some(cost)
            };
            let tasks: Vec<Vec<Option<f64>>> = inputs.many(tasks, |inputs| {
                let conversations = inputs.whole(1, most);
                inputs.many(conversations, solved)
            });
            let mut costs = inputs.many(4, |inputs| inputs.unit() * budget);
            costs.extend([0.0, 1.0, 2.0, budget]);
            let curve = Curve::new(tasks.clone(), budget).unwrap();
            let rates: Vec<f64> = costs.iter().map(|cost| curve.rate(*cost)).collect();
            let level = Level::new(0.9).unwrap();
            let band = curve.band(&costs, &Band::Wilson(level));
            assert_eq!(band.is_ok(), tasks.iter().all(|task| task.len() == 1));
            let ends = |at: Option<Interval>| at.map(|Interval { low, high }| [low, high]);
            let band = band.ok().map(|band| band.into_iter().map(ends).collect::<Vec<_>>());
            let effort = curve.effort();
            let ours: Value = json!({
                "rates": rates, "area": curve.area(), "restricted": effort.restricted,
                "to_solution": effort.to_solution, "band": band,
            });
            (json!({ "tasks": tasks, "budget": budget, "costs": costs, "level": 0.9 }), ours)
        })
        .collect();
    compare("curve", &cases);
}
