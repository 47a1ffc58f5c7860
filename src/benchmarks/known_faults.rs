/// A task whose own reference program fails, or whose tests are known to judge badly.
struct KnownFault {
    task: &'static str,
    /// In every data set, or in this one only.
    dataset: Option<&'static str>,
    fault: &'static str,
}

const fn anywhere(task: &'static str, fault: &'static str) -> KnownFault {
    KnownFault { task, dataset: None, fault }
}

const fn only(dataset: &'static str, task: &'static str, fault: &'static str) -> KnownFault {
    KnownFault { task, dataset: Some(dataset), fault }
}

const KNOWN_FAULTS: &[KnownFault] = &[
    anywhere("CPP/22", "needs the library Boost"),
    anywhere("CPP/23", "the tests call a function of the C library in place of the program's"),
    anywhere("CPP/137", "needs the library Boost"),
    anywhere("JavaScript/162", "needs the package js-md5"),
    anywhere("Go/95", "the reference program's answer depends on the order of a map"),
    only("humaneval", "HumanEval/47", "an example of the documentation is wrong"),
    only("humaneval", "HumanEval/116", "an example of the documentation is wrong"),
    only("humaneval", "HumanEval/130", "an example of the documentation is wrong"),
    only("humaneval-x", "Python/119", "the example tests are no program"),
    only("humaneval-x", "JavaScript/32", "an example calls a test function by a name that it does not have"),
    only("humaneval-x", "JavaScript/112", "the reference program fails the tests"),
    only("humaneval-x", "JavaScript/155", "the reference program fails the tests"),
    only("humanevalfix", "Rust/32", "the tests try random numbers, with which some right programs never end"),
];

/// What is known to be wrong with a task of HumanEval, HumanEval-X or what is made from these, for the task's notes.
pub(super) fn known_faults(dataset: &str, task: &str) -> impl Iterator<Item = String> {
    let known =
        KNOWN_FAULTS.iter().filter(move |known| known.task == task && known.dataset.is_none_or(|only| only == dataset));
    known.map(|known| format!("{KNOWN}{}", known.fault))
}

/// How the note of a known fault begins.
const KNOWN: &str = "known fault of the task: ";

/// The known fault that a note is about, if it is about one.
pub fn known_fault(note: &str) -> Option<&str> {
    note.strip_prefix(KNOWN)
}
