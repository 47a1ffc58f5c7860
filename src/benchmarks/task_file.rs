use std::{ops::Range, path::Path, sync::Arc};

use super::{
    BenchmarkError, Mistakes, Place,
    assertions::assertions,
    names::{shown, suggestion},
    output_rule::output_rule,
    python_syntax::PythonText,
    records::is_identifier,
    suites::{listed_assertions, suite},
    text_file::{TextFile, with_plain_line_ends},
    toml_section::{Document, Field, Section},
    unchecked::unchecked,
};
use crate::{
    domain::{
        FeedbackSet, HiddenTests, IoCase, Language, Limits, OutputRule, Problem, Program, Task, TestSuite,
        TimeoutPolicy,
    },
    ids::TaskId,
    languages::{
        self, TestTextError,
        outline::{outline, valid_outline},
    },
};

/// Longest task file, in bytes.
const MAX_TASK_FILE_BYTES: usize = 4 << 20;

/// Longest id of a task, in bytes.
const MAX_ID_BYTES: usize = 200;

/// `dataset` of tasks from files of this format.
const DATASET: &str = "file";

/// Loads one task of our own format (`docs/tasks.md`).
///
/// # Errors
/// A file that cannot be read, or every mistake in it at once, each with `FILE:LINE:COLUMN`.
pub fn load_task(path: &Path) -> Result<Problem, BenchmarkError> {
    read_task(path).map(|(problem, _)| problem)
}

/// The task and where its id stands.
pub(super) fn read_task(path: &Path) -> Result<(Problem, Place), BenchmarkError> {
    let file = TextFile::read(path)?;
    if file.text.len() > MAX_TASK_FILE_BYTES {
        let (place, what) = (Place::line(&file.path, 1), "this task file".to_owned());
        return Err(BenchmarkError::TooLarge { place, what, limit_bytes: MAX_TASK_FILE_BYTES });
    }
    task_of(&file.path, &file.text).map_err(BenchmarkError::Content)
}

fn task_of(path: &Arc<Path>, text: &str) -> Result<(Problem, Place), Mistakes> {
    let (document, table) = Document::parse(path, text);
    let task = problem(document.root(&table));
    let task = task.map(|(problem, id)| (problem, document.place(id.start)));
    match (document.into_mistakes(), task) {
        (Some(mistakes), _) => Err(mistakes),
        (None, Some(task)) => Ok(task),
        // cannot be: what is not there was said to be missing
        (None, None) => Err(super::Mistake::new(Place::line(path, 1), "this is not a task").into()),
    }
}

fn problem(mut root: Section<'_>) -> Option<(Problem, Range<usize>)> {
    let document = root.document;
    let id = id(&mut root);
    let language = language(&mut root);
    let statement = root.string("statement");
    let statement = root.required("statement", "what the program must do, in words", statement);
    if let Some(blank) = statement.as_ref().filter(|statement| statement.value.trim().is_empty()) {
        document.mistake(blank.span.start, "`statement` is empty", None);
    }
    let signature = root.string("signature").map(|field| field.value.trim().to_owned());
    let entry_point = entry_point(&mut root);
    // Where the language is not known, code is not looked at.
    let subject = Subject { language, entry_point: entry_point.as_ref() };
    let preamble = valid_code(&mut root, "preamble", &subject);
    let support = valid_code(&mut root, "support", &subject);
    let starter = program(&mut root, "starter", &subject);
    let reference = program(&mut root, "reference", &subject);
    let faulty_lines = faulty_lines(&mut root, starter.as_ref());
    let Suites { visible, validation, hidden } = suites(&mut root, &subject);
    let default = language.map_or_else(Limits::default, languages::limits);
    let limits = match root.section("limits") {
        Some(section) => limits(section, default),
        None => default,
    };
    root.finish();

    let (id, language) = (id?, language?);
    let source = |text: String| Arc::new(Program::new(language, text));
    let visible = Arc::new(visible?);
    let task = Task {
        id: TaskId(id.value.to_owned()),
        dataset: DATASET.to_owned(),
        language,
        statement: statement?.value.trim().to_owned(),
        entry_point: entry_point.map(|name| name.value.to_owned()),
        signature,
        preamble,
        support,
        feedback: visible.clone(),
        visible,
        source: None,
        starter: starter.map(source),
        faulty_lines,
        limits,
    };
    let [validation, hidden] = [validation, hidden].map(|tests| tests.map(HiddenTests::new));
    let notes = unchecked(&task.statement, &task.visible).into_iter().collect();
    let (task, reference) = (Arc::new(task), reference.map(source));
    let problem = Problem { task, feedback: FeedbackSet::Visible, validation, hidden, reference, notes };
    Some((problem, id.span))
}

