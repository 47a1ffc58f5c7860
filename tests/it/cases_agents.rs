//! Cases from public reports of faults in other casts of agents, each named after its id: who is heard, joins, endings and
//! budgets.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use rolecall::{
    conversation::{ConversationRecord, Outcome},
    domain::Usage,
    llm::{
        ChatModel, ChatRequest, Purpose,
        scripted::{Line, Scripted},
    },
    messages::Message,
    prompts::Prompt,
    runtime::TurnRecord,
    telemetry::{Projection, project},
    topology::{BudgetLimits, Edge, Plan, Requires, Source, When},
};
use serde_json::{Value, json};

use crate::{
    critic::{assessments, drafts_assessed, held, judging, rewards},
    stage::{MadeUpSandbox, company, hold_all, on_stage},
    support::{mix, node, plan, seidr, task},
    topology::support::{folder, load, right, said},
};

/// Who took which turn on what, and how it ended: all of the story but what was said.
fn course(record: &ConversationRecord) -> Vec<String> {
    let line = |turn: &Arc<TurnRecord>| {
        let TurnRecord { seq, actor, generation, causes, programs, missing, .. } = turn.as_ref();
        format!("{seq} {actor} g{generation} {causes:?} {programs:?} {missing:?}")
    };
    let mut course: Vec<String> = record.turns.iter().map(line).collect();
    course.push(format!("{:?} {:?} {:?}", record.end.outcome, record.end.best, record.end.spend));
    course
}

fn one(plan: Plan, model: Arc<dyn ChatModel>) -> ConversationRecord {
    on_stage(async move {
        let company = company(plan, model, MadeUpSandbox::by_text(), None);
        hold_all(&company, &task(5, None), 1, 1).await.remove(0)
    })
}

/// A06: no word ends a conversation. A task, replies and diagnoses full of words that end conversations elsewhere take the
/// course that the same ones without them take.
#[test]
fn a06_the_stop_word_in_the_task_ends_nothing() {
    let held = |word: &'static str| {
        let model = Arc::new(Scripted::with(move |request, _| match request.purpose {
            Purpose::Diagnose => Line::say(format!("{word}\nIt is off by one. {word}")),
            _ => Line::say_all((0..request.choices).map(|choice| {
                let number = mix(request.seed, u64::from(choice));
                format!("{word}\n```python\ndef f(x):\n    return {number}\n```\n{word}")
            })),
        }));
        on_stage(async move {
            let mut task = task(5, None);
            task.statement = format!("f prints {word} when it is {word}.");
            let company = company(seidr(2, 4, 20), model, MadeUpSandbox::by_text(), None);
            hold_all(&company, &task, 1, 1).await.remove(0)
        })
    };
    let calm = held("blue");
    assert_eq!((calm.end.outcome, calm.end.spend.programs), (Outcome::BudgetPrograms, 20));
    for word in ["DONE", "APPROVED", "TERMINATE", "STOP", "exit", "<|endoftext|>"] {
        assert_eq!(course(&held(word)), course(&calm), "{word}");
    }
}

/// A07: a verdict is an exact form. What only sounds like one is unclear, is asked for once more, and approves nothing.
#[test]
fn a07_not_approved_is_not_approval() {
    let replies = ["Not approved.", "APPROVED? no", "approved", "I disapprove", "Not BETTER: A", "BETTER: A? no"];
    for reply in replies {
        let model = judging(&["def f(x): return 1", "def f(x): return 2"], move |_, _| Line::say(reply));
        let record = held(drafts_assessed(2, json!({ "reward": "judge" })), &model);
        assert_eq!(rewards(&record), [Some(0.0), None], "{reply}");
        assert_eq!(assessments(&record)[1].comment.as_deref(), Some(reply));
        assert_eq!(record.end.spend.model_calls, 3, "one draft, one question and the same once more, all charged");
    }
}

