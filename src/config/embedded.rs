use include_dir::{Dir, include_dir};

/// The folder `config/` as it was when this binary was built.
static CONFIG: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/config");

/// The text of an embedded file; `path` is relative to `config/`, with `/` between its parts (`prompts/learner/draft.md`).
pub fn embedded_file(path: &str) -> Option<&'static str> {
    CONFIG.get_file(path)?.contents_utf8()
}

/// The names of all embedded files below `folder` that end in `extension`, without both, sorted:
/// `embedded_names("prompts", ".md")` lists `debugger/repair` and so on.
pub fn embedded_names(folder: &str, extension: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut waiting: Vec<&Dir<'_>> = CONFIG.get_dir(folder).into_iter().collect();
    while let Some(dir) = waiting.pop() {
        waiting.extend(dir.dirs());
        let paths = dir.files().filter_map(|file| file.path().to_str());
        names.extend(paths.filter_map(|path| {
            Some(path.strip_prefix(folder)?.strip_prefix('/')?.strip_suffix(extension)?.to_owned())
        }));
    }
    names.sort();
    names
}
