use serde::{Deserialize, Serialize};

/// Sampling parameters. What is not set is left to the server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Parameters {
    /// Softmax temperature, of all choices or of each.
    pub temperature: Option<Temperature>,
    /// Nucleus sampling.
    pub top_p: Option<f64>,
    /// How many of the likeliest tokens are drawn from; 0 switches the limit off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_k: Option<u32>,
    /// Least probability of a token, as a share of the likeliest one's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_p: Option<f64>,
    /// Divides the scores of tokens that were there before, prompt included; 1 does nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repetition_penalty: Option<f64>,
    /// Taken off the score of a token that the reply holds already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presence_penalty: Option<f64>,
    /// Taken off the score of a token for each time that the reply holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency_penalty: Option<f64>,
    /// Lower bound of the reply, in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_output_tokens: Option<u32>,
    /// Upper bound of the reply, in tokens.
    pub max_output_tokens: Option<u32>,
    /// Strings that end the reply; none by default. See [`may_cut_a_word`].
    pub stop: Vec<String>,
    /// Most tokens of a prompt and its reply together; a prompt is shortened to fit. Never sent to a server.
    pub context_tokens: Option<u32>,
    /// JSON schema of the reply, as text ([`is_answer_schema`](super::is_answer_schema)); the role reads the member `answer`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_schema: Option<String>,
    /// Whether to ask for the probabilities of the reply's tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logprobs: Option<bool>,
    /// Which seed requests carry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<SeedRule>,
}

impl Parameters {
    /// These, and `defaults` where they say nothing.
    pub fn or(&self, defaults: &Self) -> Self {
        Self {
            temperature: self.temperature.clone().or_else(|| defaults.temperature.clone()),
            top_p: self.top_p.or(defaults.top_p),
            top_k: self.top_k.or(defaults.top_k),
            min_p: self.min_p.or(defaults.min_p),
            repetition_penalty: self.repetition_penalty.or(defaults.repetition_penalty),
            presence_penalty: self.presence_penalty.or(defaults.presence_penalty),
            frequency_penalty: self.frequency_penalty.or(defaults.frequency_penalty),
            min_output_tokens: self.min_output_tokens.or(defaults.min_output_tokens),
            max_output_tokens: self.max_output_tokens.or(defaults.max_output_tokens),
            stop: if self.stop.is_empty() { defaults.stop.clone() } else { self.stop.clone() },
            context_tokens: self.context_tokens.or(defaults.context_tokens),
            response_schema: self.response_schema.clone().or_else(|| defaults.response_schema.clone()),
            logprobs: self.logprobs.or(defaults.logprobs),
            seed: self.seed.or(defaults.seed),
        }
    }

    /// Whether requests carry a seed.
    pub fn sends_seed(&self) -> bool {
        self.seed != Some(SeedRule::None)
    }

    /// What cannot be together: the key that is wrong, and why.
    pub fn contradiction(&self) -> Option<(&'static str, String)> {
        let longest = self.max_output_tokens?;
        if let Some(context) = self.context_tokens.filter(|context| *context <= longest) {
            let why = format!("is {context}: `max_output_tokens` is {longest}, nothing is left for a prompt");
            return Some(("context_tokens", why));
        }
        let shortest = self.min_output_tokens.filter(|shortest| *shortest > longest)?;
        Some(("min_output_tokens", format!("is {shortest}: `max_output_tokens` is {longest}")))
    }
}

/// A temperature of all choices, or of each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Temperature {
    /// The same for every choice.
    Same(f64),
    /// By the number of the choice among those that a role asks for at once: the first has the first entry, what comes
    /// after the last entry has the last. Never empty.
    ByChoice(Vec<f64>),
}

impl Temperature {
    /// The temperature of choice number `choice`.
    pub fn of(&self, choice: u32) -> f64 {
        match self {
            Self::Same(temperature) => *temperature,
            Self::ByChoice(list) => list.get(choice as usize).or(list.last()).copied().unwrap_or_default(),
        }
    }

    /// How many of these choices, from the first on, have the temperature of the first, so that one request can ask for
    /// them.
    pub fn alike(&self, choices: &[u32]) -> usize {
        let Some(first) = choices.first().map(|choice| self.of(*choice)) else { return 0 };
        choices.iter().take_while(|choice| self.of(**choice) == first).count()
    }
}

impl From<f64> for Temperature {
    fn from(temperature: f64) -> Self {
        Self::Same(temperature)
    }
}

/// Which seed a request carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SeedRule {
    /// One derived from the run's seed and the place of the call.
    Derived,
    /// None, for servers that refuse the field.
    None,
}

/// Whether a stop string could end a reply in the middle of a word: the server cuts wherever the string stands, so `def`
/// cuts at "default". Only a string that begins and ends with something else than a letter, a digit or `_` cannot.
pub fn may_cut_a_word(stop: &str) -> bool {
    let of_word = |c: char| c.is_alphanumeric() || c == '_';
    stop.chars().next().is_none_or(of_word) || stop.chars().next_back().is_none_or(of_word)
}

/// What is wanted of a stop string.
pub const STOP_FORM: &str = "a string that begins and ends with something else than a letter, a digit or `_`";
/// What stop strings are, and why that is wanted of them.
pub const STOP_REASON: &str =
    "strings that end a reply; a server cuts wherever one stands, also inside a word: write \"\\ndef \" for \"def\"";

#[cfg(test)]
mod tests {
    use super::{Parameters, Temperature};

    #[test]
    fn the_last_temperature_of_a_list_stands_for_the_rest() {
        let list = Temperature::ByChoice(vec![0.2, 0.6, 0.6, 1.0]);
        let of = |choice| list.of(choice);
        assert_eq!((0..6).map(of).collect::<Vec<_>>(), [0.2, 0.6, 0.6, 1.0, 1.0, 1.0]);
        for (choices, alike) in
            [(&[0, 1, 2][..], 1), (&[1, 2, 3], 2), (&[2], 1), (&[3, 4, 5], 3), (&[5, 0], 1), (&[], 0)]
        {
            assert_eq!(list.alike(choices), alike, "{choices:?}");
        }
        assert_eq!(Temperature::from(0.5).alike(&[0, 1, 2]), 3);
    }

    #[test]
    fn records_without_a_parameter_are_read_and_say_no_more_than_is_set() {
        let old = r#"{"temperature":0.7,"top_p":null,"max_output_tokens":512,"stop":[],"context_tokens":null}"#;
        let parameters: Parameters = serde_json::from_str(old).unwrap();
        assert_eq!(parameters.temperature, Some(0.7.into()));
        assert_eq!(serde_json::to_string(&parameters).unwrap(), old);
        let list: Parameters = serde_json::from_str(r#"{"temperature":[0.2,1],"seed":"none"}"#).unwrap();
        assert_eq!(list.temperature, Some(Temperature::ByChoice(vec![0.2, 1.0])));
        assert!(!list.sends_seed() && parameters.sends_seed());
    }
}
