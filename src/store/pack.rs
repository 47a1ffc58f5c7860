//! JSON values as rows keep them: programs by their hash, the rest compressed.

use std::{collections::BTreeMap, io};

use serde_json::{Map, Value};

/// Shorter texts stay where they are: their hash would be no shorter.
const SHORTEST: usize = 96;
/// Shorter rows are kept as they are.
const WORTH_IT: usize = 256;
const LEVEL: i32 = 1;
const PLAIN: u8 = 0;
const COMPRESSED: u8 = 1;
/// The key that stands in a program's place, before its hash. An object of this one key that is found in a value is kept
/// below the key once more, as it is.
const PROGRAM: &str = "$program";

/// A value as a row keeps it.
#[derive(Debug)]
pub(super) struct Packed {
    /// The bytes of the row.
    pub(super) bytes: Vec<u8>,
    /// The programs that it names, as JSON, by their hash.
    pub(super) programs: BTreeMap<String, String>,
}

/// Packs a value: programs (objects of a language and a text) are taken out of it.
pub(super) fn pack(mut value: Value) -> io::Result<Packed> {
    let mut programs = BTreeMap::new();
    take_out(&mut value, &mut programs);
    Ok(Packed { bytes: squeeze(&serde_json::to_vec(&value)?)?, programs })
}

/// The value of a row; `program` finds a program by its hash.
pub(super) fn unpack(bytes: &[u8], program: &mut dyn FnMut(&str) -> io::Result<String>) -> io::Result<Value> {
    let mut value = serde_json::from_slice(&expand(bytes)?)?;
    put_back(&mut value, program)?;
    Ok(value)
}

fn squeeze(plain: &[u8]) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(plain.len() / 2);
    if plain.len() < WORTH_IT {
        bytes.push(PLAIN);
        bytes.extend_from_slice(plain);
    } else {
        bytes.push(COMPRESSED);
        bytes.extend(zstd::bulk::compress(plain, LEVEL)?);
    }
    Ok(bytes)
}

fn expand(bytes: &[u8]) -> io::Result<Vec<u8>> {
    match bytes.split_first() {
        Some((&PLAIN, plain)) => Ok(plain.to_vec()),
        Some((&COMPRESSED, squeezed)) => zstd::stream::decode_all(squeezed),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "a row of an unknown form")),
    }
}

fn take_out(value: &mut Value, programs: &mut BTreeMap<String, String>) {
    if is_long_program(value) {
        let text = value.to_string();
        let hash = blake3::hash(text.as_bytes()).to_hex().to_string();
        *value = serde_json::json!({ PROGRAM: hash });
        programs.insert(hash, text);
        return;
    }
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| take_out(item, programs)),
        Value::Object(fields) if stands_for_another(fields) => {
            let found = std::mem::take(fields);
            *value = serde_json::json!({ PROGRAM: found });
        }
        Value::Object(fields) => fields.values_mut().for_each(|field| take_out(field, programs)),
        _ => {}
    }
}

fn stands_for_another(fields: &Map<String, Value>) -> bool {
    fields.len() == 1 && fields.contains_key(PROGRAM)
}

fn is_long_program(value: &Value) -> bool {
    let Value::Object(fields) = value else { return false };
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    fields.len() == 2 && text("language").is_some() && text("text").is_some_and(|text| text.len() >= SHORTEST)
}

fn put_back(value: &mut Value, program: &mut dyn FnMut(&str) -> io::Result<String>) -> io::Result<()> {
    match value {
        Value::Array(items) => items.iter_mut().try_for_each(|item| put_back(item, program)),
        Value::Object(fields) => {
            if !stands_for_another(fields) {
                return fields.values_mut().try_for_each(|field| put_back(field, program));
            }
            *value = match fields.get_mut(PROGRAM).map(Value::take) {
                Some(Value::String(hash)) => serde_json::from_str(&program(&hash)?)?,
                Some(found @ Value::Object(_)) => found,
                _ => return Err(io::Error::new(io::ErrorKind::InvalidData, "a program without a hash")),
            };
            Ok(())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, io};

    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::{pack, unpack};

    fn there_and_back(value: &Value) -> (Value, BTreeMap<String, String>) {
        let packed = pack(value.clone()).unwrap();
        let mut find = |hash: &str| {
            packed.programs.get(hash).cloned().ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, hash.to_owned()))
        };
        (unpack(&packed.bytes, &mut find).unwrap(), packed.programs.clone())
    }

    #[test]
    fn a_program_is_kept_once_whatever_names_it() {
        let program = json!({ "language": "python", "text": "x = 1\n".repeat(40) });
        let value = json!([{ "candidate": { "program": program } }, { "best": program, "score": 0.1 }, null]);
        let (back, programs) = there_and_back(&value);
        assert_eq!(back, value);
        assert_eq!(programs.len(), 1);
    }

    #[test]
    fn bytes_of_no_known_form_are_an_error() {
        for bytes in [&b""[..], b"\x07{}", b"\x01no frame", b"\x00{", b"\x00{\"$program\":\"0\"}"] {
            let mut nothing = |_: &str| Err(io::Error::from(io::ErrorKind::NotFound));
            assert!(unpack(bytes, &mut nothing).is_err(), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn whatever_goes_in_comes_out(numbers in prop::collection::vec(any::<f64>().prop_filter("JSON", |x| x.is_finite()), 0..20),
            texts in prop::collection::vec("\\PC{0,200}", 0..6)) {
            let programs: Vec<Value> = texts.iter().map(|text| json!({ "language": "go", "text": text })).collect();
            let odd = json!([{ "language": "go", "text": 3 }, { "$program": "x" }, { "$program": { "$program": 1 } }]);
            let value = json!({ "numbers": numbers, "programs": programs, "odd": odd });
            prop_assert_eq!(there_and_back(&value).0, value);
        }
    }
}
