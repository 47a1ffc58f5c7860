//! Rolecall runs *role arrangements*: casts of LLM agents that write, run and repair programs.
//!
//! Reading order, along one conversation: `cli/run` → `config` → `topology` → `conversation/intake` →
//! `conversation/actor` → `conversation/ledger` → `runtime/role_actor` → `agents/synthesizer` → `agents/executor` →
//! `sandbox` → `agents/ranker` → `agents/instructor` → `agents/debugger` → `conversation/outcome` →
//! `conversation/grading` → `telemetry/projection`.

pub mod agents;
pub mod benchmarks;
pub mod budget;
pub mod cli;
pub mod config;
pub mod conversation;
pub mod domain;
pub mod evaluation;
pub mod ids;
pub mod languages;
pub mod llm;
pub mod messages;
pub mod prompts;
pub mod runtime;
pub mod sandbox;
pub mod selection;
pub mod store;
pub mod telemetry;
pub mod topology;
