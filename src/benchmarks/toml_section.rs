//! Strict reading of a TOML file: every mistake is kept with its place, and the keys that were asked for are the keys
//! that are known.

use std::{cell::RefCell, ops::Range, path::Path, sync::Arc};

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    Mistake, Mistakes, Place,
    names::{shown, suggestion},
};
use crate::languages::TestTextError;

/// How many mistakes of a file are kept: each costs a look through the text for its line.
const MAX_MISTAKES: usize = 100;

/// A file that is being read, and what was wrong with it so far.
pub(super) struct Document<'a> {
    path: &'a Arc<Path>,
    text: &'a str,
    mistakes: RefCell<Vec<Mistake>>,
    /// Whether some of it is not TOML: what seems to be missing may stand there.
    broken: bool,
}

/// A value and the bytes that it stands on.
#[derive(Clone)]
pub(super) struct Field<T> {
    pub value: T,
    pub span: Range<usize>,
}

impl<'a> Document<'a> {
    /// Parses `text`; what is not TOML is kept as mistakes, and the rest can be read all the same.
    pub fn parse(path: &'a Arc<Path>, text: &'a str) -> (Self, Spanned<DeTable<'a>>) {
        let (table, errors) = DeTable::parse_recoverable(text);
        let document = Self { path, text, broken: !errors.is_empty(), mistakes: RefCell::default() };
        for error in errors.iter().take(MAX_MISTAKES) {
            let start = error.span().map_or(text.len(), |span| span.start);
            document.mistake(start, format!("not TOML: {}", error.message()), None);
        }
        (document, table)
    }

    /// The whole file as a section.
    pub fn root<'d>(&'d self, table: &'d Spanned<DeTable<'d>>) -> Section<'d> {
        Section { document: self, name: String::new(), table: table.get_ref(), start: 0, asked: Vec::new() }
    }

    /// Keeps a mistake at byte `offset`.
    pub fn mistake(&self, offset: usize, message: impl Into<String>, hint: Option<String>) {
        if !self.is_full() {
            let place = Place::of_offset(self.path, self.text, offset);
            self.mistakes.borrow_mut().push(Mistake { place, message: message.into(), hint });
        }
    }

    fn is_full(&self) -> bool {
        self.mistakes.borrow().len() >= MAX_MISTAKES
    }

    /// Keeps a mistake inside of the code that stands in the string at `span`.
    pub fn code_mistake(&self, key: &str, span: &Range<usize>, error: &TestTextError) {
        let raw = &self.text[span.clone()];
        let mut place = Place::of_offset(self.path, self.text, span.start);
        if let Some(content) = raw.strip_prefix("'''").or_else(|| raw.strip_prefix("\"\"\"")) {
            // a line end directly after the quotes is no part of the string
            let skipped = u32::from(content.starts_with('\n') || content.starts_with("\r\n"));
            if skipped + error.line > 1 {
                place.column = Some(error.column);
            }
            place.line += skipped + error.line - 1;
        }
        self.mistakes.borrow_mut().push(Mistake::new(place, format!("`{key}`: {error}")));
    }

    /// Place of byte `offset`.
    pub fn place(&self, offset: usize) -> Place {
        Place::of_offset(self.path, self.text, offset)
    }

    /// All that was wrong.
    pub fn into_mistakes(self) -> Option<Mistakes> {
        Mistakes::of(self.mistakes.into_inner())
    }
}

/// A table of the file.
pub(super) struct Section<'d> {
    pub document: &'d Document<'d>,
    /// Its dotted name, empty for the file itself.
    name: String,
    table: &'d DeTable<'d>,
    /// Byte where it begins.
    pub start: usize,
    asked: Vec<&'static str>,
}

impl<'d> Section<'d> {
    fn value(&mut self, key: &'static str) -> Option<&'d Spanned<DeValue<'d>>> {
        self.asked.push(key);
        self.table.get(key)
    }

    /// Its dotted name, empty for the file itself.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name of `key` with those of the tables around it.
    pub fn full_name(&self, key: &str) -> String {
        if self.name.is_empty() { key.to_owned() } else { format!("{}.{key}", self.name) }
    }

    fn wrong_type(&self, key: &str, value: &Spanned<DeValue<'_>>, wanted: &str) {
        let found = match value.get_ref() {
            DeValue::Integer(number) => number.to_string(),
            DeValue::Float(number) => number.to_string(),
            other => other.type_str().to_owned(),
        };
        let message = format!("`{}`: expected {wanted}, found {found}", self.full_name(key));
        self.document.mistake(value.span().start, message, None);
    }

    fn typed<T>(
        &mut self,
        key: &'static str,
        wanted: &str,
        convert: impl Fn(&'d DeValue<'d>) -> Option<T>,
    ) -> Option<Field<T>> {
        let value = self.value(key)?;
        match convert(value.get_ref()) {
            Some(converted) => Some(Field { value: converted, span: value.span() }),
            None => {
                self.wrong_type(key, value, wanted);
                None
            }
        }
    }

