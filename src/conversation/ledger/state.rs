use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
};

use super::{Command, Delivery, Ending, Event, Opening, spending::Spending};
use crate::{
    agents,
    budget::{BudgetKind, Meter},
    conversation::{Outcome, Placebo, StopReason},
    domain::{Patches, Program, Slots, Spend},
    ids::{Generation, MessageId, Seq, TaskId},
    messages::{ExecutionReport, Kind, Message},
    runtime::{Fault, Finished, HistoryLog, TurnRecord},
    topology::{Duplicates, Node, Plan, Source},
};

/// More panics of one actor than this end the conversation.
const MOST_PANICS: u32 = 5;

/// With unlimited parallel turns, as many drafts of `drafts = "budget"` are under way.
const MOST_DRAFTS_UNDER_WAY: u32 = 64;

/// A numbered delivery that has not started.
pub(super) struct Queued {
    pub(super) seq: Seq,
    pub(super) to: usize,
    pub(super) generation: Generation,
    pub(super) inbox: Vec<Message>,
    pub(super) causes: Vec<MessageId>,
    pub(super) missing: Vec<usize>,
    /// Programs that it wants to write, where its place in the round says.
    pub(super) wanted: Option<u32>,
}

/// What a delivery brings.
#[derive(Default)]
pub(super) struct Load {
    pub(super) inbox: Vec<Message>,
    pub(super) causes: Vec<MessageId>,
    pub(super) missing: Vec<usize>,
    pub(super) wanted: Option<u32>,
}

impl Load {
    /// One message that no turn said.
    fn of(message: Message) -> Self {
        Self { inbox: vec![message], ..Self::default() }
    }
}

impl From<Part> for Load {
    fn from(part: Part) -> Self {
        Self { inbox: vec![part.message], causes: vec![part.id], ..Self::default() }
    }
}

/// A turn under way, with the attempts that failed.
pub(super) struct Running {
    pub(super) delivery: Delivery,
    pub(super) failed: Vec<Finished>,
}

/// A turn that waits to retire.
pub(super) enum Done {
    Taken(Box<Delivery>, Vec<Finished>),
    /// It was never started, since there was nothing left to spend.
    Skipped(Generation),
}

/// A message that waits for its round to be over.
#[derive(Clone)]
pub(super) struct Part {
    pub(super) from: usize,
    pub(super) id: MessageId,
    pub(super) message: Message,
}

/// The conversation's core. See the module.
pub struct Ledger {
    pub(super) plan: Arc<Plan>,
    pub(super) history: Arc<HistoryLog>,
    pub(super) next: Seq,
    pub(super) retired: Seq,
    pub(super) queue: VecDeque<Queued>,
    pub(super) running: BTreeMap<Seq, Running>,
    pub(super) done: BTreeMap<Seq, Done>,
    /// Waiting parts by generation, rank of the gathering actor and its index.
    pub(super) gathers: BTreeMap<(Generation, u32, usize), Vec<Part>>,
    /// Deliveries queued, running or waiting to retire, by generation.
    pub(super) open: BTreeMap<Generation, u32>,
    /// Task deliveries held back until the starter has been judged.
    pub(super) held: Vec<(usize, Message)>,
    pub(super) starter_open: u32,
    pub(super) programs: Meter,
    /// The programs of each round, under a schedule of widths.
    pub(super) widths: BTreeMap<Generation, Meter>,
    pub(super) spending: Spending,
    pub(super) slots_reserved: u32,
    pub(super) starts: BTreeMap<usize, u32>,
    pub(super) most_calls: BTreeMap<(usize, Kind), u32>,
    pub(super) exclusive_under_way: bool,
    pub(super) executions_open: u32,
    pub(super) executed: BTreeSet<MessageId>,
    /// Candidates whose execution has not retired.
    pub(super) executing: BTreeSet<MessageId>,
    pub(super) judged: BTreeSet<MessageId>,
    pub(super) numbers: BTreeMap<MessageId, u32>,
    pub(super) panics: BTreeMap<usize, u32>,
    /// No turn that asks a model starts any more; what is left is executed.
    pub(super) closing: Option<(Outcome, String)>,
    /// Actors that start no turn any more in which they ask, since their own budgets are spent.
    pub(super) closed: BTreeMap<usize, (Outcome, String)>,
    /// Something that another run may find otherwise had its say: other conversations, or the clock.
    pub(super) disturbed: bool,
    pub(super) cut_by_generations: bool,
    pub(super) task: Option<Message>,
    pub(super) ending: Option<Ending>,
    pub(super) best: Option<(f64, Arc<ExecutionReport>)>,
    /// The round in which the best was found.
    pub(super) improved_in: Generation,
    pub(super) best_failing: Option<(f64, Part)>,
    /// All failing programs so far, duplicates left out.
    pub(super) failing: Vec<Part>,
    /// The parents of the last round that each actor opened.
    pub(super) last_parents: BTreeMap<usize, Vec<Part>>,
    pub(super) first_pass: Option<MessageId>,
    pub(super) patches: Patches,
    pub(super) seed: u64,
    pub(super) reference: Option<Arc<Program>>,
    pub(super) placebos: Arc<[Placebo]>,
    pub(super) spend: Spend,
    ended: bool,
}

