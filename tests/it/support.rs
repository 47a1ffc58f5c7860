//! Arrangements and turns for tests of the core: real role specifications, made-up answers.

use std::sync::Arc;

use rolecall::{
    agents,
    conversation::ledger::{Delivery, Opening},
    domain::{
        Excerpt, Judgement, Language, Limits, Program, Protocol, Slots, Task, TestResult, TestSuite, TimeoutPolicy,
        Verdict,
    },
    ids::{ActorName, MessageId, TaskId},
    messages::{
        Candidate, Diagnosis, DiagnosisForm, DiagnosisSource, ExecutionReport, Kind, Message, Origin, TaskMessage,
    },
    topology::{BudgetLimits, Duplicates, Edge, Feedback, Node, Plan, Requires, Search, Source, Stop, When},
};
use serde_json::{Value, json};

/// An actor: name, role, settings.
pub fn node(name: &str, role: &str, settings: Value) -> Node {
    let entry = agents::role(role).unwrap();
    let mut all = entry.default_settings();
    for (key, value) in settings.as_object().unwrap() {
        all.insert(key.clone(), value.clone());
    }
    let slots: std::collections::BTreeMap<Kind, Slots> =
        entry.spec.accepts.iter().filter_map(|kind| Some((*kind, entry.slots(&all, *kind)?))).collect();
    Node {
        name: ActorName(name.to_owned()),
        spec: entry.spec,
        settings: all,
        model: (!entry.spec.asks.is_empty()).then(|| "scripted".to_owned()),
        parameters: Default::default(),
        prompts: Default::default(),
        gathers: entry.spec.gathers,
        requires: Requires::Any,
        slots,
        shares: Default::default(),
        examples: entry.spec.drafts(),
        exclusive: false,
        budget: Default::default(),
        rank: 0,
    }
}

/// A plan of these actors and edges; `task` is the conversation.
pub fn plan(nodes: Vec<Node>, edges: &[(&str, &str)], parallel_turns: u32, budget: BudgetLimits) -> Plan {
    let index = |name: &str| nodes.iter().position(|node| node.name.0 == name).unwrap();
    let edges: Vec<Edge> = edges
        .iter()
        .map(|(from, to)| {
            let to = index(to);
            let accepts_judged = nodes[to].spec.opens_generation(Kind::ExecutionReport);
            let from = if *from == "task" { Source::Task } else { Source::Actor(index(from)) };
            Edge { from, to, when: if accepts_judged { When::Failed } else { When::Always }, intervene: None }
        })
        .collect();
    let mut plan = Plan {
        name: "test".to_owned(),
        nodes,
        edges,
        parallel_turns,
        search: Search::default(),
        stop: Stop::default(),
        budget,
        shared: Default::default(),
        feedback: Feedback { timeouts: TimeoutPolicy::After(1), test_cpu_ms: None, faulty_lines: true },
        examples: Default::default(),
        hash: String::new(),
    };
    for (rank, node) in plan.nodes.iter_mut().enumerate() {
        node.rank = u32::try_from(rank).unwrap();
    }
    plan
}

/// The SEIDR cast at one tree arity.
pub fn seidr(arity: u32, parallel_turns: u32, programs: u32) -> Plan {
    plan(
        vec![
            node("synthesizer", "synthesizer", json!({ "drafts": arity })),
            node("executor", "executor", json!({})),
            node("ranker", "ranker", json!({ "beam_width": arity })),
            node("instructor", "instructor", json!({ "diagnoses": 2 })),
            node("debugger", "debugger", json!({ "repairs": arity })),
        ],
        &[
            ("task", "synthesizer"),
            ("synthesizer", "executor"),
            ("executor", "ranker"),
            ("ranker", "instructor"),
            ("instructor", "debugger"),
            ("debugger", "executor"),
        ],
        parallel_turns,
        BudgetLimits { programs: Some(programs), ..Default::default() },
    )
}

