//! Which problems a command is about.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    args::{DataArgs, TaskSource},
    exit::Failure,
    machine, terminal,
};
use crate::{
    benchmarks::{
        Benchmark, DATASETS_VARIABLE, benchmark, datasets_folder, load_dir, load_mapped, load_task, located,
        with_feedback,
    },
    domain::{FeedbackSet, Language, Problem, read_regular_file},
};

/// Longest file of ids.
const MOST_ID_BYTES: u64 = 16 << 20;

/// Loads the problems that the arguments name, in the order of files and rows.
///
/// # Errors
/// Every mistake of the files, located; an unknown benchmark, language or task id, with those that would be right.
pub fn load(source: &TaskSource, data: &DataArgs, feedback: FeedbackSet) -> Result<Vec<Problem>, Failure> {
    let problems = match &source.benchmark {
        Some(name) => match mapping(name) {
            Some(file) => load_by_mapping(file, data, feedback)?,
            None => in_split(name, data.split.as_deref(), load_benchmark(name, data, feedback)?)?,
        },
        None => refuse_options_of_data_sets(data)
            .and_then(|()| load_files(source))?
            .into_iter()
            .map(|problem| with_feedback(problem, feedback))
            .collect(),
    };
    select(problems, data)
}

fn load_benchmark(name: &str, data: &DataArgs, feedback: FeedbackSet) -> Result<Vec<Problem>, Failure> {
    let benchmark = benchmark(name).map_err(Failure::usage)?;
    let path = &path(benchmark, data.path.as_deref())?;
    // What a data set has one language for need not be named.
    let only = match benchmark.languages() {
        [only] => *only,
        _ => Language::Python,
    };
    let language = data.language.as_deref().map_or(Ok(only), language)?;
    let problems = match data.translate_from.as_deref().map(self::language).transpose()? {
        Some(from) => benchmark.translate(path, (from, language), feedback),
        None => benchmark.load(path, language, feedback),
    };
    problems.map_err(Failure::usage)
}

/// The mapping that a name of a data set is, if it is one.
pub fn mapping(name: &str) -> Option<&Path> {
    Some(Path::new(name)).filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
}

fn load_by_mapping(file: &Path, data: &DataArgs, feedback: FeedbackSet) -> Result<Vec<Problem>, Failure> {
    let given = [
        ("--language", data.language.is_some()),
        ("--translate-from", data.translate_from.is_some()),
        ("--split", data.split.is_some()),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => Err(Failure::usage(format!("{option} has no use with a mapping: {}", file.display()))),
        None => load_mapped(file, data.path.as_deref(), feedback).map_err(Failure::usage),
    }
}

/// Where a data set is: as `given`, else in its folder below that of all data sets.
///
/// # Errors
/// It is not there; the error says where it was looked for.
pub fn path(benchmark: &dyn Benchmark, given: Option<&Path>) -> Result<PathBuf, Failure> {
    let name = benchmark.name();
    if let Some(path) = given {
        return Ok(path.to_owned());
    }
    let no_home = || format!("there is no home directory, and {DATASETS_VARIABLE} is not set");
    let looked = match datasets_folder(machine::variable) {
        Some(folder) => match located(benchmark, &folder) {
            Ok(found) => return Ok(found),
            Err(folders) => folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(" and "),
        },
        None => no_home(),
    };
    Err(Failure::usage(format!(
        "the data set {name} is not found: looked for {looked}\n  hint: name its file or folder with --path, or set \
         {DATASETS_VARIABLE} to the folder that has the folder {name}"
    )))
}

/// Where the data set of a command was found that does not say where it is.
pub fn found(source: &TaskSource, data: &DataArgs) -> Option<PathBuf> {
    let name = source.benchmark.as_deref().filter(|name| data.path.is_none() && mapping(name).is_none())?;
    let folder = path(benchmark(name).ok()?, None).ok()?;
    // The run may go on from another folder, or be read again there.
    std::path::absolute(folder).ok()
}

/// The language of this name.
///
/// # Errors
/// There is none; the error names those that there are.
pub fn language(name: &str) -> Result<Language, Failure> {
    Language::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = Language::ALL.iter().map(|language| language.name()).collect();
        let known = known.join(", ");
        Failure::usage(format!("unknown language `{name}`\n  hint: {known} (`c++` and `js` are known too)"))
    })
}

/// The problems of a part of a benchmark; all where none is named.
///
/// # Errors
/// No such part.
pub fn in_split(name: &str, split: Option<&str>, mut problems: Vec<Problem>) -> Result<Vec<Problem>, Failure> {
    if let Some(split) = split {
        let split = benchmark(name).and_then(|benchmark| benchmark.split(split)).map_err(Failure::usage)?;
        problems.retain(|problem| (split.holds)(&problem.task));
    }
    Ok(problems)
}

/// A task file says its language itself: options that would have no effect are mistakes.
fn refuse_options_of_data_sets(data: &DataArgs) -> Result<(), Failure> {
    let given = [
        ("--path", data.path.is_some()),
        ("--language", data.language.is_some()),
        ("--translate-from", data.translate_from.is_some()),
        ("--split", data.split.is_some()),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => Err(Failure::usage(format!("{option} has no use without --benchmark"))),
        None => Ok(()),
    }
}

