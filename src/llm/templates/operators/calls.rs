//! Calls: put around an expression, taken away, of another function.

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
        name: "call unwrapped",
        summary: "an argument of a call, or the object of a method call, in place of the call",
        propose: unwrap,
        before: "x = f(a)\n",
        after: "x = a\n",
    },
    Operator {
        name: "function",
        summary: "a related built-in function: `min` for `max`, `any` for `all`, `floor` for `ceil`, …",
        propose: function,
        before: "x = any(a)\n",
        after: "x = all(a)\n",
    },
    Operator {
        name: "function of the program",
        summary: "another function that the program defines",
        propose: function_of_program,
        before: "def g(a):\n    pass\ndef f(a):\n    return f(a)\n",
        after: "def g(a):\n    pass\ndef f(a):\n    return g(a)\n",
    },
    Operator {
        name: "call around a number",
        summary: "`abs`, `int`, `round`, `str` or `float` around a number",
        propose: wrap_number,
        before: "x = a - b\n",
        after: "x = abs(a - b)\n",
    },
    Operator {
        name: "call around a collection",
        summary: "`len`, `sorted`, `set`, `list`, `reversed`, `sum`, `tuple`, `max` or `min` around a collection",
        propose: wrap_collection,
        before: "def f(a):\n    return a\n",
        after: "def f(a):\n    return sorted(a)\n",
    },
    Operator {
        name: "call applied twice",
        summary: "the same call once more around itself",
        propose: twice,
        before: "x = f(a)\n",
        after: "x = f(f(a))\n",
    },
    Operator {
        name: "function of the program around an expression",
        summary: "a call of a function of one parameter that the program defines",
        propose: wrap_own,
        before: "def g(a):\n    pass\ndef f(a):\n    return a\n",
        after: "def g(a):\n    pass\ndef f(a):\n    return g(a)\n",
    },
    Operator {
        name: "larger or smaller of two",
        summary: "`max` or `min` of a number with 0, 1 or a variable; of an assigned value with its target",
        propose: larger_or_smaller,
        before: "def f(a):\n    a = a + 1\n",
        after: "def f(a):\n    a = max(a, a + 1)\n",
    },
    Operator {
        name: "call of a value",
        summary: "brackets added to a name or attribute, or taken away from a call without arguments",
        propose: call_value,
        before: "def f(a):\n    return a.size()\n",
        after: "def f(a):\n    return a.size\n",
    },
    Operator {
        name: "division by length",
        summary: "the length of a collection for a call or variable that divides",
        propose: length_for_divisor,
        before: "def f(a, b):\n    return sum(a) / b\n",
        after: "def f(a, b):\n    return sum(a) / len(a)\n",
    },
];

/// The call gone, its content kept.
fn unwrap(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    let Some((function, arguments)) = syntax.call(id) else { return };
    let alone = syntax.parent_kind(id) == Kind::ExpressionStatement;
    if alone {
        return;
    }
    for argument in arguments {
        if syntax.kind(argument).is_expression() {
            out.put(id, &scene.expr(argument));
        }
    }
    if syntax.kind(function) == Kind::Attribute
        && let Some(object) = syntax.child(function, Field::Object)
    {
        out.put(id, &scene.expr(object));
    }
}

