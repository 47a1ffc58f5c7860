//! From a document to a [`Sheet`]: every key is known, every value of the right type, or it is a mistake.

use crate::{
    config::{
        ConfigPath, Content, Document, Field, Form, Item, Key, Located, Mistake, Place, find_key, is_section,
        names_below, quoted,
    },
    messages::Intervention,
};

use super::{
    When,
    draft::{ActorDraft, Draft, EdgeDraft, Sheet, Values},
    schema::{ACTOR_KEYS, ACTOR_TABLES, EDGE_KEYS, INTERVENE, TOP_KEYS, TOP_SHAPES, WHEN},
    unknown::unknown_key,
};

/// Names that mean something else in an arrangement or a trace.
const RESERVED_NAMES: &[&str] = &["task", "rolecall"];
const MAX_NAME_CHARS: usize = 64;
/// More actors or edges than these are refused.
const MAX_ACTORS: usize = 256;
const MAX_EDGES: usize = 4_096;

/// Reads a file. Its mistakes, those of its syntax too, are added to `mistakes`.
pub(super) fn read(document: &Document, path: &ConfigPath, mistakes: &mut Vec<Mistake>) -> Sheet {
    mistakes.extend(document.mistakes.iter().cloned());
    let draft = Draft {
        path: path.clone(),
        source: document.source.clone(),
        values: Values::default(),
        actors: Vec::new(),
        edges: Vec::new(),
        whole: document.is_whole(),
    };
    let sheet = Sheet { draft, extends: None, remove_actors: vec![], remove_edges: vec![], replace_edges: false };
    let mut reader = Reader { sheet, mistakes };
    if document.fields.is_empty() && document.is_whole() {
        let empty = Mistake::at(&Place::start_of(&document.source), "the file is empty");
        reader.mistakes.push(empty.hint("an arrangement needs `[actors.NAME]` tables and `[[edges]]`"));
        reader.sheet.draft.whole = false;
    }
    for field in &document.fields {
        reader.top(field);
    }
    if reader.sheet.extends.is_none() && document.is_whole() {
        reader.refuse_overlay_keys(&document.fields);
    }
    reader.sheet
}

struct Reader<'m> {
    sheet: Sheet,
    mistakes: &'m mut Vec<Mistake>,
}

