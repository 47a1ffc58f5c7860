//! All edits of one program, and the order in which they are tried.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};

use super::{
    edit::Edit,
    literals::Literals,
    localisation::Suspicion,
    operators, prior,
    scene::Scene,
    shape::Types,
    syntax::{Syntax, parser, parses},
};
use crate::domain::{Language, Program, ProgramHash};

/// Longest program that is looked at, in bytes.
pub(super) const MAX_PROGRAM_BYTES: usize = 200 << 10;
/// How much an edit's key grows with the number of edits that its operator has proposed before at the same node.
const RANK_WEIGHT: f64 = 1.0;
/// Edits that every operator is given in advance, so that one with very few does not come first for that alone.
const EDITS_IN_ADVANCE: f64 = 20.0;
/// Edits that pairs are made of: the first in order.
const PAIRED: usize = 400;

/// The edits of one program: a pure function of its text, its types and the literals of the tests.
pub(super) struct Space {
    source: String,
    edits: Vec<Edit>,
    /// Of each operator.
    priors: Vec<f64>,
    /// What each edit gives: its hash, or nothing where the result does not parse.
    results: Vec<OnceLock<Option<ProgramHash>>>,
}

/// A program that an edit gives.
pub(super) struct Mutant {
    pub(super) text: String,
    pub(super) hash: ProgramHash,
    /// Operator and line, for notes.
    pub(super) note: String,
}

impl Space {
    /// Empty for a program that does not parse or is too long.
    pub(super) fn new(source: &str, types: Types, literals: Literals) -> Self {
        let edits = if source.len() <= MAX_PROGRAM_BYTES {
            Syntax::parse(source)
                .map(|syntax| operators::propose(&Scene::new(syntax, types, literals)))
                .unwrap_or_default()
        } else {
            Vec::new()
        };
        let results = edits.iter().map(|_| OnceLock::new()).collect();
        let priors = operators::all().map(|operator| prior::of(operator.name)).collect();
        Self { source: source.to_owned(), edits, priors, results }
    }

    /// The keys by which a guided search orders the edits: the smallest first.
    ///
    /// An operator is right with a chance that its prior says, and then one of its edits is, with a chance that their
    /// lines say. A key is the inverse of that, grown by the edit's rank at its node; this makes a round over all nodes
    /// of an operator before any gets its second turn. `seed` moves keys by up to 5 % each.
    pub(super) fn guided(&self, suspicion: &Suspicion, factors: &BTreeMap<&str, f64>, seed: u64) -> Vec<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let chances = self.chances(|edit| suspicion.of(edit.line, edit.statement_line), factors);
        let keys = self.edits.iter().zip(chances);
        keys.map(|(edit, chance)| (1.0 + RANK_WEIGHT * f64::from(edit.rank)) / chance * (0.95 + 0.1 * unit(&mut rng)))
            .collect()
    }

    /// The keys of a blind search: a random order in which an edit's chance to come next is that of its operator
    /// (Efraimidis and Spirakis: "Weighted random sampling with a reservoir", 2006).
    pub(super) fn blind(&self, seed: u64) -> Vec<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let chances = self.chances(|_| 1.0, &BTreeMap::new()).into_iter();
        chances.map(|chance| -unit(&mut rng).max(f64::MIN_POSITIVE).ln() / chance).collect()
    }

    /// The chance of each edit to be the right one, up to a common factor, where lines have these weights.
    fn chances(&self, weight: impl Fn(&Edit) -> f64, factors: &BTreeMap<&str, f64>) -> Vec<f64> {
        let weights: Vec<f64> = self.edits.iter().map(weight).collect();
        let mut sums = vec![EDITS_IN_ADVANCE; self.priors.len()];
        for (edit, weight) in self.edits.iter().zip(&weights) {
            sums[usize::from(edit.operator)] += weight;
        }
        let of_operator: Vec<f64> = operators::all()
            .map(|operator| factors.get(operator.name).copied().unwrap_or(1.0))
            .zip(&self.priors)
            .zip(sums)
            .map(|((factor, prior), sum)| factor * prior / sum)
            .collect();
        self.edits.iter().zip(weights).map(|(edit, weight)| weight * of_operator[usize::from(edit.operator)]).collect()
    }

    /// Pairs of the first edits at different places, in order of the sum of their ranks.
    fn pairs(&self, order: &[usize], wanted: usize, is_new: impl Fn(&ProgramHash) -> bool, found: &mut Vec<Mutant>) {
        for sum in 1..order.len() * 2 {
            for one in sum.saturating_sub(order.len() - 1)..sum.div_ceil(2) {
                if found.len() == wanted {
                    return;
                }
                let (Some(a), Some(b)) = (order.get(one), order.get(sum - one)) else { continue };
                let (a, b) = (&self.edits[*a], &self.edits[*b]);
                let (first, second) = if a.splice.start <= b.splice.start { (a, b) } else { (b, a) };
                if first.splice.end >= second.splice.start {
                    continue;
                }
                let text = first.splice.and(&second.splice, &self.source).apply(&self.source);
                if let Some(hash) = self.check(&text)
                    && is_new(&hash)
                    && found.iter().all(|other| other.hash != hash)
                {
                    let note = format!("{}; {}", self.note(first), self.note(second));
                    found.push(Mutant { text, hash, note });
                }
            }
        }
    }

    /// What the edit gives; nothing where that does not parse.
    fn result(&self, at: usize) -> Option<&ProgramHash> {
        self.results[at].get_or_init(|| self.check(&self.edits[at].splice.apply(&self.source))).as_ref()
    }

    fn check(&self, text: &str) -> Option<ProgramHash> {
        let parsed = text != self.source && parses(&mut parser()?, text);
        parsed.then(|| Program::new(Language::Python, text).hash())
    }

    fn note(&self, edit: &Edit) -> String {
        let name = operators::all().nth(usize::from(edit.operator)).map_or("", |operator| operator.name);
        format!("{name}, line {}", edit.line)
    }
}

/// Spaces with the key of each edit.
pub(super) type Ordered = Vec<(Arc<Space>, Vec<f64>)>;

/// Up to `wanted` programs that `is_new` accepts, in order of the keys over all spaces; when single edits are used up,
/// pairs of edits of the first space.
pub(super) fn next(spaces: &Ordered, wanted: usize, is_new: impl Fn(&ProgramHash) -> bool) -> Vec<Mutant> {
    let mut order: Vec<(f64, usize, usize)> = Vec::new();
    for (number, (_, keys)) in spaces.iter().enumerate() {
        order.extend(keys.iter().enumerate().map(|(at, key)| (*key, number, at)));
    }
    order.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let mut found: Vec<Mutant> = Vec::new();
    for (_, number, at) in &order {
        if found.len() == wanted {
            return found;
        }
        let space = &spaces[*number].0;
        if let Some(hash) = space.result(*at)
            && is_new(hash)
            && found.iter().all(|other| other.hash != *hash)
        {
            let edit = &space.edits[*at];
            found.push(Mutant { text: edit.splice.apply(&space.source), hash: hash.clone(), note: space.note(edit) });
        }
    }
    if let Some((space, _)) = spaces.first() {
        let first = order.iter().filter(|(_, number, _)| *number == 0).map(|(_, _, at)| *at);
        space.pairs(&first.take(PAIRED).collect::<Vec<_>>(), wanted, is_new, &mut found);
    }
    found
}

/// A number of `[0, 1)`.
fn unit(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}
