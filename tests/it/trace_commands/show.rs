//! `trace show`: a file as a tree, also when it is not finished or damaged.

use std::fs;

use rolecall::{
    conversation::Outcome,
    ids::MessageId,
    telemetry::{Look, ReadTrace, TraceDocument, TraceOptions, Traces, show},
};
use serde_json::{Value, json};

use super::scene::{Scene, held, line, page, span, stderr};
use crate::telemetry::{
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
    let one = |&(own, parent): &(usize, usize)| {
        line("", &[span(own, parent, "invoke_agent \u{1b}[31m", &[("rolecall.generation", json!(0))])])
    };
    pairs.iter().map(one).collect()
}

fn bad_lines(text: &str) -> Vec<String> {
    ReadTrace::read(text.as_bytes()).unwrap().damage.iter().map(ToString::to_string).collect()
}

fn tree(text: &str) -> Value {
    serde_json::to_value(TraceDocument::of(&ReadTrace::read(text.as_bytes()).unwrap())).unwrap()
}

#[test]
fn a_conversation_reads_as_a_tree() {
    insta::assert_snapshot!(page(&written(&seidr(0))));
}

#[test]
fn a_conversation_that_is_not_finished_shows_what_there_is() {
    let text = written(&seidr(0));
    let lines: Vec<&str> = text.lines().collect();
    // 2 lines of the start, then the turns; the next one was being written.
    let cut = lines[..8].join("\n") + "\n" + &lines[8][..200];
    insta::assert_snapshot!(page(&cut));
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
    let page = page(&written(&story.finish(Outcome::BudgetGenerations)));
    assert_eq!(
        page.lines().filter(|line| line.contains("  round ") && line.trim_start().starts_with(['+', 'r'])).count(),
        401
    );
    assert_eq!(page.matches("budget_generations, not solved").count(), 1);
    let longest = page.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(longest < 200, "a line of {longest} characters");
}

#[test]
fn the_json_is_the_same_tree() {
    fn count(span: &Value) -> usize {
        1 + span["children"].as_array().unwrap().iter().map(count).sum::<usize>()
    }
    let tree = tree(&written(&seidr(0)));
    assert_eq!(tree["finished"], true);
    assert_eq!(tree["conversation"], seidr(0).head.id.trace_id());
    let spans = tree["spans"].as_array().unwrap();
    assert_eq!(spans.iter().map(count).sum::<usize>() as u64, seidr_spans());
    assert_eq!(spans[0]["attributes"]["rolecall.outcome"], "tests_passed");
}

