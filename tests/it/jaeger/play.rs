//! Arrangements played on the made-up stage, each turn traced as it retires.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use rolecall::{
    conversation::{Assignment, ConversationRecord, hold},
    domain::Task,
    ids::{MessageId, RunId},
    llm::{ChatModel, Parameters},
    messages::{Message, Origin},
    telemetry::{Endpoint, TraceOptions, TraceSummary, Traces, push},
    topology::Plan,
};
use tokio_util::sync::CancellationToken;

use super::server::LIMIT;
use crate::{
    stage::{MadeUpSandbox, assignment, company, on_stage},
    support::task,
};

/// A run on the stage, whose traces go to a collector and below a folder of its own.
pub struct Run {
    pub id: RunId,
    pub folder: tempfile::TempDir,
    traces: Arc<Traces>,
}

impl Run {
    pub fn to(endpoint: Option<Endpoint>) -> Self {
        let (id, folder) = (RunId::new(), tempfile::tempdir().unwrap());
        let options = TraceOptions { endpoint, ..TraceOptions::new(folder.path()) };
        Self { id, traces: Arc::new(Traces::open(id, options)), folder }
    }

    /// Holds `number` conversations, all at once. Every model call has parameters.
    pub fn hold(&self, plan: Plan, model: Arc<dyn ChatModel>, number: u32) -> Vec<ConversationRecord> {
        self.hold_about(task(5, None), plan, model, number)
    }

    /// The same about this task.
    pub fn hold_about(
        &self,
        about: Task,
        mut plan: Plan,
        model: Arc<dyn ChatModel>,
        number: u32,
    ) -> Vec<ConversationRecord> {
        for node in &mut plan.nodes {
            node.parameters =
                Parameters { temperature: Some(0.7.into()), max_output_tokens: Some(512), ..Parameters::default() };
        }
        let mut company = company(plan, model, MadeUpSandbox::by_text(), None);
        Arc::get_mut(&mut company).unwrap().observer = self.traces.clone();
        let run = self.id;
        on_stage(async move {
            let one = |sample| {
                let assignment = Assignment { run, ..assignment(about.clone(), sample) };
                hold(company.clone(), assignment, CancellationToken::new())
            };
            let held = futures_util::future::join_all((0..number).map(one)).await;
            held.into_iter().map(Result::unwrap).collect()
        })
    }

    /// The end of the run.
    pub fn finish(&self) -> TraceSummary {
        self.finish_within(LIMIT)
    }

    /// The end of a run that has little time left.
    pub fn finish_within(&self, limit: Duration) -> TraceSummary {
        self.traces.finish(limit)
    }

    pub fn files(&self) -> Vec<PathBuf> {
        files_below(self.folder.path())
    }
}

/// Delivers what of these files was not acknowledged.
pub fn pushed(files: &[PathBuf], endpoint: Endpoint, limit: Duration) -> TraceSummary {
    push(files, endpoint, limit).summary
}

/// The trace files below a folder.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let runs = fs::read_dir(folder).unwrap().map(|run| run.unwrap().path());
    let mut files: Vec<PathBuf> =
        runs.flat_map(|run| fs::read_dir(run).unwrap().map(|file| file.unwrap().path())).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    files
}

/// How many spans are in these files, by trace.
pub fn written(files: &[PathBuf]) -> BTreeMap<String, usize> {
    let mut traces: BTreeMap<String, usize> = BTreeMap::new();
    for file in files {
        for line in fs::read_to_string(file).unwrap().lines() {
            let request: ExportTraceServiceRequest = serde_json::from_str(line).unwrap();
            let scopes = request.resource_spans.iter().flat_map(|resource| &resource.scope_spans);
            for span in scopes.flat_map(|scope| &scope.spans) {
                let id = span.trace_id.iter().map(|byte| format!("{byte:02x}")).collect();
                *traces.entry(id).or_default() += 1;
            }
        }
    }
    traces
}

/// How many spans a conversation has, counted on its turns and not on the projection: a root and a beginning, its rounds,
/// every attempt of a turn with its calls and executions, and a handoff for what crosses into a round.
pub fn spans_of(record: &ConversationRecord) -> usize {
    let generation: BTreeMap<_, _> = record.turns.iter().map(|turn| (turn.seq, turn.generation)).collect();
    let rounds: BTreeSet<_> = record.turns.iter().map(|turn| turn.generation).collect();
    let mut handoffs = BTreeSet::new();
    let mut spans = 2 + rounds.len();
    for turn in &record.turns {
        for attempt in &turn.attempts {
            let runs = attempt.log.executions.iter().filter(|one| turn.role != "executor" || one.what != "run_tests");
            spans += 1 + attempt.log.calls.len() + attempt.log.posts.len() + runs.count();
        }
        match (turn.causes.first(), turn.inbox.first()) {
            (Some(cause), _) if generation[&cause.seq] != turn.generation => {
                handoffs.insert((cause.seq, turn.generation));
            }
            (None, Some(Message::Candidate(one))) if one.origin == Origin::Starter => {
                handoffs.insert((MessageId::STARTER.seq, turn.generation));
            }
            _ => {}
        }
    }
    spans + handoffs.len()
}

/// The ids of the traces of these conversations.
pub fn trace_ids(records: &[ConversationRecord]) -> Vec<String> {
    records.iter().map(|record| record.head.id.trace_id()).collect()
}
