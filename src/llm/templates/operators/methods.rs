//! Methods of the built-in types: another one, one more.

use super::{Operator, Proposals};
use crate::llm::templates::{
    kind::{Field, Kind},
    scene::{Place, Scene},
    shape::Shape,
    syntax::NodeId,
};

pub(super) const OPERATORS: &[Operator] = &[
    Operator {
        name: "method",
        summary: "a related method: `append` for `extend`, `lower` for `upper`, `startswith` for `endswith`, …",
        propose: method,
        before: "x = a.startswith(b)\n",
        after: "x = a.endswith(b)\n",
    },
    Operator {
        name: "method of a text",
        summary: "a text method without arguments put behind a text",
        propose: text_method,
        before: "x = f('a' + b)\n",
        after: "x = f(('a' + b).lower())\n",
    },
    Operator {
        name: "method of a collection",
        summary: "`copy`, `items`, `keys`, `values` put behind a collection",
        propose: collection_method,
        before: "def f(a):\n    for b in a:\n        pass\n",
        after: "def f(a):\n    for b in a.items():\n        pass\n",
    },
    Operator {
        name: "end of a queue",
        summary: "`pop(0)` for `pop()` and back, `insert(0, …)` for `append(…)`",
        propose: queue_end,
        before: "x = a.pop()\n",
        after: "x = a.pop(0)\n",
    },
    Operator {
        name: "method by operator",
        summary: "`in` for a text test, a text test for `in`, `get` for a look-up",
        propose: by_operator,
        before: "x = a.startswith(b)\n",
        after: "x = b in a\n",
    },
];

fn related(name: &str) -> &'static [&'static str] {
    match name {
        "append" => &["extend", "remove", "add", "appendleft"],
        "extend" => &["append", "extendleft"],
        "appendleft" => &["append"],
        "add" => &["discard", "update", "remove", "append"],
        "remove" => &["append", "discard", "add"],
        "discard" => &["add"],
        "pop" => &["popleft", "remove"],
        "popleft" => &["pop"],
        "popitem" => &["pop"],
        "insert" => &["append"],
        "sort" => &["reverse"],
        "reverse" => &["sort"],
        "lower" => &["upper", "swapcase", "capitalize", "title"],
        "upper" => &["lower", "swapcase", "capitalize", "title"],
        "swapcase" => &["lower", "upper"],
        "capitalize" => &["title", "upper", "lower"],
        "title" => &["capitalize", "upper"],
        "strip" => &["lstrip", "rstrip"],
        "lstrip" => &["strip", "rstrip"],
        "rstrip" => &["strip", "lstrip"],
        "startswith" => &["endswith"],
        "endswith" => &["startswith"],
        "find" => &["rfind", "index", "count"],
        "rfind" => &["find", "index"],
        "index" => &["rindex", "find", "count"],
        "count" => &["find", "index"],
        "split" => &["rsplit", "splitlines", "partition"],
        "rsplit" => &["split"],
        "splitlines" => &["split"],
        "partition" => &["rpartition"],
        "rpartition" => &["partition"],
        "ljust" => &["rjust", "center"],
        "rjust" => &["ljust", "zfill", "center"],
        "isdigit" => &["isalpha", "isalnum", "isnumeric"],
        "isalpha" => &["isdigit", "isalnum", "isupper", "islower"],
        "isalnum" => &["isalpha", "isdigit"],
        "isupper" => &["islower", "isalpha"],
        "islower" => &["isupper", "isalpha"],
        "keys" => &["values", "items"],
        "values" => &["keys", "items"],
        "items" => &["keys", "values"],
        "get" => &["pop", "setdefault"],
        "setdefault" => &["get"],
        "union" => &["intersection", "difference", "symmetric_difference"],
        "intersection" => &["union", "difference", "symmetric_difference"],
        "difference" => &["intersection", "symmetric_difference", "union"],
        "symmetric_difference" => &["union", "difference", "intersection"],
        "issubset" => &["issuperset", "isdisjoint"],
        "issuperset" => &["issubset", "isdisjoint"],
        "update" => &["add", "intersection_update", "difference_update"],
        "most_common" => &["items"],
        _ => &[],
    }
}

