use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    BENCHMARKS, BenchmarkError, Mistake, Mistakes, Place,
    names::shown,
    output_rule::output_rule,
    task_file::{is_task_id, language, limits},
    text_file::TextFile,
    toml_section::{Document, Section},
};
use crate::{
    domain::{Language, Limits, OutputRule},
    languages,
};

/// Longest mapping, in bytes.
const MAX_MAPPING_BYTES: usize = 1 << 20;

/// How the fields of somebody's JSON Lines file become tasks: a `--benchmark FILE.toml` (`docs/tasks.md`).
pub(super) struct Mapping {
    /// What records call the data set.
    pub name: String,
    pub data: PathBuf,
    pub language: Language,
    pub limits: Limits,
    pub rule: OutputRule,
    pub fields: Fields,
    pub visible: Tests,
    pub validation: Option<Tests>,
    pub hidden: Option<Tests>,
}

/// Names of fields. Those of texts are one or more, whose texts stand one below the other.
pub(super) struct Fields {
    pub id: String,
    pub statement: Vec<String>,
    pub entry_point: Option<String>,
    pub signature: Option<String>,
    pub preamble: Vec<String>,
    pub support: Vec<String>,
    pub starter: Vec<String>,
    pub reference: Vec<String>,
}

/// Where a set of tests stands in a record.
pub(super) struct Tests {
    pub kind: TestKind,
    /// Only so many of them, from the first on.
    pub first: Option<usize>,
}

pub(super) enum TestKind {
    /// Fields of assertions: a text, or a list of lines.
    Code(Vec<String>),
    /// A field of pairs.
    Io(IoFields),
}

/// A field with what programs read and print, and how these two are called in it.
pub(super) struct IoFields {
    pub field: String,
    pub stdin: String,
    pub stdout: String,
}

impl Mapping {
    /// # Errors
    /// A file that cannot be read; every mistake in it at once.
    pub fn read(path: &Path) -> Result<Self, BenchmarkError> {
        let file = TextFile::read(path)?;
        if file.text.len() > MAX_MAPPING_BYTES {
            let (place, what) = (Place::line(&file.path, 1), "this mapping".to_owned());
            return Err(BenchmarkError::TooLarge { place, what, limit_bytes: MAX_MAPPING_BYTES });
        }
        Self::of(&file.path, &file.text).map_err(BenchmarkError::Content)
    }

    fn of(path: &Arc<Path>, text: &str) -> Result<Self, Mistakes> {
        let (document, table) = Document::parse(path, text);
        let mapping = mapping(document.root(&table), path);
        match (document.into_mistakes(), mapping) {
            (Some(mistakes), _) => Err(mistakes),
            (None, Some(mapping)) => Ok(mapping),
            // cannot be: what is not there was said to be missing
            (None, None) => Err(Mistake::new(Place::line(path, 1), "this is not a mapping").into()),
        }
    }
}

fn mapping(mut root: Section<'_>, path: &Path) -> Option<Mapping> {
    let name = name(&mut root, path);
    let data = root.string("data");
    let data = root.required("data", "the JSON Lines file, seen from here", data);
    let language = language(&mut root);
    let (compare, rule) = output_rule(&mut root);
    let fields = root.section("fields");
    let fields = root.required("fields", "which field of a record is what", fields);
    let (fields, entry_point_at) = fields.map_or((None, None), fields_of);
    let visible = root.section("visible");
    let visible = root.required("visible", "the tests whose results are fed back", visible).and_then(tests);
    let [validation, hidden] = ["validation", "hidden"].map(|key| root.section(key).map(tests));
    let sets = || [visible.as_ref(), validation.iter().flatten().next(), hidden.iter().flatten().next()];
    let some = |is: fn(&TestKind) -> bool| sets().into_iter().flatten().any(|tests| is(&tests.kind));
    let (with_code, with_io) =
        (some(|kind| matches!(kind, TestKind::Code(_))), some(|kind| matches!(kind, TestKind::Io(_))));
    let document = root.document;
    match (entry_point_at, compare) {
        _ if with_code && with_io => {
            let message = "`visible`, `validation` and `hidden` must all have `code`, or all `io`";
            document.mistake(root.start, message, None);
        }
        (None, _) if with_code && fields.is_some() => {
            let message =
                "missing key `fields.entry_point`: the field with the name of the function that the tests call";
            document.mistake(root.start, message, None);
        }
        (Some(at), _) if with_io => {
            let message = "`fields.entry_point` has no meaning for stdin/stdout tests: the whole program is run";
            document.mistake(at, message, None);
        }
        (_, Some(word)) if with_code => {
            document.mistake(word.span.start, "`compare` is for stdin/stdout tests only", None);
        }
        _ => {}
    }
    let default = language.map_or_else(Limits::default, languages::limits);
    let limits = match root.section("limits") {
        Some(section) => limits(section, default),
        None => default,
    };
    root.finish();
    let folder = path.parent().unwrap_or(Path::new(""));
    Some(Mapping {
        name: name?,
        data: folder.join(data?.value),
        language: language?,
        limits,
        rule,
        fields: fields?,
        visible: visible?,
        // What is wrong with one was said.
        validation: validation.flatten(),
        hidden: hidden.flatten(),
    })
}

