//! The search settings, by stories whose programs fail as a script says: who is whose parent, in which order and how many.

use std::{collections::BTreeMap, num::NonZeroU32, sync::Arc};

use rolecall::{
    conversation::{
        Outcome, Placebo,
        ledger::{Command, Delivery, Ending, Event, Ledger},
    },
    domain::{Language, Patches, Program},
    ids::{Generation, MessageId, TaskId},
    messages::{
        Assessment, Candidate, Diagnosis, DiagnosisForm, DiagnosisSource, ExecutionReport, Intervention, Kind, Message,
        Origin, RewardSource,
    },
    runtime::{Finished, TurnLog, TurnRecord},
    topology::{BudgetLimits, ChildOrder, Duplicates, Edge, Parents, Plan, Search, Source, Stop, StopOn, When},
};
use serde_json::json;

use crate::support::{judgement, mix, node, opening, plan, task};

/// What becomes of the program of a number: its text, how many of ten tests it passes, and its reward.
#[derive(Clone)]
struct Fate {
    text: String,
    passes: usize,
    reward: Option<f64>,
}

fn fate(number: u32, passes: usize) -> Fate {
    Fate { text: format!("program {number}"), passes, reward: None }
}

/// A program as it came about: its number, its parent's (0 is the starter) and its round.
type Made = (u32, Option<u32>, Generation);

struct Story {
    past: Vec<Arc<Diagnosis>>,
    made: Vec<Made>,
    records: Vec<Arc<TurnRecord>>,
    ending: Ending,
}

impl Story {
    fn parents(&self) -> Vec<Option<u32>> {
        self.made.iter().map(|(_, parent, _)| *parent).collect()
    }

    fn diagnoses_received(&self) -> Vec<Arc<Diagnosis>> {
        let received = self.records.iter().flat_map(|record| &record.inbox);
        received
            .filter_map(|message| match message {
                Message::Diagnosis(diagnosis) => Some(diagnosis.clone()),
                _ => None,
            })
            .collect()
    }

    fn executions(&self) -> usize {
        self.records.iter().filter(|record| record.role == "executor").count()
    }
}

struct Teller<'a> {
    plan: Arc<Plan>,
    fates: &'a dyn Fn(u32) -> Fate,
    numbers: BTreeMap<MessageId, u32>,
    next: u32,
    /// The diagnoses that a repairing turn finds in the past.
    past: Vec<Arc<Diagnosis>>,
}

impl Teller<'_> {
    fn turn(&mut self, delivery: &Delivery) -> Vec<Message> {
        let node = &self.plan.nodes[delivery.to];
        let id = |index: usize| MessageId { seq: delivery.seq, index: u32::try_from(index).unwrap() };
        let parent = delivery.inbox.first().and_then(Message::candidate).map(|candidate| candidate.id);
        match (node.spec.name, &delivery.inbox[0]) {
            ("synthesizer" | "debugger" | "learner", message) => {
                let origin = if message.kind() == Kind::Task { Origin::Draft } else { Origin::Repair };
                let author = node.name.clone();
                self.past.extend(parent.into_iter().flat_map(|parent| delivery.history.diagnoses_of(parent)));
                // The text is the script's, looked up when the program has its number: names by place stand in until then.
                let candidate = |index: usize| {
                    let text = format!("{} {index}", delivery.seq);
                    let program = Some(Arc::new(Program::new(Language::Python, text)));
                    let (id, author) = (id(index), author.clone());
                    Message::Candidate(Arc::new(Candidate { id, program, origin, parent, author, note: None }))
                };
                (0..delivery.allowance.programs as usize).map(candidate).collect()
            }
            ("executor", Message::Candidate(candidate)) => {
                let twin = delivery.history.twin_of(candidate).and_then(|twin| delivery.history.report_of(twin));
                let passes = (self.fates)(self.numbers.get(&candidate.id).copied().unwrap_or(0)).passes;
                let tests: Vec<bool> = (0..10).map(|test| test < passes).collect();
                let skips = self.plan.search.duplicates == Duplicates::Skip;
                let twin = twin.filter(|_| skips);
                vec![Message::ExecutionReport(Arc::new(ExecutionReport {
                    id: id(0),
                    candidate: candidate.clone(),
                    duplicate_of: twin.as_ref().map(|twin| twin.candidate.id),
                    tests: Default::default(),
                    judgement: twin.map_or_else(|| Arc::new(judgement(&tests)), |twin| twin.judgement.clone()),
                }))]
            }
            ("critic", Message::ExecutionReport(report)) => {
                let number = self.numbers.get(&report.candidate.id).copied().unwrap_or(0);
                let reward = (self.fates)(number).reward;
                let (report, source) = (report.clone(), RewardSource::Execution);
                vec![Message::Assessment(Arc::new(Assessment { id: id(0), report, reward, source, comment: None }))]
            }
            ("ranker", _) => {
                let width = usize::try_from(node.settings["beam_width"].as_u64().unwrap()).unwrap();
                let scores: Vec<Vec<f64>> =
                    delivery.inbox.iter().map(|one| vec![one.judged().unwrap().judgement.score()]).collect();
                let kept = rolecall::selection::truncation(&scores, width);
                kept.into_iter().map(|index| delivery.inbox[index].clone()).collect()
            }
            (_, message) => {
                let report = message.judged().unwrap();
                let wanted = usize::try_from(node.settings["diagnoses"].as_u64().unwrap()).unwrap();
                let diagnosis = |index: usize| {
                    Message::Diagnosis(Arc::new(Diagnosis {
                        id: id(index),
                        report: report.clone(),
                        text: format!("diagnosis {}.{index}", delivery.seq),
                        form: DiagnosisForm::BugSummary,
                        source: DiagnosisSource::Model,
                        intervention: None,
                    }))
                };
                (0..wanted).map(diagnosis).collect()
            }
        }
    }
}