impl Ledger {
    /// A ledger for one conversation under `plan`.
    pub fn new(plan: Arc<Plan>) -> Self {
        let mut most_calls = BTreeMap::new();
        for (index, node) in plan.nodes.iter().enumerate().filter(|(_, node)| node.model.is_some()) {
            for (kind, _) in node.spec.asks {
                let programs = match node.slots.get(kind) {
                    Some(Slots::Fixed(number)) => *number,
                    Some(Slots::Budget) => 1,
                    None => 0,
                };
                let calls = agents::role(node.spec.name).map_or(0, |role| role.calls(&node.settings, *kind, programs));
                // Under some settings a role asks nothing: then it takes its turns after the last call too.
                if calls > 0 {
                    most_calls.insert((index, *kind), calls);
                }
            }
        }
        Self {
            history: Arc::new(HistoryLog::new(plan.search.duplicates == Duplicates::Skip)),
            next: 0,
            retired: 0,
            queue: VecDeque::new(),
            running: BTreeMap::new(),
            done: BTreeMap::new(),
            gathers: BTreeMap::new(),
            open: BTreeMap::new(),
            held: Vec::new(),
            starter_open: 0,
            programs: Meter::new(plan.budget.programs),
            widths: BTreeMap::new(),
            spending: Spending::new(&plan),
            slots_reserved: 0,
            starts: BTreeMap::new(),
            most_calls,
            exclusive_under_way: false,
            executions_open: 0,
            executed: BTreeSet::new(),
            executing: BTreeSet::new(),
            judged: BTreeSet::new(),
            numbers: BTreeMap::new(),
            panics: BTreeMap::new(),
            closing: None,
            closed: BTreeMap::new(),
            disturbed: false,
            cut_by_generations: false,
            task: None,
            ending: None,
            best: None,
            improved_in: 0,
            best_failing: None,
            failing: Vec::new(),
            last_parents: BTreeMap::new(),
            first_pass: None,
            patches: Patches::default(),
            seed: 0,
            reference: None,
            placebos: Arc::default(),
            spend: Spend::default(),
            ended: false,
            plan,
        }
    }

    /// Takes an event; gives what follows from it, in the order in which it must be done.
    pub fn apply(&mut self, event: Event) -> Vec<Command> {
        let mut commands = Vec::new();
        if self.ended {
            return commands;
        }
        match event {
            Event::Begin(opening) => self.begin(opening),
            Event::Settled(finished) => self.settle(finished, &mut commands),
            Event::Stop(reason) => {
                let (outcome, detail) = match reason {
                    StopReason::Wall => {
                        let limit = self.plan.budget.wall_secs.map(|limit| format!("wall_secs = {limit}"));
                        (Outcome::BudgetWall, limit)
                    }
                    StopReason::SharedWall(words) => (Outcome::BudgetWall, Some(words)),
                    StopReason::Cancelled => (Outcome::Cancelled, None),
                };
                self.end_as(outcome, detail);
                if let Some(ending) = &mut self.ending {
                    ending.deterministic = false;
                }
            }
        }
        self.advance(&mut commands);
        commands
    }