fn related(name: &str) -> &'static [&'static str] {
    match name {
        "min" => &["max", "sum", "sorted", "len"],
        "max" => &["min", "sum", "len", "sorted"],
        "any" => &["all"],
        "all" => &["any"],
        "sorted" => &["list", "reversed", "set"],
        "reversed" => &["sorted", "list"],
        "sum" => &["len", "max", "min"],
        "len" => &["sum", "max", "min", "set"],
        "int" => &["round", "float", "abs", "str", "math.ceil"],
        "float" => &["int", "round"],
        "round" => &["int", "abs", "math.ceil", "math.floor"],
        "abs" => &["round", "int"],
        "str" => &["int", "repr", "float", "len"],
        "list" => &["set", "sorted", "tuple", "reversed"],
        "tuple" => &["list", "sorted", "set"],
        "set" => &["list", "sorted", "frozenset", "tuple"],
        "dict" => &["set", "list"],
        "enumerate" => &["list", "reversed", "iter"],
        "range" => &["list", "len"],
        "map" => &["filter"],
        "filter" => &["map"],
        "ord" => &["int", "chr"],
        "chr" => &["str", "ord"],
        "bin" => &["hex", "oct", "str"],
        "floor" => &["ceil", "trunc", "sqrt"],
        "ceil" => &["floor", "trunc"],
        "sqrt" => &["floor", "ceil", "log"],
        "sin" => &["cos"],
        "cos" => &["sin"],
        "log" => &["log2", "log10"],
        "log2" => &["log", "log10"],
        "log10" => &["log", "log2"],
        "gcd" => &["lcm"],
        "product" => &["combinations", "permutations"],
        "combinations" => &["permutations", "combinations_with_replacement", "product"],
        "permutations" => &["combinations", "product"],
        "heappush" => &["heappop"],
        "bisect_left" => &["bisect_right"],
        "bisect_right" => &["bisect_left"],
        "ceil_div" => &["floor_div"],
        "isinstance" => &["issubclass"],
        _ => &[],
    }
}

/// Another function of the language, from a table of what is confused with what.
fn function(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    let name = match syntax.kind(id) {
        Kind::Call => match syntax.child(id, Field::Function) {
            Some(function) if syntax.kind(function) == Kind::Identifier => Some(function),
            Some(function) if syntax.kind(function) == Kind::Attribute => syntax.child(function, Field::Attribute),
            _ => None,
        },
        // A function handed on, as in `map(int, …)` or `key=max`.
        Kind::Identifier if scene.place(id) == Place::Argument => Some(id),
        _ => None,
    };
    let Some(name) = name else { return };
    let attribute = syntax.field(name) == Field::Attribute;
    for other in related(syntax.text(name)) {
        let imported = !other.contains('.') || syntax.source().contains("import math");
        if imported && !(attribute && other.contains('.')) {
            out.replace(name, *other);
        }
    }
}

/// Another function of the program, called alike.
fn function_of_program(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    let Some((function, arguments)) = syntax.call(id) else { return };
    if syntax.kind(function) == Kind::Identifier {
        for (name, parameters) in scene.functions() {
            if name != syntax.text(function) && *parameters == arguments.len() {
                out.replace(function, name.clone());
            }
        }
    }
}

/// Whether a call may be put around `id`.
fn can_wrap(scene: &Scene, id: NodeId) -> bool {
    let kind = scene.syntax.kind(id);
    scene.is_value(id)
        && !kind.is_constant()
        && !matches!(kind, Kind::Parenthesized | Kind::Comparison | Kind::Not | Kind::Boolean | Kind::Lambda)
        && !matches!(scene.place(id), Place::Other | Place::Condition)
}

fn wrap(scene: &Scene, id: NodeId, out: &mut Proposals, functions: &[&str]) {
    let own = scene.syntax.call(id).map(|(function, _)| scene.syntax.text(function));
    let value = scene.expr(id);
    for function in functions.iter().filter(|function| Some(**function) != own) {
        let around = scene.syntax.parent(id).and_then(|list| scene.syntax.parent(list));
        let around = around.and_then(|call| scene.syntax.call(call)).map(|(function, _)| scene.syntax.text(function));
        if around != Some(function) {
            out.put(id, &Expr::call(function, &[&value]));
        }
    }
}

/// Calls that make sense of a number.
fn wrap_number(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let shape = scene.shape(id);
    if can_wrap(scene, id) && shape.numeric() && (!shape.is_any() || scene.syntax.kind(id) == Kind::Binary) {
        let subtraction = scene.syntax.operator(id).is_some_and(|operator| scene.syntax.text(operator) == "-");
        let functions: &[&str] = if subtraction { &["abs"] } else { &["abs", "int", "str", "round", "float"] };
        wrap(scene, id, out, functions);
    }
}