/// Plays a conversation whose turns finish in an order that `order` says.
fn play(plan: &Plan, starter: Option<usize>, fates: &dyn Fn(u32) -> Fate, order: u64) -> Story {
    let plan = Arc::new(plan.clone());
    let mut teller = Teller { plan: plan.clone(), fates, numbers: BTreeMap::new(), next: 0, past: Vec::new() };
    let mut ledger = Ledger::new(plan.clone());
    let starter_text = starter.map(|_| "program 0");
    let mut opening = opening(task(10, starter_text));
    opening.reference = Some(Arc::new(Program::new(Language::Python, "right\n")));
    opening.placebos = ["t", "u", "v"]
        .map(|task| Placebo { task: TaskId(task.to_owned()), text: format!("about {task}") })
        .to_vec()
        .into();
    let mut commands = ledger.apply(Event::Begin(opening));
    let (mut under_way, mut records, mut dice) = (Vec::<Delivery>::new(), Vec::new(), order);
    let mut made: Vec<Made> = Vec::new();
    loop {
        for command in commands.drain(..) {
            match command {
                Command::Start(delivery) => under_way.push(*delivery),
                Command::Retired(record) => {
                    for (id, number) in &record.programs {
                        assert_eq!(*number, teller.next + 1, "numbers are given in logical order");
                        teller.next = *number;
                        let parent = record.messages()[id.index as usize].candidate().unwrap().parent;
                        let parent = parent.map(|parent| teller.numbers.get(&parent).copied().unwrap_or(0));
                        teller.numbers.insert(*id, *number);
                        made.push((*number, parent, record.generation));
                    }
                    records.push(record);
                }
                Command::End(ending) => return Story { past: teller.past, made, records, ending: *ending },
            }
        }
        assert!(!under_way.is_empty(), "stuck after {:?}", made.last());
        dice = mix(dice, 7);
        let delivery = under_way.swap_remove(usize::try_from(dice % under_way.len() as u64).unwrap());
        let said = renamed(teller.turn(&delivery), &delivery, &teller);
        let (seq, attempt, log) = (delivery.seq, delivery.attempt, TurnLog::default());
        commands =
            ledger.apply(Event::Settled(Finished { seq, attempt, result: Ok(said), log, started_ns: 0, ended_ns: 0 }));
    }
}

/// Gives candidates the texts of the script: their numbers follow from the programs before them where, as in these stories,
/// every turn writes as many as it may.
fn renamed(said: Vec<Message>, delivery: &Delivery, teller: &Teller<'_>) -> Vec<Message> {
    let rename = |(index, message): (usize, Message)| match message {
        Message::Candidate(candidate) => {
            let number = delivery.allowance.draw + u32::try_from(index).unwrap() + 1;
            let text = (teller.fates)(number).text;
            let program = Some(Arc::new(Program::new(Language::Python, text)));
            Message::Candidate(Arc::new(Candidate { program, ..Candidate::clone(&candidate) }))
        }
        other => other,
    };
    said.into_iter().enumerate().map(rename).collect()
}

