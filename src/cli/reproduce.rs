//! `rolecall reproduce`: makes a bundled run again, without model or network, and says what differs.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use clap::Args;
use serde::Serialize;
use tempfile::TempDir;

use super::{
    args::SandboxChoice,
    bundle::command,
    exit::{Exit, Failure},
    keeping::RunFacts,
    machine,
    prepared::{self, Prepared},
    replayed::Replayed,
    terminal,
};
use crate::{
    domain::with_files_read,
    evaluation::{
        bundle::{Archive, Bundle, BundledConversation, Difference, compare},
        records::TaskRow,
    },
    ids::RunId,
    runtime::now_unix_nanos,
    store::{RunRow, RunState, Store},
};

/// Options of the command whose values are others here.
const PATH: &str = "--path";
const EXAMPLES: &str = "--examples";
const MODEL: &str = "--model";
/// What the process that holds the run is given of the environment: nothing that a bundle could send anywhere.
const ENVIRONMENT: &[&str] = &["PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "USER", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"];

/// Arguments of `reproduce`.
#[derive(Args, Clone, Debug)]
pub struct ReproduceArgs {
    /// The bundle.
    pub bundle: PathBuf,
    /// Where the public data set of the run is, where the bundle has not got it.
    #[arg(long, value_name = "PATH")]
    pub path: Option<PathBuf>,
    /// Where the solved tasks are that prompts show, where they come from a public data set and the bundle has not got them.
    #[arg(long, value_name = "PATH")]
    pub examples: Option<PathBuf>,
    /// How strictly programs are isolated. A run that was held with less than the strictest is only made again so where this
    /// says it, too [default: strict].
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub sandbox: Option<SandboxChoice>,
    /// One JSON object a line on stdout, and nothing else.
    #[arg(long)]
    pub json: bool,
}

/// `event = "reproduced"`
#[derive(Serialize)]
struct Reproduced {
    event: &'static str,
    run: String,
    conversations: usize,
    programs: u32,
    differences: usize,
    of_time: usize,
}

/// `event = "difference"`
#[derive(Serialize)]
struct Event<'a> {
    event: &'static str,
    #[serde(flatten)]
    difference: &'a Difference,
}

/// Carries out `rolecall reproduce`.
///
/// # Errors
/// A file that is no bundle, is damaged or newer; a data set that it has not got and that is not named.
pub async fn reproduce(args: ReproduceArgs) -> Result<Exit, Failure> {
    let bundle = Bundle::unpack(Archive::read(&args.bundle)?)
        .map_err(|error| Failure::usage(format!("{}: {error}", args.bundle.display())))?;
    let elsewhere = Elsewhere::of(&args)?;
    refuse_without_data(&bundle, &elsewhere)?;
    let scene = Scene::of(&bundle)?;
    let store = Store::open(&scene.store())?;
    bundle.restore(&store).await?;
    let mut differences: Vec<Difference> =
        bundle.altered.iter().map(|words| Difference::of_run("file", words.clone())).collect();
    let run = scene.begin(&bundle, &store, &elsewhere, &mut differences).await?;
    drop(store);
    scene.hold(run)?;
    let store = Store::open(&scene.store())?;
    let now = BundledConversation::of_run(&store, &run.to_string())?;
    differences.extend(compare(&bundle.conversations, &now));
    let programs = now.iter().filter_map(|one| Some(one.end().ok()?.spend.programs)).sum();
    say(&args, &bundle, (now.len(), programs), &differences);
    Ok(if differences.is_empty() { Exit::Ended } else { Exit::Differs })
}

fn say(args: &ReproduceArgs, bundle: &Bundle, (conversations, programs): (usize, u32), differences: &[Difference]) {
    let of_time = differences.iter().filter(|difference| difference.of_time).count();
    if args.json {
        differences.iter().for_each(|difference| terminal::json(&Event { event: "difference", difference }));
        let (run, differences) = (bundle.run.clone(), differences.len());
        terminal::json(&Reproduced { event: "reproduced", run, conversations, programs, differences, of_time });
        return;
    }
    differences.iter().for_each(|difference| terminal::data(&difference.to_string()));
    let made = format!("run {} made again: {conversations} conversations, {programs} programs executed", bundle.run);
    terminal::data(&match (differences.len(), of_time) {
        (0, _) => format!("{made}, all the same"),
        (all, 0) => format!("{made}, {all} differences"),
        (all, of_time) => format!("{made}, {all} differences, {of_time} of them where a time limit decided"),
    });
}

