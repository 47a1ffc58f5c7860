use super::{
    AnswerKey, AnsweredFrom, Answers, CallInDoubt, CallRecord, Fault, NotKept, PromptUsed, Refusal, Turn,
    charging::Worst, now_unix_nanos, under_way::UnderWay,
};
use crate::{
    budget::{Charge, Reservation, Shortage},
    domain::{Money, Usage},
    ids::{CallPlace, traceparent},
    llm::{
        ChatMessage, ChatModel, ChatReply, ChatRequest, Draw, ModelError, Parameters, Purpose, Subject, answer_of,
        merged,
    },
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

/// Where the answer to one call is kept.
struct Kept<'a> {
    answers: &'a dyn Answers,
    place: CallPlace,
    keys: Vec<AnswerKey>,
}

impl Kept<'_> {
    fn recall(&self) -> Result<Option<(ChatReply, AnsweredFrom)>, Fault> {
        self.answers.recall(self.place, &self.keys).map_err(lost)
    }

    async fn ask(&self, call: CallInDoubt) -> Result<(), Fault> {
        self.answers.ask(self.place, &call).await.map_err(lost)
    }

    /// A call that was called off may have been answered all the same: it stays in doubt.
    async fn answer(&self, outcome: &Result<ChatReply, ModelError>) -> Result<(), Fault> {
        if matches!(outcome, Err(ModelError::Cancelled)) {
            return Ok(());
        }
        self.answers.answer(self.place, &self.keys, outcome.as_ref().ok()).await.map_err(lost)
    }
}

