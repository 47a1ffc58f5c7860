//! What prompts are rendered with, from what a turn has at hand.

use crate::{messages::ExecutionReport, prompts::PromptData, runtime::Turn};

/// For a first draft.
pub(super) fn for_draft(_turn: &Turn) -> PromptData {
    PromptData::default()
}

/// For a diagnosis or a repair of the program that `report` is about.
pub(super) fn for_report(_turn: &Turn, _report: &ExecutionReport, _diagnosis: Option<&str>) -> PromptData {
    PromptData::default()
}
