//! Arrangements: files that say who takes part and who sends what to whom, and the checked plan made of them.
//!
//! Loading has two phases. The first reads each file with the place of every key, checks its form and lays overlays over
//! their bases (`overlay`, `read`, `schema`). The second looks at the meaning: roles, models, prompts, edges, the shape
//! of the whole (`member`, `wiring`, `shape`, `limits`). Both collect every mistake rather than stop at the first.

mod budgets;
mod diff;
mod draft;
pub mod draw;
mod examples;
mod explain;
mod fingerprint;
mod graph;
mod limits;
mod load;
mod member;
mod models;
mod overlay;
mod overrides;
mod plan;
mod prompts;
mod read;
mod reference;
mod schema;
mod search;
mod shape;
mod unknown;
mod wiring;

pub use diff::{ChangedValue, OtherActor, OtherEdge, TopologyDiff, diff};
pub use examples::{ExampleSettings, ExampleSource};
pub use explain::{ExplainedSetting, SettingSource};
pub use load::{Checked, load_plan};
pub use overrides::{Override, Overrides};
pub use plan::{BudgetLimits, Edge, Feedback, Node, Plan, PromptRef, Requires, SharedBudgets, Source, When};
pub use reference::TopologyRef;
pub use schema::known_keys;
pub use search::{ChildOrder, Duplicates, Parents, Search, Stop, StopOn};
