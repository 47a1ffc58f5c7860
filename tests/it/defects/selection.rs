//! Defects in how parents are chosen.

use std::collections::BTreeSet;

use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
use rolecall::selection::{lexicase, lexicase_single_order};
use serde_json::json;

use crate::{
    conversation::story,
    stage::{MadeUpSandbox, company, hold_all, on_stage, talkative},
    support::{node, seidr, task},
};

fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Each of `number` specialists passes one test that nobody else passes.
fn specialists(number: usize) -> Vec<Vec<f64>> {
    (0..number).map(|own| (0..number).map(|test| f64::from(u8::from(test == own))).collect()).collect()
}

#[test]
fn defect_02_lexicase_draws_an_order_for_each_parent_and_survives_ties() {
    // Independent orders choose different specialists: with replacement, of ten draws from ten about 6.5 differ.
    let scores = specialists(10);
    let (mut different, mut sets) = (0, BTreeSet::new());
    for seed in 0..100 {
        let parents = lexicase(&scores, 10, true, &mut rng(seed));
        assert_eq!(parents.len(), 10);
        let distinct: BTreeSet<usize> = parents.into_iter().collect();
        different += distinct.len();
        sets.insert(distinct);
        // Without replacement nine of ten are nine different ones; one order has a single survivor.
        let distinct: BTreeSet<usize> = lexicase(&scores, 9, false, &mut rng(seed)).into_iter().collect();
        assert_eq!(distinct.len(), 9);
        assert_eq!(lexicase_single_order(&scores, 9, &mut rng(seed)).len(), 1);
    }
    assert!((600..700).contains(&different), "{different}");
    assert!(sets.len() > 50, "{}", sets.len());

    // Total on ties, on one candidate, on none, without tests, with NaN; wider than the pool.
    let ties = vec![vec![1.0, 0.0]; 6];
    for width in 0..9 {
        for seed in 0..20 {
            let parents: BTreeSet<usize> = lexicase(&ties, width, false, &mut rng(seed)).into_iter().collect();
            assert_eq!(parents.len(), width.min(6));
            assert_eq!(lexicase_single_order(&ties, width, &mut rng(seed)).len(), width.min(6));
        }
    }
    let odd = [vec![f64::NAN, 1.0], vec![f64::NAN], vec![]];
    for (pool, width) in [(&odd[..], 2), (&odd[..1], 1), (&odd[1..], 1), (&odd[2..], 5), (&odd[..0], 3)] {
        assert_eq!(lexicase(pool, width, false, &mut rng(1)).len(), width.min(pool.len()));
        assert!(lexicase_single_order(pool, width, &mut rng(1)).len() <= width);
    }
    assert_eq!(lexicase(&odd, 1, false, &mut rng(1)), [0], "a number beats what is missing");
}

#[test]
fn defect_08_the_same_seed_selects_the_same_parents() {
    let scores = specialists(12);
    let of_seed = |seed| lexicase(&scores, 6, false, &mut rng(seed));
    assert_eq!(of_seed(3), of_seed(3));
    assert!((0..10).map(of_seed).collect::<BTreeSet<_>>().len() == 10);

    // And in a conversation, whatever else is held at the time; each sample has choices of its own.
    on_stage(async {
        for selection in ["tournament", "lexicase", "epsilon_lexicase", "lexicase_single_order"] {
            let mut plan = seidr(4, 4, 40);
            plan.nodes[2] = node("ranker", "ranker", json!({ "beam_width": 2, "selection": selection }));
            let company = company(plan, talkative(), MadeUpSandbox::by_text(), None);
            let alone = hold_all(&company, &task(8, None), 8, 1).await;
            let together = hold_all(&company, &task(8, None), 8, 64).await;
            let stories = |records: &[_]| records.iter().map(story).collect::<Vec<_>>();
            assert_eq!(stories(&alone), stories(&together), "{selection}");
        }
    });
}
