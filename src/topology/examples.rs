//! `[examples]`: which solved tasks prompts show.

use std::path::PathBuf;

use crate::{
    benchmarks::{BENCHMARKS, Split, benchmark},
    config::{ConfigPath, Located, Medium, Mistake, did_you_mean, listed, quoted},
    llm::Purpose,
    prompts::Prompt,
    runtime::RoleSpec,
};

use super::{
    Node,
    draft::Values,
    member::{Member, Part},
};

/// Where examples come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExampleSource {
    /// A task file, or a folder of them.
    Tasks(PathBuf),
    /// A public data set.
    Benchmark {
        /// Its name.
        name: String,
        /// Its file or folder, where the arrangement or the command line says.
        path: Option<PathBuf>,
    },
}

/// Which solved tasks prompts show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExampleSettings {
    /// How many; 0 for none.
    pub count: u32,
    /// The part of the data set that they are taken from.
    pub split: String,
    /// Where they come from, where anything says.
    pub source: Option<ExampleSource>,
}

/// Whether a role writes programs, so that its prompts may show examples.
fn writes(spec: &RoleSpec) -> bool {
    spec.accepts.iter().any(|kind| spec.writes(*kind))
}

/// Whether the prompts of an actor of this role show examples: as its key says, else as its role does.
pub(super) fn shows(spec: &RoleSpec, values: &Values, path: &str, mistakes: &mut Vec<Mistake>) -> bool {
    match values.get("examples") {
        Some(written) if !writes(spec) => {
            let message = format!("{} has no use: the role {} writes no programs", quoted(path), quoted(spec.name));
            mistakes.push(Mistake::at(values.key_place("examples").unwrap_or(&written.place), message));
            false
        }
        Some(written) => written.value.as_bool().unwrap_or_default(),
        None => spec.drafts(),
    }
}

