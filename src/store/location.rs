use std::path::PathBuf;

/// The folder of the store where none is named: `rolecall` in the user's data directory (`XDG_DATA_HOME`, else
/// `~/.local/share`; XDG Base Directory Specification). `None` where the user has no home.
pub fn store_folder(variable: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = absolute("XDG_DATA_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/share")))?;
    Some(data.join("rolecall"))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::store_folder;

    #[test]
    fn the_users_data_directory_unless_there_is_none() {
        let of = |variables: &[(&str, &str)]| {
            store_folder(|name| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
        };
        assert_eq!(of(&[("XDG_DATA_HOME", "/d"), ("HOME", "/h")]), Some(PathBuf::from("/d/rolecall")));
        assert_eq!(of(&[("HOME", "/h")]), Some(PathBuf::from("/h/.local/share/rolecall")));
        assert_eq!(
            of(&[("XDG_DATA_HOME", "relative"), ("HOME", "/h")]),
            Some(PathBuf::from("/h/.local/share/rolecall"))
        );
        assert_eq!(of(&[]), None);
    }
}
