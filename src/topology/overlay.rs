//! A file with all that it extends, as one [`Draft`].

use std::sync::Arc;

use crate::config::{ConfigPath, Document, Located, Medium, Mistake, Place, TextSource, did_you_mean, listed, quoted};

use super::{
    TopologyRef,
    draft::{ActorDraft, Draft, EdgeDraft, Sheet},
    read::read,
};

/// Longer chains of overlays are refused.
const MAX_CHAIN: usize = 32;
/// Keys that name a source of examples.
const EXAMPLES_FROM: &[&str] = &["examples.tasks", "examples.benchmark"];

/// Reads the arrangement and lays each overlay over what it extends. Mistakes of form are added to `mistakes`.
///
/// # Errors
/// Where the file itself cannot be read at all.
pub(super) fn load(reference: &TopologyRef, mistakes: &mut Vec<Mistake>) -> Result<Draft, Mistake> {
    let asked = Arc::new(TextSource::new(&reference.0, &reference.0, Medium::Flag, 0));
    let mut path = reference.locate(None, &Place::start_of(&asked))?;
    let mut seen = vec![path.clone()];
    let source = path.read(0, None)?;
    let mut sheets = vec![read(&Document::parse(&source), &path, mistakes)];
    while let Some(extends) = sheets.last().and_then(|sheet| sheet.extends.clone()) {
        match read_base(&extends, &path, &mut seen, mistakes) {
            Ok((base_path, base)) => {
                path = base_path;
                sheets.push(base);
            }
            Err(mistake) => {
                mistakes.push(mistake);
                sheets.iter_mut().for_each(|sheet| sheet.draft.whole = false);
                break;
            }
        }
    }
    // The last is the base of all; it extends nothing.
    let mut sheets = sheets.into_iter().rev();
    let base = sheets.next().map(|sheet| sheet.draft);
    base.map(|base| sheets.fold(base, |base, sheet| lay(base, sheet, mistakes)))
        .ok_or_else(|| Mistake::at(&Place::start_of(&source), "nothing was read"))
}

fn read_base(
    extends: &Located<String>,
    from: &ConfigPath,
    seen: &mut Vec<ConfigPath>,
    mistakes: &mut Vec<Mistake>,
) -> Result<(ConfigPath, Sheet), Mistake> {
    let path = TopologyRef(extends.value.clone()).locate(Some(from), &extends.place)?;
    let identity = path.identity();
    if let Some(start) = seen.iter().position(|other| other.identity() == identity) {
        let circle: Vec<String> = seen.iter().skip(start).chain([&path]).map(ConfigPath::shown).collect();
        let message = format!("overlays in a circle: {}", circle.join(" -> "));
        return Err(Mistake::at(&extends.place, message));
    }
    if seen.len() >= MAX_CHAIN {
        return Err(Mistake::at(&extends.place, format!("more than {MAX_CHAIN} files extend each other")));
    }
    let source = path.read(seen.len(), Some(&extends.place))?;
    seen.push(path.clone());
    let sheet = read(&Document::parse(&source), &path, mistakes);
    Ok((path, sheet))
}

/// Lays one overlay over its base: first what it removes, then what it changes and adds.
fn lay(mut base: Draft, sheet: Sheet, mistakes: &mut Vec<Mistake>) -> Draft {
    let over = sheet.draft;
    base.whole &= over.whole;
    for name in &sheet.remove_actors {
        remove_actor(&mut base, name, mistakes);
    }
    for edge in &sheet.remove_edges {
        remove_edge(&mut base, edge, mistakes);
    }
    if sheet.replace_edges {
        base.edges.clear();
    }
    // A name and a description are of one file only.
    base.values.forget(&["name", "description"]);
    // Where examples come from is said by one file.
    if EXAMPLES_FROM.iter().any(|key| over.values.mentions(key)) {
        base.values.forget(&["examples.tasks", "examples.benchmark", "examples.path"]);
    }
    base.values.lay(over.values);
    for actor in over.actors {
        lay_actor(&mut base.actors, actor);
    }
    // An edge of the overlay between the same two takes the place of the base's.
    base.edges.retain(|edge| !over.edges.iter().any(|other| other.joins_as(edge)));
    base.edges.extend(over.edges);
    Draft { path: over.path, source: over.source, ..base }
}

fn lay_actor(actors: &mut Vec<ActorDraft>, over: ActorDraft) {
    match actors.iter_mut().find(|actor| actor.name.value == over.name.value) {
        Some(actor) => actor.values.lay(over.values),
        None => actors.push(over),
    }
}

fn remove_actor(base: &mut Draft, name: &Located<String>, mistakes: &mut Vec<Mistake>) {
    let before = base.actors.len();
    base.actors.retain(|actor| actor.name.value != name.value);
    base.edges.retain(|edge| edge.from.value != name.value && edge.to.value != name.value);
    if base.actors.len() == before && base.whole {
        let known: Vec<&str> = base.actors.iter().map(|actor| actor.name.value.as_str()).collect();
        let what = format!("there is no actor {} to remove{}", quoted(&name.value), did_you_mean(&name.value, &known));
        mistakes.push(Mistake::at(&name.place, what).hint(format!("actors: {}", listed(known))));
    }
}

fn remove_edge(base: &mut Draft, edge: &EdgeDraft, mistakes: &mut Vec<Mistake>) {
    let before = base.edges.len();
    base.edges.retain(|other| !other.joins_as(edge));
    if base.edges.len() == before && base.whole {
        let what =
            format!("there is no edge from {} to {} to remove", quoted(&edge.from.value), quoted(&edge.to.value));
        let known = base.edges.iter().map(|edge| format!("{} -> {}", edge.from.value, edge.to.value));
        mistakes.push(Mistake::at(&edge.from.place, what).hint(format!("edges: {}", listed(known))));
    }
}
