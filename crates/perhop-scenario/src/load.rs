//! Loads a file into a checked [`Scenario`]: the entry point of every front end.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use perhop_qos::policy::PolicyConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::configuration::{Assembler, assemble};
use super::decode::decode;
use super::diagnostic::{Diagnostic, Diagnostics, Severity};
use super::document::Document;
use super::lint;
use super::path::ValuePath;
use super::validate::{validate_policies, validate_scenario};
use crate::scenario::Scenario;

/// A scenario that can be run.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The scenario as it was written, with overrides applied.
    pub scenario: Scenario,
    /// The scenario to run, with router configurations converted to policies.
    pub resolved: Scenario,
    /// The base directory of relative paths in the scenario.
    pub base: PathBuf,
    /// The warnings and notes about the scenario.
    pub warnings: Vec<Diagnostic>,
}

impl Loaded {
    /// Returns the scenario as it was written, with the texts of router configurations in place of file
    /// names, so that a run does not need those files.
    pub fn embedded(&self) -> Scenario {
        let mut scenario = self.scenario.clone();
        for configuration in scenario.routers.values_mut().filter_map(|router| router.configuration.as_mut())
        {
            *configuration = configuration.embedded(&self.base);
        }
        scenario
    }
}

/// Policies without a scenario.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PolicySet {
    /// Policies by name.
    pub policies: BTreeMap<String, PolicyConfig>,
}

/// The content of a checked file.
#[derive(Clone, Debug)]
pub enum Checked {
    /// A scenario.
    Scenario(Box<Loaded>),
    /// Only policies.
    Policies(PolicySet, Vec<Diagnostic>),
}

/// Loads scenarios, optionally with the configurations of routers.
#[derive(Clone, Copy, Default)]
pub struct Loader<'a> {
    assembler: Option<&'a dyn Assembler>,
}

