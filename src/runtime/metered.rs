use super::{BudgetKind, CallRecord, Fault, Turn, now_unix_nanos, record::worst_case_tokens};
use crate::{
    domain::Usage,
    llm::{ChatMessage, ChatModel, ChatReply, ChatRequest, Draw, ModelError, Purpose, Subject},
    prompts::PromptData,
};

/// What a role asks a model.
pub struct Ask<'a> {
    /// What for.
    pub purpose: Purpose,
    /// Key of the prompt to render.
    pub prompt: &'a str,
    /// What the prompt is about.
    pub subject: Subject,
    /// How many choices.
    pub choices: u32,
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

    /// Whether repair requests should carry a profile.
    pub fn wants_profile(&self) -> bool {
        self.model.wants_profile()
    }

    /// Renders the prompt and asks. The call is written down whether it succeeds or not.
    ///
    /// # Errors
    /// [`Fault::Model`] with the model's error, [`ModelError::Budget`] where the allowance is used up,
    /// [`Fault::Setup`] where the prompt cannot be rendered, [`Fault::Cancelled`] where the conversation ended meanwhile.
    pub async fn ask(&self, ask: Ask<'_>) -> Result<ChatReply, Fault> {
        let seat = self.turn.seat();
        let messages = if self.model.reads_prompt() { self.render(&ask)? } else { Vec::new() };
        let ordinal = self.admit(&messages, ask.choices).map_err(Fault::Model)?;
        let place = (self.turn.seq(), self.turn.attempt(), ordinal);
        let request = ChatRequest {
            purpose: ask.purpose,
            messages,
            parameters: seat.parameters.clone(),
            choices: ask.choices.max(1),
            seed: self.turn.request_seed(ask.purpose, ordinal),
            draw: Draw { sample: seat.scene.sample, first: self.turn.allowance().draw, ordinal },
            subject: ask.subject,
            traceparent: Some(crate::ids::traceparent(seat.scene.conversation, place)),
        };
        let started_ns = now_unix_nanos();
        let outcome = tokio::select! {
            reply = self.model.chat(&request) => reply,
            () = self.turn.cancelled().cancelled() => Err(ModelError::Cancelled),
        };
        self.write_down(request, &outcome, started_ns);
        outcome.map_err(|error| match error {
            ModelError::Cancelled => Fault::Cancelled,
            other => Fault::Model(other),
        })
    }

    fn render(&self, ask: &Ask<'_>) -> Result<Vec<ChatMessage>, Fault> {
        let prompt = self.turn.seat().prompt(ask.prompt)?;
        let data = PromptData::new(ask.purpose, &ask.subject);
        prompt.render(&data).map_err(|error| Fault::Setup(error.to_string()))
    }

    /// Checks the allowance; gives the call's ordinal within the turn.
    fn admit(&self, messages: &[ChatMessage], choices: u32) -> Result<u32, ModelError> {
        let allowance = self.turn.allowance();
        let mut log = self.turn.log();
        let made = u32::try_from(log.calls.len()).unwrap_or(u32::MAX);
        if allowance.calls.is_some_and(|calls| made >= calls) {
            log.refused = Some(BudgetKind::ModelCalls);
            return Err(ModelError::Budget);
        }
        if let Some(tokens) = allowance.tokens {
            let longest = self.turn.seat().parameters.max_output_tokens;
            if log.charged_tokens() + worst_case_tokens(messages, choices, longest) > tokens {
                log.refused = Some(BudgetKind::Tokens);
                return Err(ModelError::Budget);
            }
        }
        Ok(made)
    }

    fn write_down(&self, request: ChatRequest, outcome: &Result<ChatReply, ModelError>, started_ns: u64) {
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
            choices: reply.map(|reply| reply.choices.clone()).unwrap_or_default(),
            usage: reply.map_or_else(Usage::default, |reply| reply.usage),
            attempts,
            error,
            started_ns,
            ended_ns: now_unix_nanos(),
        });
    }
}
