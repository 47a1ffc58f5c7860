use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Judgement, TestResult, Verdict};

/// What kind of mistake a program makes, in the words of the CodeError collection (arXiv 2311.09868), and `limit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorType {
    /// A wrong answer, or an assertion of the program's own.
    Assertion,
    /// An operation on values of the wrong type, a call with the wrong arguments.
    Type,
    /// A name that nothing defines.
    Name,
    /// A text that is not of the language, or that its compiler refuses.
    Syntax,
    /// A value that an operation cannot take.
    Value,
    /// Python that is not indented as it must be.
    Indentation,
    /// Too deep a recursion.
    Recursion,
    /// An attribute that an object does not have.
    Attribute,
    /// An index outside of a sequence.
    Index,
    /// A limit: time, memory, output, files, processes.
    Limit,
    /// Anything else.
    Other,
}

/// Names of exceptions in every language, without what stands before their last `.` or `::`.
const EXCEPTIONS: &[(&str, ErrorType)] = &[
    ("AssertionError", ErrorType::Assertion),
    ("TypeError", ErrorType::Type),
    ("ClassCastException", ErrorType::Type),
    ("NameError", ErrorType::Name),
    ("UnboundLocalError", ErrorType::Name),
    ("ReferenceError", ErrorType::Name),
    ("SyntaxError", ErrorType::Syntax),
    ("ValueError", ErrorType::Value),
    ("UnicodeDecodeError", ErrorType::Value),
    ("UnicodeEncodeError", ErrorType::Value),
    ("NumberFormatException", ErrorType::Value),
    ("IllegalArgumentException", ErrorType::Value),
    ("invalid_argument", ErrorType::Value),
    ("IndentationError", ErrorType::Indentation),
    ("TabError", ErrorType::Indentation),
    ("RecursionError", ErrorType::Recursion),
    ("StackOverflowError", ErrorType::Recursion),
    ("AttributeError", ErrorType::Attribute),
    ("IndexError", ErrorType::Index),
    ("IndexOutOfBoundsException", ErrorType::Index),
    ("ArrayIndexOutOfBoundsException", ErrorType::Index),
    ("StringIndexOutOfBoundsException", ErrorType::Index),
    ("out_of_range", ErrorType::Index),
];

/// What messages say where no name tells it: panics of Go and Rust, JavaScript's one name for several mistakes.
const PHRASES: &[(&str, ErrorType)] = &[
    ("Maximum call stack size exceeded", ErrorType::Recursion),
    ("index out of range", ErrorType::Index),
    ("slice bounds out of range", ErrorType::Index),
    ("index out of bounds", ErrorType::Index),
];

impl ErrorType {
    /// The word used in records and events.
    pub fn name(self) -> &'static str {
        match self {
            Self::Assertion => "assertion",
            Self::Type => "type",
            Self::Name => "name",
            Self::Syntax => "syntax",
            Self::Value => "value",
            Self::Indentation => "indentation",
            Self::Recursion => "recursion",
            Self::Attribute => "attribute",
            Self::Index => "index",
            Self::Limit => "limit",
            Self::Other => "other",
        }
    }

    /// The kind of a program's mistake: that of its first failing test. `None` where it has none that is its own: it
    /// passed, there was no program, nothing was run, or our machine failed.
    pub fn of(judgement: &Judgement) -> Option<Self> {
        if judgement.verdict == Verdict::Infrastructure {
            return None;
        }
        let failed = judgement.tests.iter().find(|test| !matches!(test.verdict, Verdict::Passed | Verdict::NotRun))?;
        match failed.verdict {
            Verdict::NoCode | Verdict::Infrastructure => None,
            Verdict::Wrong => Some(Self::Assertion),
            Verdict::CompileError => {
                let said = judgement.compile_output.as_deref().unwrap_or_default();
                Some(Self::of_message(said).filter(|kind| *kind == Self::Indentation).unwrap_or(Self::Syntax))
            }
            Verdict::Crashed => Some(Self::of_crash(failed)),
            Verdict::TimeoutCpu
            | Verdict::TimeoutWall
            | Verdict::Memory
            | Verdict::OutputLimit
            | Verdict::ProcessLimit
            | Verdict::FileLimit => Some(Self::Limit),
            Verdict::Passed | Verdict::NotRun | Verdict::Forbidden | Verdict::UnsupportedReturn => Some(Self::Other),
        }
    }

    fn of_crash(test: &TestResult) -> Self {
        test.message.as_deref().and_then(Self::of_message).unwrap_or(Self::Other)
    }

    /// By the name that a message begins with (`java.lang.ClassCastException: …`), else by a phrase in it.
    fn of_message(message: &str) -> Option<Self> {
        let head = message.split_once(": ").map_or(message, |(head, _)| head);
        let name = head.split_whitespace().next().unwrap_or_default().trim_end_matches(':');
        let name = name.rsplit(['.', ':']).next().unwrap_or(name);
        let known = |list: &[(&str, Self)], fits: &dyn Fn(&str) -> bool| {
            list.iter().find(|(text, _)| fits(text)).map(|(_, kind)| *kind)
        };
        known(EXCEPTIONS, &|text| text == name).or_else(|| known(PHRASES, &|text| message.contains(text)))
    }
}

