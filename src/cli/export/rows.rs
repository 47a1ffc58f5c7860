//! Manifest and rows, as three files of a folder.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use serde::Serialize;

use crate::{
    cli::{
        exit::Failure,
        keeping::{ARRANGEMENT, RunFacts},
    },
    conversation::kept_records,
    evaluation::records::{
        ConversationRow, Manifest, ManifestProvenance, ManifestResult, ModelProvenance, ModelResult, ProgramRow,
    },
    store::{RunRow, Store},
};

/// The files, the manifest last: where it is, the others are whole.
const FILES: [&str; 3] = ["conversations.jsonl", "programs.jsonl", "manifest.json"];

/// Writes what a run found into a folder; gives the number of conversations.
///
/// # Errors
/// A folder that holds other files, or cannot be written; the store.
pub fn write(store: &Store, row: &RunRow, folder: &Path, texts: bool) -> Result<usize, Failure> {
    let files = Files::new(folder)?;
    let mut manifest = manifest(row, RunFacts::of(row)?, texts);
    let mut written = || {
        let [conversations, programs, whole] = [files.begin(0)?, files.begin(1)?, files.begin(2)?];
        let (mut conversations, mut programs) = (conversations, programs);
        for record in kept_records(store, &row.run).map_err(Failure::store)? {
            let record = record.map_err(Failure::store)?;
            let rows = ProgramRow::of(&record, texts);
            manifest.count(&record, rows.len());
            conversations.line(&ConversationRow::from(&record))?;
            rows.iter().try_for_each(|row| programs.line(row))?;
        }
        [conversations, programs].into_iter().try_for_each(Partial::close)?;
        whole.document(&manifest)?;
        files.put_in_place()?;
        Ok(manifest.result.conversations)
    };
    written().inspect_err(|_| files.discard())
}

fn manifest(row: &RunRow, facts: RunFacts, texts: bool) -> Manifest {
    let seated = || facts.models.iter();
    let model = |(actor, seated): (&crate::ids::ActorName, &crate::cli::keeping::SeatedModel)| {
        let info = &seated.model.info;
        let settings = seated.model.defaults.clone();
        (actor.clone(), ModelResult { provider: info.provider.clone(), model: info.model.clone(), settings })
    };
    let place = |(actor, seated): (&crate::ids::ActorName, &crate::cli::keeping::SeatedModel)| {
        (actor.clone(), ModelProvenance::of(&seated.name, &seated.model.info, &seated.servers))
    };
    let (samples, machine) =
        facts.groundwork.as_ref().map(|groundwork| (groundwork.samples, groundwork.machine.clone())).unzip();
    let result = ManifestResult {
        seed: facts.seed,
        topology: facts.topology.clone(),
        topology_hash: facts.parts.get(ARRANGEMENT).cloned(),
        prompts: Default::default(),
        models: seated().map(model).collect(),
        datasets: Default::default(),
        samples,
        planned: facts.planned,
        conversations: 0,
        programs: 0,
        texts,
        tasks: facts.groundwork.clone().map(|groundwork| groundwork.tasks).unwrap_or_default(),
    };
    let provenance = ManifestProvenance {
        run: row.run.clone(),
        code_version: facts.code_version.clone(),
        exported_by: env!("CARGO_PKG_VERSION").to_owned(),
        command: facts.arguments.clone(),
        begun_ns: row.begun_ns,
        models: seated().map(place).collect(),
        machine,
        isolation: None,
    };
    Manifest::new(result, provenance)
}

/// The files of a folder, each below another name until all are whole.
struct Files<'f>(&'f Path);

impl<'f> Files<'f> {
    fn new(folder: &'f Path) -> Result<Self, Failure> {
        let failed = |error| failure(folder, error);
        fs::create_dir_all(folder).map_err(failed)?;
        for entry in fs::read_dir(folder).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let files = Self(folder);
            let own = |index: usize| [files.place(index), files.partial(index)];
            if !(0..FILES.len()).flat_map(own).any(|own| own.file_name() == Some(&name)) {
                return Err(Failure::usage(format!(
                    "{} holds another file already, {}: --out names a folder for these files alone",
                    folder.display(),
                    name.to_string_lossy()
                )));
            }
        }
        Ok(Self(folder))
    }

    fn place(&self, index: usize) -> PathBuf {
        self.0.join(FILES[index])
    }

    fn partial(&self, index: usize) -> PathBuf {
        self.0.join(format!("{}.partial", FILES[index]))
    }

    fn begin(&self, index: usize) -> Result<Partial, Failure> {
        let path = self.partial(index);
        let file = File::create(&path).map_err(|error| failure(&path, error))?;
        Ok(Partial { path, file: BufWriter::new(file) })
    }

    /// An older manifest goes first, so that there is never one beside rows of another export.
    fn put_in_place(&self) -> Result<(), Failure> {
        let old = self.place(FILES.len() - 1);
        match fs::remove_file(&old) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failure(&old, error)),
            _ => {}
        }
        (0..FILES.len()).try_for_each(|index| {
            let place = self.place(index);
            fs::rename(self.partial(index), &place).map_err(|error| failure(&place, error))
        })
    }

    fn discard(&self) {
        for index in 0..FILES.len() {
            // What cannot be removed is named so that nobody takes it for whole.
            let _ = fs::remove_file(self.partial(index));
        }
    }
}

/// A file that is being written.
struct Partial {
    path: PathBuf,
    file: BufWriter<File>,
}

impl Partial {
    fn line(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        let written = serde_json::to_writer(&mut self.file, value).map_err(io::Error::from);
        written.and_then(|()| self.file.write_all(b"\n")).map_err(|error| failure(&self.path, error))
    }

    fn document(mut self, value: &impl Serialize) -> Result<(), Failure> {
        let written = serde_json::to_writer_pretty(&mut self.file, value).map_err(io::Error::from);
        written.and_then(|()| self.file.write_all(b"\n")).map_err(|error| failure(&self.path, error))?;
        self.close()
    }

    fn close(mut self) -> Result<(), Failure> {
        let flushed = self.file.flush().and_then(|()| self.file.get_ref().sync_all());
        flushed.map_err(|error| failure(&self.path, error))
    }
}

fn failure(path: &Path, error: io::Error) -> Failure {
    Failure::usage(format!("{}: {error}", path.display()))
}
