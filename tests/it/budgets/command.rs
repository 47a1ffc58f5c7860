//! Prices and budgets as a user of the command meets them.

use std::{fs, path::Path};

use serde_json::{Value, json};

use super::reply;
use crate::{
    cli::{events, run, text},
    openai::server::Server,
    stage::on_stage,
};

/// The command: options for each level, who was not begun on stderr and in the JSON, and an exit code that is no failure.
#[test]
fn the_command_turns_conversations_away_and_says_which() {
    let folder = tempfile::tempdir().unwrap();
    let traces = folder.path().join("traces").display().to_string();
    let task = "examples/tasks/word-wrap.toml";
    let common =
        ["run", "--topology", "self_debug", "--task", task, "--seed", "1", "--traces", &traces, "--samples", "6"];
    let options = ["--concurrency", "1", "--budget", "programs=3", "--run-budget", "model_calls=4,cost=0.5", "--json"];
    let output = run(&[&common[..], &options[..]].concat());
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let all = events(&output);
    let (last, held) = all.split_last().unwrap();
    let away = last["not_begun"].as_array().unwrap();
    assert_eq!((held.len() + away.len(), last["planned"].as_u64()), (6, Some(6)), "{said}");
    assert_eq!(last["model_calls"], 4);
    assert_eq!((&last["cost"], &last["currency"]), (&json!(0.0), &json!(null)), "the offline model costs nothing");
    assert_eq!(away[0]["why"], "budget of the run: model_calls = 4");
    let words = format!("{} of 6 conversations were not begun (budget of the run: model_calls = 4): ", away.len());
    assert!(said.contains(&words), "{said}");

    let wrong = run(&[&common[..], &["--task-budget", "programs=3", "--arm-budget", "tokens=ten"]].concat());
    assert_eq!(wrong.status.code(), Some(2));
    let said = text(&wrong.stderr);
    assert!(said.contains("--task-budget:1:1: `programs` is not a budget"), "{said}");
    assert!(said.contains("--arm-budget:1:8: `arm.budget.tokens` must be a whole number"), "{said}");
}

fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

const BLINKER: &str = r#"
[actors.write]
role = "synthesizer"
settings = { drafts = 2 }
[actors.run]
role = "executor"
[[edges]]
from = "task"
to = "write"
[[edges]]
from = "write"
to = "run"
"#;

/// What a call cost stands in the table, in the JSON, on the spans and in what reads traces back; a server that does not keep
/// to a limit is told of.
#[test]
fn what_calls_cost_is_in_every_place_that_speaks_of_a_conversation() {
    let folder = tempfile::tempdir().unwrap();
    let usage = json!({"prompt_tokens": 1_000, "completion_tokens": 500, "cost": 0.5});
    let answers = reply("```python\nprint(3)\n```", usage);
    let traces = folder.path().join("traces").display().to_string();
    let (outputs, requests) = on_stage(async {
        let server = Server::start(vec![answers]).await;
        let price = "[price]\ninput_per_million = 0.15\noutput_per_million = 0.6\ncurrency = \"EUR\"\n";
        let file = format!(
            "kind = \"openai\"\nbase_url = \"{}\"\nmodel = \"coder\"\n[limits]\nmax_retries = 0\n\
             [parameters]\nmax_output_tokens = 400\n{price}",
            server.base_url
        );
        let model = write(folder.path(), "coder.toml", &file);
        let topology = write(folder.path(), "one.toml", BLINKER);
        let traces = traces.clone();
        let outputs = tokio::task::spawn_blocking(move || {
            let task = crate::cli::EASY;
            let common = ["run", "--topology", &topology, "--task", task, "--model", &model, "--seed", "1"];
            let of = |more: &[&str]| run(&[&common[..], more].concat());
            let budget = ["--budget", "cost=0.01,programs=1", "--run-budget", "cost=2.5", "--traces", &traces];
            [of(&[&budget[..], &["--json"]].concat()), of(&budget), of(&["--budget", "cost=0.0000001"])]
        })
        .await
        .unwrap();
        (outputs, server.seen().len())
    });
    let [json, table, nothing] = outputs;
    let cost = 0.000_45;
    let said = text(&json.stderr);
    assert_eq!(json.status.code(), Some(0), "{said}");
    assert!(
        said.contains("coder does not keep to `max_output_tokens`: write, turn 1 of robot-walk took 100 tokens"),
        "{said}"
    );
    let calls = |event: &Value| event["model_calls"].as_f64().unwrap();
    for event in events(&json) {
        let sum = (event["cost"].as_f64().unwrap(), event["cost_reported"].as_f64().unwrap());
        assert_eq!(sum, (cost * calls(&event), 0.5 * calls(&event)), "{event}");
        assert_eq!((&event["currency"], &event["calls_without_cost"]), (&json!("EUR"), &json!(0)));
        assert_eq!((&event["attempts_in_doubt"], &event["cost_in_doubt"]), (&json!(0), &json!(0.0)));
    }
    let first = &events(&json)[0];
    let said = text(&table.stdout);
    assert!(said.lines().next().unwrap().contains("  cost  ") && said.contains("0.00045 EUR"), "{said}");

    let file = first["trace"].as_str().unwrap();
    let spans = fs::read_to_string(file).unwrap();
    for (key, value) in [
        ("rolecall.cost", json!({"doubleValue": cost})),
        ("rolecall.cost.currency", json!({"stringValue": "EUR"})),
        ("rolecall.cost.reported", json!({"doubleValue": 0.5})),
        ("rolecall.overshoot_tokens", json!({"intValue": "100"})),
        ("gen_ai.request.model", json!({"stringValue": "coder"})),
        ("gen_ai.response.model", json!({"stringValue": "m-2026-01-01"})),
    ] {
        let attribute = json!({"key": key, "value": value}).to_string();
        assert!(spans.contains(&attribute), "{attribute}");
    }
    let shown = text(&run(&["trace", "show", file]).stdout);
    assert!(shown.lines().filter(|line| line.contains(" EUR")).count() >= 2, "{shown}");
    let listed = run(&["trace", "list", &traces, "--json"]);
    let listed = events(&listed).into_iter().find(|one| one["file"] == *file).unwrap();
    assert_eq!((listed["cost"].as_f64(), &listed["currency"]), (Some(cost * calls(first)), &json!("EUR")));
    assert!(text(&run(&["trace", "list", &traces]).stdout).contains(" EUR"));

    // Too little for one call: nobody asks, and the words say why.
    let said = text(&nothing.stdout) + &text(&nothing.stderr);
    assert!(nothing.status.code() == Some(0) && said.contains("budget_cost"), "{said}");
    assert_eq!(requests as f64, calls(&events(&json)[1]) * 2.0, "the third run sent nothing");
}

