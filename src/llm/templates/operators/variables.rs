//! Variables and whole expressions in place of others.

use super::{Operator, Proposals};
use crate::llm::templates::{
    expression::Expr,
    kind::{Field, Kind},
    scene::{Place, Scene},
    syntax::NodeId,
};

pub(super) const OPERATORS: &[Operator] = &[
    Operator {
        name: "unread variable",
        summary: "a parameter or variable that nothing reads in place of a variable or expression",
        propose: unread,
        before: "def f(a, b):\n    return g(a, a)\n",
        after: "def f(a, b):\n    return g(a, b)\n",
    },
    Operator {
        name: "variable",
        summary: "another variable in scope of a fitting type",
        propose: variable,
        before: "def f(a, b):\n    b += 1\n    return a\n",
        after: "def f(a, b):\n    b += 1\n    return b\n",
    },
    Operator {
        name: "target",
        summary: "another variable as the target of an assignment",
        propose: target,
        before: "def f(a, b):\n    a = 1\n",
        after: "def f(a, b):\n    b = 1\n",
    },
    Operator {
        name: "target by expression",
        summary: "an element that the program mentions elsewhere as the target of an assignment",
        propose: target_by_expression,
        before: "def f(d, e, k):\n    e[k] = d[k]\n",
        after: "def f(d, e, k):\n    d[k] = d[k]\n",
    },
    Operator {
        name: "expression by variable",
        summary: "a variable in scope of a fitting type for a call, subscript or operation",
        propose: by_variable,
        before: "def f(a, b):\n    return g(b) + a\n",
        after: "def f(a, b):\n    return b + a\n",
    },
    Operator {
        name: "expression by expression",
        summary: "a call, subscript, attribute or operation of the same function for another of the same kind",
        propose: by_expression,
        before: "def f(a, b):\n    x = g(a)\n    return g(b)\n",
        after: "def f(a, b):\n    x = g(a)\n    return g(a)\n",
    },
    Operator {
        name: "variable by expression",
        summary: "a call, subscript or attribute of the same function for a variable",
        propose: variable_by_expression,
        before: "def f(a, b):\n    x = g(b)\n    return a\n",
        after: "def f(a, b):\n    x = g(b)\n    return g(b)\n",
    },
    Operator {
        name: "attribute",
        summary: "another attribute name that the program mentions",
        propose: attribute,
        before: "def f(a):\n    a.left = 1\n    return a.right\n",
        after: "def f(a):\n    a.left = 1\n    return a.left\n",
    },
    Operator {
        name: "variable exchanged in a statement",
        summary: "one variable for another everywhere in a statement",
        propose: everywhere,
        before: "def f(a, b):\n    x = a + a * a\n    return b\n",
        after: "def f(a, b):\n    x = b + b * b\n    return b\n",
    },
];

/// Something unused is often what should have been used.
fn unread(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    if !scene.is_value(id) || syntax.kind(id) == Kind::Str || syntax.function(id).is_none() {
        return;
    }
    for name in scene.unread(id) {
        if scene.types.of(&name).fits(scene.shape(id)) {
            out.put(id, &Expr::atom(name));
        }
    }
}

/// Another variable.
fn variable(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    if syntax.kind(id) != Kind::Identifier || !scene.is_value(id) {
        return;
    }
    for name in scene.variables_like(id, scene.shape(id)) {
        if name != syntax.text(id) {
            out.put(id, &Expr::atom(name));
        }
    }
}

/// Another target.
fn target(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    let assigned = matches!(syntax.parent_kind(id), Kind::Assignment | Kind::Augmented | Kind::PatternList | Kind::For);
    if syntax.kind(id) == Kind::Identifier && scene.is_target(id) && assigned {
        let shape = scene.types.of(syntax.text(id));
        for name in scene.variables_like(id, shape).into_iter().filter(|name| name != syntax.text(id)) {
            out.replace(id, name);
        }
    }
}

/// A subscript or attribute of the function as the target.
fn target_by_expression(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    let single = matches!(syntax.parent_kind(id), Kind::Assignment | Kind::Augmented) && scene.is_target(id);
    if single && matches!(syntax.kind(id), Kind::Identifier | Kind::Subscript | Kind::Attribute) {
        let assignable = |other: NodeId| {
            matches!(syntax.kind(other), Kind::Subscript | Kind::Attribute)
                && syntax.child(other, Field::Subscript).is_none_or(|index| syntax.kind(index) != Kind::Slice)
        };
        for other in scene.elsewhere(id, assignable).into_iter().take(8) {
            out.replace(id, syntax.text(other));
        }
        if syntax.kind(id) != Kind::Identifier {
            for name in scene.variables(id).into_iter().take(4) {
                out.replace(id, name);
            }
        }
        // The element of one container at the index of another.
        if let (Kind::Subscript, Some(index)) = (syntax.kind(id), syntax.child(id, Field::Subscript)) {
            let containers = scene.variables(id).into_iter().filter(|name| {
                let shape = scene.types.of(name);
                shape.sized() && !shape.is_any()
            });
            for container in containers.take(4) {
                for inner in subscripts(scene, index) {
                    out.replace(id, format!("{container}[{inner}]"));
                }
            }
        }
    }
}