/// A08: who speaks next is a matter of edges. A reply that names other actors, misspelt or not, moves nothing.
#[test]
fn a08_the_next_speaker_is_never_guessed_from_prose() {
    let names = ["writer", "test", "test_runner", "test_fixer"];
    let cast = || {
        let mut plan = plan(
            vec![
                node("writer", "synthesizer", json!({})),
                node("test", "executor", json!({})),
                node("test_runner", "instructor", json!({})),
                node("test_fixer", "debugger", json!({})),
                // Nobody sends anything to this one.
                node("fixer", "debugger", json!({})),
            ],
            &[
                ("task", "writer"),
                ("writer", "test"),
                ("test", "test_runner"),
                ("test_runner", "test_fixer"),
                ("test_fixer", "test"),
            ],
            1,
            BudgetLimits { programs: Some(6), ..Default::default() },
        );
        plan.edges.push(Edge { from: Source::Actor(4), to: 1, when: When::Always, intervene: None });
        plan
    };
    let held = |words: &'static str| {
        let speaks = move |request: &ChatRequest, _| match request.purpose {
            Purpose::Diagnose => Line::say(words),
            _ => Line::say(format!("{words}\n```python\ndef f(x): return {}\n```", request.seed)),
        };
        one(cast(), Arc::new(Scripted::with(speaks)))
    };
    let calm = held("It is off by one.");
    for words in ["Not test; hand over to test\\_runner.", "Next: fixer", "@fixer, please", "{\"next\": \"fixer\"}"] {
        let record = held(words);
        assert_eq!(course(&record), course(&calm), "{words}");
        let spoke: BTreeSet<&str> = record.turns.iter().map(|turn| turn.actor.0.as_str()).collect();
        assert_eq!(spoke, BTreeSet::from(names));
    }
    // Every turn was caused by the sender of an edge.
    let (edges, actors) = (cast().edges, cast().nodes);
    for turn in &calm.turns {
        let to = actors.iter().position(|node| node.name == turn.actor).unwrap();
        for cause in &turn.causes {
            let sender = &calm.turns[cause.seq as usize].actor;
            let from = actors.iter().position(|node| node.name == *sender).unwrap();
            assert!(edges.iter().any(|edge| edge.from == Source::Actor(from) && edge.to == to), "{sender} to {to}");
        }
    }
}

/// Two ways of different length into one join: run_a → join, and run_b → sieve → join.
fn forked(sieve: When, requires: Requires) -> Plan {
    let mut plan = plan(
        vec![
            node("writer", "synthesizer", json!({ "drafts": 2 })),
            node("run_a", "executor", json!({})),
            node("run_b", "executor", json!({})),
            node("sieve", "ranker", json!({ "beam_width": 9 })),
            node("join", "ranker", json!({ "beam_width": 9 })),
        ],
        &[
            ("task", "writer"),
            ("writer", "run_a"),
            ("writer", "run_b"),
            ("run_a", "join"),
            ("run_b", "sieve"),
            ("sieve", "join"),
        ],
        4,
        BudgetLimits { programs: Some(50), ..Default::default() },
    );
    plan.edges[4].when = sieve;
    plan.nodes[4].requires = requires;
    plan
}

fn turns<'a>(record: &'a ConversationRecord, actor: &str) -> Vec<&'a TurnRecord> {
    record.turns.iter().map(Arc::as_ref).filter(|turn| turn.actor.0 == actor).collect()
}

/// A11: a join behind ways of different length takes one turn a round; a way that was not gone is listed as missing, or
/// ends the conversation by name.
#[test]
fn a11_fan_in_runs_once_and_a_skipped_branch_is_listed_or_ends_by_name() {
    let record = one(forked(When::Always, Requires::All), crate::stage::talkative());
    let [join] = turns(&record, "join")[..] else { panic!("{:?}", course(&record)) };
    assert_eq!((join.inbox.len(), join.missing.len()), (4, 0), "two programs, by two ways");

    let record = one(forked(When::Passed, Requires::Any), crate::stage::talkative());
    let [join] = turns(&record, "join")[..] else { panic!("{:?}", course(&record)) };
    let missing: Vec<&str> = join.missing.iter().map(|actor| actor.0.as_str()).collect();
    assert_eq!((join.inbox.len(), missing), (2, vec!["sieve"]));
    assert_eq!(record.end.outcome, Outcome::NothingLeft);

    let record = one(forked(When::Passed, Requires::All), crate::stage::talkative());
    assert_eq!(record.end.outcome, Outcome::StarvedJoin);
    assert_eq!(record.end.outcome_detail.as_deref(), Some("join missed sieve in generation 0"));
    assert!(turns(&record, "join").is_empty());
}

