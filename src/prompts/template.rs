use minijinja::{
    AutoEscape, Environment, Error, ErrorKind, Output, State, UndefinedBehavior, Value, syntax::SyntaxConfig,
};

use super::parts::Part;
use crate::domain::Place;

/// The environment of every prompt: strict, without escaping, without access to files.
pub fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_formatter(refuse_absent);
    environment.set_debug(true);
    environment.add_filter("fenced", fenced);
    if let Ok(syntax) = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build() {
        environment.set_syntax(syntax);
    }
    environment
}

/// Writes a value as it is; an absent one would otherwise stand in the prompt as the word `none`.
fn refuse_absent(output: &mut Output, state: &mut State, value: &Value) -> Result<(), Error> {
    if value.is_none() {
        let message = "a value is put in here that may be absent; ask for it first: `{% if … %}`";
        return Err(Error::new(ErrorKind::InvalidOperation, message));
    }
    minijinja::escape_formatter(output, state, value)
}

/// A code block of `text` in backticks, more of them than stand together anywhere in it.
fn fenced(text: String, language: String) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let line_end = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
    format!("{fence}{language}\n{text}{line_end}{fence}")
}

/// Where in the file `text` an error of one of its parts lies.
pub fn place(file: &str, text: &str, part: &Part, error: &Error) -> Place {
    let template = &text[part.range.clone()];
    let offset = error.range().map(|range| range.start).or_else(|| {
        let line = error.line()?.checked_sub(1)?;
        Some(template.split_inclusive('\n').take(line).map(str::len).sum())
    });
    Place::of(file, text, part.range.start + offset.unwrap_or(0))
}

/// What an error says, without the place.
pub fn message(error: &Error) -> String {
    match error.detail() {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    }
}
