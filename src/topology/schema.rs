//! Every key of a topology file: its type, default and meaning. `config/defaults.toml` and the documents are tested
//! against these tables.

use serde_json::{Value, json};

use crate::llm::{STOP_FORM, STOP_REASON, may_cut_a_word};

/// The type of a key's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    /// A string that is not empty.
    Text,
    /// An array of strings that no server can cut a word with.
    Stops,
    /// An array of whole numbers from 1 to `most`.
    Wholes {
        /// The largest.
        most: u64,
    },
    /// A whole number from `least` to `most`.
    Whole {
        /// The smallest.
        least: u64,
        /// The largest.
        most: u64,
    },
    /// A whole number from `least` to `most`, or one word.
    WholeOr {
        /// The smallest.
        least: u64,
        /// The largest.
        most: u64,
        /// The word.
        word: &'static str,
    },
    /// A number from 0 to `most`.
    Number {
        /// The largest.
        most: f64,
    },
    /// A number from 0, or one word.
    NumberOr {
        /// The word.
        word: &'static str,
    },
    /// One of these words.
    Choice(&'static [&'static str]),
    /// `true` or `false`.
    Flag,
}

impl Form {
    /// Whether `value` is of this form.
    pub fn accepts(self, value: &Value) -> bool {
        let whole = |least, most| value.as_u64().is_some_and(|number| (least..=most).contains(&number));
        let number = |most| value.as_f64().is_some_and(|number| (0.0..=most).contains(&number));
        match self {
            Self::Text => value.as_str().is_some_and(|text| !text.trim().is_empty()),
            Self::Stops => value.as_array().is_some_and(|items| items.iter().all(is_stop)),
            Self::Wholes { most } => value.as_array().is_some_and(|items| {
                items.iter().all(|item| item.as_u64().is_some_and(|number| (1..=most).contains(&number)))
            }),
            Self::Whole { least, most } => whole(least, most),
            Self::WholeOr { least, most, word } => whole(least, most) || value.as_str() == Some(word),
            Self::Number { most } => number(most),
            Self::NumberOr { word } => number(f64::MAX) || value.as_str() == Some(word),
            Self::Choice(words) => value.as_str().is_some_and(|text| words.contains(&text)),
            Self::Flag => value.is_boolean(),
        }
    }

    /// What is accepted, in words.
    pub fn words(self) -> String {
        let whole = |least: u64, most: u64| match most {
            SMALL => format!("a whole number from {least} to {most}"),
            _ => format!("a whole number from {least}"),
        };
        match self {
            Self::Text => "a string that is not empty".to_owned(),
            Self::Stops => format!("an array, each element {STOP_FORM}"),
            Self::Wholes { .. } => "an array of whole numbers from 1".to_owned(),
            Self::Whole { least, most } => whole(least, most),
            Self::WholeOr { least, most, word } => format!("{} or \"{word}\"", whole(least, most)),
            Self::Number { most } if most == f64::MAX => "a number from 0".to_owned(),
            Self::Number { most } => format!("a number from 0 to {most}"),
            Self::NumberOr { word } => format!("a number from 0 or \"{word}\""),
            Self::Flag => "true or false".to_owned(),
            Self::Choice(words) => {
                let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
                match quoted.split_last() {
                    Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
                    _ => quoted.concat(),
                }
            }
        }
    }
}

/// Whether an element of an array is a stop string that cannot cut a word.
pub(super) fn is_stop(item: &Value) -> bool {
    item.as_str().is_some_and(|stop| !may_cut_a_word(stop))
}

/// A key that holds one value.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its path: `budget.programs`; for keys of actors, below `actors.NAME`.
    pub path: &'static str,
    /// The type of its value.
    pub form: Form,
    /// Its value where nothing says otherwise; `None` where it has none.
    pub default: Option<fn() -> Value>,
    /// What it means.
    pub help: &'static str,
}

/// Largest value of counters that are held in 32 bits.
const SMALL: u64 = u32::MAX as u64 - 1;
const LARGE: u64 = i64::MAX as u64;
/// The word for a limit that is none.
pub const UNLIMITED: &str = "unlimited";
const COUNT: Form = Form::WholeOr { least: 0, most: SMALL, word: UNLIMITED };

