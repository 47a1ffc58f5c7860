use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use serde::Serialize;

use super::BundledConversation;
use crate::{
    conversation::ConversationEnd,
    domain::{Verdict, shorten},
    llm::ModelError,
    messages::{ExecutionReport, Message},
    runtime::{CallRecord, Fault, Finished},
};

/// Where a run that was made again differs from the recorded one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The task; `None` where it is about all of them.
    pub task: Option<String>,
    /// Sample of the task.
    pub sample: Option<u32>,
    /// The turn.
    pub turn: Option<u32>,
    /// What differs: `file`, `task`, `arrangement`, `conversation`, `turn`, `prompt`, `reply`, `program`, `verdict`, `end`.
    pub what: &'static str,
    /// How, in words.
    pub words: String,
    /// Whether a time limit decided: that can differ between machines, and between two runs on one.
    pub of_time: bool,
}

impl Difference {
    /// One that is about no conversation.
    pub fn of_run(what: &'static str, words: impl Into<String>) -> Self {
        Self { task: None, sample: None, turn: None, what, words: words.into(), of_time: false }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let (Some(task), Some(sample)) = (&self.task, self.sample) {
            write!(f, "{task}, sample {sample}")?;
            if let Some(turn) = self.turn {
                write!(f, ", turn {turn}")?;
            }
            write!(f, ": ")?;
        }
        let time = if self.of_time { " (a time limit decided)" } else { "" };
        write!(f, "{}: {}{time}", self.what, self.words)
    }
}

/// Compares what was recorded with what came of it now, conversation by conversation. Times, ids and machines are not compared.
pub fn compare(recorded: &[BundledConversation], now: &[BundledConversation]) -> Vec<Difference> {
    let now: BTreeMap<_, _> = now.iter().map(|one| (one.place(), one)).collect();
    let mut differences = Vec::new();
    for was in recorded {
        let mut found = Found { conversation: was, differences: &mut differences };
        match now.get(&was.place()) {
            Some(is) => found.conversations(was, is),
            None => found.add(None, "conversation", "it was not held again, or did not end"),
        }
    }
    differences
}

struct Found<'a> {
    conversation: &'a BundledConversation,
    differences: &'a mut Vec<Difference>,
}

