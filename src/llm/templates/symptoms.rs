//! What failing tests show of a fault: which operators are likelier for it.

use std::collections::BTreeMap;

use crate::domain::{Judgement, TestResult, Verdict};

/// By how much an operator is likelier where a symptom points to it.
const FACTOR: f64 = 3.0;

/// What a failing test shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Symptom {
    /// Does not end, or recurs too deeply.
    Endless,
    /// Gives None instead of a value.
    NoResult,
    /// A number one too large or too small.
    OneOff,
    /// True for False or the reverse.
    Opposite,
    /// The right elements or characters in another order.
    Order,
    /// Part of what is expected.
    TooShort,
    /// What is expected and more.
    TooLong,
    /// An index out of range.
    Index,
    /// None where something else is needed.
    NoneUsed,
    /// A value of a type that cannot be used so.
    WrongType,
}

impl Symptom {
    /// The operators that it points to: by reason, not counted.
    fn operators(self) -> &'static [&'static str] {
        match self {
            Self::Endless => &[
                "step inserted",
                "constant condition",
                "assignment inserted",
                "augmented operator",
                "assignment by update",
                "off by one",
                "comparison boundary",
                "statement moved out",
                "statement moved in",
                "arguments exchanged",
            ],
            Self::NoResult => &["missing return", "jump inserted", "returned value", "statement moved out"],
            Self::OneOff => &[
                "off by one",
                "off by one in an operand",
                "number by one",
                "comparison boundary",
                "operand dropped",
                "step inserted",
                "augmented operator",
            ],
            Self::Opposite => &[
                "truth value",
                "condition negated",
                "comparison opposite",
                "comparison boundary",
                "comparison direction",
                "comparison equality",
                "and for or",
                "clause dropped",
                "constant condition",
                "branches exchanged",
                "membership sides",
            ],
            Self::Order => &[
                "operands exchanged",
                "elements exchanged",
                "arguments exchanged",
                "sort order",
                "collection ordered",
                "statements exchanged",
                "end of a queue",
                "key by lookup",
                "sign",
                "comparison direction",
            ],
            Self::TooShort => &[
                "collecting call inserted",
                "last element collected",
                "off by one",
                "number by one",
                "comparison boundary",
                "slice bound",
                "arithmetic with a variable",
                "statement moved out",
            ],
            Self::TooLong => &[
                "filter",
                "off by one",
                "number by one",
                "comparison boundary",
                "constant slice",
                "variable slice",
                "reset inserted",
                "string constant",
                "operand dropped",
            ],
            Self::Index => &["off by one", "guard inserted", "guard clause", "number by one", "comparison boundary"],
            Self::NoneUsed => &["guard clause", "guard inserted", "missing return"],
            Self::WrongType => &[
                "call around a number",
                "call unwrapped",
                "call around a collection",
                "missing return",
                "subscript dropped",
                "call of a value",
                "guard clause",
            ],
        }
    }

    fn of(test: &TestResult) -> Option<Self> {
        if matches!(test.verdict, Verdict::TimeoutCpu | Verdict::TimeoutWall | Verdict::Memory | Verdict::OutputLimit) {
            return Some(Self::Endless);
        }
        if let Some(message) = &test.message {
            let kind = message.split(':').next().unwrap_or(message);
            return match kind {
                "RecursionError" => Some(Self::Endless),
                "IndexError" => Some(Self::Index),
                "TypeError" | "AttributeError" if message.contains("NoneType") => Some(Self::NoneUsed),
                "TypeError" | "AttributeError" => Some(Self::WrongType),
                _ => None,
            };
        }
        Self::of_values(test.actual.as_deref()?, test.expected.as_deref()?)
    }

    fn of_values(actual: &str, expected: &str) -> Option<Self> {
        if actual == "None" {
            return Some(Self::NoResult);
        }
        if matches!((actual, expected), ("True", "False") | ("False", "True")) {
            return Some(Self::Opposite);
        }
        if let (Ok(actual), Ok(expected)) = (actual.parse::<f64>(), expected.parse::<f64>()) {
            return ((actual - expected).abs() == 1.0).then_some(Self::OneOff);
        }
        let inner = |text: &str| {
            let brackets: &[char] = &['[', ']', '(', ')', '{', '}', '\'', '"'];
            text.trim_matches(brackets).to_owned()
        };
        let sorted = |text: &str| {
            let mut bytes = text.as_bytes().to_vec();
            bytes.sort_unstable();
            bytes
        };
        let (inner_actual, inner_expected) = (inner(actual), inner(expected));
        if sorted(actual) == sorted(expected) {
            Some(Self::Order)
        } else if inner_expected.contains(&inner_actual) {
            Some(Self::TooShort)
        } else if inner_actual.contains(&inner_expected) {
            Some(Self::TooLong)
        } else {
            None
        }
    }
}