impl fmt::Display for ErrorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::ErrorType;
    use crate::domain::{Judgement, Limits, Verdict};

    fn judged(tests: &[(Verdict, &str)], compile_output: Option<&str>) -> Judgement {
        let mut judgement = Judgement::no_code(tests.iter().map(|_| String::new()), Limits::default());
        for (test, (verdict, message)) in judgement.tests.iter_mut().zip(tests) {
            test.verdict = *verdict;
            test.message = (!message.is_empty()).then(|| (*message).to_owned());
        }
        judgement.verdict = Verdict::of_program(tests.iter().map(|(verdict, _)| *verdict));
        judgement.compile_output = compile_output.map(str::to_owned);
        judgement
    }

    #[test]
    fn a_crash_is_named_by_its_exception_in_every_language() {
        for (message, expected) in [
            ("TypeError: f() takes 1 positional argument but 2 were given", ErrorType::Type),
            ("NameError: name 'x' is not defined (line 2 of the program)", ErrorType::Name),
            ("ValueError: invalid literal for int() with base 10: 'x'", ErrorType::Value),
            ("RecursionError: maximum recursion depth exceeded", ErrorType::Recursion),
            ("AttributeError: 'NoneType' object has no attribute 'foo'", ErrorType::Attribute),
            ("IndexError: list index out of range (line 3 of the program)", ErrorType::Index),
            ("AssertionError (line 8 of the program)", ErrorType::Assertion),
            ("ZeroDivisionError: division by zero", ErrorType::Other),
            ("KeyError: 'TypeError: x'", ErrorType::Other),
            ("std::out_of_range: vector::_M_range_check", ErrorType::Index),
            ("std::invalid_argument: stoi", ErrorType::Value),
            ("java.lang.NumberFormatException: For input string: \"x\"", ErrorType::Value),
            ("java.lang.StackOverflowError", ErrorType::Recursion),
            ("java.lang.ClassCastException: class java.lang.Integer", ErrorType::Type),
            ("panic: runtime error: index out of range [1] with length 0", ErrorType::Index),
            ("panicked: index out of bounds: the len is 0 but the index is 1", ErrorType::Index),
            ("ReferenceError: x is not defined (line 2 of the program)", ErrorType::Name),
            ("RangeError: Maximum call stack size exceeded", ErrorType::Recursion),
            ("the process was ended by signal SIGSEGV", ErrorType::Other),
            ("", ErrorType::Other),
        ] {
            let judgement = judged(&[(Verdict::Passed, ""), (Verdict::Crashed, message), (Verdict::Wrong, "")], None);
            assert_eq!(ErrorType::of(&judgement), Some(expected), "{message}");
        }
    }

    #[test]
    fn other_verdicts_have_words_of_their_own() {
        for (verdict, output, expected) in [
            (Verdict::Wrong, None, Some(ErrorType::Assertion)),
            (Verdict::CompileError, Some("SyntaxError: '(' was never closed (line 1)"), Some(ErrorType::Syntax)),
            (Verdict::CompileError, Some("IndentationError: unexpected indent"), Some(ErrorType::Indentation)),
            (Verdict::CompileError, Some("TabError: inconsistent use of tabs"), Some(ErrorType::Indentation)),
            (Verdict::CompileError, Some("program.cpp:1:2: error: 'x' was not declared"), Some(ErrorType::Syntax)),
            (Verdict::TimeoutCpu, None, Some(ErrorType::Limit)),
            (Verdict::Memory, None, Some(ErrorType::Limit)),
            (Verdict::Forbidden, None, Some(ErrorType::Other)),
            (Verdict::Passed, None, None),
            (Verdict::NoCode, None, None),
            (Verdict::Infrastructure, None, None),
        ] {
            assert_eq!(ErrorType::of(&judged(&[(verdict, "")], output)), expected, "{verdict:?}");
        }
    }
}
