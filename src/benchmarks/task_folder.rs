use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use super::{BenchmarkError, Mistakes, Place, task_file::read_task};
use crate::domain::Problem;

/// Loads every task file (`*.toml`) of a folder, by name; folders inside of it are not looked into.
///
/// # Errors
/// A folder that cannot be read or holds no task file; every mistake of every file at once; two files with one id.
pub fn load_dir(dir: &Path) -> Result<Vec<Problem>, BenchmarkError> {
    let mut mistakes = Vec::new();
    let mut loaded = Vec::new();
    for path in task_files(dir)? {
        match read_task(&path) {
            Ok(task) => loaded.push(task),
            Err(BenchmarkError::Content(found)) => mistakes.extend_from_slice(found.all()),
            Err(error) => return Err(error),
        }
    }
    if let Some(mistakes) = Mistakes::of(mistakes) {
        return Err(BenchmarkError::Content(mistakes));
    }
    let mut ids = BTreeMap::<String, Place>::new();
    for (problem, second) in &loaded {
        let id = problem.task.id.0.clone();
        if let Some(first) = ids.insert(id.clone(), second.clone()) {
            return Err(BenchmarkError::DuplicateTask { id, first, second: second.clone() });
        }
    }
    Ok(loaded.into_iter().map(|(problem, _)| problem).collect())
}

fn task_files(dir: &Path) -> Result<Vec<PathBuf>, BenchmarkError> {
    let read_error = |source| BenchmarkError::Read { path: dir.to_owned(), source };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(read_error)? {
        let path = entry.map_err(read_error)?.path();
        // What cannot be read, such as a link that leads nowhere, is said and not passed over.
        if path.extension().is_some_and(|extension| extension == "toml") && !path.is_dir() {
            files.push(path);
        }
    }
    files.sort();
    if files.is_empty() {
        let (wanted, looked_for) = ("task file".to_owned(), vec!["*.toml".to_owned()]);
        return Err(BenchmarkError::NoFile { folder: dir.to_owned(), wanted, looked_for });
    }
    Ok(files)
}