/// A11: what a join is given, and so the next prompt, does not depend on which of two writers was quicker.
#[test]
fn a11_fan_in_takes_its_inputs_in_one_order_whatever_the_delays() {
    let held = |slow: &'static str| {
        let mut cast = seidr(1, 8, 8);
        cast.nodes.push(node("second", "synthesizer", json!({})));
        cast.edges.push(Edge { from: Source::Task, to: 5, when: When::Always, intervene: None });
        cast.edges.push(Edge { from: Source::Actor(5), to: 1, when: When::Always, intervene: None });
        let wait = move |request: &ChatRequest| match (request.purpose, slow) {
            // The first writer's turn is the first of the conversation.
            (Purpose::Draft, "first") if request.traceparent == first_call() => 60,
            (Purpose::Draft, "second") if request.traceparent != first_call() => 60,
            _ => 0,
        };
        let model = Arc::new(Scripted::with(move |request, _| {
            let words = format!("It gives {}.\n```python\ndef f(x): return {}\n```", request.seed, request.seed);
            Line::say(words).delay(Duration::from_millis(wait(request)))
        }));
        let record = one(cast, model);
        let calls = record.turns.iter().flat_map(|turn| &turn.attempts[0].log.calls);
        let prompts: Vec<_> = calls.map(|call| call.messages.clone()).collect();
        (course(&record), prompts, turns(&record, "ranker")[0].inbox.len())
    };
    let calm = held("nobody");
    assert_eq!(calm.2, 2);
    assert_eq!(held("first"), calm);
    assert_eq!(held("second"), calm);
}

/// The trace context of call 0 of turn 0 of the conversation that the stage holds.
fn first_call() -> Option<String> {
    let run = rolecall::ids::RunId(uuid::Uuid::nil());
    let id = rolecall::ids::ConversationId::derive(run, "arm", &rolecall::ids::TaskId("t".to_owned()), 0);
    Some(rolecall::ids::traceparent(id, (0, 0, 0)))
}

/// Draft, run, repair, run, …: one call a program.
fn loop_of(calls: u32) -> Plan {
    plan(
        vec![
            node("writer", "synthesizer", json!({})),
            node("run", "executor", json!({})),
            node("fixer", "debugger", json!({})),
        ],
        &[("task", "writer"), ("writer", "run"), ("run", "fixer"), ("fixer", "run")],
        4,
        BudgetLimits { programs: Some(50), model_calls: Some(calls), ..Default::default() },
    )
}

/// Call number `needed`, from 1, gives the program that passes.
fn solving_at(needed: usize) -> Arc<Scripted> {
    Arc::new(Scripted::with(move |_, n| {
        let value = if n + 1 == needed { "x".to_owned() } else { format!("{n}  # none of the tests") };
        Line::say(format!("```python\ndef f(x): return {value}\n```")).usage(10, 5)
    }))
}

fn calls_of(record: &ConversationRecord) -> usize {
    record.turns.iter().flat_map(|turn| &turn.attempts).map(|attempt| attempt.log.calls.len()).sum()
}

/// A14: a limit is exact: what fits is a success, the call past it is not made, and the best partial answer stays.
#[test]
fn a14_a_limit_of_calls_is_exact_and_the_best_answer_is_kept() {
    for (limit, needed, outcome, made) in [
        (4, 4, Outcome::TestsPassed, 4),
        (4, 5, Outcome::BudgetModelCalls, 4),
        (1, 1, Outcome::TestsPassed, 1),
        (1, 2, Outcome::BudgetModelCalls, 1),
        (0, 1, Outcome::BudgetModelCalls, 0),
    ] {
        let model = solving_at(needed);
        let record = one(loop_of(limit), model.clone());
        let end = &record.end;
        assert_eq!((end.outcome, calls_of(&record), model.calls()), (outcome, made, made), "{limit}, {needed}");
        assert_eq!(end.spend.model_calls as usize, made);
        assert_eq!(end.spend.programs as usize, made, "what was written was run");
        assert_eq!(end.best.is_some(), made > 0);
        // The limit, its value, the actor and the turn that met it.
        let met = end.outcome_detail.clone().unwrap_or_default();
        let says = |words: &str| met.contains(words);
        let named = says(&format!("model_calls = {limit}: ")) && says(", turn ") && (says("writer") || says("fixer"));
        assert_eq!(named, outcome == Outcome::BudgetModelCalls, "{met}");
        assert!(record.turns.iter().all(|turn| turn.fault().is_none()));
        assert!(end.deterministic);
    }
}

