//! Arithmetic: operators, operands, one more or less.

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
        name: "arithmetic operator",
        summary: "an arithmetic or bit operator of the same family: `+` and `-`, `*`, `/`, `//`, `%`, `**`, `&`, `|`, `^`",
        propose: near_operator,
        before: "x = a + b\n",
        after: "x = a - b\n",
    },
    Operator {
        name: "arithmetic operator of another family",
        summary: "any other arithmetic operator",
        propose: far_operator,
        before: "x = a - b\n",
        after: "x = a % b\n",
    },
    Operator {
        name: "augmented operator",
        summary: "another operator in an augmented assignment, and `=` for it",
        propose: augmented_operator,
        before: "x += a\n",
        after: "x -= a\n",
    },
    Operator {
        name: "operands exchanged",
        summary: "the two operands of an operator that is not commutative, or of `+` between values that may be sequences",
        propose: swap_operands,
        before: "x = a - b\n",
        after: "x = b - a\n",
    },
    Operator {
        name: "operand dropped",
        summary: "one operand in place of the whole operation",
        propose: drop_operand,
        before: "x = a + b * c\n",
        after: "x = a + b\n",
    },
    Operator {
        name: "off by one",
        summary: "one more or one less at an argument, index, bound, side of a comparison, assigned or returned number",
        propose: off_by_one,
        before: "x = f(n)\n",
        after: "x = f(n + 1)\n",
    },
    Operator {
        name: "off by one in an operand",
        summary: "one more or one less at an operand of an arithmetic operator",
        propose: off_by_one_operand,
        before: "x = n * m\n",
        after: "x = n * (m - 1)\n",
    },
    Operator {
        name: "arithmetic with a constant",
        summary: "a number doubled, halved, squared, its last digit, two more or less, its negative",
        propose: with_constant,
        before: "x = f(n)\n",
        after: "x = f(n // 2)\n",
    },
    Operator {
        name: "arithmetic with a variable",
        summary: "a variable added, subtracted or multiplied to a number; a sequence joined with another",
        propose: with_variable,
        before: "def f(a, b):\n    return a\n",
        after: "def f(a, b):\n    return a - b\n",
    },
    Operator {
        name: "grouping",
        summary: "two operators of different strength applied in the other order",
        propose: regroup,
        before: "x = a + b // c\n",
        after: "x = (a + b) // c\n",
    },
    Operator {
        name: "sign",
        summary: "a minus sign dropped or put before an operand",
        propose: sign,
        before: "x = -a\n",
        after: "x = a\n",
    },
];

/// The operands of a binary operation with its operator.
fn parts(scene: &Scene, id: NodeId) -> Option<(NodeId, NodeId, NodeId)> {
    let syntax = &scene.syntax;
    if syntax.kind(id) != Kind::Binary {
        return None;
    }
    Some((syntax.child(id, Field::Left)?, syntax.operator(id)?, syntax.child(id, Field::Right)?))
}

fn exchange_operator(scene: &Scene, id: NodeId, out: &mut Proposals, others: &[&str]) {
    let Some((left, _, right)) = parts(scene, id) else { return };
    for operator in others {
        out.put(id, &Expr::binary(&scene.expr(left), operator, &scene.expr(right)));
    }
}

fn family(operator: &str) -> &'static [&'static str] {
    match operator {
        "+" => &["-"],
        "-" => &["+"],
        "*" => &["//", "/", "**"],
        "/" => &["//", "*"],
        "//" => &["/", "%", "*"],
        "%" => &["//", "/"],
        "**" => &["*"],
        "&" => &["|", "^"],
        "|" => &["&", "^"],
        "^" => &["&", "|", "**"],
        "<<" => &[">>"],
        ">>" => &["<<"],
        _ => &[],
    }
}

/// Whether the operation is one of numbers (or sets, for `-`, `&`, `|`), as far as is known.
fn of_numbers(scene: &Scene, left: NodeId, right: NodeId) -> bool {
    let number = |id| {
        let shape = scene.shape(id);
        shape.numeric() || shape.meets(Shape::SET)
    };
    number(left) && number(right)
}