    fn begin(&mut self, opening: Opening) {
        let plan = self.plan.clone();
        (self.seed, self.reference, self.placebos) = (opening.seed, opening.reference, opening.placebos);
        let task = Message::Task(opening.task);
        self.task = Some(task.clone());
        if let Some(starter) = opening.starter {
            self.history.add_starter(&starter);
            let from_task = plan.edges_from(Source::Task).map(|edge| edge.to);
            let drafting = plan.drafting().next().into_iter();
            let from_drafting = drafting.flat_map(|index| plan.edges_from(Source::Actor(index)).map(|edge| edge.to));
            let targets: BTreeSet<usize> = from_task.chain(from_drafting).collect();
            for to in targets {
                if plan.nodes[to].spec.accepts.contains(&Kind::Candidate) {
                    self.starter_open += 1;
                    self.release(to, 0, Load::of(Message::Candidate(starter.clone())));
                }
            }
        }
        let has_starter = self.starter_open > 0;
        for edge in plan.edges_from(Source::Task) {
            let node = &plan.nodes[edge.to];
            if node.spec.accepts.contains(&Kind::Task) {
                for _ in 0..self.first_deliveries(node, has_starter) {
                    self.held.push((edge.to, task.clone()));
                }
            }
        }
        if !has_starter {
            self.release_held();
        }
    }

    /// How often the task is delivered at the beginning.
    fn first_deliveries(&self, node: &Node, has_starter: bool) -> u32 {
        let shared = self.plan.search.width(0).filter(|_| node.shares.contains(&Kind::Task)).map(Slots::Fixed);
        match shared.as_ref().or_else(|| node.slots.get(&Kind::Task)) {
            Some(Slots::Budget) => self.plan.parallel_turns.min(MOST_DRAFTS_UNDER_WAY),
            // The starter takes the place of the only draft.
            Some(Slots::Fixed(1)) if has_starter => 0,
            Some(Slots::Fixed(_)) | None => 1,
        }
    }

    pub(super) fn release_held(&mut self) {
        for (to, message) in std::mem::take(&mut self.held) {
            self.release(to, 0, Load::of(message));
        }
    }

    /// Numbers a delivery and queues it.
    pub(super) fn release(&mut self, to: usize, generation: Generation, load: Load) {
        let Load { inbox, causes, missing, wanted } = load;
        *self.open.entry(generation).or_default() += 1;
        self.executions_open += u32::from(self.plan.nodes[to].spec.evaluates);
        self.queue.push_back(Queued { seq: self.next, to, generation, inbox, causes, missing, wanted });
        self.next += 1;
    }

    fn settle(&mut self, finished: Finished, commands: &mut Vec<Command>) {
        let known = self.running.get(&finished.seq).is_some_and(|running| running.delivery.attempt == finished.attempt);
        // A late or doubled answer changes nothing.
        let Some(mut running) = known.then(|| self.running.remove(&finished.seq)).flatten() else { return };
        let seq = finished.seq;
        let fault = finished.result.as_ref().err().cloned();
        let retry = fault.as_ref().is_some_and(Fault::is_retryable) && finished.attempt == 0;
        let charge = finished.log.charge();
        running.failed.push(finished);
        if matches!(fault, Some(Fault::Panic { .. })) {
            *self.panics.entry(running.delivery.to).or_default() += 1;
        }
        if retry && !self.panics_too_often(running.delivery.to) {
            running.delivery.attempt = 1;
            // What the first attempt took is gone.
            let allowance = running.delivery.allowance.after(&charge);
            commands.push(Command::Start(Box::new(Delivery { allowance, ..running.delivery.clone() })));
            self.running.insert(seq, running);
        } else {
            self.done.insert(seq, Done::Taken(Box::new(running.delivery), running.failed));
        }
    }

    pub(super) fn panics_too_often(&self, actor: usize) -> bool {
        self.panics.get(&actor).is_some_and(|panics| *panics > MOST_PANICS)
    }

