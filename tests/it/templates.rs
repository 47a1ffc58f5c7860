//! The built-in offline model, asked through the trait that roles know.

use std::{collections::BTreeSet, sync::Arc};

use rolecall::{
    domain::{
        Assertion, Judgement, Language, Limits, Profile, Program, ProgramHash, Task, TestCoverage, TestSuite, Verdict,
    },
    ids::TaskId,
    llm::{
        Ancestor, ChatModel, ChatReply, ChatRequest, Draw, ModelError, Parameters, Purpose, Sibling, Subject,
        templates::Templates,
    },
};

const SMALLEST: &str = "def smallest(xs):\n    best = xs[0]\n    for x in xs:\n        if x > best:\n            best = x\n    return best\n";

fn program(text: &str) -> Arc<Program> {
    Arc::new(Program::new(Language::Python, text))
}

fn judged(verdicts: &[Verdict]) -> Arc<Judgement> {
    let mut judgement = Judgement::no_code(verdicts.iter().map(|_| String::new()), Limits::default());
    for (test, verdict) in judgement.tests.iter_mut().zip(verdicts) {
        test.verdict = *verdict;
    }
    judgement.verdict = Verdict::of_program(verdicts.iter().copied());
    Arc::new(judgement)
}

fn request(purpose: Purpose, text: &str) -> ChatRequest {
    let assertion = Assertion { line: 1, text: "assert smallest([3, 1, 2]) == 1".to_owned() };
    let tests = Arc::new(TestSuite::Assertions { code: assertion.text.clone(), assertions: vec![assertion] });
    let task = Task {
        id: TaskId("smallest".to_owned()),
        dataset: "file".to_owned(),
        language: Language::Python,
        statement: "The smallest of some numbers.".to_owned(),
        entry_point: Some("smallest".to_owned()),
        signature: None,
        preamble: None,
        support: None,
        visible: tests.clone(),
        feedback: tests,
        source: None,
        starter: None,
        faulty_lines: Vec::new(),
        limits: Limits::default(),
    };
    let subject = Subject {
        judgement: Some(judged(&[Verdict::Wrong, Verdict::Passed])),
        seen: Arc::new(BTreeSet::from([program(text).hash()])),
        ..Subject::of(Arc::new(task), Some(program(text)))
    };
    ChatRequest {
        purpose,
        messages: Vec::new(),
        parameters: Parameters::default(),
        choices: 1,
        seed: 7,
        draw: Draw { sample: 0, first: 0, ordinal: 0 },
        subject,
        traceparent: None,
    }
}

fn ask(model: &Templates, request: &ChatRequest) -> Result<ChatReply, ModelError> {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(model.chat(request))
}

/// The program texts in a reply's fences.
fn texts(reply: &ChatReply) -> Vec<String> {
    let text = |text: &str| {
        let fence: String = text.chars().take_while(|c| *c == '`').collect();
        let rest = text.strip_prefix(&format!("{fence}python\n")).unwrap();
        rest.strip_suffix(&format!("{fence}\n")).unwrap().to_owned()
    };
    reply.choices.iter().map(|choice| text(&choice.text)).collect()
}

#[test]
fn it_says_what_it_is_and_answers() {
    let model = Templates::new();
    assert_eq!((model.info().name.as_str(), model.info().model.as_str()), ("templates", "templates"));
    assert!(model.wants_profile() && model.avoids_repeats() && !model.reads_prompt());
    let answers = [Purpose::Draft, Purpose::Repair, Purpose::Diagnose, Purpose::Judge].map(|p| model.answers(p));
    assert_eq!(answers, [true, true, false, false]);
    assert!(matches!(ask(&model, &request(Purpose::Diagnose, SMALLEST)), Err(ModelError::NothingToSay(_))));
    assert!(matches!(ask(&model, &request(Purpose::Judge, SMALLEST)), Err(ModelError::NothingToSay(_))));
}

#[test]
fn a_repair_without_a_program_is_nothing_to_say() {
    let mut request = request(Purpose::Repair, SMALLEST);
    request.subject.program = None;
    assert!(matches!(ask(&Templates::new(), &request), Err(ModelError::NothingToSay(_))));
    request.purpose = Purpose::Draft;
    assert!(matches!(ask(&Templates::new(), &request), Err(ModelError::NothingToSay(_))));
}

#[test]
fn the_repair_of_a_turned_comparison_comes_early() {
    let mut request = request(Purpose::Repair, SMALLEST);
    request.choices = 40;
    let reply = ask(&Templates::new(), &request).unwrap();
    let repaired = SMALLEST.replace("x > best", "x < best");
    let place = texts(&reply).iter().position(|text| *text == repaired).unwrap();
    assert_eq!(reply.choices[place].note.as_deref(), Some("comparison direction, line 4"));
    assert_eq!((reply.usage.input_tokens, reply.usage.output_tokens), (Some(0), Some(0)));
}