/// The same without the ranker: nobody gathers.
pub fn chain(arity: u32, parallel_turns: u32, programs: u32) -> Plan {
    let mut plan = seidr(arity, parallel_turns, programs);
    plan.edges.retain(|edge| edge.to != 2 && edge.from != Source::Actor(2));
    plan.edges.push(Edge { from: Source::Actor(1), to: 3, when: When::Failed, intervene: None });
    plan
}

/// One branch gathers (ranker), one runs on without a barrier (a teacher).
pub fn mixed(arity: u32, parallel_turns: u32, programs: u32) -> Plan {
    let mut plan = seidr(arity, parallel_turns, programs);
    let mut teacher = node("teacher", "teacher", json!({}));
    teacher.rank = 9;
    plan.nodes.push(teacher);
    plan.edges.push(Edge { from: Source::Actor(1), to: 5, when: When::Failed, intervene: None });
    plan.edges.push(Edge { from: Source::Actor(5), to: 4, when: When::Always, intervene: None });
    plan
}

/// A task with `tests` visible assertions, and a starter where one is given.
pub fn task(tests: usize, starter: Option<&str>) -> Task {
    let assertion = |line| rolecall::domain::Assertion { line, text: format!("assert f({line}) == {line}") };
    let tests = Arc::new(TestSuite::Assertions {
        code: (1..=tests).map(|line| format!("assert f({line}) == {line}\n")).collect(),
        assertions: (1..=u32::try_from(tests).unwrap()).map(assertion).collect(),
    });
    Task {
        id: TaskId("t".to_owned()),
        dataset: "test".to_owned(),
        language: Language::Python,
        statement: "f returns its argument".to_owned(),
        entry_point: Some("f".to_owned()),
        signature: Some("def f(x):".to_owned()),
        preamble: None,
        support: None,
        visible: tests.clone(),
        feedback: tests,
        source: None,
        starter: starter.map(|text| Arc::new(Program::new(Language::Python, text))),
        faulty_lines: Vec::new(),
        limits: Limits::default(),
    }
}

/// The beginning of a conversation about a task.
pub fn opening(task: Task) -> Opening {
    let starter = task.starter.clone().map(|program| {
        Arc::new(Candidate {
            id: MessageId::STARTER,
            program: Some(program),
            origin: Origin::Starter,
            parent: None,
            author: ActorName("task".to_owned()),
            note: None,
        })
    });
    Opening {
        task: Arc::new(TaskMessage { task: Arc::new(task), starter: starter.clone(), plan: None, generated: None }),
        starter,
        seed: 1,
        reference: None,
        placebos: Arc::default(),
    }
}

/// A judgement with these test verdicts.
pub fn judgement(passed: &[bool]) -> Judgement {
    let tests: Vec<TestResult> = passed
        .iter()
        .enumerate()
        .map(|(index, passed)| TestResult {
            verdict: if *passed { Verdict::Passed } else { Verdict::Wrong },
            score: f64::from(u8::from(*passed)),
            test: format!("test {index}"),
            expected: None,
            actual: None,
            message: None,
            cpu_ms: None,
        })
        .collect();
    Judgement {
        verdict: Verdict::of_program(tests.iter().map(|test| test.verdict)),
        tests,
        compile_output: None,
        stdout: Excerpt::default(),
        stderr: Excerpt::default(),
        cpu_ms: 0,
        wall_ms: 0,
        peak_memory_bytes: None,
        protocol: Protocol::Split,
        limits: Limits::default(),
        near_limit: false,
        suspicious: Vec::new(),
    }
}

/// A pure scramble of two numbers.
pub fn mix(a: u64, b: u64) -> u64 {
    let bytes = [a.to_le_bytes(), b.to_le_bytes()].concat();
    u64::from_le_bytes(blake3::hash(&bytes).as_bytes()[..8].try_into().unwrap())
}

