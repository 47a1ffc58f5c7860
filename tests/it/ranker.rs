//! The ranker as a role: who may enter the beam, and that its settings choose as the methods do.

use std::{collections::BTreeMap, sync::Arc};

use actix::{Actor, Context, Handler};
use rand_chacha::{ChaCha8Rng, rand_core::Rng};
use rolecall::{
    agents,
    domain::{Judgement, Language, Program},
    ids::{ActorName, Generation, MessageId},
    messages::{Candidate, ExecutionReport, Message, Origin},
    runtime::{
        Allowance, Envelope, Finished, History, HistoryLog, NoteValue, Settled, Ticket, Turn, TurnLog, TurnRecord,
    },
    selection::{Epsilon, Method},
};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::{
    conversation::story,
    stage::{MadeUpSandbox, company, hold_all, on_stage, seat, talkative},
    support::{judgement, mix, node, plan, task},
};

const SEQ: u32 = 77;

/// Hands what a ticket says to whoever waits.
struct Listener(Option<oneshot::Sender<Finished>>);

impl Actor for Listener {
    type Context = Context<Self>;
}

impl Handler<Settled> for Listener {
    type Result = ();

    fn handle(&mut self, Settled(finished): Settled, _: &mut Context<Self>) {
        self.0.take().unwrap().send(finished).unwrap();
    }
}

fn turn(history: History, generation: Generation) -> Turn {
    Turn::new(
        seat("ranker", task(3, None)),
        (SEQ, 0, generation),
        Allowance::default(),
        history,
        CancellationToken::new(),
    )
}

/// One turn of a ranker with these settings; must be called on a stage.
async fn rank(settings: &Value, inbox: &[Arc<ExecutionReport>], history: History, generation: Generation) -> Finished {
    let mut all = agents::role("ranker").unwrap().default_settings();
    all.extend(settings.as_object().unwrap().clone());
    let cast = agents::role("ranker").unwrap().start(&all, seat("ranker", task(3, None))).unwrap();
    let (said, heard) = oneshot::channel();
    let ticket = Ticket::new(SEQ, 0, Listener(Some(said)).start().recipient());
    let envelope = Envelope { inbox: inbox.to_vec(), turn: turn(history, generation), ticket };
    cast.inlet::<ExecutionReport>().unwrap().do_send(envelope);
    heard.await.unwrap()
}

/// A past in which the ranker said these in each generation from 0.
fn past(beams: &[&[Arc<ExecutionReport>]]) -> History {
    let log = Arc::new(HistoryLog::default());
    for (generation, beam) in (0u32..).zip(beams) {
        let said = beam.iter().cloned().map(Message::ExecutionReport).collect();
        let attempt = Finished {
            seq: generation,
            attempt: 0,
            result: Ok(said),
            log: TurnLog::default(),
            started_ns: 0,
            ended_ns: 0,
        };
        let record = Arc::new(TurnRecord {
            seq: generation,
            actor: ActorName("ranker".to_owned()),
            role: "ranker".to_owned(),
            generation,
            causes: Vec::new(),
            inbox: Vec::new(),
            allowance: Allowance::default(),
            missing: Vec::new(),
            attempts: vec![attempt],
            programs: Vec::new(),
        });
        log.push(record, &BTreeMap::new());
    }
    log.snapshot()
}

fn report(number: u32, judgement: Judgement) -> Arc<ExecutionReport> {
    let candidate = Candidate {
        id: MessageId { seq: number, index: 0 },
        program: Some(Arc::new(Program::new(Language::Python, format!("x = {number}")))),
        origin: Origin::Draft,
        parent: None,
        author: ActorName("synthesizer".to_owned()),
        note: None,
    };
    let id = MessageId { seq: 100 + number, index: 0 };
    Arc::new(ExecutionReport {
        id,
        candidate: Arc::new(candidate),
        judgement: Arc::new(judgement),
        duplicate_of: None,
        tests: Default::default(),
    })
}

/// Report number `number` of a program that passes the tests marked `x`.
fn passing(number: u32, tests: &str) -> Arc<ExecutionReport> {
    report(number, judgement(&tests.chars().map(|test| test == 'x').collect::<Vec<_>>()))
}

/// Numbers of the programs that a turn said.
fn said(finished: &Finished) -> Vec<u32> {
    finished.result.as_ref().unwrap().iter().map(|message| message.candidate().unwrap().id.seq).collect()
}

fn notes(finished: &Finished) -> Vec<(&str, NoteValue)> {
    finished.log.notes.iter().map(|note| (note.key.as_str(), note.value.clone())).collect()
}

#[test]
fn a_program_that_passes_all_tests_leaves_the_population() {
    on_stage(async {
        let inbox = [passing(1, "x.."), passing(2, "xxx"), passing(3, "xx."), passing(4, "...")];
        let turn = rank(&json!({ "beam_width": 2 }), &inbox, History::empty(), 0).await;
        assert_eq!(said(&turn), [3, 1]);
        let text = NoteValue::Text("truncation".to_owned());
        assert_eq!(notes(&turn), [("selection", text), ("pool", NoteValue::Count(3)), ("kept", NoteValue::Count(2))]);
    });
}

#[test]
fn a_duplicate_never_enters_the_beam() {
    on_stage(async {
        let mut twin = ExecutionReport::clone(&passing(2, "xx."));
        twin.duplicate_of = Some(MessageId { seq: 7, index: 0 });
        let inbox = [passing(1, "x.."), Arc::new(twin), passing(3, "...")];
        assert_eq!(said(&rank(&json!({ "beam_width": 2 }), &inbox, History::empty(), 0).await), [1, 3]);
    });
}

