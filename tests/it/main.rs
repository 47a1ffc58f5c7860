//! The one integration binary: drives the library and the built `rolecall`.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, reason = "a test may panic")]

mod attacks;
mod benchmarks;
mod briefing;
mod cases_agents;
mod checkers;
mod cli;
mod cli_hostile;
mod cli_interventions;
mod conversation;
mod critic;
mod defects;
mod execution_cases;
mod house_rules;
mod jaeger;
mod languages;
mod ledger;
mod openai;
mod prompts;
mod ranker;
mod sandbox;
mod sandbox_attacks;
mod sandbox_backends;
mod sandbox_groups;
mod sandbox_protocol;
mod sandbox_references;
mod sandbox_users;
mod search_model;
mod searching;
mod secrecy;
mod stage;
mod support;
mod telemetry;
mod templates;
mod templates_docs;
mod topology;
