//! `rolecall benchmarks fetch`.

use std::path::{Path, PathBuf};

use serde::Serialize;
use url::Url;

use super::args::FetchArgs;
use crate::{
    benchmarks::{
        Benchmark, Download, FetchError, Fetched, Origin, Sha256, benchmark, datasets_folder, located, origins,
    },
    cli::{
        exit::{Exit, Failure},
        machine, problems,
        signals::Stop,
        terminal,
    },
};

/// `event = "fetched"`.
#[derive(Serialize)]
struct Written {
    event: &'static str,
    benchmark: Option<&'static str>,
    licence: Option<&'static str>,
    file: String,
    sha256: String,
    already: bool,
}

/// Downloads files, one after the other.
///
/// # Errors
/// Bad arguments; a data set whose checksums are not known.
pub async fn fetch(args: &FetchArgs) -> Result<Exit, Failure> {
    let set = args.name.as_deref().map(benchmark).transpose().map_err(Failure::usage)?;
    let folder = folder(args, set)?;
    let downloads = match (&args.url, args.sha256, set) {
        (Some(url), Some(sha256), _) => {
            vec![Download { url: url.clone(), sha256, most_bytes: args.max_bytes, file: folder.join(name(args, url)?) }]
        }
        (_, _, Some(set)) => published(args, set, &folder)?,
        _ => return Err(Failure::usage("nothing to fetch: name a data set, or --url and --sha256")),
    };
    let stop = Stop::listen_for("the download");
    let mut failed = false;
    for download in downloads {
        match crate::benchmarks::fetch(&download, stop.token()).await {
            Ok(fetched) => say(&download, fetched, set, args.json),
            Err(FetchError::Cancelled) => return Ok(stop.reason().unwrap_or(Exit::Interrupted)),
            Err(error) => {
                failed = true;
                terminal::talk(&format!("error: {error}"));
            }
        }
    }
    if let Some(set) = set.filter(|_| !failed && !args.json) {
        terminal::talk(&format!("the data of {} is {}: {}", set.name(), set.licence(), set.source()));
    }
    Ok(if failed { Exit::SomeFailed } else { Exit::Ended })
}

fn say(download: &Download, fetched: Fetched, set: Option<&'static dyn Benchmark>, json: bool) {
    let file = download.file.display().to_string();
    if json {
        terminal::json(&Written {
            event: "fetched",
            benchmark: set.map(|set| set.name()),
            licence: set.map(|set| set.licence()),
            file,
            sha256: download.sha256.to_string(),
            already: fetched == Fetched::Already,
        });
        return;
    }
    match fetched {
        Fetched::New { bytes } => terminal::data(&format!("{file}: {bytes} bytes")),
        Fetched::Already => terminal::data(&format!("{file}: here already")),
    }
}

fn folder(args: &FetchArgs, set: Option<&dyn Benchmark>) -> Result<PathBuf, Failure> {
    match (&args.out, set) {
        (Some(out), _) => Ok(out.clone()),
        (None, Some(set)) => {
            let folder = datasets_folder(machine::variable);
            // Beside the files that are here already, so that these are still found.
            folder.map(|folder| located(set, &folder).unwrap_or_else(|_| folder.join(set.name()))).ok_or_else(|| {
                Failure::usage("there is no home directory for data sets\n  hint: name a folder with --out DIR")
            })
        }
        (None, None) => Err(Failure::usage("nothing says where the file is to be\n  hint: give --out DIR")),
    }
}

/// The files of a data set.
fn published(args: &FetchArgs, set: &dyn Benchmark, folder: &Path) -> Result<Vec<Download>, Failure> {
    let language = args.language.as_deref().map(problems::language).transpose()?;
    if let Some(language) = language {
        set.check_language(language).map_err(Failure::usage)?;
    }
    let files = origins(set.name()).filter(|origin| language.is_none_or(|language| origin.language == language));
    let downloads = files.map(|origin| {
        let sha256: Sha256 = origin.sha256.parse().map_err(|error| bug(origin, error))?;
        let url = url_of(origin, args.mirror.as_ref())?;
        Ok(Download { url, sha256, most_bytes: args.max_bytes, file: folder.join(origin.file()) })
    });
    let downloads: Vec<Download> = downloads.collect::<Result<_, Failure>>()?;
    if downloads.is_empty() {
        let name = set.name();
        return Err(Failure::usage(format!(
            "no checksum of the files of {name} is known\n  hint: see {}; any file can be had with \
             `rolecall benchmarks fetch {name} --url URL --sha256 HEX`",
            set.source()
        )));
    }
    Ok(downloads)
}

fn url_of(origin: &Origin, mirror: Option<&Url>) -> Result<Url, Failure> {
    match mirror {
        Some(mirror) => {
            let mut folder = mirror.clone();
            if !folder.path().ends_with('/') {
                folder.set_path(&format!("{}/", mirror.path()));
            }
            folder.join(origin.file()).map_err(|error| Failure::usage(format!("--mirror {mirror}: {error}")))
        }
        None => origin.url.parse().map_err(|error| bug(origin, error)),
    }
}

fn bug(origin: &Origin, error: impl std::fmt::Display) -> Failure {
    Failure { exit: Exit::Bug, message: format!("{}: {error}", origin.url) }
}

/// What the file of a URL is called: one plain name.
fn name(args: &FetchArgs, url: &Url) -> Result<String, Failure> {
    let last = url.path_segments().and_then(|mut segments| segments.next_back()).unwrap_or_default();
    let name = args.file.as_deref().unwrap_or(last);
    let is_plain = name.chars().all(|one| one.is_ascii_alphanumeric() || "-_.".contains(one));
    if is_plain && !name.is_empty() && !name.starts_with('.') {
        return Ok(name.to_owned());
    }
    Err(Failure::usage(format!(
        "`{name}` cannot name a file here\n  hint: give --file NAME: letters, digits and - _ ."
    )))
}
