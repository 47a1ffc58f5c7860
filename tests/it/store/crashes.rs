//! A crash after every commit, and one before: whatever was stored is not asked for again, and the conversation ends as if
//! nothing had happened.

use std::{
    future::pending,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

use futures_util::future::BoxFuture;
use rolecall::{
    budget::Charge,
    conversation::{
        Begun, CacheMode, Company, ConversationHead, ConversationRecord, Journal, JournalError, StoreJournal, hold,
        kept_records,
    },
    ids::{CallPlace, ConversationId, RunId},
    llm::{ChatReply, scripted::Scripted},
    runtime::{AnswerKey, AnsweredFrom, Answers, CallInDoubt, Finished, NotKept},
    store::{RunRow, RunState, Store},
};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::{result_part, result_rows};
use crate::{
    stage::{MadeUpSandbox, assignment, company, on_stage, talkative},
    support::{seidr, task},
};

/// Whether a crash comes just before a write is committed or just after.
#[derive(Clone, Copy, Debug, PartialEq)]
enum When {
    Before,
    After,
}

/// A journal whose process dies at one of its writes: from then on nothing is stored and nothing answered.
struct Crashing {
    journal: Arc<StoreJournal>,
    writes: AtomicUsize,
    at: Option<(usize, When)>,
    crashed: Notify,
}

impl Crashing {
    fn new(store: Arc<Store>, at: Option<(usize, When)>) -> Arc<Self> {
        let journal = Arc::new(StoreJournal::new(store, CacheMode::Off, CancellationToken::new()));
        Arc::new(Self { journal, writes: AtomicUsize::new(0), at, crashed: Notify::new() })
    }

    async fn pass<T>(&self, write: impl Future<Output = T>) -> T {
        self.passing(self.writes.fetch_add(1, SeqCst), write).await
    }

    async fn passing<T>(&self, number: usize, write: impl Future<Output = T>) -> T {
        match self.at {
            Some((at, When::Before)) if number >= at => self.die().await,
            Some((at, When::After)) if number > at => self.die().await,
            Some((at, When::After)) if number == at => {
                write.await;
                self.die().await
            }
            _ => write.await,
        }
    }

    async fn die<T>(&self) -> T {
        self.crashed.notify_one();
        pending().await
    }
}

/// A way to share the wrapped journal with futures that outlive the call.
struct Shared(Arc<Crashing>);

impl Journal for Shared {
    fn spent(&self, conversation: ConversationId) -> Result<Option<Charge>, JournalError> {
        self.0.journal.spent(conversation)
    }

    fn begin<'a>(&'a self, head: &'a ConversationHead) -> BoxFuture<'a, Result<Begun, JournalError>> {
        Box::pin(self.0.pass(self.0.journal.begin(head)))
    }

    fn append(
        &self,
        conversation: ConversationId,
        finished: Arc<Finished>,
    ) -> BoxFuture<'static, Result<(), JournalError>> {
        let crashing = self.0.clone();
        let number = crashing.writes.fetch_add(1, SeqCst);
        Box::pin(async move {
            let write = async { crashing.journal.append(conversation, finished).await };
            crashing.passing(number, write).await
        })
    }

    fn finish<'a>(&'a self, record: &'a ConversationRecord) -> BoxFuture<'a, Result<(), JournalError>> {
        Box::pin(self.0.pass(self.0.journal.finish(record)))
    }

    fn answers(self: Arc<Self>) -> Option<Arc<dyn Answers>> {
        Some(self)
    }
}

impl Answers for Shared {
    fn recall(&self, place: CallPlace, keys: &[AnswerKey]) -> Result<Option<(ChatReply, AnsweredFrom)>, NotKept> {
        self.0.journal.recall(place, keys)
    }

    fn ask(&self, place: CallPlace, call: &CallInDoubt) -> BoxFuture<'_, Result<(), NotKept>> {
        let call = call.clone();
        Box::pin(async move { self.0.pass(async { self.0.journal.ask(place, &call).await }).await })
    }

    fn answer<'a>(
        &'a self,
        place: CallPlace,
        keys: &'a [AnswerKey],
        reply: Option<&'a ChatReply>,
    ) -> BoxFuture<'a, Result<(), NotKept>> {
        Box::pin(self.0.pass(self.0.journal.answer(place, keys, reply)))
    }
}

