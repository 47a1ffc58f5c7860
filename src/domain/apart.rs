//! Programs written down apart from what names them: the same text stands in many messages, and is kept once.

use std::{cell::RefCell, collections::BTreeMap};

use serde::{Serialize, Serializer, ser::SerializeStruct};

use super::{Program, ProgramHash};

/// The field that stands in a program's place where programs are kept apart; its value is the program's hash.
pub const PROGRAM_APART: &str = "$program";

/// Shorter texts stay where they are: their hash would be no shorter.
const SHORTEST: usize = 96;

thread_local! {
    static APART: RefCell<Option<BTreeMap<ProgramHash, Program>>> = const { RefCell::new(None) };
}

/// Runs `write`, in which every long program that is serialized becomes an object with the one field [`PROGRAM_APART`].
/// Gives what it came to, and the programs.
pub fn with_programs_apart<T>(write: impl FnOnce() -> T) -> (T, BTreeMap<ProgramHash, Program>) {
    let outer = APART.replace(Some(BTreeMap::new()));
    let written = write();
    let programs = APART.replace(outer).unwrap_or_default();
    (written, programs)
}

impl Serialize for Program {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let hash = APART.with_borrow_mut(|apart| {
            let apart = apart.as_mut().filter(|_| self.text.len() >= SHORTEST)?;
            let hash = self.hash();
            apart.entry(hash.clone()).or_insert_with(|| self.clone());
            Some(hash)
        });
        if let Some(hash) = hash {
            let mut object = serializer.serialize_struct("Program", 1)?;
            object.serialize_field(PROGRAM_APART, &hash)?;
            return object.end();
        }
        let mut object = serializer.serialize_struct("Program", 2)?;
        object.serialize_field("language", &self.language)?;
        object.serialize_field("text", &self.text)?;
        object.end()
    }
}

#[cfg(test)]
mod tests {
    use super::with_programs_apart;
    use crate::domain::{Language, Program};

    #[test]
    fn only_long_programs_only_inside_and_each_once() {
        let (long, short) = (Program::new(Language::Go, "x".repeat(200)), Program::new(Language::Go, "x"));
        let write = || serde_json::to_string(&[&long, &short, &long]).unwrap();
        let (apart, programs) = with_programs_apart(write);
        assert_eq!(apart.matches(&long.hash().0).count(), 2);
        assert!(apart.contains(r#"{"language":"go","text":"x"}"#));
        assert_eq!(programs.into_values().collect::<Vec<_>>(), vec![long.clone()]);
        assert_eq!(write().matches(&long.text).count(), 2);
    }
}