/// Synthesizer, executor and debugger without a ranker.
fn loop_of(search: Search, stop: Stop, settings: (u32, u32), programs: u32) -> Plan {
    let mut plan = plan(
        vec![
            node("synthesizer", "synthesizer", json!({ "drafts": settings.0 })),
            node("executor", "executor", json!({})),
            node("debugger", "debugger", json!({ "repairs": settings.1 })),
        ],
        &[("task", "synthesizer"), ("synthesizer", "executor"), ("executor", "debugger"), ("debugger", "executor")],
        4,
        BudgetLimits { programs: Some(programs), ..Default::default() },
    );
    (plan.search, plan.stop) = (search, stop);
    plan
}

/// Every program fails, each as much as `passes` says.
fn failing(passes: impl Fn(u32) -> usize) -> impl Fn(u32) -> Fate {
    move |number| fate(number, passes(number))
}

fn barrier(parents: Parents) -> Search {
    Search { parents, barrier: true, ..Search::default() }
}

/// The same story whatever finishes first and however many turns are under way.
fn told(plan: &Plan, starter: Option<usize>, fates: &dyn Fn(u32) -> Fate) -> Story {
    let story = play(plan, starter, fates, 1);
    for parallel_turns in [1, plan.parallel_turns, u32::MAX] {
        for order in 2..5 {
            let mut other = plan.clone();
            other.parallel_turns = parallel_turns;
            let again = play(&other, starter, fates, order);
            assert_eq!(again.made, story.made, "{parallel_turns} turns, order {order}");
            assert_eq!(again.ending.outcome, story.ending.outcome);
            assert_eq!(again.ending.patches, story.ending.patches);
            if parallel_turns == plan.parallel_turns {
                assert_eq!(again.ending, story.ending);
            }
        }
    }
    story
}

#[test]
fn each_rule_chooses_its_parents() {
    // Three drafts pass 1, 3 and 2 tests of ten; the children of the first round 1 and 3, which only ties; later ones nothing.
    let passes = [9, 1, 3, 2, 1, 3];
    let fates = failing(move |number| passes.get(number as usize).copied().unwrap_or(0));
    let parents = |rule: Parents| told(&loop_of(barrier(rule), Stop::default(), (3, 2), 9), None, &fates).parents();
    let drafts = [None, None, None];
    let after = |rest: [u32; 6]| [drafts.to_vec(), rest.map(Some).to_vec()].concat();
    assert_eq!(parents(Parents::Last), after([3, 3, 5, 5, 7, 7]));
    assert_eq!(parents(Parents::Best), after([2, 2, 2, 2, 2, 2]));
    assert_eq!(parents(Parents::Failing), after([1, 1, 2, 2, 3, 3]));
    let random = parents(Parents::Random);
    assert_ne!(random, after([3, 3, 5, 5, 7, 7]));
    assert_eq!(random[3], random[4], "one parent a round");
}

#[test]
fn without_a_barrier_every_report_opens_a_round_in_logical_order() {
    let fates = failing(|_| 0);
    let plan = loop_of(Search::default(), Stop::default(), (2, 2), 10);
    let story = told(&plan, None, &fates);
    let expected = [None, None, Some(1), Some(1), Some(2), Some(2), Some(3), Some(3), Some(4), Some(4)];
    assert_eq!(story.parents(), expected);
    assert_eq!(story.ending.outcome, Outcome::BudgetPrograms);
}

#[test]
fn children_are_written_parent_by_parent_or_in_turn_and_the_budget_cuts_that_order() {
    let fates = failing(|_| 0);
    let order = |child_order, programs| {
        let search = Search { child_order, ..barrier(Parents::Failing) };
        told(&loop_of(search, Stop::default(), (3, 2), programs), None, &fates).parents().split_off(3)
    };
    let some = |numbers: &[u32]| numbers.iter().copied().map(Some).collect::<Vec<_>>();
    assert_eq!(order(ChildOrder::ParentMajor, 9), some(&[1, 1, 2, 2, 3, 3]));
    assert_eq!(order(ChildOrder::RoundRobin, 9), some(&[1, 2, 3, 1, 2, 3]));
    assert_eq!(order(ChildOrder::ParentMajor, 7), some(&[1, 1, 2, 2]));
    assert_eq!(order(ChildOrder::RoundRobin, 7), some(&[1, 2, 3, 1]));
}