/// What the user says of this machine.
struct Elsewhere {
    /// Option and path.
    paths: Vec<(&'static str, PathBuf)>,
    sandbox: SandboxChoice,
}

impl Elsewhere {
    fn of(args: &ReproduceArgs) -> Result<Self, Failure> {
        let given = [(PATH, &args.path), (EXAMPLES, &args.examples)];
        let given = given.into_iter().filter_map(|(option, path)| Some((option, path.as_deref()?)));
        let whole = |(option, path): (&'static str, &Path)| {
            let wrong = |error| Failure::usage(format!("{option} {}: {error}", path.display()));
            Ok((option, path.canonicalize().map_err(wrong)?))
        };
        let paths = given.map(whole).collect::<Result<_, Failure>>()?;
        Ok(Self { paths, sandbox: args.sandbox.unwrap_or(SandboxChoice::Strict) })
    }

    /// The value of this option, where the user says one.
    fn value(&self, option: &str) -> Option<String> {
        self.paths.iter().find(|(name, _)| *name == option).map(|(_, path)| path.display().to_string())
    }
}

fn refuse_without_data(bundle: &Bundle, elsewhere: &Elsewhere) -> Result<(), Failure> {
    let missing = bundle.inputs.iter().filter(|input| !input.included).map(|input| input.name.as_str());
    let missing: Vec<&str> = missing.collect();
    if missing.is_empty() || !elsewhere.paths.is_empty() {
        return Ok(());
    }
    let missing = missing.join(", ");
    Err(Failure::usage(format!(
        "the bundle has not got the public data set of its run ({missing})\n  hint: say where it is with --path PATH, as for `run`"
    )))
}

/// A folder with the files of a bundle and a store of its own, gone at the end.
struct Scene {
    folder: TempDir,
}

impl Scene {
    fn of(bundle: &Bundle) -> Result<Self, Failure> {
        let wrong = |error: std::io::Error| Failure::usage(format!("the bundle cannot be unpacked: {error}"));
        let scene = Self { folder: TempDir::new().map_err(wrong)? };
        fs::create_dir_all(scene.home(bundle)).map_err(wrong)?;
        for (name, bytes) in &bundle.files {
            let path = scene.files().join(name);
            path.parent().map_or(Ok(()), fs::create_dir_all).map_err(wrong)?;
            fs::write(path, bytes).map_err(wrong)?;
        }
        Ok(scene)
    }

    fn files(&self) -> PathBuf {
        self.folder.path().join("files")
    }

    fn home(&self, bundle: &Bundle) -> PathBuf {
        self.files().join(&bundle.folder)
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    /// Writes down the run that is to be held, and what has changed of its files.
    async fn begin(
        &self,
        bundle: &Bundle,
        store: &Store,
        elsewhere: &Elsewhere,
        differences: &mut Vec<Difference>,
    ) -> Result<RunId, Failure> {
        let facts: RunFacts = serde_json::from_value(bundle.facts.clone())
            .map_err(|error| Failure::usage(format!("what the bundle says of its run does not read: {error}")))?;
        machine::take_variables_of_run(facts.environment.as_ref());
        let arguments = self.arguments(bundle, &facts.arguments, elsewhere);
        env::set_current_dir(self.home(bundle)).map_err(Failure::usage)?;
        let run_args = command(&arguments)?;
        if run_args.sandbox() != elsewhere.sandbox {
            return Err(Failure::usage(
                "the run was held with another isolation than the strictest\n  hint: --sandbox reduced, where you trust its programs",
            ));
        }
        let (prepared, read) = with_files_read(|| {
            let replayed = Replayed::asked_for(&run_args)?;
            let checked = prepared::load(&run_args, replayed.as_ref())?;
            Prepared::of(&run_args, &checked, replayed.as_ref())
        });
        self.refuse_what_is_beyond(read.keys().chain(&run_args.diagnoses), elsewhere)?;
        let Prepared { undertaking, .. } = prepared?;
        differences.extend(changed_tasks(&bundle.tasks, &undertaking.groundwork.tasks));
        // The tasks one by one are above.
        let parts = facts.parts.iter().filter(|(part, _)| *part != "the tasks");
        let changed = parts.filter(|(part, hash)| undertaking.parts.get(*part).is_some_and(|now| now != *hash));
        differences.extend(changed.map(|(part, _)| Difference::of_run("arrangement", format!("{part} changed"))));
        let run = RunId::new();
        let facts = RunFacts {
            code_version: env!("CARGO_PKG_VERSION").to_owned(),
            arguments,
            folder: self.home(bundle),
            planned: undertaking.planned,
            parts: undertaking.parts,
            groundwork: Some(undertaking.groundwork),
            models: BTreeMap::new(),
            ..facts
        };
        let facts = serde_json::to_value(&facts).map_err(Failure::store)?;
        let (run_id, begun_ns) = (run.to_string(), now_unix_nanos());
        store.put_run(&RunRow { run: run_id, plan: String::new(), begun_ns, state: RunState::Parked, facts }).await?;
        Ok(run)
    }

    /// Refuses a bundle that has files of this machine read which nobody named here.
    fn refuse_what_is_beyond<'a>(
        &self,
        mut read: impl Iterator<Item = &'a PathBuf>,
        elsewhere: &Elsewhere,
    ) -> Result<(), Failure> {
        let own = self.files().canonicalize().map_err(Failure::usage)?;
        let is_beyond = |path: &&PathBuf| {
            let path = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
            !path.starts_with(&own) && !elsewhere.paths.iter().any(|(_, named)| path.starts_with(named))
        };
        match read.find(is_beyond) {
            Some(path) => Err(Failure::usage(format!("the bundle reads {}, which is beyond it", path.display()))),
            None => Ok(()),
        }
    }

