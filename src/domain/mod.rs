//! Plain data: what a problem is, what a program is, what a run of a program showed.

mod error_type;
mod example;
mod excerpt;
mod judgement;
mod language;
mod limits;
mod output_rule;
mod patches;
mod place;
mod profile;
mod program;
mod regular_file;
mod settings;
mod shorten;
mod task;
mod test_suite;
mod usage;
mod verdict;

pub use error_type::ErrorType;
pub use example::Example;
pub use excerpt::Excerpt;
pub use judgement::{Isolation, Judgement, Protocol, TestResult};
pub use language::Language;
pub use limits::{Limits, TimeoutPolicy};
pub use output_rule::{OutputRule, Tolerance};
pub use patches::Patches;
pub use place::Place;
pub use profile::{Profile, TestCoverage};
pub use program::{Program, ProgramHash};
pub use regular_file::{open_regular_file, read_regular_file};
pub use settings::{Children, Slots};
pub use shorten::shorten;
pub use task::{FeedbackSet, HiddenTests, Problem, ScoredOn, Task};
pub use test_suite::{Assertion, IoCase, TestSuite};
pub use usage::{Spend, Usage};
pub use verdict::Verdict;
