//! Conditions: negated, a clause more or less.

use super::{Operator, Proposals};
use crate::llm::templates::{
    expression::{Expr, Strength},
    kind::{Field, Kind},
    scene::{Place, Scene},
    syntax::NodeId,
};

pub(super) const OPERATORS: &[Operator] = &[
    Operator {
        name: "and for or",
        summary: "`and` for `or` and back",
        propose: and_or,
        before: "x = a and b\n",
        after: "x = a or b\n",
    },
    Operator {
        name: "condition negated",
        summary: "a condition that is no comparison negated, or its `not` dropped",
        propose: negate,
        before: "if f(a):\n    pass\n",
        after: "if not f(a):\n    pass\n",
    },
    Operator {
        name: "clause dropped",
        summary: "one side of an `and` or `or` alone",
        propose: drop_clause,
        before: "x = a and b or c\n",
        after: "x = b or c\n",
    },
    Operator {
        name: "clauses exchanged",
        summary: "the two sides of an `and` or `or` exchanged",
        propose: swap_clauses,
        before: "x = a and b\n",
        after: "x = b and a\n",
    },
    Operator {
        name: "constant condition",
        summary: "a variable as the condition where a constant was",
        propose: constant_condition,
        before: "def f(a):\n    while True:\n        a.pop()\n",
        after: "def f(a):\n    while a:\n        a.pop()\n",
    },
    Operator {
        name: "guard clause",
        summary: "a clause about emptiness or None before a condition",
        propose: guard_clause,
        before: "def f(a):\n    if a.x > 0:\n        pass\n",
        after: "def f(a):\n    if a is None or a.x > 0:\n        pass\n",
    },
    Operator {
        name: "clause added",
        summary: "a comparison of variables, or with 0 or 1, beside a condition",
        propose: add_clause,
        before: "def f(a, b):\n    if a:\n        pass\n",
        after: "def f(a, b):\n    if a and a < b:\n        pass\n",
    },
    Operator {
        name: "divisibility clause",
        summary: "a clause about a remainder beside a condition",
        propose: divisibility_clause,
        before: "def f(a, b):\n    if a > 1:\n        pass\n",
        after: "def f(a, b):\n    if a > 1 and a % 2 == 0:\n        pass\n",
    },
    Operator {
        name: "condition replaced",
        summary: "another condition of the same function, or a constant",
        propose: replace_condition,
        before: "def f(a, b):\n    if a < 1:\n        pass\n    if b:\n        pass\n",
        after: "def f(a, b):\n    if a < 1:\n        pass\n    if a < 1:\n        pass\n",
    },
    Operator {
        name: "filter",
        summary: "the filter of a comprehension dropped, or one added",
        propose: filter,
        before: "x = [a for a in b if a > 0]\n",
        after: "x = [a for a in b]\n",
    },
    Operator {
        name: "branch keyword",
        summary: "`if` for `elif`, `if` for `while` and back",
        propose: keyword,
        before: "def f(a):\n    if a:\n        a = 1\n    elif a > 2:\n        a = 2\n",
        after: "def f(a):\n    if a:\n        a = 1\n    if a > 2:\n        a = 2\n",
    },
    Operator {
        name: "conditional by branch",
        summary: "one branch of a conditional expression in its place",
        propose: by_branch,
        before: "x = a if b else c\n",
        after: "x = c\n",
    },
];

/// Whether `id` is a whole condition: of a branch, a loop, an assertion, a conditional expression, a filter.
fn is_condition(scene: &Scene, id: NodeId) -> bool {
    let syntax = &scene.syntax;
    scene.is_value(id)
        && scene.place(id) == Place::Condition
        && !matches!(syntax.parent_kind(id), Kind::Boolean | Kind::Not | Kind::Parenthesized)
}

/// The other connective.
fn and_or(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    if syntax.kind(id) == Kind::Boolean
        && let (Some(left), Some(right), Some(token)) =
            (syntax.child(id, Field::Left), syntax.child(id, Field::Right), syntax.operator(id))
    {
        let other = if syntax.text(token) == "and" { "or" } else { "and" };
        out.replace(token, other);
        out.put(id, &Expr::binary(&scene.expr(left), other, &scene.expr(right)));
    }
}

