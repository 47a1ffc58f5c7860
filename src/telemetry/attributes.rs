//! Every attribute and event name, once.
//!
//! `gen_ai.*` follows the OpenTelemetry conventions for generative AI (schema [`SCHEMA_URL`]), of which only names that
//! have been stable in practice are used. What the conventions have no word for stands under `rolecall.`.

/// The version of the conventions that the names follow.
pub const SCHEMA_URL: &str = "https://opentelemetry.io/schemas/gen-ai/1.42.0";

// Resources.
pub const SERVICE_NAME: &str = "service.name";
pub const SERVICE_NAMESPACE: &str = "service.namespace";
pub const SERVICE_INSTANCE_ID: &str = "service.instance.id";
pub const SERVICE_VERSION: &str = "service.version";
/// Equal on all resources: without it Jaeger takes a receiver that starts after its sender ended for clock skew.
pub const IP: &str = "ip";
/// Attributes of resources that are always ours: each actor is a service of its own.
pub const OF_SERVICES: &[&str] = &[SERVICE_NAME, SERVICE_NAMESPACE, SERVICE_INSTANCE_ID, SERVICE_VERSION, IP];

// Generative AI: what kind of step a span is.
pub const OPERATION: &str = "gen_ai.operation.name";
pub const WORKFLOW: &str = "gen_ai.workflow.name";
pub const AGENT: &str = "gen_ai.agent.name";
pub const CONVERSATION: &str = "gen_ai.conversation.id";
pub const TOOL: &str = "gen_ai.tool.name";
pub const TOOL_TYPE: &str = "gen_ai.tool.type";
pub const TOOL_ARGUMENTS: &str = "gen_ai.tool.call.arguments";
pub const TOOL_RESULT: &str = "gen_ai.tool.call.result";

// Generative AI: a model call.
pub const PROVIDER: &str = "gen_ai.provider.name";
pub const OUTPUT_TYPE: &str = "gen_ai.output.type";
pub const REQUEST_MODEL: &str = "gen_ai.request.model";
pub const REQUEST_CHOICES: &str = "gen_ai.request.choice.count";
pub const REQUEST_SEED: &str = "gen_ai.request.seed";
pub const REQUEST_TEMPERATURE: &str = "gen_ai.request.temperature";
pub const REQUEST_TOP_P: &str = "gen_ai.request.top_p";
pub const REQUEST_TOP_K: &str = "gen_ai.request.top_k";
pub const REQUEST_PRESENCE_PENALTY: &str = "gen_ai.request.presence_penalty";
pub const REQUEST_FREQUENCY_PENALTY: &str = "gen_ai.request.frequency_penalty";
pub const REQUEST_MAX_TOKENS: &str = "gen_ai.request.max_tokens";
pub const REQUEST_STOP: &str = "gen_ai.request.stop_sequences";
pub const REQUEST_STREAM: &str = "gen_ai.request.stream";
pub const TIME_TO_FIRST: &str = "gen_ai.response.time_to_first_chunk";
pub const RESPONSE_ID: &str = "gen_ai.response.id";
pub const RESPONSE_MODEL: &str = "gen_ai.response.model";
pub const RESPONSE_FINISH: &str = "gen_ai.response.finish_reasons";
/// `input` or `output`, of metrics.
pub const TOKEN_TYPE: &str = "gen_ai.token.type";
pub const USAGE_INPUT: &str = "gen_ai.usage.input_tokens";
pub const USAGE_CACHED: &str = "gen_ai.usage.cache_read.input_tokens";
pub const USAGE_OUTPUT: &str = "gen_ai.usage.output_tokens";
pub const INPUT_MESSAGES: &str = "gen_ai.input.messages";
pub const OUTPUT_MESSAGES: &str = "gen_ai.output.messages";

// Generative AI: an evaluation, as an event.
pub const EVALUATION: &str = "gen_ai.evaluation.result";
pub const EVALUATION_NAME: &str = "gen_ai.evaluation.name";
pub const EVALUATION_SCORE: &str = "gen_ai.evaluation.score.value";
pub const EVALUATION_LABEL: &str = "gen_ai.evaluation.score.label";
pub const EVALUATION_EXPLANATION: &str = "gen_ai.evaluation.explanation";

// General conventions.
pub const SERVER_ADDRESS: &str = "server.address";
pub const SERVER_PORT: &str = "server.port";
pub const PEER_SERVICE: &str = "peer.service";
pub const ERROR_TYPE: &str = "error.type";
pub const HTTP_STATUS: &str = "http.response.status_code";
/// OpenInference's word for the kind of a span; Phoenix and Langfuse read it.
pub const SPAN_KIND: &str = "openinference.span.kind";

