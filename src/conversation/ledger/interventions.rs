//! What edges do to the messages that they carry, to find out what these are worth.

use std::{collections::BTreeMap, sync::Arc};

use similar::{ChangeTag, TextDiff};

use super::Ledger;
use crate::{
    domain::Program,
    ids::MessageId,
    messages::{Diagnosis, Intervention, Message},
    topology::{Edge, Source},
};

impl Ledger {
    /// What comes out of the other end of an edge; `None` where nothing does.
    pub(super) fn carried(&self, edge: &Edge, message: &Message) -> Option<Message> {
        match (edge.intervene, message) {
            (None, message) => Some(message.clone()),
            (Some(Intervention::Drop), _) => None,
            (Some(intervention), Message::Diagnosis(diagnosis)) => {
                Some(Message::Diagnosis(self.altered(diagnosis, intervention)))
            }
            (Some(_), message) => Some(message.clone()),
        }
    }

    /// What the history tells of diagnoses that no edge carried as they were said: otherwise a role that reads the past
    /// would find the words that an intervention keeps from it.
    pub(super) fn heard_instead(&self, from: usize, said: &[Message]) -> BTreeMap<MessageId, Option<Arc<Diagnosis>>> {
        let edge = self.plan.edges_from(Source::Actor(from)).find(|edge| edge.intervene.is_some());
        let Some(intervention) = edge.and_then(|edge| edge.intervene) else { return BTreeMap::new() };
        let altered = |diagnosis: &Arc<Diagnosis>| match intervention {
            Intervention::Drop => (diagnosis.id, None),
            other => (diagnosis.id, Some(self.altered(diagnosis, other))),
        };
        let diagnoses = said.iter().filter_map(|message| match message {
            Message::Diagnosis(diagnosis) => Some(diagnosis),
            _ => None,
        });
        diagnoses.map(altered).collect()
    }

    fn altered(&self, diagnosis: &Diagnosis, intervention: Intervention) -> Arc<Diagnosis> {
        let text = match intervention {
            Intervention::Drop | Intervention::Blank => String::new(),
            Intervention::Shuffle => self.placebo(diagnosis.id),
            Intervention::Oracle => {
                let program = diagnosis.report.candidate.program.as_deref();
                self.reference.as_deref().map(|reference| differences(program, reference)).unwrap_or_default()
            }
        };
        Arc::new(Diagnosis { text, intervention: Some(intervention), ..diagnosis.clone() })
    }

    /// A diagnosis of another task: which one follows from the seed and the place of the real one.
    fn placebo(&self, id: MessageId) -> String {
        let own = self.task_id();
        let others: Vec<&str> = self
            .placebos
            .iter()
            .filter(|placebo| own.as_ref() != Some(&placebo.task))
            .map(|placebo| placebo.text.as_str())
            .collect();
        let place = self.dice(&[0, u64::from(id.seq), u64::from(id.index)], others.len());
        place.and_then(|place| others.get(place)).map(|text| (*text).to_owned()).unwrap_or_default()
    }
}

/// In words: the lines in which a program differs from a right one.
fn differences(program: Option<&Program>, reference: &Program) -> String {
    let Some(program) = program else { return format!("A right program is:\n\n{}", reference.text) };
    let diff = TextDiff::from_lines(program.text.as_str(), reference.text.as_str());
    let mut text = "Compared with a right program, line by line (- is this program, + is the right one):\n".to_owned();
    for change in diff.iter_all_changes().filter(|change| change.tag() != ChangeTag::Equal) {
        let (sign, line) = match change.old_index() {
            Some(index) => ('-', format!(" (line {})", index + 1)),
            None => ('+', String::new()),
        };
        text.push_str(&format!("{sign}{line} {}\n", change.value().trim_end_matches(['\r', '\n'])));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::differences;
    use crate::domain::{Language, Program};

    #[test]
    fn an_oracle_names_the_line_and_what_should_stand_there() {
        let program = |text: &str| Program::new(Language::Python, text);
        let wrong = program("def f(x):\n    y = x\n    return y\n");
        let right = program("def f(x):\n    y = x + 1\n    return y\n");
        let text = differences(Some(&wrong), &right);
        assert!(text.ends_with("- (line 2)     y = x\n+     y = x + 1\n"), "{text}");
        assert!(differences(None, &right).contains("y = x + 1"));
    }
}
