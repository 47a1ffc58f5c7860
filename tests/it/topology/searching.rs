//! The search settings and interventions in files.

use rolecall::{
    messages::Kind,
    topology::{ChildOrder, Duplicates, Parents, SettingSource, StopOn},
};

use super::support::{Case, assert_said, folder, load, repairing};

/// A ranker between the executor and the debugger.
const RANKER: &str = "[actors.r]\nrole = \"ranker\"\n";

#[test]
fn what_makes_no_sense_is_said_at_its_place() {
    let ranked = |tail: &str| {
        repairing(
            &[(r#"{ from = "b", to = "c" }"#, r#"{ from = "b", to = "r" }, { from = "r", to = "c" }"#)],
            &format!("{RANKER}{tail}"),
        )
    };
    let cases = [
        Case {
            name: "parents_beside_a_ranker",
            text: ranked("[search]\nparents = \"random\"\n"),
            said: &[
                "x.toml:19:11: `search.parents` is for arrangements without a ranker: here `r` chooses the parents",
            ],
        },
        Case {
            name: "no_barrier_beside_a_ranker",
            text: ranked("[search]\nbarrier = \"none\"\n"),
            said: &[
                "x.toml:19:11: `search.barrier` is for arrangements without a ranker: here `r` chooses the parents",
            ],
        },
        Case {
            name: "a_width_of_nothing",
            text: repairing(&[], "[search]\nwidths = [4, 0, 3]\n"),
            said: &["x.toml:17:14: `search.widths` must be an array of whole numbers from 1, not the number 0"],
        },
        Case {
            name: "a_width_alone",
            text: repairing(&[], "[search]\nwidths = 4\n"),
            said: &["x.toml:17:10: `search.widths` must be an array of whole numbers from 1, not the number 4"],
        },
        Case {
            name: "an_arity_of_nothing",
            text: repairing(&[], "[search]\narity = 0\n"),
            said: &["x.toml:17:9: `search.arity` must be a whole number from 1 to 4294967294, not the number 0"],
        },
        Case {
            name: "an_order_that_there_is_not",
            text: repairing(&[], "[search]\nchild_order = \"breadth\"\nduplicates = true\n"),
            said: &[
                r#"x.toml:17:15: `search.child_order` must be "parent_major" or "round_robin", not the string `breadth`"#,
                r#"x.toml:18:14: `search.duplicates` must be "count" or "skip", not the boolean true"#,
            ],
        },
        Case {
            name: "no_rounds_without_improvement",
            text: repairing(&[], "[stop]\nno_improvement = 0\n"),
            said: &[
                r#"x.toml:17:18: `stop.no_improvement` must be a whole number from 1 to 4294967294 or "never", not the number 0"#,
            ],
        },
        Case {
            name: "words_taken_from_what_has_none",
            text: repairing(&[(r#"from = "b", to = "c""#, r#"from = "b", to = "c", intervene = "blank""#)], ""),
            said: &[
                r#"x.toml:5:39: `intervene = "blank"` is for edges that carry Diagnosis alone, and this one carries ExecutionReport"#,
            ],
        },
        Case {
            name: "the_task_dropped",
            text: repairing(&[(r#"from = "task", to = "a""#, r#"from = "task", to = "a", intervene = "drop""#)], ""),
            said: &[r#"x.toml:3:42: `intervene = "drop"` has no use on an edge from `task`"#],
        },
        Case {
            name: "an_intervention_that_there_is_not",
            text: repairing(&[(r#"from = "b", to = "c""#, r#"from = "b", to = "c", intervene = "swap""#)], ""),
            said: &[
                r#"x.toml:5:39: `edges[2].intervene` must be "drop", "blank", "shuffle" or "oracle", not the string `swap`"#,
            ],
        },
    ];
    cases.iter().for_each(assert_said);
}

#[test]
fn a_schedule_of_widths_ends_a_circle_without_another_budget() {
    let text = repairing(&[("programs = 9", "programs = \"unlimited\"")], "[search]\nwidths = [4, 3, 3]\n");
    let folder = folder(&[("x.toml", text.as_bytes())]);
    let plan = load(folder.path(), "x.toml").unwrap().plan;
    assert_eq!((plan.search.widths.as_slice(), plan.search.first_round), ([4, 3, 3].as_slice(), 0));
    assert!(plan.search.barrier, "a schedule is of rounds");
    assert!(plan.nodes[0].shares.contains(&Kind::Task) && plan.nodes[2].shares.contains(&Kind::Diagnosis));
    assert_eq!(plan.search.last_round(), Some(2));
}

#[test]
fn the_arity_is_short_for_three_settings_and_each_actor_may_say_otherwise() {
    let text = repairing(
        &[(r#"{ from = "b", to = "c" }"#, r#"{ from = "b", to = "r" }, { from = "r", to = "c" }"#)],
        &format!("{RANKER}[search]\narity = 10\n[actors.a.settings]\ndrafts = 3\n"),
    );
    let folder = folder(&[("x.toml", text.as_bytes())]);
    let checked = load(folder.path(), "x.toml").unwrap();
    let source =
        |key: &str| checked.explain.iter().find(|it| it.key == key).map(|it| (it.value.clone(), it.source.clone()));
    let implied = Some((10.into(), SettingSource::Implied("search.arity".to_owned())));
    assert_eq!(source("actors.r.settings.beam_width"), implied);
    assert_eq!(source("actors.c.settings.repairs"), implied);
    assert_eq!(source("actors.a.settings.drafts").unwrap().0, 3);
}

#[test]
fn every_word_is_understood() {
    let text = repairing(
        &[],
        "[search]\nparents = \"random\"\nchild_order = \"round_robin\"\nduplicates = \"skip\"\n[stop]\non = \"budget\"\nno_improvement = 3\n[feedback]\nfaulty_lines = \"marked\"\n",
    );
    let folder = folder(&[("x.toml", text.as_bytes())]);
    let plan = load(folder.path(), "x.toml").unwrap().plan;
    assert_eq!((plan.search.parents, plan.search.child_order), (Parents::Random, ChildOrder::RoundRobin));
    assert_eq!((plan.search.duplicates, plan.stop.on), (Duplicates::Skip, StopOn::Budget));
    assert_eq!(plan.stop.no_improvement.map(std::num::NonZeroU32::get), Some(3));
    assert!(plan.search.barrier && plan.feedback.faulty_lines);
}

#[test]
fn an_overlay_sets_an_intervention_on_an_edge_of_its_base() {
    let over = b"extends = \"intervenor\"\n[[edges]]\nfrom = \"teacher\"\nto = \"learner\"\nintervene = \"blank\"\n";
    let folder = folder(&[("x.toml", over)]);
    let plan = load(folder.path(), "x.toml").unwrap().plan;
    assert_eq!(plan.interventions(), ["teacher -> learner: blank"]);
    assert_eq!(plan.edges.len(), 4, "it takes the place of the edge that was there");
    let base = folder.path().join("y.toml");
    std::fs::write(&base, "extends = \"intervenor\"\n").unwrap();
    assert_ne!(plan.hash, load(folder.path(), "y.toml").unwrap().plan.hash);
}
