//! The standard normal distribution.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// The chance of a value of at most `z`.
pub(super) fn cumulative(z: f64) -> f64 {
    0.5 * libm::erfc(-z * FRAC_1_SQRT_2)
}

fn density(z: f64) -> f64 {
    libm::exp(-0.5 * z * z) / (2.0 * PI).sqrt()
}

/// The `z` below which a value lies with the given chance; infinite at 0 and at 1, NaN outside of them.
///
/// Newton's method on the logarithm of the lower tail, which is concave. It starts left of the root, at the bound that
/// follows from Φ(−x) ≤ exp(−x²/2)/2 for x ≥ 0, so every step goes right and none beyond the root.
pub(super) fn quantile(chance: f64) -> f64 {
    if chance > 0.5 {
        return -quantile(1.0 - chance);
    }
    if chance <= 0.0 || chance.is_nan() {
        return if chance == 0.0 { f64::NEG_INFINITY } else { f64::NAN };
    }
    let wanted = libm::log(chance);
    let mut z = -(-2.0 * libm::log(2.0 * chance)).max(0.0).sqrt();
    for _ in 0..100 {
        let below = cumulative(z);
        let step = (libm::log(below) - wanted) * below / density(z);
        z -= step;
        if step.abs() <= f64::EPSILON * z.abs().max(f64::EPSILON) {
            break;
        }
    }
    z
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn well_known_quantiles() {
        assert_eq!(quantile(0.5), 0.0);
        for (chance, z) in
            [(0.975, 1.959_963_984_540_054), (0.8, 0.841_621_233_572_914_3), (0.005, -2.575_829_303_548_901)]
        {
            assert!((quantile(chance) - z).abs() < 1e-14, "{chance}: {}", quantile(chance));
        }
        assert_eq!((quantile(0.0), quantile(1.0)), (f64::NEG_INFINITY, f64::INFINITY));
        assert!(quantile(-0.1).is_nan() && quantile(1.1).is_nan() && quantile(f64::NAN).is_nan());
    }

    proptest! {
        #[test]
        fn the_quantile_undoes_the_distribution(exponent in -300.0..-0.302_f64) {
            let chance = 10_f64.powf(exponent);
            let back = cumulative(quantile(chance));
            prop_assert!((back / chance - 1.0).abs() < 1e-11, "{chance} {back}");
        }
    }
}
