//! The ledger against one reference log: whatever the order in which turns finish, panic or are lost with the process,
//! the same turns take effect in the same order.

use std::{collections::BTreeMap, sync::Arc};

use proptest::prelude::*;
use rolecall::{
    budget::BudgetKind,
    conversation::{
        Outcome,
        ledger::{Command, Delivery, Ending, Event, Ledger},
    },
    domain::{Slots, Usage},
    ids::{ActorName, MessageId, Seq},
    llm::{Draw, Purpose},
    messages::{Kind, Message},
    runtime::{CallRecord, Fault, Finished, Refusal, TurnLog, TurnRecord},
    topology::{BudgetLimits, ChildOrder, Duplicates, Node, Parents, Plan, Requires, Search, StopOn},
};
use serde_json::json;

use crate::support::{chain, judgement, made_up_turn, mix, mixed, node, opening, plan, seidr, task};

const STARTER: &str = "def f(x): return 0";

/// How a conversation is disturbed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Weather {
    /// Turns finish in random order.
    Calm,
    /// And first attempts panic now and then, and the process is killed once and resumed.
    Stormy,
}

/// What took effect, without what may differ: times and failed first attempts.
fn line(record: &TurnRecord) -> String {
    let TurnRecord { seq, actor, generation, causes, allowance, missing, programs, .. } = record;
    let said = blake3::hash(format!("{:?}", record.messages()).as_bytes()).to_hex();
    let causes: Vec<String> = causes.iter().map(ToString::to_string).collect();
    format!("{seq} g{generation} {actor} <- {causes:?} {allowance:?} {missing:?} {programs:?} {}", &said[..8])
}

/// A report that took effect, or the report that a diagnosing turn was given.
enum Heard {
    Report(String, f64),
    Diagnosed(String),
}

fn heard(record: &TurnRecord) -> Option<Heard> {
    match (record.role.as_str(), record.messages().first(), record.inbox.first()) {
        ("executor", Some(Message::ExecutionReport(report)), _) => {
            Some(Heard::Report(report.id.to_string(), report.judgement.score()))
        }
        ("instructor", _, Some(Message::ExecutionReport(report))) => Some(Heard::Diagnosed(report.id.to_string())),
        _ => None,
    }
}

struct Run {
    log: Vec<String>,
    heard: Vec<Heard>,
    ending: Ending,
    failed_twice: bool,
}

fn finished(delivery: &Delivery, result: Result<Vec<Message>, Fault>) -> Finished {
    Finished {
        seq: delivery.seq,
        attempt: delivery.attempt,
        result,
        log: TurnLog::default(),
        started_ns: 0,
        ended_ns: 0,
    }
}

/// As many calls as the turn may make, up to three: what no answer limits is left to chance.
fn calls(delivery: &Delivery, seed: u64) -> TurnLog {
    let wanted = 1 + u32::try_from(mix(seed, u64::from(delivery.seq)) % 3).unwrap();
    let made = delivery.allowance.calls.map_or(0, |most| most.min(wanted));
    let call = CallRecord {
        purpose: Purpose::Repair,
        provider: "made up".to_owned(),
        model: "made up".to_owned(),
        served_model: None,
        response_id: None,
        server_address: None,
        server_port: None,
        parameters: Default::default(),
        choices_wanted: 1,
        seed,
        draw: Draw { sample: 0, first: 0, ordinal: 0 },
        messages: Vec::new(),
        shortened: Vec::new(),
        prompt: None,
        choices: Vec::new(),
        usage: Usage::default(),
        terms: Default::default(),
        attempts: Vec::new(),
        answered_from: None,
        error: None,
        started_ns: 0,
        ended_ns: 0,
    };
    let refused = (made < wanted && delivery.allowance.calls.is_some()).then(|| Refusal::own(BudgetKind::ModelCalls));
    TurnLog { calls: vec![call; made as usize], refused, ..TurnLog::default() }
}

