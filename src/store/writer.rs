//! The one thread that writes. What waits when it looks is committed together, so that many conversations share the price
//! of a commit.

use std::{
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Receiver, Sender},
    },
    thread::{self, JoinHandle},
};

use futures_util::future::BoxFuture;
use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::oneshot;

use super::{StoreError, error::Said};

/// Writes that one commit holds at most.
const TOGETHER: usize = 256;

/// What a write does; once more if the commit that it was part of failed by another's fault.
type Change = Box<dyn FnMut(&Connection, &Path) -> Result<(), StoreError> + Send>;

struct Write {
    change: Change,
    done: oneshot::Sender<Result<(), StoreError>>,
}

/// Hands writes to the thread, which ends when this is dropped and everything is written.
pub(super) struct Writer {
    file: Arc<Path>,
    // `None` only while it is dropped.
    queue: Option<Sender<Write>>,
    thread: Option<JoinHandle<()>>,
    failure: Arc<Mutex<Option<StoreError>>>,
}

impl Writer {
    pub(super) fn start(file: Arc<Path>, connection: Connection) -> Result<Self, StoreError> {
        let (queue, waiting) = mpsc::channel();
        let failure = Arc::new(Mutex::new(None));
        let thread = {
            let (file, failure) = (file.clone(), failure.clone());
            thread::Builder::new().name("store".to_owned()).spawn(move || work(connection, &file, &waiting, &failure))
        };
        let thread = thread.map_err(|error| StoreError::of_io(&file, &error))?;
        Ok(Self { file, queue: Some(queue), thread: Some(thread), failure })
    }

    /// Has `change` made, in the order of these calls. The answer comes once it is committed, or tells why it could not be.
    pub(super) fn write(
        &self,
        change: impl FnMut(&Connection, &Path) -> Result<(), StoreError> + Send + 'static,
    ) -> BoxFuture<'static, Result<(), StoreError>> {
        let (done, written) = oneshot::channel();
        if let Some(queue) = &self.queue {
            // A thread that is gone drops the sender, which the answer tells.
            let _ = queue.send(Write { change: Box::new(change), done });
        }
        let file = self.file.clone();
        let gone = move |_| {
            let bug = "its thread is gone: this is a bug of rolecall";
            Err(StoreError::Other(file.to_path_buf(), bug.to_owned()))
        };
        Box::pin(async move { written.await.unwrap_or_else(gone) })
    }

    /// The first write that failed since it was opened.
    pub(super) fn failure(&self) -> Option<StoreError> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn work(mut connection: Connection, file: &Path, waiting: &Receiver<Write>, failure: &Mutex<Option<StoreError>>) {
    while let Ok(first) = waiting.recv() {
        let mut batch = vec![first];
        batch.extend(waiting.try_iter().take(TOGETHER - 1));
        let together = commit(&mut connection, file, &mut batch);
        for mut write in batch {
            // One that fails does not take the others with it.
            let outcome =
                if together.is_ok() { Ok(()) } else { commit(&mut connection, file, std::slice::from_mut(&mut write)) };
            if let Err(error) = &outcome {
                failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error.clone());
            }
            // Who asked may have gone.
            let _ = write.done.send(outcome);
        }
    }
}

fn commit(connection: &mut Connection, file: &Path, writes: &mut [Write]) -> Result<(), StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).said(file)?;
    for write in writes {
        (write.change)(&transaction, file)?;
    }
    transaction.commit().said(file)
}