impl Found<'_> {
    fn add(&mut self, turn: Option<u32>, what: &'static str, words: impl Into<String>) {
        self.push(turn, what, words.into(), false);
    }

    fn push(&mut self, turn: Option<u32>, what: &'static str, words: String, of_time: bool) {
        let (_, task, sample) = self.conversation.place();
        let (task, sample) = (Some(task.0.clone()), Some(sample));
        self.differences.push(Difference { task, sample, turn, what, words, of_time });
    }

    fn conversations(&mut self, was: &BundledConversation, is: &BundledConversation) {
        if was.head.topology_hash != is.head.topology_hash {
            self.add(
                None,
                "arrangement",
                format!("its hash was {}, now {}", was.head.topology_hash, is.head.topology_hash),
            );
        }
        for (prompt, hash) in &was.head.prompts {
            if is.head.prompts.get(prompt) != Some(hash) {
                self.add(None, "prompt", format!("the file of {prompt} is another: its hash was {hash}"));
            }
        }
        let by_place = |one: &BundledConversation| -> BTreeMap<(u32, u8), Finished> {
            one.turns.iter().map(|turn| ((turn.seq, turn.attempt), turn.clone())).collect()
        };
        let (turns_was, turns_is) = (by_place(was), by_place(is));
        let places: BTreeSet<_> = turns_was.keys().chain(turns_is.keys()).copied().collect();
        for place in places {
            match (turns_was.get(&place), turns_is.get(&place)) {
                (Some(was), Some(is)) => self.turns(was, is),
                // One line for all that follow, which cannot be compared.
                (was, _) => {
                    let which = if was.is_some() { "is not taken any more" } else { "was not taken" };
                    self.add(Some(place.0), "turn", format!("it {which}; what follows is not compared"));
                    break;
                }
            }
        }
        match (was.end(), is.end()) {
            (Ok(was), Ok(is)) => self.ends(&was, &is),
            (Err(error), _) | (_, Err(error)) => self.add(None, "end", format!("it does not read: {error}")),
        }
    }

    fn turns(&mut self, was: &Finished, is: &Finished) {
        let turn = Some(was.seq);
        for (number, (was, is)) in (1..).zip(was.log.calls.iter().zip(&is.log.calls)) {
            self.calls(turn, number, was, is);
        }
        if was.log.calls.len() != is.log.calls.len() {
            let (was, is) = (was.log.calls.len(), is.log.calls.len());
            self.add(turn, "prompt", format!("{was} calls of a model were made, now {is}"));
        }
        match (&was.result, &is.result) {
            (Ok(was), Ok(is)) if was.len() == is.len() => {
                was.iter().zip(is).for_each(|(was, is)| self.messages(turn, was, is));
            }
            (Ok(was), Ok(is)) => {
                self.add(turn, "turn", format!("{} messages were said, now {}", was.len(), is.len()));
            }
            (_, Err(Fault::Model(ModelError::NotRecorded(words)))) => self.add(turn, "reply", words.clone()),
            (Err(was), Err(is)) if was.to_string() == is.to_string() => {}
            (was, is) => {
                let words = |result: &Result<Vec<Message>, _>| match result {
                    Ok(_) => "it went well".to_owned(),
                    Err(fault) => format!("it failed: {}", shorten(&format!("{fault}"), 300)),
                };
                self.add(turn, "turn", format!("{}, now {}", words(was), words(is)));
            }
        }
    }

    fn calls(&mut self, turn: Option<u32>, number: u32, was: &CallRecord, is: &CallRecord) {
        let hash =
            |call: &CallRecord| call.prompt.as_ref().map(|prompt| (prompt.reference.clone(), prompt.hash.clone()));
        if hash(was) != hash(is) {
            let name = |call: &CallRecord| {
                hash(call).map_or_else(|| "none".to_owned(), |(name, hash)| format!("{name} ({hash})"))
            };
            self.add(turn, "prompt", format!("call {number} was made with {}, now with {}", name(was), name(is)));
        }
        if was.messages != is.messages {
            self.add(turn, "prompt", format!("call {number} asks in other words"));
        }
        let asked = |call: &CallRecord| {
            (call.purpose, call.model.clone(), call.parameters.clone(), call.choices_wanted, call.seed)
        };
        if asked(was) != asked(is) {
            self.add(turn, "prompt", format!("call {number} asks another model, or with other parameters"));
        }
        let texts = |call: &CallRecord| call.choices.iter().map(|choice| choice.text.clone()).collect::<Vec<_>>();
        if texts(was) != texts(is) {
            self.add(turn, "reply", format!("call {number} is answered otherwise"));
        }
    }

    fn messages(&mut self, turn: Option<u32>, was: &Message, is: &Message) {
        if was.kind() != is.kind() {
            self.add(turn, "turn", format!("it said {}, now {}", was.kind(), is.kind()));
            return;
        }
        let text = |message: &Message| {
            let program = message.candidate().and_then(|candidate| candidate.program.clone());
            program.map(|program| program.text.clone())
        };
        if text(was) != text(is) {
            let id = was.candidate().map(|candidate| candidate.id.to_string()).unwrap_or_default();
            self.add(turn, "program", format!("{id} is another program"));
        }
        if let (Some(was), Some(is)) = (was.judged(), is.judged()) {
            self.reports(turn, was, is);
        }
        if was.reward() != is.reward() {
            self.add(turn, "verdict", format!("the reward was {:?}, now {:?}", was.reward(), is.reward()));
        }
        if let (Message::Diagnosis(was), Message::Diagnosis(is)) = (was, is)
            && was.text != is.text
        {
            self.add(turn, "reply", "the diagnosis is another");
        }
    }

    fn reports(&mut self, turn: Option<u32>, was: &ExecutionReport, is: &ExecutionReport) {
        let (was_all, is_all) = (&was.judgement, &is.judgement);
        let id = was.candidate.id;
        let is_limit = |verdict: Verdict| matches!(verdict, Verdict::TimeoutCpu | Verdict::TimeoutWall);
        let of_time = |a, b| is_limit(a) || is_limit(b);
        for (number, (was, is)) in (1..).zip(was_all.tests.iter().zip(&is_all.tests)) {
            if was.verdict != is.verdict {
                let words =
                    format!("test {number} of program {id} was {}, now {}", was.verdict.name(), is.verdict.name());
                self.push(turn, "verdict", words, of_time(was.verdict, is.verdict));
            }
        }
        if was_all.tests.len() != is_all.tests.len() {
            let (was, is) = (was_all.tests.len(), is_all.tests.len());
            self.add(turn, "verdict", format!("program {id} had {was} tests, now {is}"));
        }
        if was_all.verdict != is_all.verdict {
            let words = format!("program {id} was {}, now {}", was_all.verdict.name(), is_all.verdict.name());
            self.push(turn, "verdict", words, of_time(was_all.verdict, is_all.verdict));
        }
    }

    fn ends(&mut self, was: &ConversationEnd, is: &ConversationEnd) {
        let facts = |end: &ConversationEnd| {
            let hidden = end.hidden_verdict.map_or("none", |verdict| verdict.name());
            [
                ("outcome", end.outcome.name().to_owned()),
                ("solved", end.solved.to_string()),
                ("best program", end.best.map_or_else(|| "none".to_owned(), |best| best.to_string())),
                ("verdict of the hidden tests", hidden.to_owned()),
                ("programs", end.spend.programs.to_string()),
                ("calls of a model", end.spend.model_calls.to_string()),
            ]
        };
        for ((name, was), (_, is)) in facts(was).into_iter().zip(facts(is)) {
            if was != is {
                self.add(None, "end", format!("{name}: was {was}, now {is}"));
            }
        }
    }
}
