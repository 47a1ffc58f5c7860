//! A stage for tests of conversations: a real cast on a real actor system, with a made-up sandbox and scripted models.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

use futures_util::future::BoxFuture;
use rolecall::{
    conversation::{
        Assignment, Company, ConversationEnd, ConversationHead, ConversationRecord, MemoryJournal, Observer, hold,
    },
    domain::{FeedbackSet, Isolation, Judgement, Problem, Profile, Task},
    ids::{ActorName, ConversationId, RunId},
    llm::{ChatModel, Purpose, scripted::Scripted},
    prompts::Prompt,
    runtime::{Scene, Seat, TurnRecord, Watch},
    sandbox::{Job, Sandbox, SandboxError},
    topology::Plan,
};
use tokio_util::sync::CancellationToken;

use crate::support::{judgement, mix};

type Judge = Box<dyn Fn(&Job) -> Result<Judgement, SandboxError> + Send + Sync>;

/// A sandbox that runs nothing: what a program is worth is made up from its text.
pub struct MadeUpSandbox {
    isolation: Isolation,
    judge: Judge,
    pub executions: AtomicUsize,
}

impl MadeUpSandbox {
    pub fn new(judge: impl Fn(&Job) -> Result<Judgement, SandboxError> + Send + Sync + 'static) -> Arc<Self> {
        let isolation = Isolation {
            backend: "made up".to_owned(),
            memory: "none".to_owned(),
            pids: "none".to_owned(),
            network: false,
            landlock_abi: 0,
        };
        Arc::new(Self { isolation, judge: Box::new(judge), executions: AtomicUsize::new(0) })
    }

    /// One test in ten passes, from the text alone; a program `return x` passes all.
    pub fn by_text() -> Arc<Self> {
        Self::new(|job| {
            let tests = job.tests.len();
            if job.program.text.contains("return x") {
                return Ok(judgement(&vec![true; tests]));
            }
            let dice = u64::from_str_radix(&job.program.hash().0[..15], 16).unwrap();
            Ok(judgement(&(0..tests as u64).map(|test| mix(dice, test).is_multiple_of(10)).collect::<Vec<_>>()))
        })
    }
}

impl Sandbox for MadeUpSandbox {
    fn isolation(&self) -> &Isolation {
        &self.isolation
    }

    fn judge<'a>(&'a self, job: &'a Job, _: &'a CancellationToken) -> BoxFuture<'a, Result<Judgement, SandboxError>> {
        self.executions.fetch_add(1, SeqCst);
        Box::pin(async move { (self.judge)(job) })
    }

    fn profile<'a>(&'a self, _: &'a Job, _: &'a CancellationToken) -> BoxFuture<'a, Result<Profile, SandboxError>> {
        Box::pin(async { Ok(Profile::default()) })
    }
}

/// Keeps what it is told.
#[derive(Default)]
pub struct Notebook {
    pub retired: Mutex<Vec<TurnRecord>>,
}

impl Observer for Notebook {
    fn started(&self, _: &Arc<ConversationHead>) {}
    fn retired(&self, _: &ConversationHead, turn: &Arc<TurnRecord>) {
        self.retired.lock().unwrap().push(TurnRecord::clone(turn));
    }
    fn ended<'a>(&'a self, _: &'a ConversationHead, _: &'a ConversationEnd) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }
}

/// A model that answers every request with a program or a diagnosis made up from the request's seed.
pub fn talkative() -> Arc<Scripted> {
    Arc::new(Scripted::with(|request, _| {
        let texts: Vec<String> =
            (0..request.choices).map(|choice| reply(mix(request.seed, u64::from(choice)))).collect();
        rolecall::llm::scripted::Line::say_all(texts).usage(10, 5)
    }))
}

fn reply(number: u64) -> String {
    format!("Here it is.\n```python\ndef f(x):\n    return {number}\n```\n")
}

/// A company that plays `plan` with one model for all.
pub fn company(plan: Plan, model: Arc<dyn ChatModel>, sandbox: Arc<dyn Sandbox>, watch: Option<Watch>) -> Arc<Company> {
    let mut models: BTreeMap<ActorName, Arc<dyn ChatModel>> = BTreeMap::new();
    let mut prompts = BTreeMap::new();
    for node in plan.nodes.iter().filter(|node| !node.spec.asks.is_empty()) {
        models.insert(node.name.clone(), model.clone());
        // The plan's own, where it comes from a file.
        let reference = |key: &str| node.prompts.get(key).map(|prompt| prompt.reference.as_str());
        let of_node = node
            .spec
            .prompts
            .iter()
            .map(|one| (one.key.to_owned(), prompt(one.purpose, reference(one.key).unwrap_or(one.default))));
        prompts.insert(node.name.clone(), of_node.collect());
    }
    Arc::new(Company {
        plan: Arc::new(plan),
        models,
        prompts,
        sandbox,
        journal: Arc::new(MemoryJournal::default()),
        watch,
        observer: Arc::new(Notebook::default()),
        placebos: Arc::default(),
        examples: Arc::default(),
        budgets: Arc::default(),
    })
}

fn prompt(purpose: Purpose, reference: &str) -> Arc<Prompt> {
    let path = format!("prompts/{reference}.md");
    let text = rolecall::config::embedded_file(&path).unwrap();
    Arc::new(Prompt::load(purpose, reference, text).unwrap())
}

pub fn assignment(task: Task, sample: u32) -> Assignment {
    let problem = Problem {
        task: Arc::new(task),
        feedback: FeedbackSet::Visible,
        validation: None,
        hidden: None,
        reference: None,
        notes: Vec::new(),
    };
    Assignment {
        run: RunId(uuid::Uuid::nil()),
        arm: "arm".to_owned(),
        problem: Arc::new(problem),
        sample,
        seed: 7,
        is_booked: false,
    }
}

/// A seat for one actor alone, in sample 0 of an [`assignment`] of this task; without a model.
pub fn seat(actor: &str, task: Task) -> Arc<Seat> {
    let scene = Scene {
        conversation: ConversationId(uuid::Uuid::nil()),
        task: Arc::new(task),
        sample: 0,
        seed: 7,
        sandbox: MadeUpSandbox::by_text(),
        answers: None,
        watch: None,
        purse: Default::default(),
        profiles: Mutex::default(),
    };
    Arc::new(Seat {
        actor: ActorName(actor.to_owned()),
        model: None,
        parameters: Default::default(),
        prompts: BTreeMap::new(),
        examples: Arc::default(),
        scene: Arc::new(scene),
    })
}

/// Runs `body` on an actor system of its own.
pub fn on_stage<T>(body: impl Future<Output = T>) -> T {
    let runtime = || tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    actix::System::with_tokio_rt(runtime).block_on(body)
}

/// Holds several conversations at once, samples 0 to `number` - 1 of one task, at most `at_once` together.
pub async fn hold_all(company: &Arc<Company>, task: &Task, number: u32, at_once: usize) -> Vec<ConversationRecord> {
    let door = Arc::new(tokio::sync::Semaphore::new(at_once));
    let conversations = (0..number).map(|sample| {
        let (company, door, task) = (company.clone(), door.clone(), task.clone());
        async move {
            let _permit = door.acquire_owned().await.unwrap();
            hold(company, assignment(task, sample), CancellationToken::new()).await.unwrap()
        }
    });
    futures_util::future::join_all(conversations).await
}
