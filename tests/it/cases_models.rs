//! Cases from public reports of faults of model servers, each named after its id, along a whole conversation. Those of a
//! single call stand in `openai`.

use std::{collections::BTreeMap, sync::Arc};

use rolecall::{
    conversation::{ConversationRecord, Outcome},
    ids::ActorName,
    llm::{
        ChatModel,
        openai::{OpenAi, OpenAiSettings},
    },
    prompts::{extract_program, extract_program_of_cut},
    runtime::CallRecord,
    topology::{BudgetLimits, Plan},
};
use serde_json::json;

use crate::{
    openai::server::{Answer, Server, answer},
    stage::{MadeUpSandbox, company, hold_all, on_stage},
    support::{node, plan, task},
};

/// A reply with this text by this model.
fn reply(text: &str, model: &str) -> Answer {
    let body = json!({
        "id": "a",
        "model": model,
        "choices": [{"index": 0, "message": {"content": text}, "finish_reason": "stop", "stop_reason": 151_643}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 5},
    });
    answer(200, "", body.to_string())
}

fn settings(server: &Server, model: &str) -> OpenAiSettings {
    OpenAiSettings {
        model: Some(model.to_owned()),
        max_retries: 1,
        backoff_secs: 0.001,
        ..OpenAiSettings::new(model, &server.base_url)
    }
}

/// Drafts, diagnoses and repairs by two actors with a model each.
fn two_speakers() -> Plan {
    let nodes = vec![
        node("write", "synthesizer", json!({})),
        node("run", "executor", json!({})),
        node("teach", "teacher", json!({})),
        node("repair", "debugger", json!({})),
    ];
    let edges = [("task", "write"), ("write", "run"), ("run", "teach"), ("teach", "repair"), ("repair", "run")];
    plan(nodes, &edges, 4, BudgetLimits { programs: Some(2), ..Default::default() })
}

/// Holds one conversation in which the teacher asks another model than the rest.
async fn held(plan: Plan, (others, teacher): (OpenAiSettings, OpenAiSettings)) -> ConversationRecord {
    let others: Arc<dyn ChatModel> = Arc::new(OpenAi::connect(others).await.unwrap().0);
    let teacher: Arc<dyn ChatModel> = Arc::new(OpenAi::connect(teacher).await.unwrap().0);
    let mut company = company(plan, others, MadeUpSandbox::by_text(), None);
    let models: &mut BTreeMap<ActorName, _> = &mut Arc::get_mut(&mut company).unwrap().models;
    models.insert(ActorName("teach".to_owned()), teacher);
    hold_all(&company, &task(5, None), 1, 1).await.remove(0)
}

fn calls(record: &ConversationRecord) -> Vec<(String, CallRecord)> {
    let of_turn = |turn: &Arc<rolecall::runtime::TurnRecord>| {
        let logs = turn.attempts.iter().flat_map(|attempt| attempt.log.calls.clone());
        logs.map(|call| (turn.actor.0.clone(), call)).collect::<Vec<_>>()
    };
    record.turns.iter().flat_map(of_turn).collect()
}

/// T23, A28: the record names the model that was asked and the one that answered, for each actor its own.
#[test]
fn a28_t23_each_call_names_the_model_that_was_asked_and_the_one_that_answered() {
    on_stage(async {
        let program = "```python\ndef f(x): return 1\n```";
        let alpha = Server::start(vec![reply(program, "alpha-2026-01-01")]).await;
        let beta = Server::start(vec![reply("It is constant.", "")]).await;
        let record = held(two_speakers(), (settings(&alpha, "alpha"), settings(&beta, "beta"))).await;
        let named: Vec<(String, String, Option<String>)> =
            calls(&record).into_iter().map(|(actor, call)| (actor, call.model, call.served_model)).collect();
        let dated = Some("alpha-2026-01-01".to_owned());
        let expected =
            [("write", "alpha", dated.clone()), ("teach", "beta", Some("beta".to_owned())), ("repair", "alpha", dated)];
        assert_eq!(named, expected.map(|(actor, model, served)| (actor.to_owned(), model.to_owned(), served)));
        assert_eq!(record.end.outcome, Outcome::BudgetPrograms);
    });
}

