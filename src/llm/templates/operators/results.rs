//! Returned and assigned values.

use super::{Operator, Proposals};
use crate::llm::templates::{
    expression::{Expr, Strength},
    kind::{Field, Kind},
    scene::{Place, Scene},
    shape::Shape,
    syntax::NodeId,
};

pub(super) const OPERATORS: &[Operator] = &[
    Operator {
        name: "empty container",
        summary: "`[]` for `[[]]`, `[v]`, `[0]`, and containers of another kind for each other",
        propose: empty_container,
        before: "def f(a):\n    return []\n",
        after: "def f(a):\n    return [[]]\n",
    },
    Operator {
        name: "returned value",
        summary: "a variable, a frequent constant or nothing returned",
        propose: returned,
        before: "def f(a):\n    b = g(a)\n    return g(b)\n",
        after: "def f(a):\n    b = g(a)\n    return None\n",
    },
    Operator {
        name: "result in a list",
        summary: "brackets of a list put around a returned, assigned or passed value, or taken away",
        propose: in_list,
        before: "def f(a):\n    return a\n",
        after: "def f(a):\n    return [a]\n",
    },
    Operator {
        name: "return and yield",
        summary: "`return` for `yield`, `yield` for `yield from` and back",
        propose: return_and_yield,
        before: "def f(a):\n    yield a\n",
        after: "def f(a):\n    yield from a\n",
    },
    Operator {
        name: "call by assignment",
        summary: "an assignment for a call of a method that changes its object, a call's result assigned",
        propose: call_by_assignment,
        before: "def f(a, b):\n    a.update(b)\n",
        after: "def f(a, b):\n    a = b\n",
    },
    Operator {
        name: "assignment by update",
        summary: "an augmented assignment for a plain one",
        propose: assignment_by_update,
        before: "def f(a, b):\n    a = b\n",
        after: "def f(a, b):\n    a += b\n",
    },
    Operator {
        name: "missing return",
        summary: "the value of an expression statement or of the last assignment returned",
        propose: missing_return,
        before: "def f(a):\n    b = g(a)\n",
        after: "def f(a):\n    return g(a)\n",
    },
    Operator {
        name: "result of a computed variable",
        summary: "the right-hand side of an assignment returned where another value is",
        propose: computed_result,
        before: "def f(a):\n    b = g(a)\n    return a\n",
        after: "def f(a):\n    b = g(a)\n    return g(a)\n",
    },
];

/// Containers with nothing, or with one thing, in them.
fn empty_container(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    let empty_call = syntax.call(id).is_some_and(|(_, arguments)| arguments.is_empty());
    let empty_display =
        matches!(syntax.kind(id), Kind::List | Kind::Dictionary | Kind::Tuple) && syntax.children(id).is_empty();
    if !scene.is_value(id) || !(empty_display || empty_call && matches!(syntax.text(id), "set()" | "dict()" | "list()"))
    {
        return;
    }
    if syntax.kind(id) == Kind::List || syntax.text(id) == "list()" {
        out.replace(id, "[[]]");
        for name in scene.variables(id).into_iter().take(4) {
            out.replace(id, format!("[{name}]"));
        }
        out.replace(id, "[0]");
    } else if syntax.text(id) == "set()" {
        for name in scene.variables(id).into_iter().take(4) {
            out.replace(id, format!("{{{name}}}"));
        }
    }
    for other in ["[]", "{}", "set()", "None", "0", "''"] {
        out.replace(id, other);
    }
}

/// Another value returned.
fn returned(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    if syntax.parent_kind(id) != Kind::Return {
        return;
    }
    if !matches!(syntax.kind(id), Kind::Identifier) {
        for name in scene.variables(id).into_iter().take(6) {
            out.replace(id, name);
        }
    }
    for constant in ["None", "True", "False", "0", "[]", "1", "-1", "''"] {
        out.replace(id, constant);
    }
}

