use super::operators::all;

/// An operator as people see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperatorInfo {
    /// What notes and tables call it.
    pub name: &'static str,
    /// What it changes, in one line.
    pub summary: &'static str,
    /// A program …
    pub before: &'static str,
    /// … and what one of its proposals makes of it.
    pub after: &'static str,
}

/// Every operator of the model, group by group.
pub fn operators() -> impl Iterator<Item = OperatorInfo> {
    all().map(|operator| OperatorInfo {
        name: operator.name,
        summary: operator.summary,
        before: operator.before,
        after: operator.after,
    })
}