/// Another method, from a table of what is confused with what.
fn method(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    if let Some((_, name, _)) = syntax.method_call(id) {
        for other in related(syntax.text(name)) {
            out.replace(name, *other);
        }
    }
}

fn can_follow(scene: &Scene, id: NodeId) -> bool {
    scene.is_value(id)
        && !matches!(scene.place(id), Place::Object | Place::Condition)
        && !matches!(
            scene.syntax.kind(id),
            Kind::Str | Kind::Parenthesized | Kind::Integer | Kind::Float | Kind::Lambda
        )
        && scene.syntax.parent_kind(id) != Kind::ExpressionStatement
}

/// Case, blanks and words of a text.
fn text_method(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let shape = scene.shape(id);
    let simple = matches!(scene.syntax.kind(id), Kind::Identifier | Kind::Subscript);
    if can_follow(scene, id) && shape.meets(Shape::TEXT) && (!shape.is_any() || simple) {
        for method in ["lower", "strip", "upper", "split", "swapcase", "isdigit", "isalpha"] {
            out.put(id, &scene.expr(id).method(method, ""));
        }
    }
}

/// Views and copies of a collection.
fn collection_method(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let shape = scene.shape(id);
    let simple = matches!(scene.syntax.kind(id), Kind::Identifier | Kind::Subscript | Kind::Attribute);
    if !can_follow(scene, id) || !simple {
        return;
    }
    if shape.meets(Shape::DICT) && matches!(scene.place(id), Place::Iterable | Place::Argument | Place::Result) {
        for method in ["items", "keys", "values"] {
            out.put(id, &scene.expr(id).method(method, ""));
        }
    }
    let mutable = !shape.within(Shape::NUMBER) && shape != Shape::TEXT && shape != Shape::TRUTH;
    if mutable && matches!(scene.place(id), Place::Argument | Place::Assigned | Place::Result) {
        out.put(id, &scene.expr(id).method("copy", ""));
        out.put(id, &scene.expr(id).subscript(":"));
    }
}

/// The other end of a list used as a queue.
fn queue_end(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    let Some((object, name, arguments)) = syntax.method_call(id) else { return };
    match (syntax.text(name), arguments.as_slice()) {
        ("pop", []) => out.put(id, &scene.expr(object).method("pop", "0")),
        ("pop", [_]) => out.put(id, &scene.expr(object).method("pop", "")),
        ("append", [item]) => {
            out.put(id, &scene.expr(object).method("insert", &format!("0, {}", syntax.text(*item))));
        }
        ("insert", [_, item]) => out.put(id, &scene.expr(object).method("append", syntax.text(*item))),
        _ => {}
    }
}

/// An operator for a method and back.
fn by_operator(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    if let Some((object, name, arguments)) = syntax.method_call(id)
        && let ("startswith" | "endswith" | "count", [argument]) = (syntax.text(name), arguments.as_slice())
    {
        use crate::llm::templates::expression::Expr;
        out.put(id, &Expr::binary(&scene.expr(*argument), "in", &scene.expr(object)));
        out.put(id, &Expr::binary(&scene.expr(object), "==", &scene.expr(*argument)));
    }
    if syntax.kind(id) == Kind::Comparison
        && let [left, right] = syntax.children(id).as_slice()
        && syntax.operator(id).is_some_and(|token| syntax.text(token) == "in")
        && scene.shape(*right).meets(Shape::TEXT)
        && scene.shape(*left).meets(Shape::TEXT)
    {
        for method in ["startswith", "endswith"] {
            out.put(id, &scene.expr(*right).method(method, syntax.text(*left)));
        }
    }
    if syntax.kind(id) == Kind::Subscript
        && scene.is_value(id)
        && let (Some(value), Some(index)) = (syntax.child(id, Field::Value), syntax.child(id, Field::Subscript))
        && scene.shape(value).meets(Shape::DICT)
        && !scene.shape(value).is_any()
    {
        for default in ["", ", 0", ", []", ", ''"] {
            out.put(id, &scene.expr(value).method("get", &format!("{}{default}", syntax.text(index))));
        }
    }
}
