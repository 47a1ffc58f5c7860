use std::{path::PathBuf, sync::Arc, time::Duration};

use rolecall::{
    conversation::Company,
    domain::Language,
    sandbox::{LocalSandbox, Sandbox},
};

use super::cast;

/// Conversations at once.
pub const AT_ONCE: usize = 64;

/// What two ways of doing the same are measured on.
pub struct Case {
    pub name: &'static str,
    delay: Duration,
    /// Where programs run; `None` where they do not.
    sandbox: Option<Arc<dyn Sandbox>>,
    pub conversations: u32,
    pub rounds: usize,
}

impl Case {
    /// A company for one round.
    pub fn company(&self) -> Company {
        let mut company = cast(self.delay);
        if let Some(sandbox) = &self.sandbox {
            company.sandbox = sandbox.clone();
        }
        company
    }
}

/// A model of 20 ms with programs that are run, as in a run; the same with nothing run, so that hardly anything is left but talk; and
/// a model that takes no time either.
pub async fn cases() -> [Case; 3] {
    let launcher = PathBuf::from(env!("CARGO_BIN_EXE_rolecall"));
    let sandbox = Arc::new(LocalSandbox::start(launcher, 2, &[Language::Python]).await.unwrap());
    let talk = |name, millis| Case {
        name,
        delay: Duration::from_millis(millis),
        sandbox: None,
        conversations: 192,
        rounds: 7,
    };
    let run = talk("20 ms a call, programs run", 20);
    [
        Case { sandbox: Some(sandbox), conversations: 64, rounds: 3, ..run },
        talk("20 ms a call, nothing run", 20),
        talk("0 ms a call, nothing run", 0),
    ]
}
