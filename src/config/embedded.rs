use include_dir::{Dir, include_dir};

static CONFIG: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/config");

/// The text of a file under `config/`, as it was when the binary was built: `topologies/seidr.toml`.
pub fn embedded_file(path: &str) -> Option<&'static str> {
    CONFIG.get_file(path).and_then(|file| file.contents_utf8())
}

/// The stems of the files directly in a folder under `config/` that end in `.{extension}`, sorted.
pub fn embedded_names(folder: &str, extension: &str) -> Vec<&'static str> {
    let Some(folder) = CONFIG.get_dir(folder) else { return Vec::new() };
    let files = folder.files().map(|file| file.path());
    let mut names: Vec<&str> = files
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .filter_map(|path| path.file_stem().and_then(|stem| stem.to_str()))
        .collect();
    names.sort_unstable();
    names
}
