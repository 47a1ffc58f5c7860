use crate::config::{ConfigPath, Mistake, Place, did_you_mean, embedded_file, embedded_names, listed, quoted};

/// Where the shipped arrangements are, below `config/`.
const FOLDER: &str = "topologies";

/// An arrangement as it is asked for: the bare name of a shipped one (`seidr`), or the path of a file, which has a `/`
/// in it or ends in `.toml`. Nothing in a path is expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopologyRef(pub String);

impl TopologyRef {
    /// The names of the shipped arrangements, sorted.
    pub fn shipped() -> Vec<String> {
        embedded_names(FOLDER, ".toml")
    }

    /// The file that is meant; relative paths are relative to the folder of `from`, or to the current folder.
    ///
    /// # Errors
    /// A mistake at `place` where a bare name is none of the shipped ones.
    pub(super) fn locate(&self, from: Option<&ConfigPath>, place: &Place) -> Result<ConfigPath, Mistake> {
        let reference = self.0.as_str();
        if reference.contains('/') || reference.ends_with(".toml") {
            return Ok(from.map_or_else(|| ConfigPath::Disk(reference.into()), |from| from.beside(reference)));
        }
        let path = format!("{FOLDER}/{reference}.toml");
        if embedded_file(&path).is_some() {
            return Ok(ConfigPath::Embedded(path));
        }
        let shipped = Self::shipped();
        let message = format!("no arrangement {} is shipped{}", quoted(reference), did_you_mean(reference, &shipped));
        let hint = format!("shipped: {}; the path of a file has a `/` in it or ends in .toml", listed(shipped));
        Err(Mistake::at(place, message).hint(hint))
    }
}

impl From<&str> for TopologyRef {
    fn from(reference: &str) -> Self {
        Self(reference.to_owned())
    }
}
