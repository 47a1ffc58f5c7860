//! Comparisons: another operator, sides exchanged.

use super::{Operator, Proposals};
use crate::llm::templates::{kind::Kind, scene::Scene, syntax::NodeId};

pub(super) const OPERATORS: &[Operator] = &[
    Operator {
        name: "comparison boundary",
        summary: "`<` for `<=`, `>` for `>=` and back",
        propose: boundary,
        before: "if a < b:\n    pass\n",
        after: "if a <= b:\n    pass\n",
    },
    Operator {
        name: "comparison direction",
        summary: "`<` for `>`, `<=` for `>=` and back",
        propose: direction,
        before: "x = a < b\n",
        after: "x = a > b\n",
    },
    Operator {
        name: "comparison opposite",
        summary: "a comparison's negation: `==` for `!=`, `<` for `>=`, `in` for `not in`, `is` for `is not`",
        propose: opposite,
        before: "x = a in b\n",
        after: "x = a not in b\n",
    },
    Operator {
        name: "comparison equality",
        summary: "an order for an equality and back, `is` for `==` and back",
        propose: equality,
        before: "x = a == b\n",
        after: "x = a <= b\n",
    },
    Operator {
        name: "membership sides",
        summary: "the two sides of `in` and `not in` exchanged",
        propose: membership_sides,
        before: "x = a in b\n",
        after: "x = b in a\n",
    },
    Operator {
        name: "comparison chain",
        summary: "the first or the last link of a chained comparison left out",
        propose: chain,
        before: "x = a < b < c\n",
        after: "x = a < b\n",
    },
];

/// The operator tokens of a comparison.
fn operators(scene: &Scene, id: NodeId) -> Vec<NodeId> {
    if scene.syntax.kind(id) == Kind::Comparison { scene.syntax.tokens(id) } else { Vec::new() }
}

fn exchange(scene: &Scene, id: NodeId, out: &mut Proposals, table: &[(&str, &[&str])]) {
    for token in operators(scene, id) {
        let row = table.iter().find(|(from, _)| *from == scene.syntax.text(token));
        for to in row.map_or(&[][..], |(_, to)| to) {
            out.replace(token, *to);
        }
    }
}

/// Strict for not strict and back: the classic off-by-one of a condition.
fn boundary(scene: &Scene, id: NodeId, out: &mut Proposals) {
    exchange(scene, id, out, &[("<", &["<="]), ("<=", &["<"]), (">", &[">="]), (">=", &[">"])]);
}

/// The other way round.
fn direction(scene: &Scene, id: NodeId, out: &mut Proposals) {
    exchange(scene, id, out, &[("<", &[">"]), ("<=", &[">="]), (">", &["<"]), (">=", &["<="])]);
}

/// True where it was false.
fn opposite(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let table: &[(&str, &[&str])] = &[
        ("==", &["!="]),
        ("!=", &["=="]),
        ("<", &[">="]),
        ("<=", &[">"]),
        (">", &["<="]),
        (">=", &["<"]),
        ("in", &["not in"]),
        ("not in", &["in"]),
        ("is", &["is not"]),
        ("is not", &["is"]),
    ];
    exchange(scene, id, out, table);
}

/// An ordering where there was an equality, an equality where there was an ordering.
fn equality(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let table: &[(&str, &[&str])] = &[
        ("==", &["<=", ">=", "<", ">", "in"]),
        ("!=", &["<", ">", "<=", ">=", "not in"]),
        ("<", &["==", "!="]),
        (">", &["==", "!="]),
        ("<=", &["==", "!="]),
        (">=", &["==", "!="]),
        ("is", &["=="]),
        ("is not", &["!="]),
        ("in", &["=="]),
        ("not in", &["!="]),
    ];
    exchange(scene, id, out, table);
}

/// `a in b` for `b in a`.
fn membership_sides(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let tokens = operators(scene, id);
    if let ([token], [left, right]) = (tokens.as_slice(), scene.syntax.children(id).as_slice())
        && matches!(scene.syntax.text(*token), "in" | "not in")
    {
        out.replace_two((*left, scene.syntax.text(*right)), (*right, scene.syntax.text(*left)));
    }
}

/// The first or the last link of a chain left out.
fn chain(scene: &Scene, id: NodeId, out: &mut Proposals) {
    if operators(scene, id).len() < 2 {
        return;
    }
    let syntax = &scene.syntax;
    if let [_, second, .., last] = syntax.children(id).as_slice()
        && let [.., before_last, _] = syntax.children(id).as_slice()
    {
        out.splice(id, syntax.end(*before_last), syntax.end(*last), "");
        out.splice(id, syntax.start(id), syntax.start(*second), "");
    }
}