/// What a made-up turn says: a function of the delivery and the seed alone. Writing turns sometimes write less than they may.
pub fn made_up_turn(plan: &Plan, delivery: &Delivery, seed: u64) -> Vec<Message> {
    let node = &plan.nodes[delivery.to];
    let id = |index: usize| MessageId { seq: delivery.seq, index: u32::try_from(index).unwrap() };
    let parent = delivery.inbox.first().and_then(Message::candidate).map(|candidate| candidate.id);
    match (node.spec.name, &delivery.inbox[0]) {
        ("synthesizer" | "debugger" | "learner", message) => {
            let dice = mix(seed, u64::from(delivery.seq));
            let written =
                if dice.is_multiple_of(5) { delivery.allowance.programs / 2 } else { delivery.allowance.programs };
            (0..written as usize)
                .map(|index| {
                    // Few texts where duplicates are told apart, so that there are some.
                    let many = if plan.search.duplicates == Duplicates::Skip { 40 } else { u64::MAX };
                    let text = format!("{:x}", mix(dice, index as u64) % many);
                    Message::Candidate(Arc::new(Candidate {
                        id: id(index),
                        program: Some(Arc::new(Program::new(Language::Python, text))),
                        origin: if message.kind() == Kind::Task { Origin::Draft } else { Origin::Repair },
                        parent,
                        author: node.name.clone(),
                        note: None,
                    }))
                })
                .collect()
        }
        ("executor", Message::Candidate(candidate)) => {
            let hash = candidate.program.as_ref().unwrap().hash();
            let dice = mix(seed, u64::from_str_radix(&hash.0[..15], 16).unwrap());
            let passed: Vec<bool> = (0..10).map(|test| !mix(dice, test).is_multiple_of(4)).collect();
            let skips = plan.search.duplicates == Duplicates::Skip;
            let twin = delivery.history.twin_of(candidate).and_then(|twin| delivery.history.report_of(twin));
            let twin = twin.filter(|_| skips);
            vec![Message::ExecutionReport(Arc::new(ExecutionReport {
                id: id(0),
                candidate: candidate.clone(),
                duplicate_of: twin.as_ref().map(|twin| twin.candidate.id),
                tests: Default::default(),
                judgement: Arc::new(judgement(&passed)),
            }))]
        }
        ("ranker", _) => {
            let width = usize::try_from(node.settings["beam_width"].as_u64().unwrap()).unwrap();
            let reports: Vec<_> = delivery
                .inbox
                .iter()
                .filter_map(|message| match message {
                    Message::ExecutionReport(report) => Some(report.clone()),
                    _ => None,
                })
                .collect();
            let row = |report: &Arc<ExecutionReport>| report.judgement.tests.iter().map(|test| test.score).collect();
            let scores: Vec<Vec<f64>> = reports.iter().map(row).collect();
            let kept = rolecall::selection::truncation(&scores, width);
            kept.into_iter().map(|index| Message::ExecutionReport(reports[index].clone())).collect()
        }
        (_, Message::ExecutionReport(report)) => {
            let wanted = usize::try_from(node.settings["diagnoses"].as_u64().unwrap()).unwrap();
            (0..wanted)
                .map(|index| {
                    Message::Diagnosis(Arc::new(Diagnosis {
                        id: id(index),
                        report: report.clone(),
                        text: format!("{index}"),
                        form: DiagnosisForm::BugSummary,
                        source: DiagnosisSource::Model,
                        intervention: None,
                    }))
                })
                .collect()
        }
        (role, message) => panic!("no made-up turn for {role} on {}", message.kind()),
    }
}

/// Somebody plans and somebody writes tests before the first draft; the executor runs `tests`.
pub fn briefed(tests: &str, programs: u32) -> Plan {
    plan(
        vec![
            node("analyst", "analyst", json!({})),
            node("tester", "tester", json!({ "tests": 3 })),
            node("synthesizer", "synthesizer", json!({ "drafts": 4 })),
            node("executor", "executor", json!({ "tests": tests })),
            node("debugger", "debugger", json!({})),
        ],
        &[
            ("task", "analyst"),
            ("analyst", "tester"),
            ("tester", "synthesizer"),
            ("synthesizer", "executor"),
            ("executor", "debugger"),
            ("debugger", "executor"),
        ],
        4,
        BudgetLimits { programs: Some(programs), ..Default::default() },
    )
}
