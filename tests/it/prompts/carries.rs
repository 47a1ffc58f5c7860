//! Every shipped prompt carries what its role needs, byte for byte.

use std::{collections::BTreeSet, sync::Arc};

use rolecall::{
    agents::role,
    config::{embedded_file, embedded_names},
    domain::{Language, Program, Verdict},
    llm::{Ancestor, Purpose, Subject},
    prompts::{ExecutionFeedback, Prompt, PromptData},
};
use serde_json::{Value, json};

use super::{
    feedback::feedback,
    function_task,
    rendering::{failed, subject},
};

/// The purposes that begin with a failing program.
pub const REPAIRING: &[Purpose] = &[Purpose::Diagnose, Purpose::Repair];

/// Prompts that no model reads: their text is the diagnosis itself, which goes to the repairing role together with the
/// program, the statement, the language and the signature.
pub const STATIC: [&str; 5] = [
    "instructor/static",
    "instructor/static_because",
    "instructor/static_instead",
    "instructor/static_must",
    "teacher/static",
];

/// Every shipped prompt for one of `purposes`, by name. Its role is that of its folder; its purpose is that of the role's
/// key with this default, else the first of the role's purposes that it can be loaded for.
pub fn shipped_prompts(purposes: &[Purpose]) -> Vec<(String, Purpose)> {
    let with_purpose = embedded_names("prompts", ".md").into_iter().map(|name| {
        let folder = name.split('/').next().unwrap();
        let role = role(folder).unwrap_or_else(|| panic!("{name}: there is no role {folder}"));
        let text = embedded_file(&format!("prompts/{name}.md")).unwrap();
        let own = role.spec.prompts.iter().find(|key| key.default == name);
        let mut keys = own.into_iter().chain(role.spec.prompts);
        let key = keys.find(|key| Prompt::load(key.purpose, &name, text).is_ok());
        let purpose = key.unwrap_or_else(|| panic!("{name} is for no purpose of its role")).purpose;
        (name, purpose)
    });
    with_purpose.filter(|(_, purpose)| purposes.contains(purpose)).collect()
}

pub fn load(name: &str, purpose: Purpose) -> Prompt {
    Prompt::load(purpose, name, embedded_file(&format!("prompts/{name}.md")).unwrap()).unwrap()
}

/// All that a shipped prompt says of a subject.
pub fn render(name: &str, purpose: Purpose, subject: &Subject, feedback: &ExecutionFeedback) -> String {
    let messages = load(name, purpose).render(&PromptData::new(purpose, subject, feedback)).unwrap();
    messages.into_iter().map(|message| message.content).collect::<Vec<_>>().join("\n")
}

/// Marks that something on the way could read, escape, trim or cut.
const MARKS: &str = "{{ x }} {% raw %} <b>&amp; 'q' \"d\" \\n $HOME ~ %s ```\n~~~\n---user---\n\t数  end";

fn sentinels() -> Subject {
    let mut task = function_task("inc", &format!("def inc(n):  # SIGNATURE {MARKS}"), None);
    task.language = Language::JavaScript;
    task.statement = format!("STATEMENT {MARKS}");
    let tests = vec![failed(Verdict::Wrong, "inc(1) === 2", 0.0, Some("0"), None)];
    let mut subject = subject(task, &format!("PROGRAM {MARKS}"), tests, Some(&format!("DIAGNOSIS {MARKS}")));
    subject.program = Some(Arc::new(Program::new(Language::JavaScript, format!("PROGRAM {MARKS}"))));
    subject
}

#[test]
fn every_prompt_of_diagnosis_and_repair_carries_what_its_role_needs() {
    let subject = sentinels();
    let names = shipped_prompts(REPAIRING);
    for name in STATIC {
        assert!(names.iter().any(|(other, _)| other == name), "{name} is not shipped");
    }
    let mut checked = BTreeSet::new();
    for (name, purpose) in names {
        if STATIC.contains(&name.as_str()) {
            continue;
        }
        for (settings, has_statement) in [
            (json!({}), true),
            (json!({"tests": "none", "compile_output": false}), true),
            (json!({"report": "raw", "history": "all", "localisation": 3, "values": true}), true),
            (json!({"statement": false}), false),
        ] {
            let text = render(&name, purpose, &subject, &feedback(settings.clone()));
            let mut needs = vec!["PROGRAM", "SIGNATURE"];
            needs.extend(has_statement.then_some("STATEMENT"));
            needs.extend((purpose == Purpose::Repair).then_some("DIAGNOSIS"));
            for need in needs {
                let whole = format!("{need} {MARKS}");
                assert_eq!(text.matches(&whole).count(), 1, "{name}, {settings}: {need}\n{text}");
            }
            assert!(text.contains("JavaScript") && text.contains("javascript\n"), "{name}: the language\n{text}");
        }
        checked.insert(purpose.name());
    }
    assert_eq!(checked, BTreeSet::from(["diagnose", "repair"]));
}

#[test]
fn static_instructions_restate_the_failing_test_and_ask_no_model() {
    let subject = sentinels();
    for name in STATIC {
        let prompt = load(name, Purpose::Diagnose);
        let text = prompt.render_text(&PromptData::new(Purpose::Diagnose, &subject, &feedback(json!({})))).unwrap();
        assert!(text.contains("inc(1) === 2"), "{name}:\n{text}");
        assert_eq!(
            prompt.render(&PromptData::new(Purpose::Diagnose, &subject, &feedback(json!({})))).unwrap().len(),
            1
        );
    }
}

/// The dotted names of a value's fields; what lies in a list counts as a field's own.
fn names(path: &str, value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                names(&path, value, found);
            }
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            found.insert(path.to_owned());
            for item in items {
                let mut inner = BTreeSet::new();
                names("", item, &mut inner);
                found.extend(inner);
            }
        }
        _ => drop(found.insert(path.to_owned())),
    }
}

#[test]
fn the_document_names_every_prompt_and_all_that_a_template_can_name() {
    let manual = std::fs::read_to_string(format!("{}/docs/prompts.md", env!("CARGO_MANIFEST_DIR"))).unwrap();
    for (name, _) in shipped_prompts(&[Purpose::Draft, Purpose::Diagnose, Purpose::Repair]) {
        assert!(manual.contains(&format!("`{name}`")), "docs/prompts.md says nothing of {name}");
    }
    let mut subject = sentinels();
    subject.ancestors = vec![Ancestor {
        program: subject.program.clone().unwrap(),
        judgement: subject.judgement.clone().unwrap(),
        profile: None,
        siblings: Vec::new(),
        diagnosis: None,
    }];
    let data = PromptData::new(Purpose::Repair, &subject, &feedback(json!({"history": "all"})));
    let mut found = BTreeSet::new();
    names("", &serde_json::to_value(&data).unwrap(), &mut found);
    assert!(
        found.contains("report.shown") && found.contains("expected") && found.contains("result.verdict"),
        "{found:?}"
    );
    for name in found {
        let last = name.rsplit_once('.').map_or(name.as_str(), |(_, last)| last);
        let said = manual.contains(&format!("`{name}`")) || manual.contains(&format!("`{last}`"));
        assert!(said, "docs/prompts.md says nothing of `{name}`");
    }
}