/// What records call the data set: none of the names of public ones, whose numbers theirs are not.
fn name(root: &mut Section<'_>, path: &Path) -> Option<String> {
    let given = root.string("name");
    let start = given.as_ref().map_or(root.start, |given| given.span.start);
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let name = given.map_or(stem, |given| given.value.to_owned());
    let problem = if BENCHMARKS.iter().any(|benchmark| benchmark.name() == name) {
        format!("`{name}` is the name of a public data set")
    } else if !is_task_id(&name) {
        format!("`{}` cannot name a data set", shown(&name))
    } else {
        return Some(name);
    };
    root.document.mistake(start, problem, Some("set `name`: letters, digits and - _ . /".to_owned()));
    None
}

/// The fields, and where `entry_point` stands.
fn fields_of(mut section: Section<'_>) -> (Option<Fields>, Option<usize>) {
    let id = section.string("id");
    let id = section.required("id", "the field with the task's name", id);
    let statement = section.names("statement");
    let statement = section.required("statement", "the field with what the program must do", statement);
    let entry_point = section.string("entry_point");
    let at = entry_point.as_ref().map(|field| field.span.start);
    let signature = section.string("signature").map(|field| field.value.to_owned());
    let [preamble, support, starter, reference] =
        ["preamble", "support", "starter", "reference"].map(|key| section.names(key).unwrap_or_default());
    section.finish();
    let fields = id.zip(statement).map(|(id, statement)| Fields {
        id: id.value.to_owned(),
        statement,
        entry_point: entry_point.map(|field| field.value.to_owned()),
        signature,
        preamble,
        support,
        starter,
        reference,
    });
    (fields, at)
}

fn tests(mut section: Section<'_>) -> Option<Tests> {
    let code = section.names("code");
    let io = section.string("io");
    let [stdin, stdout] = ["stdin", "stdout"].map(|key| section.string(key));
    let first = section.positive_u32("first").map(|field| field.value as usize);
    let what = match (section.has("code"), section.has("io")) {
        (true, true) => Some("both kinds of tests"),
        (false, false) => Some("no test"),
        _ => None,
    };
    if let Some(what) = what {
        let choice = "give `code`, a field of assertions, or `io`, a field of inputs and outputs".to_owned();
        section.document.mistake(section.start, format!("`{}` has {what}", section.name()), Some(choice));
    }
    if section.has("code") {
        for (key, field) in [("stdin", &stdin), ("stdout", &stdout)] {
            if let Some(field) = field {
                let message = format!("`{}` has no use without `io`", section.full_name(key));
                section.document.mistake(field.span.start, message, None);
            }
        }
    }
    section.finish();
    let called = |given: Option<super::toml_section::Field<&str>>, usual: &str| {
        given.map_or(usual, |field| field.value).to_owned()
    };
    let kind = match (code, io) {
        _ if what.is_some() => return None,
        (Some(fields), _) => TestKind::Code(fields),
        (None, Some(field)) => {
            let (stdin, stdout) = (called(stdin, "stdin"), called(stdout, "stdout"));
            TestKind::Io(IoFields { field: field.value.to_owned(), stdin, stdout })
        }
        (None, None) => return None,
    };
    Some(Tests { kind, first })
}