impl Reader<'_> {
    fn top(&mut self, field: &Field) {
        let name = field.key.value.as_str();
        match name {
            "extends" => self.sheet.extends = self.text(&field.item, name),
            "actors" => self.actors(&field.item),
            "edges" => {
                let edges = self.edges(&field.item, name, EDGE_KEYS);
                self.sheet.draft.edges.extend(edges);
            }
            "remove_edges" => self.sheet.remove_edges = self.edges(&field.item, name, &["from", "to"]),
            "remove_actors" => self.sheet.remove_actors = self.names(&field.item, name),
            "replace_edges" => match &field.item.content {
                Content::Scalar(serde_json::Value::Bool(replace)) => self.sheet.replace_edges = *replace,
                _ => self.mistakes.push(field.item.must_be(name, "true or false")),
            },
            _ => {
                let mut values = std::mem::take(&mut self.sheet.draft.values);
                self.keyed(field, "", "", TOP_KEYS, TOP_SHAPES, &mut values);
                self.sheet.draft.values = values;
            }
        }
    }

    /// A field of the top level or of an actor that is in `keys`: a value, or a table of values. `shown` is the path of
    /// the table that it stands in, `prefix` the same below the top level or the actor.
    fn keyed(
        &mut self,
        field: &Field,
        shown: &str,
        prefix: &str,
        keys: &'static [Key],
        others: &[&str],
        values: &mut Values,
    ) {
        let name = field.key.value.as_str();
        let (path, shown_path) = (joined(prefix, name), joined(shown, name));
        if let Some(key) = find_key(keys, &path) {
            match key.read(&field.item, &shown_path) {
                Ok(value) => values.set(path, &field.key.place, Located::new(value, field.item.place.clone())),
                Err(mistake) => {
                    values.set_broken(path);
                    self.mistakes.push(mistake);
                }
            }
        } else if is_section(keys, &path) {
            match field.item.table(&shown_path) {
                Ok(fields) => fields.iter().for_each(|field| self.keyed(field, &shown_path, &path, keys, &[], values)),
                Err(mistake) => {
                    self.mistakes.push(mistake);
                    for key in names_below(keys, &path) {
                        values.set_broken(joined(&path, key));
                    }
                }
            }
        } else {
            let mut known = names_below(keys, prefix);
            known.extend(others);
            self.mistakes.push(unknown_key(name, &field.key.place, shown, &known));
        }
    }

    fn actors(&mut self, item: &Item) {
        let fields = match item.table("actors") {
            Ok(fields) => fields,
            Err(mistake) => {
                self.sheet.draft.whole = false;
                return self.mistakes.push(mistake);
            }
        };
        if fields.len() > MAX_ACTORS {
            self.sheet.draft.whole = false;
            let message = format!("{} actors are too many: at most {MAX_ACTORS}", fields.len());
            return self.mistakes.push(Mistake::at(&item.place, message));
        }
        for field in fields {
            self.actor(field);
        }
    }

    fn actor(&mut self, field: &Field) {
        let name = field.key.value.as_str();
        let shown = joined("actors", name);
        if let Some(reason) = unfit_name(name) {
            self.mistakes
                .push(Mistake::at(&field.key.place, format!("{} cannot name an actor: {reason}", quoted(name))));
        }
        let mut values = Values::default();
        match field.item.table(&shown) {
            Ok(fields) => {
                for inner in fields {
                    if ACTOR_TABLES.contains(&inner.key.value.as_str()) {
                        self.open_table(inner, &shown, &mut values);
                    } else {
                        self.keyed(inner, &shown, "", ACTOR_KEYS, ACTOR_TABLES, &mut values);
                    }
                }
            }
            Err(mistake) => {
                values.set_broken("role");
                self.mistakes.push(mistake);
            }
        }
        if !self.sheet.draft.whole {
            values.set_broken("role");
        }
        self.sheet.draft.actors.push(ActorDraft { name: field.key.clone(), values });
    }

    /// `prompts` or `settings` of an actor: which keys are right depends on the role, which an overlay may change.
    fn open_table(&mut self, table: &Field, shown: &str, values: &mut Values) {
        let name = table.key.value.as_str();
        let shown = joined(shown, name);
        let fields = match table.item.table(&shown) {
            Ok(fields) => fields,
            Err(mistake) => return self.mistakes.push(mistake),
        };
        for field in fields {
            let path = joined(name, &field.key.value);
            match field.item.value(&joined(&shown, &field.key.value)) {
                Ok(value) => values.set(path, &field.key.place, Located::new(value, field.item.place.clone())),
                Err(mistake) => {
                    values.set_broken(path);
                    self.mistakes.push(mistake);
                }
            }
        }
    }

    fn edges(&mut self, item: &Item, name: &str, known: &[&str]) -> Vec<EdgeDraft> {
        let items: &[Item] = match &item.content {
            Content::Array(items) => items,
            _ => {
                self.sheet.draft.whole = false;
                let mistake = item.must_be(name, "an array of tables").hint(format!("write `[[{name}]]`"));
                self.mistakes.push(mistake);
                return Vec::new();
            }
        };
        let mut edges = Vec::new();
        for (index, item) in items.iter().enumerate() {
            edges.extend(self.edge(item, &format!("{name}[{index}]"), known));
            if edges.len() > MAX_EDGES {
                self.mistakes.push(Mistake::at(&item.place, format!("`{name}`: at most {MAX_EDGES} edges")));
                self.sheet.draft.whole = false;
                return Vec::new();
            }
        }
        edges
    }

    fn edge(&mut self, item: &Item, shown: &str, known: &[&str]) -> Vec<EdgeDraft> {
        let fields = match item.table(shown) {
            Ok(fields) => fields,
            Err(mistake) => {
                self.sheet.draft.whole = false;
                self.mistakes.push(mistake);
                return Vec::new();
            }
        };
        let (mut from, mut to, mut when, mut intervene) = (None, Vec::new(), None, None);
        for field in fields {
            let path = joined(shown, &field.key.value);
            match field.key.value.as_str() {
                "from" => from = self.text(&field.item, &path),
                "to" => to = self.names(&field.item, &path),
                "when" if known.contains(&"when") => when = self.choice(&field.item, &path, WHEN, When::from_word),
                "intervene" if known.contains(&"intervene") => {
                    intervene = self.choice(&field.item, &path, INTERVENE, Intervention::from_word);
                }
                name => self.mistakes.push(unknown_key(name, &field.key.place, shown, known)),
            }
        }
        for key in ["from", "to"] {
            if self.sheet.draft.whole && !fields.iter().any(|field| field.key.value == key) {
                let mistake = Mistake::at(&item.place, format!("{} has no `{key}`", quoted(shown)));
                self.mistakes.push(mistake.hint("an edge is `from = \"NAME\"` and `to = \"NAME\"`"));
            }
        }
        let Some(from) = from.filter(|_| !to.is_empty()) else {
            self.sheet.draft.whole = false;
            return Vec::new();
        };
        to.into_iter()
            .map(|to| EdgeDraft { from: from.clone(), to, when: when.clone(), intervene: intervene.clone() })
            .collect()
    }

    fn choice<T>(
        &mut self,
        item: &Item,
        path: &str,
        form: Form,
        from_word: fn(&str) -> Option<T>,
    ) -> Option<Located<T>> {
        let chosen = match &item.content {
            Content::Scalar(value) => value.as_str().and_then(from_word),
            _ => None,
        };
        if chosen.is_none() {
            self.mistakes.push(item.must_be(path, &form.words()));
        }
        chosen.map(|chosen| Located::new(chosen, item.place.clone()))
    }

    fn text(&mut self, item: &Item, path: &str) -> Option<Located<String>> {
        match &item.content {
            Content::Scalar(serde_json::Value::String(text)) if !text.is_empty() => {
                Some(Located::new(text.clone(), item.place.clone()))
            }
            _ => {
                self.sheet.draft.whole = false;
                self.mistakes.push(item.must_be(path, "a string that is not empty"));
                None
            }
        }
    }

    /// A name or an array of names.
    fn names(&mut self, item: &Item, path: &str) -> Vec<Located<String>> {
        match &item.content {
            Content::Array(items) if items.is_empty() => {
                self.mistakes.push(Mistake::at(&item.place, format!("`{path}` is empty")));
                Vec::new()
            }
            Content::Array(items) => items.iter().filter_map(|item| self.text(item, path)).collect(),
            Content::Scalar(_) => self.text(item, path).into_iter().collect(),
            Content::Table(_) | Content::Unfit(_) => {
                self.sheet.draft.whole = false;
                self.mistakes.push(item.must_be(path, "a name or an array of names"));
                Vec::new()
            }
        }
    }

    fn refuse_overlay_keys(&mut self, fields: &[Field]) {
        for field in fields {
            if ["remove_actors", "remove_edges", "replace_edges"].contains(&field.key.value.as_str()) {
                let message = format!("{} needs `extends`: there is nothing to change", quoted(&field.key.value));
                self.mistakes.push(Mistake::at(&field.key.place, message));
            }
        }
    }
}

fn joined(table: &str, name: &str) -> String {
    if table.is_empty() { name.to_owned() } else { format!("{table}.{name}") }
}

fn unfit_name(name: &str) -> Option<String> {
    if RESERVED_NAMES.contains(&name) {
        return Some("the name is reserved".to_owned());
    }
    if name.chars().count() > MAX_NAME_CHARS {
        return Some(format!("it has more than {MAX_NAME_CHARS} characters"));
    }
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let right = name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(fits);
    (!right).then(|| "a name is a letter, then letters, digits, `_` and `-`".to_owned())
}
