//! Where public data sets are looked for when no path is given.

use std::path::{Path, PathBuf};

use super::Benchmark;
use crate::store::store_folder;

/// The variable that names the folder of all data sets.
pub const DATASETS_VARIABLE: &str = "ROLECALL_DATASETS";

/// The folder of all data sets: what `ROLECALL_DATASETS` says, else `datasets` in the folder of the store. `None` where the
/// user has no home.
pub fn datasets_folder(variable: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let named = variable(DATASETS_VARIABLE).filter(|folder| !folder.is_empty()).map(PathBuf::from);
    named.or_else(|| store_folder(variable).map(|folder| folder.join("datasets")))
}

/// The folder of `benchmark` below the one of all data sets: the first that is there.
///
/// # Errors
/// None is there: all that were looked for.
pub fn located(benchmark: &dyn Benchmark, datasets: &Path) -> Result<PathBuf, Vec<PathBuf>> {
    let folders: Vec<PathBuf> = benchmark.folders().iter().map(|folder| datasets.join(folder)).collect();
    match folders.iter().find(|folder| folder.is_dir()) {
        Some(found) => Ok(found.clone()),
        None => Err(folders),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{datasets_folder, located};
    use crate::benchmarks::benchmark;

    #[test]
    fn a_folder_is_named_or_beside_the_runs() {
        let of = |variables: &[(&str, &str)]| {
            datasets_folder(|name| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
        };
        let home = ("HOME", "/h");
        assert_eq!(of(&[("ROLECALL_DATASETS", "data"), home]), Some(PathBuf::from("data")));
        let beside = Some(PathBuf::from("/h/.local/share/rolecall/datasets"));
        assert_eq!((of(&[("ROLECALL_DATASETS", ""), home]), of(&[home])), (beside.clone(), beside));
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn a_data_set_s_own_name_goes_before_that_of_its_authors() {
        let root = tempfile::tempdir().unwrap();
        let [own, authors] = ["humanevalfix", "humanevalpack"].map(|name| root.path().join(name));
        let fix = benchmark("humanevalfix").unwrap();
        assert_eq!(located(fix, root.path()), Err(vec![own.clone(), authors.clone()]));
        std::fs::create_dir(&authors).unwrap();
        assert_eq!(located(fix, root.path()), Ok(authors));
        std::fs::create_dir(&own).unwrap();
        assert_eq!(located(fix, root.path()), Ok(own));
    }
}
