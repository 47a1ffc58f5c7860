//! Of two arms: the bootstrap, McNemar's test, sign flips; of several: Holm.

use rolecall::evaluation::statistics::{
    Bootstrap, Interval, Level, McNemar, Method, SignFlips, holm, paired_differences,
};
use serde_json::{Value, json};

use super::reference::{Inputs, ask, assert_near, compare};

fn named(method: Method) -> &'static str {
    match method {
        Method::Percentile => "percentile",
        Method::Bca => "BCa",
    }
}

#[test]
fn the_bootstrap_reads_its_resamples_as_scipy_does() {
    let mut inputs = Inputs::of(10);
    let cases: Vec<_> = (0..200_u64)
        .map(|at| {
            let number = inputs.whole(2, 40);
            // Solved or not, shares of five samples, shares of passed tests.
            let mut tasks = match at % 3 {
                0 => inputs.many(number, |inputs| inputs.whole(0, 1) as f64),
                1 => inputs.many(number, |inputs| inputs.whole(0, 5) as f64 / 5.0),
                _ => inputs.many(number, Inputs::unit),
            };
            // Neither all alike nor, more than needs be, even: the correction is not defined there.
            (tasks[0], tasks[1]) = (0.0, 1.0);
            let method = inputs.one_of(&[Method::Percentile, Method::Bca]);
            let level = inputs.one_of(&[0.8, 0.95, 0.99]);
            let bootstrap = Bootstrap { level: Level::new(level).unwrap(), method, resamples: 400, seed: at };
            let estimate = bootstrap.mean(&tasks).unwrap();
            assert_eq!(estimate.method, method);
            let Interval { low, high } = estimate.interval.unwrap();
            let means = bootstrap.resampled_means(&tasks).unwrap();
            (json!({ "tasks": tasks, "level": level, "method": named(method), "means": means }), json!([low, high]))
        })
        .collect();
    compare("bootstrap", &cases);
}

#[test]
fn the_bootstrap_of_a_paired_difference_draws_as_scipy_does() {
    const RESAMPLES: u32 = 20_000;
    let mut inputs = Inputs::of(11);
    let cases: Vec<_> = (0..12_u64)
        .map(|at| {
            let number = inputs.whole(20, 60);
            let mut arm = || {
                inputs.many(number, |inputs| {
                    let samples = inputs.whole(1, 6);
                    inputs.many(samples, Inputs::unit)
                })
            };
            let (arm, baseline) = (arm(), arm());
            let method = if at % 2 == 0 { Method::Percentile } else { Method::Bca };
            let bootstrap = Bootstrap { level: Level::PERCENT_95, method, resamples: RESAMPLES, seed: at };
            let ours = bootstrap.mean(&paired_differences(&arm, &baseline).unwrap()).unwrap();
            let case = json!({
                "arm": arm, "baseline": baseline, "level": 0.95, "method": named(method), "resamples": RESAMPLES,
            });
            (case, ours)
        })
        .collect();
    let questions: Vec<Value> = cases.iter().map(|(case, _)| case.clone()).collect();
    for ((case, ours), theirs) in cases.iter().zip(ask("bootstrap_paired", &questions)) {
        let [value, low, high, error] = serde_json::from_value(theirs).unwrap();
        assert_near(ours.value, value, 1e-9, case);
        // A quantile at 2.5 % of 20,000 draws has a standard error of 0.019 of these; there are two.
        let Interval { low: our_low, high: our_high } = ours.interval.unwrap();
        assert_near(our_low, low, 0.14 * error, case);
        assert_near(our_high, high, 0.14 * error, case);
    }
}

#[test]
fn mcnemar_is_statsmodels() {
    let mut inputs = Inputs::of(12);
    let cases: Vec<_> = (0..300)
        .map(|_| {
            let most = inputs.one_of(&[0, 3, 20, 164, 2_000]);
            let mut count = || inputs.whole(0, most);
            let test = McNemar::of_counts(count(), count(), count(), count());
            let case = json!({
                "both": test.both, "neither": test.neither,
                "arm_only": test.arm_only, "baseline_only": test.baseline_only,
            });
            (case, json!(test.p_value))
        })
        .collect();
    compare("mcnemar", &cases);
}