    /// The command, with the recorded answers for models, what the user says of this machine, and everything that it writes in
    /// this folder.
    fn arguments(&self, bundle: &Bundle, recorded: &[String], elsewhere: &Elsewhere) -> Vec<String> {
        let mut words = Vec::new();
        let mut given = recorded.iter();
        while let Some(word) = given.next() {
            let (option, joined) =
                word.split_once('=').map_or((word.as_str(), None), |(option, value)| (option, Some(value)));
            let value = elsewhere.value(option);
            if option != MODEL && value.is_none() {
                words.push(word.clone());
                continue;
            }
            if joined.is_none() {
                given.next();
            }
            words.extend(value.into_iter().flat_map(|value| [option.to_owned(), value]));
        }
        let traces = self.folder.path().join("traces");
        for (option, value) in [
            (MODEL, format!("replay:{}", bundle.run)),
            ("--store", self.store().display().to_string()),
            ("--traces", traces.display().to_string()),
        ] {
            words.extend([option.to_owned(), value]);
        }
        words
    }

    /// Holds the run in a process of its own: its words are not ours.
    fn hold(&self, run: RunId) -> Result<(), Failure> {
        let program = env::current_exe().map_err(Failure::machine)?;
        let mut command = Command::new(program);
        command.args(["resume", &run.to_string(), "--json", "--store"]).arg(self.store());
        let kept = ENVIRONMENT.iter().filter_map(|name| Some((name, env::var_os(name)?)));
        let output = command
            .env_clear()
            .envs(kept)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .output()
            .map_err(Failure::machine)?;
        match output.status.code() {
            // A conversation may fail in the recorded run, and then does here.
            Some(0 | 1) => Ok(()),
            code => {
                let exit = if code == Some(i32::from(Exit::Machine.code())) { Exit::Machine } else { Exit::Usage };
                let said = String::from_utf8_lossy(&output.stderr);
                Err(Failure { exit, message: format!("the run cannot be made again:\n{}", said.trim_end()) })
            }
        }
    }
}

fn changed_tasks(recorded: &[TaskRow], now: &[TaskRow]) -> Vec<Difference> {
    let place = |task: &TaskRow| (task.dataset.clone(), task.task.clone());
    let by_place = |tasks: &[TaskRow]| tasks.iter().map(|task| (place(task), task.hash.clone())).collect();
    let (was, is): (BTreeMap<_, String>, BTreeMap<_, String>) = (by_place(recorded), by_place(now));
    let mut differences = Vec::new();
    for ((dataset, task), hash) in &was {
        let words = match is.get(&(dataset.clone(), task.clone())) {
            None => format!("{task} of {dataset} is not there any more"),
            Some(now) if now != hash => format!("{task} of {dataset} is another: its hash was {hash}, now {now}"),
            Some(_) => continue,
        };
        differences.push(Difference::of_run("task", words));
    }
    let new = is.keys().filter(|place| !was.contains_key(*place));
    differences.extend(new.map(|(dataset, task)| Difference::of_run("task", format!("{task} of {dataset} is new"))));
    differences
}
