use std::sync::Arc;

use super::{
    assertions::assertions,
    names::{shown, suggestion},
    python_syntax::PythonText,
    text_file::with_plain_line_ends,
    toml_section::{Field, Section},
};
use crate::domain::{OutputRule, Tolerance};

/// The words of `compare`.
const RULES: [&str; 4] = ["tokens", "exact", "tolerance", "checker"];

/// The function that a checker defines.
const CHECK: &str = "check";

/// The rule that `compare` names, with what it needs, and where the word stands. A mistake gives the default.
pub(super) fn output_rule<'d>(root: &mut Section<'d>) -> (Option<Field<&'d str>>, OutputRule) {
    let document = root.document;
    let word = root.string("compare");
    let tolerance = root.number("tolerance", "a number from 0 and below 1", Tolerance::new);
    let checker = root.string("checker").and_then(|text| checker(root, text));
    let named = word.as_ref().map(|word| word.value);
    let rule = match named {
        Some("tolerance") => {
            let what = "how far a number may lie from the expected one, such as 1e-6";
            root.required("tolerance", what, tolerance).map(|field| OutputRule::Tolerance(field.value))
        }
        Some("checker") => {
            let what = "a Python text with `def check(stdin, stdout)`";
            root.required("checker", what, checker).map(OutputRule::Checker)
        }
        Some("exact") => Some(OutputRule::Exact),
        _ => None,
    };
    if let Some(other) = word.as_ref().filter(|word| !RULES.contains(&word.value)) {
        let message = format!("`compare`: unknown rule `{}`", shown(other.value));
        document.mistake(other.span.start, message, Some(suggestion(other.value, RULES)));
    }
    for key in ["tolerance", "checker"] {
        // Where the word is wrong, that is the mistake.
        if root.has(key) && named.is_none_or(|named| named != key && RULES.contains(&named)) {
            let message = format!("`{key}` has no use without `compare = \"{key}\"`");
            document.mistake(word.as_ref().map_or(root.start, |word| word.span.start), message, None);
        }
    }
    (word, rule.unwrap_or_default())
}

/// A checker: Python that defines `check` with two parameters.
fn checker(root: &Section<'_>, field: Field<&str>) -> Option<Arc<str>> {
    let text = with_plain_line_ends(field.value);
    if let Err(error) = assertions(&text) {
        root.document.code_mistake("checker", &field.span, &error);
        return None;
    }
    let parameters = PythonText::parse(&text).ok()?.parameters(CHECK);
    if parameters != Some(2) {
        let message = "`checker` must define `def check(stdin, stdout)`";
        root.document.mistake(field.span.start, message, None);
        return None;
    }
    Some(text.into())
}