/// Operators of the same family.
fn near_operator(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let Some((left, operator, right)) = parts(scene, id) else { return };
    if of_numbers(scene, left, right) {
        exchange_operator(scene, id, out, family(scene.syntax.text(operator)));
    }
}

/// The rest of the common operators.
fn far_operator(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let Some((left, operator, right)) = parts(scene, id) else { return };
    let operator = scene.syntax.text(operator);
    if of_numbers(scene, left, right) {
        let near = family(operator);
        let far: Vec<&str> = ["+", "-", "*", "//", "/", "%", "**"]
            .into_iter()
            .filter(|other| *other != operator && !near.contains(other))
            .collect();
        exchange_operator(scene, id, out, &far);
    }
}

/// `+=`, `-=`, `*=`, `//=`, `/=`, `%=`, `&=`, `|=`, `^=` and plain `=` for each other.
fn augmented_operator(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    if syntax.kind(id) != Kind::Augmented {
        return;
    }
    let (Some(token), Some(right)) = (syntax.operator(id), syntax.child(id, Field::Right)) else { return };
    let others: &[&str] = match syntax.text(token) {
        "+=" => &["-=", "=", "*="],
        "-=" => &["+=", "=", "//="],
        "*=" => &["//=", "+=", "/=", "**=", "="],
        "/=" => &["//=", "*=", "-="],
        "//=" => &["/=", "%=", "-=", "*="],
        "%=" => &["//=", "-="],
        "&=" => &["|=", "^="],
        "|=" => &["&=", "^="],
        "^=" => &["&=", "|="],
        "<<=" => &[">>="],
        ">>=" => &["<<="],
        _ => &[],
    };
    let number = scene.shape(right).numeric();
    for other in others.iter().filter(|other| number || **other == "=") {
        out.replace(token, *other);
    }
}

/// `b - a` for `a - b`.
fn swap_operands(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let Some((left, operator, right)) = parts(scene, id) else { return };
    let operator = scene.syntax.text(operator);
    let numbers = |id| scene.shape(id).within(Shape::NUMBER);
    let commutes = match operator {
        "*" | "&" | "|" | "^" => true,
        "+" => numbers(left) || numbers(right),
        _ => false,
    };
    if !commutes && scene.syntax.text(left) != scene.syntax.text(right) {
        out.put(id, &Expr::binary(&scene.expr(right), operator, &scene.expr(left)));
    }
}

/// An operand alone.
fn drop_operand(scene: &Scene, id: NodeId, out: &mut Proposals) {
    if let Some((left, _, right)) = parts(scene, id) {
        out.put(id, &scene.expr(left));
        out.put(id, &scene.expr(right));
    }
}

/// Whether `id` may be a number that stands where an exact count matters.
fn is_count(scene: &Scene, id: NodeId) -> bool {
    let kind = scene.syntax.kind(id);
    scene.is_value(id)
        && matches!(
            kind,
            Kind::Identifier | Kind::Call | Kind::Binary | Kind::Subscript | Kind::Attribute | Kind::Unary
        )
        && scene.shape(id).numeric()
        && matches!(
            scene.place(id),
            Place::Argument
                | Place::Index
                | Place::Bound
                | Place::Side
                | Place::Assigned
                | Place::Result
                | Place::Element
        )
}

fn one_more_and_less(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let (value, one) = (scene.expr(id), Expr::atom("1"));
    // `n - 1` one more is `n`, not `n - 1 + 1`.
    if let Some((left, operator, right)) = parts(scene, id)
        && scene.syntax.text(right) == "1"
    {
        let operator = scene.syntax.text(operator);
        if matches!(operator, "+" | "-") {
            out.put(id, &scene.expr(left));
            let opposite = if operator == "+" { "-" } else { "+" };
            out.put(id, &Expr::binary(&scene.expr(left), opposite, &one));
            out.put(id, &Expr::binary(&scene.expr(left), operator, &Expr::atom("2")));
            return;
        }
    }
    out.put(id, &Expr::binary(&value, "+", &one));
    out.put(id, &Expr::binary(&value, "-", &one));
}

/// `e + 1` and `e - 1` for `e`.
fn off_by_one(scene: &Scene, id: NodeId, out: &mut Proposals) {
    if is_count(scene, id) {
        one_more_and_less(scene, id, out);
    }
}

