//! A small independent model of the search, and real conversations that must go as it says: which program is a repair of
//! which, in which generation, at every arity, number of diagnoses, selection and budget.

use std::{collections::BTreeMap, sync::Arc};

use rand_chacha::ChaCha8Rng;
use rolecall::{
    conversation::{ConversationRecord, Outcome},
    domain::{Children, Program},
    ids::{MessageId, Seq},
    llm::{
        Purpose,
        scripted::{Line, Scripted},
    },
    messages::Message,
    runtime::{Allowance, History, Turn},
    selection::{Epsilon, Method},
    topology::Plan,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    stage::{MadeUpSandbox, company, hold_all, on_stage, seat},
    support::{judgement, mix, node, seidr, task},
};

const TESTS: usize = 6;

/// Numbers that say how a search goes. `arity` programs are drafted, as many are parents, and each diagnosis is repaired as
/// often.
#[derive(Clone, Copy, Debug)]
struct Search {
    arity: usize,
    diagnoses: usize,
    budget: usize,
    children: Children,
}

/// A program: its number from 1, the number of the one that it repairs, its generation.
type Step = (usize, Option<usize>, u32);

/// What the search does, where no program passes. `choose` gives parents of a pool of numbers; it is told the place in the
/// logical order at which they are chosen.
fn predict(search: Search, mut choose: impl FnMut(usize, &[usize]) -> Vec<usize>) -> Vec<Step> {
    let Search { arity, diagnoses, budget, children } = search;
    let mut steps: Vec<Step> = (1..=arity.min(budget)).map(|number| (number, None, 0)).collect();
    let mut pool: Vec<usize> = (1..=steps.len()).collect();
    // The turn that drafts, and one for each execution.
    let mut turns = 1 + steps.len();
    for generation in 1.. {
        if steps.len() == budget {
            break;
        }
        let parents = choose(turns, &pool);
        let wanted = parents.iter().flat_map(|parent| vec![*parent; diagnoses * arity]);
        let first = steps.len() + 1;
        let repairs: Vec<Step> =
            (first..=budget).zip(wanted).map(|(number, parent)| (number, Some(parent), generation)).collect();
        // The choice, a turn for each diagnosed parent, one for each diagnosis, one for each execution.
        turns += 1 + parents.len() + parents.len() * diagnoses + repairs.len();
        pool = if children == Children::Compete { parents } else { Vec::new() };
        pool.extend(repairs.iter().map(|(number, ..)| *number));
        steps.extend(repairs);
    }
    steps
}

/// Which tests program number `number` passes: never all, often as many as others.
fn passed(number: usize) -> Vec<bool> {
    (0..TESTS).map(|test| test > 0 && mix(number as u64, test as u64).is_multiple_of(3)).collect()
}

/// The model's own truncation.
fn best_of(pool: &[usize], width: usize) -> Vec<usize> {
    let mut best = pool.to_vec();
    best.sort_by_key(|number| TESTS - passed(*number).into_iter().filter(|passed| *passed).count());
    best.truncate(width);
    best
}

/// Parents by a method of the crate, with the generator of the ranker's turn at `place`.
fn by_method(method: Method, pool: &[usize], width: usize, place: usize) -> Vec<usize> {
    let place = Seq::try_from(place).unwrap();
    let seat = seat("ranker", task(TESTS, None));
    let turn = Turn::new(seat, (place, 0, 0), Allowance::default(), History::empty(), CancellationToken::new());
    let mut rng: ChaCha8Rng = turn.rng("selection");
    let row = |number: &usize| passed(*number).into_iter().map(|passed| f64::from(u8::from(passed))).collect();
    let scores: Vec<Vec<f64>> = pool.iter().map(row).collect();
    method.choose(&scores, width, &mut rng).into_iter().map(|index| pool[index]).collect()
}

fn arrangement(search: Search, parallel_turns: u32, selection: &Value) -> Plan {
    let [arity, budget] = [search.arity, search.budget].map(|number| u32::try_from(number).unwrap());
    let mut plan = seidr(arity, parallel_turns, budget);
    let mut settings = json!({ "beam_width": arity, "children": search.children });
    settings.as_object_mut().unwrap().extend(selection.as_object().unwrap().clone());
    plan.nodes[2] = node("ranker", "ranker", settings);
    plan.nodes[3] = node("instructor", "instructor", json!({ "diagnoses": search.diagnoses }));
    for (rank, node) in (0..).zip(&mut plan.nodes) {
        node.rank = rank;
    }
    plan
}

fn number_of(program: &Program) -> usize {
    program.text.split_whitespace().last().unwrap().parse().unwrap()
}

/// Holds a conversation in which each program says its own number, and number `solver` passes.
async fn converse(plan: Plan, solver: Option<usize>) -> ConversationRecord {
    let model = Arc::new(Scripted::with(|request, _| {
        let first = request.draw.first + 1;
        Line::say_all((first..first + request.choices).map(|number| match request.purpose {
            Purpose::Diagnose => "it is wrong".to_owned(),
            _ => format!("```python\ndef f(x):\n    return {number}\n```"),
        }))
    }));
    let sandbox = MadeUpSandbox::new(move |job| {
        let number = number_of(&job.program);
        Ok(judgement(&if solver == Some(number) { vec![true; TESTS] } else { passed(number) }))
    });
    hold_all(&company(plan, model, sandbox, None), &task(TESTS, None), 1, 1).await.remove(0)
}

