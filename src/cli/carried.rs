//! Where the files that a run read stand in a bundle, and how its command names them there.

use std::path::{Component, Path, PathBuf};

/// The folder of the command, below the files of a bundle.
pub const HOME: &str = "run";

/// Options of a command that have no use elsewhere.
const LEFT_BEHIND: &[&str] = &["--store", "--traces"];

/// Maps paths of this machine to those in a bundle: what is below the command's folder keeps its place, and whatever else is
/// named on the command line stands beside it.
pub struct Carried {
    folder: PathBuf,
    /// Folders of this machine and what they are called in the bundle, the command's own first.
    folders: Vec<(PathBuf, String)>,
}

impl Carried {
    /// Of a command that was given in `folder`, with these arguments, and read these files.
    pub fn new<'a>(folder: &Path, arguments: &[String], read: impl Iterator<Item = &'a PathBuf> + Clone) -> Self {
        let mut carried = Self { folder: plain(folder), folders: vec![(plain(folder), HOME.to_owned())] };
        for word in arguments.iter().skip(1).flat_map(|argument| [argument.as_str(), value_of(argument)]) {
            let path = carried.absolute(Path::new(word));
            let is_file = read.clone().any(|file| carried.absolute(file) == path);
            let is_above = !is_file && read.clone().any(|file| carried.absolute(file).starts_with(&path));
            let folder = if is_file { path.parent().map(Path::to_path_buf) } else { Some(path) };
            if let Some(folder) = folder.filter(|_| is_file || is_above)
                && carried.name(&folder).is_none()
                && folder.parent().is_some()
            {
                let number = carried.folders.len();
                carried.folders.push((folder, format!("outside/{number}")));
            }
        }
        carried
    }

    /// The name of a file or folder in the bundle; `None` where it is beyond all that is carried.
    pub fn name(&self, path: &Path) -> Option<String> {
        let path = self.absolute(path);
        // The nearest: a folder may be named beside one above it.
        let nearest = self.folders.iter().filter(|(folder, _)| path.starts_with(folder));
        let (folder, name) = nearest.max_by_key(|(folder, _)| folder.components().count())?;
        let below = path.strip_prefix(folder).ok()?;
        let parts = below.components().map(|part| part.as_os_str().to_string_lossy().into_owned());
        Some(std::iter::once(name.clone()).chain(parts).collect::<Vec<_>>().join("/"))
    }

    /// The command as it is given in the bundle, in [`HOME`].
    pub fn arguments(&self, arguments: &[String]) -> Vec<String> {
        let mut words = vec!["rolecall".to_owned()];
        let mut given = arguments.iter().skip(1);
        while let Some(argument) = given.next() {
            if LEFT_BEHIND.contains(&argument.as_str()) {
                given.next();
            } else if !LEFT_BEHIND.iter().any(|option| argument.starts_with(&format!("{option}="))) {
                words.push(self.argument(argument));
            }
        }
        words
    }

    fn argument(&self, argument: &str) -> String {
        let value = value_of(argument);
        let before = &argument[..argument.len() - value.len()];
        for (before, word) in [("", argument), (before, value)] {
            let path = Path::new(word);
            let leads_out = path.is_absolute() || path.components().any(|part| part == Component::ParentDir);
            if let Some(name) = self.name(path).filter(|_| leads_out) {
                let home = format!("{HOME}/");
                return match name.strip_prefix(&home) {
                    Some(below) => format!("{before}{below}"),
                    None if name == HOME => format!("{before}."),
                    None => format!("{before}../{name}"),
                };
            }
        }
        argument.to_owned()
    }

    /// As the command's folder makes it: `..` is taken literally.
    pub fn absolute(&self, path: &Path) -> PathBuf {
        plain(&self.folder.join(path))
    }
}

/// What stands behind the last `=`, or nothing of the argument.
fn value_of(argument: &str) -> &str {
    argument.rsplit_once('=').map_or("", |(_, value)| value)
}

/// Without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::Carried;

    #[test]
    fn what_is_outside_stands_beside_the_folder_and_is_named_there() {
        let arguments = [
            "/bin/rolecall",
            "run",
            "--topology",
            "../casts/a.toml",
            "--tasks=/data/tasks",
            "--model",
            "debugger=models/m.toml",
            "--store",
            "/secret",
            "--traces=/t",
            "--prompts",
            "/home/u/work/p",
            "--seed=3",
        ]
        .map(str::to_owned);
        let read =
            ["../casts/a.toml", "../casts/prompts/x.md", "/data/tasks/1.toml", "models/m.toml", "/home/u/work/p/y.md"]
                .map(PathBuf::from);
        let carried = Carried::new(Path::new("/home/u/work"), &arguments, read.iter());
        let names: Vec<_> = read.iter().map(|path| carried.name(path).unwrap()).collect();
        assert_eq!(
            names,
            ["outside/1/a.toml", "outside/1/prompts/x.md", "outside/2/1.toml", "run/models/m.toml", "run/p/y.md"]
        );
        assert_eq!(
            carried.arguments(&arguments),
            [
                "rolecall",
                "run",
                "--topology",
                "../outside/1/a.toml",
                "--tasks=../outside/2",
                "--model",
                "debugger=models/m.toml",
                "--prompts",
                "p",
                "--seed=3"
            ]
        );
        assert_eq!(carried.name(Path::new("/etc/passwd")), None);
    }
}
