//! All edits of one program, and the order in which they are tried.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
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

/// Pairs whose result is remembered.
const KEPT_PAIRS: usize = 10_000;

/// The edits of one program: a pure function of its text, its types and the literals of the tests.
pub(super) struct Space {
    source: String,
    edits: Vec<Edit>,
    /// Of each operator.
    priors: Vec<f64>,
    /// What each edit gives: its hash, or nothing where the result does not parse.
    results: Vec<OnceLock<Option<ProgramHash>>>,
    /// The same of pairs of edits, for the first [`KEPT_PAIRS`] that were looked at.
    paired: Mutex<BTreeMap<(usize, usize), Option<ProgramHash>>>,
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
        Self { source: source.to_owned(), edits, priors, results, paired: Mutex::default() }
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
                let (a, b) =
                    if self.edits[*a].splice.start <= self.edits[*b].splice.start { (*a, *b) } else { (*b, *a) };
                if let Some(hash) = self.pair_result(a, b)
                    && is_new(&hash)
                    && found.iter().all(|other| other.hash != hash)
                {
                    let note = format!("{}; {}", self.note(&self.edits[a]), self.note(&self.edits[b]));
                    found.push(Mutant { text: self.pair(a, b), hash, note });
                }
            }
        }
    }

    /// The program with both edits; `second` lies behind `first`.
    fn pair(&self, first: usize, second: usize) -> String {
        self.edits[first].splice.and(&self.edits[second].splice, &self.source).apply(&self.source)
    }

    /// What the two edits give; nothing where they touch or the result does not parse.
    fn pair_result(&self, first: usize, second: usize) -> Option<ProgramHash> {
        if self.edits[first].splice.end >= self.edits[second].splice.start {
            return None;
        }
        let mut paired = self.paired.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = paired.get(&(first, second)) {
            return known.clone();
        }
        let result = self.check(&self.pair(first, second));
        if paired.len() < KEPT_PAIRS {
            paired.insert((first, second), result.clone());
        }
        result
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

#[cfg(test)]
mod tests {
    use std::{
        collections::{BTreeMap, BTreeSet},
        sync::{Arc, OnceLock},
    };

    use proptest::prelude::*;

    use super::{Mutant, Space, next};
    use crate::llm::templates::{
        edit::Splice,
        literals::Literals,
        localisation::Suspicion,
        shape::Types,
        syntax::{parser, parses},
    };

    fn space(text: &str) -> Space {
        Space::new(text, Types::default(), Literals::default())
    }

    fn first(space: Space, wanted: usize) -> Vec<Mutant> {
        let keys = space.guided(&Suspicion::default(), &BTreeMap::new(), 1);
        next(&vec![(Arc::new(space), keys)], wanted, |_| true)
    }

    #[test]
    fn what_does_not_parse_or_changes_nothing_is_never_given() {
        let mut space = space("x = 1\n");
        let mut edit = space.edits[0].clone();
        space.edits.clear();
        for (start, end, text) in [(4, 5, "("), (4, 5, "1"), (4, 5, "2")] {
            edit.splice = Splice { start, end, text: text.to_owned() };
            space.edits.push(edit.clone());
        }
        space.results = space.edits.iter().map(|_| OnceLock::new()).collect();
        let texts: Vec<String> = first(space, 10).into_iter().map(|mutant| mutant.text).collect();
        assert_eq!(texts, ["x = 2\n"]);
    }

    #[test]
    fn a_program_that_does_not_parse_or_is_too_long_has_no_edits() {
        assert!(space("def f(:\n").edits.is_empty());
        assert!(!space("x = 1\n").edits.is_empty());
        assert!(space(&"x = 1\n".repeat(super::MAX_PROGRAM_BYTES / 6 + 1)).edits.is_empty());
    }

    #[test]
    fn a_blind_order_prefers_operators_that_repair_more() {
        let space = space("def f(a, b):\n    if a < b:\n        return a\n    return [a, b]\n");
        let boundary = space.edits.iter().position(|edit| space.note(edit).starts_with("comparison boundary")).unwrap();
        let place = |seed| {
            let keys = space.blind(seed);
            keys.iter().filter(|key| **key < keys[boundary]).count()
        };
        let mean = (0..50).map(place).sum::<usize>() as f64 / 50.0;
        assert!(mean < space.edits.len() as f64 / 8.0, "{mean} of {}", space.edits.len());
    }

    const STATEMENTS: &[&str] = &[
        "x = a + 1",
        "x -= b[0]",
        "if a > b and not x:\n        x = 'é'\n    else:\n        return x",
        "for i, c in enumerate(a):\n        x.append(c[i:])\n        break",
        "while x:\n        x = g(x, b=2) // 2",
        "return {k: v for k, v in a.items() if v}",
        "y = [f(c) for c in b][::-1]; z = y",
        "print(f\"{a!r} {x:>5}\", 'ü' * 2)",
        "t = (a, b) if a is None else (b,)",
        "def g(n, m=1):\n        yield from n",
        "with open(a) as h:\n        pass",
        "try:\n        x = int(a)\n    except ValueError as e:\n        raise",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn programs_made_from_random_ones_are_new_and_parse(
            picked in proptest::collection::vec(0..STATEMENTS.len(), 1..5), crlf: bool, tabs: bool,
        ) {
            let body: Vec<&str> = picked.iter().map(|at| STATEMENTS[*at]).collect();
            let mut text = format!("def f(a, b, x):\n    {}\n", body.join("\n    "));
            if tabs {
                text = text.replace("    ", "\t");
            }
            if crlf {
                text = text.replace('\n', "\r\n");
            }
            let space = space(&text);
            prop_assert!(!space.edits.is_empty());
            let lines = text.lines().count() as u32;
            prop_assert!(space.edits.iter().all(|edit| (1..=lines).contains(&edit.line)));
            let mut parser = parser().unwrap();
            let mut seen = BTreeSet::from([text.clone()]);
            for mutant in first(space, 60) {
                prop_assert!(parses(&mut parser, &mutant.text), "{}", mutant.text);
                prop_assert!(seen.insert(mutant.text));
            }
        }
    }
}
