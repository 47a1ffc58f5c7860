//! Hand-made records: a conversation is told turn by turn, with a clock of its own.

use std::sync::Arc;

use rolecall::{
    budget::BudgetKind,
    conversation::{ConversationEnd, ConversationHead, ConversationRecord, Outcome},
    domain::{
        Excerpt, FeedbackSet, Isolation, Judgement, Language, Limits, Program, Protocol, ScoredOn, Spend, Task,
        TestResult, TestSuite, Usage, Verdict,
    },
    ids::{ActorName, ConversationId, Generation, MessageId, RunId, Seq, TaskId},
    llm::{Attempt, ChatMessage, ChatRole, Choice, Draw, Parameters, Purpose},
    messages::{Candidate, Diagnosis, DiagnosisForm, DiagnosisSource, ExecutionReport, Message, Origin, TaskMessage},
    runtime::{
        Allowance, CallRecord, ExecutionRecord, Fault, Finished, Note, NoteValue, PromptUsed, Refusal, TurnLog,
        TurnRecord,
    },
};

/// Stands in every prompt, program, reply, test and server message: with content off, no span may hold it.
pub const SECRET: &str = "sk-SENTINEL-7c1f";

pub const START: u64 = 1_900_000_000_000_000_000;
const MS: u64 = 1_000_000;

pub struct Story {
    pub head: ConversationHead,
    pub turns: Vec<Arc<TurnRecord>>,
    now: u64,
    programs: u32,
}

impl Story {
    pub fn new(sample: u32) -> Self {
        let run = RunId(uuid::Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0001));
        let task = TaskId("interval-merge".to_owned());
        let names = ["synthesizer", "executor", "ranker", "instructor", "debugger"];
        let head = ConversationHead {
            id: ConversationId::derive(run, "seidr", &task, sample),
            run,
            topology: "seidr".to_owned(),
            topology_hash: "abc".to_owned(),
            code_version: "0".to_owned(),
            prompts: Default::default(),
            examples: Vec::new(),
            interventions: Vec::new(),
            arm: "seidr".to_owned(),
            task,
            dataset: "examples".to_owned(),
            sample,
            seed: u64::MAX,
            actors: names.map(|name| (ActorName(name.to_owned()), name.to_owned())).to_vec(),
            starter: None,
            feedback: FeedbackSet::Visible,
            feedback_tests: 2,
            scored_on: ScoredOn::Hidden,
            isolation: Isolation {
                backend: "user_namespaces".to_owned(),
                memory: "rlimit".to_owned(),
                pids: "rlimit".to_owned(),
                network: true,
                landlock_abi: 0,
            },
            compare: None,
            limits: Limits::default(),
            python_hash_seed: Some(0),
            notes: Vec::new(),
            started_ns: START,
        };
        Self { head, turns: Vec::new(), now: START, programs: 0 }
    }

    /// A turn of one successful attempt.
    pub fn turn(
        &mut self,
        actor: &str,
        generation: Generation,
        causes: &[MessageId],
        inbox: Vec<Message>,
        said: impl FnOnce(Seq) -> Vec<Message>,
    ) -> &mut TurnRecord {
        let seq = Seq::try_from(self.turns.len()).unwrap();
        let said = said(seq);
        let new = |message: &Message| matches!(message, Message::Candidate(one) if one.id.seq == seq);
        let first = self.programs + 1;
        let ids = said.iter().filter(|message| new(message)).map(|message| message.candidate().unwrap().id);
        let programs: Vec<(MessageId, u32)> = ids.zip(first..).collect();
        self.programs += u32::try_from(programs.len()).unwrap();
        let started_ns = self.now + MS;
        self.now = started_ns + 40 * MS;
        let finished =
            Finished { seq, attempt: 0, result: Ok(said), log: TurnLog::default(), started_ns, ended_ns: self.now };
        self.turns.push(Arc::new(TurnRecord {
            seq,
            actor: ActorName(actor.to_owned()),
            role: actor.to_owned(),
            generation,
            causes: causes.to_vec(),
            inbox,
            allowance: Allowance::default(),
            missing: Vec::new(),
            attempts: vec![finished],
            programs,
        }));
        Arc::get_mut(self.turns.last_mut().unwrap()).unwrap()
    }

    pub fn finish(self, outcome: Outcome) -> ConversationRecord {
        let mut spend = Spend::default();
        self.turns.iter().for_each(|turn| spend += turn.spend());
        spend.programs = self.programs;
        let end = ConversationEnd {
            outcome,
            outcome_detail: None,
            solved: outcome == Outcome::TestsPassed,
            starter_passed: false,
            best: self.turns.last().and_then(|turn| turn.messages().first()?.candidate().map(|one| one.id)),
            best_score: Some(1.0),
            hidden_verdict: Some(Verdict::Passed),
            programs_to_solve: Some(self.programs),
            patches: Default::default(),
            spend,
            infrastructure_error: false,
            refused: false,
            deterministic: true,
            ended_ns: self.now + MS,
        };
        ConversationRecord { head: self.head, turns: self.turns, end }
    }
}

