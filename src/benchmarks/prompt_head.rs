use super::python_syntax::{GrammarMissing, PythonText, nodes_below};
use crate::languages::outline::FunctionHead;

/// What a prompt in the manner of HumanEval says of the function that it leaves to write: a prompt is Python that ends
/// with the head of that function and its documentation. `None` where it does not define `entry_point`.
///
/// Imports that stand inside of the function's head are counted to what stands above it.
pub(super) fn python_head(prompt: &str, entry_point: &str) -> Result<Option<FunctionHead>, GrammarMissing> {
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
    Ok(Some(FunctionHead { preamble, signature }))
}

#[cfg(test)]
mod tests {
    use super::python_head;

    #[test]
    fn a_prompt_is_taken_apart_at_the_function_that_is_asked_for() {
        let prompt = "import math\n\ndef half(x):\n    return x / 2\n\n\ndef quarter(x: float) -> float:\n    \"\"\" doc \"\"\"\n";
        let head = python_head(prompt, "quarter").unwrap().unwrap();
        assert_eq!(head.preamble.unwrap(), "import math\n\ndef half(x):\n    return x / 2\n");
        assert_eq!(head.signature, "def quarter(x: float) -> float:");
        assert!(python_head(prompt, "third").unwrap().is_none());
    }

    #[test]
    fn an_import_inside_of_the_head_is_not_lost() {
        let head = python_head("def up(x):\n    import math\n    \"\"\" doc \"\"\"\n", "up").unwrap().unwrap();
        assert_eq!((head.preamble.as_deref(), head.signature.as_str()), (Some("import math\n"), "def up(x):"));
    }
}