#[test]
fn in_turn_each_parent_goes_through_its_own_diagnoses() {
    let mut plan = crate::support::seidr(2, 4, 12);
    plan.search.child_order = ChildOrder::RoundRobin;
    let story = told(&plan, None, &failing(|number| if number <= 2 { 1 } else { 0 }));
    let some = |numbers: &[u32]| numbers.iter().copied().map(Some).collect::<Vec<_>>();
    // Beam of 2 with two diagnoses each and two repairs of each diagnosis: eight children, one of each parent in turn.
    assert_eq!(story.parents()[2..10], some(&[1, 2, 1, 2, 1, 2, 1, 2]));
    let texts: Vec<String> = story.diagnoses_received().iter().take(8).map(|one| one.text.clone()).collect();
    assert_eq!(texts[0], texts[2], "two repairs of the first diagnosis, then two of the second");
    assert_ne!(texts[0], texts[4]);
    assert_eq!(texts[4], texts[6]);
}

#[test]
fn a_schedule_of_widths_is_exact_and_its_end_is_named() {
    for widths in [vec![10], vec![8, 2], vec![5, 5], vec![4, 3, 3], vec![2; 5], vec![1; 10]] {
        for parents in [Parents::Best, Parents::Last, Parents::Failing, Parents::Random] {
            for child_order in [ChildOrder::ParentMajor, ChildOrder::RoundRobin] {
                let search = Search { widths: widths.clone(), first_round: 1, child_order, ..barrier(parents) };
                let mut plan = plan(
                    vec![node("executor", "executor", json!({})), node("debugger", "debugger", json!({}))],
                    &[("task", "executor"), ("executor", "debugger"), ("debugger", "executor")],
                    4,
                    BudgetLimits::default(),
                );
                plan.search = search;
                plan.nodes[1].shares = [Kind::ExecutionReport].into();
                let story = told(&plan, Some(0), &failing(|number| (number % 3) as usize));
                let rounds: Vec<u32> = (1..)
                    .map(|round| story.made.iter().filter(|(_, _, generation)| *generation == round).count())
                    .take_while(|count| *count > 0)
                    .map(|count| u32::try_from(count).unwrap())
                    .collect();
                assert_eq!(rounds, widths, "{parents:?} {child_order:?}");
                assert_eq!(story.ending.spend.programs, 10);
                assert_eq!(story.ending.outcome, Outcome::BudgetGenerations);
                assert_eq!(story.ending.detail, Some(format!("widths = {widths:?}")));
            }
        }
    }
}

#[test]
fn the_width_of_a_round_is_shared_among_its_parents() {
    let search = Search { widths: vec![4, 5], ..barrier(Parents::Failing) };
    let mut plan = loop_of(search, Stop::default(), (1, 1), 99);
    for index in [0, 2] {
        plan.nodes[index].shares = plan.nodes[index].slots.keys().copied().collect();
    }
    let story = told(&plan, None, &failing(|_| 0));
    let some = |numbers: &[u32]| numbers.iter().copied().map(Some).collect::<Vec<_>>();
    assert_eq!(story.parents(), [vec![None; 4], some(&[1, 1, 2, 3, 4])].concat());
    // The starter takes the place of the first draft.
    let story = told(&plan, Some(0), &failing(|_| 0));
    assert_eq!(story.parents(), [vec![None; 3], some(&[0, 0, 1, 2, 3])].concat());
    // A number of the actor's own holds for each parent while the width lasts.
    let search = Search { widths: vec![4, 5, 1], ..barrier(Parents::Failing) };
    let story = told(&loop_of(search, Stop::default(), (4, 2), 99), None, &failing(|_| 0));
    assert_eq!(story.parents(), [vec![None; 4], some(&[1, 1, 2, 2, 3]), some(&[5])].concat());
}

