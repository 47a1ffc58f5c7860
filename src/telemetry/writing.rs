//! The thread that writes traces while conversations go on: they only hand over what is recorded anyway.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, mpsc},
    thread,
};

use tokio::sync::oneshot;

use super::traces::{ConversationTrace, Desk};
use crate::{
    conversation::{ConversationEnd, ConversationHead},
    ids::ConversationId,
    runtime::TurnRecord,
};

/// Notes that are taken together at most. What they hold of one conversation is one line of its file.
const TOGETHER: usize = 256;

/// What the thread is told.
pub enum Note {
    /// A conversation begins.
    Started(Arc<ConversationHead>),
    /// A turn has taken effect.
    Retired(ConversationId, Arc<TurnRecord>),
    /// A conversation is over. Told back when its trace is whole in its file.
    Ended(ConversationId, Box<ConversationEnd>, oneshot::Sender<()>),
    /// Told back when everything before is in the files.
    Flush(mpsc::Sender<()>),
}

/// Starts the thread. It ends when nobody can tell it anything any more. Where there is no thread to be had, what it would be
/// told is lost and counted.
pub fn start(desk: Arc<Desk>) -> mpsc::Sender<Note> {
    let (notes, told) = mpsc::channel();
    let writer = Writer { desk: desk.clone(), open: BTreeMap::new() };
    if let Err(error) = thread::Builder::new().name("traces".to_owned()).spawn(move || writer.run(&told)) {
        desk.lost(1, &format!("no thread: {error}"));
    }
    notes
}

struct Writer {
    desk: Arc<Desk>,
    open: BTreeMap<ConversationId, ConversationTrace>,
}

impl Writer {
    fn run(mut self, told: &mpsc::Receiver<Note>) {
        while let Ok(first) = told.recv() {
            let (mut touched, mut flushes) = (BTreeSet::new(), Vec::new());
            for note in std::iter::once(first).chain(told.try_iter().take(TOGETHER)) {
                match note {
                    Note::Started(head) => {
                        let id = head.id;
                        let mut trace = self.desk.conversation(head);
                        trace.take_start();
                        self.open.insert(id, trace);
                        touched.insert(id);
                    }
                    Note::Retired(id, turn) => {
                        if let Some(trace) = self.open.get_mut(&id) {
                            trace.take_turn(&turn);
                            touched.insert(id);
                        }
                    }
                    Note::Ended(id, end, whole) => {
                        if let Some(mut trace) = self.open.remove(&id) {
                            trace.end(&end);
                        }
                        // Whoever waited may have gone.
                        let _ = whole.send(());
                    }
                    Note::Flush(done) => flushes.push(done),
                }
            }
            for id in &touched {
                if let Some(trace) = self.open.get_mut(id) {
                    trace.write();
                }
            }
            for done in flushes {
                let _ = done.send(());
            }
        }
    }
}
