use super::{data::PromptData, error::PromptError, prompt::Prompt};
use crate::{
    domain::shorten,
    llm::{ChatMessage, estimated_tokens},
};

/// Tokens of a message beside its text.
const MESSAGE_TOKENS: usize = 4;

/// Characters of each text of the last failing test and of outputs, one after the other.
const TEXT_CHARS: [usize; 2] = [400, 100];

/// A part of a prompt that may be left out or shortened.
struct Part {
    /// What it is called in traces.
    word: &'static str,
    /// Takes a little of it away; says whether there was something to take.
    cut: fn(&mut PromptData) -> bool,
}

/// What may be left out, in the order in which it is. Statement, programs and diagnosis never are.
const PARTS: &[Part] = &[
    Part { word: "examples", cut: |data| data.examples.as_mut().is_some_and(|examples| examples.pop().is_some()) },
    Part { word: "history", cut: forget_the_oldest },
    Part { word: "values", cut: |data| report_of(data, |report| report.values.pop().is_some()) },
    Part { word: "suspicious", cut: |data| report_of(data, |report| report.suspicious.pop().is_some()) },
    Part { word: "tests", cut: drop_a_test },
    Part { word: "texts", cut: shorten_texts },
];

/// What became of a prompt that may have only so many tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fitting {
    /// It fits.
    Fits {
        /// The chat messages.
        messages: Vec<ChatMessage>,
        /// What was left out or shortened, in that order: `examples`, `history`, `values`, `suspicious`, `tests`, `texts`.
        shortened: Vec<&'static str>,
    },
    /// It does not, with everything left out that may be.
    TooLong {
        /// What it needs, estimated.
        tokens: usize,
    },
}

/// Renders a prompt that may have `limit` tokens, taking one for 4 bytes and 4 more for each message. Where it has more,
/// parts are left out one after the other until it fits:
///
/// 1. examples, the last first;
/// 2. earlier attempts, the oldest first;
/// 3. values of variables, then suspicious lines, the last first;
/// 4. failing tests (of a draft, visible tests), the last first, but for one;
/// 5. outputs and the texts of that test are shortened to 400 characters each, then to 100.
///
/// # Errors
/// Where the prompt cannot be rendered.
pub fn fit(prompt: &Prompt, mut data: PromptData, limit: usize) -> Result<Fitting, PromptError> {
    let mut messages = prompt.render(&data)?;
    let mut tokens = tokens_of(&messages);
    let mut shortened = Vec::new();
    for part in PARTS {
        while tokens > limit && (part.cut)(&mut data) {
            let before = std::mem::replace(&mut messages, prompt.render(&data)?);
            tokens = tokens_of(&messages);
            // A template need not show what was taken away.
            if messages != before && shortened.last() != Some(&part.word) {
                shortened.push(part.word);
            }
        }
    }
    Ok(if tokens > limit { Fitting::TooLong { tokens } } else { Fitting::Fits { messages, shortened } })
}

fn tokens_of(messages: &[ChatMessage]) -> usize {
    messages.iter().map(|message| estimated_tokens(&message.content) + MESSAGE_TOKENS).sum()
}

fn report_of(data: &mut PromptData, cut: fn(&mut super::ReportData) -> bool) -> bool {
    data.report.as_mut().is_some_and(cut)
}

fn forget_the_oldest(data: &mut PromptData) -> bool {
    let any = !data.history.is_empty();
    data.history.drain(..usize::from(any));
    any
}

fn drop_a_test(data: &mut PromptData) -> bool {
    if let Some(report) = data.report.as_mut().filter(|report| report.shown.len() > 1) {
        report.shown.pop();
        report.more_failing += 1;
        return true;
    }
    let more = data.task.tests.len() > 1;
    if more {
        data.task.tests.pop();
        data.task.more_tests += 1;
    }
    more
}

fn shorten_texts(data: &mut PromptData) -> bool {
    let mut texts: Vec<&mut String> = data.task.tests.iter_mut().collect();
    if let Some(report) = &mut data.report {
        texts.extend(report.compile_output.iter_mut().chain(&mut report.output));
        texts.extend(report.shown.iter_mut().flat_map(super::FailingTest::texts));
    }
    let longest = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0);
    let Some(chars) = TEXT_CHARS.into_iter().find(|chars| longest > *chars) else { return false };
    texts.into_iter().for_each(|text| *text = shorten(text, chars));
    true
}
