//! Arguments of calls and elements of lists: exchanged, left out, added.

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
        name: "arguments exchanged",
        summary: "two positional arguments of a call exchanged",
        propose: swap_arguments,
        before: "x = f(a, b)\n",
        after: "x = f(b, a)\n",
    },
    Operator {
        name: "elements exchanged",
        summary: "two elements of a tuple, list or index exchanged",
        propose: swap_elements,
        before: "x = (a, b)\n",
        after: "x = (b, a)\n",
    },
    Operator {
        name: "argument dropped",
        summary: "one argument of a call left out",
        propose: drop_argument,
        before: "x = f(a, b)\n",
        after: "x = f(a)\n",
    },
    Operator {
        name: "element dropped",
        summary: "one element of a list, tuple or set left out",
        propose: drop_element,
        before: "x = [a, b]\n",
        after: "x = [b]\n",
    },
    Operator {
        name: "argument added",
        summary: "a variable, 0 or 1 as one argument more of a function that takes a variable number",
        propose: add_argument,
        before: "for i in range(n):\n    pass\n",
        after: "for i in range(1, n):\n    pass\n",
    },
    Operator {
        name: "sort order",
        summary: "`reverse=True` or a `key` added to a sorting call, or its keyword argument dropped",
        propose: sort_order,
        before: "x = sorted(a)\n",
        after: "x = sorted(a, reverse=True)\n",
    },
    Operator {
        name: "key by lookup",
        summary: "a look-up in a dictionary of the program, or an element, as the `key` of a sorting or choosing call",
        propose: key_by_lookup,
        before: "def f(a):\n    d = {'a': 1}\n    return max(a)\n",
        after: "def f(a):\n    d = {'a': 1}\n    return max(a, key=lambda x: d[x])\n",
    },
];

fn swap_each(scene: &Scene, items: &[NodeId], out: &mut Proposals) {
    for (at, first) in items.iter().enumerate() {
        for second in &items[at + 1..] {
            let (a, b) = (scene.syntax.text(*first), scene.syntax.text(*second));
            if a != b {
                out.replace_two((*first, b), (*second, a));
            }
        }
    }
}

/// Two arguments in each other's place.
fn swap_arguments(scene: &Scene, id: NodeId, out: &mut Proposals) {
    if let Some((_, arguments)) = scene.syntax.call(id) {
        let positional: Vec<NodeId> =
            arguments.into_iter().filter(|id| scene.syntax.kind(*id).is_expression()).collect();
        if positional.len() <= 5 {
            swap_each(scene, &positional, out);
        }
    }
}

/// The elements of a display or of the index of a subscript.
fn elements(scene: &Scene, id: NodeId) -> Vec<NodeId> {
    let syntax = &scene.syntax;
    match syntax.kind(id) {
        Kind::Tuple | Kind::List | Kind::Set | Kind::ExpressionList | Kind::PatternList | Kind::TuplePattern => {
            syntax.children(id)
        }
        Kind::Subscript => syntax.children(id).into_iter().filter(|id| syntax.field(*id) == Field::Subscript).collect(),
        _ => Vec::new(),
    }
}

/// Two elements in each other's place; also `a[i][j]` for `a[j][i]`.
fn swap_elements(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    let items = elements(scene, id);
    if items.len() <= 4 {
        swap_each(scene, &items, out);
    }
    if syntax.kind(id) == Kind::Subscript
        && let Some(inner) = syntax.child(id, Field::Value)
        && syntax.kind(inner) == Kind::Subscript
        && let (Some(first), Some(second)) = (syntax.child(inner, Field::Subscript), syntax.child(id, Field::Subscript))
    {
        swap_each(scene, &[first, second], out);
    }
}

/// The list without one of its items and without the comma that goes with it.
fn drop_item(scene: &Scene, items: &[NodeId], out: &mut Proposals) {
    let syntax = &scene.syntax;
    for (at, item) in items.iter().enumerate() {
        match (items.get(at + 1), at.checked_sub(1).and_then(|before| items.get(before))) {
            (Some(next), _) => out.splice(*item, syntax.start(*item), syntax.start(*next), ""),
            (None, Some(before)) => out.splice(*item, syntax.end(*before), syntax.end(*item), ""),
            (None, None) => {}
        }
    }
}

/// An argument less.
fn drop_argument(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let known = |name: &str| scene.functions().iter().any(|(known, _)| known == name);
    if let Some((function, arguments)) = scene.syntax.call(id)
        && !known(scene.syntax.text(function))
    {
        drop_item(scene, &arguments, out);
    }
}

/// An element less.
fn drop_element(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    if !matches!(syntax.kind(id), Kind::List | Kind::Set | Kind::Tuple | Kind::ExpressionList) {
        return;
    }
    let items = syntax.children(id);
    match (syntax.kind(id), items.as_slice()) {
        (Kind::List, [_]) => out.replace(id, "[]"),
        (Kind::Tuple | Kind::ExpressionList, [first, second]) => {
            out.put(id, &scene.expr(*first));
            out.put(id, &scene.expr(*second));
        }
        _ => drop_item(scene, &items, out),
    }
}