impl<'a> Loader<'a> {
    /// Creates a loader that applies router configurations with `assembler`. [`Loader::default`] refuses
    /// router configurations.
    pub fn with(assembler: &'a dyn Assembler) -> Loader<'a> {
        Loader { assembler: Some(assembler) }
    }

    /// Loads and checks the scenario in the file `path`, with `overrides` (path, YAML text) applied.
    ///
    /// # Errors
    /// All errors and warnings, if there is any error.
    pub fn load(self, path: &Path, overrides: &[(String, String)]) -> Result<Loaded, Diagnostics> {
        let mut document = Document::read(path)?;
        apply(&mut document, overrides)?;
        self.load_document(&document, directory_of(path))
    }

    /// Checks the scenario in `document`, whose paths are relative to `base`.
    ///
    /// # Errors
    /// All errors and warnings, if there is any error.
    pub fn load_document(self, document: &Document, base: impl Into<PathBuf>) -> Result<Loaded, Diagnostics> {
        let base = base.into();
        refuse_other_than_mapping(document)?;
        let scenario: Scenario = decode(document)?;
        let (resolved, found) = assemble(document, &scenario, &base, self.assembler);
        let warnings = validate_scenario(document, &resolved, &base, found)?;
        Ok(Loaded { scenario, resolved, base, warnings })
    }

    /// Returns the scenario in `document` with router configurations converted, without further checks. This
    /// function is for scenarios of earlier runs, whose trace files may not exist any more.
    ///
    /// # Errors
    /// The document cannot be decoded, or a configuration has errors.
    pub fn resolve(self, document: &Document, base: &Path) -> Result<Scenario, Diagnostics> {
        refuse_other_than_mapping(document)?;
        let (scenario, found) = assemble(document, &decode(document)?, base, self.assembler);
        let wrong: Vec<Diagnostic> =
            found.into_iter().filter(|diagnostic| diagnostic.severity == Severity::Error).collect();
        if wrong.is_empty() { Ok(scenario) } else { Err(Diagnostics::new(wrong)) }
    }

    /// Returns the findings of the lint rules for the scenario in `document`, without further checks. This
    /// function is for scenarios of earlier runs, whose trace files may not exist any more.
    ///
    /// # Errors
    /// The document cannot be decoded, or a configuration has errors.
    pub fn findings(self, document: &Document, base: &Path) -> Result<Vec<Diagnostic>, Diagnostics> {
        let scenario: Scenario = decode(document)?;
        let resolved = self.resolve(document, base)?;
        Ok(lint::check_scenario(document, &scenario, &resolved))
    }

    /// Checks the file `path`: a scenario, named policies under `policies`, or a single policy. Includes the
    /// findings of the lint rules.
    ///
    /// # Errors
    /// All errors and warnings, if there is any error.
    pub fn check(self, path: &Path) -> Result<Checked, Diagnostics> {
        let document = Document::read(path)?;
        let has = |key: &str| document.value.get(key).is_some();
        let is_scenario = ["perhop", "hosts", "links", "traffic"].into_iter().any(has);
        if !is_scenario && has("policies") {
            let set = decode::<PolicySet>(&document)?;
            let place = |name| ValuePath::from("policies").join(name);
            let placed = set.policies.iter().map(|(name, policy)| (place(name), policy));
            validate_policies(&document, placed.clone())?;
            let found = lint::check_policies(&document, placed);
            Ok(Checked::Policies(set, found))
        } else if !is_scenario && (has("conditioners") || has("queueing")) {
            bare_policy(&document, path)
        } else {
            let mut loaded = self.load_document(&document, directory_of(path))?;
            loaded.warnings.extend(lint::check_scenario(&document, &loaded.scenario, &loaded.resolved));
            Ok(Checked::Scenario(Box::new(loaded)))
        }
    }
}

/// Loads and checks the scenario in the file `path`, with `overrides` (path, YAML text) applied. Router
/// configurations are refused; [`Loader::with`] reads them.
///
/// # Errors
/// All errors and warnings, if there is any error.
pub fn load(path: &Path, overrides: &[(String, String)]) -> Result<Loaded, Diagnostics> {
    Loader::default().load(path, overrides)
}

/// Checks the scenario `value`, whose paths are relative to `base`. Router configurations are refused.
///
/// # Errors
/// All errors and warnings, if there is any error.
pub fn load_json(value: Value, base: impl Into<PathBuf>) -> Result<Loaded, Diagnostics> {
    Loader::default().load_document(&Document::from_json(value), base)
}

/// Decodes a document that is a single policy, named after its file.
fn bare_policy(document: &Document, path: &Path) -> Result<Checked, Diagnostics> {
    let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let policy = decode::<PolicyConfig>(document)?;
    validate_policies(document, [(ValuePath::root(), &policy)])?;
    let found = lint::check_policies(document, std::iter::once((ValuePath::root(), &policy)));
    Ok(Checked::Policies(PolicySet { policies: BTreeMap::from([(name, policy)]) }, found))
}

/// Applies every override and reports all errors.
fn apply(document: &mut Document, overrides: &[(String, String)]) -> Result<(), Diagnostics> {
    let mut refused = |(path, text): &(String, String)| document.set(path, text).err();
    let refused: Vec<Diagnostic> =
        overrides.iter().filter_map(|set| refused(set).map(|diagnostic| *diagnostic)).collect();
    if refused.is_empty() { Ok(()) } else { Err(Diagnostics::new(refused)) }
}

fn directory_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Refuses an empty file, a list and a single value.
fn refuse_other_than_mapping(document: &Document) -> Result<(), Diagnostics> {
    let message = match &document.value {
        Value::Object(_) => return Ok(()),
        Value::Null => "the scenario is empty",
        Value::Array(_) => "the scenario is a list",
        _ => "the scenario is a single value",
    };
    let help = "a scenario is a mapping with `perhop: 1`; see the examples";
    Err(document.diagnostic(Severity::Error, &ValuePath::root(), message).help(help).into())
}