    /// A string without NUL.
    pub fn string(&mut self, key: &'static str) -> Option<Field<&'d str>> {
        let field = self.typed(key, "a string", DeValue::as_str)?;
        if field.value.contains('\0') {
            let message = format!("`{}` holds a NUL character", self.full_name(key));
            self.document.mistake(field.span.start, message, None);
            return None;
        }
        Some(field)
    }

    /// A string, or an array of strings, of which there is at least one; none of them is empty.
    pub fn names(&mut self, key: &'static str) -> Option<Vec<String>> {
        let name = |value: &DeValue<'_>| value.as_str().filter(|name| !name.is_empty()).map(str::to_owned);
        let field = self.typed(key, "the name of a field, or an array of names", |value| match value.as_array() {
            Some(items) if !items.is_empty() => items.iter().map(|item| name(item.get_ref())).collect(),
            Some(_) => None,
            None => name(value).map(|name| vec![name]),
        })?;
        Some(field.value)
    }

    /// A whole number from 1.
    pub fn positive(&mut self, key: &'static str) -> Option<Field<u64>> {
        self.typed(key, "a whole number from 1", positive)
    }

    /// A whole number from 1 that fits into 32 bits.
    pub fn positive_u32(&mut self, key: &'static str) -> Option<Field<u32>> {
        self.typed(key, "a whole number from 1 to 4294967295", |value| u32::try_from(positive(value)?).ok())
    }

    /// A whole number from 1 that fits into 32 bits, or `word`, which is `None`.
    pub fn positive_u32_or(&mut self, key: &'static str, word: &str) -> Option<Field<Option<u32>>> {
        self.typed(key, &format!("a whole number from 1, or \"{word}\""), |value| match value.as_str() {
            Some(found) => (found == word).then_some(None),
            None => u32::try_from(positive(value)?).ok().map(Some),
        })
    }

    /// A number, whole or not, that `convert` takes; `wanted` says which it takes.
    pub fn number<T>(
        &mut self,
        key: &'static str,
        wanted: &str,
        convert: impl Fn(f64) -> Option<T>,
    ) -> Option<Field<T>> {
        self.typed(key, wanted, |value| {
            let whole = || value.as_integer().filter(|number| number.radix() == 10).map(|number| number.as_str());
            let text = value.as_float().map(|number| number.as_str()).or_else(whole)?;
            convert(text.parse().ok()?)
        })
    }

    /// An array of whole numbers from 1.
    pub fn positive_list(&mut self, key: &'static str) -> Option<Field<Vec<Field<u64>>>> {
        self.typed(key, "an array of whole numbers from 1", |value| {
            let items = value.as_array()?.iter();
            items.map(|item| Some(Field { value: positive(item.get_ref())?, span: item.span() })).collect()
        })
    }

    /// A table inside of this one.
    pub fn section(&mut self, key: &'static str) -> Option<Section<'d>> {
        let field = self.typed(key, "a table", DeValue::as_table)?;
        Some(self.inner(self.full_name(key), field.value, field.span.start))
    }

    /// An array of tables inside of this one, and where it begins.
    pub fn sections(&mut self, key: &'static str) -> Option<Field<Vec<Section<'d>>>> {
        let tables = self.typed(key, "an array of tables", |value| {
            let items = value.as_array()?.iter();
            items.map(|item| Some((item.get_ref().as_table()?, item.span().start))).collect::<Option<Vec<_>>>()
        })?;
        let name = self.full_name(key);
        let sections = tables.value.into_iter().map(|(table, start)| self.inner(name.clone(), table, start)).collect();
        Some(Field { value: sections, span: tables.span })
    }

    fn inner(&self, name: String, table: &'d DeTable<'d>, start: usize) -> Section<'d> {
        Section { document: self.document, name, table, start, asked: Vec::new() }
    }

    /// Whether the key is there, of whatever type.
    pub fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// `value`, and a mistake where the key is not there at all.
    pub fn required<T>(&self, key: &str, what: &str, value: Option<T>) -> Option<T> {
        if !self.has(key) && !self.document.broken {
            self.document.mistake(self.start, format!("missing key `{}`: {what}", self.full_name(key)), None);
        }
        value
    }

    /// Ends the reading: a key that nobody asked for is unknown.
    pub fn finish(self) {
        for (key, _) in self.table.iter().filter(|(key, _)| !self.asked.contains(&key.get_ref().as_ref())) {
            if self.document.is_full() {
                return;
            }
            let name = key.get_ref();
            let message = format!("unknown key `{}`", self.full_name(&shown(name)));
            let hint = suggestion(name, self.asked.iter().copied());
            self.document.mistake(key.span().start, message, Some(hint));
        }
    }
}

fn positive(value: &DeValue<'_>) -> Option<u64> {
    let integer = value.as_integer()?;
    u64::from_str_radix(integer.as_str(), integer.radix()).ok().filter(|number| *number > 0)
}
