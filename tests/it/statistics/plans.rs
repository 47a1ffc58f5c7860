//! Of an experiment that is not yet begun: what it could detect.

use rolecall::evaluation::statistics::{Calculation, Dependence, Level, PairedDesign, Spread};
use serde_json::json;

use super::reference::{Inputs, compare};

fn design(inputs: &mut Inputs) -> (PairedDesign, f64) {
    let level = inputs.one_of(&[0.9, 0.95, 0.99]);
    let tasks = u32::try_from(inputs.whole(4, 500)).unwrap();
    let power = inputs.one_of(&[0.5, 0.8, 0.9]);
    (PairedDesign { tasks, level: Level::new(level).unwrap(), power }, level)
}

/// Compares so many gains of up to so many tasks.
fn compare_gains(seed: u64, number: u32, most: u32, calculation: Calculation) {
    let mut inputs = Inputs::of(seed);
    let mut named = 0;
    let cases: Vec<_> = (0..number)
        .map(|_| {
            let (mut design, level) = design(&mut inputs);
            design.tasks = design.tasks.min(most);
            let baseline = 0.02 + 0.96 * inputs.unit();
            let share = inputs.unit();
            let (dependence, discordance, correlation) = match inputs.whole(0, 1) {
                0 => (Dependence::Correlation(share), None, Some(share)),
                // So that a gain of 0 is possible.
                _ => {
                    let discordance = share * 2.0 * baseline.min(1.0 - baseline);
                    (Dependence::Discordance(discordance), Some(discordance), None)
                }
            };
            let ours = design.detectable_gain(baseline, dependence, calculation).unwrap();
            named += u32::from(ours.is_some());
            let case = json!({
                "tasks": design.tasks, "level": level, "power": design.power, "baseline": baseline,
                "discordance": discordance, "correlation": correlation, "exact": calculation == Calculation::Exact,
            });
            (case, json!(ours))
        })
        .collect();
    assert!(named > number / 3 && named < number, "{named} of {number} cases with a gain");
    compare("detectable_gain", &cases);
}

#[test]
fn the_gain_that_mcnemar_finds_has_the_power_that_statsmodels_says() {
    compare_gains(20, 300, 500, Calculation::Normal);
}

#[test]
fn the_gain_that_the_exact_test_finds_has_the_power_of_all_tables() {
    compare_gains(23, 24, 120, Calculation::Exact);
}

#[test]
fn the_difference_of_means_is_that_of_statsmodels() {
    let mut inputs = Inputs::of(21);
    let cases: Vec<_> = (0..300)
        .map(|_| {
            let (design, level) = design(&mut inputs);
            let spread = Spread { between: inputs.unit() * 0.3, within: inputs.unit() * 0.5 };
            let samples = u32::try_from(inputs.whole(1, 20)).unwrap();
            let ours = design.detectable_difference(spread, samples, 1e6).unwrap();
            let case = json!({
                "tasks": design.tasks, "level": level, "power": design.power,
                "between": spread.between, "within": spread.within, "samples": samples,
            });
            (case, json!(ours))
        })
        .collect();
    compare("detectable_difference", &cases);
}

#[test]
fn the_assumed_spread_is_that_of_the_covariances() {
    let mut inputs = Inputs::of(22);
    let cases: Vec<_> = (0..200)
        .map(|_| {
            let (baseline, task_share, kinship) = (inputs.unit(), inputs.unit(), inputs.unit());
            let samples = u32::try_from(inputs.whole(1, 10)).unwrap();
            let ours = Spread::assumed(baseline, task_share, kinship).unwrap().of_one_task(samples).unwrap();
            let case =
                json!({ "baseline": baseline, "task_share": task_share, "kinship": kinship, "samples": samples });
            (case, json!(ours))
        })
        .collect();
    compare("spread", &cases);
}
