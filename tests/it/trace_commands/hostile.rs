//! Files that nobody wrote so: whatever stands in them, they are read to their end.

use std::{fs, io::BufReader};

use proptest::prelude::*;
use rolecall::telemetry::{
    Follower, Lineage, Look, ReadTrace, Steps, TraceDocument, close_open, difference, lineage_dot, lineage_json,
    lineage_mermaid, lineage_text, list, show,
};

use super::scene::Scene;
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
