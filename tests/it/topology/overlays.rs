//! Overlays: a file that changes another.

use rolecall::topology::{Plan, Source, When, diff};

use super::support::{folder, load, right, said};

fn edges(plan: &Plan) -> Vec<String> {
    let name = |source| plan.source_name(source).to_owned();
    let when = |when: When| if when == When::Always { "" } else { " failed" };
    plan.edges.iter().map(|it| format!("{} {}{}", name(it.from), name(Source::Actor(it.to)), when(it.when))).collect()
}

#[test]
fn instructor_and_debugger_are_swapped_for_teacher_and_learner_by_an_edit_alone() {
    let overlay = r#"
extends = "seidr"
remove_actors = ["instructor", "debugger"]

[actors.teacher]
role = "teacher"

[actors.learner]
role = "learner"
settings = { repairs = 4 }

[[edges]]
from = "ranker"
to = "teacher"

[[edges]]
from = "teacher"
to = "learner"

[[edges]]
from = "learner"
to = "executor"
"#;
    let folder = folder(&[("taught.toml", overlay.as_bytes())]);
    let plan = load(folder.path(), "taught.toml").unwrap().plan;
    assert_eq!(plan.name, "taught", "a name is of one file only");
    let expected = [
        "task synthesizer",
        "synthesizer executor",
        "executor ranker",
        "ranker teacher failed",
        "teacher learner",
        "learner executor",
    ];
    assert_eq!(edges(&plan), expected);
    assert_eq!(plan.budget.programs, Some(200));
}

#[test]
fn the_role_alone_may_change() {
    let overlay = "extends = \"seidr\"\n[actors.instructor]\nrole = \"teacher\"\n";
    let folder = folder(&[("x.toml", overlay.as_bytes())]);
    let plan = load(folder.path(), "x.toml").unwrap().plan;
    let node = &plan.nodes[plan.index_of("instructor").unwrap()];
    assert_eq!(node.spec.name, "teacher");
    assert_eq!(node.prompts["diagnose"].reference, "teacher/chain_of_repair");
}

#[test]
fn the_ranker_comes_out_and_goes_in() {
    let out =
        "extends = \"seidr\"\nremove_actors = [\"ranker\"]\n[[edges]]\nfrom = \"executor\"\nto = \"instructor\"\n";
    let into = "extends = \"./out.toml\"\nremove_edges = [{ from = \"executor\", to = \"instructor\" }]\n\
                actors.sieve = { role = \"ranker\" }\nedges = [{ from = \"executor\", to = \"sieve\" }, \
                { from = \"sieve\", to = \"instructor\" }]\n";
    let folder = folder(&[("out.toml", out.as_bytes()), ("in.toml", into.as_bytes())]);
    let out = load(folder.path(), "out.toml").unwrap();
    assert_eq!(out.plan.nodes.len(), 4);
    assert!(edges(&out.plan).contains(&"executor instructor failed".to_owned()), "{:?}", edges(&out.plan));
    let into = load(folder.path(), "in.toml").unwrap();
    assert!(edges(&into.plan).contains(&"sieve instructor failed".to_owned()), "{:?}", edges(&into.plan));
    assert!(!edges(&into.plan).contains(&"executor instructor failed".to_owned()));
    let changes = diff(&out, &into).to_string();
    let expected = "+ actor sieve (role ranker)\n- edge executor -> instructor (failed)\n\
                    + edge executor -> sieve (always)\n+ edge sieve -> instructor (failed)\n";
    assert_eq!(changes, expected);
}

#[test]
fn keys_override_one_by_one_and_edges_can_be_replaced() {
    let base = right(&[], "[budget]\nprograms = 5\ngenerations = 2\n[run]\nparallel_turns = 2\n");
    let over = "extends = \"base.toml\"\nreplace_edges = true\nedges = [{ from = \"task\", to = \"b\" }]\n\
                remove_actors = [\"a\"]\n[budget]\nprograms = \"unlimited\"\nmodel_calls = 7\n";
    let folder = folder(&[
        ("base.toml", base.as_bytes()),
        ("sub/over.toml", over.replace("base.toml", "../base.toml").as_bytes()),
    ]);
    let plan = load(folder.path(), "sub/over.toml").unwrap().plan;
    assert_eq!(edges(&plan), ["task b"]);
    assert_eq!((plan.budget.programs, plan.budget.model_calls, plan.budget.generations), (None, Some(7), Some(2)));
    assert_eq!(plan.parallel_turns, 2);
}

#[test]
fn an_actor_that_is_removed_and_written_anew_keeps_nothing() {
    let over = "extends = \"seidr\"\nremove_actors = [\"ranker\"]\n[actors.ranker]\nrole = \"ranker\"\n\
                [[edges]]\nfrom = \"executor\"\nto = \"ranker\"\n[[edges]]\nfrom = \"ranker\"\nto = \"instructor\"\n";
    let folder = folder(&[("x.toml", over.as_bytes())]);
    let plan = load(folder.path(), "x.toml").unwrap().plan;
    assert_eq!(plan.nodes[plan.index_of("ranker").unwrap()].settings["beam_width"], 1);
}

#[test]
fn a_circle_of_overlays_is_told_at_the_key_that_closes_it() {
    let files: &[(&str, &[u8])] = &[
        ("a.toml", b"extends = \"b.toml\"\n"),
        ("b.toml", b"name = \"b\"\nextends = \"sub/c.toml\"\n"),
        ("sub/c.toml", b"extends = \"../b.toml\"\n"),
    ];
    let folder = folder(files);
    let said = said(folder.path(), &load(folder.path(), "a.toml"));
    assert_eq!(said, ["sub/c.toml:1:11: overlays in a circle: b.toml -> sub/c.toml -> sub/../b.toml"]);
}

#[test]
fn mistakes_of_base_and_overlay_come_together_each_in_its_file() {
    let base = right(&[("role = \"executor\"", "role = \"executer\"")], "");
    let over = "extends = \"base.toml\"\n[budgt]\nprograms = 3\n";
    let folder = folder(&[("base.toml", base.as_bytes()), ("over.toml", over.as_bytes())]);
    let expected = [
        "over.toml:2:2: `budgt` is not a top-level key; did you mean `budget`?",
        "base.toml:5:8: there is no role `executer`; did you mean `executor`?",
    ];
    assert_eq!(said(folder.path(), &load(folder.path(), "over.toml")), expected);
}

#[test]
fn a_base_that_cannot_be_used_is_told_where_it_is_wrong() {
    let files: &[(&str, &[u8])] = &[("x.toml", b"extends = \"base.toml\"\n"), ("base.toml", b"name = \"caf\xe9\"\n")];
    let folder = folder(files);
    let expected = ["base.toml:1:12: not UTF-8: byte 0xe9 at offset 11"];
    assert_eq!(said(folder.path(), &load(folder.path(), "x.toml")), expected);
}
