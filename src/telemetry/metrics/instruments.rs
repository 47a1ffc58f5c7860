/// How values of an instrument are put together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A sum that only grows.
    Counter,
    /// A sum as it stands.
    Level,
    /// How values are distributed, with the upper bounds of the buckets, the last of which has none.
    Histogram(&'static [f64]),
}

/// One metric.
#[derive(Debug, PartialEq)]
pub struct Instrument {
    /// Its name.
    pub name: &'static str,
    /// Its unit (UCUM).
    pub unit: &'static str,
    /// What it counts.
    pub description: &'static str,
    /// How.
    pub kind: Kind,
}

/// The bounds that the GenAI semantic conventions advise for tokens.
const TOKENS: &[f64] = &[
    1.0,
    4.0,
    16.0,
    64.0,
    256.0,
    1_024.0,
    4_096.0,
    16_384.0,
    65_536.0,
    262_144.0,
    1_048_576.0,
    4_194_304.0,
    16_777_216.0,
    67_108_864.0,
];

/// The bounds that they advise for durations in seconds.
const SECONDS: &[f64] = &[0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];

const fn counter(name: &'static str, unit: &'static str, description: &'static str) -> Instrument {
    Instrument { name, unit, description, kind: Kind::Counter }
}

/// Tokens of calls.
pub const TOKEN_USAGE: Instrument = Instrument {
    name: "gen_ai.client.token.usage",
    unit: "{token}",
    description: "Tokens of each call of a model, as far as the server says",
    kind: Kind::Histogram(TOKENS),
};

/// How long calls take.
pub const CALL_DURATION: Instrument = Instrument {
    name: "gen_ai.client.operation.duration",
    unit: "s",
    description: "Duration of each call of a model, with all its requests",
    kind: Kind::Histogram(SECONDS),
};

/// Requests of calls.
pub const REQUESTS: Instrument = counter("rolecall.model.requests", "{request}", "Requests sent for calls of models");

/// How long turns take.
pub const TURN_DURATION: Instrument = Instrument {
    name: "rolecall.turn.duration",
    unit: "s",
    description: "Duration of each attempt at a turn",
    kind: Kind::Histogram(SECONDS),
};

/// Attempts that ended by a panic, each followed by a fresh role.
pub const RESTARTS: Instrument = counter("rolecall.restarts", "{restart}", "Roles that were replaced after a panic");

/// Programs by what the tests said.
pub const VERDICTS: Instrument = counter("rolecall.verdicts", "{program}", "Programs that were executed, by verdict");

/// Conversations by how they ended.
pub const CONVERSATIONS: Instrument = counter("rolecall.conversations", "{conversation}", "Conversations that ended");

/// What became of spans.
pub const SPANS: Instrument = Instrument {
    name: "rolecall.spans",
    unit: "{span}",
    description: "Spans of the run by what has become of them",
    kind: Kind::Level,
};

/// All there are, in the order in which they are sent.
pub const ALL: [&Instrument; 8] =
    [&TOKEN_USAGE, &CALL_DURATION, &REQUESTS, &TURN_DURATION, &RESTARTS, &VERDICTS, &CONVERSATIONS, &SPANS];
