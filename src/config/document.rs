use std::{collections::BTreeSet, sync::Arc};

use toml::de::DeTable;

use super::{Content, Field, Item, Mistake, Place, TextSource, item::fields, quoted};

/// A TOML text as far as it could be read, with every mistake of its syntax.
#[derive(Clone, Debug)]
pub struct Document {
    /// The fields of the top level, in the order of the file.
    pub fields: Vec<Field>,
    /// What is not TOML.
    pub mistakes: Vec<Mistake>,
    /// The text.
    pub source: Arc<TextSource>,
}

impl Document {
    /// Reads as much of the text as is TOML. Values on lines with a mistake of syntax are left out, since what was read
    /// of them may not be what was meant.
    pub fn parse(source: &Arc<TextSource>) -> Self {
        let (table, errors) = DeTable::parse_recoverable(source.text());
        let mistakes = syntax_mistakes(&errors, source);
        let broken: BTreeSet<u32> = mistakes.iter().map(|mistake| mistake.line).collect();
        let mut fields = fields(table.get_ref(), source);
        if !broken.is_empty() {
            prune(&mut fields, &broken);
        }
        Self { fields, mistakes, source: source.clone() }
    }

    /// Whether the whole text is TOML, so that what is missing is really missing.
    pub fn is_whole(&self) -> bool {
        self.mistakes.is_empty()
    }
}

fn prune(fields: &mut Vec<Field>, broken: &BTreeSet<u32>) {
    fields.retain(|field| match field.item.content {
        // A header that swallowed the lines below it.
        Content::Table(_) => !(touches(&field.item.place, broken) && spans_lines(&field.item.place)),
        _ => !touches(&field.key.place, broken) && !touches(&field.item.place, broken),
    });
    for field in fields {
        prune_item(&mut field.item, broken);
    }
}

fn prune_item(item: &mut Item, broken: &BTreeSet<u32>) {
    match &mut item.content {
        Content::Table(fields) => prune(fields, broken),
        Content::Array(items) => items.iter_mut().for_each(|item| prune_item(item, broken)),
        Content::Scalar(_) | Content::Unfit(_) => {}
    }
}

fn touches(place: &Place, broken: &BTreeSet<u32>) -> bool {
    let (first, _) = place.line_column();
    let (last, _) = place.source().line_column(place.span().end);
    broken.range(first..=last).next().is_some()
}

fn spans_lines(place: &Place) -> bool {
    place.source().text().get(place.span()).is_some_and(|text| text.contains('\n'))
}

/// What looks like a second table behind a header that is not closed is a consequence.
fn syntax_mistakes(errors: &[toml::de::Error], source: &Arc<TextSource>) -> Vec<Mistake> {
    let start = |error: &toml::de::Error| error.span().map_or(0, |span| span.start);
    let unclosed = errors.iter().filter(|error| error.message().starts_with("unclosed table")).map(start).min();
    let meant = |error: &&toml::de::Error| {
        error.message() != DUPLICATE || unclosed.is_none_or(|unclosed| start(error) < unclosed)
    };
    errors.iter().filter(meant).map(|error| syntax_mistake(error, source)).collect()
}

const DUPLICATE: &str = "duplicate key";

fn syntax_mistake(error: &toml::de::Error, source: &Arc<TextSource>) -> Mistake {
    let span = error.span().unwrap_or(0..0);
    let text = source.text().get(span.clone()).unwrap_or_default();
    let place = Place::new(source, span.clone());
    let said = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
    if said == DUPLICATE {
        return Mistake::at(&place, format!("duplicate key {}", quoted(text)));
    }
    if text.is_empty() && said.starts_with("string values must be quoted") {
        return Mistake::at(&place, "not TOML: a value is missing");
    }
    Mistake::at(&place, format!("not TOML: {said}"))
}
