use rand_chacha::rand_core::Rng;

use super::{Epsilon, agreement, epsilon_lexicase, lexicase, lexicase_single_order, tournament, truncation};

/// A way to choose parents, with its settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// [`truncation`].
    Truncation,
    /// [`tournament`].
    Tournament {
        /// Candidates in one tournament.
        size: usize,
        /// Whether a winner may win again.
        replacement: bool,
    },
    /// [`lexicase`].
    Lexicase {
        /// Whether a parent may be chosen again.
        replacement: bool,
    },
    /// [`epsilon_lexicase`].
    EpsilonLexicase {
        /// How far below the best still passes.
        epsilon: Epsilon,
        /// Whether a parent may be chosen again.
        replacement: bool,
    },
    /// [`lexicase_single_order`].
    LexicaseSingleOrder,
    /// [`agreement`].
    Agreement,
}

impl Method {
    /// The chosen candidates in the order of choice; see the module for what holds of all methods.
    pub fn choose(self, scores: &[Vec<f64>], width: usize, rng: &mut impl Rng) -> Vec<usize> {
        match self {
            Self::Truncation => truncation(scores, width),
            Self::Tournament { size, replacement } => tournament(scores, width, size, replacement, rng),
            Self::Lexicase { replacement } => lexicase(scores, width, replacement, rng),
            Self::EpsilonLexicase { epsilon, replacement } => {
                epsilon_lexicase(scores, width, epsilon, replacement, rng)
            }
            Self::LexicaseSingleOrder => lexicase_single_order(scores, width, rng),
            Self::Agreement => agreement(scores, width),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use rand_chacha::{
        ChaCha8Rng,
        rand_core::{Rng, SeedableRng},
    };

    use super::{Epsilon, Method};
    use crate::selection::truncation;

    fn methods() -> impl Strategy<Value = Method> {
        let epsilon = prop_oneof![(0.0f64..0.6).prop_map(Epsilon::Fixed), Just(Epsilon::MedianAbsoluteDeviation),];
        prop_oneof![
            Just(Method::Truncation),
            (0usize..6, any::<bool>()).prop_map(|(size, replacement)| Method::Tournament { size, replacement }),
            any::<bool>().prop_map(|replacement| Method::Lexicase { replacement }),
            (epsilon, any::<bool>())
                .prop_map(|(epsilon, replacement)| Method::EpsilonLexicase { epsilon, replacement }),
            Just(Method::LexicaseSingleOrder),
            Just(Method::Agreement),
        ]
    }

    /// Scores as they come, with ties, and some that should not come: NaN, infinities, rows of other lengths.
    fn matrices() -> impl Strategy<Value = Vec<Vec<f64>>> {
        let score = prop_oneof![
            6 => (0u8..5).prop_map(|quarters| f64::from(quarters) / 4.0),
            2 => 0.0f64..1.0,
            1 => prop::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0]),
        ];
        prop::collection::vec(prop::collection::vec(score, 0..6), 0..16)
    }

    fn may_repeat(method: Method) -> bool {
        match method {
            Method::Tournament { replacement, .. }
            | Method::Lexicase { replacement }
            | Method::EpsilonLexicase { replacement, .. } => replacement,
            Method::Truncation | Method::LexicaseSingleOrder | Method::Agreement => false,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

        #[test]
        fn the_promises_of_the_module_hold_of_every_method(
            method in methods(),
            scores in matrices(),
            width in prop_oneof![0usize..20, Just(usize::MAX)],
            seed: u64,
        ) {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let chosen = method.choose(&scores, width, &mut rng);
            let most = width.min(scores.len());
            prop_assert!(chosen.iter().all(|&index| index < scores.len()));
            if method == Method::LexicaseSingleOrder {
                prop_assert!(chosen.len() <= most && (chosen.is_empty() == (most == 0)));
            } else {
                prop_assert_eq!(chosen.len(), most);
            }
            if !may_repeat(method) {
                prop_assert_eq!(chosen.iter().collect::<BTreeSet<_>>().len(), chosen.len());
                if width >= scores.len() {
                    prop_assert_eq!(&chosen, &truncation(&scores, width));
                    let untouched = ChaCha8Rng::seed_from_u64(seed).next_u64();
                    prop_assert_eq!(rng.next_u64(), untouched);
                }
            }
            let again = method.choose(&scores, width, &mut ChaCha8Rng::seed_from_u64(seed));
            prop_assert_eq!(chosen, again);
        }
    }
}
