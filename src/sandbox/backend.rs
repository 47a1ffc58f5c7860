use serde::{Deserialize, Serialize};

/// What keeps programs apart from this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Backend {
    /// Name spaces made with the rights of root, and an identity without rights in them.
    RootNamespaces,
    /// Name spaces inside a user name space, as an ordinary user makes them.
    UserNamespaces,
    /// Name spaces made by `bwrap`, where a user may make none but that program may.
    Bubblewrap,
    /// No name spaces: Landlock, a filter of system calls and limits alone.
    Reduced,
}

impl Backend {
    /// Those that isolate strictly, in the order in which they are tried.
    pub const STRICT: [Self; 3] = [Self::RootNamespaces, Self::UserNamespaces, Self::Bubblewrap];

    /// As records name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::RootNamespaces => "root_namespaces",
            Self::UserNamespaces => "user_namespaces",
            Self::Bubblewrap => "bubblewrap",
            Self::Reduced => "reduced",
        }
    }

    /// Whether every program gets name spaces of its own; else one follows another in the same place, which then serves
    /// one execution only.
    pub(super) fn parts_programs(self) -> bool {
        matches!(self, Self::RootNamespaces | Self::UserNamespaces)
    }
}

/// The backends that a sandbox may use: the first that passes its test is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backends(Vec<Backend>);

impl Backends {
    /// Those that isolate strictly.
    pub fn strict() -> Self {
        Self(Backend::STRICT.to_vec())
    }

    /// The weaker one, which nobody gets without asking for it.
    pub fn reduced() -> Self {
        Self::only(Backend::Reduced)
    }

    /// This one or none.
    pub fn only(backend: Backend) -> Self {
        Self(vec![backend])
    }

    /// In the order in which they are tried.
    pub fn list(&self) -> &[Backend] {
        &self.0
    }
}