/// The negation of something true or false that is no comparison (those have operators of their own).
fn negate(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    if syntax.kind(id) == Kind::Not {
        if let Some(argument) = syntax.child(id, Field::Argument) {
            out.put(id, &scene.expr(argument));
        }
        return;
    }
    let clause = scene.is_value(id) && scene.place(id) == Place::Condition;
    let truth = scene.shape(id) == crate::llm::templates::shape::Shape::TRUTH && scene.place(id) == Place::Result;
    let chained = syntax.kind(id) == Kind::Comparison && syntax.tokens(id).len() > 1;
    let simple = !matches!(syntax.kind(id), Kind::Comparison | Kind::True | Kind::False | Kind::Parenthesized);
    if (clause || truth) && (simple || chained) && syntax.parent_kind(id) != Kind::Not {
        out.put(id, &scene.expr(id).not());
    }
}

/// A clause less.
fn drop_clause(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    if syntax.kind(id) == Kind::Boolean {
        for side in [Field::Left, Field::Right].into_iter().filter_map(|side| syntax.child(id, side)) {
            out.put(id, &scene.expr(side));
        }
    }
}

/// The clauses in the other order: matters where the first guards the second.
fn swap_clauses(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    if syntax.kind(id) == Kind::Boolean
        && let (Some(left), Some(right), Some(token)) =
            (syntax.child(id, Field::Left), syntax.child(id, Field::Right), syntax.operator(id))
    {
        out.put(id, &Expr::binary(&scene.expr(right), syntax.text(token), &scene.expr(left)));
    }
}

/// `while True` and the like decided by a variable; a returned truth value decided by one.
fn constant_condition(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    let constant = matches!(syntax.kind(id), Kind::True | Kind::False | Kind::Integer);
    let decides = is_condition(scene, id) && constant;
    let returned = matches!(syntax.kind(id), Kind::True | Kind::False) && scene.place(id) == Place::Result;
    if !decides && !returned {
        return;
    }
    for name in scene.variables(id).into_iter().take(6) {
        let variable = Expr::atom(&name);
        if !returned || !scene.types.of(&name).numeric() {
            out.put(id, &variable);
            out.put(id, &variable.not());
        }
        if scene.types.of(&name).numeric() {
            out.put(id, &Expr::binary(&variable, "==", &Expr::atom("0")));
            out.put(id, &Expr::binary(&variable, ">", &Expr::atom("0")));
        }
        if scene.types.of(&name).sized() && returned {
            out.put(id, &Expr::binary(&Expr::call("len", &[&variable]), "==", &Expr::atom("0")));
        }
    }
}

/// Names that a condition mentions first, then the other variables.
fn by_mention(scene: &Scene, id: NodeId) -> Vec<String> {
    let syntax = &scene.syntax;
    let mentioned =
        |name: &String| syntax.descendants(id).any(|id| syntax.kind(id) == Kind::Identifier && syntax.text(id) == name);
    let (mut inside, outside): (Vec<String>, Vec<String>) = scene.variables(id).into_iter().partition(mentioned);
    inside.extend(outside);
    inside
}

/// `not v or …`, `v is None or …`, `v and …`, `v is not None and …`, and the same behind the condition.
fn guard_clause(scene: &Scene, id: NodeId, out: &mut Proposals) {
    if !is_condition(scene, id) {
        return;
    }
    let condition = scene.expr(id);
    for name in by_mention(scene, id).into_iter().take(5) {
        let variable = Expr::atom(&name);
        let shape = scene.types.of(&name);
        if shape.within(crate::llm::templates::shape::Shape::NUMBER) {
            continue;
        }
        let missing = Expr::new(format!("{name} is None"), Strength::COMPARISON);
        let present = Expr::new(format!("{name} is not None"), Strength::COMPARISON);
        if shape.sized() {
            out.put(id, &Expr::binary(&variable.not(), "or", &condition));
            out.put(id, &Expr::binary(&variable, "and", &condition));
            out.put(id, &Expr::binary(&condition, "or", &variable.not()));
            out.put(id, &Expr::binary(&condition, "and", &variable));
        }
        out.put(id, &Expr::binary(&missing, "or", &condition));
        out.put(id, &Expr::binary(&present, "and", &condition));
    }
}

