use super::{
    BenchmarkError, humaneval::prompt_head, python_syntax::PythonText, records::Record, suites::listed_assertions,
};
use crate::{
    domain::Language,
    languages::outline::{FunctionHead, function_head, functions, mentions, outline, without_useless_imports},
};

/// The package of programs and tests in Go.
const GO_PACKAGE: &str = "package main\n";

/// Packages that some records use and import nowhere: upstream's tool adds what is lacking.
const GO_STANDARD: &str = "import (\n\"fmt\"\n\"math\"\n\"sort\"\n\"strconv\"\n\"strings\"\n)\n";

/// Records whose example tests are no program: the known fault is in the task's notes.
const BROKEN_EXAMPLES: [&str; 1] = ["Python/119"];

/// The first word of the ids of HumanEval-X, and of what is made from it.
pub(super) fn id_prefix(language: Language) -> &'static str {
    match language {
        Language::Python => "Python/",
        Language::Cpp => "CPP/",
        Language::Java => "Java/",
        Language::JavaScript => "JavaScript/",
        Language::Go => "Go/",
        Language::Rust => "Rust/",
    }
}

/// The names that a data file of this language can have.
pub(super) fn file_names(stem: &str, language: Language) -> Vec<String> {
    let short = (language == Language::JavaScript).then(|| "js".to_owned());
    let names = std::iter::once(language.name().to_owned()).chain(short);
    names.map(|name| format!("{stem}_{name}.jsonl")).collect()
}

/// The id of a record, which must be one of `language`.
pub(super) fn id(record: &Record, language: Language) -> Result<&str, BenchmarkError> {
    let id = record.string("task_id")?;
    let prefix = id_prefix(language);
    if id.starts_with(prefix) {
        return Ok(id);
    }
    let problem = format!("not a task for {}, whose ids begin with `{prefix}`", language.title());
    Err(record.field_mistake("task_id", problem))
}

/// The program whose last lines are the code in field `body`.
///
/// `declaration` holds what stands above it, except in Go: there it is the prompt, whose imports make way for those of
/// field `import` that are used. A declaration of C++ that goes on into
/// the body makes no program with it: the prompt takes its place.
pub(super) fn program(record: &Record, language: Language, body: &str) -> Result<String, BenchmarkError> {
    let body = record.code(body)?;
    if language != Language::Go {
        let declaration = record.code("declaration")?;
        let text = declaration.clone() + &body;
        if language != Language::Cpp || outline(language, &text).is_some() {
            return Ok(text);
        }
        let includes = declaration.lines().filter(|line| line.starts_with("#include"));
        let includes: String = includes.map(|line| format!("{line}\n")).collect();
        return Ok(includes + &record.code("prompt")? + &body);
    }
    Ok(without_useless_imports(language, &go_program(record, &body)?))
}

/// A program in Go with every import of its record, and what else it uses of the tests' imports and of [`GO_STANDARD`].
fn go_program(record: &Record, body: &str) -> Result<String, BenchmarkError> {
    let (prompt, imports) = (record.code("prompt")?, record.code("import")?);
    let prompt = prompt.replacen(imports.trim(), "", 1);
    let rest = format!("{}{body}", prompt.trim_start());
    let more = imports_besides(&[&record.code("test_setup")?, GO_STANDARD], &imports, &rest);
    let imports = imports.trim();
    Ok(format!("{GO_PACKAGE}\n{imports}\n{more}\n{rest}"))
}