#[test]
fn the_former_beam_is_said_again_where_nobody_new_may_enter() {
    on_stage(async {
        let beams: [&[_]; 2] = [&[passing(1, "...")], &[passing(5, "..x"), passing(2, "xx."), passing(5, "..x")]];
        for children in ["replace", "compete"] {
            let settings = json!({ "beam_width": 2, "children": children });
            let solved = [passing(8, "xxx"), passing(9, "xxx")];
            let turn = rank(&settings, &solved, past(&beams), 2).await;
            assert_eq!(said(&turn), [5, 2, 5], "as it was");
            assert_eq!(said(&rank(&settings, &solved, past(&beams), 1).await), [1], "the beam before generation 1");
            assert_eq!(said(&rank(&settings, &solved, past(&beams[..0]), 0).await), [0; 0]);
        }
    });
}

#[test]
fn parents_compete_once_each_and_come_before_children_of_equal_score() {
    on_stage(async {
        let beam: &[_] = &[passing(1, "x.."), passing(1, "x.."), passing(2, "...")];
        let children = [passing(7, "x.."), passing(8, "xxx"), passing(9, "xx.")];
        for (width, expected) in [(2, vec![9, 1]), (3, vec![9, 1, 7]), (9, vec![9, 1, 7, 2])] {
            let settings = json!({ "beam_width": width, "children": "compete" });
            let turn = rank(&settings, &children, past(&[beam]), 1).await;
            assert_eq!(said(&turn), expected);
            assert_eq!(notes(&turn)[1], ("pool", NoteValue::Count(4)));
        }
        let turn = rank(&json!({ "beam_width": 3 }), &children, past(&[beam]), 1).await;
        assert_eq!(said(&turn), [9, 7], "children replace their parents");
    });
}

#[test]
fn each_selection_chooses_as_its_method_does_with_the_turn_s_generator() {
    on_stage(async {
        let mut inbox: Vec<_> = (0..12)
            .map(|number| {
                let mut made_up = judgement(&[false; 6]);
                for (test, result) in (0..).zip(&mut made_up.tests) {
                    result.score = (mix(number, test) % 11) as f64 / 10.0;
                }
                report(u32::try_from(number).unwrap(), made_up)
            })
            .collect();
        inbox.push(passing(12, "xx...."));
        let row = |report: &Arc<ExecutionReport>| report.judgement.tests.iter().map(|test| test.score).collect();
        let scores: Vec<Vec<f64>> = inbox.iter().map(row).collect();
        let mad = Epsilon::MedianAbsoluteDeviation;
        let cases = [
            (json!({}), Method::Truncation),
            (json!({ "selection": "truncation" }), Method::Truncation),
            (json!({ "selection": "tournament" }), Method::Tournament { size: 2, replacement: false }),
            (
                json!({ "selection": "tournament", "tournament_size": 5, "replacement": true }),
                Method::Tournament { size: 5, replacement: true },
            ),
            (json!({ "selection": "lexicase" }), Method::Lexicase { replacement: false }),
            (json!({ "selection": "lexicase", "replacement": true }), Method::Lexicase { replacement: true }),
            (json!({ "selection": "epsilon_lexicase" }), Method::EpsilonLexicase { epsilon: mad, replacement: false }),
            (
                json!({ "selection": "epsilon_lexicase", "epsilon": 0.3, "replacement": true }),
                Method::EpsilonLexicase { epsilon: Epsilon::Fixed(0.3), replacement: true },
            ),
            (json!({ "selection": "lexicase_single_order" }), Method::LexicaseSingleOrder),
            (json!({ "selection": "agreement" }), Method::Agreement),
        ];
        let rng = || -> ChaCha8Rng { turn(History::empty(), 0).rng("selection") };
        assert_ne!(rng().next_u64(), turn(History::empty(), 0).rng("another").next_u64());
        let mut choices = Vec::new();
        for (mut settings, method) in cases {
            settings["beam_width"] = json!(8);
            let expected: Vec<u32> =
                method.choose(&scores, 8, &mut rng()).into_iter().map(|index| u32::try_from(index).unwrap()).collect();
            let turn = rank(&settings, &inbox, History::empty(), 0).await;
            assert_eq!(said(&turn), expected, "{settings}");
            choices.push(expected);
        }
        choices.sort();
        choices.dedup();
        assert_eq!(choices.len(), 9, "the methods differ, the default is truncation");
    });
}

#[test]
fn all_selections_tell_the_same_story_where_the_beam_holds_every_program() {
    on_stage(async {
        let mut stories = Vec::new();
        for selection in
            ["truncation", "tournament", "lexicase", "epsilon_lexicase", "lexicase_single_order", "agreement"]
        {
            let plan = plan(
                vec![
                    node("synthesizer", "synthesizer", json!({ "drafts": 5 })),
                    node("executor", "executor", json!({})),
                    node("ranker", "ranker", json!({ "beam_width": 30, "selection": selection })),
                    node("debugger", "debugger", json!({ "repairs": 1 })),
                ],
                &[
                    ("task", "synthesizer"),
                    ("synthesizer", "executor"),
                    ("executor", "ranker"),
                    ("ranker", "debugger"),
                    ("debugger", "executor"),
                ],
                4,
                rolecall::topology::BudgetLimits { programs: Some(28), ..Default::default() },
            );
            let company = company(plan, talkative(), MadeUpSandbox::by_text(), None);
            let records = hold_all(&company, &task(6, None), 4, 4).await;
            assert!(records[0].turns.iter().filter(|turn| turn.role == "ranker").count() > 3);
            stories.push(records.iter().map(story).collect::<Vec<_>>());
        }
        for story in &stories[1..] {
            assert_eq!(story, &stories[0]);
        }
    });
}
