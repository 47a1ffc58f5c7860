//! Subscripts and slices.

use super::{Operator, Proposals};
use crate::llm::templates::{
    expression::Expr,
    kind::{Field, Kind},
    scene::{Place, Scene},
    shape::Shape,
    syntax::NodeId,
};

pub(super) const OPERATORS: &[Operator] = &[
    Operator {
        name: "slice bound",
        summary: "a bound of a slice left out, moved by one, or the two exchanged",
        propose: bound,
        before: "x = a[b:c]\n",
        after: "x = a[b:]\n",
    },
    Operator {
        name: "constant slice",
        summary: "the first or last element left out, every second one, or the order reversed",
        propose: constant_slice,
        before: "def f(a):\n    return g(a)\n",
        after: "def f(a):\n    return g(a[1:])\n",
    },
    Operator {
        name: "variable slice",
        summary: "the part of a sequence from or up to a variable",
        propose: variable_slice,
        before: "def f(a, n):\n    return g(a)\n",
        after: "def f(a, n):\n    return g(a[n:])\n",
    },
    Operator {
        name: "index",
        summary: "the first, second or last element for another; a variable as the index",
        propose: index,
        before: "x = a[0]\n",
        after: "x = a[-1]\n",
    },
    Operator {
        name: "subscript added",
        summary: "the first or last element, or the one at a variable, for a sequence",
        propose: subscript,
        before: "def f(a):\n    return g(a)\n",
        after: "def f(a):\n    return g(a[0])\n",
    },
    Operator {
        name: "subscript dropped",
        summary: "a sequence for its element or slice, an index for its element",
        propose: drop_subscript,
        before: "x = a[b]\n",
        after: "x = a\n",
    },
];

/// Bounds of slices.
fn bound(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    if syntax.kind(id) != Kind::Slice {
        return;
    }
    let colons: Vec<NodeId> = syntax.tokens(id);
    let (Some(first), parts) = (colons.first(), syntax.children(id)) else { return };
    let second = colons.get(1).map_or(syntax.end(id), |colon| syntax.start(*colon));
    let lower = parts.iter().copied().find(|part| syntax.end(*part) <= syntax.start(*first));
    let upper =
        parts.iter().copied().find(|part| syntax.start(*part) >= syntax.end(*first) && syntax.end(*part) <= second);
    if let Some(lower) = lower {
        out.replace(lower, "");
    }
    if let Some(upper) = upper {
        out.replace(upper, "");
    }
    match (lower, upper) {
        (None, None) => {}
        (Some(lower), None) => {
            let moved = format!(":{}", syntax.text(lower));
            out.splice(id, syntax.start(lower), syntax.end(*first), moved);
        }
        (None, Some(upper)) => {
            let moved = format!("{}:", syntax.text(upper));
            out.splice(id, syntax.start(*first), syntax.end(upper), moved);
        }
        (Some(lower), Some(upper)) => {
            out.replace_two((lower, syntax.text(upper)), (upper, syntax.text(lower)));
            let sum = Expr::binary(&scene.expr(lower), "+", &scene.expr(upper));
            out.replace(upper, sum.text);
        }
    }
    if lower.is_none() {
        out.splice(id, syntax.start(*first), syntax.start(*first), "1");
    }
    if upper.is_none() {
        out.splice(id, syntax.end(*first), syntax.end(*first), "-1");
        for name in scene.numbers(id).into_iter().take(3) {
            out.splice(id, syntax.end(*first), syntax.end(*first), name);
        }
    }
    match (colons.get(1), parts.last()) {
        (Some(colon), Some(step)) if syntax.start(*step) >= syntax.end(*colon) => {
            out.splice(id, syntax.start(*colon), syntax.end(*step), "");
        }
        _ => {
            out.splice(id, syntax.end(id), syntax.end(id), ":2");
            out.splice(id, syntax.end(id), syntax.end(id), ":-1");
        }
    }
}

fn can_slice(scene: &Scene, id: NodeId) -> bool {
    let simple = matches!(
        scene.syntax.kind(id),
        Kind::Identifier | Kind::Call | Kind::Attribute | Kind::Subscript | Kind::Binary | Kind::ListComprehension
    );
    scene.is_value(id)
        && simple
        && scene.shape(id).sequence()
        && scene.syntax.parent_kind(id) != Kind::ExpressionStatement
        && !matches!(scene.place(id), Place::Object | Place::Condition | Place::Index | Place::Bound)
}

/// A part of a sequence that needs no variable.
fn constant_slice(scene: &Scene, id: NodeId, out: &mut Proposals) {
    if can_slice(scene, id) {
        for slice in ["1:", ":-1", "::-1", "1:-1", "::2", "2:", ":1", "1::2"] {
            out.put(id, &scene.expr(id).subscript(slice));
        }
    }
}

/// A part of a sequence from or up to a variable.
fn variable_slice(scene: &Scene, id: NodeId, out: &mut Proposals) {
    if !can_slice(scene, id) || scene.syntax.kind(id) == Kind::Binary {
        return;
    }
    let own = scene.syntax.text(id);
    for name in scene.numbers(id).into_iter().filter(|name| name != own).take(5) {
        for slice in [format!("{name}:"), format!(":{name}"), format!("{name} + 1:"), format!(":{name} + 1")] {
            out.put(id, &scene.expr(id).subscript(&slice));
        }
    }
}

/// Another index.
fn index(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    if scene.place(id) != Place::Index || !scene.is_value(id) || syntax.kind(id) == Kind::Slice {
        return;
    }
    if scene.shape(id).numeric() {
        for text in ["0", "-1", "1", "-2"] {
            out.replace(id, text);
        }
    }
    if !matches!(syntax.kind(id), Kind::Identifier) {
        for name in scene.variables_like(id, scene.shape(id)).into_iter().take(5) {
            out.replace(id, name);
        }
    }
    out.replace(id, format!("-{}", scene.expr(id).at_least(crate::llm::templates::expression::Strength::UNARY)));
}

/// An element for the whole.
fn subscript(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let simple = matches!(scene.syntax.kind(id), Kind::Identifier | Kind::Call | Kind::Attribute | Kind::Subscript);
    if !can_slice(scene, id) || !simple {
        return;
    }
    for index in ["0", "-1", "1"] {
        out.put(id, &scene.expr(id).subscript(index));
    }
    let own = scene.syntax.text(id);
    for name in scene.numbers(id).into_iter().filter(|name| name != own && !scene.types.of(name).is_any()).take(3) {
        out.put(id, &scene.expr(id).subscript(&name));
    }
}

/// The whole for an element.
fn drop_subscript(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    if syntax.kind(id) != Kind::Subscript || !scene.is_value(id) {
        return;
    }
    if let Some(value) = syntax.child(id, Field::Value) {
        out.put(id, &scene.expr(value));
    }
    if let Some(index) = syntax.child(id, Field::Subscript)
        && syntax.kind(index) != Kind::Slice
        && scene.shape(index) != Shape::TEXT
    {
        out.put(id, &scene.expr(index));
    }
}