#[test]
fn turn_after_turn_no_program_comes_twice_until_none_is_left() {
    let model = Templates::new();
    let mut request = request(Purpose::Repair, "def f(a):\n    return a\n");
    request.choices = 64;
    let mut seen = BTreeSet::from([request.subject.program.as_ref().unwrap().hash()]);
    let mut both = 0;
    loop {
        request.subject.seen = Arc::new(seen.clone());
        request.seed += 1;
        match ask(&model, &request) {
            Ok(reply) => {
                assert!((1..=64).contains(&reply.choices.len()));
                both += reply.choices.iter().filter(|choice| choice.note.as_deref().unwrap().contains(';')).count();
                for text in texts(&reply) {
                    assert!(seen.insert(program(&text).hash()), "twice: {text}");
                }
            }
            Err(ModelError::NothingToSay(_)) => break,
            Err(other) => panic!("{other}"),
        }
    }
    assert!(seen.len() > 50, "{}", seen.len());
    assert!(both > 0, "pairs of edits follow the single ones");
}

#[test]
fn an_answer_is_a_function_of_the_request() {
    let mut request = request(Purpose::Repair, SMALLEST);
    request.choices = 200;
    let model = Templates::new();
    let first = ask(&model, &request).unwrap();
    assert_eq!(first, ask(&model, &request).unwrap(), "remembered");
    assert_eq!(first, ask(&Templates::new(), &request).unwrap(), "made again");
    request.seed += 1;
    assert_ne!(first, ask(&model, &request).unwrap(), "another seed");
}

#[test]
fn lines_that_failing_tests_execute_come_first() {
    let text = "def f(a):\n    if a < 0:\n        return a * 2\n    return a * 3\n";
    let mut request = request(Purpose::Repair, text);
    request.choices = 20;
    let on_line_3 = |request: &ChatRequest| {
        let reply = ask(&Templates::new(), request).unwrap();
        reply.choices.iter().filter(|choice| choice.note.as_deref().unwrap().ends_with("line 3")).count()
    };
    let blind = on_line_3(&request);
    let test = |verdict, lines: &[u32]| TestCoverage { verdict, lines: lines.iter().copied().collect() };
    let tests = vec![test(Verdict::Wrong, &[2, 3]), test(Verdict::Passed, &[2, 4])];
    request.subject.profile = Some(Arc::new(Profile { tests, ..Profile::default() }));
    let guided = on_line_3(&request);
    assert!(guided >= 15 && guided > blind, "{guided} with, {blind} without a profile");
}

#[test]
fn a_line_where_a_sibling_did_better_is_tried_more() {
    let mut request = request(Purpose::Repair, SMALLEST);
    request.choices = 60;
    let on_line_6 = |request: &ChatRequest| {
        let reply = ask(&Templates::new(), request).unwrap();
        reply.choices.iter().filter(|choice| choice.note.as_deref().unwrap().ends_with("line 6")).count()
    };
    let before = on_line_6(&request);
    let better = |text: &str| Sibling {
        program: program(&SMALLEST.replace("return best", text)),
        judgement: judged(&[Verdict::Passed, Verdict::Passed]),
    };
    request.subject.siblings = vec![better("return best - 1"), better("return best + 1")];
    let after = on_line_6(&request);
    assert!(after > before, "{before} before, {after} after");
}

/// A program made from [`SMALLEST`] by an edit of its last line, with what the tests said of both.
fn descendant(passed_before: usize, passed: usize) -> ChatRequest {
    let verdicts = |passed| (0..4).map(|test| if test < passed { Verdict::Passed } else { Verdict::Wrong }).collect();
    let (before, after): (Vec<Verdict>, Vec<Verdict>) = (verdicts(passed_before), verdicts(passed));
    let mut request = request(Purpose::Repair, &SMALLEST.replace("return best", "return best + 1"));
    let ancestor = Ancestor {
        program: program(SMALLEST),
        judgement: judged(&before),
        profile: None,
        siblings: Vec::new(),
        diagnosis: None,
    };
    request.subject.judgement = Some(judged(&after));
    request.subject.ancestors = vec![ancestor];
    request.choices = 60;
    request
}

#[test]
fn a_program_that_is_no_better_than_its_parent_is_a_detour() {
    let model = Templates::new();
    let of_detour = texts(&ask(&model, &descendant(2, 2)).unwrap());
    assert!(of_detour.iter().all(|text| !text.contains("best + 1") || !text.contains("x < best")), "its edits wait");
    assert!(of_detour.contains(&SMALLEST.replace("x > best", "x < best")), "its parent's are tried");
}