#[test]
fn a_duplicate_costs_a_program_and_under_skip_is_not_executed_again() {
    // Every second program has the text of the first, blanks aside.
    let fates = |number: u32| Fate {
        text: if number.is_multiple_of(2) { "program 1  \n".to_owned() } else { format!("program {number}") },
        passes: 1,
        reward: None,
    };
    for duplicates in [Duplicates::Count, Duplicates::Skip] {
        let search = Search { duplicates, ..Search::default() };
        let story = told(&loop_of(search, Stop::default(), (4, 2), 12), None, &fates);
        assert_eq!(story.ending.spend.programs, 12, "{duplicates:?}");
        let said = story.records.iter().filter(|record| record.role == "executor").flat_map(|record| record.messages());
        let twins: Vec<_> = said.filter_map(|message| message.judged()?.duplicate_of).collect();
        let expected = if duplicates == Duplicates::Skip { 6 } else { 0 };
        assert_eq!(twins.len(), expected, "{duplicates:?}");
        assert_eq!(story.executions(), 12, "a duplicate has its report");
    }
    // With a barrier a duplicate is no parent where there is another.
    let search = Search { duplicates: Duplicates::Skip, ..barrier(Parents::Failing) };
    let story = told(&loop_of(search, Stop::default(), (4, 1), 8), None, &fates);
    assert_eq!(story.parents()[4..], [Some(1), Some(3), Some(5), Some(7)]);
}

#[test]
fn a_budget_goes_on_past_programs_that_pass_and_counts_them() {
    // Programs 2, 5 and 6 pass.
    let fates = failing(|number| if [2, 5, 6].contains(&number) { 10 } else { 4 });
    let stop = Stop { on: StopOn::Budget, no_improvement: None };
    for parents in [Parents::Best, Parents::Last, Parents::Failing, Parents::Random] {
        let story = told(&loop_of(barrier(parents), stop, (2, 2), 10), None, &fates);
        assert_eq!(story.ending.outcome, Outcome::BudgetPrograms, "{parents:?}");
        assert_eq!(story.ending.patches, Patches { plausible: 3, wrong: 7, timeout: 0, uncompilable: 0 });
        assert_eq!(story.ending.programs_to_solve, Some(2));
        let best = story.ending.best.unwrap();
        assert!(best.judgement.passed());
        assert!(story.made.iter().all(|(_, parent, _)| ![2, 5, 6].map(Some).contains(parent)), "{parents:?}");
    }
    // By default the first that passes ends it.
    let story = told(&loop_of(barrier(Parents::Best), Stop::default(), (1, 1), 10), None, &fates);
    assert_eq!((story.ending.outcome, story.ending.spend.programs), (Outcome::TestsPassed, 2));
}

#[test]
fn a_round_in_which_every_program_passes_is_asked_of_the_parents_before() {
    // Both children of the first round pass; the budget wants two more.
    let fates = failing(|number| if [2, 3].contains(&number) { 10 } else { 4 });
    let stop = Stop { on: StopOn::Budget, no_improvement: None };
    let story = told(&loop_of(barrier(Parents::Last), stop, (1, 2), 5), None, &fates);
    assert_eq!(story.parents(), [None, Some(1), Some(1), Some(1), Some(1)]);
    assert_eq!(story.ending.outcome, Outcome::BudgetPrograms);
}

#[test]
fn programs_past_the_one_that_passes_are_spend_and_no_programs_to_solution() {
    let fates = failing(|number| if number == 3 { 10 } else { 4 });
    for parallel_turns in [1, 4, u32::MAX] {
        let mut plan = loop_of(Search::default(), Stop::default(), (8, 1), 50);
        plan.parallel_turns = parallel_turns;
        let story = play(&plan, None, &fates, 3);
        assert_eq!(story.ending.programs_to_solve, Some(3));
        assert!(story.ending.spend.programs >= 3, "{parallel_turns}");
    }
}

/// A critic between the executor and the debugger.
fn with_critic(no_improvement: u32, on: StopOn) -> Plan {
    let stop = Stop { on, no_improvement: NonZeroU32::new(no_improvement) };
    let mut plan = loop_of(barrier(Parents::Last), stop, (1, 1), 20);
    plan.nodes.push(node("critic", "critic", json!({})));
    plan.nodes[3].rank = 3;
    let (from, to, when) = (Source::Actor(1), 2, When::Failed);
    plan.edges.retain(|edge| edge.from != from || edge.to != to);
    plan.edges.push(Edge { from: Source::Actor(1), to: 3, when: When::Always, intervene: None });
    plan.edges.push(Edge { from: Source::Actor(3), to: 2, when, intervene: None });
    plan
}

