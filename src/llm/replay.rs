//! Answers from a recorded run: no network, no key, the same replies to the same questions.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
};

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

use super::{ChatMessage, ChatModel, ChatReply, ChatRequest, Draw, ModelError, ModelInfo, Parameters, Purpose, Terms};

/// What a recorded run says of a model, as far as others go by it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedModel {
    /// What it was.
    pub info: ModelInfo,
    /// [`ChatModel::identity`]
    pub identity: String,
    /// [`ChatModel::answers`]
    pub answers: Vec<Purpose>,
    /// [`ChatModel::wants_profile`]
    pub wants_profile: bool,
    /// [`ChatModel::avoids_repeats`]
    pub avoids_repeats: bool,
    /// [`ChatModel::reads_prompt`]
    pub reads_prompt: bool,
    /// [`ChatModel::merges_roles`]
    #[serde(default)]
    pub merges_roles: bool,
    /// [`ChatModel::defaults`]
    pub defaults: Option<Parameters>,
    /// [`ChatModel::terms`]
    #[serde(default)]
    pub terms: Terms,
}

impl RecordedModel {
    /// Of a model that takes part.
    pub fn of(model: &dyn ChatModel) -> Self {
        Self {
            info: model.info().clone(),
            identity: model.identity(),
            answers: Purpose::ALL.into_iter().filter(|purpose| model.answers(*purpose)).collect(),
            wants_profile: model.wants_profile(),
            avoids_repeats: model.avoids_repeats(),
            reads_prompt: model.reads_prompt(),
            merges_roles: model.merges_roles(),
            defaults: model.defaults().cloned(),
            terms: model.terms(),
        }
    }
}

/// A question, as a recorded run knows it: data set and task, model, purpose, messages, parameters, number of choices, seed and
/// draw.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Question([u8; 32]);

impl Question {
    /// Of its parts.
    pub fn new(
        (dataset, task): (&str, &str),
        (model, purpose): (&str, Purpose),
        (messages, parameters): (&[ChatMessage], &Parameters),
        (choices, seed, draw): (u32, u64, Draw),
    ) -> Self {
        let all = serde_json::json!([dataset, task, model, purpose, messages, parameters, choices, seed, draw]);
        Self(*blake3::hash(all.to_string().as_bytes()).as_bytes())
    }
}

/// What models answered in a recorded run. A question that came twice, since its turn was taken twice, has two answers.
#[derive(Debug, Default)]
pub struct Recording(Mutex<BTreeMap<Question, VecDeque<Result<ChatReply, ModelError>>>>);

impl Recording {
    /// Adds an answer, in the order in which they were given.
    pub fn add(&mut self, question: Question, answer: Result<ChatReply, ModelError>) {
        let answers = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        answers.entry(question).or_default().push_back(answer);
    }

    fn take(&self, question: &Question) -> Option<Result<ChatReply, ModelError>> {
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        answers.get_mut(question)?.pop_front()
    }
}

/// A model that says what it said in a recorded run, and nothing else.
pub struct Replay {
    /// The run, in words.
    run: String,
    model: RecordedModel,
    recording: Arc<Recording>,
}

impl Replay {
    /// Of a model of this run.
    pub fn new(run: impl Into<String>, model: RecordedModel, recording: Arc<Recording>) -> Self {
        Self { run: run.into(), model, recording }
    }

    fn answer(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        let ChatRequest { purpose, messages, parameters, choices, seed, draw, subject, .. } = request;
        let task = (subject.task.dataset.as_str(), subject.task.id.0.as_str());
        let model = (self.model.info.model.as_str(), *purpose);
        let question = Question::new(task, model, (messages, parameters), (*choices, *seed, *draw));
        self.recording.take(&question).unwrap_or_else(|| {
            Err(ModelError::NotRecorded(format!(
                "run {} has no answer to this call: {purpose} of task {}, sample {}, draw {}, call {} of the turn",
                self.run, task.1, draw.sample, draw.first, draw.ordinal
            )))
        })
    }
}

impl ChatModel for Replay {
    fn info(&self) -> &ModelInfo {
        &self.model.info
    }

    fn answers(&self, purpose: Purpose) -> bool {
        self.model.answers.contains(&purpose)
    }

    fn wants_profile(&self) -> bool {
        self.model.wants_profile
    }

    fn avoids_repeats(&self) -> bool {
        self.model.avoids_repeats
    }

    fn reads_prompt(&self) -> bool {
        self.model.reads_prompt
    }

    fn merges_roles(&self) -> bool {
        self.model.merges_roles
    }

    fn defaults(&self) -> Option<&Parameters> {
        self.model.defaults.as_ref()
    }

    fn terms(&self) -> Terms {
        self.model.terms
    }

    fn is_kept(&self) -> bool {
        false
    }

    fn is_replay(&self) -> bool {
        true
    }

    fn identity(&self) -> String {
        format!("replay:{}", self.run)
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        Box::pin(async { self.answer(request) })
    }
}
