//! Statements put in.

use super::{Operator, Proposals};
use crate::llm::templates::{
    kind::{Field, Kind},
    scene::Scene,
    shape::Shape,
    syntax::NodeId,
};

pub(super) const OPERATORS: &[Operator] = &[
    Operator {
        name: "collecting call inserted",
        summary: "`x.append(v)`, `x.add(v)` or `x.extend(v)` before or after a statement",
        propose: collect,
        before: "def f(a):\n    b = []\n    for c in a:\n        pass\n    return b\n",
        after: "def f(a):\n    b = []\n    for c in a:\n        b.append(c)\n        pass\n    return b\n",
    },
    Operator {
        name: "assignment inserted",
        summary: "`x = y` between two variables of a fitting type before or after a statement",
        propose: assign,
        before: "def f(a, b):\n    while a:\n        a = g(a)\n",
        after: "def f(a, b):\n    while a:\n        a = g(a)\n        b = a\n",
    },
    Operator {
        name: "step inserted",
        summary: "`x += 1` or `x -= 1` before or after a statement",
        propose: step,
        before: "def f(a):\n    n = 0\n    while n < a:\n        g(n)\n",
        after: "def f(a):\n    n = 0\n    while n < a:\n        g(n)\n        n += 1\n",
    },
    Operator {
        name: "jump inserted",
        summary: "`continue` or `break` after a statement of a loop, `return v` after a statement",
        propose: jump,
        before: "def f(a):\n    for b in a:\n        if b:\n            g(b)\n        h(b)\n",
        after: "def f(a):\n    for b in a:\n        if b:\n            g(b)\n            continue\n        h(b)\n",
    },
    Operator {
        name: "guard inserted",
        summary: "an early return for an empty, absent or small argument",
        propose: guard,
        before: "def f(a):\n    return a[0]\n",
        after: "def f(a):\n    if not a:\n        return []\n    return a[0]\n",
    },
    Operator {
        name: "reset inserted",
        summary: "a variable set to its first constant value again, at another place",
        propose: reset,
        before: "def f(a):\n    b = []\n    for c in a:\n        b.append(c)\n        g(b)\n",
        after: "def f(a):\n    b = []\n    for c in a:\n        b.append(c)\n        g(b)\n        b = []\n",
    },
    Operator {
        name: "statement copied",
        summary: "a simple statement of the same function once more at another place",
        propose: copy,
        before: "def f(a):\n    a += 1\n    g(a)\n    h(a)\n",
        after: "def f(a):\n    a += 1\n    g(a)\n    a += 1\n    h(a)\n",
    },
    Operator {
        name: "collection ordered",
        summary: "`x.sort()` or `x.reverse()` put in before a statement",
        propose: order,
        before: "def f(a):\n    return a\n",
        after: "def f(a):\n    a.sort()\n    return a\n",
    },
    Operator {
        name: "last element collected",
        summary: "an element of a sequence appended to another before a statement",
        propose: collect_element,
        before: "def f(a):\n    b = []\n    return b\n",
        after: "def f(a):\n    b = []\n    b.append(a[-1])\n    return b\n",
    },
];

/// A statement inside a function, with lines of its own, that something may be put beside.
fn is_anchor(scene: &Scene, id: NodeId) -> bool {
    let syntax = &scene.syntax;
    scene.is_statement(id)
        && syntax.parent_kind(id) == Kind::Block
        && syntax.function(id).is_some()
        && !matches!(syntax.kind(id), Kind::Function | Kind::Class | Kind::Global | Kind::Nonlocal)
}

/// Whether anything after the statement in its block would never run.
fn leaves(scene: &Scene, id: NodeId) -> bool {
    matches!(scene.syntax.kind(id), Kind::Return | Kind::Break | Kind::Continue | Kind::Raise)
}

fn is_last(scene: &Scene, id: NodeId) -> bool {
    scene.neighbours(id).1.is_none()
}

