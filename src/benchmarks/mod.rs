//! Problems from files: our own task format and public data sets, one file per format.
//!
//! Loaders parse, they never run anything. Whatever is wrong with a file is said with its line, and column or field.

mod assertions;
mod benchmark;
mod changed_lines;
mod data_file;
mod docstring;
mod error;
mod feedback;
mod guessed;
mod humaneval;
mod humaneval_java;
mod humaneval_x;
mod humanevalfix;
mod java_bugs;
mod joined;
mod json_array;
mod known_faults;
mod mbpp;
mod mistake;
mod names;
mod output_rule;
mod prompt_head;
mod psb2;
mod python_syntax;
mod quixbugs;
mod records;
mod samples;
mod separated;
mod spaces;
mod split;
mod suites;
mod table_tests;
mod task_file;
mod task_folder;
mod text_file;
mod toml_section;
mod translation;
mod unchecked;

pub use assertions::assertions;
pub use benchmark::{BENCHMARKS, Benchmark, benchmark};
pub use error::BenchmarkError;
pub use feedback::with_feedback;
pub use guessed::guessed_tests;
pub use mistake::{Mistake, Mistakes, Place};
pub use samples::{Sample, SampleText, load_samples};
pub use split::Split;
pub use suites::listed_assertions;
pub use task_file::load_task;
pub use task_folder::load_dir;
pub use translation::{Source, Sources};
