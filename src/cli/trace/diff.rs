//! `rolecall trace diff`: where two conversations part.

use std::path::Path;

use serde_json::{Value, json};

use super::{args::DiffArgs, files};
use crate::{
    cli::{
        exit::{Exit, Failure},
        terminal,
    },
    telemetry::{Steps, difference, difference_json},
};

/// Carries out `rolecall trace diff`. A difference is no fault: the exit code is 0, as with `topology diff`.
///
/// # Errors
/// A file that is not there or damaged: what is missing would look like a difference.
pub fn diff(args: &DiffArgs) -> Result<Exit, Failure> {
    let [file_a, file_b] = [&args.a, &args.b].map(|word| files::find(word, &args.below));
    let (file_a, file_b) = (file_a?, file_b?);
    let (a, b) = (read(&file_a)?, read(&file_b)?);
    if args.json {
        let mut object = json!({
            "event": "trace_difference",
            "a": file_a.to_string_lossy(),
            "b": file_b.to_string_lossy(),
        });
        if let (Value::Object(object), Value::Object(found)) = (&mut object, difference_json(&a, &b, args.steps)) {
            object.extend(found);
        }
        terminal::json(&object);
    } else {
        files::print(&difference(&a, &b, args.steps, files::look()));
    }
    Ok(Exit::Ended)
}

fn read(file: &Path) -> Result<Steps, Failure> {
    let steps = Steps::read(files::open(file)?).map_err(|error| files::unreadable(file, &error))?;
    files::refuse_empty(file, steps.spans == 0, &steps.damage)?;
    files::ended(file, &steps.damage)?;
    if steps.steps.is_empty() && steps.head.is_empty() {
        return Err(Failure::usage(format!("{}: the file holds no turn of a conversation", file.display())));
    }
    if steps.cut {
        terminal::talk(&format!("note: {}: the last line is cut off", file.display()));
    }
    Ok(steps)
}