fn id<'d>(root: &mut Section<'d>) -> Option<Field<&'d str>> {
    let id = root.string("id");
    let id = root.required("id", "the name of the task", id)?;
    if is_task_id(id.value) {
        return Some(id);
    }
    let hint = format!("letters, digits and - _ . / make an id, at most {MAX_ID_BYTES} bytes");
    root.document.mistake(id.span.start, "`id` cannot name a task", Some(hint));
    None
}

/// Whether `text` can name a task.
pub(super) fn is_task_id(text: &str) -> bool {
    let fits = !text.is_empty() && text.len() <= MAX_ID_BYTES;
    fits && text.chars().all(|character| character.is_alphanumeric() || "-_./".contains(character))
}

/// The language that the file names.
pub(super) fn language(root: &mut Section<'_>) -> Option<Language> {
    let name = root.string("language");
    let name = root.required("language", "the language of the program", name)?;
    let language = Language::from_name(name.value);
    if language.is_none() {
        let hint = suggestion(name.value, Language::ALL.iter().map(|language| language.name()));
        let message = format!("unknown language `{}`", shown(name.value));
        root.document.mistake(name.span.start, message, Some(hint));
    }
    language
}

fn entry_point<'d>(root: &mut Section<'d>) -> Option<Field<&'d str>> {
    let name = root.string("entry_point")?;
    if is_identifier(name.value) {
        return Some(name);
    }
    root.document.mistake(name.span.start, "`entry_point`: expected the name of a function", None);
    None
}

/// What the code of a task is about.
struct Subject<'a, 'd> {
    language: Option<Language>,
    entry_point: Option<&'a Field<&'d str>>,
}

/// Code that must be valid.
fn valid_code(root: &mut Section<'_>, key: &'static str, subject: &Subject<'_, '_>) -> Option<String> {
    let field = root.string(key)?;
    let code = with_plain_line_ends(field.value);
    if let Some(Err(error)) = subject.language.map(|language| validity(language, &code)) {
        root.document.code_mistake(key, &field.span, &error);
    }
    Some(code)
}

fn validity(language: Language, code: &str) -> Result<(), TestTextError> {
    match language {
        Language::Python => assertions(code).map(|_| ()),
        other => valid_outline(other, code).map(|_| ()),
    }
}

/// A program: it may be wrong in any way, but where its text is of the language it must define the function under test.
fn program(root: &mut Section<'_>, key: &'static str, subject: &Subject<'_, '_>) -> Option<String> {
    let field = root.string(key)?;
    let text = with_plain_line_ends(field.value);
    if text.trim().is_empty() {
        root.document.mistake(field.span.start, format!("`{key}` is empty"), None);
    } else if let (Some(name), Some(language)) = (subject.entry_point, subject.language)
        && defines(language, &text, name.value) == Some(false)
    {
        let message = format!("`{key}` does not define the entry point `{}`", name.value);
        root.document.mistake(field.span.start, message, None);
    }
    Some(text)
}

/// Whether the text defines the function; `None` where it is not of the language.
pub(super) fn defines(language: Language, text: &str, name: &str) -> Option<bool> {
    if language == Language::Python {
        let python = PythonText::parse(text).ok().filter(|python| python.first_error().is_none())?;
        return Some(python.definition(name).is_some());
    }
    outline(language, text).map(|outline| outline.offers(name))
}

fn faulty_lines(root: &mut Section<'_>, starter: Option<&String>) -> Vec<u32> {
    let Some(lines) = root.positive_list("faulty_lines") else { return Vec::new() };
    let count = starter.map_or(0, |text| text.lines().count());
    let mut known = Vec::new();
    for line in lines.value {
        match u32::try_from(line.value).ok().filter(|_| line.value <= count as u64) {
            Some(number) => known.push(number),
            None => {
                let message = format!("`faulty_lines`: there is no line {}; the starter has {count}", line.value);
                root.document.mistake(line.span.start, message, None);
            }
        }
    }
    known
}

/// The sets of tests of a task.
struct Suites {
    visible: Option<TestSuite>,
    validation: Option<TestSuite>,
    hidden: Option<TestSuite>,
}

fn suites(root: &mut Section<'_>, subject: &Subject<'_, '_>) -> Suites {
    let (document, entry_point) = (root.document, subject.entry_point);
    let (compare, rule) = output_rule(root);
    let visible = root.section("visible");
    let visible = root.required("visible", "tests whose results are fed back", visible);
    let (validation, hidden) = (root.section("validation"), root.section("hidden"));
    let sets = [visible, validation, hidden].map(|section| section.map(|section| Tests::read(section, &rule)));
    let given: Vec<_> = sets.iter().flatten().collect();
    let with_code = given.iter().any(|tests| matches!(tests, Tests::Code(..)));
    let with_io = given.iter().any(|tests| matches!(tests, Tests::Io(_)));
    match (entry_point, compare) {
        _ if with_code && with_io => {
            let message = "`visible`, `validation` and `hidden` must all have `code`, or all `io`";
            document.mistake(root.start, message, None);
        }
        (None, _) if with_code && !root.has("entry_point") => {
            root.required("entry_point", "the function that the tests call", None::<()>);
        }
        (Some(name), _) if with_io => {
            let message = "`entry_point` has no meaning for stdin/stdout tests: the whole program is run";
            document.mistake(name.span.start, message, None);
        }
        (_, Some(word)) if with_code => {
            document.mistake(word.span.start, "`compare` is for stdin/stdout tests only", None);
        }
        _ => {}
    }
    let [visible, validation, hidden] = sets.map(|tests| tests.and_then(|tests| tests.suite(document, subject)));
    Suites { visible, validation, hidden }
}

