//! Canned replies for tests: text, usage, delay, faults, panics.

use std::{
    collections::BTreeSet,
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::future::BoxFuture;

use super::{Attempt, ChatModel, ChatReply, ChatRequest, Choice, ModelError, ModelInfo, Purpose, Terms};
use crate::domain::Usage;

/// What a call ends with.
#[derive(Clone, Debug)]
enum Ending {
    Say(Vec<Choice>),
    Fail(ModelError),
    Panic(String),
}

/// What one call is answered with.
#[derive(Clone, Debug)]
pub struct Line {
    ending: Ending,
    usage: Usage,
    delay: Duration,
}

impl Line {
    fn new(ending: Ending) -> Self {
        Self { ending, usage: Usage::default(), delay: Duration::ZERO }
    }

    /// One choice with this text and finish reason `stop`; usage unknown, no delay.
    pub fn say(text: impl Into<String>) -> Self {
        Self::say_all([text])
    }

    /// One choice per text, in this order.
    pub fn say_all<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Self {
        let choices = texts.into_iter().map(|text| Choice {
            text: text.into(),
            finish_reason: "stop".to_owned(),
            reasoning: None,
            note: None,
            logprobs: None,
        });
        Self::new(Ending::Say(choices.collect()))
    }

    /// These choices as they are.
    pub fn choices(choices: Vec<Choice>) -> Self {
        Self::new(Ending::Say(choices))
    }

    /// The call fails.
    pub fn fail(error: ModelError) -> Self {
        Self::new(Ending::Fail(error))
    }

    /// The call panics with this message, as a faulty model would.
    pub fn panic(message: impl Into<String>) -> Self {
        Self::new(Ending::Panic(message.into()))
    }

    /// Says how many tokens the call took.
    pub fn usage(mut self, input_tokens: u64, output_tokens: u64) -> Self {
        self.usage.input_tokens = Some(input_tokens);
        self.usage.output_tokens = Some(output_tokens);
        self
    }

    /// Waits this long (by tokio's clock) before it ends.
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }
}

impl From<&str> for Line {
    fn from(text: &str) -> Self {
        Self::say(text)
    }
}

impl From<String> for Line {
    fn from(text: String) -> Self {
        Self::say(text)
    }
}

type Script = dyn Fn(&ChatRequest, usize) -> Line + Send + Sync;

/// A model that says what the test wrote down, and keeps every request that it saw.
///
/// Calls are numbered from 0 in the order of their arrival. Where calls run in parallel, a closure should go by the
/// request (its purpose, draw, subject), not by that number.
pub struct Scripted {
    info: ModelInfo,
    purposes: BTreeSet<Purpose>,
    script: Box<Script>,
    terms: Terms,
    requests: Mutex<Vec<ChatRequest>>,
}

impl Scripted {
    /// Call `n` is answered with line `n`; calls after the last line fail with [`ModelError::NothingToSay`].
    pub fn from_replies<L: Into<Line>>(lines: impl IntoIterator<Item = L>) -> Self {
        let lines: Vec<Line> = lines.into_iter().map(Into::into).collect();
        Self::with(move |_, n| {
            lines.get(n).cloned().unwrap_or_else(|| {
                Line::fail(ModelError::NothingToSay(format!("the script has {} lines, this is call {n}", lines.len())))
            })
        })
    }

    /// Call `n` is answered with what `script` makes of its request.
    pub fn with(script: impl Fn(&ChatRequest, usize) -> Line + Send + Sync + 'static) -> Self {
        Self {
            info: ModelInfo {
                name: "scripted".to_owned(),
                provider: "scripted".to_owned(),
                model: "scripted".to_owned(),
                server_address: None,
                server_port: None,
            },
            purposes: BTreeSet::from([
                Purpose::Draft,
                Purpose::Diagnose,
                Purpose::Repair,
                Purpose::Judge,
                Purpose::Plan,
                Purpose::Test,
            ]),
            script: Box::new(script),
            terms: Terms::FREE,
            requests: Mutex::new(Vec::new()),
        }
    }

    /// Answers these purposes only; without this call, all of them.
    pub fn answering(mut self, purposes: impl IntoIterator<Item = Purpose>) -> Self {
        self.purposes = purposes.into_iter().collect();
        self
    }

    /// Answers on these terms; without this call, for nothing.
    pub fn on_terms(mut self, terms: Terms) -> Self {
        self.terms = terms;
        self
    }

    /// How many calls have begun.
    pub fn calls(&self) -> usize {
        self.seen().len()
    }

    /// The requests seen so far, in the order of their arrival.
    pub fn requests(&self) -> Vec<ChatRequest> {
        self.seen().clone()
    }