#[test]
fn colours_and_control_characters_come_from_us_alone() {
    let text = spans(&[(1, 0)]);
    let plain = page(&text);
    assert!(!plain.contains('\u{1b}') && plain.contains("invoke_agent \u{fffd}[31m"), "{plain}");
    let read = ReadTrace::read(text.as_bytes()).unwrap();
    assert!(show(&read, false, Look { colour: true, width: None }).contains("\u{1b}[1m"));
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
fn what_can_be_read_is_shown_and_damage_is_located() {
    let scene = Scene::new();
    let file = scene.write(&seidr(0));
    let text = fs::read_to_string(&file).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.insert(3, "{\"resourceSpans\": 7}");
    fs::write(&file, lines.join("\n") + "\n").unwrap();
    let output = scene.run(&["show", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(String::from_utf8(output.stdout.clone()).unwrap().trim_end(), page(&text).trim_end());
    assert!(stderr(&output).contains(&format!("{}:4: no OTLP trace request: ", file.display())));
    for (bytes, words) in [(&b"ok\n"[..], ":1: no OTLP"), (b"\n\n\xff\n", ":3: not UTF-8"), (b"", ":1: the file holds")]
    {
        fs::write(&file, bytes).unwrap();
        let failed = scene.run(&["show", file.to_str().unwrap()]);
        assert_eq!(failed.status.code(), Some(2));
        assert!(failed.stdout.is_empty());
        assert!(stderr(&failed).contains(&format!("{}{words}", file.display())), "{}", stderr(&failed));
    }
}

#[test]
fn a_conversation_is_found_by_its_id() {
    let scene = Scene::new();
    let records = [seidr(0), seidr(1)];
    records.iter().for_each(|record| drop(scene.write(record)));
    let id = records[0].head.id;
    let by_id = scene.stdout(&["show", &id.to_string()]);
    assert!(by_id.starts_with("tests_passed, solved  "));
    for word in [id.trace_id(), id.trace_id()[..8].to_owned()] {
        assert_eq!(scene.stdout(&["show", &word]), by_id);
    }
    let elsewhere = scene.run(&["show", &id.trace_id(), "--traces", "."]);
    assert_eq!(String::from_utf8(elsewhere.stdout).unwrap(), by_id);
    let unknown = scene.run(&["show", "ffffffff"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(stderr(&unknown).contains("no conversation `ffffffff` below traces"), "{}", stderr(&unknown));
    let tree = &scene.json(&["show", &id.trace_id()])[0];
    assert_eq!(tree["finished"], true);
}

#[test]
fn content_stands_below_its_step_where_the_file_has_it() {
    let scene = Scene::new();
    let file = scene.write_with(&seidr(0), true);
    let file = file.to_str().unwrap();
    assert!(!scene.stdout(&["show", file]).contains("Merge intervals."));
    let page = scene.stdout(&["show", file, "--content"]);
    let at = page.find("asks gpt-test to draft").unwrap();
    let below: Vec<&str> = page[at..].lines().skip(1).take(6).map(|line| line.trim_start_matches([' ', '│'])).collect();
    assert_eq!(below[0], "user:");
    assert!(below[1].starts_with("Write it. "), "{below:?}");
    assert_eq!(below[2], "assistant reasoning:");
    assert_eq!(below[4], "assistant:");
    assert!(page.contains("program:\n"), "{page}");
    scene.write(&seidr(1));
    let without = scene.run(&["show", &seidr(1).head.id.trace_id(), "--content"]);
    assert!(stderr(&without).contains("the file has no prompts and replies"));
}

#[test]
fn on_a_narrow_terminal_lines_are_broken_inside_the_tree() {
    let text = written(&seidr(0));
    let trace = ReadTrace::read(text.as_bytes()).unwrap();
    let narrow = show(&trace, false, Look { colour: false, width: Some(80) });
    assert!(narrow.lines().all(|line| line.chars().count() <= 80), "{narrow}");
    insta::assert_snapshot!(narrow);
    let wide = show(&trace, false, Look { colour: false, width: Some(200) });
    assert_eq!(wide, page(&text));
}

#[test]
fn a_real_conversation_shows_every_turn_once() {
    let record = held(7, 0, 40);
    let page = page(&written(&record));
    for turn in record.turns.iter().filter(|turn| !turn.attempts.is_empty()) {
        let number = format!(" #{}  ", turn.seq);
        assert_eq!(page.matches(&number).count(), 1, "turn {} in\n{page}", turn.seq);
    }
    assert!(page.contains("also from #"), "{page}");
}

#[test]
fn what_others_add_to_spans_is_shown_by_its_name() {
    let turn = |own, seq: u32, more: &[(&str, Value)]| {
        let mut all = vec![
            ("gen_ai.operation.name", json!("invoke_agent")),
            ("rolecall.generation", json!(0)),
            ("rolecall.seq", json!(seq)),
        ];
        all.extend(more.iter().cloned());
        span(own, 99, "invoke_agent x", &all)
    };
    let lines = [
        line("critic", &[turn(1, 0, &[("rolecall.reward", json!(0.25)), ("rolecall.prompt_hash", json!("0"))])]),
        line("learner", &[turn(2, 1, &[("rolecall.intervention", json!("blank")), ("rolecall.unheard_of", json!(1))])]),
        line("日本", &[span(3, 98, "🦀 elsewhere", &[])]),
    ];
    let page = page(&lines.concat());
    for words in ["#0  critic\n", "#1  learner  intervention: blank", "elsewhere\n", "🦀 elsewhere"] {
        assert!(page.contains(words), "{words} in\n{page}");
    }
}