/// Makes the first attempt of a turn a failed one, before the one that it has.
pub fn fail_first(turn: &mut TurnRecord, fault: Fault) {
    let mut failed = turn.attempts[0].clone();
    failed.result = Err(fault);
    failed.log = TurnLog::default();
    failed.ended_ns = failed.started_ns;
    turn.attempts[0].attempt = 1;
    turn.attempts.insert(0, failed);
}

pub fn log(turn: &mut TurnRecord) -> &mut TurnLog {
    &mut turn.attempts.last_mut().unwrap().log
}

pub fn id(seq: Seq, index: u32) -> MessageId {
    MessageId { seq, index }
}

pub fn task() -> Message {
    let tests = Arc::new(TestSuite::Assertions { code: SECRET.to_owned(), assertions: Vec::new() });
    let task = Task {
        id: TaskId("interval-merge".to_owned()),
        dataset: "examples".to_owned(),
        language: Language::Python,
        statement: format!("Merge intervals. {SECRET}"),
        entry_point: Some("merge".to_owned()),
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
    Message::Task(Arc::new(TaskMessage { task: Arc::new(task), starter: None, plan: None, generated: None }))
}

pub fn candidate(id: MessageId, parent: Option<MessageId>) -> Arc<Candidate> {
    let origin = match parent {
        _ if id == MessageId::STARTER => Origin::Starter,
        Some(_) => Origin::Repair,
        None => Origin::Draft,
    };
    Arc::new(Candidate {
        id,
        program: Some(Arc::new(Program::new(Language::Python, format!("# {id} {SECRET}\n")))),
        origin,
        parent,
        author: ActorName(if id == MessageId::STARTER { "task" } else { "synthesizer" }.to_owned()),
        note: Some("swap arguments".to_owned()),
    })
}

pub fn report(id: MessageId, candidate: &Arc<Candidate>, passed: usize) -> Arc<ExecutionReport> {
    let test = |index: usize| {
        let verdict = if index < passed { Verdict::Passed } else { Verdict::Wrong };
        TestResult {
            verdict,
            score: f64::from(u8::from(verdict == Verdict::Passed)),
            test: format!("assert merge({index}) == {SECRET}"),
            expected: Some(SECRET.to_owned()),
            actual: Some(SECRET.to_owned()),
            message: Some(SECRET.to_owned()),
            cpu_ms: Some(1),
        }
    };
    let tests: Vec<TestResult> = (0..4).map(test).collect();
    let judgement = Judgement {
        verdict: Verdict::of_program(tests.iter().map(|test| test.verdict)),
        tests,
        compile_output: None,
        stdout: Excerpt { text: SECRET.to_owned(), total_bytes: 10, truncated: false },
        stderr: Excerpt { text: SECRET.to_owned(), total_bytes: 10, truncated: false },
        cpu_ms: 12,
        wall_ms: 15,
        peak_memory_bytes: Some(9 << 20),
        protocol: Protocol::Split,
        limits: Limits::default(),
        near_limit: false,
        suspicious: vec![format!("line 3: exit({SECRET})")],
    };
    Arc::new(ExecutionReport {
        id,
        candidate: candidate.clone(),
        judgement: Arc::new(judgement),
        duplicate_of: None,
        tests: Default::default(),
    })
}

pub fn diagnosis(id: MessageId, report: &Arc<ExecutionReport>) -> Message {
    Message::Diagnosis(Arc::new(Diagnosis {
        id,
        report: report.clone(),
        text: format!("It forgets the last interval. {SECRET}"),
        form: DiagnosisForm::BugSummary,
        source: DiagnosisSource::Model,
        intervention: None,
    }))
}

/// A call inside `turn` that was answered at the second request.
pub fn call(turn: &TurnRecord, purpose: Purpose) -> CallRecord {
    let said = |content: &str| format!("{content} {SECRET}");
    let attempt = turn.attempts.last().unwrap();
    let request = |status, error: Option<&str>, started_ms| Attempt {
        status: Some(status),
        error: error.map(str::to_owned),
        started_ms,
        duration_ms: 3,
        adapted: Vec::new(),
        server: None,
        waited_ms: 0,
        first_token_ms: None,
        partial: None,
    };
    CallRecord {
        purpose,
        provider: "openai".to_owned(),
        model: "gpt-test".to_owned(),
        served_model: Some("gpt-test-2026".to_owned()),
        response_id: Some("chatcmpl-1".to_owned()),
        server_address: Some("llm.example".to_owned()),
        server_port: Some(8000),
        parameters: Parameters { temperature: Some(0.7.into()), max_output_tokens: Some(512), ..Parameters::default() },
        choices_wanted: 2,
        seed: 99,
        draw: Draw { sample: 0, first: 0, ordinal: 0 },
        messages: vec![ChatMessage { role: ChatRole::User, content: said("Write it.") }],
        shortened: Vec::new(),
        prompt: Some(PromptUsed { reference: "synthesizer/draft".to_owned(), hash: "beef".to_owned() }),
        choices: vec![Choice {
            text: said("def merge(): ..."),
            finish_reason: "stop".to_owned(),
            reasoning: Some(said("Hm.")),
            note: None,
            logprobs: None,
        }],
        usage: Usage { input_tokens: Some(120), output_tokens: Some(40), ..Default::default() },
        terms: Default::default(),
        attempts: vec![request(503, Some("unavailable"), 0), request(200, None, 5)],
        answered_from: None,
        error: None,
        started_ns: attempt.started_ns + MS,
        ended_ns: attempt.started_ns + 20 * MS,
    }
}

pub fn execution(turn: &TurnRecord, what: &str) -> ExecutionRecord {
    let attempt = turn.attempts.last().unwrap();
    ExecutionRecord {
        what: what.to_owned(),
        verdict: (what == "run_tests").then_some(Verdict::Wrong),
        cpu_ms: 12,
        error: None,
        started_ns: attempt.started_ns,
        ended_ns: attempt.started_ns,
    }
}

fn note(key: &str, value: NoteValue) -> Note {
    Note { key: key.to_owned(), value }
}

impl Story {
    /// An executor's turn on `candidate`, as message `cause`; gives its report.
    pub fn execute(
        &mut self,
        generation: Generation,
        cause: Option<MessageId>,
        candidate: &Arc<Candidate>,
        passed: usize,
    ) -> Arc<ExecutionReport> {
        let causes: Vec<MessageId> = cause.into_iter().collect();
        let seq = Seq::try_from(self.turns.len()).unwrap();
        let made = report(id(seq, 0), candidate, passed);
        let said = vec![Message::ExecutionReport(made.clone())];
        let turn = self.turn("executor", generation, &causes, vec![Message::Candidate(candidate.clone())], |_| said);
        let execution = execution(turn, "run_tests");
        log(turn).executions.push(execution);
        log(turn).notes.push(note("score", NoteValue::Number(f64::NAN)));
        made
    }

    /// A ranker's turn that keeps the best of `pool`; gives what it kept.
    pub fn rank(&mut self, generation: Generation, pool: &[Arc<ExecutionReport>]) -> (MessageId, Arc<ExecutionReport>) {
        let causes: Vec<MessageId> = pool.iter().map(|report| report.id).collect();
        let inbox = pool.iter().cloned().map(Message::ExecutionReport).collect();
        let best = pool.iter().max_by_key(|report| report.judgement.passed_tests()).unwrap().clone();
        let said = vec![Message::ExecutionReport(best.clone())];
        let turn = self.turn("ranker", generation, &causes, inbox, |_| said);
        log(turn).notes.push(note("kept", NoteValue::Count(1)));
        (id(turn.seq, 0), best)
    }

    /// An instructor's and a debugger's turn on a report that opens `generation`; gives the `repairs` candidates written.
    pub fn repair(
        &mut self,
        generation: Generation,
        cause: MessageId,
        report: &Arc<ExecutionReport>,
        repairs: u32,
    ) -> Vec<Arc<Candidate>> {
        let inbox = vec![Message::ExecutionReport(report.clone())];
        let turn = self.turn("instructor", generation, &[cause], inbox, |seq| vec![diagnosis(id(seq, 0), report)]);
        let asked = call(turn, Purpose::Diagnose);
        log(turn).calls.push(asked);
        let told = turn.messages().to_vec();
        let cause = id(turn.seq, 0);
        let parent = Some(report.candidate.id);
        let write = |seq| (0..repairs).map(|index| candidate(id(seq, index), parent)).map(Message::Candidate).collect();
        let turn = self.turn("debugger", generation, &[cause], told, write);
        let asked = call(turn, Purpose::Repair);
        let profiled = execution(turn, "profile");
        log(turn).calls.push(asked);
        log(turn).executions.push(profiled);
        turn.messages().iter().map(|message| message.candidate().unwrap().clone()).collect()
    }
}

/// SEIDR in small: a starter, two drafts, two rounds of repair, a fan-in each, a panic that a second attempt made good.
pub fn seidr(sample: u32) -> ConversationRecord {
    let mut story = Story::new(sample);
    let starter = candidate(MessageId::STARTER, None);
    story.head.starter = Some(starter.clone());
    let draft = |seq| [0, 1].map(|index| Message::Candidate(candidate(id(seq, index), None))).to_vec();
    let turn = story.turn("synthesizer", 0, &[], vec![task()], draft);
    let asked = call(turn, Purpose::Draft);
    log(turn).calls.push(asked);
    let drafts: Vec<Arc<Candidate>> = turn.messages().iter().map(|one| one.candidate().unwrap().clone()).collect();
    let mut pool = vec![story.execute(0, None, &starter, 1)];
    pool.extend(drafts.iter().enumerate().map(|(passed, one)| story.execute(0, Some(one.id), one, passed)));
    let turn = Arc::get_mut(&mut story.turns[2]).unwrap();
    fail_first(turn, Fault::Panic { message: format!("byte index 3 is not a char boundary of `{SECRET}`") });
    let mut kept = story.rank(0, &pool);
    for generation in [1, 2] {
        let repairs = story.repair(generation, kept.0, &kept.1, 2);
        let last = usize::try_from(generation).unwrap();
        let pool: Vec<_> = repairs
            .iter()
            .enumerate()
            .map(|(index, one)| story.execute(generation, Some(one.id), one, index + 2 * last - 1))
            .collect();
        kept = story.rank(generation, &pool);
    }
    story.finish(Outcome::TestsPassed)
}

/// A conversation that ends since its debugger has nothing left to spend.
pub fn refused() -> ConversationRecord {
    let mut story = Story::new(7);
    let draft = |seq| vec![Message::Candidate(candidate(id(seq, 0), None))];
    let turn = story.turn("synthesizer", 0, &[], vec![task()], draft);
    log(turn).refused = Some(Refusal::own(BudgetKind::ModelCalls));
    story.finish(Outcome::BudgetModelCalls)
}
