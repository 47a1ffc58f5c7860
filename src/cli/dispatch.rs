use clap::Parser;

use super::{
    args::{Cli, TopologyVerb, Verb},
    benchmarks, bundle, doctor,
    exit::{Exit, Failure},
    export, judge, machine, merge, models, reproduce, resume, roles, run, runs, terminal, topology, trace,
};
use crate::topology::Overrides;

/// Parses the arguments, carries them out, and gives the exit code: where all else is well but some of the data could
/// not be written, that of a fault of this machine.
pub fn main() -> u8 {
    terminal::listen();
    let code = parse_and_carry_out();
    match terminal::unwritten() {
        Some(why) => {
            terminal::talk(&format!("error: stdout cannot be written: {why}"));
            if code == Exit::Ended.code() { Exit::SomeFailed.code() } else { code }
        }
        None => code,
    }
}

fn parse_and_carry_out() -> u8 {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are data and no mistake; clap prints each where it belongs.
            let is_mistake = error.use_stderr();
            let printed = error.print();
            if !is_mistake {
                terminal::check(printed);
            }
            return if is_mistake { Exit::Usage.code() } else { Exit::Ended.code() };
        }
    };
    match carry_out(cli) {
        Ok(code) => code,
        Err(failure) => {
            terminal::talk(&format!("error: {}", failure.message));
            failure.exit.code()
        }
    }
}

fn carry_out(cli: Cli) -> Result<u8, Failure> {
    Ok(match cli.verb {
        Verb::Run(args) => on_actors(run::run(*args, run::Beginning::Either))?.code(),
        Verb::Resume(args) => on_actors(resume::resume(args))?.code(),
        Verb::Runs(verb) => on_actors(runs::runs(verb))?.code(),
        Verb::Merge(args) => on_actors(merge::merge(args))?.code(),
        Verb::Export(args) => export::export(&args)?.code(),
        Verb::Bundle(args) => bundle::bundle(&args)?.code(),
        Verb::Reproduce(args) => on_actors(reproduce::reproduce(args))?.code(),
        Verb::Judge(args) => on_actors(async move { judge::judge(&args).await })?.code(),
        Verb::Benchmarks(verb) => on_actors(benchmarks::benchmarks(verb))?.code(),
        Verb::Topology(TopologyVerb::Check { file, prompts, json }) => {
            topology::check_with(&file, &Overrides::default().with_prompts(prompts.as_deref()), json).say()
        }
        Verb::Topology(TopologyVerb::Show { file, mermaid, json }) => topology::show(&file, mermaid, json).say(),
        Verb::Topology(TopologyVerb::Diff { a, b, json }) => topology::diff(&a, &b, json).say(),
        Verb::Models(verb) => on_actors(models::models(verb))?.code(),
        Verb::Roles { json } => roles::list(json).say(),
        Verb::Doctor { prepare, json } => on_actors(doctor::doctor(prepare, json))?.code(),
        Verb::Trace(verb) => trace::trace(verb)?.code(),
    })
}

/// Runs a future on an actix system whose tasks have all cores.
fn on_actors<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let system = actix::System::with_tokio_rt(|| {
        let threads = machine::cores().max(2);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build();
        runtime.unwrap_or_else(|error| {
            terminal::talk(&format!("error: the runtime cannot be started: {error}"));
            std::process::exit(i32::from(Exit::Machine.code()))
        })
    });
    system.block_on(work)
}
