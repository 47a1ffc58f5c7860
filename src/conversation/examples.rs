use std::{collections::BTreeSet, sync::Arc};

use thiserror::Error;

use crate::{
    benchmarks::BENCHMARKS,
    domain::{Example, Language, Problem},
    ids::{TaskId, keyed},
};

/// Why a split cannot give the examples of a run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ExampleError {
    /// It holds a task that the run scores.
    #[error(
        "the examples' split `{split}` holds task {task}, which this run scores: what is shown as solved must never be scored\n  hint: take examples from another split, or score another with --split"
    )]
    Scored {
        /// The split.
        split: String,
        /// A task that is in both.
        task: TaskId,
    },
    /// It has fewer that may be shown than are wanted.
    #[error(
        "the examples' split `{split}` has {found} solved tasks in {} that may be shown with task {task}, and {wanted} are wanted", .language.title()
    )]
    TooFew {
        /// The split.
        split: String,
        /// A task that would get too few.
        task: TaskId,
        /// The language of its programs.
        language: Language,
        /// How many there are.
        found: usize,
        /// How many are wanted.
        wanted: u32,
    },
}

/// Solved tasks, of which each conversation shows some.
#[derive(Debug, Default)]
pub struct ExamplePool {
    count: usize,
    entries: Vec<Entry>,
}

/// An example with what tells whether another task is the same.
#[derive(Debug)]
struct Entry {
    example: Arc<Example>,
    statement: String,
    program: String,
}

impl ExamplePool {
    /// The tasks of `split` that have a reference, to show `count` of them with each of the tasks in `scored`.
    ///
    /// # Errors
    /// A task of the split is one of `scored`: it has its data set and id, and, where that data set is the user's own
    /// task files, whose ids are unique in a folder only, also its statement or its reference. Fewer than `count` for a
    /// task.
    pub fn new(split: &str, tasks: Vec<Problem>, count: u32, scored: &[Problem]) -> Result<Self, ExampleError> {
        let names: BTreeSet<(&str, &str)> = scored.iter().map(name).collect();
        let in_both = |problem: &&Problem| {
            let named = names.contains(&name(problem));
            named && (is_public(&problem.task.dataset) || scored.iter().any(|other| has_text_of(problem, other)))
        };
        if let Some(problem) = tasks.iter().find(in_both) {
            return Err(ExampleError::Scored { split: split.to_owned(), task: problem.task.id.clone() });
        }
        let entries = tasks.iter().filter_map(Entry::of).collect();
        let pool = Self { count: count as usize, entries };
        for problem in scored {
            let found = pool.fit_for(problem).count();
            if found < pool.count {
                let (task, language) = (problem.task.id.clone(), problem.task.language);
                return Err(ExampleError::TooFew { split: split.to_owned(), task, language, found, wanted: count });
            }
        }
        Ok(pool)
    }

    /// BLAKE3 of all its examples.
    pub fn fingerprint(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for Entry { example, statement, program } in &self.entries {
            for part in [&example.task.0, statement, program] {
                hasher.update(&(part.len() as u64).to_le_bytes());
                hasher.update(part.as_bytes());
            }
        }
        hasher.finalize().to_hex().to_string()
    }

    /// The examples of one conversation, chosen by chance from the run's seed, the data set, the task and the sample.
    /// The task itself is never among them, under whatever name: no example has its statement or its reference.
    pub fn choose(&self, problem: &Problem, sample: u32, seed: u64) -> Vec<Arc<Example>> {
        if self.count == 0 {
            return Vec::new();
        }
        let key = keyed(seed, sample, None, &["examples", &problem.task.dataset, &problem.task.id.0]);
        // Each example draws a number of its own, so that the choice does not depend on the order of the files.
        let mut drawn: Vec<(blake3::Hash, &Entry)> = self
            .fit_for(problem)
            .map(|entry| {
                let mut own = key.clone();
                own.update(entry.example.task.0.as_bytes());
                (own.finalize(), entry)
            })
            .collect();
        drawn.sort_by(|(one, _), (other, _)| one.as_bytes().cmp(other.as_bytes()));
        drawn.iter().take(self.count).map(|(_, entry)| entry.example.clone()).collect()
    }

    /// What may be shown with `problem`.
    fn fit_for<'a>(&'a self, problem: &'a Problem) -> impl Iterator<Item = &'a Entry> {
        let statement = without_blanks(&problem.task.statement);
        let reference = problem.reference.as_ref().map(|reference| without_blanks(&reference.text));
        self.entries.iter().filter(move |entry| {
            let same_language = entry.example.program.language == problem.task.language;
            let same_task = entry.statement == statement || Some(&entry.program) == reference.as_ref();
            let same_name = is_public(&problem.task.dataset) && entry.name() == name(problem);
            same_language && !same_task && !same_name
        })
    }
}

impl Entry {
    fn of(problem: &Problem) -> Option<Self> {
        let (task, program) = (&problem.task, problem.reference.clone()?);
        Some(Self {
            statement: without_blanks(&task.statement),
            program: without_blanks(&program.text),
            example: Arc::new(Example {
                dataset: task.dataset.clone(),
                task: task.id.clone(),
                statement: task.statement.clone(),
                program,
            }),
        })
    }

    fn name(&self) -> (&str, &str) {
        (&self.example.dataset, &self.example.task.0)
    }
}

fn name(problem: &Problem) -> (&str, &str) {
    (&problem.task.dataset, &problem.task.id.0)
}

/// Whether ids of this data set name the same task wherever they are read.
fn is_public(dataset: &str) -> bool {
    BENCHMARKS.iter().any(|benchmark| benchmark.name() == dataset)
}

/// Whether two tasks have one statement or one reference.
fn has_text_of(problem: &Problem, other: &Problem) -> bool {
    let reference = |problem: &Problem| problem.reference.as_ref().map(|program| without_blanks(&program.text));
    without_blanks(&problem.task.statement) == without_blanks(&other.task.statement)
        || (problem.reference.is_some() && reference(problem) == reference(other))
}

/// The words of a text, one blank between them.
fn without_blanks(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
