use std::{collections::BTreeMap, path::Path};

use super::{
    BenchmarkError, Place, Split,
    feedback::with_feedback,
    humaneval::HumanEval,
    humaneval_java::HumanEvalJava,
    humaneval_x::HumanEvalX,
    humanevalfix::HumanEvalFix,
    mbpp::Mbpp,
    names::{shown, suggestion},
    psb2::Psb2,
    quixbugs::QuixBugs,
    records::Record,
    translation::{Sources, translation},
};
use crate::domain::{FeedbackSet, Language, Problem};

/// What of a data set's tests roles see, and what decides, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TestSets {
    /// Tests that prompts may show and that feed back.
    pub visible: &'static str,
    /// Tests that no role sees; `None` where all are visible.
    pub hidden: Option<&'static str>,
}

/// A public data set in its own format. A format is one file and one entry of [`BENCHMARKS`].
pub trait Benchmark: Sync {
    /// The name on the command line and in records.
    fn name(&self) -> &'static str;
    /// What its tasks are, in one line.
    fn summary(&self) -> &'static str;
    /// The licence of the data.
    fn licence(&self) -> &'static str;
    /// Where the data comes from.
    fn source(&self) -> &'static str;

    /// Which of its tests roles may see, in words.
    fn tests(&self) -> TestSets;

    /// Whether its tasks have a program to repair.
    fn has_starters(&self) -> bool {
        false
    }

    /// The folders that it is looked for in, below the one of all data sets.
    fn folders(&self) -> Vec<&'static str> {
        vec![self.name()]
    }

    /// The languages that it can be read in.
    fn languages(&self) -> &'static [Language] {
        &[Language::Python]
    }

    /// The programs of `language` by what a task's id has behind the last `/`, where they can be given to be translated.
    ///
    /// # Errors
    /// As [`Benchmark::load`].
    fn sources(&self, _path: &Path, _language: Language) -> Result<Option<Sources>, BenchmarkError> {
        Ok(None)
    }

    /// The parts of it that are kept apart, all of it first.
    fn splits(&self) -> &'static [Split] {
        &[Split::ALL]
    }

    /// The split of this name.
    ///
    /// # Errors
    /// There is none; the error names those that there are.
    fn split(&self, name: &str) -> Result<&'static Split, BenchmarkError> {
        self.splits().iter().find(|split| split.name == name).ok_or_else(|| BenchmarkError::UnknownSplit {
            benchmark: self.name(),
            name: name.to_owned(),
            hint: suggestion(name, self.splits().iter().map(|split| split.name)),
        })
    }

    /// [`Benchmark::load`] for one of [`Benchmark::languages`].
    ///
    /// # Errors
    /// As [`Benchmark::load`].
    fn read(&self, path: &Path, language: Language, feedback: FeedbackSet) -> Result<Vec<Problem>, BenchmarkError>;

    /// Loads every task in the order of the file. Literals are parsed, nothing is run.
    ///
    /// `path` is the data file (plain or gzip), or a folder that holds it under its usual name.
    ///
    /// # Errors
    /// A language that it cannot be read in; whatever is wrong with the file, with its line, record and field; a task that
    /// any program would pass; two tasks of one id.
    fn load(&self, path: &Path, language: Language, feedback: FeedbackSet) -> Result<Vec<Problem>, BenchmarkError> {
        self.check_language(language)?;
        self.read(path, language, feedback)
    }

    /// As [`Benchmark::load`], the task being to translate the program of `from` with the same number. Tasks that `from`
    /// does not have are left out. Statements are ours; tests and all else are those of `to`.
    ///
    /// # Errors
    /// As [`Benchmark::load`], for both languages; a data set without programs to translate; one language twice.
    fn translate(
        &self,
        path: &Path,
        (from, to): (Language, Language),
        feedback: FeedbackSet,
    ) -> Result<Vec<Problem>, BenchmarkError> {
        let none = || BenchmarkError::NoTranslation { benchmark: self.name(), known: TRANSLATABLE.name().to_owned() };
        if self.name() != TRANSLATABLE.name() {
            return Err(none());
        }
        self.check_language(from)?;
        if from == to {
            return Err(BenchmarkError::SameLanguage { language: from });
        }
        let problems = self.load(path, to, feedback)?;
        let sources = self.sources(path, from)?.ok_or_else(none)?;
        Ok(problems.into_iter().filter_map(|problem| translation(problem, &sources)).collect())
    }

    /// Whether it can be read in `language`.
    ///
    /// # Errors
    /// It cannot; the error names what can.
    fn check_language(&self, language: Language) -> Result<(), BenchmarkError> {
        if self.languages().contains(&language) {
            return Ok(());
        }
        let has_it = |benchmark: &&&dyn Benchmark| benchmark.languages().contains(&language);
        let others = BENCHMARKS.iter().filter(has_it).map(|benchmark| benchmark.name());
        let titles = |languages: &[Language]| languages.iter().map(|one| one.title()).collect::<Vec<_>>().join(", ");
        Err(BenchmarkError::Language {
            benchmark: self.name(),
            language,
            known: titles(self.languages()),
            others: others.collect::<Vec<_>>().join(", "),
        })
    }
}

/// Every public data set, in the order in which help texts list them.
pub const BENCHMARKS: &[&dyn Benchmark] =
    &[&HumanEval, &HumanEvalX, &HumanEvalFix, &HumanEvalJava, &QuixBugs, &Mbpp, &Psb2];

/// The data set with programs to translate.
const TRANSLATABLE: &dyn Benchmark = &HumanEvalX;

/// The benchmark of this name.
///
/// # Errors
/// An unknown name, with the names that would be right.
pub fn benchmark(name: &str) -> Result<&'static dyn Benchmark, BenchmarkError> {
    BENCHMARKS.iter().copied().find(|benchmark| benchmark.name() == name).ok_or_else(|| {
        let known = BENCHMARKS.iter().map(|benchmark| benchmark.name());
        BenchmarkError::UnknownBenchmark { name: name.to_owned(), hint: suggestion(name, known) }
    })
}

/// Makes a problem of every record and refuses two tasks of one id.
pub(super) fn problems(
    records: &[Record],
    feedback: FeedbackSet,
    problem: impl Fn(&Record) -> Result<Problem, BenchmarkError>,
) -> Result<Vec<Problem>, BenchmarkError> {
    let mut ids = BTreeMap::<String, Place>::new();
    let mut problems = Vec::with_capacity(records.len());
    for record in records {
        let problem = problem(record)?;
        let (id, second) = (problem.task.id.0.clone(), record.place().clone());
        if let Some(first) = ids.insert(id.clone(), second.clone()) {
            return Err(BenchmarkError::DuplicateTask { id: shown(&id), first, second });
        }
        problems.push(with_feedback(problem, feedback));
    }
    Ok(problems)
}