const fn key(path: &'static str, form: Form, help: &'static str) -> Key {
    Key { path, form, default: None, help }
}

const fn with_default(path: &'static str, form: Form, default: fn() -> Value, help: &'static str) -> Key {
    Key { path, form, default: Some(default), help }
}

fn unlimited() -> Value {
    json!(UNLIMITED)
}

/// The keys of the file itself.
pub const TOP_KEYS: &[Key] = &[
    key("name", Form::Text, "name of the arrangement; the file's own name where there is none"),
    key("description", Form::Text, "what it is, in a sentence"),
    key("model", Form::Text, "the model of every actor that asks one and names none itself"),
    key(
        "prompts_dir",
        Form::Text,
        "folder of prompts of your own: NAME/FILE.md in it goes before the shipped NAME/FILE",
    ),
    key("parameters.temperature", Form::Number { most: f64::MAX }, "softmax temperature; the server's where absent"),
    key("parameters.top_p", Form::Number { most: 1.0 }, "nucleus sampling; the server's where absent"),
    key("parameters.max_output_tokens", Form::Whole { least: 1, most: SMALL }, "upper bound of a reply, in tokens"),
    with_default("parameters.stop", Form::Stops, || json!([]), STOP_REASON),
    key(
        "parameters.context_tokens",
        Form::Whole { least: 1, most: SMALL },
        "most tokens of a prompt and its reply together: a prompt is shortened to fit; not sent to the server",
    ),
    with_default("budget.programs", COUNT, unlimited, "programs written by roles and given to an executor"),
    with_default("budget.model_calls", COUNT, unlimited, "calls of models"),
    with_default(
        "budget.tokens",
        Form::WholeOr { least: 0, most: LARGE, word: UNLIMITED },
        unlimited,
        "tokens of prompts and replies; needs `max_output_tokens`, and makes `run.parallel_turns` 1",
    ),
    with_default("budget.cost", Form::NumberOr { word: UNLIMITED }, unlimited, "money; needs a model with a price"),
    with_default("budget.wall_secs", Form::NumberOr { word: UNLIMITED }, unlimited, "seconds by the clock on the wall"),
    with_default(
        "budget.gpu_secs",
        Form::NumberOr { word: UNLIMITED },
        unlimited,
        "GPU seconds; needs a model with GPUs",
    ),
    with_default("budget.generations", COUNT, unlimited, "rounds after the first drafts"),
    with_default(
        "search.parents",
        Form::Choice(&["beam", "last", "best", "failing", "random"]),
        || json!("beam"),
        "the programs that are repaired next: those that the edges bring, the round's last, the best so far, every failing one of the round, or a random one so far",
    ),
    key(
        "search.arity",
        Form::Whole { least: 1, most: SMALL },
        "`drafts`, `beam_width` and `repairs` of every actor that sets none itself",
    ),
    with_default(
        "search.widths",
        Form::Wholes { most: SMALL },
        || json!([]),
        "programs written in each round, as `[4, 3, 3]`; its end ends the conversation",
    ),
    key(
        "search.barrier",
        Form::Choice(&["generation", "none"]),
        "without a ranker: whether a round begins when the one before it is over, or with each report",
    ),
    with_default(
        "search.child_order",
        Form::Choice(&["parent_major", "round_robin"]),
        || json!("parent_major"),
        "the order in which children are written: parent by parent, or one of each parent in turn",
    ),
    with_default(
        "search.duplicates",
        Form::Choice(&["count", "skip"]),
        || json!("count"),
        "whether a program whose text was there before is executed again; it is spent in either case",
    ),
    with_default(
        "run.parallel_turns",
        Form::WholeOr { least: 1, most: SMALL, word: UNLIMITED },
        || json!(4),
        "turns of one conversation that may be under way",
    ),
    with_default(
        "feedback.timeouts",
        Form::WholeOr { least: 1, most: SMALL, word: "all" },
        || json!(1),
        "timeouts of a program after which its other tests are not run",
    ),
    key(
        "feedback.test_cpu_ms",
        Form::Whole { least: 1, most: LARGE },
        "CPU time of one test in ms; the task's where absent",
    ),
    with_default(
        "feedback.faulty_lines",
        Form::Choice(&["hidden", "marked"]),
        || json!("hidden"),
        "whether prompts mark the lines that the task says are faulty",
    ),
    key("examples.tasks", Form::Text, "task file, or folder of task files, that examples are taken from"),
    key("examples.benchmark", Form::Text, "public data set that examples are taken from"),
    key(
        "examples.path",
        Form::Text,
        "file of that data set, or its folder; `--examples` on the command line goes first",
    ),
    with_default("examples.split", Form::Text, || json!("all"), "part of the data set that examples are taken from"),
    with_default(
        "examples.count",
        Form::Whole { least: 0, most: SMALL },
        || json!(0),
        "solved tasks of it that prompts show",
    ),
    with_default(
        "stop.on",
        Form::Choice(&["solved", "budget"]),
        || json!("solved"),
        "whether a program that passes ends the conversation, or only its budget does",
    ),
    with_default(
        "stop.no_improvement",
        Form::WholeOr { least: 1, most: SMALL, word: "never" },
        || json!("never"),
        "rounds without a better program after which the conversation ends",
    ),
];