/// What a `[visible]`, `[validation]` or `[hidden]` table holds.
enum Tests<'d> {
    /// Its dotted name and the test text.
    Code(String, Field<&'d str>),
    Io(TestSuite),
    Wrong,
}

impl<'d> Tests<'d> {
    fn read(mut section: Section<'d>, rule: &OutputRule) -> Self {
        let document = section.document;
        let (code, cases) = (section.string("code"), section.sections("io"));
        let (name, start) = (section.full_name("code"), section.start);
        let both = section.has("code") && section.has("io");
        let neither = !section.has("code") && !section.has("io");
        section.finish();
        let choice = "give `code = '''…'''`, or tables `io` with `stdin` and `stdout`";
        match (code, cases) {
            _ if both || neither => {
                let what = if both { "both kinds of tests" } else { "no test" };
                let table = name.trim_end_matches(".code");
                document.mistake(start, format!("`{table}` has {what}"), Some(choice.to_owned()));
                Self::Wrong
            }
            (Some(code), _) => Self::Code(name, code),
            (None, Some(cases)) => Self::io(document, cases, rule),
            (None, None) => Self::Wrong,
        }
    }

    fn io(document: &Document<'_>, sections: Field<Vec<Section<'_>>>, rule: &OutputRule) -> Self {
        if sections.value.is_empty() {
            document.mistake(sections.span.start, "no test: any program would pass", None);
        }
        let mut cases = Vec::new();
        for mut section in sections.value {
            let (stdin, stdout) = (section.string("stdin"), section.string("stdout"));
            let stdin = section.required("stdin", "what the program reads", stdin);
            // A checker needs no example of a right output.
            let stdout = match (rule, stdout) {
                (OutputRule::Checker(_), None) if !section.has("stdout") => Some(String::new()),
                (_, stdout) => {
                    section.required("stdout", "what it must print", stdout).map(|text| text.value.to_owned())
                }
            };
            section.finish();
            if let (Some(stdin), Some(stdout)) = (stdin, stdout) {
                cases.push(IoCase { stdin: stdin.value.to_owned(), stdout });
            }
        }
        Self::Io(TestSuite::Io { cases, rule: rule.clone() })
    }

    fn suite(self, document: &Document<'_>, subject: &Subject<'_, '_>) -> Option<TestSuite> {
        match self {
            Self::Io(suite) => Some(suite),
            Self::Wrong => None,
            Self::Code(name, code) => {
                let text = with_plain_line_ends(code.value);
                let language = subject.language?;
                let suite = match subject.entry_point {
                    Some(function) => suite(language, &text, function.value).map(Some),
                    // said to be missing elsewhere; the code is looked at all the same
                    None => listed_assertions(language, &text).map(|_| None),
                };
                suite.inspect_err(|error| document.code_mistake(&name, &code.span, error)).ok().flatten()
            }
        }
    }
}

/// The limits of a section; what it does not say is as in `default`.
pub(super) fn limits(mut section: Section<'_>, default: Limits) -> Limits {
    let number = |field: Option<Field<u64>>, default: u64| field.map_or(default, |field| field.value);
    let limits = Limits {
        test_cpu_ms: number(section.positive("test_cpu_ms"), default.test_cpu_ms),
        process_cpu_ms: number(section.positive("process_cpu_ms"), default.process_cpu_ms),
        memory_bytes: number(section.positive("memory_bytes"), default.memory_bytes),
        processes: section.positive_u32("processes").map_or(default.processes, |field| field.value),
        file_bytes: number(section.positive("file_bytes"), default.file_bytes),
        output_bytes: number(section.positive("output_bytes"), default.output_bytes),
        output_kept_bytes: number(section.positive("output_kept_bytes"), default.output_kept_bytes),
        timeouts: section
            .positive_u32_or("timeouts", "all")
            .map_or(default.timeouts, |field| field.value.map_or(TimeoutPolicy::All, TimeoutPolicy::After)),
        compile_cpu_ms: number(section.positive("compile_cpu_ms"), default.compile_cpu_ms),
        compile_memory_bytes: number(section.positive("compile_memory_bytes"), default.compile_memory_bytes),
        calibrated: false,
    };
    section.finish();
    limits
}
