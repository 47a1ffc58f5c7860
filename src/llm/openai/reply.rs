use serde_json::Value;

use crate::{
    domain::{Money, Usage},
    llm::{
        Choice, Logprobs,
        http::{Class, Failure},
        split_reasoning,
    },
};

/// A chat completion, as far as it is one.
#[derive(Clone, Debug, PartialEq)]
pub struct Completion {
    /// The choices, by their index where they have one, else as they came.
    pub choices: Vec<Choice>,
    /// Tokens, as far as they are said.
    pub usage: Usage,
    /// The model, where it is said.
    pub model: Option<String>,
    /// The reply's id, where it is said.
    pub id: Option<String>,
}

impl Completion {
    /// Reads a reply. Only the choices must be there; every other field may be missing, `null` or of another type.
    ///
    /// A reply without any choice is broken and may be asked for again. One that is empty because the prompt fills the
    /// model's context (`length`, no tokens) is the request's fault.
    pub fn read(value: &Value) -> Result<Self, Failure> {
        let broken = || Failure::transport("body", Class::Retry, "the reply holds no choices");
        let listed =
            value.get("choices").and_then(Value::as_array).filter(|list| !list.is_empty()).ok_or_else(broken)?;
        let mut choices: Vec<(u64, Choice)> = (0_u64..)
            .zip(listed)
            .map(|(place, item)| (item.get("index").and_then(Value::as_u64).unwrap_or(place), choice(item)))
            .collect();
        choices.sort_by_key(|(index, _)| *index);
        let choices: Vec<Choice> = choices.into_iter().map(|(_, choice)| choice).collect();
        let usage = usage(value.get("usage").unwrap_or(&Value::Null));
        let is_empty = |choice: &Choice| choice.text.is_empty() && choice.finish_reason == "length";
        if usage.output_tokens == Some(0) && choices.iter().all(is_empty) {
            return Err(Failure::transport(
                Failure::TOO_LONG,
                Class::BadRequest,
                "the prompt fills the model's context",
            ));
        }
        Ok(Self { choices, usage, model: text(value.get("model")), id: text(value.get("id")) })
    }
}

/// A success that holds an error object and no choices is none.
pub fn error_inside(status: u16, value: &Value) -> Result<(), Failure> {
    let has_error = value.get("error").is_some_and(|error| !error.is_null());
    if has_error && value.get("choices").is_none_or(Value::is_null) {
        return Err(Failure::answer(status, value.to_string().as_bytes()));
    }
    Ok(())
}

/// Ids of the models that a server lists.
pub fn model_ids(value: &Value) -> Vec<String> {
    let lists = [value.get("data"), value.get("models"), Some(value)];
    let list = lists.into_iter().flatten().find_map(Value::as_array);
    let id = |model: &Value| {
        ["id", "name", "model"].iter().find_map(|key| text(model.get(key))).or_else(|| text(Some(model)))
    };
    list.into_iter().flatten().filter_map(id).collect()
}

fn choice(item: &Value) -> Choice {
    let message = item.get("message").filter(|message| message.is_object()).unwrap_or(item);
    let content = message.get("content").or_else(|| message.get("text")).map(content).unwrap_or_default();
    let apart = ["reasoning_content", "reasoning"].iter().find_map(|key| text(message.get(key)));
    let (within, answer) = split_reasoning(&content);
    let reasoning: Vec<&str> = apart.as_deref().into_iter().chain(within).filter(|text| !text.is_empty()).collect();
    // A refusal is an answer too, of which extraction says that it holds no program.
    let answer = text(message.get("refusal")).filter(|_| answer.is_empty()).unwrap_or_else(|| answer.to_owned());
    Choice {
        text: answer,
        finish_reason: text(item.get("finish_reason")).unwrap_or_else(|| "unknown".to_owned()),
        reasoning: (!reasoning.is_empty()).then(|| reasoning.join("\n")),
        note: None,
        logprobs: item.get("logprobs").and_then(logprobs),
    }
}

/// The probabilities of the reply's tokens: `content` with one object a token, or `token_logprobs` with one number. What is
/// no finite number is not counted; `None` where nothing is.
fn logprobs(value: &Value) -> Option<Logprobs> {
    let list = value.get("content").or_else(|| value.get("token_logprobs")).and_then(Value::as_array)?;
    let numbers = list.iter().filter_map(|token| token.get("logprob").unwrap_or(token).as_f64());
    let (tokens, sum) = numbers.fold((0_u32, 0.0), |(tokens, sum), number| (tokens.saturating_add(1), sum + number));
    (tokens > 0).then_some(Logprobs { tokens, sum })
}

/// The text of a message: a string, or a list of parts with text in them.
fn content(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part.as_str().or_else(|| part.get("text")?.as_str())).collect()
        }
        _ => String::new(),
    }
}

/// Unknown stays unknown: a missing or impossible number is never 0.
pub fn usage(value: &Value) -> Usage {
    let tokens = |keys: &[&str]| {
        let number = keys.iter().find_map(|key| value.pointer(key))?;
        number.as_u64().or_else(|| number.as_f64().and_then(whole))
    };
    Usage {
        input_tokens: tokens(&["/prompt_tokens", "/input_tokens"]),
        output_tokens: tokens(&["/completion_tokens", "/output_tokens"]),
        cached_input_tokens: tokens(&[
            "/prompt_tokens_details/cached_tokens",
            "/input_tokens_details/cached_tokens",
            "/prompt_cache_hit_tokens",
            "/cache_read_input_tokens",
        ]),
        reported_cost: value.get("cost").and_then(Value::as_f64).and_then(Money::nearest),
    }
}

/// A number of tokens that was written as `3.0`.
fn whole(number: f64) -> Option<u64> {
    let fits = number >= 0.0 && number.fract() == 0.0 && number < 1e15;
    fits.then(|| format!("{number:.0}").parse().ok()).flatten()
}

fn text(value: Option<&Value>) -> Option<String> {
    value.and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}
