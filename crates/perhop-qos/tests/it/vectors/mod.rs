//! Reads the files of `vectors/`: cases that a person can check by hand.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The cases of `file`, a path in `vectors/`.
pub(crate) fn cases<T: DeserializeOwned>(file: impl AsRef<Path>) -> Vec<T> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File<T> {
        case: Vec<T>,
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../vectors").join(file);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let File { case } = toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert!(!case.is_empty(), "{} has no case", path.display());
    case
}
