//! The facts that two vocabularies have words for, in one table: what a span is called by the OpenTelemetry conventions for
//! generative AI, by OpenInference, and by names that the former has given up since.
//!
//! Both move. What is written carries today's names of both; what is read may carry any.

use opentelemetry_proto::tonic::common::v1::KeyValue;
use serde_json::{Map, Value};

use super::attributes as name;

/// A fact, by its names.
struct Fact {
    /// Ours, which is the one of the conventions.
    name: &'static str,
    /// What it is called in OpenInference, and then also on what is written.
    openinference: Option<&'static str>,
    /// Names that it had, or has elsewhere.
    formerly: &'static [&'static str],
    /// A whole number, which some wrote as text.
    is_count: bool,
}

const fn word(name: &'static str, openinference: Option<&'static str>, formerly: &'static [&'static str]) -> Fact {
    Fact { name, openinference, formerly, is_count: false }
}

const fn count(name: &'static str, openinference: Option<&'static str>, formerly: &'static [&'static str]) -> Fact {
    Fact { name, openinference, formerly, is_count: true }
}

/// Content is not written twice: readers of OpenInference translate messages themselves, and they are long.
const FACTS: &[Fact] = &[
    word(name::CONVERSATION, Some("session.id"), &[]),
    word(name::AGENT, Some("agent.name"), &[]),
    word(name::TOOL, Some("tool.name"), &[]),
    word(name::PROVIDER, Some("llm.provider"), &["gen_ai.system", "llm.system"]),
    word(name::REQUEST_MODEL, Some("llm.model_name"), &["llm.request.model"]),
    word(name::RESPONSE_MODEL, None, &["llm.response.model"]),
    count(name::REQUEST_SEED, None, &["gen_ai.openai.request.seed"]),
    count(name::REQUEST_MAX_TOKENS, None, &["llm.request.max_tokens"]),
    count(
        name::USAGE_INPUT,
        Some("llm.token_count.prompt"),
        &["gen_ai.usage.prompt_tokens", "llm.usage.prompt_tokens"],
    ),
    count(
        name::USAGE_OUTPUT,
        Some("llm.token_count.completion"),
        &["gen_ai.usage.completion_tokens", "llm.usage.completion_tokens"],
    ),
    word(name::INPUT_MESSAGES, None, &["gen_ai.prompt"]),
    word(name::OUTPUT_MESSAGES, None, &["gen_ai.completion"]),
];

/// What a conversation as a whole got and gave, in OpenInference's words: what Phoenix's list of traces tells them apart by.
/// Not understood the other way round, since others mean texts of any kind by it.
const OF_CONVERSATION: &[(&str, &str)] = &[(name::TASK, "input.value"), (name::OUTCOME, "output.value")];

/// Says what a span says in OpenInference's words too.
pub fn say_twice(attributes: &mut Vec<KeyValue>) {
    let of_facts = FACTS.iter().filter_map(|fact| Some((fact.name, fact.openinference?)));
    for (ours, theirs) in of_facts.chain(OF_CONVERSATION.iter().copied()) {
        let place = |key: &str| attributes.iter().position(|one| one.key == key);
        if let Some(said) = place(ours)
            && place(theirs).is_none()
        {
            let twin = KeyValue { key: theirs.to_owned(), ..attributes[said].clone() };
            attributes.push(twin);
        }
    }
}

/// Gives what was read the names of today, whatever it was called; a name of today that is there already stays. The words
/// of OpenInference beside it, which say nothing new, are taken away.
pub fn understand(attributes: &mut Map<String, Value>) {
    for fact in FACTS {
        for known in fact.openinference.iter().chain(fact.formerly) {
            if let Some(value) = attributes.remove(*known)
                && !attributes.contains_key(fact.name)
            {
                attributes.insert(fact.name.to_owned(), value);
            }
        }
        if fact.is_count
            && let Some(value) = attributes.get_mut(fact.name)
            && let Some(number) = value.as_str().and_then(|text| text.parse::<i64>().ok())
        {
            *value = number.into();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Map, Value, json};

    use super::{FACTS, understand};

    #[test]
    fn no_name_means_two_facts() {
        let names = FACTS
            .iter()
            .flat_map(|fact| [fact.name].into_iter().chain(fact.openinference).chain(fact.formerly.iter().copied()));
        let all: Vec<&str> = names.collect();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "{all:?}");
    }

    #[test]
    fn t49_what_was_written_in_older_words_is_read_in_those_of_today() {
        let read = |value: Value| {
            let mut attributes: Map<String, Value> = value.as_object().cloned().unwrap_or_default();
            understand(&mut attributes);
            Value::Object(attributes)
        };
        let old = json!({"gen_ai.system": "openai", "gen_ai.usage.prompt_tokens": "12", "gen_ai.usage.completion_tokens": 3,
            "llm.model_name": "m", "agent.name": "debugger", "other": "12"});
        let today = json!({"gen_ai.provider.name": "openai", "gen_ai.usage.input_tokens": 12, "gen_ai.usage.output_tokens": 3,
            "gen_ai.request.model": "m", "gen_ai.agent.name": "debugger", "other": "12"});
        assert_eq!(read(old), today);
        assert_eq!(read(today.clone()), today, "what is of today stays");
        let both = json!({"gen_ai.provider.name": "new", "gen_ai.system": "old"});
        assert_eq!(read(both), json!({"gen_ai.provider.name": "new"}));
    }
}
