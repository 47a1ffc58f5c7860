//! Records of a data file: JSON Lines, or one JSON array of objects; every complaint knows its line, record and field.

use std::{collections::BTreeMap, fmt, path::Path, sync::Arc};

use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, Visitor},
};
use serde_json::Value;

use super::{
    BenchmarkError, Mistake, Place, json_array,
    mistake::{line_and_column, to_u32},
    names::shown,
    text_file::{TextFile, with_plain_line_ends},
};
use crate::languages::{TestTextError, syntax::MAX_CODE_BYTES};

/// Longest record, in bytes.
pub(super) const MAX_RECORD_BYTES: usize = 16 << 20;

/// How many fields a message lists.
const SHOWN_FIELDS: usize = 20;

/// One object of a data file.
pub(super) struct Record {
    place: Place,
    /// Its number in the file, from 1.
    number: usize,
    fields: BTreeMap<String, Value>,
}

/// Reads every record of `path`, which may be gzipped.
///
/// # Errors
/// As [`TextFile::read`]; no record; a record that is too long, not JSON, not an object, or that has a field twice.
pub(super) fn read_records(path: &Path) -> Result<Vec<Record>, BenchmarkError> {
    let file = TextFile::read(path)?;
    let texts = if file.text.trim_start().starts_with('[') {
        json_array::elements(&file.text)
            .map_err(|error| Mistake::new(Place::of_offset(&file.path, &file.text, error.offset), error.problem))?
    } else {
        lines(&file.text)
    };
    if texts.is_empty() {
        return Err(Mistake::new(Place::line(&file.path, 1), "no record in this file").into());
    }
    let numbered = texts.into_iter().enumerate();
    numbered.map(|(index, text)| Record::parse(&file.path, index + 1, text)).collect()
}

/// A record's text and where it begins.
pub(super) struct RecordText<'a> {
    /// Its JSON.
    pub text: &'a str,
    /// 1-based line of the file.
    pub line: u32,
    /// 1-based column there.
    pub column: u32,
}

fn lines(text: &str) -> Vec<RecordText<'_>> {
    let numbered = text.lines().enumerate();
    numbered
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(index, text)| RecordText { text, line: to_u32(index + 1), column: 1 })
        .collect()
}

