//! Statements taken out, moved, exchanged.

use super::{Operator, Proposals};
use crate::llm::templates::{
    kind::{Field, Kind},
    scene::Scene,
    syntax::NodeId,
};

pub(super) const OPERATORS: &[Operator] = &[
    Operator {
        name: "statement deleted",
        summary: "a statement taken out",
        propose: delete,
        before: "def f(a):\n    a += 1\n    return a\n",
        after: "def f(a):\n    return a\n",
    },
    Operator {
        name: "statements exchanged",
        summary: "a statement and the next one in the other order",
        propose: swap,
        before: "def f(a):\n    g(a)\n    h(a)\n",
        after: "def f(a):\n    h(a)\n    g(a)\n",
    },
    Operator {
        name: "statement moved out",
        summary: "the last statement of a block moved behind the block",
        propose: dedent,
        before: "def f(a):\n    for b in a:\n        g(b)\n        return b\n",
        after: "def f(a):\n    for b in a:\n        g(b)\n    return b\n",
    },
    Operator {
        name: "statement moved in",
        summary: "the statement behind a block moved to its end",
        propose: indent,
        before: "def f(a):\n    for b in a:\n        g(b)\n    h(b)\n",
        after: "def f(a):\n    for b in a:\n        g(b)\n        h(b)\n",
    },
    Operator {
        name: "jump exchanged",
        summary: "`break`, `continue`, `pass` and `return` for each other",
        propose: exchange_jump,
        before: "for a in b:\n    break\n",
        after: "for a in b:\n    continue\n",
    },
    Operator {
        name: "branch dissolved",
        summary: "the body of a branch without its condition, the condition and body gone, or the else branch unconditional",
        propose: dissolve,
        before: "def f(a):\n    if a:\n        a = g(a)\n    return a\n",
        after: "def f(a):\n    a = g(a)\n    return a\n",
    },
    Operator {
        name: "branch around a statement",
        summary: "a statement made conditional on a variable or a comparison of the function",
        propose: guard,
        before: "def f(a):\n    g(a)\n    return a\n",
        after: "def f(a):\n    if a:\n        g(a)\n    return a\n",
    },
    Operator {
        name: "branches exchanged",
        summary: "the statements under `if` and `else` exchanged",
        propose: swap_branches,
        before: "def f(a):\n    if g(a):\n        return 1\n    else:\n        return 2\n",
        after: "def f(a):\n    if g(a):\n        return 2\n    else:\n        return 1\n",
    },
    Operator {
        name: "else branch",
        summary: "the statement behind a branch made its `else`, an `else` made unconditional",
        propose: else_branch,
        before: "def f(a):\n    if a:\n        g(a)\n    h(a)\n    return a\n",
        after: "def f(a):\n    if a:\n        g(a)\n    else:\n        h(a)\n    return a\n",
    },
];

/// A statement whose whole lines may be touched.
fn lines(scene: &Scene, id: NodeId) -> Option<(usize, usize)> {
    if !scene.is_statement(id) || matches!(scene.syntax.kind(id), Kind::Function | Kind::Class | Kind::Decorated) {
        return None;
    }
    scene.lines(id).map(|lines| (lines.start, lines.end))
}

/// The lines `start..end` indented by `add` or less by `remove`.
fn shifted(text: &str, remove: &str, add: &str) -> Option<String> {
    let mut result = String::new();
    for line in text.split_inclusive('\n') {
        if line.trim().is_empty() {
            result.push_str(line);
        } else {
            result.push_str(add);
            result.push_str(line.strip_prefix(remove)?);
        }
    }
    Some(result)
}

/// The text with a line ending.
fn ended(text: &str, newline: &str) -> String {
    if text.ends_with('\n') { text.to_owned() } else { format!("{text}{newline}") }
}

