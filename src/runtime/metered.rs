use super::{
    AnswerKey, AnsweredFrom, BudgetKind, CallInDoubt, CallPlace, CallRecord, Fault, NotKept, PromptUsed, Turn,
    now_unix_nanos, record::worst_case_tokens,
};
use crate::{
    domain::Usage,
    llm::{ChatMessage, ChatModel, ChatReply, ChatRequest, Draw, ModelError, Parameters, Purpose, Subject},
    prompts::{ExecutionFeedback, Fitting, PromptData, fit},
};

/// What a role asks a model.
pub struct Ask<'a> {
    /// What for.
    pub purpose: Purpose,
    /// Key of the prompt to render.
    pub prompt: &'a str,
    /// What the prompt is about.
    pub subject: Subject,
    /// What the prompt shows of it.
    pub feedback: &'a ExecutionFeedback,
    /// The choices that are wanted, each by its number among all that are asked for the same: a list of temperatures goes by
    /// it. A reply holds the first of them, as many as one request can ask for or the server gives.
    pub choices: &'a [u32],
}

/// What a model said, and where that was found if it was not asked just now.
type Answer = (Result<ChatReply, ModelError>, Option<AnsweredFrom>);

/// A prompt as it is sent; nothing for a model that reads none.
#[derive(Default)]
struct Rendered {
    messages: Vec<ChatMessage>,
    source: Source,
}

/// What the messages of a prompt were made from, and what was left out of them so that they fit.
#[derive(Default)]
struct Source {
    prompt: Option<PromptUsed>,
    shortened: Vec<String>,
}

/// A seat's model as a turn sees it: every call is counted against the turn's allowance and written down.
pub struct Metered<'a> {
    turn: &'a Turn,
    model: &'a dyn ChatModel,
}

impl<'a> Metered<'a> {
    pub(super) fn new(turn: &'a Turn, model: &'a dyn ChatModel) -> Self {
        Self { turn, model }
    }

    /// Whether the model answers this purpose.
    pub fn answers(&self, purpose: Purpose) -> bool {
        self.model.answers(purpose)
    }

    /// Whether it reads prompts, or answers from what they are about.
    pub fn reads_prompt(&self) -> bool {
        self.model.reads_prompt()
    }

    /// Whether repair requests should carry a profile.
    pub fn wants_profile(&self) -> bool {
        self.model.wants_profile()
    }

    /// Renders the prompt and asks. The call is written down whether it succeeds or not.
    ///
    /// # Errors
    /// [`Fault::Model`] with the model's error, [`ModelError::Budget`] where the allowance is used up and
    /// [`ModelError::ContextLength`] where the prompt does not fit (nothing is sent or written down then),
    /// [`Fault::Setup`] where the prompt cannot be rendered, [`Fault::Cancelled`] where the conversation ended meanwhile.
    pub async fn ask(&self, ask: Ask<'_>) -> Result<ChatReply, Fault> {
        let seat = self.turn.seat();
        let parameters = self.parameters();
        let Rendered { messages, source } =
            if self.model.reads_prompt() { self.render(&ask, &parameters)? } else { Rendered::default() };
        let (parameters, choices) = sampling(parameters, ask.choices);
        let ordinal = self.admit(&messages, choices, parameters.max_output_tokens).map_err(Fault::Model)?;
        let place = (self.turn.seq(), self.turn.attempt(), ordinal);
        let request = ChatRequest {
            purpose: ask.purpose,
            messages,
            parameters,
            choices,
            seed: self.turn.request_seed(ask.purpose, ordinal),
            draw: Draw { sample: seat.scene.sample, first: self.turn.allowance().draw, ordinal },
            subject: ask.subject,
            traceparent: Some(crate::ids::traceparent(seat.scene.conversation, place)),
        };
        let started_ns = now_unix_nanos();
        let (outcome, answered_from) = self.answer(&request, ordinal, started_ns).await?;
        self.write_down(request, source, &outcome, (answered_from, started_ns));
        outcome.map_err(|error| match error {
            ModelError::Cancelled => Fault::Cancelled,
            other => Fault::Model(other),
        })
    }

    /// What the model says, or has said: an answer that is kept is not asked for again, and one that is not is kept before
    /// anybody sees it.
    async fn answer(&self, request: &ChatRequest, ordinal: u32, started_ns: u64) -> Result<Answer, Fault> {
        let Some(answers) = self.turn.seat().scene.answers.as_ref().filter(|_| self.model.is_kept()) else {
            let from = self.model.is_replay().then_some(AnsweredFrom::Replay);
            return Ok((self.chat(request).await, from));
        };
        let (seq, attempt) = (self.turn.seq(), self.turn.attempt());
        let place = CallPlace { conversation: self.turn.seat().scene.conversation, seq, attempt, ordinal };
        let keys = AnswerKey::of(self.model, request, place);
        let lost = |error: NotKept| Fault::NotKept(error.0);
        if let Some((reply, from)) = answers.recall(place, &keys).map_err(lost)? {
            return Ok((Ok(reply), Some(from)));
        }
        answers.ask(place, &self.in_doubt(request, ordinal, started_ns)).await.map_err(lost)?;
        let outcome = self.chat(request).await;
        // A call that was called off may have been answered all the same: it stays in doubt.
        if !matches!(outcome, Err(ModelError::Cancelled)) {
            answers.answer(place, &keys, outcome.as_ref().ok()).await.map_err(lost)?;
        }
        Ok((outcome, None))
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        tokio::select! {
            reply = self.model.chat(request) => reply,
            () = self.turn.cancelled().cancelled() => Err(ModelError::Cancelled),
        }
    }

