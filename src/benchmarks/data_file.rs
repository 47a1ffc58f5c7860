use std::path::{Path, PathBuf};

use super::BenchmarkError;

/// The file that `path` means: itself, or the one in this folder with one of the given names.
///
/// `choices` are alternatives in order of preference; the names of one choice are equally good, each with or without
/// `.gz`.
///
/// # Errors
/// A path that does not exist; a folder that holds none, or several that are equally good.
pub(super) fn data_file(path: &Path, wanted: &str, choices: &[&[String]]) -> Result<PathBuf, BenchmarkError> {
    let metadata = std::fs::metadata(path).map_err(|source| BenchmarkError::Read { path: path.to_owned(), source })?;
    if !metadata.is_dir() {
        return Ok(path.to_owned());
    }
    let mut looked_for = Vec::new();
    for choice in choices {
        let names: Vec<_> = choice.iter().flat_map(|name| [name.clone(), format!("{name}.gz")]).collect();
        let mut found: Vec<_> = names.iter().filter(|name| path.join(name).exists()).cloned().collect();
        match (found.pop(), found.is_empty()) {
            (Some(only), true) => return Ok(path.join(only)),
            (Some(last), false) => {
                found.push(last);
                return Err(BenchmarkError::SeveralFiles { folder: path.to_owned(), found });
            }
            (None, _) => looked_for.extend(names),
        }
    }
    Err(BenchmarkError::NoFile { folder: path.to_owned(), wanted: wanted.to_owned(), looked_for })
}
