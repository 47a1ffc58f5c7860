//! A trace file by its path, or by the id of its conversation.

use std::path::{Path, PathBuf};

use thiserror::Error;

use super::finding::trace_files;

/// The fewest digits that an id is known by.
const FEWEST_DIGITS: usize = 4;

/// How many files an ambiguous id names.
const NAMED: usize = 8;

/// Why a word names no trace file.
#[derive(Debug, Error)]
pub enum LookupError {
    /// No such file, and no id either.
    #[error(
        "{0}: there is no such file\n  hint: a file, or the id of a conversation or its first digits (at least {FEWEST_DIGITS})"
    )]
    NoFile(String),
    /// No file of this id.
    #[error("no conversation `{id}` below {}\n  hint: `rolecall trace list {}` lists them", folder.display(), folder.display())]
    Unknown {
        /// The id, as it was given.
        id: String,
        /// Where it was looked for.
        folder: PathBuf,
    },
    /// Several files begin with these digits.
    #[error("`{id}` is the begin of several ids:\n{files}")]
    Ambiguous {
        /// The digits, as they were given.
        id: String,
        /// The files, one a line.
        files: String,
    },
    /// The folder cannot be read.
    #[error("{}: {error}", folder.display())]
    Folder {
        /// Which.
        folder: PathBuf,
        /// Why.
        error: std::io::Error,
    },
}

/// The file that `word` names: a path, or the id of a conversation (32 hexadecimal digits, with or without hyphens) or
/// its first digits, looked for below `folder`.
///
/// # Errors
/// Where it names none, or several.
pub fn look_up(word: &str, folder: &Path) -> Result<PathBuf, LookupError> {
    let path = Path::new(word);
    if path.exists() {
        return Ok(path.to_owned());
    }
    let digits: String = word.chars().filter(|one| *one != '-').collect::<String>().to_ascii_lowercase();
    let is_id = (FEWEST_DIGITS..=32).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    if !is_id {
        return Err(LookupError::NoFile(word.to_owned()));
    }
    let files = trace_files(folder).map_err(|error| LookupError::Folder { folder: folder.to_owned(), error })?;
    let begins = |file: &PathBuf| {
        let stem = file.file_stem().map(|stem| stem.to_string_lossy().replace('-', "").to_ascii_lowercase());
        stem.is_some_and(|stem| stem.starts_with(&digits))
    };
    let mut found: Vec<PathBuf> = files.into_iter().filter(begins).collect();
    match found.len() {
        0 => Err(LookupError::Unknown { id: word.to_owned(), folder: folder.to_owned() }),
        1 => Ok(found.remove(0)),
        many => {
            let mut files: Vec<String> = found.iter().take(NAMED).map(|file| format!("  {}", file.display())).collect();
            if many > NAMED {
                files.push(format!("  and {} more", many - NAMED));
            }
            Err(LookupError::Ambiguous { id: word.to_owned(), files: files.join("\n") })
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use std::fs;

    use super::{LookupError, look_up};

    #[test]
    fn an_id_may_have_hyphens_or_be_cut_short_but_not_fit_two() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("run");
        fs::create_dir(&run).unwrap();
        let [first, second] = ["0c89dfdfa2985e8aad1cc552b32f90fb", "0c89aaaaa2985e8aad1cc552b32f90fb"]
            .map(|id| run.join(format!("{id}.jsonl")));
        fs::write(&first, "").unwrap();
        fs::write(&second, "").unwrap();
        fs::write(run.join("0c89dfdfa2985e8aad1cc552b32f90fb.jsonl.acked"), "").unwrap();
        for word in ["0c89dfdfa2985e8aad1cc552b32f90fb", "0C89DFDF-a298-5e8a-ad1c-c552b32f90fb", "0c89df"] {
            assert_eq!(look_up(word, folder.path()).unwrap(), first);
        }
        assert_eq!(look_up(first.to_str().unwrap(), folder.path()).unwrap(), first);
        let refused = |word: &str| look_up(word, folder.path()).unwrap_err();
        assert!(matches!(refused("0c89"), LookupError::Ambiguous { files, .. } if files.lines().count() == 2));
        assert!(matches!(refused("ffff"), LookupError::Unknown { .. }));
        for word in ["0c8", "no.jsonl", "", "0c89dfdfa2985e8aad1cc552b32f90fb0"] {
            assert!(matches!(refused(word), LookupError::NoFile(_)), "{word}");
        }
        let missing = look_up("ffff", &folder.path().join("missing")).unwrap_err();
        assert!(matches!(missing, LookupError::Folder { .. }));
    }
}
