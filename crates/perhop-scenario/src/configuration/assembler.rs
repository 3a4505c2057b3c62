//! [`Assembler`]: the interface to the layer that reads router configurations.

use std::path::Path;

use crate::Scenario;
use crate::diagnostic::{Diagnostic, Severity};
use crate::document::Document;
use crate::path::ValuePath;

/// Applies the configurations of routers to a scenario.
pub trait Assembler: Sync {
    /// Returns `written` with the router configurations converted to policies, rates, framings and transmit
    /// rings of interfaces. Also returns the diagnostics about these configurations, with positions in
    /// `document`. Relative paths are relative to `base`.
    fn assemble(&self, document: &Document, written: &Scenario, base: &Path) -> (Scenario, Vec<Diagnostic>);
}

/// Applies the router configurations of `written` with `assembler`. Without an assembler, each configuration
/// is an error.
pub(crate) fn assemble(
    document: &Document,
    written: &Scenario,
    base: &Path,
    assembler: Option<&dyn Assembler>,
) -> (Scenario, Vec<Diagnostic>) {
    let mut found = names_without_configuration(document, written);
    let Some(assembler) = assembler else {
        for (name, router) in &written.routers {
            if router.configuration.is_some() {
                let path = ValuePath::from("routers").join(name).join("configuration");
                let message = "router configurations are not supported here";
                let refused = document.diagnostic(Severity::Error, &path, message);
                found.push(refused.help("load the scenario with an assembler"));
            }
        }
        return (written.clone(), found);
    };
    let (scenario, further) = assembler.assemble(document, written, base);
    found.extend(further);
    (scenario, found)
}

/// Reports interface names at routers that have no configuration.
fn names_without_configuration(document: &Document, written: &Scenario) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (index, link) in written.links.iter().enumerate() {
        for node in &link.between {
            let has_configuration =
                written.routers.get(node).is_some_and(|router| router.configuration.is_some());
            let Some(interface) = link.interfaces.get(node).filter(|_| !has_configuration) else { continue };
            let set = [("name", interface.name.is_some()), ("carries", !interface.carries.is_empty())];
            for (key, _) in set.into_iter().filter(|(_, is_set)| *is_set) {
                let path = ValuePath::from("links").join(index).join("interfaces").join(node).join(key);
                let message = format!("`{node}` has no configuration, and so no interface of this name");
                let refused = document.diagnostic(Severity::Error, &path, message);
                found.push(refused.help(format!("remove `{key}`, or give the router a `configuration`")));
            }
        }
    }
    found
}
