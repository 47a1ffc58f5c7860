//! The shipped arrangements, the file of defaults and the documents.

use std::fs;

use rolecall::{
    agents::ROLES,
    config::{Document, Field, Item, Medium, TextSource, embedded_file},
    domain::{Slots, TimeoutPolicy},
    llm::capabilities,
    messages::Kind,
    topology::{Feedback, Overrides, Parents, Plan, Requires, Source, TopologyRef, When, load_plan},
};
use serde_json::{Value, json};

use super::support::{folder, load, right};

fn shipped(name: &str) -> Plan {
    load_plan(&TopologyRef::from(name), &Overrides::default(), &capabilities).unwrap_or_else(|it| panic!("{it}")).plan
}

#[test]
fn every_shipped_arrangement_is_right_short_and_needs_no_key() {
    let names = TopologyRef::shipped();
    for expected in ["intervenor", "resample", "seidr", "self_debug"] {
        assert!(names.iter().any(|name| name == expected), "{expected} is not shipped");
    }
    for name in names {
        let plan = shipped(&name);
        assert_eq!(plan.name, name);
        for node in plan.nodes.iter().filter(|node| !node.spec.asks.is_empty()) {
            assert_eq!(node.model.as_deref(), Some("templates"), "{name}: {}", node.name);
        }
        let text = embedded_file(&format!("topologies/{name}.toml")).unwrap();
        assert!(text.lines().count() <= 60, "{name} is too long");
        assert!(text.starts_with('#'), "{name} says not where its settings come from");
    }
}