/// The settings. Values that do not go together are mistakes.
pub(super) fn settings(values: &Values, members: &[Member<'_>], mistakes: &mut Vec<Mistake>) -> ExampleSettings {
    let count = values.get("examples.count").and_then(|written| written.value.as_u64()).unwrap_or(0);
    let source = source(values, mistakes);
    let split = values.get("examples.split");
    check_split(split, source.as_ref(), mistakes);
    if count == 0 {
        let keys = ["examples.tasks", "examples.path", "examples.benchmark"];
        let options = keys.iter().filter_map(|key| values.get(key));
        // A file may say where examples are and leave it to an overlay how many.
        for given in options.filter(|given| *given.place.source().medium() == Medium::Flag) {
            let option = given.place.source().name();
            let message = format!("{option} has no use: `examples.count` is 0");
            mistakes.push(Mistake::at(&given.place, message));
        }
    } else if let Some(written) = values.get("examples.count") {
        check_shown(written, members, mistakes);
    }
    ExampleSettings {
        count: u32::try_from(count).unwrap_or(u32::MAX),
        split: split.and_then(|split| split.value.as_str()).unwrap_or(Split::ALL.name).to_owned(),
        source,
    }
}

fn source(values: &Values, mistakes: &mut Vec<Mistake>) -> Option<ExampleSource> {
    let (tasks, name, path) =
        (values.get("examples.tasks"), values.get("examples.benchmark"), values.get("examples.path"));
    if let (Some(tasks), Some(_)) = (tasks, name) {
        let message = "`examples.tasks` and `examples.benchmark` are two sources";
        mistakes.push(Mistake::at(&tasks.place, message).hint("keep one of them"));
    }
    if let (Some(path), None) = (path, name)
        && !values.mentions("examples.benchmark")
    {
        let message = "`examples.path` has no use without `examples.benchmark`";
        mistakes.push(Mistake::at(&path.place, message).hint("task files are named by `examples.tasks`"));
    }
    if let Some(name) = name {
        let known = BENCHMARKS.iter().map(|benchmark| benchmark.name());
        let written = name.value.as_str().unwrap_or_default();
        if !known.clone().any(|known| known == written) {
            let message = format!("there is no data set {}{}", quoted(written), did_you_mean(written, known.clone()));
            mistakes.push(Mistake::at(&name.place, message).hint(format!("data sets: {}", listed(known))));
        }
        let path = path.and_then(|path| located_path(path, mistakes));
        return Some(ExampleSource::Benchmark { name: written.to_owned(), path });
    }
    tasks.and_then(|tasks| located_path(tasks, mistakes)).map(ExampleSource::Tasks)
}

/// A path is relative to the file that it is written in.
fn located_path(written: &Located<serde_json::Value>, mistakes: &mut Vec<Mistake>) -> Option<PathBuf> {
    let text = written.value.as_str()?;
    match written.place.source().path().map(|from| from.beside(text)) {
        None => Some(PathBuf::from(text)),
        Some(ConfigPath::Disk(path)) => Some(path),
        Some(ConfigPath::Embedded(path)) => {
            let message = format!("{} is not built in: data sets are on your disk", quoted(&path));
            mistakes.push(Mistake::at(&written.place, message).hint("name it with --examples"));
            None
        }
    }
}

fn check_split(
    split: Option<&Located<serde_json::Value>>,
    source: Option<&ExampleSource>,
    mistakes: &mut Vec<Mistake>,
) {
    let splits = match source {
        // An unknown data set is a mistake of its own.
        Some(ExampleSource::Benchmark { name, .. }) => match benchmark(name) {
            Ok(benchmark) => benchmark.splits(),
            Err(_) => return,
        },
        Some(ExampleSource::Tasks(_)) | None => &[Split::ALL],
    };
    let Some(written) = split else { return };
    let name = written.value.as_str().unwrap_or_default();
    let known = splits.iter().map(|split| split.name);
    if !known.clone().any(|known| known == name) {
        let of = match source {
            Some(ExampleSource::Benchmark { name, .. }) => format!("of {name}"),
            _ => "of task files".to_owned(),
        };
        let message = format!("there is no split {} {of}{}", quoted(name), did_you_mean(name, known.clone()));
        mistakes.push(Mistake::at(&written.place, message).hint(format!("splits {of}: {}", listed(known))));
    }
}

/// Examples that no prompt shows are a mistake: at the count where no actor shows any, else at the actor.
fn check_shown(count: &Located<serde_json::Value>, members: &[Member<'_>], mistakes: &mut Vec<Mistake>) {
    let parts = || members.iter().filter_map(|member| member.part.as_ref().map(|part| (member, part)));
    let mut showing = parts().filter(|(_, part)| part.node.examples).peekable();
    if showing.peek().is_none() && members.iter().all(|member| member.part.is_some()) {
        let message = "`examples.count` has no use: no actor shows examples";
        let writers = parts().filter(|(_, part)| writes(part.entry.spec));
        let names = writers.map(|(_, part)| part.node.name.0.clone()).collect::<Vec<_>>();
        let hint = format!("set `examples = true` in one that writes programs: {}", listed(names));
        mistakes.push(Mistake::at(&count.place, message).hint(hint));
    }
    for (member, _) in showing.filter(|(_, part)| !mentions_examples(part)) {
        let place = member.draft.values.get("examples").map_or(&member.draft.name.place, |written| &written.place);
        let message = format!("no prompt of {} shows examples", quoted(&member.draft.name.value));
        let hint = "loop over `examples` in its prompt, or set `examples = false`";
        mistakes.push(Mistake::at(place, message).hint(hint));
    }
}

/// Whether one of its prompts that ask for programs loops over the examples. Nothing is said of prompts that are
/// missing.
fn mentions_examples(part: &Part) -> bool {
    let Node { spec, prompts, .. } = &part.node;
    let asks_for_program = |purpose: Purpose| matches!(purpose, Purpose::Draft | Purpose::Repair);
    let mut texts = spec
        .prompts
        .iter()
        .filter(|key| asks_for_program(key.purpose))
        .filter_map(|key| prompts.get(key.key).map(|prompt| (key.purpose, prompt)))
        .peekable();
    texts.peek().is_none()
        || texts.any(|(purpose, prompt)| {
            Prompt::load(purpose, &prompt.reference, &prompt.text).is_ok_and(|prompt| prompt.mentions("examples"))
        })
}