/// Before the statement, and after it where it is the last of its block: every gap of a block once.
fn around(scene: &Scene, id: NodeId, out: &mut Proposals, line: &str) {
    out.insert_before(id, line);
    if is_last(scene, id) && !leaves(scene, id) {
        out.insert_after(id, line);
    }
}

/// How elements get into a container of this shape, as far as it is known or called so elsewhere.
fn collectors(scene: &Scene, id: NodeId) -> Vec<(String, &str)> {
    let source = scene.syntax.source();
    let mut found = Vec::new();
    for name in scene.variables(id) {
        let shape = scene.types.of(&name);
        let known = !shape.is_any();
        if known && shape.meets(Shape::LIST) || source.contains(&format!("{name}.append(")) {
            found.push((name.clone(), "append"));
        }
        if known && shape.meets(Shape::SET) || source.contains(&format!("{name}.add(")) {
            found.push((name.clone(), "add"));
        }
        let initialised_empty = !known && source.contains(&format!("{name} = []"));
        if initialised_empty && !found.iter().any(|(other, _)| *other == name) {
            found.push((name, "append"));
        }
    }
    found
}

/// Something collected.
fn collect(scene: &Scene, id: NodeId, out: &mut Proposals) {
    if !is_anchor(scene, id) {
        return;
    }
    let names = scene.variables(id);
    for (container, method) in collectors(scene, id).into_iter().take(3) {
        for name in names.iter().filter(|name| **name != container).take(5) {
            around(scene, id, out, &format!("{container}.{method}({name})"));
        }
        if method == "append" {
            let lists = names.iter().filter(|name| {
                **name != container && scene.types.of(name).meets(Shape::LIST) && !scene.types.of(name).is_any()
            });
            for name in lists.take(2) {
                around(scene, id, out, &format!("{container}.extend({name})"));
            }
        }
    }
}

/// An element collected.
fn collect_element(scene: &Scene, id: NodeId, out: &mut Proposals) {
    if !is_anchor(scene, id) {
        return;
    }
    let names = scene.variables(id);
    for (container, method) in collectors(scene, id).into_iter().take(2) {
        let sequences = names.iter().filter(|name| **name != container && scene.types.of(name).sequence());
        for name in sequences.take(3) {
            for index in ["-1", "0"] {
                around(scene, id, out, &format!("{container}.{method}({name}[{index}])"));
            }
        }
    }
}

/// One variable takes another's value.
fn assign(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    if !is_anchor(scene, id) {
        return;
    }
    let names = scene.variables(id);
    for target in names.iter().take(6) {
        for value in names.iter().take(6).filter(|value| *value != target) {
            let fits = scene.types.of(target).fits(scene.types.of(value));
            let changes = syntax.kind(id) == Kind::ExpressionStatement || is_last(scene, id);
            if fits && changes && !target.contains('.') {
                around(scene, id, out, &format!("{target} = {value}"));
            }
        }
    }
}

/// A counter moves.
fn step(scene: &Scene, id: NodeId, out: &mut Proposals) {
    if !is_anchor(scene, id) {
        return;
    }
    let source = scene.syntax.source();
    for name in scene.numbers(id).into_iter().take(4) {
        let counted = !scene.types.of(&name).is_any()
            || source.contains(&format!("{name} = 0"))
            || source.contains(&format!("{name} += "));
        if counted {
            around(scene, id, out, &format!("{name} += 1"));
            around(scene, id, out, &format!("{name} -= 1"));
        }
    }
}

/// A jump at the end of a block.
fn jump(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    if !is_anchor(scene, id) || leaves(scene, id) || !is_last(scene, id) {
        return;
    }
    if scene.in_loop(id) {
        let direct =
            syntax.parent(id).is_some_and(|block| matches!(syntax.parent_kind(block), Kind::For | Kind::While));
        if !direct {
            out.insert_after(id, "continue");
        }
        out.insert_after(id, "break");
    }
    for name in scene.variables(id).into_iter().take(4) {
        out.insert_after(id, &format!("return {name}"));
    }
}

