use super::{CallRecord, Fault, PromptUsed, Refusal, Turn, charging::Worst, now_unix_nanos, under_way::UnderWay};
use crate::{
    budget::{Charge, Reservation, Shortage},
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
        let ordinal = self.admit(&worst).map_err(Fault::Model)?;
        let reservation = self.reserve(worst).await?;
        if self.turn.cancelled().is_cancelled() {
            reservation.settle(Charge::default());
            return Err(Fault::Cancelled);
        }
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
        let under_way = UnderWay::new(self.turn, self.unanswered(&request, source), reservation);
        let outcome = tokio::select! {
            // What is written down as sent is sent.
            biased;
            reply = self.model.chat(&request) => reply,
            () = self.turn.cancelled().cancelled() => Err(ModelError::Cancelled),
        };
        under_way.end(&outcome);
        outcome.map_err(|error| match error {
            ModelError::Cancelled => Fault::Cancelled,
            other => Fault::Model(other),
        })
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
    fn admit(&self, worst: &Charge) -> Result<u32, ModelError> {
        let mut log = self.turn.log();
        if let Some(kind) = self.turn.allowance().refuses(&(log.charge() + *worst)) {
            log.refused = Some(Refusal::own(kind));
            return Err(ModelError::Budget);
        }
        Ok(u32::try_from(log.calls.len()).unwrap_or(u32::MAX))
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
