//! The operators: each a general way in which programs go wrong, turned round. A file a group; every operator is one
//! row of its group's list, and [`all`] is the registry.

mod arguments;
mod arithmetic;
mod calls;
mod comparisons;
mod conditions;
mod constants;
mod insertions;
mod methods;
mod registry;
mod results;
mod slices;
mod statements;
mod variables;

pub(super) use registry::{Operator, all, propose};

use super::edit::Proposals;
