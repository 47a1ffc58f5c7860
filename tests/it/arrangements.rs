//! Every shipped arrangement, held with made-up programs: budgets, outcomes, concurrency, what prompts show.

use std::sync::Arc;

use rolecall::{
    conversation::{ConversationRecord, Outcome},
    domain::Judgement,
    ids::ActorName,
    llm::{Purpose, capabilities, scripted::Scripted},
    topology::{Overrides, Plan, TopologyRef, diff, load_plan},
};

use crate::{
    conversation::story,
    stage::{MadeUpSandbox, company, hold_all, on_stage, talkative},
    support::{judgement, mix, task},
};

/// A shipped arrangement whose actors all ask the scripted model.
pub fn shipped(name: &str, budget: &[&str]) -> Plan {
    let budget: Vec<String> = budget.iter().map(|one| (*one).to_owned()).collect();
    let overrides = Overrides::new(&["scripted".to_owned()], &budget, None, &|_| None);
    load_plan(&TopologyRef::from(name), &overrides, &capabilities).unwrap_or_else(|it| panic!("{it}")).plan
}

/// Some tests pass, never all.
fn never_right(text: &str, tests: usize) -> Judgement {
    let dice = text.bytes().fold(7, |dice, byte| mix(dice, u64::from(byte)));
    judgement(&(0..tests as u64).map(|test| test > 0 && mix(dice, test).is_multiple_of(3)).collect::<Vec<_>>())
}

fn held(plan: Plan, number: u32, at_once: usize) -> (Vec<ConversationRecord>, Arc<Scripted>) {
    let model = talkative();
    let asked = model.clone();
    let records = on_stage(async move {
        let sandbox = MadeUpSandbox::new(|job| Ok(never_right(&job.program.text, job.tests.len())));
        let company = company(plan, model, sandbox, None);
        hold_all(&company, &task(5, Some("def f(x): return 0")), number, at_once).await
    });
    (records, asked)
}

#[test]
fn a_budget_of_programs_is_exact_in_every_arrangement_that_has_no_limit_of_its_own() {
    for name in TopologyRef::shipped() {
        for parallel_turns in [1, 4, u32::MAX] {
            let mut plan = shipped(&name, &["programs=100"]);
            plan.parallel_turns = parallel_turns;
            let (records, _) = held(plan, 1, 1);
            let end = &records[0].end;
            assert!(end.deterministic && !end.solved, "{name}");
            match (name.as_str(), end.outcome) {
                ("art_of_repair", Outcome::BudgetGenerations) => assert_eq!(end.spend.programs, 10),
                // Its step limit, or no better step for three rounds.
                ("repair", Outcome::BudgetGenerations) => assert_eq!(end.spend.programs, 10),
                ("repair", Outcome::NoImprovement) => assert!(end.spend.programs < 10),
                // All its drafts are written: nobody repairs, and the outcome says so. A starter is one of ten.
                ("best_of_n", Outcome::NothingLeft) => assert_eq!(end.spend.programs, 9),
                ("codet", Outcome::NothingLeft) => assert_eq!(end.spend.programs, 19),
                (_, Outcome::BudgetPrograms) => assert_eq!(end.spend.programs, 100, "{name}"),
                (_, outcome) => panic!("{name}: {outcome} after {} programs", end.spend.programs),
            }
        }
    }
}

#[test]
fn the_same_story_in_every_arrangement_at_concurrency_1_and_64() {
    for name in TopologyRef::shipped() {
        let told = |at_once| {
            let (records, _) = held(shipped(&name, &["programs=12"]), 16, at_once);
            records.iter().map(story).collect::<Vec<_>>()
        };
        assert_eq!(told(1), told(64), "{name}");
    }
}

#[test]
fn what_the_code_of_2025_does_otherwise_is_settings_only() {
    let load = |name: &str| load_plan(&TopologyRef::from(name), &Overrides::default(), &capabilities).unwrap();
    let difference = diff(&load("seidr"), &load("seidr_2025_code"));
    assert!(difference.actors_added.is_empty() && difference.actors_removed.is_empty());
    assert!(difference.edges_added.is_empty() && difference.edges_removed.is_empty());
    assert!(difference.changed.len() > 8, "{difference}");
    let (_, model) = held(shipped("seidr_2025_code", &["programs=30"]), 1, 1);
    let requests = model.requests();
    let repairs: Vec<_> = requests.iter().filter(|request| request.purpose == Purpose::Repair).collect();
    assert!(!repairs.is_empty());
    // Ours carries the statement, that of 2025 a sentence that fits every task.
    assert!(repairs.iter().all(|it| it.messages.iter().all(|one| !one.content.contains("f returns its argument"))));
    let (_, model) = held(shipped("seidr", &["programs=30"]), 1, 1);
    let requests = model.requests();
    let mut repairs = requests.iter().filter(|request| request.purpose == Purpose::Repair);
    assert!(repairs.all(|it| it.messages.iter().any(|one| one.content.contains("f returns its argument"))));
}

#[test]
fn arrangements_without_feedback_show_no_test_result_in_any_prompt() {
    for name in ["repair", "repair_without_feedback", "self_refine", "self_collaboration"] {
        let (records, model) = held(shipped(name, &["programs=8"]), 1, 1);
        assert!(records[0].end.spend.programs > 1, "{name}");
        let later: Vec<_> = model
            .requests()
            .into_iter()
            .filter(|request| matches!(request.purpose, Purpose::Diagnose | Purpose::Repair))
            .collect();
        assert!(!later.is_empty(), "{name}");
        // Nor is it in the objects that a model without prompts reads.
        let repairs = || later.iter().filter(|request| request.purpose == Purpose::Repair);
        assert!(repairs().all(|it| it.subject.judgement.is_none() && it.subject.profile.is_none()), "{name}");
        assert!(repairs().all(|it| it.subject.siblings.is_empty()), "{name}");
        for request in later {
            for message in &request.messages {
                for told in ["passes", "of 5 tests", "Verdict", "test 0"] {
                    let hidden = !message.content.contains(told) || message.content.contains("What was said of it");
                    assert!(hidden, "{name}: {told:?} is in\n{}", message.content);
                }
            }
        }
    }
}

#[test]
fn a_memory_of_past_reflections_reaches_later_prompts_and_no_further_back_than_it_may() {
    let (records, model) = held(shipped("reflexion", &["programs=8"]), 1, 1);
    let requests = model.requests();
    let repairs: Vec<_> = requests.iter().filter(|request| request.purpose == Purpose::Repair).collect();
    assert_eq!(repairs.len(), 8);
    let texts: Vec<String> =
        repairs.iter().map(|it| it.messages.iter().map(|one| one.content.as_str()).collect()).collect();
    let programs: Vec<String> = records[0]
        .turns
        .iter()
        .flat_map(|turn| turn.messages())
        .filter_map(|message| match message {
            rolecall::messages::Message::Candidate(candidate) => candidate.program.as_ref().map(|it| it.text.clone()),
            _ => None,
        })
        .collect();
    // The seventh repair is of the sixth program; the three before it are remembered, the first is not.
    assert!([2, 3, 4, 5].iter().all(|at| texts[6].contains(programs[*at].trim())), "{}", texts[6]);
    assert!(!texts[6].contains(programs[0].trim()) && !texts[6].contains(programs[1].trim()));
    assert_eq!(records[0].head.actors.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>(), {
        ["learner", "executor", "teacher"].map(|name| ActorName(name.to_owned())).to_vec()
    });
}
