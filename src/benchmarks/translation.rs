use std::{collections::BTreeMap, sync::Arc};

use crate::domain::{Language, Problem, Program};

/// A program to be translated.
pub struct Source {
    /// The whole program.
    pub program: Arc<Program>,
    /// Its function that the tests of its own language call.
    pub entry_point: String,
}

/// Programs of one language, each by what its task's id has behind the last `/`.
pub type Sources = BTreeMap<String, Source>;

/// The task to write the program of `problem` by translating its source; `None` where there is no source.
pub(super) fn translation(problem: Problem, sources: &Sources) -> Option<Problem> {
    let mut task = Arc::unwrap_or_clone(problem.task);
    let source = sources.get(task.id.0.rsplit('/').next()?)?;
    let from = source.program.language;
    task.statement = statement((from, &source.entry_point), (task.language, task.entry_point.as_deref()?));
    task.dataset = format!("{}-from-{from}", task.dataset);
    task.source = Some(source.program.clone());
    Some(Problem { task: Arc::new(task), ..problem })
}

fn statement((from, old): (Language, &str), (to, new): (Language, &str)) -> String {
    format!(
        "Translate a program from {} to {}. Its function `{old}` becomes `{new}`, which gives for all arguments what `{old}` \
         gives for them.",
        from.title(),
        to.title()
    )
}