/// Eight writers at once.
fn eight(budget: BudgetLimits, parallel_turns: u32) -> Plan {
    let names: Vec<String> = (0..8).map(|number| format!("writer{number}")).collect();
    let mut nodes: Vec<_> = names.iter().map(|name| node(name, "synthesizer", json!({}))).collect();
    nodes.push(node("run", "executor", json!({})));
    let edges: Vec<(&str, &str)> =
        names.iter().flat_map(|name| [("task", name.as_str()), (name.as_str(), "run")]).collect();
    let mut plan = plan(nodes, &edges, parallel_turns, budget);
    plan.nodes.iter_mut().for_each(|node| node.parameters.max_output_tokens = Some(100));
    plan
}

/// A15: the worst case is reserved before a call is sent, so that siblings never overspend together; who is refused ends
/// the asking, and nothing fails.
#[test]
fn a15_parallel_writers_never_overspend_together() {
    let slow = || {
        Arc::new(Scripted::with(|request, _| {
            let reply = format!("```python\ndef f(x): return {}\n```", request.seed);
            Line::say(reply).usage(20, 80).delay(Duration::from_millis(20))
        }))
    };
    let model = slow();
    let budget = BudgetLimits { programs: Some(50), model_calls: Some(5), ..Default::default() };
    let record = one(eight(budget, 8), model.clone());
    assert_eq!((record.end.outcome, record.end.spend.model_calls), (Outcome::BudgetModelCalls, 5));
    assert_eq!((model.calls(), record.end.spend.programs), (5, 5));
    assert!(record.turns.iter().all(|turn| turn.fault().is_none()));

    // A budget in tokens runs one turn at a time. A call may cost 124: 8 bytes of prompt, 16 for its message, 100 of reply.
    let model = slow();
    let budget = BudgetLimits { programs: Some(50), tokens: Some(500), ..Default::default() };
    let shared = model.clone();
    let record = on_stage(async move {
        let mut company = company(eight(budget, 1), shared, MadeUpSandbox::by_text(), None);
        let prompt = Arc::new(Prompt::load(Purpose::Draft, "short", "---user---\nWrite f.\n").unwrap());
        for prompts in Arc::get_mut(&mut company).unwrap().prompts.values_mut() {
            *prompts = BTreeMap::from([("draft".to_owned(), prompt.clone())]);
        }
        hold_all(&company, &task(5, None), 1, 1).await.remove(0)
    });
    let spend = record.end.spend;
    assert_eq!(record.end.outcome, Outcome::BudgetTokens);
    assert_eq!((spend.model_calls, spend.input_tokens + spend.output_tokens), (4, 400), "a fifth might have cost 524");
    assert_eq!(model.calls(), 4);
    assert!(record.turns.iter().all(|turn| turn.fault().is_none()));
}

/// A18: usage is added up once, over calls alone; what a server does not say is unknown, never 0.
#[test]
fn a18_usage_is_added_up_once_and_unknown_is_not_zero() {
    for known in [true, false] {
        let model = Arc::new(Scripted::with(move |request, n| {
            let line = match (request.purpose, n) {
                (Purpose::Diagnose, _) => Line::say("It is constant."),
                (_, 0) => Line::say("```python\ndef f(x): return 'no'\n```"),
                _ => Line::say("```python\ndef f(x): return x\n```"),
            };
            if known { line.usage(10, 5) } else { line }
        }));
        // Three actors ask one model.
        let mut cast = seidr(1, 1, 9);
        cast.nodes[3] = node("instructor", "instructor", json!({ "diagnoses": 1 }));
        let record = one(cast, model);
        let spend = record.end.spend;
        assert_eq!((record.end.outcome, spend.model_calls), (Outcome::TestsPassed, 3));
        let unknown = Usage::default();
        let usages: Vec<Usage> =
            record.turns.iter().flat_map(|turn| &turn.attempts[0].log.calls).map(|call| call.usage).collect();
        if known {
            assert_eq!((spend.input_tokens, spend.output_tokens, spend.calls_without_usage), (30, 15, 0));
        } else {
            assert_eq!(spend.calls_without_usage, 3, "the sums are lower bounds, and this says so");
            assert_eq!(usages, [unknown; 3]);
        }
        let spans = serde_json::to_value(
            project(&record, Projection::default()).into_iter().map(|one| one.span).collect::<Vec<_>>(),
        )
        .unwrap();
        let (mut input, mut output) = (0, 0);
        for span in spans.as_array().unwrap() {
            let name = span["name"].as_str().unwrap();
            for attribute in span["attributes"].as_array().unwrap() {
                let key = attribute["key"].as_str().unwrap();
                let number =
                    || attribute["value"]["intValue"].as_str().and_then(|text| text.parse::<u64>().ok()).unwrap();
                assert!(!key.starts_with("gen_ai.usage.") || (name.starts_with("chat ") && known), "{name}: {key}");
                match key {
                    "gen_ai.usage.input_tokens" => input += number(),
                    "gen_ai.usage.output_tokens" => output += number(),
                    _ => {}
                }
            }
        }
        assert_eq!((input, output), if known { (30, 15) } else { (0, 0) });
    }
}

