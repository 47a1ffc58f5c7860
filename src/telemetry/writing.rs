//! The thread that writes traces: what conversations tell is projected and appended there, so that none of them waits for
//! the disk.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{self, Receiver, Sender},
    },
    thread::{self, JoinHandle},
};

use super::{ConversationTrace, Traces};
use crate::{
    conversation::{ConversationEnd, ConversationHead},
    ids::ConversationId,
    runtime::TurnRecord,
};

/// What a conversation tells.
enum Told {
    Started(Arc<ConversationHead>),
    Turn(ConversationId, Arc<TurnRecord>),
    Ended(ConversationId, Box<ConversationEnd>),
}

/// Writes the traces of a run in the order in which it is told of turns.
pub struct TraceWriter(Mutex<Option<Thread>>);

struct Thread {
    queue: Sender<Told>,
    handle: JoinHandle<()>,
}

impl TraceWriter {
    /// Starts the thread. Where that cannot be done, no trace is written, which is logged.
    pub fn start(traces: Arc<Traces>) -> Self {
        let (queue, told) = mpsc::channel();
        let thread = thread::Builder::new().name("traces".to_owned()).spawn(move || write(&traces, &told));
        let thread = thread.map_err(|error| tracing::error!(%error, "traces cannot be written"));
        Self(Mutex::new(thread.ok().map(|handle| Thread { queue, handle })))
    }

    /// A conversation begins.
    pub fn started(&self, head: &ConversationHead) {
        self.tell(Told::Started(Arc::new(head.clone())));
    }

    /// A turn has retired. Turns of one conversation come in the order of `seq`, once each.
    pub fn turn(&self, head: &ConversationHead, turn: &Arc<TurnRecord>) {
        self.tell(Told::Turn(head.id, turn.clone()));
    }

    /// A conversation is over.
    pub fn ended(&self, head: &ConversationHead, end: &ConversationEnd) {
        self.tell(Told::Ended(head.id, Box::new(end.clone())));
    }

    /// Everything has been told: waits until it is written. Blocks: not for asynchronous code.
    pub fn close(&self) {
        let thread = self.thread().take();
        if let Some(Thread { queue, handle }) = thread {
            drop(queue);
            // A thread that panicked has said so.
            let _ = handle.join();
        }
    }

    fn tell(&self, told: Told) {
        if let Some(thread) = &*self.thread() {
            let _ = thread.queue.send(told);
        }
    }

    fn thread(&self) -> MutexGuard<'_, Option<Thread>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for TraceWriter {
    fn drop(&mut self) {
        self.close();
    }
}

fn write(traces: &Traces, told: &Receiver<Told>) {
    let mut open: BTreeMap<ConversationId, ConversationTrace> = BTreeMap::new();
    for told in told {
        match told {
            Told::Started(head) => {
                let mut trace = traces.conversation(head.clone());
                trace.started();
                open.insert(head.id, trace);
            }
            Told::Turn(conversation, turn) => {
                if let Some(trace) = open.get_mut(&conversation) {
                    trace.turn(&turn);
                }
            }
            Told::Ended(conversation, end) => {
                if let Some(mut trace) = open.remove(&conversation) {
                    trace.end(&end);
                }
            }
        }
    }
}
