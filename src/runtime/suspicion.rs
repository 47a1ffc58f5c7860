//! What a call's record shows that no server says: prompts that were cut, samples that are all the same.

use std::collections::BTreeSet;

use super::CallRecord;

/// No tokenizer makes fewer tokens of ordinary text: English has 4 to 5 bytes a token, code 3.
const MOST_BYTES_A_TOKEN: u64 = 8;
/// Shorter prompts prove nothing.
const LONG_PROMPT_BYTES: u64 = 4_096;

impl CallRecord {
    /// Whether the server saw far fewer tokens than were sent: some cut a prompt that is too long at its beginning, without a
    /// word. Bytes sent and tokens seen.
    pub fn cut_prompt(&self) -> Option<(u64, u64)> {
        let bytes: u64 = self.messages.iter().map(|message| message.content.len() as u64).sum();
        let seen = self.usage.input_tokens?;
        (bytes >= LONG_PROMPT_BYTES && seen > 0 && bytes > seen.saturating_mul(MOST_BYTES_A_TOKEN))
            .then_some((bytes, seen))
    }

    /// How many of the choices have no answer, since their tokens ran out while the model was thinking.
    pub fn ran_out_thinking(&self) -> usize {
        self.choices.iter().filter(|choice| choice.ran_out_thinking()).count()
    }

    /// How many different texts the choices have, where there are several and chance should tell them apart: not at temperature 0.
    pub fn distinct_choices(&self) -> Option<usize> {
        let is_greedy = self.parameters.temperature.as_ref().is_some_and(|temperature| temperature.of(0) == 0.0);
        let texts: BTreeSet<&str> = self.choices.iter().map(|choice| choice.text.as_str()).collect();
        (self.choices.len() > 1 && !is_greedy).then_some(texts.len())
    }
}