/// What the conversation did, in the order of numbers.
fn steps(record: &ConversationRecord) -> Vec<Step> {
    let mut numbers: BTreeMap<MessageId, usize> = BTreeMap::new();
    let mut steps = Vec::new();
    for turn in &record.turns {
        for (id, number) in &turn.programs {
            let number = *number as usize;
            numbers.insert(*id, number);
            let candidate = turn.messages().iter().filter_map(Message::candidate).find(|one| one.id == *id).unwrap();
            assert_eq!(number_of(candidate.program.as_ref().unwrap()), number);
            steps.push((number, candidate.parent.map(|parent| numbers[&parent]), turn.generation));
        }
    }
    steps
}

#[test]
fn the_model_does_by_hand_what_it_should() {
    let search = Search { arity: 2, diagnoses: 2, budget: 13, children: Children::Replace };
    let last_two = |_: usize, pool: &[usize]| pool.iter().rev().take(2).copied().collect();
    let parents: Vec<Option<usize>> = predict(search, last_two).into_iter().map(|(_, parent, _)| parent).collect();
    let expected = [0, 0, 2, 2, 2, 2, 1, 1, 1, 1, 10, 10, 10];
    assert_eq!(parents, expected.map(|parent| Some(parent).filter(|parent| *parent > 0)));
}

#[test]
fn conversations_go_as_the_model_says_at_every_arity_number_of_diagnoses_and_budget() {
    on_stage(async {
        for arity in [1, 2, 3, 4, 10, 16, 100] {
            for budget in [1, 7, 10, 33, 100] {
                for diagnoses in [1, 2] {
                    for children in [Children::Replace, Children::Compete] {
                        let search = Search { arity, diagnoses, budget, children };
                        let expected = predict(search, |_, pool| best_of(pool, arity));
                        assert_eq!(expected.len(), budget);
                        for parallel_turns in [1, 64] {
                            let record = converse(arrangement(search, parallel_turns, &json!({})), None).await;
                            assert_eq!(steps(&record), expected, "{search:?}, {parallel_turns}");
                            assert_eq!(record.end.outcome, Outcome::BudgetPrograms);
                            assert_eq!(record.end.spend.programs as usize, budget);
                        }
                    }
                }
            }
        }
    });
}

#[test]
fn conversations_go_as_the_model_says_under_every_selection() {
    let methods = [
        (json!({ "selection": "truncation" }), Method::Truncation),
        (json!({ "selection": "tournament" }), Method::Tournament { size: 2, replacement: false }),
        (
            json!({ "selection": "tournament", "tournament_size": 3, "replacement": true }),
            Method::Tournament { size: 3, replacement: true },
        ),
        (json!({ "selection": "lexicase" }), Method::Lexicase { replacement: false }),
        (json!({ "selection": "lexicase", "replacement": true }), Method::Lexicase { replacement: true }),
        (
            json!({ "selection": "epsilon_lexicase", "epsilon": 0.5 }),
            Method::EpsilonLexicase { epsilon: Epsilon::Fixed(0.5), replacement: false },
        ),
        (json!({ "selection": "lexicase_single_order" }), Method::LexicaseSingleOrder),
        (json!({ "selection": "agreement" }), Method::Agreement),
    ];
    on_stage(async {
        for (settings, method) in &methods {
            for arity in [1, 2, 4, 10, 100] {
                for budget in [10, 33, 100] {
                    let search = Search { arity, diagnoses: 2, budget, children: Children::Replace };
                    let expected = predict(search, |place, pool| by_method(*method, pool, arity, place));
                    let record = converse(arrangement(search, 4, settings), None).await;
                    assert_eq!(steps(&record), expected, "{search:?}, {settings}");
                    assert_eq!(record.end.spend.programs as usize, budget);
                }
            }
        }
    });
}

#[test]
fn a_program_that_passes_ends_the_search_at_its_number() {
    on_stage(async {
        for arity in [1, 2, 4, 10] {
            for solver in [1, 2, 11, 12, 50, 100] {
                let search = Search { arity, diagnoses: 2, budget: 100, children: Children::Replace };
                let expected = predict(search, |_, pool| best_of(pool, arity));
                for parallel_turns in [1, 64] {
                    let record = converse(arrangement(search, parallel_turns, &json!({})), Some(solver)).await;
                    assert_eq!(record.end.outcome, Outcome::TestsPassed, "{search:?}, {solver}");
                    assert_eq!(record.end.programs_to_solve, u32::try_from(solver).ok());
                    assert_eq!(steps(&record)[..solver], expected[..solver]);
                    assert!(record.end.spend.programs as usize >= solver);
                }
            }
        }
    });
}