    /// Retire, gather, permit, until nothing moves; then end, if nothing is under way.
    fn advance(&mut self, commands: &mut Vec<Command>) {
        loop {
            if let Some(done) = self.done.remove(&self.retired) {
                self.retired += 1;
                self.retire(done, commands);
                self.gather();
                // At once, before the next turn retires: what may start must not depend on what else is finished.
                self.permit(commands);
                continue;
            }
            self.permit(commands);
            if self.done.contains_key(&self.retired) {
                continue;
            }
            if !self.running.is_empty() || !self.done.is_empty() || !self.queue.is_empty() {
                return;
            }
            if self.ending.is_none() {
                let (outcome, detail) = self.outcome_of_silence();
                self.end_as(outcome, detail);
            }
            if let Some(mut ending) = self.ending.take() {
                ending.best = self.best.take().map(|(_, report)| report);
                ending.spend = self.spend;
                ending.patches = self.patches;
                ending.starter_passed = self.first_pass == Some(MessageId::STARTER);
                ending.deterministic &= !self.disturbed;
                ending.programs_to_solve = self.first_pass.and_then(|id| self.numbers.get(&id).copied());
                self.ended = true;
                commands.push(Command::End(Box::new(ending)));
            }
            return;
        }
    }

    /// Why nobody has anything more to say, with the limit that was met.
    fn outcome_of_silence(&self) -> (Outcome, Option<String>) {
        if let Some((outcome, detail)) = &self.closing {
            return (*outcome, Some(detail.clone()));
        }
        if self.programs.is_exhausted() {
            return (Outcome::BudgetPrograms, self.programs_limit());
        }
        if let Some((outcome, detail)) = self.closed.values().next() {
            return (*outcome, Some(detail.clone()));
        }
        if self.cut_by_generations {
            let search = &self.plan.search;
            let detail = match (search.last_round(), self.plan.budget.generations) {
                (Some(last), most) if most.is_none_or(|most| last <= most) => format!("widths = {:?}", search.widths),
                (_, most) => format!("generations = {}", most.unwrap_or_default()),
            };
            return (Outcome::BudgetGenerations, Some(detail));
        }
        (Outcome::NothingLeft, None)
    }

    pub(super) fn programs_limit(&self) -> Option<String> {
        self.plan.budget.programs.map(|limit| format!("programs = {limit}"))
    }

    /// That a turn found a budget used up: what is written is still executed, but nobody asks any more; where it is the
    /// actor's own (`own`), only that actor does not. `shared` are the words of a budget that other conversations share.
    pub(super) fn close(&mut self, kind: BudgetKind, own: bool, shared: Option<&str>, (seq, actor): (Seq, usize)) {
        let name = self.plan.nodes[actor].name.0.as_str();
        let limit = match shared {
            Some(words) => words.to_owned(),
            None => self.spending.words(own.then_some((actor, name)), kind),
        };
        let detail = format!("{limit}: not enough is left for {name}, turn {seq}");
        let closed = (Outcome::of_budget(kind), detail);
        // What others spend, and how long a server takes, may be otherwise in another run.
        self.disturbed |= shared.is_some() || kind == BudgetKind::GpuSecs;
        if own {
            self.closed.entry(actor).or_insert(closed);
        } else {
            self.closing.get_or_insert(closed);
        }
    }

    /// Fixes why the conversation ends, unless that is fixed already. Turns under way go on to their end.
    pub(super) fn end_as(&mut self, outcome: Outcome, detail: Option<String>) {
        self.ending.get_or_insert(Ending {
            outcome,
            detail,
            best: None,
            starter_passed: false,
            programs_to_solve: None,
            patches: Patches::default(),
            spend: Spend::default(),
            infrastructure_error: false,
            refused: false,
            deterministic: true,
        });
    }

    /// Which task it is.
    pub(super) fn task_id(&self) -> Option<TaskId> {
        match &self.task {
            Some(Message::Task(task)) => Some(task.task.id.clone()),
            _ => None,
        }
    }

    pub(super) fn write_down(&mut self, from: usize, record: TurnRecord, commands: &mut Vec<Command>) {
        let record = Arc::new(record);
        self.history.push(record.clone(), &self.heard_instead(from, record.messages()));
        commands.push(Command::Retired(record));
    }
}