impl Record {
    fn parse(path: &Arc<Path>, number: usize, record: RecordText<'_>) -> Result<Self, BenchmarkError> {
        let place = Place::line(path, record.line);
        if record.text.len() > MAX_RECORD_BYTES {
            let what = format!("record {number}");
            return Err(BenchmarkError::TooLarge { place, what, limit_bytes: MAX_RECORD_BYTES });
        }
        match serde_json::from_str::<UniqueFields>(record.text) {
            Ok(UniqueFields(fields)) => Ok(Self { place, number, fields }),
            Err(error) => {
                // serde_json counts columns in bytes, from the start of the record
                let line_start = record.text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len);
                let offset = line_start.sum::<usize>() + error.column().saturating_sub(1);
                let (line, column) = line_and_column(record.text.as_bytes(), offset);
                let before = if line == 1 { record.column - 1 } else { 0 };
                let place = Place { line: record.line + (line - 1), column: Some(before + column), ..place };
                let problem = error.to_string();
                let problem = problem.rsplit_once(" at line ").map_or(problem.as_str(), |(problem, _)| problem);
                Err(Mistake::new(place, format!("record {number}: {problem}")).into())
            }
        }
    }

    /// Where it begins.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// A complaint about the whole record.
    pub fn mistake(&self, problem: impl fmt::Display) -> BenchmarkError {
        let name = match self.fields.get("task_id") {
            Some(Value::String(id)) => format!(" (task_id `{}`)", shown(id)),
            Some(Value::Number(id)) => format!(" (task_id {id})"),
            _ => String::new(),
        };
        Mistake::new(self.place.clone(), format!("record {}{name}: {problem}", self.number)).into()
    }

    /// A complaint about the content of `field`.
    pub fn field_mistake(&self, field: &str, problem: impl fmt::Display) -> BenchmarkError {
        self.mistake(format_args!("field `{field}`: {problem}"))
    }

    /// A complaint about test text that was made from `field`.
    pub fn test_mistake(&self, field: &str, error: &TestTextError) -> BenchmarkError {
        self.field_mistake(field, format_args!("line {}, column {}: {error}", error.line, error.column))
    }

    /// Whether there is such a field with a value other than `null`.
    pub fn has(&self, field: &str) -> bool {
        self.value(field).is_some()
    }

    fn value(&self, field: &str) -> Option<&Value> {
        self.fields.get(field).filter(|value| !value.is_null())
    }

    fn required(&self, field: &str) -> Result<&Value, BenchmarkError> {
        self.value(field).ok_or_else(|| {
            let present: Vec<_> =
                self.fields.keys().take(SHOWN_FIELDS).map(|key| format!("`{}`", shown(key))).collect();
            let more = if self.fields.len() > SHOWN_FIELDS { ", …" } else { "" };
            self.field_mistake(field, format_args!("missing; this record has {}{more}", present.join(", ")))
        })
    }

    fn expected(&self, field: &str, wanted: &str, found: &Value) -> BenchmarkError {
        self.field_mistake(field, format_args!("expected {wanted}, found {}", kind_of(found)))
    }

    /// A string field.
    pub fn string(&self, field: &str) -> Result<&str, BenchmarkError> {
        self.as_string(field, self.required(field)?)
    }

    fn as_string<'a>(&self, field: &str, value: &'a Value) -> Result<&'a str, BenchmarkError> {
        let text = value.as_str().ok_or_else(|| self.expected(field, "a string", value))?;
        if text.contains('\0') {
            return Err(self.field_mistake(field, "holds a NUL character"));
        }
        Ok(text)
    }

    /// A string field of source code, its line ends as `\n`.
    pub fn code(&self, field: &str) -> Result<String, BenchmarkError> {
        self.as_code(field, self.required(field)?)
    }

    fn as_code(&self, field: &str, value: &Value) -> Result<String, BenchmarkError> {
        let text = self.as_string(field, value)?;
        if text.len() > MAX_CODE_BYTES {
            let what = format!("record {}: the code in field `{field}`", self.number);
            return Err(BenchmarkError::TooLarge { place: self.place.clone(), what, limit_bytes: MAX_CODE_BYTES });
        }
        Ok(with_plain_line_ends(text))
    }

    /// A field, whatever it holds.
    pub fn any(&self, field: &str) -> Result<&Value, BenchmarkError> {
        self.required(field)
    }

    /// A field of strings.
    pub fn strings(&self, field: &str) -> Result<Vec<&str>, BenchmarkError> {
        let value = self.required(field)?;
        let items = value.as_array().ok_or_else(|| self.expected(field, "an array of strings", value))?;
        items.iter().map(|item| self.as_string(field, item)).collect()
    }

    /// A field of lines of source code; absent counts as none.
    pub fn code_list(&self, field: &str) -> Result<Vec<String>, BenchmarkError> {
        let Some(value) = self.value(field) else { return Ok(Vec::new()) };
        let items = value.as_array().ok_or_else(|| self.expected(field, "an array of strings", value))?;
        items.iter().map(|item| self.as_code(field, item)).collect()
    }

    /// A field of source code: a text, or an array of lines, of which the first `most` count.
    pub fn code_or_lines(&self, field: &str, most: usize) -> Result<String, BenchmarkError> {
        match self.required(field)? {
            Value::Array(_) => {
                let lines = self.code_list(field)?;
                Ok(lines.iter().take(most).map(|line| format!("{}\n", line.trim_end())).collect())
            }
            value if most == usize::MAX => self.as_code(field, value),
            value => Err(self.expected(field, "an array of lines, since only the first of them count", value)),
        }
    }

    /// A field that holds a string or a whole number, as text.
    pub fn word(&self, field: &str) -> Result<String, BenchmarkError> {
        match self.required(field)? {
            Value::Number(number) if number.is_u64() => Ok(number.to_string()),
            value => self.as_string(field, value).map(str::to_owned),
        }
    }

    /// A field of named texts of source code, in the order of the file; absent counts as none.
    pub fn texts(&self, field: &str) -> Result<Vec<(&str, String)>, BenchmarkError> {
        let Some(value) = self.value(field) else { return Ok(Vec::new()) };
        let texts = value.as_object().ok_or_else(|| self.expected(field, "an object of strings", value))?;
        texts.iter().map(|(name, text)| Ok((name.as_str(), self.as_code(field, text)?))).collect()
    }

    /// A field that holds a whole number from 0.
    pub fn whole_number(&self, field: &str) -> Result<u64, BenchmarkError> {
        let value = self.required(field)?;
        value.as_u64().ok_or_else(|| self.expected(field, "a whole number", value))
    }

    /// A field that names a function.
    pub fn name(&self, field: &str) -> Result<&str, BenchmarkError> {
        let name = self.string(field)?;
        if is_identifier(name) { Ok(name) } else { Err(self.field_mistake(field, "expected the name of a function")) }
    }
}

/// Whether `text` can name a Python function.
pub(super) fn is_identifier(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next().is_some_and(|first| first == '_' || first.is_alphabetic())
        && characters.all(|other| other == '_' || other.is_alphanumeric())
}

fn kind_of(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(_) => "a string".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// An object that has no field twice: JSON readers disagree on which of the two counts.
struct UniqueFields(BTreeMap<String, Value>);

impl<'de> Deserialize<'de> for UniqueFields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = UniqueFields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<UniqueFields, A::Error> {
                let mut fields = BTreeMap::new();
                while let Some((key, value)) = map.next_entry::<String, Value>()? {
                    if fields.contains_key(&key) {
                        return Err(A::Error::custom(format_args!("duplicate field `{}`", shown(&key))));
                    }
                    fields.insert(key, value);
                }
                Ok(UniqueFields(fields))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}
