//! The model itself: answers requests from their typed objects.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
};

use futures_util::future::BoxFuture;

use super::{
    literals::Literals,
    localisation::Suspicion,
    shape::Types,
    space::{Ordered, Space, next},
    symptoms::factors,
};
use crate::{
    domain::{Judgement, Language, Profile, Program, ProgramHash, TestSuite, Usage},
    llm::{
        Ancestor, ChatModel, ChatReply, ChatRequest, Choice, ModelError, ModelInfo, Purpose, Sibling, Subject, Terms,
    },
};

/// Programs whose edits are kept.
const KEPT_SPACES: usize = 64;
/// Programs whose edits are tried in one answer.
const MAX_BASES: usize = 4;

/// The built-in offline model: repairs Python programs by edits of the syntax tree, ordered by fault localisation and
/// by how often each operator repairs anything. Needs no network, and reads no prompt.
///
/// An answer is a function of the request's program, judgement, profile, siblings, seed and seen programs. It answers
/// [`Purpose::Repair`], and [`Purpose::Draft`] of tasks with a starter program (mutants of it without any feedback).
/// Programs of a reply are new: none is in `seen`, none is there twice, each parses.
pub struct Templates {
    info: ModelInfo,
    spaces: Arc<Mutex<Spaces>>,
}

/// Edit spaces by program and types, the least recently used dropped first. Changes no answer, only its time.
#[derive(Default)]
struct Spaces {
    clock: u64,
    kept: BTreeMap<SpaceKey, (u64, Arc<Space>)>,
}

/// Program, types of variables, hash of the visible tests.
type SpaceKey = (ProgramHash, BTreeMap<String, BTreeSet<String>>, [u8; 32]);

impl Templates {
    /// The model, with nothing remembered.
    pub fn new() -> Self {
        let info = ModelInfo {
            name: "templates".to_owned(),
            provider: "rolecall.templates".to_owned(),
            model: "templates".to_owned(),
            server_address: None,
            server_port: None,
        };
        Self { info, spaces: Arc::default() }
    }
}

impl Default for Templates {
    fn default() -> Self {
        Self::new()
    }
}

impl ChatModel for Templates {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn answers(&self, purpose: Purpose) -> bool {
        matches!(purpose, Purpose::Draft | Purpose::Repair)
    }

    fn wants_profile(&self) -> bool {
        true
    }

    fn terms(&self) -> Terms {
        Terms::FREE
    }

    fn avoids_repeats(&self) -> bool {
        true
    }

    fn reads_prompt(&self) -> bool {
        false
    }

    fn is_kept(&self) -> bool {
        false
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        let (spaces, request) = (self.spaces.clone(), request.clone());
        Box::pin(async move {
            tokio::task::spawn_blocking(move || answer(&spaces, &request)).await.unwrap_or_else(|error| {
                if error.is_panic() {
                    std::panic::resume_unwind(error.into_panic())
                } else {
                    Err(ModelError::Cancelled)
                }
            })
        })
    }
}

fn answer(spaces: &Mutex<Spaces>, request: &ChatRequest) -> Result<ChatReply, ModelError> {
    let subject = &request.subject;
    let writes = matches!(request.purpose, Purpose::Draft | Purpose::Repair);
    let Some(program) = subject.program.as_ref().filter(|_| writes) else {
        return Err(ModelError::NothingToSay(format!("templates cannot {} without a program", request.purpose)));
    };
    if program.language != Language::Python {
        return Err(ModelError::NothingToSay(format!("templates does not know {}", program.language.title())));
    }
    let mut ordered: Ordered = Vec::new();
    if request.purpose == Purpose::Draft {
        let space = edits_of(spaces, request, program, None);
        let keys = space.blind(request.seed);
        ordered.push((space, keys));
    } else {
        for base in bases(subject, program) {
            let mut suspicion = Suspicion::new(base.profile);
            if let Some(judgement) = base.judgement {
                let tried = base.siblings.iter().map(|other| (other.program.text.as_str(), &*other.judgement));
                suspicion.boost((&base.program.text, judgement), tried);
            }
            let space = edits_of(spaces, request, base.program, base.profile);
            let keys = space.guided(&suspicion, &factors(base.judgement), request.seed);
            ordered.push((space, keys));
        }
    }
    let mutants = next(&ordered, request.choices as usize, |hash| !subject.seen.contains(hash));
    if mutants.is_empty() {
        return Err(ModelError::NothingToSay("templates has no edit left for this program".to_owned()));
    }
    let choices = mutants
        .into_iter()
        .map(|mutant| Choice {
            text: fenced(&mutant.text),
            finish_reason: "stop".to_owned(),
            reasoning: None,
            note: Some(mutant.note),
            logprobs: None,
        })
        .collect();
    let usage = Usage { input_tokens: Some(0), output_tokens: Some(0), ..Usage::default() };
    Ok(ChatReply { choices, usage, model: "templates".to_owned(), id: None, attempts: Vec::new() })
}

