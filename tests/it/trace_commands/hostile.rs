//! Files that nobody wrote so: whatever stands in them, they are read to their end.

use std::{fs, io::BufReader};

use proptest::prelude::*;
use rolecall::telemetry::{
    Follower, Lineage, Look, ReadTrace, Steps, TraceDocument, close_open, difference, lineage_dot, lineage_json,
    lineage_mermaid, lineage_text, list, show,
};

use super::scene::{Scene, line, span, stderr};
use crate::telemetry::story::seidr;

#[derive(Clone, Debug)]
enum Harm {
    Byte(prop::sample::Index, u8),
    Cut(prop::sample::Index),
    Again(prop::sample::Index),
    Lose(prop::sample::Index),
    Swap(prop::sample::Index, prop::sample::Index),
    Word(prop::sample::Index, usize),
}

/// Words of a file and what may stand in their place.
const WORDS: &[(&str, &str)] = &[
    ("\"stringValue\"", "\"intValue\""),
    ("\"intValue\":\"", "\"intValue\":\"-"),
    ("\"parentSpanId\":\"", "\"parentSpanId\":\"00"),
    ("rolecall.seq", "rolecall.generation"),
    ("rolecall.candidate", "rolecall.parent"),
    ("starter", "4294967296.18446744073709551616"),
    ("StartTimeUnixNano", "EndTimeUnixNano"),
    ("\"startTimeUnixNano\":\"1", "\"startTimeUnixNano\":\"1844674407370955161"),
    ("swap arguments", "\\u001b]0;x\\u0007\\ud83e\\udd80\\u0301"),
    ("executor", ""),
];

fn harm() -> impl Strategy<Value = Harm> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        (index(), any::<u8>()).prop_map(|(at, byte)| Harm::Byte(at, byte)),
        index().prop_map(Harm::Cut),
        index().prop_map(Harm::Again),
        index().prop_map(Harm::Lose),
        (index(), index()).prop_map(|(a, b)| Harm::Swap(a, b)),
        (index(), 0..WORDS.len()).prop_map(|(at, word)| Harm::Word(at, word)),
    ]
}

fn harmed(lines: &mut Vec<Vec<u8>>, harm: &Harm) {
    if lines.is_empty() {
        return;
    }
    let count = lines.len();
    match harm {
        Harm::Byte(at, byte) => {
            let line = &mut lines[at.index(count)];
            if !line.is_empty() {
                let place = at.index(line.len());
                line[place] = *byte;
            }
        }
        Harm::Cut(at) => {
            let line = &mut lines[at.index(count)];
            let length = at.index(line.len() + 1);
            line.truncate(length);
        }
        Harm::Again(at) => lines.push(lines[at.index(count)].clone()),
        Harm::Lose(at) => drop(lines.remove(at.index(count))),
        Harm::Swap(a, b) => lines.swap(a.index(count), b.index(count)),
        Harm::Word(at, word) => {
            let (old, new) = WORDS[*word];
            let line = &mut lines[at.index(count)];
            *line = String::from_utf8_lossy(line).replace(old, new).into_bytes();
        }
    }
}

/// What every command says of a file, by its exit code and its first line on stderr.
fn told(scene: &Scene, command: &str, file: &str) -> (Option<i32>, String) {
    let output = match command {
        "diff" => scene.run(&["diff", file, file]),
        "push" => scene.run_with(&["push", file], &[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")]),
        _ => scene.run(&[command, file]),
    };
    (output.status.code(), stderr(&output).lines().next().unwrap_or_default().to_owned())
}

#[test]
fn a_file_of_another_kind_is_named_in_one_line() {
    let scene = Scene::new();
    let put = |name: &str, bytes: &[u8]| {
        let file = format!("traces/{name}.jsonl");
        fs::write(scene.folder.path().join(&file), bytes).unwrap();
        file
    };
    let binary: Vec<u8> = (0..9_000u32).flat_map(|at| [0x80 | at as u8, b'\n']).collect();
    let foreign = line("web", &[span(1, 0, "GET /", &[])]);
    for (file, words) in [
        (put("empty", b""), "the file holds no span"),
        (put("mark", "\u{feff}{\"resourceSpans\":[]}\n".as_bytes()), "the file holds no span"),
        (put("binary", &binary), "no trace file: none of its 9000 lines can be read; line 1: not UTF-8"),
        (put("array", b"[1, 2]\n"), "no OTLP trace request: not a JSON object"),
        (put("text", b"\"x\"\n"), "no OTLP trace request: not a JSON object"),
        (put("deep", &[b'['; 200_000]), ""),
    ] {
        for command in ["show", "lineage", "diff"] {
            let (code, said) = told(&scene, command, &file);
            assert_eq!(code, Some(2), "{command} {said}");
            assert!(said.starts_with(&format!("error: {file}")) && said.contains(words), "{command}: {said}");
        }
        let (code, said) = told(&scene, "list", &file);
        assert!(code == Some(0) && said.starts_with("note: traces/") && said.contains(words), "{said}");
    }
    // Many damaged lines are one line too where they are pushed.
    let output = scene.run_with(&["push", "traces"], &[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")]);
    assert!(stderr(&output).contains("error: traces/binary.jsonl:1-9000: not UTF-8\n"), "{}", stderr(&output));
    assert_eq!(output.status.code(), Some(2));

    // Spans of others can be shown, but are no conversation.
    let file = put("foreign", foreign.as_bytes());
    assert_eq!(told(&scene, "show", &file).0, Some(0));
    let (code, said) = told(&scene, "diff", &file);
    assert_eq!((code, said), (Some(2), format!("error: {file}: the file holds no turn of a conversation")));
    assert!(scene.stdout(&["list", &file]).contains("foreign.jsonl"), "a file is listed by its name");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_file_stops_a_reader(harms in prop::collection::vec(harm(), 1..12), width in 0usize..120) {
        let scene = Scene::new();
        let file = scene.write(&seidr(0));
        let whole = fs::read(&file).unwrap();
        let mut lines: Vec<Vec<u8>> = whole.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        harms.iter().for_each(|harm| harmed(&mut lines, harm));
        let text = lines.join(&b'\n');
        fs::write(&file, &text).unwrap();

        let look = Look { colour: false, width: Some(width) };
        let trace = ReadTrace::read(&text[..]).unwrap();
        let page = show(&trace, true, look);
        prop_assert!(!page.chars().any(|one| one.is_control() && one != '\n'));
        serde_json::to_string(&TraceDocument::of(&trace)).unwrap();
        let lineage = Lineage::of(trace.spans.iter());
        lineage_text(&lineage, look);
        lineage_dot(&lineage);
        lineage_mermaid(&lineage);
        lineage_json(&lineage);
        let steps = Steps::read(&text[..]).unwrap();
        difference(&steps, &Steps::read(&whole[..]).unwrap(), 5, look);
        let mut follower = Follower::new(BufReader::new(&text[..]), true, look);
        while follower.next_text().unwrap().is_some() {}
        let listed = list(&file).unwrap();
        // Spans whose id stands twice, or that are in no tree, are still in the file.
        prop_assert!(listed.spans >= trace.spans.len() as u64);
        close_open(&file).unwrap();
        ReadTrace::read(&fs::read(&file).unwrap()[..]).unwrap();
    }
}
