use crate::domain::Task;

/// A named part of a data set: the same tasks in every run, so that what is shown and what is scored stay apart.
#[derive(Clone, Copy, Debug)]
pub struct Split {
    /// Its name in files and on the command line.
    pub name: &'static str,
    /// Whether a task of the data set is in it.
    pub holds: fn(&Task) -> bool,
}

impl Split {
    /// The whole data set: the only split of one whose authors divide nothing, and of task files.
    pub const ALL: Self = Self { name: "all", holds: |_| true };
}
