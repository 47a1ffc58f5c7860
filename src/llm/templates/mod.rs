//! The built-in offline model: template-based repair of Python programs by edits of the syntax tree.
//!
//! Reading order: [`Templates`] (`model`) → `space` (all edits of a program, and their order) → `localisation`,
//! `prior` and `symptoms` (what decides the order) → `operators` (what is proposed) → `edit`, `scene`, `syntax` (what they work with).

mod catalogue;
mod edit;
mod expression;
mod kind;
mod literals;
mod localisation;
mod model;
mod names;
mod operators;
mod prior;
mod scene;
mod shape;
mod space;
mod symptoms;
mod syntax;

pub use catalogue::{OperatorInfo, operators};
pub use model::Templates;