fn converse(plan: &Arc<Plan>, starter: Option<&str>, seed: u64, order: u64, weather: Weather) -> Run {
    let stormy = weather == Weather::Stormy;
    let mut journal: BTreeMap<(Seq, u8), Finished> = BTreeMap::new();
    let mut kill_after = if stormy { Some(mix(order, 99) % 40) } else { None };
    let mut dice = order;
    'life: loop {
        let mut ledger = Ledger::new(plan.clone());
        let mut under_way: Vec<Delivery> = Vec::new();
        let mut made: BTreeMap<ActorName, u32> = BTreeMap::new();
        let (mut log, mut all_heard, mut failed_twice) = (Vec::new(), Vec::new(), false);
        let mut commands = ledger.apply(Event::Begin(opening(task(10, starter))));
        loop {
            for command in commands.drain(..) {
                match command {
                    Command::Start(delivery) => under_way.push(*delivery),
                    Command::Retired(record) => {
                        failed_twice |= record.fault().is_some();
                        *made.entry(record.actor.clone()).or_default() += record.spend().model_calls;
                        log.push(line(&record));
                        all_heard.extend(heard(&record));
                    }
                    Command::End(ending) => {
                        let most = |node: &Node| node.budget.model_calls.unwrap_or(u32::MAX);
                        assert!(
                            plan.nodes.iter().all(|node| made.get(&node.name).is_none_or(|made| *made <= most(node)))
                        );
                        assert!(made.values().sum::<u32>() <= plan.budget.model_calls.unwrap_or(u32::MAX));
                        return Run { log, heard: all_heard, ending: *ending, failed_twice };
                    }
                }
            }
            assert!(!under_way.is_empty(), "stuck after {:?}", log.last());
            dice = mix(dice, 1);
            let delivery = under_way.swap_remove(usize::try_from(dice % under_way.len() as u64).unwrap());
            let key = (delivery.seq, delivery.attempt);
            if let Some(stored) = journal.get(&key) {
                commands = ledger.apply(Event::Settled(stored.clone()));
                continue;
            }
            if let Some(left) = &mut kill_after {
                if *left == 0 {
                    kill_after = None;
                    continue 'life;
                }
                *left -= 1;
            }
            let panics = stormy && mix(dice, 3).is_multiple_of(30);
            let result = if panics {
                Err(Fault::Panic { message: "injected".to_owned() })
            } else {
                Ok(made_up_turn(plan, &delivery, seed))
            };
            let mut row = finished(&delivery, result);
            if row.result.is_ok() {
                row.log = calls(&delivery, seed);
            }
            journal.insert(key, row.clone());
            commands = ledger.apply(Event::Settled(row));
        }
    }
}

fn arrangement(which: u8, arity: u32, parallel_turns: u32, programs: u32) -> Arc<Plan> {
    let mut plan = match which {
        0 => seidr(arity, parallel_turns, programs),
        1 => chain(arity, parallel_turns, programs),
        2 => mixed(arity, parallel_turns, programs),
        3 => {
            let mut plan = chain(arity, parallel_turns, programs);
            plan.search.parents = Parents::Best;
            plan
        }
        4 => {
            // Writing turns one after the other, as for a model that avoids repeats.
            let mut plan = seidr(arity, parallel_turns, programs);
            plan.nodes.iter_mut().for_each(|node| node.exclusive = true);
            plan
        }
        5 => resample(parallel_turns, programs),
        15 => {
            // Actors with budgets of their own, within that of the conversation.
            let mut plan = mixed(arity, parallel_turns, programs);
            plan.budget.model_calls = Some(20);
            plan.nodes[3].budget.model_calls = Some(6);
            plan.nodes[4].budget.model_calls = Some(9);
            plan
        }
        // The other searches, each with its own rule for the parents.
        7.. => searching(which, arity, parallel_turns, programs),
        _ => {
            let mut plan = seidr(arity, parallel_turns, programs);
            plan.budget.model_calls = Some(25);
            plan.budget.generations = Some(3);
            plan
        }
    };
    plan.name = format!("arrangement {which}");
    Arc::new(plan)
}

fn searching(which: u8, arity: u32, parallel_turns: u32, programs: u32) -> Plan {
    let mut plan = chain(arity, parallel_turns, programs);
    let parents = [Parents::Last, Parents::Best, Parents::Failing, Parents::Random][usize::from(which % 4)];
    let in_turn = which.is_multiple_of(2);
    plan.search = Search {
        parents,
        barrier: which < 11 || parents == Parents::Last,
        child_order: if in_turn { ChildOrder::RoundRobin } else { ChildOrder::ParentMajor },
        duplicates: if which.is_multiple_of(3) { Duplicates::Skip } else { Duplicates::Count },
        ..Search::default()
    };
    plan.stop.on = if which.is_multiple_of(3) { StopOn::Budget } else { StopOn::Solved };
    plan
}

