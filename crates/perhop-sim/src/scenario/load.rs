//! From a file to a checked [`Scenario`]: the one entry point for every front end.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use perhop_qos::policy::PolicyConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Scenario;
use super::decode::decode;
use super::diagnostic::{Diagnostic, Diagnostics, Severity};
use super::document::Document;
use super::path::ValuePath;
use super::validate::{validate_policies, validate_scenario};

/// A scenario that can be run.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// What to run, overrides put in.
    pub scenario: Scenario,
    /// The directory that paths in the scenario are relative to.
    pub base: PathBuf,
    /// What is probably not meant.
    pub warnings: Vec<Diagnostic>,
}

/// Policies without a scenario around them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PolicySet {
    /// Policies by name.
    pub policies: BTreeMap<String, PolicyConfig>,
}

/// What a file turned out to be when it was checked.
#[derive(Clone, Debug)]
pub enum Checked {
    /// A scenario.
    Scenario(Box<Loaded>),
    /// Policies alone.
    Policies(PolicySet),
}

/// The scenario in the file `path`, each of `overrides` (path, YAML text) put in, checked.
///
/// # Errors
/// Everything that is wrong with it.
pub fn load(path: &Path, overrides: &[(String, String)]) -> Result<Loaded, Diagnostics> {
    let mut document = Document::read(path)?;
    apply(&mut document, overrides)?;
    load_document(&document, directory_of(path))
}

/// The scenario `value`, whose paths are relative to `base`, checked.
///
/// # Errors
/// Everything that is wrong with it.
pub fn load_json(value: Value, base: impl Into<PathBuf>) -> Result<Loaded, Diagnostics> {
    load_document(&Document::from_json(value), base.into())
}

/// The scenario in `document`, whose paths are relative to `base`, checked.
///
/// # Errors
/// Everything that is wrong with it.
pub fn load_document(document: &Document, base: impl Into<PathBuf>) -> Result<Loaded, Diagnostics> {
    let base = base.into();
    refuse_other_than_mapping(document)?;
    let scenario: Scenario = decode(document)?;
    let warnings = validate_scenario(document, &scenario, &base)?;
    Ok(Loaded { scenario, base, warnings })
}

/// Checks the file `path`: a scenario, policies by name under `policies`, or one bare policy.
///
/// # Errors
/// Everything that is wrong with it.
pub fn check(path: &Path) -> Result<Checked, Diagnostics> {
    let document = Document::read(path)?;
    let has = |key: &str| document.value.get(key).is_some();
    let set = match () {
        () if ["perhop", "hosts", "links", "traffic"].into_iter().any(has) => None,
        () if has("policies") => Some(decode::<PolicySet>(&document)?),
        () if has("conditioners") || has("queueing") => {
            let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
            let policy = decode::<PolicyConfig>(&document)?;
            validate_policies(&document, [(ValuePath::root(), &policy)])?;
            return Ok(Checked::Policies(PolicySet { policies: BTreeMap::from([(name, policy)]) }));
        }
        () => None,
    };
    let Some(set) = set else {
        return load_document(&document, directory_of(path))
            .map(|loaded| Checked::Scenario(Box::new(loaded)));
    };
    let places = set.policies.iter().map(|(name, policy)| (ValuePath::from("policies").join(name), policy));
    validate_policies(&document, places)?;
    Ok(Checked::Policies(set))
}

/// Puts every override in; what cannot be put in is reported together.
fn apply(document: &mut Document, overrides: &[(String, String)]) -> Result<(), Diagnostics> {
    let refused: Vec<Diagnostic> = overrides
        .iter()
        .filter_map(|(path, text)| document.set(path, text).err().map(|refused| *refused))
        .collect();
    if refused.is_empty() { Ok(()) } else { Err(Diagnostics::new(refused)) }
}

fn directory_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// An empty file, or one that is only a list or a word, has no keys to speak of.
fn refuse_other_than_mapping(document: &Document) -> Result<(), Diagnostics> {
    let message = match &document.value {
        Value::Object(_) => return Ok(()),
        Value::Null => "the scenario is empty",
        Value::Array(_) => "the scenario is a list",
        _ => "the scenario is a single value",
    };
    let help = "a scenario is a mapping that begins with `perhop: 1`; see the examples";
    Err(document.diagnostic(Severity::Error, &ValuePath::root(), message).help(help).into())
}