/// What the function returns elsewhere, and frequent neutral values.
fn results(scene: &Scene, id: NodeId) -> Vec<String> {
    let syntax = &scene.syntax;
    let function = syntax.function(id);
    let mut texts: Vec<String> = Vec::new();
    for other in scene.sites().iter().copied().filter(|other| syntax.kind(*other) == Kind::Return) {
        if let (true, [value]) = (syntax.function(other) == function, syntax.children(other).as_slice())
            && (syntax.kind(*value).is_constant() || matches!(syntax.kind(*value), Kind::List))
            && !texts.iter().any(|text| text == syntax.text(*value))
        {
            texts.push(syntax.text(*value).to_owned());
        }
    }
    for text in ["[]", "None", "0", "False", "True", "''", "1"] {
        if !texts.iter().any(|known| known == text) {
            texts.push(text.to_owned());
        }
    }
    texts
}

/// An early return, before the first statements of a function.
fn guard(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    let of_function =
        syntax.parent(id).is_some_and(|block| syntax.parent_kind(block) == Kind::Function) && is_anchor(scene, id);
    if !of_function {
        return;
    }
    let docstring = |id: NodeId| {
        syntax.kind(id) == Kind::ExpressionStatement
            && syntax.children(id).first().is_some_and(|only| syntax.kind(*only) == Kind::Str)
    };
    let first = scene.neighbours(id).0.is_none_or(docstring);
    if !first || docstring(id) {
        return;
    }
    let inner = scene.deeper(id);
    let newline = scene.newline;
    let results = results(scene, id);
    for name in scene.variables(id).into_iter().take(2) {
        let shape = scene.types.of(&name);
        let mut conditions = Vec::new();
        if shape.sized() {
            conditions.push(format!("not {name}"));
        }
        if shape.numeric() {
            conditions.push(format!("{name} == 0"));
            conditions.push(format!("{name} < 2"));
        }
        for condition in conditions {
            for result in results.iter().take(7).chain([&name]) {
                out.insert_before(id, &format!("if {condition}:{newline}{inner}return {result}"));
            }
        }
    }
}

/// What a variable starts with once more, in another block.
fn reset(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    if !is_anchor(scene, id) {
        return;
    }
    let function = syntax.function(id);
    let initial = |other: NodeId| {
        let [assignment] = syntax.children(other)[..] else { return false };
        let value = syntax.child(assignment, Field::Right);
        syntax.kind(assignment) == Kind::Assignment
            && syntax.parent(other) != syntax.parent(id)
            && value.is_some_and(|value| syntax.kind(value).is_constant() || syntax.children(value).is_empty())
    };
    let donors = scene.sites().iter().copied().filter(|other| {
        syntax.kind(*other) == Kind::ExpressionStatement && syntax.function(*other) == function && initial(*other)
    });
    for donor in donors.take(4) {
        around(scene, id, out, syntax.text(donor));
    }
}

/// A statement once more.
fn copy(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    if !is_anchor(scene, id) {
        return;
    }
    let function = syntax.function(id);
    let donors = scene.sites().iter().copied().filter(|other| {
        *other != id
            && syntax.function(*other) == function
            && scene.is_statement(*other)
            && syntax.kind(*other) == Kind::ExpressionStatement
            && !syntax.text(*other).contains('\n')
    });
    for donor in donors.take(6) {
        around(scene, id, out, syntax.text(donor));
    }
}

/// A collection put in order.
fn order(scene: &Scene, id: NodeId, out: &mut Proposals) {
    if !is_anchor(scene, id) {
        return;
    }
    let lists: Vec<String> =
        scene.variables(id).into_iter().filter(|name| scene.types.of(name).meets(Shape::LIST)).take(2).collect();
    for name in &lists {
        out.insert_before(id, &format!("{name}.sort()"));
        out.insert_before(id, &format!("{name}.reverse()"));
    }
}