/// The same inside an operation.
fn off_by_one_operand(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    let operand = scene.is_value(id) && scene.place(id) == Place::Operand && scene.shape(id).numeric();
    if operand && matches!(syntax.kind(id), Kind::Identifier | Kind::Call | Kind::Subscript | Kind::Binary) {
        one_more_and_less(scene, id, out);
    }
}

/// Small arithmetic on one number.
fn with_constant(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let operand = scene.is_value(id)
        && scene.place(id) == Place::Operand
        && scene.syntax.kind(id) == Kind::Identifier
        && scene.shape(id).numeric();
    if operand {
        for (operator, constant) in [("**", "2"), ("*", "2"), ("//", "2")] {
            out.put(id, &Expr::binary(&scene.expr(id), operator, &Expr::atom(constant)));
        }
    }
    if !is_count(scene, id) {
        return;
    }
    let value = scene.expr(id);
    for (operator, constant) in [
        ("//", "2"),
        ("*", "2"),
        ("+", "2"),
        ("-", "2"),
        ("%", "10"),
        ("%", "2"),
        ("**", "2"),
        ("/", "2"),
        ("//", "10"),
    ] {
        out.put(id, &Expr::binary(&value, operator, &Expr::atom(constant)));
    }
    out.put(id, &value.minus());
    out.put(id, &Expr::new(format!("1 - {}", value.at_least(Strength::PRODUCT)), Strength::SUM));
}

/// `e op v`, and `v op e` where the order matters.
fn with_variable(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let kind = scene.syntax.kind(id);
    let shape = scene.shape(id);
    let place = scene.place(id);
    if !scene.is_value(id) || kind.is_constant() || matches!(place, Place::Object | Place::Condition | Place::Other) {
        return;
    }
    let value = scene.expr(id);
    let own = scene.syntax.text(id);
    if shape.numeric() && kind != Kind::Comparison && kind != Kind::Boolean && kind != Kind::Not {
        for name in scene.numbers(id).iter().filter(|name| *name != own).take(5) {
            let variable = Expr::atom(name);
            for operator in ["-", "+", "*"] {
                out.put(id, &Expr::binary(&value, operator, &variable));
            }
            out.put(id, &Expr::binary(&variable, "-", &value));
        }
    }
    if shape.meets(Shape::LIST) || shape.meets(Shape::TEXT) {
        let joined = |name: &&String| *name != own && !scene.types.of(name).numeric();
        let names = scene.variables_like(id, shape);
        for name in names.iter().filter(joined).take(5) {
            let variable = Expr::atom(name);
            out.put(id, &Expr::binary(&variable, "+", &value));
            out.put(id, &Expr::binary(&value, "+", &variable));
        }
    }
}

/// `(a + b) * c` for `a + b * c` and back.
fn regroup(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let Some((left, operator, right)) = parts(scene, id) else { return };
    let syntax = &scene.syntax;
    let operator = syntax.text(operator);
    if let Some((inner_left, inner, inner_right)) = parts(scene, syntax.bare(right)) {
        let group = Expr::binary(&scene.expr(left), operator, &scene.expr(inner_left));
        out.put(id, &Expr::binary(&group, syntax.text(inner), &scene.expr(inner_right)));
    }
    if let Some((inner_left, inner, inner_right)) = parts(scene, syntax.bare(left)) {
        let group = Expr::binary(&scene.expr(inner_right), operator, &scene.expr(right));
        out.put(id, &Expr::binary(&scene.expr(inner_left), syntax.text(inner), &group));
    }
}

/// `-a` for `a` as an operand or argument, and back.
fn sign(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    if syntax.kind(id) == Kind::Unary {
        if let Some(argument) = syntax.child(id, Field::Argument) {
            out.put(id, &scene.expr(argument));
        }
    } else if scene.is_value(id)
        && scene.shape(id).within(Shape::NUMBER)
        && syntax.parent_kind(id) != Kind::Unary
        && matches!(syntax.kind(id), Kind::Identifier | Kind::Call | Kind::Integer | Kind::Subscript)
        && syntax.text(id) != "0"
    {
        out.put(id, &scene.expr(id).minus());
    }
}
