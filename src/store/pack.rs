//! Values as rows keep them: JSON, programs by their hash, compressed.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    io,
};

use serde::Serialize;
use serde_json::Value;
use zstd::bulk::Compressor;

use crate::domain::{PROGRAM_APART, Program, ProgramHash, with_programs_apart};

/// Shorter rows are kept as they are.
const WORTH_IT: usize = 1024;
/// Fast: a row is worth few microseconds.
const LEVEL: i32 = -3;
const PLAIN: u8 = 0;
const COMPRESSED: u8 = 1;

thread_local! {
    // Making one costs more than a row.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
}

/// A value as a row keeps it.
#[derive(Clone, Debug)]
pub struct Packed {
    /// The bytes of the row.
    pub(super) bytes: Vec<u8>,
    /// The programs that it names.
    pub(super) programs: BTreeMap<ProgramHash, Program>,
}

impl Packed {
    /// Packs a value. No object in it may have [`PROGRAM_APART`] as its one field.
    ///
    /// # Errors
    /// A value that JSON has no form for.
    pub fn of(value: &impl Serialize) -> io::Result<Self> {
        let (plain, programs) = with_programs_apart(|| serde_json::to_vec(value));
        Ok(Self { bytes: squeeze(&plain?)?, programs })
    }
}

/// The value of a row; `program` finds a program by its hash.
pub(super) fn unpack(bytes: &[u8], program: &mut dyn FnMut(&str) -> io::Result<Program>) -> io::Result<Value> {
    let mut value = serde_json::from_slice(&expand(bytes)?)?;
    put_back(&mut value, program)?;
    Ok(value)
}

/// The hashes of the programs that a row names.
pub(super) fn names_of_programs(bytes: &[u8]) -> io::Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    note(&serde_json::from_slice(&expand(bytes)?)?, &mut names);
    Ok(names)
}

fn squeeze(plain: &[u8]) -> io::Result<Vec<u8>> {
    if plain.len() < WORTH_IT {
        return Ok([&[PLAIN], plain].concat());
    }
    COMPRESSOR.with_borrow_mut(|compressor| {
        let compressor = match compressor {
            Some(compressor) => compressor,
            none => none.insert(Compressor::new(LEVEL)?),
        };
        let mut bytes = vec![COMPRESSED; 1 + zstd::zstd_safe::compress_bound(plain.len())];
        let length = compressor.compress_to_buffer(plain, &mut bytes[1..])?;
        bytes.truncate(1 + length);
        Ok(bytes)
    })
}

fn expand(bytes: &[u8]) -> io::Result<Vec<u8>> {
    match bytes.split_first() {
        Some((&PLAIN, plain)) => Ok(plain.to_vec()),
        Some((&COMPRESSED, squeezed)) => zstd::stream::decode_all(squeezed),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "a row of an unknown form")),
    }
}

fn put_back(value: &mut Value, program: &mut dyn FnMut(&str) -> io::Result<Program>) -> io::Result<()> {
    if let Some(hash) = apart(value) {
        *value = serde_json::to_value(program(hash)?)?;
        return Ok(());
    }
    match value {
        Value::Array(items) => items.iter_mut().try_for_each(|item| put_back(item, program)),
        Value::Object(fields) => fields.values_mut().try_for_each(|field| put_back(field, program)),
        _ => Ok(()),
    }
}

fn note(value: &Value, names: &mut BTreeSet<String>) {
    if let Some(hash) = apart(value) {
        names.insert(hash.to_owned());
        return;
    }
    match value {
        Value::Array(items) => items.iter().for_each(|item| note(item, names)),
        Value::Object(fields) => fields.values().for_each(|field| note(field, names)),
        _ => {}
    }
}

/// The hash of the program that stands for this value, if one does.
fn apart(value: &Value) -> Option<&str> {
    let fields = value.as_object().filter(|fields| fields.len() == 1)?;
    fields.get(PROGRAM_APART)?.as_str()
}

#[cfg(test)]
mod tests {
    use std::io;

    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::{Packed, names_of_programs, unpack};
    use crate::domain::{Language, Program, ProgramHash};

    fn back(packed: &Packed) -> Value {
        let mut find = |hash: &str| {
            let found = packed.programs.get(&ProgramHash(hash.to_owned())).cloned();
            found.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, hash.to_owned()))
        };
        unpack(&packed.bytes, &mut find).unwrap()
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
            let programs: Vec<Program> = texts.iter().map(|text| Program::new(Language::Go, text.clone())).collect();
            let packed = Packed::of(&(&numbers, &programs, &programs)).unwrap();
            prop_assert_eq!(back(&packed), json!([numbers, programs, programs]));
            let named = names_of_programs(&packed.bytes).unwrap();
            prop_assert!(named.iter().eq(packed.programs.keys().map(|hash| &hash.0)));
        }
    }
}