/// A28: nobody answers in the place of a model that fails.
#[test]
fn a28_there_is_no_stand_in() {
    on_stage(async {
        let alpha = Server::start(vec![reply("```python\ndef f(x): return 1\n```", "alpha")]).await;
        let beta = Server::start(vec![answer(400, "", r#"{"error":"no"}"#)]).await;
        let record = held(two_speakers(), (settings(&alpha, "alpha"), settings(&beta, "beta"))).await;
        assert_eq!(record.end.outcome, Outcome::Failed);
        assert_eq!(alpha.seen().len(), 1, "the draft alone");
        assert!(beta.seen().iter().all(|seen| seen.body["model"] == "beta"));
        let failed: Vec<_> = calls(&record).into_iter().filter(|(_, call)| call.error.is_some()).collect();
        assert_eq!(failed.len(), beta.seen().len(), "every request is in the record");
        assert!(
            failed.iter().all(|(actor, call)| actor == "teach" && call.model == "beta" && call.served_model.is_none())
        );
    });
}

/// T12: what a silent server may have done is charged at its worst, attempt by attempt, and ends the budget.
#[test]
fn t12_an_attempt_of_unknown_outcome_is_charged_at_its_worst() {
    on_stage(async {
        let server = Server::start(vec![Answer::Silence]).await;
        let quick = OpenAiSettings { timeout_secs: 0.1, ..settings(&server, "m") };
        let mut plan = two_speakers();
        plan.budget.tokens = Some(1_000_000);
        plan.parallel_turns = 1;
        plan.nodes.iter_mut().for_each(|node| node.parameters.max_output_tokens = Some(1_000));
        let record = held(plan, (quick.clone(), quick)).await;
        let (requests, spend) = (server.seen().len(), record.end.spend);
        assert_eq!(spend.model_attempts as usize, requests, "{spend:?}");
        let charged: u64 = record.turns.iter().map(|turn| turn.charge().tokens).sum();
        assert!(charged >= 1_000 * requests as u64, "{charged} tokens for {requests} requests");
        assert_eq!((spend.input_tokens, spend.output_tokens), (0, 0), "nothing is known for sure");
        assert_eq!(spend.calls_without_usage, spend.model_calls);
    });
}

/// T28: the stop string before, in or behind the end of a reply: the program is the same.
#[test]
fn t28_a_stop_string_that_is_kept_dropped_or_missed_leaves_the_same_program() {
    let task = task(1, None);
    let texts = [
        "```python\ndef f(x):\n    return 1\n",
        "```python\ndef f(x):\n    return 1\n```\n",
        "```python\ndef f(x):\n    return 1\n```\nIt returns 1.",
    ];
    let programs: Vec<String> = on_stage(async move {
        let mut programs = Vec::new();
        for text in texts {
            let server = Server::start(vec![reply(text, "m")]).await;
            let (model, _) = OpenAi::connect(settings(&server, "m")).await.unwrap();
            let reply = model.chat(&crate::openai::request()).await.unwrap();
            assert_eq!(reply.choices[0].finish_reason, "stop");
            programs.push(extract_program(&reply.choices[0].text, &task).unwrap());
        }
        programs
    });
    assert!(programs.iter().all(|program| program.trim_end() == "def f(x):\n    return 1"), "{programs:?}");
}

/// T28: a block that was never closed is half a program where the limit of tokens ended the reply, however well it reads.
#[test]
fn t28_an_unclosed_fence_is_a_program_at_a_stop_and_half_a_one_at_the_limit() {
    let task = task(1, None);
    let (open, closed) = ("```python\ndef f(x):\n    return 1\n", "```python\ndef f(x):\n    return 2\n```\n");
    assert!(extract_program(open, &task).is_some());
    assert_eq!(extract_program_of_cut(open, &task), None);
    let program = extract_program_of_cut(&format!("{closed}Or better:\n{open}"), &task);
    assert_eq!(program.as_deref().map(str::trim_end), Some("def f(x):\n    return 2"), "the one that is whole");
    let bare = "def f(x):\n    return 1\n";
    assert_eq!(extract_program_of_cut(bare, &task).as_deref(), Some(bare), "base models run on to the limit");
}

/// T25, T26: a server on this machine is reached past every proxy, and gets no header of another provider.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t25_t26_neither_proxies_nor_settings_of_other_providers_reach_a_local_server() {
    let server = Server::start(vec![reply("```python\ndef f(n):\n    return n + 1\n```", "m")]).await;
    let folder = tempfile::tempdir().unwrap();
    let model = format!("kind = \"openai\"\nbase_url = \"{}\"\nmodel = \"m\"\n", server.base_url);
    std::fs::write(folder.path().join("m.toml"), model).unwrap();
    std::fs::write(
        folder.path().join("task.toml"),
        "id = 'one'\nlanguage = 'python'\nentry_point = 'f'\nstatement = 'Add one.'\n[visible]\ncode = '''\nassert f(1) == 2\n'''\n",
    )
    .unwrap();
    let output = tokio::process::Command::new(env!("CARGO_BIN_EXE_rolecall"))
        .env("ROLECALL_STORE", "memory")
        .args(["run", "--topology", "best_of_n", "--model", "m.toml", "--seed", "1", "--budget", "programs=1"])
        .args(["--task", "task.toml", "--traces", "traces", "--json", "--wait", "1s"])
        .envs(["HTTP_PROXY", "http_proxy", "ALL_PROXY"].map(|name| (name, "http://127.0.0.1:9")))
        .envs([("OPENAI_API_KEY", "sk-OTHER"), ("OPENAI_ORG_ID", "org-x"), ("OPENAI_PROJECT_ID", "p")])
        .env("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
        .current_dir(folder.path())
        .stdin(std::process::Stdio::null())
        .output()
        .await
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(!server.seen().is_empty(), "{said}");
    for seen in server.seen() {
        let head = seen.head.to_lowercase();
        let foreign = ["authorization", "openai-organization", "openai-project", "sk-other", "org-x"];
        assert!(foreign.iter().all(|word| !head.contains(word)), "{head}");
    }
    assert!(!said.contains("sk-OTHER"), "{said}");
}