#[test]
fn keep_best_ends_when_the_reward_does_not_improve_and_returns_the_best() {
    let rewards = [0.0, 0.1, 0.4, 0.3, 0.5, 0.5, 0.2, 0.9];
    // The tests say otherwise than the critic: its reward decides.
    let fates = |number: u32| Fate {
        reward: rewards.get(number as usize).copied(),
        ..fate(number, usize::try_from(9 - number.min(9)).unwrap())
    };
    for (rounds, programs, best) in [(1, 3, 2), (2, 6, 4), (9, 16, 7), (99, 20, 7)] {
        let story = told(&with_critic(rounds, StopOn::Solved), None, &fates);
        assert_eq!(story.ending.spend.programs, programs, "{rounds} rounds");
        let outcome = if programs == 20 { Outcome::BudgetPrograms } else { Outcome::NoImprovement };
        assert_eq!(story.ending.outcome, outcome);
        let kept = story.ending.best.as_ref().unwrap().candidate.program.as_ref().unwrap().text.clone();
        assert_eq!(kept, format!("program {best}"));
    }
}

#[test]
fn a_program_without_a_reward_is_the_best_only_where_there_is_no_other() {
    let fates = |number: u32| Fate { reward: (number == 3).then_some(-5.0), ..fate(number, 1) };
    let story = told(&with_critic(4, StopOn::Solved), None, &fates);
    assert_eq!(story.ending.best.unwrap().candidate.program.as_ref().unwrap().text, "program 3");
    let fates = |number: u32| fate(number, 1);
    let story = told(&with_critic(4, StopOn::Solved), None, &fates);
    assert_eq!(story.ending.best.unwrap().candidate.program.as_ref().unwrap().text, "program 1");
}

#[test]
fn a_program_that_passes_is_the_best_whatever_the_critic_says() {
    let fates = |number: u32| Fate {
        reward: Some(if number == 2 { -9.0 } else { f64::from(number) }),
        ..fate(number, if number == 2 { 10 } else { 4 })
    };
    let story = told(&with_critic(99, StopOn::Budget), None, &fates);
    assert_eq!(story.ending.programs_to_solve, Some(2));
    assert_eq!(story.ending.best.unwrap().candidate.program.as_ref().unwrap().text, "program 2");
}

#[test]
fn interventions_change_what_is_delivered_and_what_the_past_tells() {
    for intervention in Intervention::ALL {
        let mut plan = crate::support::chain(1, 4, 4);
        let edge = plan.edges.iter_mut().find(|edge| edge.from == Source::Actor(3)).unwrap();
        edge.intervene = Some(intervention);
        let story = told(&plan, None, &failing(|_| 3));
        let received = story.diagnoses_received();
        let said = |record: &&Arc<TurnRecord>| record.role == "instructor";
        let first = story.records.iter().find(said).unwrap().messages()[0].clone();
        let Message::Diagnosis(first) = first else { panic!() };
        assert_eq!(first.intervention, None, "what was said is recorded as it was said");
        match intervention {
            Intervention::Drop => {
                assert!(received.is_empty());
                assert_eq!(story.ending.outcome, Outcome::NothingLeft);
                assert_eq!(story.ending.spend.programs, 1);
                continue;
            }
            Intervention::Blank => assert!(received.iter().all(|one| one.text.is_empty())),
            Intervention::Shuffle => {
                assert!(received.iter().all(|one| ["about u", "about v"].contains(&one.text.as_str())), "{received:?}");
            }
            Intervention::Oracle => {
                assert!(received[0].text.ends_with("- (line 1) program 1\n+ right\n"), "{}", received[0].text);
            }
        }
        assert!(received.iter().all(|one| one.intervention == Some(intervention)));
        assert!(!story.past.is_empty());
        assert!(
            story.past.iter().all(|one| one.intervention == Some(intervention)),
            "the past tells what was kept back"
        );
        assert_eq!(story.ending.spend.programs, 4);
    }
}