#[test]
fn edits_of_a_better_program_and_of_its_parent_are_tried() {
    let of_better = texts(&ask(&Templates::new(), &descendant(1, 2)).unwrap());
    let repaired = SMALLEST.replace("x > best", "x < best");
    assert!(of_better.contains(&repaired));
    assert!(of_better.contains(&repaired.replace("return best", "return best + 1")));
}

#[test]
fn symptoms_of_failing_tests_decide_what_comes_first() {
    let text = "def f(a):\n    if a:\n        return a\n    f(a - 1)\n";
    let first = |actual: &str| {
        let mut request = request(Purpose::Repair, text);
        let mut judgement = Judgement::clone(request.subject.judgement.as_ref().unwrap());
        judgement.tests[0].actual = Some(actual.to_owned());
        judgement.tests[0].expected = Some("5".to_owned());
        request.subject.judgement = Some(Arc::new(judgement));
        request.choices = 100;
        let repaired = text.replace("    f(a", "    return f(a");
        texts(&ask(&Templates::new(), &request).unwrap()).iter().position(|other| *other == repaired).unwrap()
    };
    assert!(first("None") < first("17"), "{} {}", first("None"), first("17"));
}

#[test]
fn drafts_use_no_feedback_and_differ_by_seed() {
    let mut request = request(Purpose::Draft, SMALLEST);
    request.choices = 30;
    let model = Templates::new();
    let first = ask(&model, &request).unwrap();
    request.subject.judgement = None;
    let test = TestCoverage { verdict: Verdict::Wrong, lines: BTreeSet::from([4]) };
    request.subject.profile = Some(Arc::new(Profile { tests: vec![test], ..Profile::default() }));
    assert_eq!(first, ask(&model, &request).unwrap());
    request.seed += 1;
    assert_ne!(first, ask(&model, &request).unwrap());
}

#[test]
fn programs_that_were_seen_are_left_out() {
    let model = Templates::new();
    let mut request = request(Purpose::Draft, SMALLEST);
    request.choices = 10;
    let first: BTreeSet<ProgramHash> =
        texts(&ask(&model, &request).unwrap()).iter().map(|text| program(text).hash()).collect();
    request.subject.seen = Arc::new(first.clone());
    let second = texts(&ask(&model, &request).unwrap());
    assert_eq!((first.len(), second.len()), (10, 10));
    assert!(second.iter().all(|text| !first.contains(&program(text).hash())));
}

#[test]
fn odd_programs_give_an_answer_or_nothing() {
    let long = format!("def f(a):\n{}    return a\n", "    a = a + 1\n".repeat(8_000));
    let wide = format!("x = [{}]\n", "1, ".repeat(10_000));
    let deep = format!("x = {}1{}\n", "(".repeat(3_000), ")".repeat(3_000));
    let nested = format!("x = {}\n", "[".repeat(50_000));
    let odd = [
        "",
        "\n\n\n",
        "def f(:\n",
        "# only a comment",
        "\u{feff}def f(a):\n    return a\n",
        "def f(a):\n\treturn a + 1\n",
        "def f(a):\r\n    return a + 1\r\n",
        "def größe(é):\n    return é + 'ß' + \"𝔘\"\n",
        "x = 1; y = 2; print(x, y)",
        "while True: pass",
        "class A:\n    def f(self):\n        self.x = 1\n        return self.x\n",
        "def f(a): return f'{a + 1}' '''```'''\n",
        "lambda: (yield)\n",
        "\0\0\0",
        "match a:\n    case [x, y]:\n        pass\n",
        long.as_str(),
        wide.as_str(),
        deep.as_str(),
        nested.as_str(),
    ];
    let model = Templates::new();
    for text in odd {
        let mut request = request(Purpose::Repair, text);
        request.choices = 50;
        match ask(&model, &request) {
            Ok(reply) => assert!(texts(&reply).iter().all(|other| other != text)),
            Err(error) => assert!(matches!(error, ModelError::NothingToSay(_)), "{error}"),
        }
    }
}

#[test]
fn a_fence_is_longer_than_any_in_the_program() {
    let text = "def f(a):\n    '''\n    ```` example\n    '''\n    return a\n";
    let reply = ask(&Templates::new(), &request(Purpose::Repair, text)).unwrap();
    assert!(reply.choices[0].text.starts_with("`````python\n"));
    assert!(texts(&reply)[0].contains("```` example"));
}

#[test]
fn line_endings_of_the_program_are_kept() {
    let mut request =
        request(Purpose::Repair, "def f(a):\r\n    b = []\r\n    for c in a:\r\n        pass\r\n    return b\r\n");
    request.choices = 300;
    for text in texts(&ask(&Templates::new(), &request).unwrap()) {
        assert!(!text.replace("\r\n", "").contains('\n'), "{text:?}");
    }
}
