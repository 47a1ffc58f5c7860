use super::python_syntax::{GrammarMissing, PythonText, nodes_below};

/// What a prompt in the manner of HumanEval says of the function that it leaves to write: a prompt is Python that ends
/// with the head of that function and its documentation.
pub(super) struct PromptHead {
    /// Imports and helper functions above the function, and imports that stand inside of its head.
    pub preamble: Option<String>,
    /// Its head, up to the colon.
    pub signature: String,
}

impl PromptHead {
    /// Takes `prompt` apart; `None` where it does not define `entry_point`.
    pub fn of(prompt: &str, entry_point: &str) -> Result<Option<Self>, GrammarMissing> {
        let text = PythonText::parse(prompt)?;
        let function = text.definition(entry_point).filter(|node| node.kind() == "function_definition");
        let Some((function, body)) = function.and_then(|node| Some((node, node.child_by_field_name("body")?))) else {
            return Ok(None);
        };
        let signature = prompt[function.start_byte()..body.start_byte()].trim_end().to_owned();
        let imports = nodes_below(body).into_iter().filter(|node| node.kind().starts_with("import_"));
        let above = [prompt[..function.start_byte()].trim()].into_iter().filter(|above| !above.is_empty());
        let parts: Vec<_> = above.chain(imports.map(|node| text.source(node))).collect();
        let preamble = (!parts.is_empty()).then(|| parts.join("\n") + "\n");
        Ok(Some(Self { preamble, signature }))
    }
}

#[cfg(test)]
mod tests {
    use super::PromptHead;

    #[test]
    fn a_prompt_is_taken_apart_at_the_function_that_is_asked_for() {
        let prompt = "import math\n\ndef half(x):\n    return x / 2\n\n\ndef quarter(x: float) -> float:\n    \"\"\" doc \"\"\"\n";
        let head = PromptHead::of(prompt, "quarter").unwrap().unwrap();
        assert_eq!(head.preamble.unwrap(), "import math\n\ndef half(x):\n    return x / 2\n");
        assert_eq!(head.signature, "def quarter(x: float) -> float:");
        assert!(PromptHead::of(prompt, "third").unwrap().is_none());
    }

    #[test]
    fn an_import_inside_of_the_head_is_not_lost() {
        let head = PromptHead::of("def up(x):\n    import math\n    \"\"\" doc \"\"\"\n", "up").unwrap().unwrap();
        assert_eq!((head.preamble.as_deref(), head.signature.as_str()), (Some("import math\n"), "def up(x):"));
    }
}
