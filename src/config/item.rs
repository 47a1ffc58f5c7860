use serde_json::{Number, Value};
use toml::de::{DeArray, DeTable, DeValue};

use super::{Located, Mistake, Place, TextSource, quoted};
use std::sync::Arc;

/// A value of a file, with its place.
#[derive(Clone, Debug)]
pub struct Item {
    /// Where the value is written; for a table, its header.
    pub place: Place,
    /// What it is.
    pub content: Content,
}

/// What an [`Item`] is.
#[derive(Clone, Debug)]
pub enum Content {
    /// A string, a boolean, a whole number of 64 bits with its sign, or a finite number.
    Scalar(Value),
    /// An array, also an array of tables.
    Array(Vec<Item>),
    /// A table, its fields in the order of the file.
    Table(Vec<Field>),
    /// A value that nothing here can be: what it is, in words.
    Unfit(&'static str),
}

/// A key and its value.
#[derive(Clone, Debug)]
pub struct Field {
    /// The key.
    pub key: Located<String>,
    /// Its value.
    pub item: Item,
}

impl Item {
    /// What it is, in words, for messages: `a table`, `the number 3`.
    pub fn words(&self) -> String {
        match &self.content {
            Content::Scalar(value) => value_words(value),
            Content::Array(_) => "an array".to_owned(),
            Content::Table(_) => "a table".to_owned(),
            Content::Unfit(words) => (*words).to_owned(),
        }
    }

    /// Its fields, where it is a table; else a mistake.
    ///
    /// # Errors
    /// Where it is something else; `path` says which key it is.
    pub fn table(&self, path: &str) -> Result<&[Field], Mistake> {
        match &self.content {
            Content::Table(fields) => Ok(fields),
            _ => Err(self.must_be(path, "a table")),
        }
    }

    /// The value without its places.
    ///
    /// # Errors
    /// Where it, or something in it, is a date or a number that fits nothing.
    pub fn value(&self, path: &str) -> Result<Value, Mistake> {
        match &self.content {
            Content::Scalar(value) => Ok(value.clone()),
            Content::Array(items) => {
                items.iter().map(|item| item.value(path)).collect::<Result<_, _>>().map(Value::Array)
            }
            Content::Table(fields) => {
                let pairs = fields.iter().map(|field| Ok((field.key.value.clone(), field.item.value(path)?)));
                pairs.collect::<Result<_, _>>().map(Value::Object)
            }
            Content::Unfit(_) => Err(self.must_be(path, "a string, a number, a boolean, an array or a table")),
        }
    }

    /// The mistake that the value of `path` must be something else than it is.
    pub fn must_be(&self, path: &str, expected: &str) -> Mistake {
        Mistake::at(&self.place, format!("{} must be {expected}, not {}", quoted(path), self.words()))
    }
}

/// A value in words: `the string "x"`.
fn value_words(value: &Value) -> String {
    match value {
        Value::String(text) if text.is_empty() => "an empty string".to_owned(),
        Value::String(text) => format!("the string {}", quoted(text)),
        Value::Number(number) => format!("the number {number}"),
        Value::Bool(boolean) => format!("the boolean {boolean}"),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) | Value::Null => "a table".to_owned(),
    }
}

/// The fields of a parsed table, in the order of the file.
pub(super) fn fields(table: &DeTable<'_>, source: &Arc<TextSource>) -> Vec<Field> {
    let mut fields: Vec<Field> = table
        .iter()
        .map(|(key, value)| Field {
            key: Located::new(key.get_ref().to_string(), Place::new(source, key.span())),
            item: Item { place: Place::new(source, value.span()), content: content(value.get_ref(), source) },
        })
        .collect();
    fields.sort_by_key(|field| field.key.place.span().start);
    fields
}

fn content(value: &DeValue<'_>, source: &Arc<TextSource>) -> Content {
    match value {
        DeValue::String(text) => Content::Scalar(Value::String(text.to_string())),
        DeValue::Boolean(boolean) => Content::Scalar(Value::Bool(*boolean)),
        DeValue::Integer(integer) => match i64::from_str_radix(integer.as_str(), integer.radix()) {
            Ok(number) => Content::Scalar(Value::from(number)),
            Err(_) => Content::Unfit("a number that does not fit into 64 bits"),
        },
        DeValue::Float(float) => match float.as_str().parse().ok().and_then(Number::from_f64) {
            Some(number) => Content::Scalar(Value::Number(number)),
            None => Content::Unfit("a number that is not finite"),
        },
        DeValue::Datetime(_) => Content::Unfit("a date"),
        DeValue::Array(array) => Content::Array(items(array, source)),
        DeValue::Table(table) => Content::Table(fields(table, source)),
    }
}

fn items(array: &DeArray<'_>, source: &Arc<TextSource>) -> Vec<Item> {
    let item = |value: &toml::Spanned<DeValue<'_>>| Item {
        place: Place::new(source, value.span()),
        content: content(value.get_ref(), source),
    };
    array.iter().map(item).collect()
}
