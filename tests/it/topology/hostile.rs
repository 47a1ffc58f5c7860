//! Files that are no arrangement at all: binary, huge, cut, nested, random.

use std::{fs, time::Instant};

use proptest::prelude::*;
use rolecall::config::embedded_file;

use super::support::{folder, load, right, said};

fn said_of(content: &[u8]) -> Vec<String> {
    let folder = folder(&[("x.toml", content)]);
    said(folder.path(), &load(folder.path(), "x.toml"))
}

#[test]
fn text_that_is_none_is_told_at_its_byte() {
    assert_eq!(said_of(b"model = \"x\"\nn\xc3\xa4me = \"\xff\"\n"), ["x.toml:2:9: not UTF-8: byte 0xff at offset 21"]);
    assert_eq!(said_of(b"\x7fELF\x02\x01\0\0"), ["x.toml:1:7: a NUL byte: this is a binary file, not text"]);
    assert_eq!(said_of(&[0xff, 0xfe, 0x6d, 0x00]), ["x.toml:1:1: not UTF-8: byte 0xff at offset 0"]);
}

#[test]
fn a_byte_order_mark_and_line_ends_of_other_systems_are_no_fault() {
    let text = format!("\u{feff}{}", right(&[], "").replace('\n', "\r\n"));
    assert_eq!(said_of(text.as_bytes()), Vec::<String>::new());
    let wrong = format!("\u{feff}modl = 1\r\n{}", right(&[], ""));
    assert_eq!(said_of(wrong.as_bytes()), ["x.toml:1:1: `modl` is not a top-level key; did you mean `model`?"]);
}

#[test]
fn what_is_no_file_or_too_large_is_refused() {
    let dir = folder(&[("dir.toml/inner", b""), ("huge.toml", &vec![b'#'; (1 << 20) + 1])]);
    let said = |name: &str| said(dir.path(), &load(dir.path(), name));
    assert_eq!(said("dir.toml"), ["dir.toml:1:1: cannot read `dir.toml`: it is a folder, not a file"]);
    assert_eq!(said("huge.toml"), ["huge.toml:1:1: cannot read `huge.toml`: it is larger than 1048576 bytes"]);
    assert_eq!(said("none.toml"), ["none.toml:1:1: cannot read `none.toml`: No such file or directory (os error 2)"]);
}

#[test]
fn a_large_file_full_of_mistakes_is_told_in_time() {
    let started = Instant::now();
    let keys: String = (0..40_000).map(|index| format!("key{index} = 1, ")).collect();
    assert_eq!(said_of(format!("budget = {{ {keys} }}\n").as_bytes()).len(), 40_001);
    let edges: String = (0..40_000).map(|index| format!("{{ from = \"n{index}\", to = \"m{index}\" }}, ")).collect();
    assert!(!said_of(format!("edges = [{edges}]\n").as_bytes()).is_empty());
    let actors: String = (0..40_000).map(|index| format!("[actors.n{index}]\n")).collect();
    assert_eq!(said_of(actors.as_bytes()), ["x.toml:1:2: 40000 actors are too many: at most 256"]);
    assert!(started.elapsed().as_secs() < 60, "quadratic somewhere");
}

#[test]
fn deep_nesting_is_told() {
    for text in ["a".to_owned() + &".a".repeat(50_000) + " = 1", format!("x = {}", "{ a = ".repeat(50_000))] {
        assert!(said_of(text.as_bytes()).iter().all(|line| is_located(line)));
    }
}

/// `FILE:LINE:COLUMN: message`.
fn is_located(line: &str) -> bool {
    let mut parts = line.splitn(4, ':');
    let number = |part: Option<&str>| part.and_then(|part| part.parse::<u32>().ok()).is_some_and(|number| number > 0);
    parts.next().is_some_and(|file| !file.is_empty())
        && number(parts.next())
        && number(parts.next())
        && parts.next().is_some_and(|message| message.starts_with(' ') && message.len() > 1)
}

fn shipped() -> Vec<u8> {
    embedded_file("topologies/seidr.toml").unwrap().as_bytes().to_vec()
}

fn assert_located(content: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("x.toml"), content).unwrap();
    let result = load(folder.path(), "x.toml");
    for line in said(folder.path(), &result) {
        assert!(is_located(&line), "{line:?}");
    }
    if let Err(mistakes) = result {
        let places: Vec<(u32, u32)> =
            mistakes.iter().filter(|it| it.file.ends_with("x.toml")).map(|it| (it.line, it.column)).collect();
        assert!(places.is_sorted(), "{places:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn random_bytes_never_panic(content in prop::collection::vec(any::<u8>(), 0..400)) {
        assert_located(&content);
    }

    #[test]
    fn random_toml_never_panics(content in "([a-c]{1,2}|actors|edges|\\[|\\]|=|\\.|\"|\\{|\\}|,|\n|'| |1|role|from|to){0,80}") {
        assert_located(content.as_bytes());
    }

    #[test]
    fn random_edits_of_a_right_file_never_panic(
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0usize..30, "[\\[\\]{}=\".a-z0-9\n #é-]{0,12}"), 1..5),
    ) {
        let mut content = shipped();
        for (at, cut, text) in edits {
            let at = at.index(content.len());
            let end = (at + cut).min(content.len());
            content.splice(at..end, text.bytes());
        }
        assert_located(&content);
    }
}