/// Prices are looked up before anything starts, in the files of the models, and every mistake has its place.
#[test]
fn a_budget_of_money_without_a_price_is_refused_at_its_place_before_anything_starts() {
    let folder = tempfile::tempdir().unwrap();
    let model =
        |price: &str| format!("kind = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\nmodel = \"m\"\n{price}");
    let price = |currency: &str| {
        model(&format!(
            "[price]\ninput_per_million = 1\noutput_per_million = 2\ncurrency = \"{currency}\"\n\
             [parameters]\nmax_output_tokens = 100\n"
        ))
    };
    write(folder.path(), "usd.toml", &price("USD"));
    write(folder.path(), "eur.toml", &price("EUR"));
    write(folder.path(), "none.toml", &model(""));
    write(folder.path(), "gpu.toml", &model("gpus = 2\n"));
    let check = |name: &str, head: &str, tail: &str| {
        let file = write(folder.path(), name, &format!("{head}\n{BLINKER}{tail}"));
        let output = run(&["topology", "check", &file]);
        (output.status.code(), text(&output.stdout).replace(&format!("{}/", folder.path().display()), ""))
    };
    for (tail, head) in [
        ("[budget]\ncost = 1\n[task.budget]\ntokens = 9\n", "model = \"usd.toml\""),
        ("[run.budget]\ngpu_secs = 1\n", "model = \"gpu.toml\""),
        ("[actors.write.budget]\ncost = 1\n", "model = \"templates\""),
    ] {
        assert_eq!(check("right.toml", head, tail).0, Some(0), "{}", check("right.toml", head, tail).1);
    }
    let (code, said) = check("x.toml", "model = \"none.toml\"", "[arm.budget]\ncost = 1\ngpu_secs = 3\ntokens = 5\n");
    assert_eq!(code, Some(2));
    for expected in [
        "x.toml:15:8: `arm.budget.cost` cannot be kept: the price of `none.toml` is not known",
        "x.toml:16:12: `arm.budget.gpu_secs` cannot be kept: the number of GPUs of `none.toml` is not known",
        "x.toml:17:10: `arm.budget.tokens` cannot be kept: no `max_output_tokens` for write",
    ] {
        assert!(said.contains(expected), "{expected}\n{said}");
    }
    let second = "[actors.again]\nrole = \"debugger\"\nmodel = \"eur.toml\"\n[[edges]]\nfrom = \"run\"\nto = \"again\"\n\
                  [[edges]]\nfrom = \"again\"\nto = \"run\"\n[budget]\nprograms = 3\n";
    let (code, said) = check("x.toml", "model = \"usd.toml\"", second);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("x.toml:14:9: `eur.toml` is priced in EUR and `usd.toml` in USD"), "{said}");
}