#[test]
fn all_sign_flips_of_a_few_tasks_are_scipys() {
    let mut inputs = Inputs::of(13);
    let cases: Vec<_> = (0..200)
        .map(|at| {
            let number = inputs.whole(2, 9);
            // Eighths are exact in binary, so scipy sees the ties too.
            let differences = match at % 2 {
                0 => inputs.many(number, |inputs| inputs.whole(0, 16) as f64 / 8.0 - 1.0),
                _ => inputs.many(number, |inputs| inputs.unit() * 2.0 - 1.0),
            };
            let test = SignFlips::keyed_by(1).test(&differences).unwrap();
            assert!(test.exact);
            (json!({ "differences": differences }), json!(test.p_value))
        })
        .collect();
    compare("sign_flip", &cases);
}

/// Differences of shares of five samples, as numbers of samples.
fn fifths(inputs: &mut Inputs, changed: u64) -> Vec<i64> {
    inputs.many(changed, |inputs| {
        let size = i64::try_from(inputs.whole(1, 5)).unwrap();
        if inputs.unit() < 0.6 { size } else { -size }
    })
}

#[test]
fn sign_flips_of_shares_are_those_of_whole_numbers_with_all_their_ties() {
    let mut inputs = Inputs::of(14);
    let cases: Vec<_> = (0..120)
        .map(|_| {
            let changed = inputs.whole(1, 14);
            let numbers = fifths(&mut inputs, changed);
            let mut differences: Vec<f64> = numbers.iter().map(|number| *number as f64 / 5.0).collect();
            differences.extend([0.0; 3]);
            let test = SignFlips::keyed_by(1).test(&differences).unwrap();
            assert_eq!((test.changed, test.exact), (changed, true));
            (json!({ "numbers": numbers }), json!(test.p_value))
        })
        .collect();
    compare("sign_flip_whole", &cases);
}

#[test]
fn drawn_sign_flips_come_close_to_all_of_many_tasks() {
    const DRAWS: u32 = 20_000;
    let mut inputs = Inputs::of(15);
    let cases: Vec<_> = (0..25)
        .map(|seed| {
            let changed = inputs.whole(21, 150);
            let numbers = fifths(&mut inputs, changed);
            let differences: Vec<f64> = numbers.iter().map(|number| *number as f64 / 5.0).collect();
            let flips = SignFlips { draws: DRAWS, ..SignFlips::keyed_by(seed) };
            let test = flips.test(&differences).unwrap();
            assert!(!test.exact);
            (json!({ "numbers": numbers }), test.p_value)
        })
        .collect();
    let questions: Vec<Value> = cases.iter().map(|(case, _)| case.clone()).collect();
    for ((case, ours), theirs) in cases.iter().zip(ask("sign_flip_whole", &questions)) {
        let theirs = theirs.as_f64().unwrap();
        let error = (theirs * (1.0 - theirs) / f64::from(DRAWS)).sqrt() + 1.0 / f64::from(DRAWS);
        assert_near(*ours, theirs, 5.0 * error, case);
    }
}

#[test]
fn holm_is_statsmodels() {
    let mut inputs = Inputs::of(16);
    let cases: Vec<_> = (0..300)
        .map(|at| {
            let number = inputs.whole(1, 30);
            // Small ones, and ones with ties.
            let p_values = match at % 2 {
                0 => inputs.many(number, |inputs| inputs.unit().powi(4)),
                _ => inputs.many(number, |inputs| inputs.whole(0, 20) as f64 / 20.0),
            };
            let ours = holm(&p_values).unwrap();
            (json!({ "p_values": p_values }), json!(ours))
        })
        .collect();
    compare("holm", &cases);
}