/// The whole of an index, and its elements where it is a list of expressions.
fn subscripts(scene: &Scene, index: NodeId) -> Vec<String> {
    let syntax = &scene.syntax;
    let parent = syntax.parent(index);
    let indices: Vec<NodeId> = parent
        .map(|parent| syntax.children(parent).into_iter().filter(|id| syntax.field(*id) == Field::Subscript).collect())
        .unwrap_or_default();
    let mut texts: Vec<String> = indices.iter().map(|id| syntax.text(*id).to_owned()).collect();
    if texts.len() > 1 {
        texts.push(texts.join(", "));
    }
    texts
}

/// A variable for something calculated.
fn by_variable(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    let calculated = matches!(
        syntax.kind(id),
        Kind::Call | Kind::Subscript | Kind::Attribute | Kind::Binary | Kind::ListComprehension | Kind::Conditional
    );
    let standing_alone = syntax.parent_kind(id) == Kind::ExpressionStatement;
    if calculated && scene.is_value(id) && !standing_alone {
        let names = scene.variables_like(id, scene.shape(id));
        let (inside, outside): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| mentions(scene, id, name));
        for name in inside.into_iter().chain(outside).take(8) {
            out.put(id, &Expr::atom(name));
        }
    }
}

fn mentions(scene: &Scene, id: NodeId, name: &str) -> bool {
    let syntax = &scene.syntax;
    syntax.descendants(id).any(|id| syntax.kind(id) == Kind::Identifier && syntax.text(id) == name)
}

/// Another expression of the same kind.
fn by_expression(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    let kind = syntax.kind(id);
    let calculated = matches!(
        kind,
        Kind::Call | Kind::Subscript | Kind::Attribute | Kind::Binary | Kind::Comparison | Kind::Conditional
    );
    if !calculated || !scene.is_value(id) || syntax.parent_kind(id) == Kind::ExpressionStatement {
        return;
    }
    let shape = scene.shape(id);
    let same = |other: NodeId| {
        syntax.kind(other) == kind
            && scene.shape(other).fits(shape)
            && !syntax.contains(id, other)
            && !syntax.contains(other, id)
            && syntax.parent_kind(other) != Kind::ExpressionStatement
    };
    for other in scene.elsewhere(id, same).into_iter().take(8) {
        if in_scope(scene, other, id) {
            out.put(id, &scene.expr(other));
        }
    }
}

/// An expression for a variable.
fn variable_by_expression(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    if syntax.kind(id) != Kind::Identifier || !scene.is_value(id) || scene.place(id) == Place::Object {
        return;
    }
    let shape = scene.shape(id);
    let calculated = |other: NodeId| {
        matches!(syntax.kind(other), Kind::Call | Kind::Subscript | Kind::Attribute)
            && scene.shape(other).fits(shape)
            && !syntax.contains(other, id)
            && syntax.parent_kind(other) != Kind::ExpressionStatement
    };
    for other in scene.elsewhere(id, calculated).into_iter().take(8) {
        if in_scope(scene, other, id) {
            out.put(id, &scene.expr(other));
        }
    }
}

/// Whether no name in `expression` is bound by a comprehension that `place` lies outside of.
fn in_scope(scene: &Scene, expression: NodeId, place: NodeId) -> bool {
    let syntax = &scene.syntax;
    syntax
        .lineage(expression)
        .filter(|id| syntax.kind(*id).is_comprehension() || syntax.kind(*id) == Kind::Lambda)
        .all(|id| id == expression || syntax.contains(id, place))
}

/// Another attribute name, not of a method being called.
fn attribute(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    if syntax.kind(id) != Kind::Attribute || syntax.field(id) == Field::Function {
        return;
    }
    if let Some(name) = syntax.child(id, Field::Attribute) {
        for other in scene.attributes().iter().filter(|other| *other != syntax.text(name)).take(8) {
            out.replace(name, other.clone());
        }
    }
}

/// All mentions of a variable in one simple statement or header replaced together.
fn everywhere(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    if syntax.kind(id) != Kind::Identifier || !scene.is_value(id) {
        return;
    }
    let Some(statement) = syntax.statement(id).filter(|id| !syntax.kind(*id).is_compound()) else { return };
    let name = syntax.text(id);
    let mentions: Vec<NodeId> = syntax
        .descendants(statement)
        .filter(|id| syntax.kind(*id) == Kind::Identifier && syntax.text(*id) == name && scene.is_value(*id))
        .collect();
    if mentions.len() < 2 || mentions.first() != Some(&id) {
        return;
    }
    for other in scene.variables_like(id, scene.shape(id)).into_iter().filter(|other| other != name).take(6) {
        let parts: Vec<_> = mentions.iter().map(|id| (*id, other.clone())).collect();
        out.replace_all(&parts);
    }
}