    /// A call may panic on purpose; the list is whole nevertheless.
    fn seen(&self) -> MutexGuard<'_, Vec<ChatRequest>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Scripted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scripted").field("calls", &self.calls()).finish_non_exhaustive()
    }
}

impl ChatModel for Scripted {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn answers(&self, purpose: Purpose) -> bool {
        self.purposes.contains(&purpose)
    }

    fn terms(&self) -> Terms {
        self.terms
    }

    #[expect(clippy::panic, reason = "the test asked for a panic inside the call")]
    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        Box::pin(async move {
            let n = {
                let mut requests = self.seen();
                requests.push(request.clone());
                requests.len() - 1
            };
            let line = (self.script)(request, n);
            if !line.delay.is_zero() {
                tokio::time::sleep(line.delay).await;
            }
            match line.ending {
                Ending::Say(choices) => Ok(ChatReply {
                    choices,
                    usage: line.usage,
                    model: self.info.model.clone(),
                    id: None,
                    attempts: vec![Attempt {
                        status: None,
                        error: None,
                        started_ms: 0,
                        duration_ms: 0,
                        adapted: Vec::new(),
                        server: None,
                        waited_ms: 0,
                        first_token_ms: None,
                        partial: None,
                    }],
                }),
                Ending::Fail(error) => Err(error),
                Ending::Panic(message) => panic!("{message}"),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::Duration};

    use super::{Line, Scripted};
    use crate::{
        domain::{Language, Limits, OutputRule, Task, TestSuite},
        ids::TaskId,
        llm::{ChatModel, ChatRequest, Draw, ModelError, Parameters, Purpose, Subject},
    };

    fn request(purpose: Purpose) -> ChatRequest {
        let tests = Arc::new(TestSuite::Io { cases: Vec::new(), rule: OutputRule::Tokens });
        let task = Task {
            id: TaskId("t".to_owned()),
            dataset: "file".to_owned(),
            language: Language::Python,
            statement: String::new(),
            entry_point: None,
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
        ChatRequest {
            purpose,
            messages: Vec::new(),
            parameters: Parameters::default(),
            choices: 1,
            seed: 0,
            draw: Draw { sample: 0, first: 0, ordinal: 0 },
            subject: Subject::of(Arc::new(task), None),
            traceparent: None,
        }
    }

    #[tokio::test]
    async fn replies_come_in_order_and_end_with_nothing_to_say() {
        let model = Scripted::from_replies([Line::from("one").usage(3, 4), Line::say_all(["two", "three"])]);
        let draft = request(Purpose::Draft);
        let first = model.chat(&draft).await.unwrap();
        assert_eq!(first.choices[0].text, "one");
        assert_eq!((first.usage.input_tokens, first.usage.output_tokens), (Some(3), Some(4)));
        assert_eq!(first.attempts.len(), 1);
        assert_eq!(model.chat(&draft).await.unwrap().choices.len(), 2);
        assert!(matches!(model.chat(&draft).await, Err(ModelError::NothingToSay(_))));
        assert_eq!(model.calls(), 3);
    }

    #[tokio::test]
    async fn a_closure_answers_by_the_request_and_the_requests_are_kept() {
        let model = Scripted::with(|request, n| Line::from(format!("{} {n}", request.purpose)))
            .answering([Purpose::Repair, Purpose::Draft]);
        assert!(model.answers(Purpose::Repair));
        assert!(!model.answers(Purpose::Judge));
        assert_eq!(model.chat(&request(Purpose::Repair)).await.unwrap().choices[0].text, "repair 0");
        assert_eq!(model.chat(&request(Purpose::Draft)).await.unwrap().choices[0].text, "draft 1");
        let purposes: Vec<Purpose> = model.requests().iter().map(|request| request.purpose).collect();
        assert_eq!(purposes, [Purpose::Repair, Purpose::Draft]);
    }

    #[tokio::test]
    async fn a_panic_and_a_fault_reach_the_caller_and_the_model_lives_on() {
        let model = Arc::new(Scripted::from_replies([
            Line::panic("boom"),
            Line::fail(ModelError::Cancelled),
            Line::from("fine").delay(Duration::from_millis(1)),
        ]));
        let task = {
            let model = model.clone();
            tokio::spawn(async move { model.chat(&request(Purpose::Draft)).await })
        };
        assert!(task.await.unwrap_err().is_panic());
        assert_eq!(model.chat(&request(Purpose::Draft)).await, Err(ModelError::Cancelled));
        assert_eq!(model.chat(&request(Purpose::Draft)).await.unwrap().choices[0].text, "fine");
    }
}
