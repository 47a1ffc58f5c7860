//! Trace files read back: listed, shown, followed, compared, drawn. Everything here works on files alone.

mod candidates;
mod difference;
mod document;
mod drawings;
mod finding;
mod following;
mod listing;
mod lookup;
mod page;
mod said;
mod show;
mod span;
mod steps;
mod stream;
mod times;
mod tree;
mod wording;

pub use candidates::Lineage;
pub use difference::{Difference, difference, difference_json};
pub use document::{SpanDocument, TraceDocument};
pub use drawings::{lineage_dot, lineage_json, lineage_mermaid, lineage_text};
pub use finding::{Hand, hand, trace_files};
pub use following::Follower;
pub use listing::{Listed, State, list};
pub use lookup::{LookupError, look_up};
pub use page::{Look, clean};
pub use show::show;
pub use span::{ReadSpan, SpanKey, attributes};
pub use steps::Steps;
pub use stream::{BadLine, MAX_LINE_BYTES, SpanLines};
pub use times::{duration, utc};
pub use tree::ReadTrace;
