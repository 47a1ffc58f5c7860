//! What is printed: drawings, differences, the list of roles.

use rolecall::cli::{roles, topology};
use serde_json::Value;

use super::support::folder;

#[test]
fn an_arrangement_is_drawn_as_text() {
    let shown = topology::show("intervenor", false, false);
    insta::assert_snapshot!(shown.stdout, @r#"
    intervenor: a teacher explains, a learner rewrites (INTERVENOR)

    actors
      learner   role learner, model templates, tests = "first"
      executor  role executor
      teacher   role teacher, model templates

    messages
      task
        Task -> learner
      learner
        Candidate -> executor
      executor
        ExecutionReport, failed -> teacher
      teacher
        Diagnosis -> learner   (back)

    limits
      budget.programs = 200
      search.parents = "last"
    "#);
}

#[test]
fn an_arrangement_is_drawn_as_mermaid() {
    let shown = topology::show("intervenor", true, false);
    insta::assert_snapshot!(shown.stdout, @r#"
    flowchart LR
      task([task])
      a0["learner<br/>templates"]
      a1["executor"]
      a2["teacher<br/>templates"]
      task -- "Task" --> a0
      a0 -- "Candidate" --> a1
      a1 -- "ExecutionReport, failed" --> a2
      a2 -- "Diagnosis" --> a0
    "#);
}

#[test]
fn a_difference_names_what_changed() {
    let difference = topology::diff("seidr", "self_debug", false);
    insta::assert_snapshot!(difference.stdout, @r#"
    - actor ranker (role ranker)
    - actor instructor (role instructor)
    - edge executor -> ranker (always)
    - edge ranker -> instructor (failed)
    - edge instructor -> debugger (always)
    + edge executor -> debugger (failed)
    ~ search.parents: "beam" -> "best"
    ~ actors.debugger.settings.repairs: 4 -> 1
    ~ search.barrier: nothing -> "generation"
    "#);
    assert_eq!(topology::diff("seidr", "seidr", false).stdout, "no difference\n");
    let json: Value = serde_json::from_str(&topology::diff("seidr", "self_debug", true).stdout).unwrap();
    assert_eq!(json["changes"]["actors_removed"][0]["name"], "ranker");
    assert_eq!(json["same"], false);
}

#[test]
fn a_changed_text_of_a_prompt_is_a_difference() {
    let over = b"extends = \"seidr\"\n[actors.debugger]\nprompt = \"mine.md\"\n";
    let files: &[(&str, &[u8])] = &[
        ("a/x.toml", over),
        ("a/mine.md", b"---user---\none\n"),
        ("b/x.toml", over),
        ("b/mine.md", b"---user---\ntwo\n"),
    ];
    let folder = folder(files);
    let path = |name: &str| folder.path().join(name).display().to_string();
    let said = topology::diff(&path("a/x.toml"), &path("b/x.toml"), false).stdout;
    assert!(said.starts_with("~ actors.debugger.prompts.repair (hash of the text): "), "{said}");
    assert_eq!(said.lines().count(), 1);
}

#[test]
fn wrong_arrangements_are_not_drawn() {
    let shown = topology::show("seider", false, false);
    assert_eq!((shown.code, shown.stdout.as_str()), (2, ""));
    assert!(shown.stderr.starts_with("seider:1:1: no arrangement `seider` is shipped; did you mean `seidr`?"));
    let both = topology::diff("nothing", "seider", false);
    assert_eq!((both.code, both.stderr.matches(":1:1: ").count()), (2, 2));
}

#[test]
fn a_check_can_be_read_by_a_program() {
    let folder = folder(&[("x.toml", b"model = 5\n")]);
    let checked = topology::check(&folder.path().join("x.toml").display().to_string(), true);
    let json: Value = serde_json::from_str(&checked.stdout).unwrap();
    assert_eq!((checked.code, &json["right"]), (2, &Value::Bool(false)));
    assert_eq!((&json["mistakes"][1]["line"], &json["mistakes"][1]["column"]), (&1.into(), &9.into()));
    let right = topology::check("seidr", false);
    assert_eq!((right.code, right.stdout.as_str()), (0, "seidr: right (5 actors, 6 edges)\n"));
}

#[test]
fn the_list_of_roles_names_every_role_and_what_it_takes() {
    let listed = roles::list(false).stdout;
    let lines = roles::list(true).stdout;
    let json: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(json.len(), rolecall::agents::ROLES.len());
    for entry in rolecall::agents::ROLES {
        assert!(listed.contains(entry.spec.name), "{listed}");
        for key in entry.spec.settings {
            assert!(listed.contains(key.name), "{listed}");
        }
        assert!(!listed.contains("null"), "a setting without a default is listed by its name alone");
        let found = json.iter().find(|role| role["role"] == entry.spec.name).unwrap();
        assert_eq!(found["accepts"].as_array().unwrap().len(), entry.spec.accepts.len());
    }
}
