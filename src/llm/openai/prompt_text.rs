use std::sync::Arc;

use minijinja::{AutoEscape, Environment, UndefinedBehavior, syntax::SyntaxConfig, value::Serde};
use serde::Serialize;

use crate::llm::{ChatMessage, ChatRole};

/// The name of the template in its environment, and in its errors.
const NAME: &str = "prompt_template";

/// What a template sees.
#[derive(Serialize)]
struct Prompt<'a> {
    messages: &'a [ChatMessage],
}

/// How a chat prompt becomes one text, for servers that are asked for a completion: a minijinja template over `messages`,
/// each with `role` and `content`.
#[derive(Clone, Debug)]
pub struct PromptTemplate {
    text: String,
    environment: Arc<Environment<'static>>,
}

impl PromptTemplate {
    /// The messages, a blank line between them.
    pub const DEFAULT: &'static str =
        "{% for message in messages %}{{ message.content }}{% if not loop.last %}\n\n{% endif %}{% endfor %}";

    /// A template that renders a prompt of a system and a user message, so that no unknown name is in it.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        if let Ok(syntax) = SyntaxConfig::builder().keep_trailing_newline(true).build() {
            environment.set_syntax(syntax);
        }
        let added = environment.add_template_owned(NAME, text.to_owned());
        added.map_err(|error| error.to_string())?;
        let template = Self { text: text.to_owned(), environment: Arc::new(environment) };
        let message = |role, content: &str| ChatMessage { role, content: content.to_owned() };
        template.render(&[message(ChatRole::System, "a"), message(ChatRole::User, "b")])?;
        Ok(template)
    }

    /// The template's own text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The prompt as one text.
    ///
    /// # Errors
    /// Where it fails for these messages.
    pub fn render(&self, messages: &[ChatMessage]) -> Result<String, String> {
        let rendered =
            self.environment.get_template(NAME).and_then(|template| template.render(Serde(Prompt { messages })));
        rendered.map_err(|error| error.to_string())
    }
}

impl PartialEq for PromptTemplate {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

#[cfg(test)]
mod tests {
    use super::PromptTemplate;
    use crate::llm::{ChatMessage, ChatRole};

    #[test]
    fn a_prompt_is_its_messages_with_a_blank_line_between_them() {
        let message = |role, content: &str| ChatMessage { role, content: content.to_owned() };
        let messages = [message(ChatRole::System, "You write."), message(ChatRole::User, "def f(x):\n")];
        let render = |text: &str| PromptTemplate::parse(text).unwrap().render(&messages).unwrap();
        assert_eq!(render(PromptTemplate::DEFAULT), "You write.\n\ndef f(x):\n");
        assert_eq!(render("{{ messages[1].content }}# Fixed:\n"), "def f(x):\n# Fixed:\n");
        assert_eq!(render("{% for m in messages %}<{{ m.role }}>{% endfor %}"), "<system><user>");
        for wrong in ["{{ message }}", "{{ messages[0].text }}", "{% for %}", "{{ messages"] {
            assert!(PromptTemplate::parse(wrong).is_err(), "{wrong}");
        }
    }
}