/// Mistakes of all files are reported together.
fn load_files(source: &TaskSource) -> Result<Vec<Problem>, Failure> {
    let mut problems: Vec<Problem> = Vec::new();
    let mut mistakes = Vec::new();
    let mut files = BTreeMap::<String, &Path>::new();
    for path in &source.task {
        match load_task(path) {
            Ok(problem) => {
                let id = problem.task.id.0.clone();
                if let Some(first) = files.get(&id) {
                    let (second, first) = (path.display(), first.display());
                    mistakes.push(format!("{second}: duplicate task id `{id}`, first used in {first}"));
                }
                files.entry(id).or_insert(path);
                problems.push(problem);
            }
            Err(error) => mistakes.push(error.to_string()),
        }
    }
    match source.tasks.as_deref().map(load_dir) {
        Some(Ok(more)) => problems.extend(more),
        Some(Err(error)) => mistakes.push(error.to_string()),
        None => {}
    }
    if mistakes.is_empty() { Ok(problems) } else { Err(Failure::usage(mistakes.join("\n"))) }
}

/// The problems with the ids that the arguments name; all where they name none.
///
/// # Errors
/// An id that none has; a file of ids that cannot be read or holds none.
pub fn select(problems: Vec<Problem>, data: &DataArgs) -> Result<Vec<Problem>, Failure> {
    let mut ids: Vec<(String, String)> = data.task_id.iter().map(|id| (String::new(), id.clone())).collect();
    if let Some(file) = &data.task_ids {
        ids.extend(ids_of(file)?);
    }
    if ids.is_empty() {
        return Ok(problems);
    }
    let known: Vec<String> = problems.iter().map(|problem| problem.task.id.0.clone()).collect();
    for (place, id) in &ids {
        if !known.contains(id) {
            let near = nearest(id, &known);
            let near = near.map_or_else(|| "there are no tasks".to_owned(), |near| format!("did you mean `{near}`?"));
            return Err(Failure::usage(format!("{place}no task has the id `{id}`\n  hint: {near}")));
        }
    }
    let wanted: BTreeSet<&str> = ids.iter().map(|(_, id)| id.as_str()).collect();
    Ok(problems.into_iter().filter(|problem| wanted.contains(problem.task.id.0.as_str())).collect())
}

/// The ids of a file, each with the beginning of a message about it.
fn ids_of(file: &Path) -> Result<Vec<(String, String)>, Failure> {
    let wrong = |problem: String| Failure::usage(format!("{}: {problem}", file.display()));
    let bytes = read_regular_file(file, MOST_ID_BYTES).map_err(|error| wrong(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|error| wrong(format!("not UTF-8: {error}")))?;
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    let ids: Vec<(String, String)> = lines
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .map(|(number, line)| (format!("{}:{number}: ", file.display()), line.to_owned()))
        .collect();
    if ids.is_empty() { Err(wrong("no id of a task in this file".to_owned())) } else { Ok(ids) }
}

/// The known id that `id` is most like: first of all one that it is the end of, as `gcd` is of `psb2/gcd`.
fn nearest<'k>(id: &str, known: &'k [String]) -> Option<&'k String> {
    let end = format!("/{}", id.to_lowercase());
    let longer = known.iter().find(|known| known.to_lowercase().ends_with(&end));
    longer.or_else(|| known.iter().max_by(|a, b| strsim::jaro(id, a).total_cmp(&strsim::jaro(id, b))))
}

/// Says on stderr what is to be known of each problem.
pub fn tell_notes<'a>(problems: impl IntoIterator<Item = &'a Arc<Problem>>) {
    for problem in problems {
        for note in &problem.notes {
            terminal::talk(&format!("note: {}: {note}", problem.task.id));
        }
    }
}

/// Limits that the arrangement's `[feedback]` sets take the place of the tasks' own.
pub fn with_feedback_limits(problem: Problem, feedback: &crate::topology::Feedback) -> Arc<Problem> {
    let mut task = Arc::unwrap_or_clone(problem.task);
    task.limits.timeouts = feedback.timeouts;
    if let Some(test_cpu_ms) = feedback.test_cpu_ms {
        task.limits.test_cpu_ms = test_cpu_ms;
    }
    Arc::new(Problem { task: Arc::new(task), ..problem })
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn the_end_of_an_id_is_nearest_to_it() {
        let known =
            ["psb2/find-pair", "psb2/gcd", "QuixBugs/java/DETECT_CYCLE", "QuixBugs/java/GCD_2"].map(str::to_owned);
        assert_eq!(nearest("gcd", &known).unwrap(), "psb2/gcd");
        assert_eq!(nearest("GCD", &known).unwrap(), "psb2/gcd");
        assert_eq!(nearest("psb2/find-pear", &known).unwrap(), "psb2/find-pair");
        assert_eq!(nearest("gcd", &[]), None);
    }
}