    /// What is known of a call before it is made.
    fn in_doubt(&self, request: &ChatRequest, ordinal: u32, started_ns: u64) -> CallInDoubt {
        let info = self.model.info();
        CallInDoubt {
            ordinal,
            purpose: request.purpose,
            provider: info.provider.clone(),
            model: info.model.clone(),
            server_address: info.server_address.clone(),
            server_port: info.server_port,
            at_most_tokens: worst_case_tokens(&request.messages, request.choices, request.parameters.max_output_tokens),
            started_ns,
        }
    }

    fn render(&self, ask: &Ask<'_>, parameters: &Parameters) -> Result<Rendered, Fault> {
        let prompt = self.turn.seat().prompt(ask.prompt)?;
        let data = PromptData::new(ask.purpose, &ask.subject, ask.feedback);
        let limit = prompt_tokens(parameters);
        match fit(prompt, data, limit).map_err(|error| Fault::Setup(error.to_string()))? {
            Fitting::Fits { messages, shortened } => {
                let shortened = shortened.into_iter().map(str::to_owned).collect();
                Ok(Rendered { messages, source: Source { prompt: Some(PromptUsed::of(prompt)), shortened } })
            }
            Fitting::TooLong { tokens } => {
                Err(Fault::Model(ModelError::ContextLength { prompt: prompt.name().to_owned(), tokens, limit }))
            }
        }
    }

    /// The seat's parameters, and the model's own where it says nothing.
    fn parameters(&self) -> Parameters {
        let own = &self.turn.seat().parameters;
        self.model.defaults().map_or_else(|| own.clone(), |defaults| own.or(defaults))
    }

    /// Checks the allowance; gives the call's ordinal within the turn.
    fn admit(&self, messages: &[ChatMessage], choices: u32, longest: Option<u32>) -> Result<u32, ModelError> {
        let allowance = self.turn.allowance();
        let mut log = self.turn.log();
        let made = u32::try_from(log.calls.len()).unwrap_or(u32::MAX);
        if allowance.calls.is_some_and(|calls| made >= calls) {
            log.refused = Some(BudgetKind::ModelCalls);
            return Err(ModelError::Budget);
        }
        let worst = || worst_case_tokens(messages, choices, longest);
        if allowance.tokens.is_some_and(|tokens| log.charged_tokens() + worst() > tokens) {
            log.refused = Some(BudgetKind::Tokens);
            return Err(ModelError::Budget);
        }
        Ok(made)
    }

    fn write_down(
        &self,
        request: ChatRequest,
        source: Source,
        outcome: &Result<ChatReply, ModelError>,
        (answered_from, started_ns): (Option<AnsweredFrom>, u64),
    ) {
        let info = self.model.info();
        let (reply, error) = match outcome {
            Ok(reply) => (Some(reply), None),
            Err(error) => (None, Some((error.kind(), error.to_string()))),
        };
        let attempts = match outcome {
            Ok(reply) => reply.attempts.clone(),
            Err(error) => error.attempts().to_vec(),
        };
        self.turn.log().calls.push(CallRecord {
            purpose: request.purpose,
            provider: info.provider.clone(),
            model: info.model.clone(),
            served_model: reply.map(|reply| reply.model.clone()),
            response_id: reply.and_then(|reply| reply.id.clone()),
            server_address: info.server_address.clone(),
            server_port: info.server_port,
            parameters: request.parameters,
            choices_wanted: request.choices,
            seed: request.seed,
            draw: request.draw,
            messages: request.messages,
            shortened: source.shortened,
            prompt: source.prompt,
            choices: reply.map(|reply| reply.choices.clone()).unwrap_or_default(),
            usage: reply.map_or_else(Usage::default, |reply| reply.usage),
            attempts,
            answered_from,
            error,
            started_ns,
            ended_ns: now_unix_nanos(),
        });
    }
}

/// How to sample the first of these choices, and how many of them one request can ask for: those of one temperature.
fn sampling(mut parameters: Parameters, choices: &[u32]) -> (Parameters, u32) {
    let (first, mut count) = (choices.first().copied().unwrap_or(0), choices.len());
    if let Some(temperature) = &mut parameters.temperature {
        count = temperature.alike(choices);
        *temperature = temperature.of(first).into();
    }
    (parameters, u32::try_from(count).unwrap_or(u32::MAX).max(1))
}

/// How many tokens a prompt may have, so that the longest reply fits behind it.
fn prompt_tokens(parameters: &Parameters) -> usize {
    let longest = parameters.max_output_tokens.unwrap_or(0);
    parameters.context_tokens.map_or(usize::MAX, |context| context.saturating_sub(longest) as usize)
}