fn lost(error: NotKept) -> Fault {
    Fault::NotKept(error.0)
}

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
    /// [`Fault::Model`] with the model's error, [`ModelError::Budget`] where a budget has too little left and
    /// [`ModelError::ContextLength`] where the prompt does not fit (nothing is sent or written down then),
    /// [`Fault::Setup`] where the prompt cannot be rendered, [`Fault::Cancelled`] where the conversation ended meanwhile.
    pub async fn ask(&self, ask: Ask<'_>) -> Result<ChatReply, Fault> {
        let seat = self.turn.seat();
        let parameters = self.parameters();
        let Rendered { messages, source } =
            if self.model.reads_prompt() { self.render(&ask, &parameters)? } else { Rendered::default() };
        let (parameters, choices) = sampling(parameters, ask.choices);
        let worst = Worst::of(&messages, choices, parameters.max_output_tokens, self.model.terms()).call();
        let ordinal = u32::try_from(self.turn.log().calls.len()).unwrap_or(u32::MAX);
        let place = (self.turn.seq(), self.turn.attempt(), ordinal);
        let request = ChatRequest {
            purpose: ask.purpose,
            messages,
            parameters,
            choices,
            seed: self.turn.request_seed(ask.purpose, ordinal),
            draw: Draw { sample: seat.scene.sample, first: self.turn.allowance().draw, ordinal },
            subject: ask.subject,
            traceparent: Some(traceparent(seat.scene.conversation, place)),
        };
        let kept = self.kept(&request, ordinal);
        let known = kept.as_ref().map(Kept::recall).transpose()?.flatten();
        let reservation = self.admit(worst, known.as_ref().map(|(_, from)| *from)).await?;
        if self.turn.cancelled().is_cancelled() {
            reservation.settle(Charge::default());
            return Err(Fault::Cancelled);
        }
        let record = self.unanswered(&request, source);
        let outcome = match (known, kept) {
            (Some((reply, from)), _) => UnderWay::new(self.turn, record, reservation).from(from).end(Ok(reply)),
            (None, None) => {
                let under_way = UnderWay::new(self.turn, record, reservation);
                let replayed = self.model.is_replay().then_some(AnsweredFrom::Replay);
                let outcome = self.chat(&request).await;
                replayed.into_iter().fold(under_way, UnderWay::from).end(outcome)
            }
            (None, Some(kept)) => {
                if let Err(fault) = kept.ask(CallInDoubt::of(&record, ordinal, worst)).await {
                    reservation.settle(Charge::default());
                    return Err(fault);
                }
                let under_way = UnderWay::new(self.turn, record, reservation);
                let outcome = self.chat(&request).await;
                let stored = kept.answer(&outcome).await;
                let outcome = under_way.end(outcome);
                stored?;
                outcome
            }
        };
        let mut reply = outcome.map_err(|error| match error {
            ModelError::Cancelled => Fault::Cancelled,
            other => Fault::Model(other),
        })?;
        if request.parameters.response_schema.is_some() {
            // The record keeps the whole reply.
            reply.choices.iter_mut().for_each(|choice| choice.text = answer_of(std::mem::take(&mut choice.text)));
        }
        Ok(reply)
    }

    /// Where this call's answer is kept, if it is.
    fn kept(&self, request: &ChatRequest, ordinal: u32) -> Option<Kept<'_>> {
        let scene = &self.turn.seat().scene;
        let answers = scene.answers.as_deref().filter(|_| self.model.is_kept())?;
        let (seq, attempt) = (self.turn.seq(), self.turn.attempt());
        let place = CallPlace { conversation: scene.conversation, seq, attempt, ordinal };
        Some(Kept { answers, place, keys: AnswerKey::of(self.model, request, place) })
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        tokio::select! {
            // What is written down as sent is sent.
            biased;
            reply = self.model.chat(request) => reply,
            () = self.turn.cancelled().cancelled() => Err(ModelError::Cancelled),
        }
    }

    fn render(&self, ask: &Ask<'_>, parameters: &Parameters) -> Result<Rendered, Fault> {
        let prompt = self.turn.seat().prompt(ask.prompt)?;
        let data = PromptData::new(ask.purpose, &ask.subject, ask.feedback);
        let limit = prompt_tokens(parameters);
        match fit(prompt, data, limit).map_err(|error| Fault::Setup(error.to_string()))? {
            Fitting::Fits { messages, shortened } => {
                let shortened = shortened.into_iter().map(str::to_owned).collect();
                let messages = if self.model.merges_roles() { merged(&messages) } else { messages };
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

    /// Checks the allowance and takes the worst case from every shared budget. An answer that this conversation had before was
    /// paid for then, and one that another had costs tokens, which belong to the arrangement, and no money.
    async fn admit(&self, worst: Charge, from: Option<AnsweredFrom>) -> Result<Reservation, Fault> {
        let most = match from {
            Some(AnsweredFrom::Resumed) => return Ok(self.turn.seat().scene.purse.past()),
            Some(AnsweredFrom::Cache) => Charge { cost: Money::ZERO, gpu_ms: 0, ..worst },
            Some(AnsweredFrom::Replay) | None => worst,
        };
        {
            let mut log = self.turn.log();
            if let Some(kind) = self.turn.allowance().refuses(&(log.charge() + most)) {
                log.refused = Some(Refusal::own(kind));
                return Err(Fault::Model(ModelError::Budget));
            }
        }
        self.reserve(most).await
    }

    /// Takes the worst case from every budget that other conversations share; waits while that depends on calls of theirs.
    async fn reserve(&self, worst: Charge) -> Result<Reservation, Fault> {
        let granted = tokio::select! {
            granted = self.turn.seat().scene.purse.reserve(worst) => granted,
            () = self.turn.cancelled().cancelled() => return Err(Fault::Cancelled),
        };
        granted.map_err(|Shortage { kind, words }| {
            self.turn.log().refused = Some(Refusal { kind, shared: Some(words) });
            Fault::Model(ModelError::Budget)
        })
    }

    /// The record of a call that is about to be sent.
    fn unanswered(&self, request: &ChatRequest, source: Source) -> CallRecord {
        let info = self.model.info();
        CallRecord {
            purpose: request.purpose,
            provider: info.provider.clone(),
            model: info.model.clone(),
            served_model: None,
            response_id: None,
            server_address: info.server_address.clone(),
            server_port: info.server_port,
            parameters: request.parameters.clone(),
            choices_wanted: request.choices,
            seed: request.seed,
            draw: request.draw,
            messages: request.messages.clone(),
            shortened: source.shortened,
            prompt: source.prompt,
            choices: Vec::new(),
            usage: Usage::default(),
            terms: self.model.terms(),
            attempts: Vec::new(),
            answered_from: None,
            error: None,
            started_ns: now_unix_nanos(),
            ended_ns: 0,
        }
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