// Names of the conversation's own spans.
/// Written when a conversation, or a continuation of its trace, begins.
pub const STARTED_SPAN: &str = "conversation_started";
pub const ROUND_SPAN: &str = "round";
pub const HANDOFF_SPAN: &str = "handoff";

/// What every name of our own begins with; the key of a role's note follows it.
pub const PREFIX: &str = "rolecall.";

// The conversation, on its root.
pub const RUN: &str = "rolecall.run";
pub const TOPOLOGY_HASH: &str = "rolecall.topology_hash";
pub const ARM: &str = "rolecall.arm";
pub const TASK: &str = "rolecall.task";
pub const DATASET: &str = "rolecall.dataset";
pub const SAMPLE: &str = "rolecall.sample";
pub const SEED: &str = "rolecall.seed";
/// Which of the task's sets of tests feed back, and how many tests that is.
pub const FEEDBACK: &str = "rolecall.feedback";
pub const FEEDBACK_TESTS: &str = "rolecall.feedback.tests";
pub const SCORED_ON: &str = "rolecall.scored_on";
pub const ISOLATION: &str = "rolecall.isolation";
/// How outputs of stdin/stdout tests are compared.
pub const COMPARE: &str = "rolecall.compare";
pub const TEST_CPU_MS: &str = "rolecall.limits.test_cpu_ms";
/// True where that limit was measured on this machine.
pub const LIMITS_CALIBRATED: &str = "rolecall.limits.calibrated";
pub const PYTHON_HASH_SEED: &str = "rolecall.python_hash_seed";
pub const PART: &str = "rolecall.part";
pub const PARTS: &str = "rolecall.parts";
/// What has become of spans, of metrics.
pub const SPAN_STATE: &str = "rolecall.span.state";
pub const OUTCOME: &str = "rolecall.outcome";
/// The outcome of a killed conversation whose trace was closed afterwards.
pub const INTERRUPTED: &str = "interrupted";
/// Bytes of a prompt of which the server saw far fewer tokens than they make.
pub const CUT_PROMPT: &str = "rolecall.prompt.cut_bytes";
/// How many different texts the choices of a call have.
pub const DISTINCT_CHOICES: &str = "rolecall.choices.distinct";
/// How many choices of a call have no answer, since their tokens ran out while the model was thinking.
pub const RAN_OUT_THINKING: &str = "rolecall.choices.ran_out_thinking";
/// Characters of a streamed reply that broke off.
pub const PARTIAL_CHARS: &str = "rolecall.partial.chars";
/// Those characters: no role read them.
pub const PARTIAL_TEXT: &str = "rolecall.partial.text";
/// Where an answer was found that was not asked for just now: `resumed`, `cache` or `replay`.
pub const ANSWERED_FROM: &str = "rolecall.answered_from";
/// The most tokens that a call in doubt can have cost.
pub const AT_MOST_TOKENS: &str = "rolecall.at_most_tokens";
pub const OUTCOME_DETAIL: &str = "rolecall.outcome_detail";
pub const SOLVED: &str = "rolecall.solved";
pub const STARTER_PASSED: &str = "rolecall.starter_passed";
pub const BEST: &str = "rolecall.best";
pub const HIDDEN_VERDICT: &str = "rolecall.hidden_verdict";
pub const PROGRAMS_TO_SOLVE: &str = "rolecall.programs_to_solve";
pub const PROGRAMS: &str = "rolecall.programs";
pub const MODEL_CALLS: &str = "rolecall.model_calls";
pub const MODEL_ATTEMPTS: &str = "rolecall.model_attempts";
pub const INPUT_TOKENS: &str = "rolecall.input_tokens";
pub const OUTPUT_TOKENS: &str = "rolecall.output_tokens";
pub const CALLS_WITHOUT_USAGE: &str = "rolecall.calls_without_usage";
/// What the calls of known cost came to, as a number of units of [`CURRENCY`].
pub const COST: &str = "rolecall.cost";
pub const CURRENCY: &str = "rolecall.cost.currency";
/// The most that requests of unknown outcome can have cost; no part of [`COST`].
pub const COST_IN_DOUBT: &str = "rolecall.cost.in_doubt";
/// What the server itself said.
pub const REPORTED_COST: &str = "rolecall.cost.reported";
pub const CALLS_WITHOUT_COST: &str = "rolecall.calls_without_cost";
pub const ATTEMPTS_IN_DOUBT: &str = "rolecall.attempts_in_doubt";
pub const INTERVENTIONS: &str = "rolecall.interventions";
/// Followed by one of the four outcomes of program repair: how many programs of roles came to it.
pub const PATCHES_PREFIX: &str = "rolecall.patches.";
pub const DETERMINISTIC: &str = "rolecall.deterministic";

