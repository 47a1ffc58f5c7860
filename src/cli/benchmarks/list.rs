//! `rolecall benchmarks list`.

use std::{path::PathBuf, thread};

use serde::Serialize;

use crate::{
    benchmarks::{BENCHMARKS, Benchmark, BenchmarkError, Origin, datasets_folder, located, origins},
    cli::{exit::Exit, machine, terminal},
    domain::{FeedbackSet, Language},
};

/// `event = "benchmark"`.
#[derive(Serialize)]
struct Listed {
    event: &'static str,
    name: &'static str,
    summary: &'static str,
    licence: &'static str,
    source: &'static str,
    languages: Vec<InLanguage>,
    starters: bool,
    visible: &'static str,
    hidden: Option<&'static str>,
    splits: Vec<&'static str>,
    looked_for: Vec<String>,
    found: Option<String>,
    fetch: Vec<&'static str>,
}

/// A language that it can be read in.
#[derive(Serialize)]
struct InLanguage {
    language: &'static str,
    /// Where its file is here.
    tasks: Option<usize>,
    /// Why it cannot be read, where it is here.
    mistake: Option<String>,
}

/// Lists every data set. Those that are here are read.
pub fn list(json: bool) -> Exit {
    let root = datasets_folder(machine::variable);
    let listed: Vec<Listed> = thread::scope(|scope| {
        let reading: Vec<_> = BENCHMARKS.iter().map(|one| (one, scope.spawn(|| listed(*one, root.clone())))).collect();
        reading.into_iter().map(|(one, thread)| thread.join().unwrap_or_else(|_| listed(*one, None))).collect()
    });
    for one in &listed {
        if json { terminal::json(one) } else { say(one) }
    }
    Exit::Ended
}

fn listed(benchmark: &dyn Benchmark, root: Option<PathBuf>) -> Listed {
    let place = root.map(|root| located(benchmark, &root));
    let found = place.as_ref().and_then(|place| place.as_ref().ok());
    let looked_for = place.as_ref().and_then(|place| place.as_ref().err()).into_iter().flatten();
    let languages = benchmark.languages().iter().map(|language| in_language(benchmark, *language, found)).collect();
    let tests = benchmark.tests();
    Listed {
        event: "benchmark",
        name: benchmark.name(),
        summary: benchmark.summary(),
        licence: benchmark.licence(),
        source: benchmark.source(),
        languages,
        starters: benchmark.has_starters(),
        visible: tests.visible,
        hidden: tests.hidden,
        splits: benchmark.splits().iter().map(|split| split.name).collect(),
        looked_for: looked_for.map(|folder| folder.display().to_string()).collect(),
        found: found.map(|folder| folder.display().to_string()),
        fetch: origins(benchmark.name()).map(Origin::file).collect(),
    }
}

fn in_language(benchmark: &dyn Benchmark, language: Language, found: Option<&PathBuf>) -> InLanguage {
    let read = found.map(|folder| benchmark.load(folder, language, FeedbackSet::Visible));
    let (tasks, mistake) = match read {
        Some(Ok(problems)) => (Some(problems.len()), None),
        Some(Err(BenchmarkError::NoFile { .. })) | None => (None, None),
        Some(Err(error)) => (None, Some(error.to_string())),
    };
    InLanguage { language: language.name(), tasks, mistake }
}

fn say(one: &Listed) {
    terminal::data(&format!("{}: {}", one.name, one.summary));
    let counted = |language: &InLanguage| match (language.tasks, &language.mistake) {
        (Some(tasks), _) => format!("{} {tasks}", language.language),
        (None, Some(_)) => format!("{} (cannot be read)", language.language),
        (None, None) => language.language.to_owned(),
    };
    let languages: Vec<String> = one.languages.iter().map(counted).collect();
    let files = match (&one.found, one.looked_for.is_empty()) {
        (Some(folder), _) => folder.clone(),
        (None, false) => format!("not here: looked for {}", one.looked_for.join(" and ")),
        (None, true) => "not here: no folder to look in".to_owned(),
    };
    let hidden = one.hidden.map_or_else(|| "none hidden".to_owned(), |hidden| format!("hidden {hidden}"));
    let mut lines = vec![
        ("tasks in", languages.join(", ")),
        ("licence", one.licence.to_owned()),
        ("source", one.source.to_owned()),
        ("files", files),
        ("tests", format!("visible {}; {hidden}", one.visible)),
    ];
    if one.splits.len() > 1 {
        lines.push(("splits", one.splits.join(", ")));
    }
    if !one.fetch.is_empty() {
        lines.push(("download", format!("rolecall benchmarks fetch {}", one.name)));
    }
    for (what, words) in lines {
        terminal::data(&format!("  {what:<10}{words}"));
    }
    for mistake in one.languages.iter().filter_map(|language| language.mistake.as_ref()) {
        terminal::talk(&format!("{}: {mistake}", one.name));
    }
}
