use std::{
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use super::{Medium, Mistake, Place, TextSource, embedded_file, quoted};
use crate::domain::read_regular_file;

/// Larger configuration files and prompts are refused: 1 MiB.
pub const MAX_FILE_BYTES: u64 = 1 << 20;

/// Where a configuration file or a prompt is. Paths are taken as they are: nothing in them is expanded.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConfigPath {
    /// Below `config/` as it was when the binary was built (`topologies/seidr.toml`).
    Embedded(String),
    /// A file of the user's; relative paths are relative to the current folder.
    Disk(PathBuf),
}

impl ConfigPath {
    /// The file that `relative`, written in this file, means: relative to this file's folder.
    pub fn beside(&self, relative: &str) -> Self {
        match self {
            Self::Disk(path) => Self::Disk(path.parent().unwrap_or(Path::new("")).join(relative)),
            Self::Embedded(_) if Path::new(relative).is_absolute() => Self::Disk(PathBuf::from(relative)),
            Self::Embedded(path) => {
                let folder = Path::new(path).parent().unwrap_or(Path::new(""));
                Self::Embedded(without_dots(&folder.join(relative)))
            }
        }
    }

    /// The file `relative` below this folder.
    pub fn within(&self, relative: &str) -> Self {
        match self {
            Self::Disk(path) => Self::Disk(path.join(relative)),
            Self::Embedded(path) => Self::Embedded(format!("{path}/{relative}")),
        }
    }

    /// As messages show it. Embedded files are shown with their path in the repository.
    pub fn shown(&self) -> String {
        match self {
            Self::Embedded(path) => format!("config/{path}"),
            Self::Disk(path) => path.display().to_string(),
        }
    }

    /// The file's name without its ending.
    pub fn stem(&self) -> String {
        let path = match self {
            Self::Embedded(path) => Path::new(path),
            Self::Disk(path) => path,
        };
        path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// The same file always has the same identity, by whatever path it is reached.
    pub fn identity(&self) -> Self {
        match self {
            Self::Embedded(_) => self.clone(),
            Self::Disk(path) => Self::Disk(path.canonicalize().unwrap_or_else(|_| path.clone())),
        }
    }

    /// Whether there is such a file.
    pub fn exists(&self) -> bool {
        match self {
            Self::Embedded(path) => embedded_file(path).is_some(),
            Self::Disk(path) => path.is_file(),
        }
    }

    /// The text of the file, as source number `order`.
    ///
    /// # Errors
    /// Where the file cannot be opened (a mistake at `asked`, the place that named it, or at its own beginning), is no
    /// regular file, is larger than [`MAX_FILE_BYTES`], binary or not UTF-8.
    pub fn read(&self, order: usize, asked: Option<&Place>) -> Result<Arc<TextSource>, Mistake> {
        let name = self.shown();
        let blame = |message: String| {
            let empty = Arc::new(TextSource::new(&name, "", Medium::File(self.clone()), order));
            Mistake::at(asked.unwrap_or(&Place::start_of(&empty)), message)
        };
        let bytes = match self {
            Self::Embedded(path) => {
                let text = embedded_file(path).ok_or_else(|| blame(format!("{} is not built in", quoted(path))))?;
                text.as_bytes().to_vec()
            }
            Self::Disk(path) => read_regular_file(path, MAX_FILE_BYTES)
                .map_err(|error| blame(format!("cannot read {}: {error}", quoted(&name))))?,
        };
        self.check_text(bytes, order)
    }

    fn check_text(&self, bytes: Vec<u8>, order: usize) -> Result<Arc<TextSource>, Mistake> {
        let source = |text: &str| Arc::new(TextSource::new(self.shown(), text, Medium::File(self.clone()), order));
        let (text, cut) = match String::from_utf8(bytes) {
            Ok(text) => (text, None),
            Err(error) => {
                let valid = error.utf8_error().valid_up_to();
                let bad = error.as_bytes().get(valid).copied().unwrap_or_default();
                let kept = error.into_bytes().get(..valid).map(|kept| String::from_utf8_lossy(kept).into_owned());
                (kept.unwrap_or_default(), Some((valid, bad)))
            }
        };
        let source = source(&text);
        if let Some(at) = text.find('\0') {
            return Err(Mistake::at(&Place::new(&source, at..at + 1), "a NUL byte: this is a binary file, not text"));
        }
        match cut {
            Some((at, byte)) => {
                let message = format!("not UTF-8: byte 0x{byte:02x} at offset {at}");
                Err(Mistake::at(&Place::new(&source, at..at), message).hint("save the file as UTF-8"))
            }
            None => Ok(source),
        }
    }
}

/// `a/../b` is `b`: embedded paths have no symbolic links.
fn without_dots(path: &Path) -> String {
    let mut parts: Vec<String> = Vec::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(parts.pop()),
            Component::Normal(part) => parts.push(part.to_string_lossy().into_owned()),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    parts.join("/")
}