/// The keys of `[actors.NAME]`, beside its prompts and settings, which depend on the role.
pub const ACTOR_KEYS: &[Key] = &[
    key("role", Form::Text, "what the actor does"),
    key("model", Form::Text, "the model that it asks"),
    key("gather", Form::Choice(&["generation"]), "it takes all messages of a generation in one turn"),
    with_default(
        "requires",
        Form::Choice(&["any", "all"]),
        || json!("any"),
        "whether a gathering actor goes on without a source that stayed silent",
    ),
    key("examples", Form::Flag, "whether its prompts show the examples; where absent, those of roles that draft do"),
    key("prompt", Form::Text, "its prompt, where its role has one: NAME/FILE as shipped, or a path that ends in .md"),
    key("parameters.temperature", Form::Number { most: f64::MAX }, "as [parameters], for this actor"),
    key("parameters.top_p", Form::Number { most: 1.0 }, "as [parameters], for this actor"),
    key("parameters.max_output_tokens", Form::Whole { least: 1, most: SMALL }, "as [parameters], for this actor"),
    key("parameters.stop", Form::Stops, STOP_REASON),
    key("parameters.context_tokens", Form::Whole { least: 1, most: SMALL }, "as [parameters], for this actor"),
];

/// Keys of the top level that shape the arrangement rather than hold one value.
pub const TOP_SHAPES: &[&str] = &["extends", "actors", "edges", "remove_actors", "remove_edges", "replace_edges"];

/// Tables of an actor whose keys depend on its role.
pub const ACTOR_TABLES: &[&str] = &["prompts", "settings"];

/// The keys of one edge.
pub const EDGE_KEYS: &[&str] = &["from", "to", "when", "intervene"];

/// The form of `when`.
pub const WHEN: Form = Form::Choice(&["always", "failed", "passed"]);

/// The form of `intervene`.
pub const INTERVENE: Form = Form::Choice(&["drop", "blank", "shuffle", "oracle"]);

/// The paths of all keys that hold one value: of the top level, and of actors below `actors.NAME`.
pub fn known_keys() -> impl Iterator<Item = &'static str> {
    TOP_KEYS.iter().chain(ACTOR_KEYS).map(|key| key.path)
}

/// The key of `keys` with this path.
pub fn find(keys: &'static [Key], path: &str) -> Option<&'static Key> {
    keys.iter().find(|key| key.path == path)
}

/// The names directly below `section` (empty for the top): keys and tables, each once.
pub fn names_below(keys: &'static [Key], section: &str) -> Vec<&'static str> {
    let mut names: Vec<&str> = Vec::new();
    for key in keys {
        let below = match section {
            "" => Some(key.path),
            section => key.path.strip_prefix(section).and_then(|rest| rest.strip_prefix('.')),
        };
        let Some(name) = below.and_then(|below| below.split('.').next()) else { continue };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The names of the tables among `keys`.
pub fn is_section(keys: &'static [Key], name: &str) -> bool {
    keys.iter().any(|key| key.path.split_once('.').is_some_and(|(section, _)| section == name))
}