/// `… and v < w`, `… or v == 0` and the like.
fn add_clause(scene: &Scene, id: NodeId, out: &mut Proposals) {
    if !is_condition(scene, id) {
        return;
    }
    let condition = scene.expr(id);
    let names: Vec<String> =
        by_mention(scene, id).into_iter().filter(|name| scene.types.of(name).numeric()).take(4).collect();
    for (at, name) in names.iter().enumerate() {
        let variable = Expr::atom(name);
        for other in names[at + 1..].iter().map(String::as_str).chain(["0", "1"]) {
            for (connective, operator) in
                [("and", "<"), ("and", ">"), ("or", "=="), ("and", "!="), ("and", "<="), ("and", ">=")]
            {
                let clause = Expr::binary(&variable, operator, &Expr::atom(other));
                out.put(id, &Expr::binary(&condition, connective, &clause));
            }
        }
    }
}

/// `… and v % 2 == 0` and the like.
fn divisibility_clause(scene: &Scene, id: NodeId, out: &mut Proposals) {
    if !is_condition(scene, id) {
        return;
    }
    let condition = scene.expr(id);
    for name in by_mention(scene, id).into_iter().filter(|name| scene.types.of(name).numeric()).take(2) {
        for (connective, divisor, operator) in
            [("and", "2", "=="), ("and", "2", "!="), ("or", "2", "=="), ("and", "3", "=="), ("and", "10", "!=")]
        {
            let remainder = Expr::binary(&Expr::atom(&name), "%", &Expr::atom(divisor));
            let clause = Expr::binary(&remainder, operator, &Expr::atom("0"));
            out.put(id, &Expr::binary(&condition, connective, &clause));
        }
    }
}

/// Another condition in place of this one.
fn replace_condition(scene: &Scene, id: NodeId, out: &mut Proposals) {
    if !is_condition(scene, id) {
        return;
    }
    for other in scene.elsewhere(id, |other| is_condition(scene, other)).into_iter().take(4) {
        out.put(id, &scene.expr(other));
    }
    let comprehension = scene.syntax.parent_kind(id) == Kind::IfClause;
    let constants: &[&str] = match scene.syntax.parent_kind(id) {
        Kind::While => &["True"],
        _ if comprehension => &[],
        _ => &["True", "False"],
    };
    for constant in constants {
        out.replace(id, *constant);
    }
}

/// Filters of comprehensions.
fn filter(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    let kind = syntax.kind(id);
    if kind == Kind::IfClause {
        let before = syntax.parent(id).map(|parent| syntax.children(parent)).unwrap_or_default();
        if let Some(before) = before.into_iter().rev().find(|other| syntax.end(*other) <= syntax.start(id)) {
            out.splice(id, syntax.end(before), syntax.end(id), "");
        }
        return;
    }
    if !kind.is_comprehension() {
        return;
    }
    let parts = syntax.children(id);
    let filtered = parts.iter().any(|part| syntax.kind(*part) == Kind::IfClause);
    if let (false, Some(last)) = (filtered, parts.last())
        && let Some(left) = syntax.child(*last, Field::Left)
        && syntax.kind(left) == Kind::Identifier
    {
        let (name, end) = (syntax.text(left), syntax.end(*last));
        for clause in [
            name.to_owned(),
            format!("{name} > 0"),
            format!("{name} != ''"),
            format!("{name} % 2 == 0"),
            format!("{name} is not None"),
        ] {
            out.splice(id, end, end, format!(" if {clause}"));
        }
    }
}

/// The keyword before a condition.
fn keyword(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    let first = syntax.tokens(id).first().copied();
    match (syntax.kind(id), first) {
        (Kind::Elif, Some(token)) => out.replace(token, "if"),
        (Kind::If, Some(token)) => {
            if syntax.child(id, Field::Alternative).is_none() {
                out.replace(token, "while");
            }
            if scene.neighbours(id).0.is_some_and(|before| syntax.kind(before) == Kind::If) {
                out.replace(token, "elif");
            }
        }
        (Kind::While, Some(token)) => out.replace(token, "if"),
        _ => {}
    }
}

/// One of two branches.
fn by_branch(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    if syntax.kind(id) == Kind::Conditional
        && let [yes, condition, no] = syntax.children(id).as_slice()
    {
        out.put(id, &scene.expr(*yes));
        out.put(id, &scene.expr(*no));
        out.put(id, &scene.expr(*condition));
    }
}
