//! Defects of prompts and of what is taken out of replies.

use std::{collections::BTreeMap, fs, sync::Arc};

use rolecall::{
    agents::ROLES,
    cli::topology::check,
    conversation::ConversationRecord,
    llm::{ChatModel, ChatRequest, Parameters, Purpose, may_cut_a_word, scripted::Line, scripted::Scripted},
    messages::Message,
    prompts::{Prompt, extract_program},
    topology::Plan,
};

use crate::{
    conversation::{judged, school},
    prompts::{carries::shipped_prompts, function_task, program_task},
    stage::{MadeUpSandbox, company, hold_all, on_stage},
    support::{briefed, chain, task},
};

/// Plays a plan of one program a turn, six programs in all, with a model whose programs and diagnoses are all different.
fn play(plan: Plan) -> (Vec<ChatRequest>, ConversationRecord) {
    on_stage(async {
        let model = Arc::new(Scripted::with(|request, _| match request.purpose {
            Purpose::Diagnose => Line::say(format!("Diagnosis number {}: look at the constant.", request.seed)),
            _ => Line::say(format!("```python\ndef f(x):\n    return {}\n```", request.seed)),
        }));
        let shared: Arc<dyn ChatModel> = model.clone();
        let company = company(plan, shared, MadeUpSandbox::by_text(), None);
        let record = hold_all(&company, &task(3, None), 1, 1).await.remove(0);
        (model.requests(), record)
    })
}

fn said(request: &ChatRequest) -> String {
    request.messages.iter().map(|message| message.content.as_str()).collect::<Vec<_>>().join("\n")
}

/// One turn after the other, so that requests come in the order of the record.
fn one_by_one(mut plan: Plan) -> Plan {
    plan.parallel_turns = 1;
    plan
}

#[test]
fn defect_06_the_repair_prompt_holds_the_diagnosis_and_the_wrong_program() {
    for plan in [chain(1, 1, 6), school()] {
        let (requests, record) = play(plan);
        let repairs: Vec<&ChatRequest> = requests.iter().filter(|request| request.purpose == Purpose::Repair).collect();
        assert_eq!(repairs.len(), record.end.spend.programs as usize - 1, "{:?}", record.end);
        let mut diagnoses = record.turns.iter().flat_map(|turn| &turn.inbox).filter_map(|message| match message {
            Message::Diagnosis(diagnosis) => Some(diagnosis),
            _ => None,
        });
        for request in repairs {
            let diagnosis = diagnoses.next().unwrap();
            let (text, program) = (said(request), diagnosis.report.candidate.program.as_ref().unwrap());
            assert!(text.contains(&diagnosis.text), "{}\nis not in\n{text}", diagnosis.text);
            assert!(text.contains(&program.text), "{}\nis not in\n{text}", program.text);
        }
    }
}