fn resample(parallel_turns: u32, programs: u32) -> Plan {
    plan(
        vec![
            node("synthesizer", "synthesizer", json!({ "drafts": "budget" })),
            node("executor", "executor", json!({})),
        ],
        &[("task", "synthesizer"), ("synthesizer", "executor")],
        parallel_turns,
        BudgetLimits { programs: Some(programs), ..Default::default() },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn any_order_panics_and_kills_give_the_reference_log(
        which in 0u8..16,
        arity in prop::sample::select(vec![1u32, 2, 4, 10]),
        parallel_turns in prop::sample::select(vec![1u32, 4, u32::MAX]),
        with_starter: bool,
        seed in 0u64..50,
        order: u64,
        stormy: bool,
    ) {
        let plan = arrangement(which, arity, parallel_turns, 60);
        let starter = with_starter.then_some(STARTER);
        let reference = converse(&plan, starter, seed, 1, Weather::Calm);
        let weather = if stormy { Weather::Stormy } else { Weather::Calm };
        let run = converse(&plan, starter, seed, order, weather);
        // A turn that panics twice ends the conversation by name: another story than the reference.
        if !run.failed_twice && run.ending.outcome != Outcome::Failed {
            prop_assert_eq!(&run.log, &reference.log);
            prop_assert_eq!(&run.ending, &reference.ending);
        }
    }

    #[test]
    fn a_budget_of_programs_is_exact(
        which in prop::sample::select(vec![0u8, 1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14]),
        arity in 1u32..12,
        parallel_turns in prop::sample::select(vec![1u32, 4, u32::MAX]),
        programs in 1u32..80,
        seed in 0u64..50,
    ) {
        let plan = arrangement(which, arity, parallel_turns, programs);
        let run = converse(&plan, None, seed, 7, Weather::Calm);
        let spent = run.ending.spend.programs;
        prop_assert!(spent <= programs);
        if run.ending.outcome == Outcome::BudgetPrograms {
            prop_assert_eq!(spent, programs);
        } else {
            // A made-up turn that writes nothing can leave a chain with nothing to say.
            prop_assert!(matches!(run.ending.outcome, Outcome::TestsPassed | Outcome::NothingLeft));
        }
    }
}

#[test]
fn turns_are_under_way_at_once_and_within_the_bound() {
    for (parallel_turns, most) in [(1, 1), (4, 4), (u32::MAX, 11)] {
        let mut ledger = Ledger::new(arrangement(0, 10, parallel_turns, 60));
        let mut commands = ledger.apply(Event::Begin(opening(task(10, None))));
        let (mut under_way, mut seen) = (Vec::new(), 0);
        for _ in 0..12 {
            for command in commands.drain(..) {
                if let Command::Start(delivery) = command {
                    under_way.push(*delivery);
                }
            }
            seen = seen.max(under_way.len());
            if under_way.is_empty() {
                break;
            }
            let delivery = under_way.remove(0);
            let result = Ok(made_up_turn(&arrangement(0, 10, parallel_turns, 60), &delivery, 3));
            commands = ledger.apply(Event::Settled(finished(&delivery, result)));
        }
        assert!(seen <= most && (most == 1 || seen > 1), "{parallel_turns}: {seen}");
    }
}

#[test]
fn a_starter_that_passes_ends_with_no_program_spent() {
    let plan = arrangement(0, 4, 4, 60);
    let mut ledger = Ledger::new(plan);
    let commands = ledger.apply(Event::Begin(opening(task(2, Some(STARTER)))));
    let [Command::Start(delivery)] = commands.as_slice() else { panic!("only the starter is executed first") };
    let Message::Candidate(starter) = &delivery.inbox[0] else { panic!("{:?}", delivery.inbox) };
    let report = Message::ExecutionReport(Arc::new(rolecall::messages::ExecutionReport {
        id: MessageId { seq: 0, index: 0 },
        candidate: starter.clone(),
        judgement: Arc::new(judgement(&[true, true])),
        duplicate_of: None,
        tests: Default::default(),
    }));
    let commands = ledger.apply(Event::Settled(finished(delivery, Ok(vec![report]))));
    let Some(Command::End(ending)) = commands.last() else { panic!("it goes on") };
    assert_eq!(ending.outcome, Outcome::TestsPassed);
    assert!(ending.starter_passed);
    assert_eq!((ending.spend.programs, ending.programs_to_solve), (0, None));
}

#[test]
fn a_starter_takes_the_place_of_one_draft() {
    for (arity, drafts) in [(1, None), (4, Some(3))] {
        let plan = arrangement(0, arity, 4, 60);
        let run = converse(&plan, Some(STARTER), 5, 1, Weather::Calm);
        let turn = run.log.iter().find(|line| line.contains("g0 synthesizer"));
        assert_eq!(turn.map(|line| line.contains(&format!("programs: {}", drafts.unwrap_or(0)))), drafts.map(|_| true));
        assert!(run.log[0].contains("g0 executor"), "{}", run.log[0]);
    }
}

#[test]
fn a_turn_that_fails_twice_ends_the_conversation_by_name() {
    let plan = arrangement(0, 1, 4, 60);
    let mut ledger = Ledger::new(plan);
    let commands = ledger.apply(Event::Begin(opening(task(2, None))));
    let Command::Start(first) = &commands[0] else { panic!() };
    let panicked = |delivery: &Delivery| finished(delivery, Err(Fault::Panic { message: "boom".to_owned() }));
    let commands = ledger.apply(Event::Settled(panicked(first)));
    let Command::Start(second) = &commands[0] else { panic!("no second attempt") };
    assert_eq!((second.seq, second.attempt), (first.seq, 1));
    // A late answer of the first attempt changes nothing.
    assert!(ledger.apply(Event::Settled(panicked(first))).is_empty());
    let commands = ledger.apply(Event::Settled(panicked(second)));
    let Some(Command::End(ending)) = commands.last() else { panic!("it goes on") };
    assert_eq!(ending.outcome, Outcome::Failed);
    assert_eq!(ending.detail.as_deref(), Some("synthesizer, turn 0: panicked: boom"));
}

#[test]
fn a_starved_join_is_a_named_outcome_and_a_silent_source_is_listed() {
    for requires in [Requires::Any, Requires::All] {
        let mut plan = seidr(2, 4, 20);
        let mut silent = node("second", "synthesizer", json!({}));
        silent.slots.insert(Kind::Task, Slots::Fixed(1));
        plan.nodes.push(silent);
        // An executor of its own that nobody feeds: a source of the ranker that stays silent.
        plan.nodes[5] = node("other", "executor", json!({}));
        plan.edges.push(rolecall::topology::Edge {
            from: rolecall::topology::Source::Actor(5),
            to: 2,
            when: rolecall::topology::When::Always,
            intervene: None,
        });
        plan.nodes[2].requires = requires;
        let run = converse(&Arc::new(plan), None, 3, 1, Weather::Calm);
        if requires == Requires::All {
            assert_eq!(run.ending.outcome, Outcome::StarvedJoin);
            assert_eq!(run.ending.detail.as_deref(), Some("ranker missed other in generation 0"));
        } else {
            let ranker = run.log.iter().find(|line| line.contains("g0 ranker")).unwrap();
            assert!(ranker.contains(r#"[ActorName("other")]"#), "{ranker}");
        }
    }
}

#[test]
fn the_best_report_takes_the_place_of_the_last() {
    let plan = arrangement(3, 1, 1, 60);
    let mut diagnosed = 0;
    for seed in 0..20 {
        // Each diagnosis is of the best report so far: the turn that said it never gets worse.
        let mut scores: BTreeMap<String, f64> = BTreeMap::new();
        let mut best = f64::MIN;
        for heard in converse(&plan, Some(STARTER), seed, 1, Weather::Calm).heard {
            match heard {
                Heard::Report(id, score) => {
                    best = best.max(score);
                    scores.insert(id, score);
                }
                Heard::Diagnosed(id) => {
                    assert_eq!(scores[&id], best);
                    diagnosed += 1;
                }
            }
        }
    }
    assert!(diagnosed > 50);
}

#[test]
fn a_budget_of_generations_cuts_the_next_round() {
    let mut plan = seidr(2, 4, 1000);
    plan.budget.generations = Some(2);
    let run = converse(&Arc::new(plan), None, 2, 1, Weather::Calm);
    assert!(run.log.iter().all(|line| !line.contains(" g3 ")));
    assert!(run.log.iter().any(|line| line.contains(" g2 ")));
    assert_eq!(run.ending.outcome, Outcome::BudgetGenerations);
}

#[test]
fn a_refused_call_closes_the_conversation_after_what_was_written_is_executed() {
    let plan = arrangement(0, 2, 4, 60);
    let mut ledger = Ledger::new(plan.clone());
    let mut commands = ledger.apply(Event::Begin(opening(task(10, None))));
    let (mut executed, mut under_way) = (0, Vec::new());
    loop {
        for command in commands.drain(..) {
            match command {
                Command::Start(delivery) => under_way.push(*delivery),
                Command::Retired(record) => executed += usize::from(record.role == "executor"),
                Command::End(ending) => {
                    assert_eq!(ending.outcome, Outcome::BudgetTokens);
                    assert_eq!(executed, 2);
                    return;
                }
            }
        }
        let delivery = under_way.remove(0);
        let mut row = finished(&delivery, Ok(made_up_turn(&plan, &delivery, 4)));
        row.log.refused = (delivery.to == 0).then(|| Refusal::own(BudgetKind::Tokens));
        commands = ledger.apply(Event::Settled(row));
    }
}