/// `[v]` for `v` and back.
fn in_list(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    if syntax.kind(id) == Kind::List {
        if let [only] = syntax.children(id).as_slice() {
            out.put(id, &scene.expr(*only));
        }
        return;
    }
    let place = matches!(scene.place(id), Place::Result | Place::Assigned | Place::Argument | Place::Operand);
    let simple = matches!(syntax.kind(id), Kind::Identifier | Kind::Call | Kind::Subscript | Kind::Tuple);
    if scene.is_value(id) && place && simple && syntax.kind(id) != Kind::Keyword {
        out.replace(id, format!("[{}]", syntax.text(id)));
    }
}

/// Generators for functions.
fn return_and_yield(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    let tokens = syntax.tokens(id);
    match syntax.kind(id) {
        Kind::Yield => {
            let children = syntax.children(id);
            if let (Some(first), Some(value)) = (tokens.first(), children.first()) {
                let from = tokens.len() > 1;
                let text = if from { "yield " } else { "yield from " };
                out.splice(id, syntax.start(*first), syntax.start(*value), text);
                if syntax.parent_kind(id) == Kind::ExpressionStatement {
                    out.splice(id, syntax.start(*first), syntax.start(*value), "return ");
                }
            }
        }
        Kind::Return if !syntax.children(id).is_empty() => {
            if let Some(first) = tokens.first() {
                out.replace(*first, "yield");
                out.replace(*first, "yield from");
            }
        }
        _ => {}
    }
}

/// A statement that is a call for an assignment.
fn call_by_assignment(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    if syntax.parent_kind(id) != Kind::ExpressionStatement {
        return;
    }
    let Some((object, name, arguments)) = syntax.method_call(id) else { return };
    let object_text = syntax.text(object);
    if let [argument] = arguments.as_slice()
        && matches!(syntax.text(name), "append" | "extend" | "update" | "add" | "union" | "difference_update")
    {
        let value = scene.expr(*argument).at_least(Strength::LAMBDA);
        out.replace(id, format!("{object_text} = {value}"));
        out.replace(id, format!("{object_text} += {value}"));
    }
    if syntax.kind(object) == Kind::Identifier {
        out.replace(id, format!("{object_text} = {}", syntax.text(id)));
    }
    if arguments.is_empty() && syntax.text(name) == "sort" {
        out.replace(id, format!("{object_text} = sorted({object_text})"));
    }
}

/// `a += b` for `a = b`.
fn assignment_by_update(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    if syntax.kind(id) != Kind::Assignment || syntax.child(id, Field::Type).is_some() {
        return;
    }
    let (Some(left), Some(right)) = (syntax.child(id, Field::Left), syntax.child(id, Field::Right)) else { return };
    let simple = matches!(syntax.kind(left), Kind::Identifier | Kind::Subscript | Kind::Attribute);
    if !simple || syntax.kind(right) == Kind::Assignment {
        return;
    }
    let (target, value) = (syntax.text(left), syntax.text(right));
    let shape = scene.shape(right);
    out.replace(id, format!("{target} += {value}"));
    if shape.numeric() {
        out.replace(id, format!("{target} -= {value}"));
        out.replace(id, format!("{target} *= {value}"));
    }
    if shape.meets(Shape::LIST) && !shape.is_any() {
        out.replace(id, format!("{target}.append({value})"));
    }
}

/// A `return` that was forgotten.
fn missing_return(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    if syntax.kind(id) != Kind::ExpressionStatement || syntax.function(id).is_none() || scene.neighbours(id).1.is_some()
    {
        return;
    }
    if let [only] = syntax.children(id).as_slice() {
        if syntax.kind(*only) == Kind::Call {
            out.replace(id, format!("return {}", syntax.text(*only)));
        } else if syntax.kind(*only) == Kind::Assignment
            && let Some(right) = syntax.child(*only, Field::Right)
        {
            out.replace(id, format!("return {}", Expr::of(syntax, right).text));
        }
    }
}

/// What was computed for a variable returned at once.
fn computed_result(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    if syntax.parent_kind(id) != Kind::Return {
        return;
    }
    let assigned =
        |other: NodeId| syntax.parent_kind(other) == Kind::Assignment && scene.place(other) == Place::Assigned;
    for other in scene.elsewhere(id, assigned).into_iter().take(6) {
        out.put(id, &scene.expr(other));
    }
}
