//! Reads the text of a file that somebody else made: bounded, unpacked, decoded, with the place of what is wrong.

use std::{
    io::{self, Read},
    path::Path,
    sync::Arc,
};

use flate2::bufread::MultiGzDecoder;

use super::{BenchmarkError, Mistake, Place, mistake::line_and_column};
use crate::domain::read_regular_file;

/// Longest file that is read, after unpacking.
const MAX_FILE_BYTES: usize = 256 << 20;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
const BYTE_ORDER_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

/// A decoded file.
pub(super) struct TextFile {
    /// As it was named; shared by every place in it.
    pub path: Arc<Path>,
    /// Its text without a byte order mark.
    pub text: String,
}

impl TextFile {
    /// Reads `path`, unpacking gzip (told by its first bytes, not by its name).
    ///
    /// # Errors
    /// Unreadable, no regular file, too large, damaged gzip, not UTF-8, NUL inside.
    pub fn read(path: &Path) -> Result<Self, BenchmarkError> {
        let shared: Arc<Path> = Arc::from(path);
        let mut raw = read_regular_file(path, MAX_FILE_BYTES as u64).map_err(|source| match source.kind() {
            io::ErrorKind::FileTooLarge => too_large(&shared),
            _ => BenchmarkError::Read { path: path.to_owned(), source },
        })?;
        if raw.starts_with(&GZIP_MAGIC) {
            raw = unpack(&shared, &raw)?;
            if raw.len() > MAX_FILE_BYTES {
                return Err(too_large(&shared));
            }
        }
        if raw.starts_with(&BYTE_ORDER_MARK) {
            raw.drain(..BYTE_ORDER_MARK.len());
        }
        decode(&shared, raw).map(|text| Self { path: shared, text })
    }
}

fn too_large(path: &Arc<Path>) -> BenchmarkError {
    let (place, what) = (Place::line(path, 1), "this file".to_owned());
    BenchmarkError::TooLarge { place, what, limit_bytes: MAX_FILE_BYTES }
}

fn unpack(path: &Arc<Path>, packed: &[u8]) -> Result<Vec<u8>, BenchmarkError> {
    let mut text = Vec::new();
    match MultiGzDecoder::new(packed).take(MAX_FILE_BYTES as u64 + 1).read_to_end(&mut text) {
        Ok(_) => Ok(text),
        Err(error) => {
            let place = Place::line(path, line_and_column(&text, text.len()).0);
            let why = match error.kind() {
                io::ErrorKind::UnexpectedEof => "it ends too early".to_owned(),
                _ => error.to_string(),
            };
            Err(Mistake::new(place, format!("damaged gzip data: {why}")).into())
        }
    }
}

fn decode(path: &Arc<Path>, bytes: Vec<u8>) -> Result<String, BenchmarkError> {
    let place = |bytes: &[u8], offset| {
        let (line, column) = line_and_column(bytes, offset);
        Place { path: path.clone(), line, column: Some(column) }
    };
    if let Some(offset) = bytes.iter().position(|byte| *byte == 0) {
        let message = "NUL byte: this is a binary file, or text in another encoding than UTF-8";
        return Err(Mistake::new(place(&bytes, offset), message).into());
    }
    String::from_utf8(bytes).map_err(|error| {
        let place = place(error.as_bytes(), error.utf8_error().valid_up_to());
        Mistake::new(place, "not UTF-8").hint("save the file as UTF-8").into()
    })
}

/// Line ends as `\n` alone, as Python itself reads a source file.
pub(super) fn with_plain_line_ends(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}