#[test]
fn defect_07_no_stop_string_cuts_a_reply_inside_a_word_and_there_is_none_by_default() {
    assert!(Parameters::default().stop.is_empty());
    let (requests, _) = play(chain(1, 1, 2));
    assert!(requests.iter().all(|request| request.parameters.stop.is_empty()));
    for wrong in ["def", "class", "END", "x", "数", "", "\ndef", " def", "def ", "_", "return;x", "7"] {
        assert!(may_cut_a_word(wrong), "{wrong:?}");
    }
    for right in ["\ndef ", "\n\n", "```", "<end>", "<|im_end|>", "###", "\nprint(", ";", "\n# "] {
        assert!(!may_cut_a_word(right), "{right:?}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.toml");
    for (table, place) in [("[parameters]", "3:19"), ("[actors.debugger.parameters]", "3:19")] {
        fs::write(&path, format!("extends = \"seidr\"\n{table}\nstop = [\"\\ndef \", \"def\"]\n")).unwrap();
        let checked = check(&path.display().to_string(), false);
        assert_eq!(checked.code, 2, "{}", checked.stdout);
        let place = format!("x.toml:{place}: ");
        let reason = "begins and ends with something else than a letter";
        for words in [&*place, reason, "the string `def`", "write \"\\ndef \" for \"def\""] {
            assert!(checked.stdout.contains(words), "{words} is not in\n{}", checked.stdout);
        }
        assert!(checked.stdout.contains("1 mistake"), "the other is right: {}", checked.stdout);
    }
}

#[test]
fn defect_12_of_two_fenced_blocks_the_last_that_fits_is_the_one_program() {
    let inc = function_task("inc", "def inc(n):", None);
    let (first, second) = ("def inc(n):\n    return n\n", "def inc(n):\n    return n + 1\n");
    let block = |word: &str, text: &str| format!("```{word}\n{text}```\n");
    let reply = format!("First:\n{}Better:\n{}", block("python", first), block("python", second));
    assert_eq!(extract_program(&reply, &inc).as_deref(), Some(second), "the last");
    let reply = format!("{}It prints:\n{}", block("python", second), block("", "inc(1) is 2\n"));
    assert_eq!(extract_program(&reply, &inc).as_deref(), Some(second), "not what does not fit");
    let reply = format!("{}{}", block("python", second), block("python", "print(inc(1))\n"));
    assert_eq!(extract_program(&reply, &inc).as_deref(), Some(second), "not an example of its use");
    let reply = format!("{}{}", block("text", first), block("python", second));
    assert_eq!(extract_program(&reply, &inc).as_deref(), Some(second), "not what is marked as prose");
    let (read, print) = ("n = int(input())\nprint(n)\n", "n = int(input())\nprint(2 * n)\n");
    let reply = format!("{}{}", block("python", read), block("python", print));
    assert_eq!(extract_program(&reply, &program_task()).as_deref(), Some(print), "the last program");

    // One reply is one candidate, however many blocks it has.
    let model = Arc::new(Scripted::with(|_, n| {
        let f = |number: usize| format!("```python\ndef f(x):\n    return {number}\n```\n");
        Line::say(format!("{}{}", f(2 * n), f(2 * n + 1)))
    }));
    let record = on_stage(async {
        let shared: Arc<dyn ChatModel> = model.clone();
        let company = company(chain(1, 1, 3), shared, MadeUpSandbox::by_text(), None);
        hold_all(&company, &task(3, None), 1, 1).await.remove(0)
    });
    let drafts: Vec<&Message> = record.turns[0].messages().iter().collect();
    let [Message::Candidate(draft)] = drafts.as_slice() else { panic!("{drafts:?}") };
    assert_eq!(draft.program.as_ref().unwrap().text, "def f(x):\n    return 1\n");
}

#[test]
fn defect_14_every_role_s_prompt_holds_what_it_needs() {
    let mut seen = BTreeMap::new();
    for plan in [judged(), briefed("feedback", 6), chain(1, 1, 4), school()].map(one_by_one) {
        let (requests, record) = play(plan);
        let mut calls = record.turns.iter().flat_map(|turn| {
            let calls = turn.attempts.iter().flat_map(|attempt| &attempt.log.calls);
            calls.map(move |call| (turn, call))
        });
        for request in requests {
            let (turn, call) = calls.next().unwrap();
            assert_eq!(request.messages, call.messages, "what is recorded is what was sent");
            let text = said(&request);
            let mut needs = vec!["f returns its argument", "def f(x):", "Python", "python"];
            let program = request.subject.program.as_ref().map(|program| program.text.as_str());
            match request.purpose {
                Purpose::Draft | Purpose::Plan => needs.push("assert f(1) == 1"),
                Purpose::Test => {}
                Purpose::Judge => {
                    needs.extend([program.unwrap(), request.subject.other.as_ref().unwrap().program.text.as_str()])
                }
                _ => needs.extend([program.unwrap(), "of 3 tests"]),
            }
            needs.extend(request.subject.diagnosis.as_deref());
            for need in needs {
                assert!(text.contains(need), "{}: {need:?} is not in\n{text}", turn.role);
            }
            *seen.entry(format!("{} {}", turn.role, request.purpose)).or_insert(0) += 1;
        }
    }
    let asking =
        ROLES.iter().flat_map(|entry| entry.spec.asks.iter().map(move |(_, purpose)| (entry.spec.name, purpose)));
    for (role, purpose) in asking {
        assert!(seen.contains_key(&format!("{role} {purpose}")), "{role} was not asked to {purpose}: {seen:?}");
    }
}

#[test]
fn defect_16_a_template_that_names_a_missing_field_is_an_error() {
    let mut tried = 0;
    for (name, purpose) in shipped_prompts(&[Purpose::Draft, Purpose::Diagnose, Purpose::Repair]) {
        let text = rolecall::config::embedded_file(&format!("prompts/{name}.md")).unwrap();
        assert!(Prompt::load(purpose, &name, text).is_ok());
        for field in
            ["task.statement", "task.language_title", "task.signature", "program", "diagnosis", "report.verdict"]
        {
            let (from, to) = (format!("{{{{ {field} "), format!("{{{{ {field}s "));
            if text.contains(&from) {
                let errors = Prompt::load(purpose, &name, &text.replacen(&from, &to, 1)).unwrap_err();
                assert!(
                    errors[0].to_string().contains(&format!("has no `{field}s` (did you mean `{field}`?)")),
                    "{errors:?}"
                );
                tried += 1;
            }
        }
    }
    assert!(tried > 20, "{tried}");
    // A field that may be absent must be asked for first, in lists too.
    for text in [
        "{{ diagnosis }}",
        "{{ report.verdict }}",
        "{% if report %}{% for t in report.shown %}{{ t.actual }}{% endfor %}{% endif %}",
    ] {
        let errors = Prompt::load(Purpose::Repair, "p.md", &format!("---user---\n{text}")).unwrap_err();
        assert!(errors[0].to_string().starts_with("p.md:2:"), "{errors:?}");
    }
}
