//! `trace show`: a file as a tree, also when it is not finished or damaged.

use std::fs;

use assert_cmd::Command;
use rolecall::{
    conversation::Outcome,
    ids::MessageId,
    telemetry::{TraceOptions, Traces, show, show_json},
};
use serde_json::{Value, json};

use super::{
    files::{seidr_spans, tell},
    story::{self, Story, seidr},
};

fn written(record: &rolecall::conversation::ConversationRecord) -> String {
    let directory = tempfile::tempdir().unwrap();
    let traces = Traces::open(record.head.run, TraceOptions::new(directory.path()));
    fs::read_to_string(tell(&traces, record)).unwrap()
}

/// A file of one span for each pair of id and parent, one a line.
fn spans(pairs: &[(usize, usize)]) -> String {
    let line = |&(own, parent): &(usize, usize)| {
        let span = json!({
            "traceId": "0".repeat(31) + "1", "spanId": format!("{own:016x}"),
            "parentSpanId": if parent == 0 { String::new() } else { format!("{parent:016x}") },
            "name": "invoke_agent \u{1b}[31m", "startTimeUnixNano": "1", "endTimeUnixNano": "2000",
            "attributes": [{"key": "rolecall.generation", "value": {"intValue": "0"}}],
        });
        json!({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).to_string() + "\n"
    };
    pairs.iter().map(line).collect()
}

fn bad_lines(text: &str) -> Vec<String> {
    show(text, false).unwrap_err().iter().map(ToString::to_string).collect()
}

#[test]
fn a_conversation_reads_as_a_tree() {
    insta::assert_snapshot!(show(&written(&seidr(0)), false).unwrap());
}

#[test]
fn a_conversation_that_is_not_finished_shows_what_there_is() {
    let text = written(&seidr(0));
    let lines: Vec<&str> = text.lines().collect();
    // 2 lines of the start, then the turns; the next one was being written.
    let cut = lines[..8].join("\n") + "\n" + &lines[8][..200];
    insta::assert_snapshot!(show(&cut, false).unwrap());
}

#[test]
fn a_conversation_in_several_traces_is_one_tree() {
    let mut story = Story::new(0);
    let mut report = story.execute(0, None, &story::candidate(MessageId::STARTER, None), 0);
    let mut cause = report.id;
    for generation in 1..=400 {
        let repair = story.repair(generation, cause, &report, 1).remove(0);
        report = story.execute(generation, Some(repair.id), &repair, 0);
        cause = report.id;
    }
    let page = show(&written(&story.finish(Outcome::BudgetGenerations)), false).unwrap();
    assert_eq!(page.lines().filter(|line| line.starts_with("round ")).count(), 401);
    assert_eq!(page.matches("budget_generations, not solved").count(), 1);
    let longest = page.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(longest < 200, "a line of {longest} characters");
}

#[test]
fn the_json_is_the_same_tree() {
    fn count(span: &Value) -> usize {
        1 + span["children"].as_array().unwrap().iter().map(count).sum::<usize>()
    }
    let tree = show_json(&written(&seidr(0))).unwrap();
    assert_eq!(tree["finished"], true);
    assert_eq!(tree["conversation"], seidr(0).head.id.trace_id());
    let spans = tree["spans"].as_array().unwrap();
    assert_eq!(spans.iter().map(count).sum::<usize>() as u64, seidr_spans());
    assert_eq!(spans[0]["attributes"]["rolecall.outcome"], "tests_passed");
}

#[test]
fn colours_and_control_characters_come_from_us_alone() {
    let text = spans(&[(1, 0)]);
    let plain = show(&text, false).unwrap();
    assert!(!plain.contains('\u{1b}') && plain.contains("invoke_agent \u{fffd}[31m"), "{plain}");
    assert!(show(&text, true).unwrap().contains("\u{1b}[1m"));
}

#[test]
fn damaged_lines_are_named_all_at_once() {
    let good = spans(&[(1, 0), (2, 1)]);
    let damaged = format!("{good}{{\"resourceSpans\": 7}}\nnot JSON\n{}", spans(&[(2, 1)]));
    let bad = bad_lines(&damaged);
    assert_eq!(bad.len(), 3, "{bad:?}");
    assert!(bad[0].starts_with("3: no OTLP trace request: "), "{bad:?}");
    assert!(bad[1].starts_with("4: no OTLP trace request: "), "{bad:?}");
    assert_eq!(bad[2], "5: a span whose id stands earlier already");
    for empty in ["", "\n\n", "{}\n", "{\"other\": 1}\n"] {
        assert_eq!(bad_lines(empty), ["1: the file holds no span"]);
    }
    let short = spans(&[(1, 0)]).replace("0000000000000001\"", "01\"");
    assert_eq!(bad_lines(&short), ["1: a span whose ids are not of 16 and 8 bytes"]);
}

#[test]
fn a_tree_that_is_none_ends_in_an_error() {
    assert_eq!(bad_lines(&spans(&[(3, 0), (1, 2), (2, 1)])), ["2: a span that is its own ancestor"]);
    assert_eq!(bad_lines(&spans(&[(1, 1)])), ["1: a span that is its own ancestor"]);
    let chain: Vec<(usize, usize)> = (1..=50_000).map(|own| (own, own - 1)).collect();
    assert_eq!(bad_lines(&spans(&chain)), ["201: a span more than 200 levels deep"]);
}

#[test]
fn the_command_prints_the_tree_and_locates_damage() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("trace.jsonl");
    fs::write(&file, written(&seidr(0))).unwrap();
    let run = |more: &[&str]| {
        Command::cargo_bin("rolecall").unwrap().args(["trace", "show"]).arg(&file).args(more).output().unwrap()
    };
    let shown = run(&[]);
    assert!(shown.status.success());
    assert!(String::from_utf8(shown.stdout).unwrap().starts_with("tests_passed, solved  "));
    let tree: Value = serde_json::from_slice(&run(&["--json"]).stdout).unwrap();
    assert_eq!(tree["finished"], true);
    for (bytes, words) in [(&b"ok\n"[..], ":1: no OTLP"), (b"\n\n\xff\n", ":3: not UTF-8"), (b"", ":1: the file holds")]
    {
        fs::write(&file, bytes).unwrap();
        let failed = run(&[]);
        assert_eq!(failed.status.code(), Some(2));
        assert!(failed.stdout.is_empty());
        let said = String::from_utf8(failed.stderr).unwrap();
        assert!(said.contains(&format!("{}{words}", file.display())), "{said}");
    }
}
