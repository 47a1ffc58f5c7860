//! A real Jaeger, asked through its API: that a conversation reads there as it was held, and that no span is missing.

mod api;
mod arrangements;
mod arriving;
mod binary;
mod cases;
mod environment;
pub mod gate;
mod odd_files;
mod play;
mod reading;
mod secrets;
mod server;
mod stumbling;