// A turn.
pub const ROLE: &str = "rolecall.role";
pub const SEQ: &str = "rolecall.seq";
pub const ATTEMPT: &str = "rolecall.attempt";
pub const GENERATION: &str = "rolecall.generation";
pub const RECEIVED: &str = "rolecall.received";
pub const SAID: &str = "rolecall.said";
pub const MISSING: &str = "rolecall.missing";
/// What the edge that brought it did to its words.
pub const INTERVENTION: &str = "rolecall.intervention";
pub const REFUSED: &str = "rolecall.refused";
/// Whose budget refused, and its limit, where several conversations share it.
pub const REFUSED_BY: &str = "rolecall.refused.by";
pub const TURNS: &str = "rolecall.turns";
/// Why a step ended early that is no error: `cancelled`, `budget`, `nothing_to_say`.
pub const ENDED_BY: &str = "rolecall.ended_by";
/// Content was shortened to fit.
pub const TRUNCATED: &str = "rolecall.truncated";
/// Why a span is linked.
pub const LINK: &str = "rolecall.link";
/// The turn at the other end of a link, since Jaeger shows no attributes of links.
pub const SENDER_SEQ: &str = "rolecall.sender_seq";

// A model call.
pub const PURPOSE: &str = "rolecall.purpose";
/// What was left out of a prompt so that it fits into the model's context.
pub const PROMPT_SHORTENED: &str = "rolecall.prompt.shortened";
/// Name or path of the prompt file that a request, or the words of a static template, were made from.
pub const PROMPT: &str = "rolecall.prompt";
/// BLAKE3 of that file.
pub const PROMPT_HASH: &str = "rolecall.prompt_hash";
pub const ORDINAL: &str = "rolecall.ordinal";
/// Beside the array of finish reasons, which a search finds by its JSON text only.
pub const FINISH: &str = "rolecall.finish";
pub const ATTEMPTS: &str = "rolecall.attempts";
/// Tokens of a reply beyond the limit that was asked for.
pub const OVERSHOOT: &str = "rolecall.overshoot_tokens";
pub const DURATION_MS: &str = "rolecall.duration_ms";
/// What a request said otherwise than asked, since its server does not understand it.
pub const ADAPTED: &str = "rolecall.adapted";
/// Host and port of the server that a request went to, where several serve the model.
pub const SERVER: &str = "rolecall.server";
pub const WAITED_MS: &str = "rolecall.waited_ms";
/// The event of one request on the wire.
pub const REQUEST_EVENT: &str = "rolecall.request";

// A candidate: its lineage and what the tests said.
pub const CANDIDATE: &str = "rolecall.candidate";
pub const PARENT: &str = "rolecall.parent";
pub const PROGRAM: &str = "rolecall.program";
pub const PROGRAM_HASH: &str = "rolecall.program_hash";
pub const ORIGIN: &str = "rolecall.origin";
pub const AUTHOR: &str = "rolecall.author";
/// What the model says of the edit: the operator of a template, for example.
pub const EDIT: &str = "rolecall.edit";
/// The program that had the same text; this one was not run.
pub const DUPLICATE_OF: &str = "rolecall.duplicate_of";
pub const LANGUAGE: &str = "rolecall.language";
pub const VERDICT: &str = "rolecall.verdict";
pub const SCORE: &str = "rolecall.score";
pub const TESTS: &str = "rolecall.tests";
/// Followed by a verdict: how many tests said it.
pub const TESTS_PREFIX: &str = "rolecall.tests.";
pub const CPU_MS: &str = "rolecall.cpu_ms";
pub const MEMORY_BYTES: &str = "rolecall.peak_memory_bytes";
pub const NEAR_LIMIT: &str = "rolecall.near_limit";
/// How a verdict was kept from being forged: `split` or `in_process`.
pub const PROTOCOL: &str = "rolecall.protocol";
/// How many calls in a program linked with its tests end, replace or start processes.
pub const SUSPICIOUS_CALLS: &str = "rolecall.suspicious_calls";
/// The event of one program that a turn wrote.
pub const WRITTEN_EVENT: &str = "rolecall.written";
/// The event of one program that a filter looked at; [`RANKING`] says what became of it.
pub const RANKED_EVENT: &str = "rolecall.ranked";
/// A critic's reward, where its turn is about one program and scored it.
pub const REWARD: &str = "rolecall.reward";
/// What gave it: `execution`, `judge` or `endpoint`.
pub const REWARD_SOURCE: &str = "rolecall.reward.source";
/// How many programs of a critic's turn have no reward.
pub const UNSCORED: &str = "rolecall.unscored";
/// `kept` or `dropped`.
pub const RANKING: &str = "rolecall.ranking";
/// Place of a kept program, from 1.
pub const RANK: &str = "rolecall.rank";