/// A statement less; `pass` where a block would be empty.
fn delete(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let Some((start, end)) = lines(scene, id) else { return };
    if scene.neighbours(id) == (None, None) {
        if scene.syntax.kind(id) != Kind::Pass {
            out.replace(id, "pass");
        }
    } else {
        out.splice(id, start, end, "");
    }
}

/// Two statements in the other order.
fn swap(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let Some((start, middle)) = lines(scene, id) else { return };
    let Some(next) = scene.neighbours(id).1 else { return };
    let Some((next_start, end)) = lines(scene, next) else { return };
    if middle > next_start {
        return;
    }
    let source = scene.syntax.source();
    let first = ended(&source[start..middle], scene.newline);
    let second = ended(&source[next_start..end], scene.newline);
    out.splice(id, start, end, format!("{second}{}{first}", &source[middle..next_start]));
}

/// The last statement of a block one level out.
fn dedent(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    let (Some((start, end)), (Some(_), None)) = (lines(scene, id), scene.neighbours(id)) else { return };
    let Some(owner) = syntax.parent(id).and_then(|block| syntax.statement(block)) else { return };
    if matches!(syntax.kind(owner), Kind::Function | Kind::Class) || syntax.end(owner) != syntax.end(id) {
        return;
    }
    if let Some(text) = shifted(&syntax.source()[start..end], scene.indent(id), scene.indent(owner)) {
        out.splice(id, start, end, text);
    }
}

/// The last block of a compound statement.
fn last_block(scene: &Scene, id: NodeId) -> Option<NodeId> {
    let syntax = &scene.syntax;
    syntax
        .descendants(id)
        .filter(|other| syntax.kind(*other) == Kind::Block && syntax.statement(*other) == Some(id))
        .last()
}

/// The statement behind a block at the end of the block.
fn indent(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    let (Some((start, end)), (Some(before), _)) = (lines(scene, id), scene.neighbours(id)) else { return };
    if !syntax.kind(before).is_compound() || matches!(syntax.kind(before), Kind::Function | Kind::Class) {
        return;
    }
    let Some(block) = last_block(scene, before) else { return };
    if let Some(last) = syntax.statements(block).last().copied()
        && scene.lines(last).is_some()
        && let Some(text) = shifted(&syntax.source()[start..end], scene.indent(id), scene.indent(last))
    {
        out.splice(id, start, end, text);
        // Deeper still, where the last statement of the block is a block itself.
        if syntax.kind(last).is_compound()
            && let Some(inner) = last_block(scene, last).and_then(|block| syntax.statements(block).last().copied())
            && scene.lines(inner).is_some()
            && let Some(text) = shifted(&syntax.source()[start..end], scene.indent(id), scene.indent(inner))
        {
            out.splice(id, start, end, text);
        }
    }
}

/// Another jump.
fn exchange_jump(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let looping = scene.in_loop(id);
    let in_function = scene.syntax.function(id).is_some();
    let others: &[&str] = match scene.syntax.kind(id) {
        Kind::Break => &["continue", "pass", "return"],
        Kind::Continue => &["break", "pass", "return"],
        Kind::Pass => &["break", "continue", "return"],
        Kind::Return => &["break", "continue", "pass"],
        _ => &[],
    };
    for other in others {
        let allowed = match *other {
            "break" | "continue" => looping,
            "return" => in_function,
            _ => true,
        };
        if allowed {
            out.replace(id, *other);
        }
    }
}

