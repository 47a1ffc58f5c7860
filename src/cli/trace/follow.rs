//! `rolecall trace show --follow`: a conversation while it goes on.

use std::{io, path::Path, thread, time::Duration};

use serde_json::json;

use super::{args::ShowArgs, files};
use crate::{
    cli::{
        exit::{Exit, Failure},
        terminal,
    },
    telemetry::{Follower, Hand, SpanDocument, hand},
};

/// What is said where the end may never come.
const LEFT: &str = "note: the conversation is not over, and no process of this machine writes the file: it was \
                    interrupted, or runs elsewhere. Ctrl-C ends";

/// How often the file is looked at.
const PAUSE: Duration = Duration::from_millis(200);

/// Prints what the file says and goes on as it grows, until the root is there.
///
/// # Errors
/// A file that is not there or can no longer be read.
pub fn follow(args: &ShowArgs) -> Result<Exit, Failure> {
    let file = files::find(&args.conversation, &args.below)?;
    let begin = || Ok::<_, Failure>(Follower::new(files::open(&file)?, args.content, files::look()));
    let mut follower = begin()?;
    let mut is_told = false;
    loop {
        while step(&mut follower, args.json).map_err(|error| files::unreadable(&file, &error))? {}
        // Told together: a file of another kind has thousands of damaged lines.
        if let Some(words) = files::damage(&file, &follower.take_damage()) {
            terminal::talk(&format!("note: {words}"));
        }
        if terminal::is_closed() || follower.is_finished() {
            if args.json {
                terminal::json(&json!({"event": "followed", "file": file.to_string_lossy()}));
            }
            return Ok(Exit::Ended);
        }
        let length = file.metadata().map_err(|error| files::unreadable(&file, &error))?.len();
        if length < follower.read_bytes() {
            terminal::talk("note: the file is written anew; from the beginning:");
            follower = begin()?;
        } else if !is_told && is_left(&file) {
            is_told = true;
            terminal::talk(LEFT);
        }
        thread::sleep(PAUSE);
    }
}

/// Prints one line of the file, where there is one more.
fn step(follower: &mut Follower<io::BufReader<std::fs::File>>, json: bool) -> io::Result<bool> {
    if json {
        let spans = follower.next_spans()?;
        spans.iter().flatten().for_each(|span| terminal::json(&SpanDocument::alone(span)));
        return Ok(spans.is_some());
    }
    let text = follower.next_text()?;
    if let Some(text) = text.as_deref().filter(|text| !text.is_empty()) {
        terminal::painted(text.trim_end_matches('\n'));
    }
    Ok(text.is_some())
}

fn is_left(file: &Path) -> bool {
    hand(file).is_ok_and(|hand| hand == Hand::Free)
}
