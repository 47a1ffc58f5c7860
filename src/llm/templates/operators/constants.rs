//! Constants: numbers, strings, truth values.

use super::{Operator, Proposals};
use crate::llm::templates::{
    kind::Kind,
    scene::{Place, Scene},
    syntax::NodeId,
};

pub(super) const OPERATORS: &[Operator] = &[
    Operator {
        name: "number by one",
        summary: "an integer constant one more or one less",
        propose: number_by_one,
        before: "x = f(2)\n",
        after: "x = f(3)\n",
    },
    Operator {
        name: "common number",
        summary: "0, 1, 2, -1 or 10 for a number constant",
        propose: common_number,
        before: "x = 7\n",
        after: "x = 0\n",
    },
    Operator {
        name: "number further off",
        summary: "a number constant two more or less, doubled, halved, negated",
        propose: number_further_off,
        before: "x = 8\n",
        after: "x = 4\n",
    },
    Operator {
        name: "number of the program",
        summary: "another number constant of the program",
        propose: number_of_program,
        before: "x = 5\ny = 77\n",
        after: "x = 77\ny = 77\n",
    },
    Operator {
        name: "number of the tests",
        summary: "a number constant of the visible tests",
        propose: number_of_tests,
        before: "x = 5\n",
        after: "x = 42\n",
    },
    Operator {
        name: "truth value",
        summary: "True for False and back",
        propose: truth,
        before: "x = True\n",
        after: "x = False\n",
    },
    Operator {
        name: "string constant",
        summary: "the empty string, a space, or another string constant of the program",
        propose: string,
        before: "x = ' '\n",
        after: "x = ''\n",
    },
    Operator {
        name: "string of the tests",
        summary: "a string constant of the visible tests, or part of one",
        propose: string_of_tests,
        before: "x = 'a'\n",
        after: "x = 'yes'\n",
    },
    Operator {
        name: "constant by variable",
        summary: "a variable or a first element for a constant",
        propose: by_variable,
        before: "def f(a, b):\n    return 0\n",
        after: "def f(a, b):\n    return a\n",
    },
    Operator {
        name: "string case and end",
        summary: "a string constant in the other case, or one character shorter",
        propose: string_change,
        before: "x = 'abc'\n",
        after: "x = 'ABC'\n",
    },
];

/// The value of an integer constant in decimal digits, small enough to calculate with.
fn integer(scene: &Scene, id: NodeId) -> Option<i64> {
    if scene.syntax.kind(id) != Kind::Integer {
        return None;
    }
    scene.syntax.text(id).parse().ok().filter(|value: &i64| *value < 1 << 40)
}

fn is_number(scene: &Scene, id: NodeId) -> bool {
    matches!(scene.syntax.kind(id), Kind::Integer | Kind::Float)
}

/// One more, one less.
fn number_by_one(scene: &Scene, id: NodeId, out: &mut Proposals) {
    if let Some(value) = integer(scene, id) {
        out.replace(id, (value + 1).to_string());
        if value > 0 {
            out.replace(id, (value - 1).to_string());
        }
    }
}

/// The numbers that programs use most.
fn common_number(scene: &Scene, id: NodeId, out: &mut Proposals) {
    if is_number(scene, id) {
        for text in ["0", "1", "2", "-1", "10"].into_iter().filter(|text| *text != scene.syntax.text(id)) {
            if scene.syntax.parent_kind(id) != Kind::Unary || !text.starts_with('-') {
                out.replace(id, text);
            }
        }
    }
}

/// Two off, a factor of two, the other sign.
fn number_further_off(scene: &Scene, id: NodeId, out: &mut Proposals) {
    if let Some(value) = integer(scene, id) {
        let mut values = vec![value + 2, value * 2];
        if value >= 2 {
            values.extend([value - 2, value / 2]);
        }
        if scene.syntax.parent_kind(id) != Kind::Unary {
            values.push(-value);
        }
        for value in values {
            out.replace(id, value.to_string());
        }
        out.replace(id, "float('inf')");
    } else if scene.syntax.kind(id) == Kind::Float
        && let Ok(value) = scene.syntax.text(id).parse::<f64>()
    {
        for value in [value + 1.0, value - 1.0, value * 2.0, value / 2.0, value * 10.0, value / 10.0] {
            out.replace(id, format!("{value:?}"));
        }
    }
}

/// Constants of the program itself.
fn number_of_program(scene: &Scene, id: NodeId, out: &mut Proposals) {
    if is_number(scene, id) {
        for text in scene.own.others(&scene.syntax, id) {
            out.replace(id, text);
        }
    }
}

/// Constants of the visible tests.
fn number_of_tests(scene: &Scene, id: NodeId, out: &mut Proposals) {
    if is_number(scene, id) {
        for text in &scene.literals.numbers {
            out.replace(id, text);
        }
    }
}

/// The other truth value.
fn truth(scene: &Scene, id: NodeId, out: &mut Proposals) {
    match scene.syntax.kind(id) {
        Kind::True => out.replace(id, "False"),
        Kind::False => out.replace(id, "True"),
        _ => {}
    }
}

/// Whether a plain string constant stands here, not a docstring or an f-string.
fn is_string(scene: &Scene, id: NodeId) -> bool {
    let syntax = &scene.syntax;
    syntax.kind(id) == Kind::Str
        && syntax.text(id).starts_with(['"', '\''])
        && !syntax.text(id).starts_with("\"\"\"")
        && !syntax.text(id).starts_with("'''")
}

/// Frequent strings and those of the program.
fn string(scene: &Scene, id: NodeId, out: &mut Proposals) {
    if is_string(scene, id) {
        out.replace(id, "''");
        out.replace(id, "' '");
        for text in scene.own.others(&scene.syntax, id) {
            out.replace(id, text);
        }
    }
}

/// Strings of the visible tests.
fn string_of_tests(scene: &Scene, id: NodeId, out: &mut Proposals) {
    if is_string(scene, id) {
        for text in &scene.literals.strings {
            out.replace(id, text.clone());
        }
    }
}

/// A variable where a constant was.
fn by_variable(scene: &Scene, id: NodeId, out: &mut Proposals) {
    if !scene.syntax.kind(id).is_constant() || !scene.is_value(id) || scene.syntax.kind(id) == Kind::Str {
        return;
    }
    let shape = scene.shape(id);
    for name in scene.variables_like(id, shape).into_iter().take(6) {
        out.replace(id, name);
    }
    if matches!(scene.place(id), Place::Assigned | Place::Result) {
        let sequences = scene.variables(id).into_iter().filter(|name| scene.types.of(name).sequence());
        for name in sequences.take(3) {
            out.replace(id, format!("{name}[0]"));
        }
    }
}

/// Case, a character less.
fn string_change(scene: &Scene, id: NodeId, out: &mut Proposals) {
    if !is_string(scene, id) {
        return;
    }
    let text = scene.syntax.text(id);
    let (quote, content) = (&text[..1], &text[1..text.len() - 1]);
    if content.contains('\\') {
        return;
    }
    let mut shorter = content.chars();
    shorter.next_back();
    for other in [
        content.to_uppercase(),
        content.to_lowercase(),
        shorter.as_str().to_owned(),
        format!(" {content}"),
        format!("{content} "),
    ] {
        out.replace(id, format!("{quote}{other}{quote}"));
    }
}
