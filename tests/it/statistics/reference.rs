//! Asking the reference, and comparing with what it says.

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
    sync::{Mutex, OnceLock, PoisonError},
};

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};
use rolecall::selection::below;
use serde_json::{Value, json};

/// How far a number may be from the reference's, as a share of it or of 1.
pub const CLOSE: f64 = 1e-9;

/// The interpreter that has the packages; made where it is missing.
fn python() -> &'static str {
    static PYTHON: OnceLock<String> = OnceLock::new();
    PYTHON.get_or_init(|| {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/statistics_reference");
        let made = Command::new(&script).arg("build").output().unwrap_or_else(|error| panic!("{script:?}: {error}"));
        let said = String::from_utf8_lossy(&made.stderr);
        assert!(made.status.success(), "the statistics have nothing to be checked against: {said}");
        String::from_utf8(made.stdout).unwrap().trim().to_owned()
    })
}

/// The one reference of all tests, since loading its packages takes longer than what is asked of it. It ends with the
/// tests, whose end of its pipe closes then.
struct Reference {
    child: Child,
    answers: BufReader<ChildStdout>,
}

fn reference() -> &'static Mutex<Reference> {
    static REFERENCE: OnceLock<Mutex<Reference>> = OnceLock::new();
    REFERENCE.get_or_init(|| {
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference/statistics_reference.py");
        let mut command = Command::new(python());
        command.arg("-B").arg(program).env("OPENBLAS_NUM_THREADS", "1");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        Mutex::new(Reference { child, answers })
    })
}

/// What the reference answers to each case of a kind.
pub fn ask(kind: &str, cases: &[Value]) -> Vec<Value> {
    let mut line = String::new();
    {
        let mut reference = reference().lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(reference.child.stdin.as_mut().unwrap(), "{}", json!({ "kind": kind, "cases": cases })).unwrap();
        reference.answers.read_line(&mut line).unwrap();
    }
    let mut answer: Value = serde_json::from_str(&line).expect("the reference answers while it lives");
    assert!(answer["error"].is_null(), "{}", answer["error"].as_str().unwrap());
    let answers: Vec<Value> = serde_json::from_value(answer["answers"].take()).unwrap();
    assert_eq!(answers.len(), cases.len());
    answers
}

/// Asserts that ours is the reference's, in numbers, lists and objects of them; `null` is a number that there is not.
pub fn assert_close(ours: &Value, theirs: &Value, case: &Value) {
    match (ours, theirs) {
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).for_each(|(ours, theirs)| assert_close(ours, theirs, case));
        }
        (Value::Object(a), Value::Object(b)) if a.len() == b.len() => {
            a.iter().for_each(|(key, ours)| assert_close(ours, &b[key], case));
        }
        (Value::Number(a), Value::Number(b)) => assert_near(a.as_f64().unwrap(), b.as_f64().unwrap(), CLOSE, case),
        (Value::Null, Value::Null) => {}
        _ => panic!("ours {ours}, theirs {theirs} of {case}"),
    }
}

/// Asserts that a number is within `reach` of another, as a share of it or of 1.
pub fn assert_near(ours: f64, theirs: f64, reach: f64, case: &Value) {
    let text = case.to_string();
    let case = text.get(..2_000).unwrap_or(&text);
    assert!((ours - theirs).abs() <= reach * theirs.abs().max(1.0), "ours {ours}, theirs {theirs} of {case}");
}

/// Compares all cases of a kind: the arguments of the reference's function, and what ours is.
pub fn compare(kind: &str, cases: &[(Value, Value)]) {
    let questions: Vec<Value> = cases.iter().map(|(case, _)| case.clone()).collect();
    for ((case, ours), theirs) in cases.iter().zip(ask(kind, &questions)) {
        assert_close(ours, &theirs, case);
    }
}

/// Random inputs, the same ones every time.
pub struct Inputs(ChaCha8Rng);

impl Inputs {
    pub fn of(kind: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(kind))
    }

    /// A whole number from `low` to `high`.
    pub fn whole(&mut self, low: u64, high: u64) -> u64 {
        low + below(&mut self.0, usize::try_from(high - low + 1).unwrap()) as u64
    }

    /// A number from 0 to below 1.
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// One of the values.
    pub fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[below(&mut self.0, values.len())]
    }

    /// So many numbers.
    pub fn many<T>(&mut self, number: u64, mut one: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..number).map(|_| one(self)).collect()
    }
}
