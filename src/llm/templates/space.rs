//! All edits of one program, and the order in which they are tried.

use std::sync::OnceLock;

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
const RANK_WEIGHT: f64 = 0.25;
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
    /// An edit's key is the inverse of its chance, line weight times prior, grown by its rank at its node; that makes a
    /// round over all nodes of one operator before any gets its second turn. `seed` moves keys by up to 5 % each.
    pub(super) fn guided(&self, suspicion: &Suspicion, seed: u64) -> Vec<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        self.keys(|edit, prior| {
            let chance = prior * suspicion.of(edit.line, edit.statement_line);
            (1.0 + RANK_WEIGHT * f64::from(edit.rank)) / chance * (0.95 + 0.1 * unit(&mut rng))
        })
    }

    /// The keys of a blind search: a random order in which an edit's chance to come next is its operator's prior
    /// (Efraimidis and Spirakis: "Weighted random sampling with a reservoir", 2006).
    pub(super) fn blind(&self, seed: u64) -> Vec<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        self.keys(|_, prior| -unit(&mut rng).max(f64::MIN_POSITIVE).ln() / prior)
    }

    fn keys(&self, mut key: impl FnMut(&Edit, f64) -> f64) -> Vec<f64> {
        self.edits.iter().map(|edit| key(edit, self.priors[usize::from(edit.operator)])).collect()
    }

    /// Up to `wanted` programs in the order of `keys` that `is_new` accepts; single edits first, then pairs.
    pub(super) fn next(&self, keys: &[f64], wanted: usize, is_new: impl Fn(&ProgramHash) -> bool) -> Vec<Mutant> {
        let mut order: Vec<usize> = (0..self.edits.len()).collect();
        order.sort_by(|a, b| keys[*a].total_cmp(&keys[*b]).then(a.cmp(b)));
        let mut found: Vec<Mutant> = Vec::new();
        for at in &order {
            if found.len() == wanted {
                return found;
            }
            let result = self.results[*at].get_or_init(|| self.check(&self.edits[*at].splice.apply(&self.source)));
            if let Some(hash) = result
                && is_new(hash)
                && found.iter().all(|other| other.hash != *hash)
            {
                let edit = &self.edits[*at];
                let text = edit.splice.apply(&self.source);
                found.push(Mutant { text, hash: hash.clone(), note: self.note(edit) });
            }
        }
        self.pairs(&order[..order.len().min(PAIRED)], wanted, is_new, &mut found);
        found
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

    fn check(&self, text: &str) -> Option<ProgramHash> {
        let parsed = text != self.source && parses(&mut parser()?, text);
        parsed.then(|| Program::new(Language::Python, text).hash())
    }

    fn note(&self, edit: &Edit) -> String {
        let name = operators::all().nth(usize::from(edit.operator)).map_or("", |operator| operator.name);
        format!("{name}, line {}", edit.line)
    }
}

/// A number of `[0, 1)`.
fn unit(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}
