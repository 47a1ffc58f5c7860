//! Arrangements: the checked plan of who takes part and who sends what to whom.

mod plan;

pub use plan::{BudgetLimits, Edge, Feedback, Node, Parents, Plan, PromptRef, Requires, Source, When};
