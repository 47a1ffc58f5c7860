//! Rules of the house that a machine can check: which folder may use which, how long a file may be.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The folders of `src` from the ground up: a file may use its own folder and those before it.
const LAYERS: &[&[&str]] = &[
    &["ids"],
    &["domain"],
    &["languages"],
    &["budget", "selection", "llm", "store"],
    &["prompts", "sandbox", "benchmarks"],
    &["messages"],
    &["runtime"],
    &["agents"],
    &["config", "topology"],
    &["conversation"],
    &["telemetry"],
    &["evaluation"],
    &["cli"],
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

fn layer(folder: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&folder))
}

/// The folders of the crate that a text names: `crate::NAME` and the names inside `use crate::{…}`.
fn used_folders(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let code: String = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        if let Some(list) = rest.strip_prefix('{') {
            let (mut depth, mut start) = (0, 0);
            for (place, letter) in list.char_indices() {
                match letter {
                    '{' => depth += 1,
                    '}' if depth == 0 => {
                        names.push(list[start..place].to_owned());
                        break;
                    }
                    '}' => depth -= 1,
                    ',' if depth == 0 => {
                        names.push(list[start..place].to_owned());
                        start = place + 1;
                    }
                    _ => {}
                }
            }
        } else {
            names.push(rest.to_owned());
        }
    }
    let head =
        |name: &String| name.trim().chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect();
    names.iter().map(head).filter(|name: &String| !name.is_empty()).collect()
}

#[test]
fn every_folder_uses_only_what_stands_below_it() {
    let src = root().join("src");
    let mut wrong = Vec::new();
    for file in rust_files(&src) {
        let inside = file.strip_prefix(&src).unwrap();
        let own = inside.components().next().unwrap().as_os_str().to_str().unwrap();
        if own.ends_with(".rs") {
            continue;
        }
        let Some(own_layer) = layer(own) else { panic!("src/{own} stands in no layer") };
        for used in used_folders(&fs::read_to_string(&file).unwrap()) {
            if let Some(used_layer) = layer(&used)
                && used != own
                && (used_layer > own_layer || (used_layer == own_layer && !allowed_beside(own, &used)))
            {
                wrong.push(format!("{}: uses {used}", inside.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Folders of one layer do not use each other, but for these.
fn allowed_beside(own: &str, used: &str) -> bool {
    matches!((own, used), ("topology", "config") | ("benchmarks", "prompts"))
}

#[test]
fn no_file_is_longer_than_500_lines() {
    let mut long = Vec::new();
    for folder in ["src", "tests", "benches"] {
        for file in rust_files(&root().join(folder)) {
            let lines = fs::read_to_string(&file).unwrap().lines().count();
            if lines > 500 {
                long.push(format!("{}: {lines}", file.display()));
            }
        }
    }
    assert!(long.is_empty(), "{}", long.join("\n"));
}

#[test]
fn a_folder_s_mod_file_holds_no_logic() {
    for file in rust_files(&root().join("src")).iter().filter(|file| file.ends_with("mod.rs")) {
        let text = fs::read_to_string(file).unwrap();
        let functions = text.lines().filter(|line| line.starts_with("fn ") || line.starts_with("impl ")).count();
        assert_eq!(functions, 0, "{}", file.display());
    }
}

#[test]
fn the_rule_about_layers_can_fail() {
    assert_eq!(used_folders("use crate::{\n    cli::exit,\n    domain::{A, B},\n};"), ["cli", "domain"]);
    assert_eq!(used_folders("let x = crate::conversation::hold();\n// crate::cli"), ["conversation"]);
    assert!(layer("cli") > layer("domain"));
}
