//! Reading the body of an answer: whole, or event by event, within limits of size and time.

use std::{io::Read, time::Duration};

use flate2::read::GzDecoder;
use reqwest::{Response, header::CONTENT_ENCODING};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::{
    events::{Assembly, EventReader},
    failure::{Class, Failure},
};

/// How long an answer that comes in events may be silent.
#[derive(Clone, Copy, Debug)]
pub struct Silence {
    /// Before the first piece of the reply, from sending on.
    pub first: Duration,
    /// Between two events with data; comments do not count.
    pub between: Duration,
}

/// Why no more of a body was read.
pub enum Broken {
    /// The connection failed.
    Connection(reqwest::Error),
    /// The answer did.
    Answer(Failure),
}

impl From<Failure> for Broken {
    fn from(failure: Failure) -> Self {
        Self::Answer(failure)
    }
}

fn too_long(most: usize) -> Failure {
    Failure::transport("too_long", Class::Final, format!("the reply is longer than {most} bytes"))
}

/// Whether the answer comes in events.
pub fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get(reqwest::header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.to_ascii_lowercase().starts_with("text/event-stream"))
}

/// The whole body, at most `most` bytes. One that was packed with gzip, asked for or not, is unpacked.
pub async fn whole(mut response: Response, most: usize) -> Result<Vec<u8>, Broken> {
    let packed = response.headers().get(CONTENT_ENCODING).is_some_and(|encoding| encoding.as_bytes() == b"gzip");
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(Broken::Connection)? {
        if body.len() + chunk.len() > most {
            return Err(too_long(most).into());
        }
        body.extend_from_slice(&chunk);
    }
    if packed { unpacked(&body, most).map_err(Broken::Answer) } else { Ok(body) }
}

fn unpacked(body: &[u8], most: usize) -> Result<Vec<u8>, Failure> {
    let mut plain = Vec::new();
    let limit = u64::try_from(most).unwrap_or(u64::MAX);
    match GzDecoder::new(body).take(limit.saturating_add(1)).read_to_end(&mut plain) {
        Ok(read) if read > most => Err(too_long(most)),
        Ok(_) => Ok(plain),
        Err(error) => Err(Failure::transport("body", Class::Retry, format!("the reply cannot be unpacked: {error}"))),
    }
}

/// Puts a stream together, at most `most` bytes; `first_piece` is when the reply begins.
pub async fn streamed(
    mut response: Response,
    assembly: &mut dyn Assembly,
    (most, silence, sent): (usize, Silence, Instant),
    first_piece: &mut Option<Instant>,
) -> Result<Value, Broken> {
    let mut reader = EventReader::default();
    let (mut until, mut limit) = (sent + silence.first, silence.first);
    let mut length = 0;
    while !assembly.is_done() {
        let chunk = timeout_at(until, response.chunk()).await.map_err(|_| {
            let message = format!("no piece of the reply within {:.1} s", limit.as_secs_f64());
            Failure::transport("timeout", Class::Retry, message)
        })?;
        let chunk = chunk.map_err(Broken::Connection)?;
        let is_end = chunk.is_none();
        let events = match chunk {
            Some(bytes) => {
                length += bytes.len();
                if length > most {
                    return Err(too_long(most).into());
                }
                reader.take(&bytes)
            }
            None => std::mem::take(&mut reader).finish().into_iter().collect(),
        };
        for event in &events {
            if assembly.take(event)? {
                first_piece.get_or_insert_with(Instant::now);
            }
        }
        // Before the first piece, events without any do not put off the limit.
        if !events.is_empty() && first_piece.is_some() {
            (until, limit) = (Instant::now() + silence.between, silence.between);
        }
        if is_end {
            break;
        }
    }
    assembly.finish().map_err(Broken::Answer)
}

/// Puts a stream together that was read whole, since its answer did not say that it is one.
pub fn reassembled(body: &[u8], assembly: &mut dyn Assembly) -> Result<Value, Failure> {
    let mut reader = EventReader::default();
    let mut events = reader.take(body);
    events.extend(reader.finish());
    for event in &events {
        assembly.take(event)?;
    }
    assembly.finish()
}