/// Calls that make sense of a collection.
fn wrap_collection(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let shape = scene.shape(id);
    if !can_wrap(scene, id) || shape.within(Shape::NUMBER) || shape == Shape::TRUTH || shape == Shape::NONE {
        return;
    }
    if scene.place(id) == Place::Object {
        wrap(scene, id, out, &["sorted", "list", "set"]);
    } else if shape.is_any() && scene.syntax.kind(id) == Kind::Binary {
        wrap(scene, id, out, &["len", "sorted"]);
    } else {
        wrap(scene, id, out, &["len", "sorted", "list", "set", "reversed", "sum", "max", "min", "tuple"]);
        if !matches!(scene.place(id), Place::Operand | Place::Side | Place::Index | Place::Bound) {
            let set = Expr::call("set", &[&scene.expr(id)]);
            out.put(id, &Expr::call("sorted", &[&set]));
            out.put(id, &Expr::call("list", &[&set]));
            out.put(id, &Expr::call("''.join", &[&scene.expr(id)]));
        }
    }
}

/// `f(f(x))` for `f(x)`.
fn twice(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    let Some((function, arguments)) = syntax.call(id) else { return };
    let pure = matches!(syntax.text(function), "len" | "range" | "sorted" | "list" | "set" | "str" | "int" | "abs");
    if arguments.len() == 1 && !pure && syntax.kind(arguments[0]) != Kind::Keyword && can_wrap(scene, id) {
        out.put(id, &Expr::call(syntax.text(function), &[&scene.expr(id)]));
    }
}

/// A function of the program around an expression.
fn wrap_own(scene: &Scene, id: NodeId, out: &mut Proposals) {
    if can_wrap(scene, id) && scene.place(id) != Place::Object {
        let one: Vec<&str> =
            scene.functions().iter().filter(|(_, count)| *count == 1).map(|(name, _)| name.as_str()).collect();
        wrap(scene, id, out, &one);
    }
}

/// `max(x, E)` and `min(x, E)`.
fn larger_or_smaller(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    if !scene.is_value(id) || !scene.shape(id).numeric() || syntax.kind(id).is_constant() {
        return;
    }
    let place = scene.place(id);
    let value = scene.expr(id);
    let parent = syntax.parent(id);
    let target = parent
        .filter(|parent| syntax.kind(*parent) == Kind::Assignment && place == Place::Assigned)
        .and_then(|parent| syntax.child(parent, Field::Left));
    if let Some(target) = target {
        for function in ["max", "min"] {
            out.put(id, &Expr::call(function, &[&scene.expr(target), &value]));
        }
    }
    if matches!(place, Place::Assigned | Place::Result | Place::Argument | Place::Bound | Place::Index) {
        for function in ["max", "min"] {
            for constant in ["0", "1"] {
                out.put(id, &Expr::call(function, &[&Expr::atom(constant), &value]));
            }
        }
        let own = syntax.text(id);
        for name in scene.numbers(id).iter().filter(|name| *name != own).take(4) {
            for function in ["max", "min"] {
                out.put(id, &Expr::call(function, &[&Expr::atom(name), &value]));
            }
        }
    }
}

/// Brackets of a call added or left out.
fn call_value(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    match syntax.call(id) {
        Some((function, arguments)) if arguments.is_empty() => out.put(id, &scene.expr(function)),
        Some(_) => {}
        None => {
            let function = scene.functions().iter().any(|(name, _)| name == syntax.text(id));
            let value = scene.is_value(id) && scene.place(id) != Place::Object;
            if value && (function || syntax.kind(id) == Kind::Attribute) {
                out.put(id, &Expr::call(syntax.text(id), &[]));
            }
        }
    }
}

/// `len(v)` as a divisor, or in place of a constant, call or variable that is compared or divides.
fn length_for_divisor(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    let divides = syntax.parent_kind(id) == Kind::Binary && syntax.field(id) == Field::Right;
    let place =
        matches!(scene.place(id), Place::Side | Place::Bound | Place::Argument | Place::Assigned | Place::Result);
    let kind = matches!(syntax.kind(id), Kind::Identifier | Kind::Call | Kind::Integer | Kind::Subscript);
    if scene.is_value(id) && kind && (divides || place) && scene.shape(id).numeric() {
        let collections = scene.variables(id).into_iter().filter(|name| scene.types.of(name).sized());
        for name in collections.take(4) {
            out.put(id, &Expr::call("len", &[&Expr::atom(name)]));
        }
    }
}