/// A19: a budget in money is refused where a price is not known; nothing is ever free because nobody said what it costs.
#[test]
fn a19_an_unknown_price_is_refused_and_is_not_zero() {
    let text = right(
        &[
            ("[actors.b]", "[actors.b2]\nrole = \"debugger\"\nmodel = \"openai:dear\"\n[actors.b]"),
            (
                "from = \"a\"\nto = \"b\"",
                "from = \"a\"\nto = \"b\"\n[[edges]]\nfrom = \"b\"\nto = \"b2\"\n[[edges]]\nfrom = \"b2\"\nto = \"b\"",
            ),
        ],
        "[budget]\nprograms = 9\ncost = 0.01\n",
    );
    let folder = folder(&[("x.toml", text.as_bytes())]);
    let result = load(folder.path(), "x.toml");
    // The offline model costs nothing, and that is known.
    let expected = "`budget.cost` cannot be kept: the price of `openai:dear` is not known";
    let all = said(folder.path(), &result);
    assert!(all.iter().any(|mistake| mistake.ends_with(expected)), "{all:?}");
    let free = folder.path().join("free.toml");
    std::fs::write(&free, text.replace("openai:dear", "templates")).unwrap();
    assert_eq!(said(folder.path(), &load(folder.path(), "free.toml")), Vec::<String>::new());
}

/// A32: a number in prose is no reward. What cannot be read is asked for once more and is then unscored, with its words;
/// a judge that prefers a place is asked in both orders and disagrees with itself.
#[test]
fn a32_the_ranker_s_number_is_never_picked_from_prose_and_a_place_is_no_preference() {
    const PROSE: &str = "I read 3 drafts; the 2nd earns 9/10.";
    let programs = ["def f(x): return 1", "def f(x): return 2", "def f(x): return 3"];
    let model = judging(&programs, |_, _| Line::say(PROSE));
    let record = held(drafts_assessed(3, json!({ "reward": "judge" })), &model);
    assert_eq!(rewards(&record), [Some(0.0), None, None], "neither 0, nor 3, nor 9");
    assert!(assessments(&record)[1..].iter().all(|one| one.comment.as_deref() == Some(PROSE)));
    assert_eq!(record.end.spend.model_calls, 1 + 2 * 2);

    let model = judging(&programs, |_, _| Line::say("BETTER: A"));
    let record = held(drafts_assessed(3, json!({ "reward": "judge" })), &model);
    assert_eq!(rewards(&record), [Some(0.0); 3], "a judge that always answers A improves nothing");
    assert_eq!(record.end.spend.model_calls, 1 + 2 * 2, "both orders, once each");
    let notes = record.turns.iter().flat_map(|turn| &turn.attempts[0].log.notes);
    let presented: Vec<Value> =
        notes.filter(|note| note.key == "comparisons").map(|note| serde_json::to_value(&note.value).unwrap()).collect();
    let expected = ["0.1 with 0.0: as A better, as B worse", "0.2 with 0.0: as A better, as B worse"];
    assert_eq!(presented, expected.map(|text| json!({ "Text": text })), "the presented order is stored");
    assert!(
        record.turns.iter().flat_map(|turn| turn.messages()).any(|message| matches!(message, Message::Assessment(_)))
    );
}
