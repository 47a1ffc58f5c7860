//! What benches of conversations have in common.

pub mod case;
mod median;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use rolecall::{
    conversation::Company,
    llm::{
        ChatModel,
        scripted::{Line, Scripted},
    },
};

pub use median::median;

use crate::{
    stage::{MadeUpSandbox, company},
    support::{mix, seidr},
};

/// The SEIDR cast with 60 programs a conversation, on a talkative model that takes this long for each call and a sandbox that runs
/// nothing. Each cast writes programs of its own: what was run once is not run again.
pub fn cast(delay: Duration) -> Company {
    static CASTS: AtomicU64 = AtomicU64::new(0);
    let number = CASTS.fetch_add(1, Ordering::Relaxed);
    let model: Arc<dyn ChatModel> = Arc::new(Scripted::with(move |request, _| {
        let text = |choice| {
            format!("```python\ndef f(x):\n    return {}\n```\n", mix(request.seed ^ number, u64::from(choice)))
        };
        let texts: Vec<String> = (0..request.choices).map(text).collect();
        Line::say_all(texts).usage(10, 5).delay(delay)
    }));
    Arc::into_inner(company(seidr(4, 4, 60), model, MadeUpSandbox::by_text(), None)).unwrap()
}
