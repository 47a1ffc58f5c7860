use super::{Purpose, Terms};

/// What a model can do, known from its name before anything is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// The purposes that it answers at all.
    pub answers: &'static [Purpose],
    /// See `ChatModel::avoids_repeats`.
    pub avoids_repeats: bool,
    /// What its calls cost.
    pub terms: Terms,
    /// The longest reply, where the model's own file bounds it.
    pub max_output_tokens: Option<u32>,
}

impl Capabilities {
    /// Of a model behind an OpenAI-compatible server of which nothing else is known.
    const SERVER: Self =
        Self { answers: EVERYTHING, avoids_repeats: false, terms: Terms::UNKNOWN, max_output_tokens: None };
}

const EVERYTHING: &[Purpose] = &Purpose::ALL;

/// The capabilities of the model with this name; `None` where the name means no model.
///
/// `templates` and `scripted` are built in; `openai`, `openai:ID` and the path of a model file are models behind an
/// OpenAI-compatible server. A path is not opened here.
pub fn capabilities(model_name: &str) -> Option<Capabilities> {
    match model_name {
        "templates" => Some(Capabilities {
            answers: &[Purpose::Draft, Purpose::Repair],
            avoids_repeats: true,
            terms: Terms::FREE,
            ..Capabilities::SERVER
        }),
        "scripted" => Some(Capabilities { terms: Terms::FREE, ..Capabilities::SERVER }),
        "openai" => Some(Capabilities::SERVER),
        name if names_file(name) || is_openai_id(name) => Some(Capabilities::SERVER),
        _ => None,
    }
}

/// Whether a model name is the path of a model file rather than a bare name.
pub fn names_file(model_name: &str) -> bool {
    !is_openai_id(model_name) && (model_name.contains('/') || model_name.ends_with(".toml"))
}

fn is_openai_id(name: &str) -> bool {
    name.strip_prefix("openai:").is_some_and(|id| !id.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::{Purpose, capabilities, names_file};

    #[test]
    fn templates_does_not_diagnose_and_an_id_may_hold_a_slash() {
        let answers = |name: &str, purpose| capabilities(name).is_some_and(|model| model.answers.contains(&purpose));
        assert!(answers("templates", Purpose::Repair) && !answers("templates", Purpose::Diagnose));
        assert!(answers("openai:org/model", Purpose::Diagnose) && !names_file("openai:org/model"));
        assert!(names_file("models/mine.toml") && names_file("mine.toml"));
        assert_eq!(capabilities("openai:"), None);
        assert_eq!(capabilities("gpt"), None);
    }
}