/// An argument more.
fn add_argument(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    let Some((function, arguments)) = syntax.call(id) else { return };
    let (Some(first), Some(last)) = (arguments.first(), arguments.last()) else { return };
    let (start, end) = (syntax.start(*first), syntax.end(*last));
    if syntax.child(id, Field::Arguments).is_some_and(|arguments| syntax.kind(arguments) == Kind::Generator) {
        return;
    }
    match syntax.text(function) {
        "range" if arguments.len() == 1 => {
            for text in ["1, ", "2, "] {
                out.splice(id, start, start, text);
            }
            for name in scene.numbers(id).into_iter().filter(|name| name != syntax.text(*first)).take(4) {
                out.splice(id, start, start, format!("{name}, "));
                out.splice(id, start, start, format!("{name} + 1, "));
                out.splice(id, end, end, format!(", {name}"));
            }
        }
        "range" if arguments.len() == 2 => {
            out.splice(id, end, end, ", 2");
            out.splice(id, end, end, ", -1");
            for name in scene.numbers(id).into_iter().take(3) {
                out.splice(id, end, end, format!(", {name}"));
            }
        }
        "max" | "min" => {
            out.splice(id, end, end, ", 0");
            for name in scene.numbers(id).into_iter().filter(|name| name != syntax.text(*first)).take(4) {
                out.splice(id, end, end, format!(", {name}"));
            }
        }
        "sum" | "enumerate" if arguments.len() == 1 => {
            out.splice(id, end, end, ", 1");
            for name in scene.variables(id).into_iter().take(3) {
                out.splice(id, end, end, format!(", {name}"));
            }
        }
        "round" | "int" if arguments.len() == 1 => out.splice(id, end, end, ", 2"),
        "pow" if arguments.len() == 2 => {
            for name in scene.numbers(id).into_iter().take(4) {
                out.splice(id, end, end, format!(", {name}"));
            }
        }
        _ => {}
    }
}

/// For a call that sorts or chooses by order: its function's name, its arguments and where a keyword goes.
fn ordering_call(scene: &Scene, id: NodeId) -> Option<(&str, Vec<NodeId>, usize, &'static str)> {
    let syntax = &scene.syntax;
    let (function, arguments) = syntax.call(id)?;
    let list = syntax.child(id, Field::Arguments).filter(|list| syntax.kind(*list) == Kind::Arguments)?;
    let name = match syntax.kind(function) {
        Kind::Attribute => syntax.child(function, Field::Attribute)?,
        _ => function,
    };
    let name = syntax.text(name);
    if !matches!(name, "sorted" | "sort" | "max" | "min") || (name != "sort" && arguments.is_empty()) {
        return None;
    }
    let (at, comma) = match arguments.last() {
        Some(last) => (syntax.end(*last), ", "),
        None => (syntax.end(list) - 1, ""),
    };
    Some((name, arguments, at, comma))
}

/// The order of a sorting call.
fn sort_order(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    let Some((name, arguments, at, comma)) = ordering_call(scene, id) else { return };
    let keywords: Vec<NodeId> =
        arguments.iter().copied().filter(|argument| syntax.kind(*argument) == Kind::Keyword).collect();
    let has = |wanted: &str| {
        keywords.iter().any(|id| syntax.child(*id, Field::Name).is_some_and(|name| syntax.text(name) == wanted))
    };
    if name.starts_with("sort") && !has("reverse") {
        out.splice(id, at, at, format!("{comma}reverse=True"));
    }
    if !has("key") {
        for key in ["len", "abs", "str", "int"] {
            out.splice(id, at, at, format!("{comma}key={key}"));
        }
    }
    for keyword in keywords {
        let before = arguments.iter().rev().find(|other| syntax.end(**other) < syntax.start(keyword));
        match before {
            Some(before) => out.splice(id, syntax.end(*before), syntax.end(keyword), ""),
            None => out.replace(keyword, ""),
        }
    }
}

/// Variables that may be dictionaries.
fn tables(scene: &Scene, id: NodeId) -> Vec<String> {
    scene.variables(id).into_iter().filter(|name| scene.types.of(name).meets(Shape::DICT)).collect()
}

/// A key that looks its argument up; a list sorted by a dictionary that nothing reads.
fn key_by_lookup(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    let shape = scene.shape(id);
    if scene.is_value(id) && shape.meets(Shape::LIST) && matches!(scene.place(id), Place::Argument | Place::Result) {
        let unread = scene.unread(id);
        for table in tables(scene, id).iter().filter(|name| unread.contains(name)).take(2) {
            let key = Expr::atom(format!("key=lambda x: {table}[x]"));
            out.put(id, &Expr::call("sorted", &[&scene.expr(id), &key]));
        }
    }
    let Some((_, arguments, at, comma)) = ordering_call(scene, id) else { return };
    if arguments.iter().any(|argument| syntax.kind(*argument) == Kind::Keyword) {
        return;
    }
    for table in tables(scene, id).into_iter().take(3) {
        out.splice(id, at, at, format!("{comma}key=lambda x: {table}[x]"));
    }
    for key in ["x[0]", "x[1]", "x[-1]", "-x", "(len(x), x)"] {
        out.splice(id, at, at, format!("{comma}key=lambda x: {key}"));
    }
}