fn cast(model: Arc<Scripted>, journal: Arc<dyn Journal>) -> Arc<Company> {
    let company = company(seidr(2, 3, 14), model, MadeUpSandbox::by_text(), None);
    let mut company = Arc::into_inner(company).unwrap();
    company.journal = journal;
    Arc::new(company)
}

/// Holds the conversation on the store in `folder` until it ends or the process "dies"; says how many writes there were.
fn live(folder: &Path, model: Arc<Scripted>, at: Option<(usize, When)>) -> (Option<ConversationRecord>, usize) {
    on_stage(async {
        let store = Arc::new(Store::open(folder).unwrap());
        let run = RunId(uuid::Uuid::nil()).to_string();
        let row =
            RunRow { run, plan: String::new(), begun_ns: 0, state: RunState::Begun, facts: serde_json::json!({}) };
        store.put_run(&row).await.unwrap();
        let journal = Crashing::new(store, at);
        let company = cast(model, Arc::new(Shared(journal.clone())));
        let starter = "def f(x):\n    return 0\n";
        let held = hold(company, assignment(task(5, Some(starter)), 0), CancellationToken::new());
        let record = tokio::select! {
            record = held => Some(record.unwrap()),
            () = journal.crashed.notified() => None,
        };
        (record, journal.writes.load(SeqCst))
    })
}

/// The one record of the store in `folder`, of its rows alone.
fn kept(folder: &Path) -> ConversationRecord {
    let store = Store::open(folder).unwrap();
    let records: Vec<_> = kept_records(&store, &RunId(uuid::Uuid::nil()).to_string()).unwrap().collect();
    let [record] = <[_; 1]>::try_from(records).unwrap();
    record.unwrap()
}

/// A record as [`kept`] gives it: what its turns received is not kept.
fn without_inboxes(mut record: ConversationRecord) -> ConversationRecord {
    for turn in &mut record.turns {
        assert!(turn.seq == 0 || !turn.inbox.is_empty());
        Arc::make_mut(turn).inbox.clear();
    }
    record
}

#[test]
fn a_crash_at_every_write_loses_nothing_and_pays_nothing_twice() {
    let undisturbed = tempfile::tempdir().unwrap();
    let model = talkative();
    let (record, writes) = live(undisturbed.path(), model.clone(), None);
    let record = record.unwrap();
    let (expected, rows) = (result_part(&record), result_rows(&record));
    assert!(rows.len() > 1, "{rows:?}");
    let paid = model.requests().len();
    assert!(writes > 40, "{writes}");
    for at in 0..writes {
        for when in [When::Before, When::After] {
            let folder = tempfile::tempdir().unwrap();
            let model = talkative();
            let (dead, _) = live(folder.path(), model.clone(), Some((at, when)));
            // Several writes go on at once, so that the last of them may come too late to stop the end.
            let Some(record) = dead.map_or_else(|| live(folder.path(), model.clone(), None).0, Some) else {
                panic!("{at} {when:?}")
            };
            assert_eq!(result_part(&record), expected, "{at} {when:?}");
            assert_eq!(result_rows(&record), rows, "{at} {when:?}");
            let doubts =
                record.turns.iter().flat_map(|turn| &turn.attempts).map(|it| it.log.in_doubt.len()).sum::<usize>();
            let asked = model.requests().len();
            assert!(
                (paid..=paid + doubts).contains(&asked),
                "{at} {when:?}: {paid} paid, {asked} asked, {doubts} in doubt"
            );
            // Told again from what is stored, it is the same.
            let (again, _) = live(folder.path(), model.clone(), None);
            let again = again.unwrap();
            assert_eq!(result_part(&again), expected, "{at} {when:?}");
            // And so is what is read without arrangement and task, times and calls in doubt included.
            assert_eq!(kept(folder.path()), without_inboxes(again), "{at} {when:?}");
            assert_eq!(model.requests().len(), asked);
        }
    }
}