/// A program whose edits are tried, with what is known of it.
struct Base<'a> {
    program: &'a Program,
    judgement: Option<&'a Judgement>,
    profile: Option<&'a Profile>,
    siblings: &'a [Sibling],
}

/// The program to repair and its ancestors, as far as each passes more tests than all that it was made from; the first
/// ancestor always. A program that is no better than what it was made from is a detour: its edits would mostly be
/// those of its ancestors over again. One that is better may be a dead end, so that those of its ancestors stay open.
fn bases<'a>(subject: &'a Subject, program: &'a Program) -> Vec<Base<'a>> {
    let of_program = Base {
        program,
        judgement: subject.judgement.as_deref(),
        profile: subject.profile.as_deref(),
        siblings: &subject.siblings,
    };
    let of_ancestor = |ancestor: &'a Ancestor| Base {
        program: &ancestor.program,
        judgement: Some(&ancestor.judgement),
        profile: ancestor.profile.as_deref(),
        siblings: &ancestor.siblings,
    };
    let mut best = None;
    let mut kept = Vec::new();
    let line = std::iter::once(of_program).chain(subject.ancestors.iter().map(of_ancestor));
    for base in line.collect::<Vec<_>>().into_iter().rev() {
        let passed = base.judgement.map(Judgement::passed_tests);
        if kept.is_empty() || passed > best {
            best = passed;
            kept.push(base);
        }
    }
    // The first ancestor and the best of the others.
    while kept.len() > MAX_BASES {
        kept.remove(1);
    }
    kept.reverse();
    kept
}

/// The edits of a program, remembered or made.
fn edits_of(spaces: &Mutex<Spaces>, request: &ChatRequest, program: &Program, profile: Option<&Profile>) -> Arc<Space> {
    let types = profile.map(|profile| profile.types.clone()).unwrap_or_default();
    let key: SpaceKey = (program.hash(), types, tests_hash(&request.subject.task.feedback));
    let mut guard = spaces.lock().unwrap_or_else(PoisonError::into_inner);
    guard.clock += 1;
    let clock = guard.clock;
    if let Some((used, space)) = guard.kept.get_mut(&key) {
        *used = clock;
        return space.clone();
    }
    drop(guard);
    let literals = match request.purpose {
        Purpose::Draft => Literals::default(),
        _ => Literals::of_tests(&request.subject.task.feedback),
    };
    let space = Arc::new(Space::new(&program.text, Types::new(&key.1), literals));
    let mut guard = spaces.lock().unwrap_or_else(PoisonError::into_inner);
    if guard.kept.len() >= KEPT_SPACES {
        let oldest = guard.kept.iter().min_by_key(|(_, (used, _))| *used).map(|(key, _)| key.clone());
        if let Some(oldest) = oldest {
            guard.kept.remove(&oldest);
        }
    }
    guard.kept.insert(key, (clock, space.clone()));
    space
}

fn tests_hash(tests: &TestSuite) -> [u8; 32] {
    match tests {
        TestSuite::Assertions { code, .. } => *blake3::hash(code.as_bytes()).as_bytes(),
        TestSuite::Io { .. } => [0; 32],
    }
}

/// The text in a fence that is longer than any run of backticks in it (CommonMark 0.31, fenced code blocks).
fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}python\n{text}{end}{fence}\n")
}