#[test]
fn seidr_is_wired_as_it_says() {
    let plan = shipped("seidr");
    let edges: Vec<String> = plan
        .edges
        .iter()
        .map(|it| {
            format!("{} {} {}", plan.source_name(it.from), plan.source_name(Source::Actor(it.to)), it.when.word())
        })
        .collect();
    let expected = [
        "task synthesizer always",
        "synthesizer executor always",
        "executor ranker always",
        "ranker instructor failed",
        "instructor debugger always",
        "debugger executor always",
    ];
    assert_eq!(edges, expected);
    assert_eq!(plan.nodes.iter().map(|node| node.rank).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    let exclusive: Vec<&str> =
        plan.nodes.iter().filter(|node| node.exclusive).map(|node| node.name.0.as_str()).collect();
    assert_eq!(exclusive, ["synthesizer", "debugger"], "those that write with a model that avoids repeats");
    let gathers: Vec<&str> = plan.nodes.iter().filter(|node| node.gathers).map(|node| node.name.0.as_str()).collect();
    assert_eq!(gathers, ["ranker"]);
    assert_eq!(plan.drafting().collect::<Vec<_>>(), [0]);
    assert_eq!(shipped("resample").nodes[0].slots.get(&Kind::Task), Some(&Slots::Budget));
    assert_eq!(shipped("self_debug").search.parents, Parents::Best);
}

#[test]
fn a_learner_without_the_task_drafts_nothing() {
    let text = right(
        &[("to = \"b\"", "to = \"b\"\n[[edges]]\nfrom = \"b\"\nto = \"l\"\n[[edges]]\nfrom = \"l\"\nto = \"b\"")],
        "[actors.l]\nrole = \"learner\"\n[budget]\nprograms = 3\n",
    );
    let folder = folder(&[("x.toml", text.as_bytes())]);
    let plan = load(folder.path(), "x.toml").unwrap().plan;
    assert_eq!(plan.drafting().collect::<Vec<_>>(), [0]);
}

#[test]
fn an_arrangement_without_drafts_begins_at_the_executor() {
    let text = "model = \"templates\"\nedges = [{ from = \"task\", to = \"run\" }, { from = \"run\", to = \"fix\" }, \
                { from = \"fix\", to = \"run\" }]\nbudget.programs = 5\nactors.run.role = \"executor\"\n\
                actors.fix.role = \"debugger\"\n";
    let folder = folder(&[("x.toml", text.as_bytes())]);
    let plan = load(folder.path(), "x.toml").unwrap().plan;
    assert_eq!(plan.drafting().count(), 0);
    assert_eq!((plan.edges[0].from, plan.edges[0].when), (Source::Task, When::Always));
    assert_eq!(plan.kinds(&plan.edges[0]), [Kind::Candidate]);
}

#[test]
fn an_actor_gathers_where_the_file_says_so() {
    let text =
        right(&[("role = \"executor\"", "role = \"executor\"\ngather = \"generation\"\nrequires = \"all\"")], "");
    let folder = folder(&[("x.toml", text.as_bytes())]);
    let plan = load(folder.path(), "x.toml").unwrap().plan;
    assert_eq!((plan.nodes[1].gathers, plan.nodes[1].requires), (true, Requires::All));
    assert_eq!((plan.nodes[0].gathers, plan.nodes[0].requires), (false, Requires::Any));
}

#[test]
fn the_hash_is_of_what_an_arrangement_does_not_of_what_it_is_called() {
    let over = "[actors.a]\nprompt = \"mine.md\"\nrole = \"synthesizer\"\n";
    let text = right(&[("[actors.a]\nrole = \"synthesizer\"\n", over)], "");
    let hash = |text: &str, prompt: &str| {
        let folder = folder(&[("x.toml", text.as_bytes()), ("mine.md", prompt.as_bytes())]);
        load(folder.path(), "x.toml").unwrap().plan.hash
    };
    let one = hash(&text, "---user---\none\n");
    assert_eq!(one, hash(&format!("name = \"other\"\ndescription = \"said\"\n{text}"), "---user---\none\n"));
    assert_ne!(one, hash(&text, "---user---\ntwo\n"));
    assert_ne!(one, hash(&text.replace("[actors.b]", "[run]\nparallel_turns = 3\n[actors.b]"), "---user---\none\n"));
}

fn document(path: &str) -> Vec<Field> {
    let text = embedded_file(path).unwrap();
    let document = Document::parse(&std::sync::Arc::new(TextSource::new(path, text, Medium::Flag, 0)));
    assert!(document.is_whole());
    document.fields
}

fn object(fields: &[Field]) -> Value {
    let pair = |field: &Field| (field.key.value.clone(), value(&field.item));
    Value::Object(fields.iter().map(pair).collect())
}

fn value(item: &Item) -> Value {
    item.value("default").unwrap()
}

#[test]
fn the_file_of_defaults_says_what_is_built_in() {
    let defaults = object(&document("defaults.toml"));
    for entry in ROLES {
        let said = &defaults["roles"][entry.spec.name];
        assert_eq!(said["settings"], Value::Object(entry.default_settings()), "settings of {}", entry.spec.name);
        let prompts: serde_json::Map<String, Value> =
            entry.spec.prompts.iter().map(|one| (one.key.to_owned(), json!(one.default))).collect();
        let none = json!({});
        assert_eq!(said.get("prompts").unwrap_or(&none), &Value::Object(prompts), "prompts of {}", entry.spec.name);
    }
    assert_eq!(defaults["roles"].as_object().unwrap().len(), ROLES.len());

    // An arrangement that leaves every key of the top level to its default, and one that writes the defaults out.
    let tables: String = ["parameters", "budget", "search", "run", "feedback", "stop"]
        .iter()
        .map(|table| {
            let keys = defaults[table].as_object().unwrap().iter();
            format!("[{table}]\n{}", keys.map(|(key, value)| format!("{key} = {value}\n")).collect::<String>())
        })
        .collect();
    let folder = folder(&[("silent.toml", right(&[], "").as_bytes()), ("loud.toml", right(&[], &tables).as_bytes())]);
    let (silent, loud) = (load(folder.path(), "silent.toml").unwrap(), load(folder.path(), "loud.toml").unwrap());
    assert_eq!(silent.plan.hash, loud.plan.hash);
    let values = |checked: &rolecall::topology::Checked| -> Vec<(String, Value)> {
        let settings = checked.explain.iter().filter(|it| it.key != "name" && !it.key.contains(".parameters."));
        settings.map(|it| (it.key.clone(), it.value.clone())).collect()
    };
    assert_eq!(values(&silent), values(&loud));
    assert_eq!(
        silent.plan.feedback,
        Feedback { timeouts: TimeoutPolicy::After(1), test_cpu_ms: None, faulty_lines: false }
    );
    assert_eq!(silent.plan.parallel_turns, 4);
}

#[test]
fn the_document_and_the_defaults_name_every_key() {
    let root = env!("CARGO_MANIFEST_DIR");
    let manual = fs::read_to_string(format!("{root}/docs/topologies.md")).unwrap();
    let defaults = embedded_file("defaults.toml").unwrap();
    for key in rolecall::topology::known_keys() {
        let name = key.rsplit('.').next().unwrap();
        assert!(manual.contains(&format!("`{name}`")), "docs/topologies.md says nothing of `{key}`");
        let line = |line: &str| line.trim_start_matches("#: ").starts_with(&format!("{name} = "));
        assert!(defaults.lines().any(line), "config/defaults.toml says nothing of `{key}`");
    }
    for entry in ROLES {
        let header = format!("[roles.{}.settings]", entry.spec.name);
        let section = defaults.split(&header).nth(1).unwrap();
        let section = section.split("\n[").next().unwrap();
        for setting in entry.spec.settings {
            assert!(manual.contains(&format!("`{}`", setting.name)), "docs/topologies.md says nothing of it");
            let line = |line: &str| line.trim_start_matches("#: ").starts_with(&format!("{} = ", setting.name));
            assert!(section.lines().any(line), "config/defaults.toml says nothing of `{}`", setting.name);
        }
    }
}