/// The imports of `texts`, a line each, that `own` does not have and `rest` has a use for.
fn imports_besides(texts: &[&str], own: &str, rest: &str) -> String {
    let imports = |text: &str| {
        let statements = outline(Language::Go, text).map(|outline| outline.statements).unwrap_or_default();
        statements.into_iter().flat_map(|statement| statement.imports)
    };
    let mentioned = mentions(Language::Go, rest);
    let mut lines: Vec<String> = Vec::new();
    for import in texts.iter().flat_map(|text| imports(text)).filter(|import| import.is_needed(&mentioned)) {
        if !lines.contains(&import.text) && imports(own).all(|other| other.text != import.text) {
            lines.push(import.text);
        }
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The test text in field `field`. In Go, what stands above it is in `test_setup`; upstream, program and tests are one file
/// and share their imports.
pub(super) fn tests(record: &Record, language: Language, field: &str) -> Result<String, BenchmarkError> {
    let tests = record.code(field)?;
    if language != Language::Go {
        return Ok(tests);
    }
    let setup = record.code("test_setup")?;
    let more = imports_besides(&[&record.code("import")?, GO_STANDARD], &setup, &tests);
    Ok(without_useless_imports(language, &format!("{}\n{more}\n{}", setup.trim(), tests.trim_start())))
}

/// Whether the visible tests of this record assert anything: some are the word `None`, and one (Java/151 of HumanEval-X)
/// computes results at which nothing looks.
pub(super) fn asserts(record: &Record, language: Language) -> Result<bool, BenchmarkError> {
    const FIELD: &str = "example_test";
    if BROKEN_EXAMPLES.contains(&id(record, language)?) {
        return Ok(false);
    }
    if !record.has(FIELD) || matches!(record.string(FIELD)?.trim(), "" | "None") {
        return Ok(false);
    }
    let code = tests(record, language, FIELD)?;
    let found = listed_assertions(language, &code).map_err(|error| record.test_mistake(FIELD, &error))?;
    Ok(!found.is_empty())
}

/// The function under test: the last one of `declaration` that `tests` mention, else the last one of `program`.
pub(super) fn entry_point(language: Language, declaration: &str, program: &str, tests: &str) -> Option<String> {
    if language == Language::Python {
        let (program, tests) = (PythonText::parse(program).ok()?, PythonText::parse(tests).ok()?);
        let mentions = tests.mentions();
        let functions = program.statements().into_iter().filter(|node| node.kind() == "function_definition");
        let names: Vec<&str> = functions.flat_map(|node| program.bound_names(node)).collect();
        return names.into_iter().rfind(|name| mentions.anywhere(name)).map(str::to_owned);
    }
    let mentioned = mentions(language, tests);
    // Closed, it is a program: with one brace for the function, and in Java one for its class.
    let closed = format!("{declaration}\n{}", if language == Language::Java { "}\n}\n" } else { "}\n" });
    let last = |text: &str| functions(language, text).into_iter().rfind(|name| mentioned.contains(name));
    last(&closed).or_else(|| last(program))
}

/// Functions besides the one under test that `tests` call and that nothing but the reference defines: whoever is asked
/// for the program does not know of them.
pub(super) fn unknown_helpers(language: Language, head: &FunctionHead, program: &str, tests: &str) -> Vec<String> {
    let known = format!("{}\n{}", head.preamble.as_deref().unwrap_or_default(), head.signature);
    let (known, mentioned) = (mentions(language, &known), mentions(language, tests));
    let unknown = functions(language, program).into_iter();
    unknown.filter(|name| mentioned.contains(name) && !known.contains(name)).collect()
}

/// What a task says of the function under test, which the program with the code in field `canonical_solution` defines.
/// Python's is read from its prompt. In Go the preamble has every import, also those that the reference does not use: the
/// ones that a reply uses are put on top of it.
pub(super) fn head(record: &Record, language: Language, entry_point: &str) -> Result<FunctionHead, BenchmarkError> {
    if language == Language::Python {
        return prompt_head(record, &record.code("prompt")?, entry_point);
    }
    let missing = || record.field_mistake("declaration", format_args!("does not define the function `{entry_point}`"));
    let solution = "canonical_solution";
    let program = match language {
        Language::Go => go_program(record, &record.code(solution)?)?,
        other => program(record, other, solution)?,
    };
    function_head(language, &program, entry_point).ok_or_else(missing)
}