/// A branch without its condition.
fn dissolve(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    match syntax.kind(id) {
        Kind::If | Kind::While | Kind::For => {
            let Some((start, end)) = lines(scene, id) else { return };
            let body = syntax.child(id, Field::Consequence).or_else(|| syntax.child(id, Field::Body));
            let alternative = syntax.child(id, Field::Alternative);
            if let Some(text) = body.and_then(|body| block_text(scene, body, scene.indent(id))) {
                out.splice(id, start, end, text);
            }
            if let Some(alternative) = alternative.filter(|id| syntax.kind(*id) == Kind::Else)
                && let Some(body) = syntax.child(alternative, Field::Body)
                && let Some(text) = block_text(scene, body, scene.indent(id))
            {
                out.splice(id, start, end, text);
            }
        }
        Kind::Elif | Kind::Else => {
            // The whole clause gone, from the end of what stands before it.
            let Some(parent) = syntax.parent(id) else { return };
            let before = syntax.children(parent).into_iter().rev().find(|other| syntax.end(*other) <= syntax.start(id));
            if let Some(before) = before {
                out.splice(id, syntax.end(before), syntax.end(id), "");
            }
        }
        _ => {}
    }
}

/// The statements of a block as whole lines at another indentation.
fn block_text(scene: &Scene, block: NodeId, indent: &str) -> Option<String> {
    let syntax = &scene.syntax;
    let statements = syntax.statements(block);
    let (first, last) = (statements.first()?, statements.last()?);
    let (from, to) = (scene.lines(*first)?.start, scene.lines(*last)?.end);
    shifted(&syntax.source()[from..to], scene.indent(*first), indent)
}

/// A statement under a condition.
fn guard(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    let simple = matches!(syntax.kind(id), Kind::ExpressionStatement | Kind::Return | Kind::Break | Kind::Continue);
    let Some((start, end)) = lines(scene, id) else { return };
    if !simple || syntax.function(id).is_none() {
        return;
    }
    let header = scene.indent(id).to_owned();
    let Some(body) = shifted(&syntax.source()[start..end], &header, &scene.deeper(id)) else { return };
    let mut conditions: Vec<String> = scene
        .elsewhere(id, |other| syntax.kind(other) == Kind::Comparison)
        .into_iter()
        .take(3)
        .map(|other| syntax.text(other).to_owned())
        .collect();
    for name in scene.variables(id).into_iter().take(3) {
        conditions.push(name.clone());
        conditions.push(format!("not {name}"));
    }
    for condition in conditions.into_iter().filter(|condition| !condition.contains('\n')) {
        out.splice(id, start, end, format!("{header}if {condition}:{}{body}", scene.newline));
    }
}

/// The two branches the other way round, where the condition is no comparison with an opposite.
fn swap_branches(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    if syntax.kind(id) != Kind::If {
        return;
    }
    if let (Some(yes), Some(alternative)) = (syntax.child(id, Field::Consequence), syntax.child(id, Field::Alternative))
        && syntax.kind(alternative) == Kind::Else
        && let Some(no) = syntax.child(alternative, Field::Body)
    {
        out.replace_two((yes, syntax.text(no)), (no, syntax.text(yes)));
    }
}

/// Into an `else`, out of an `else`.
fn else_branch(scene: &Scene, id: NodeId, out: &mut Proposals) {
    let syntax = &scene.syntax;
    if let (Kind::Else, Some(parent)) = (syntax.kind(id), syntax.parent(id)) {
        let body = syntax.child(id, Field::Body);
        let end = scene.lines(parent).map(|lines| lines.end);
        let start = syntax.source()[..syntax.start(id)].rfind('\n').map(|at| at + 1);
        if let (Some(body), Some(start), Some(end)) = (body, start, end)
            && let Some(text) = block_text(scene, body, scene.indent(parent))
        {
            out.splice(id, start, end, text);
        }
        return;
    }
    let (Some((start, end)), (Some(before), _)) = (lines(scene, id), scene.neighbours(id)) else { return };
    let open = syntax.kind(before) == Kind::If && syntax.child(before, Field::Alternative).is_none();
    if open
        && scene.lines(before).is_some_and(|lines| lines.end <= start)
        && let Some(body) = shifted(&syntax.source()[start..end], scene.indent(id), &scene.deeper(id))
    {
        let header = scene.indent(id);
        out.splice(id, start, end, format!("{header}else:{}{body}", scene.newline));
    }
}