/// Factors of operators, by name; those that are not listed have factor 1. A symptom counts when a third or more of the
/// failing tests show it.
pub(super) fn factors(judgement: Option<&Judgement>) -> BTreeMap<&'static str, f64> {
    let failing: Vec<&TestResult> = judgement
        .map_or(&[][..], |judgement| &judgement.tests)
        .iter()
        .filter(|test| !matches!(test.verdict, Verdict::Passed | Verdict::NotRun | Verdict::Infrastructure))
        .collect();
    let mut counts: BTreeMap<Symptom, usize> = BTreeMap::new();
    for symptom in failing.iter().filter_map(|test| Symptom::of(test)) {
        *counts.entry(symptom).or_default() += 1;
    }
    let mut factors = BTreeMap::new();
    for (symptom, count) in counts {
        if count * 3 >= failing.len() {
            factors.extend(symptom.operators().iter().map(|operator| (*operator, FACTOR)));
        }
    }
    factors
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Symptom, factors};
    use crate::{
        domain::{Judgement, Limits, Verdict},
        llm::templates::operators,
    };

    #[test]
    fn what_a_test_shows_follows_from_values_messages_and_verdicts() {
        let of = Symptom::of_values;
        assert_eq!(of("None", "3"), Some(Symptom::NoResult));
        assert_eq!(of("4", "3"), Some(Symptom::OneOff));
        assert_eq!(of("7", "3"), None);
        assert_eq!(of("True", "False"), Some(Symptom::Opposite));
        assert_eq!(of("[2, 1]", "[1, 2]"), Some(Symptom::Order));
        assert_eq!(of("[1]", "[1, 2]"), Some(Symptom::TooShort));
        assert_eq!(of("'abc'", "'bc'"), Some(Symptom::TooLong));
        assert_eq!(of("'abc'", "'xyz'"), None);
        let mut judgement = Judgement::no_code([String::new()], Limits::default());
        judgement.tests[0].verdict = Verdict::Crashed;
        judgement.tests[0].message = Some("TypeError: 'NoneType' object is not iterable".to_owned());
        assert_eq!(Symptom::of(&judgement.tests[0]), Some(Symptom::NoneUsed));
        judgement.tests[0].message = Some("IndexError: list index out of range".to_owned());
        assert_eq!(Symptom::of(&judgement.tests[0]), Some(Symptom::Index));
        judgement.tests[0].verdict = Verdict::TimeoutCpu;
        assert_eq!(Symptom::of(&judgement.tests[0]), Some(Symptom::Endless));
    }

    #[test]
    fn a_symptom_of_few_failing_tests_does_not_count() {
        let mut judgement = Judgement::no_code(vec![String::new(); 4], Limits::default());
        for test in &mut judgement.tests {
            test.verdict = Verdict::Wrong;
        }
        judgement.tests[0].actual = Some("None".to_owned());
        judgement.tests[0].expected = Some("1".to_owned());
        assert!(factors(Some(&judgement)).is_empty());
        judgement.tests[1].verdict = Verdict::Passed;
        assert!(factors(Some(&judgement)).contains_key("missing return"));
    }

    #[test]
    fn symptoms_point_to_operators_that_there_are() {
        use Symptom::{Endless, Index, NoResult, NoneUsed, OneOff, Opposite, Order, TooLong, TooShort, WrongType};
        let known: BTreeSet<&str> = operators::all().map(|operator| operator.name).collect();
        for symptom in [Endless, NoResult, OneOff, Opposite, Order, TooShort, TooLong, Index, NoneUsed, WrongType] {
            for operator in symptom.operators() {
                assert!(known.contains(operator), "{symptom:?}: {operator}");
            }
        }
    }
}
