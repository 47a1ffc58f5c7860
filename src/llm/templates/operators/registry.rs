//! The list of operators, and all edits that they propose for a program.

use std::collections::BTreeMap;

use super::{
    arguments, arithmetic, calls, comparisons, conditions, constants, insertions, methods, results, slices, statements,
    variables,
};
use crate::llm::templates::{
    edit::{Edit, Proposals, Splice},
    scene::Scene,
    syntax::NodeId,
};

/// A general way to change a program at a node of its tree.
pub(in crate::llm::templates) struct Operator {
    /// What notes, tables and priors call it.
    pub(in crate::llm::templates) name: &'static str,
    /// One line for people.
    pub(in crate::llm::templates) summary: &'static str,
    /// Proposes its changes at a node, the likeliest first; proposes nothing at nodes that it has nothing for.
    pub(in crate::llm::templates) propose: fn(&Scene, NodeId, &mut Proposals),
    /// A program …
    pub(in crate::llm::templates) before: &'static str,
    /// … and what one proposal makes of it.
    pub(in crate::llm::templates) after: &'static str,
}

/// Applied to proposals of the others, not to nodes.
const TWICE: Operator = Operator {
    name: "same change twice",
    summary: "one and the same change of another operator at two or at all places with the same text",
    propose: |_, _, _| {},
    before: "def f(n):\n    a = g(n, 5)\n    b = h(n, 5)\n    return a + b\n",
    after: "def f(n):\n    a = g(n, 6)\n    b = h(n, 6)\n    return a + b\n",
};

/// Most edits of [`TWICE`] for one program.
const MAX_TWICE: usize = 400;
/// Most places that take part in one such group.
const MAX_PLACES: usize = 4;
/// Of the proposals of an operator at one node, only the first so many take part.
const MAX_RANK: u32 = 2;

/// Every operator. Where two propose the same program, the earlier one has proposed it.
pub(in crate::llm::templates) fn all() -> impl Iterator<Item = &'static Operator> {
    const GROUPS: &[&[Operator]] = &[
        comparisons::OPERATORS,
        conditions::OPERATORS,
        arithmetic::OPERATORS,
        constants::OPERATORS,
        arguments::OPERATORS,
        variables::OPERATORS,
        slices::OPERATORS,
        methods::OPERATORS,
        calls::OPERATORS,
        results::OPERATORS,
        statements::OPERATORS,
        insertions::OPERATORS,
        &[TWICE],
    ];
    GROUPS.iter().copied().flatten()
}

/// All edits of a program, operator by operator, each operator's in source order.
pub(in crate::llm::templates) fn propose(scene: &Scene) -> Vec<Edit> {
    let mut out = Proposals::new(scene);
    let mut last = 0;
    for (number, operator) in (0_u16..).zip(all()) {
        last = number;
        propose_one(scene, number, operator, &mut out);
    }
    let singles = out.edits().to_vec();
    for (one, two) in same_changes(scene, &singles) {
        out.begin(last);
        let pair = one.splice.and(&two.splice, scene.syntax.source());
        out.splice(one.node, pair.start, pair.end, pair.text);
    }
    out.into_edits()
}

fn propose_one(scene: &Scene, number: u16, operator: &Operator, out: &mut Proposals) {
    for id in scene.sites() {
        if out.is_full() {
            return;
        }
        out.begin(number);
        (operator.propose)(scene, *id, out);
    }
}

/// Pairs of edits that do the same to the same text at two places, in order; never of places that overlap.
fn same_changes<'a>(scene: &Scene, edits: &'a [Edit]) -> Vec<(&'a Edit, &'a Edit)> {
    let source = scene.syntax.source();
    let mut groups: BTreeMap<(u16, &str, &str, &str), Vec<&Edit>> = BTreeMap::new();
    for edit in edits.iter().filter(|edit| edit.rank < MAX_RANK && !scene.is_statement(edit.node)) {
        let Splice { start, end, text } = &edit.splice;
        let key = (edit.operator, scene.syntax.text(edit.node), &source[*start..*end], text.as_str());
        groups.entry(key).or_default().push(edit);
    }
    let mut pairs = Vec::new();
    for group in groups.values().filter(|group| (2..=MAX_PLACES).contains(&group.len())) {
        for (at, one) in group.iter().enumerate() {
            for two in &group[at + 1..] {
                if one.splice.end < two.splice.start && pairs.len() < MAX_TWICE {
                    pairs.push((*one, *two));
                }
            }
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Proposals, TWICE, all, propose, propose_one};
    use crate::llm::templates::{
        literals::Literals,
        scene::Scene,
        shape::Types,
        syntax::{Syntax, parser, parses},
    };

    fn scene(text: &str) -> Scene {
        let literals = Literals { numbers: vec!["42".to_owned()], strings: vec!["'yes'".to_owned()] };
        Scene::new(Syntax::parse(text).unwrap(), Types::default(), literals)
    }

    #[test]
    fn every_operator_makes_its_example() {
        let mut missing = Vec::new();
        for (number, operator) in (0_u16..).zip(all()) {
            let scene = scene(operator.before);
            let edits = if operator.name == TWICE.name {
                propose(&scene)
            } else {
                let mut out = Proposals::new(&scene);
                propose_one(&scene, number, operator, &mut out);
                out.into_edits()
            };
            let made: Vec<String> = edits.iter().map(|edit| edit.splice.apply(operator.before)).collect();
            if !made.iter().any(|text| text == operator.after) {
                missing.push(format!("{}: {made:?}", operator.name));
            }
        }
        assert!(missing.is_empty(), "{missing:#?}");
    }

    #[test]
    fn operators_have_names_of_their_own() {
        let names: BTreeSet<_> = all().map(|operator| operator.name).collect();
        assert_eq!(names.len(), all().count());
    }

    #[test]
    fn nearly_every_edit_of_the_examples_parses() {
        let mut parser = parser().unwrap();
        let (mut good, mut bad) = (0, Vec::new());
        for operator in all() {
            let scene = scene(operator.before);
            for edit in propose(&scene) {
                let text = edit.splice.apply(operator.before);
                if parses(&mut parser, &text) {
                    good += 1;
                } else {
                    let name = all().nth(usize::from(edit.operator)).unwrap().name;
                    bad.push(format!("{name}: {text}"));
                }
            }
        }
        assert!(bad.len() * 200 < good, "{} of {}: {bad:#?}", bad.len(), good + bad.len());
    }
}
