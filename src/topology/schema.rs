//! Every key of a topology file: its type, default and meaning. `config/defaults.toml` and the documents are tested
//! against these tables.

use serde_json::{Value, json};

use crate::{
    config::{Form, Key, parameters},
    llm::STOP_REASON,
};

const SMALL: u64 = Form::SMALL;
const LARGE: u64 = i64::MAX as u64;
/// The word for a limit that is none.
pub const UNLIMITED: &str = "unlimited";
const COUNT: Form = Form::WholeOr { least: 0, most: SMALL, word: UNLIMITED };
const TOKENS: Form = Form::WholeOr { least: 0, most: LARGE, word: UNLIMITED };
const SOME: Form = Form::NumberOr { word: UNLIMITED };

const fn key(path: &'static str, form: Form, help: &'static str) -> Key {
    Key { path, form, default: None, help }
}

const fn with_default(path: &'static str, form: Form, default: fn() -> Value, help: &'static str) -> Key {
    Key { path, form, default: Some(default), help }
}

/// A sampling parameter, below `[parameters]`.
const fn parameter(path: &'static str, key: Key) -> Key {
    Key { path, ..key }
}

/// The same, of one actor.
const fn of_actor(path: &'static str, key: Key) -> Key {
    Key { path, help: "as [parameters], for this actor", ..key }
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
    parameter("parameters.temperature", parameters::TEMPERATURE),
    parameter("parameters.top_p", parameters::TOP_P),
    parameter("parameters.top_k", parameters::TOP_K),
    parameter("parameters.min_p", parameters::MIN_P),
    parameter("parameters.repetition_penalty", parameters::REPETITION_PENALTY),
    parameter("parameters.presence_penalty", parameters::PRESENCE_PENALTY),
    parameter("parameters.frequency_penalty", parameters::FREQUENCY_PENALTY),
    parameter("parameters.min_output_tokens", parameters::MIN_OUTPUT_TOKENS),
    parameter("parameters.max_output_tokens", parameters::MAX_OUTPUT_TOKENS),
    with_default("parameters.stop", Form::Stops, || json!([]), STOP_REASON),
    parameter("parameters.context_tokens", parameters::CONTEXT_TOKENS),
    parameter("parameters.response_schema", parameters::RESPONSE_SCHEMA),
    parameter("parameters.logprobs", parameters::LOGPROBS),
    parameter("parameters.seed", parameters::SEED),
    with_default("budget.programs", COUNT, unlimited, "programs written by roles and given to an executor"),
    with_default("budget.model_calls", COUNT, unlimited, "calls of models"),
    with_default(
        "budget.tokens",
        TOKENS,
        unlimited,
        "tokens of prompts and replies; needs `max_output_tokens`, and makes `run.parallel_turns` 1",
    ),
    with_default("budget.cost", SOME, unlimited, "money; needs models with a `[price]`"),
    with_default("budget.wall_secs", SOME, unlimited, "seconds by the clock on the wall"),
    with_default(
        "budget.gpu_secs",
        Form::NumberOr { word: UNLIMITED },
        unlimited,
        "GPU seconds; needs models with `gpus`",
    ),
    with_default("budget.generations", COUNT, unlimited, "rounds after the first drafts"),
    key("run.budget.model_calls", COUNT, "calls of models, of the whole run"),
    key("run.budget.tokens", TOKENS, "tokens of the whole run"),
    key("run.budget.cost", SOME, "money of the whole run"),
    key("run.budget.wall_secs", SOME, "seconds by the wall, of the whole run"),
    key("run.budget.gpu_secs", SOME, "GPU seconds of the whole run"),
    key("arm.budget.model_calls", COUNT, "calls of models, of all conversations of the arrangement"),
    key("arm.budget.tokens", TOKENS, "tokens of all conversations of the arrangement"),
    key("arm.budget.cost", SOME, "money of all conversations of the arrangement"),
    key("arm.budget.wall_secs", SOME, "seconds by the wall, from the arrangement's first conversation on"),
    key("arm.budget.gpu_secs", SOME, "GPU seconds of all conversations of the arrangement"),
    key("task.budget.model_calls", COUNT, "calls of models, of all samples of a task"),
    key("task.budget.tokens", TOKENS, "tokens of all samples of a task"),
    key("task.budget.cost", SOME, "money of all samples of a task"),
    key("task.budget.wall_secs", SOME, "seconds by the wall, from the task's first sample on"),
    key("task.budget.gpu_secs", SOME, "GPU seconds of all samples of a task"),
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
    key("budget.model_calls", COUNT, "calls of models that it makes in a conversation"),
    key("budget.tokens", TOKENS, "tokens of its calls in a conversation; makes `run.parallel_turns` 1"),
    key("budget.cost", SOME, "money that its calls cost in a conversation; makes `run.parallel_turns` 1"),
    key("budget.gpu_secs", SOME, "GPU seconds of its calls in a conversation; makes `run.parallel_turns` 1"),
    of_actor("parameters.temperature", parameters::TEMPERATURE),
    of_actor("parameters.top_p", parameters::TOP_P),
    of_actor("parameters.top_k", parameters::TOP_K),
    of_actor("parameters.min_p", parameters::MIN_P),
    of_actor("parameters.repetition_penalty", parameters::REPETITION_PENALTY),
    of_actor("parameters.presence_penalty", parameters::PRESENCE_PENALTY),
    of_actor("parameters.frequency_penalty", parameters::FREQUENCY_PENALTY),
    of_actor("parameters.min_output_tokens", parameters::MIN_OUTPUT_TOKENS),
    of_actor("parameters.max_output_tokens", parameters::MAX_OUTPUT_TOKENS),
    key("parameters.stop", Form::Stops, STOP_REASON),
    of_actor("parameters.context_tokens", parameters::CONTEXT_TOKENS),
    of_actor("parameters.response_schema", parameters::RESPONSE_SCHEMA),
    of_actor("parameters.logprobs", parameters::LOGPROBS),
    of_actor("parameters.seed", parameters::SEED),
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
