//! [`Report`]: the content of a configuration, as `perhop check --json` prints it.

use std::collections::{BTreeMap, BTreeSet};

use perhop_lint::{Diagnostic, Line, LineState};
use perhop_qos::ConfigError;
use serde::Serialize;

use crate::model::{DeviceModel, RecognizedPlatform};
use crate::port::{LineKind, Port, Router};

/// The extent of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Every line, and the policies of the ports.
    Policies,
    /// Every line.
    Lines,
    /// The lines that need attention.
    Remarks,
}

impl Detail {
    /// Returns the detail with the name `name`.
    ///
    /// # Errors
    /// No detail has this name.
    pub fn named(name: &str) -> Result<Detail, ConfigError> {
        match name {
            "policies" => Ok(Detail::Policies),
            "lines" => Ok(Detail::Lines),
            "remarks" => Ok(Detail::Remarks),
            _ => Err(ConfigError::new("detail", format!("`{name}` is not a part of the report"))
                .help("the parts are policies, lines and remarks")),
        }
    }
}

/// The content of a configuration, as `perhop check --json` prints it.
#[derive(Debug, Serialize)]
pub struct Report<'a> {
    platform: &'a RecognizedPlatform,
    lines: Vec<&'a Line>,
    counts: BTreeMap<String, usize>,
    diagnostics: Vec<Reported<'a>>,
    /// Whether at least one interface with an address is certainly up.
    has_interface_up: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    router: Option<&'a Router>,
}

/// A diagnostic with its interfaces and the corrected line.
#[derive(Debug, Serialize)]
struct Reported<'a> {
    #[serde(flatten)]
    diagnostic: &'a Diagnostic,
    interfaces: Vec<&'a str>,
    /// The number of affected interfaces that are not listed.
    #[serde(skip_serializing_if = "is_zero")]
    further_interfaces: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    fixed: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    assumable: Option<&'a str>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde passes references
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Lists the interfaces of each diagnostic. After [`Listing::MOST`] names in a report, only the first
/// [`Listing::ALWAYS`] interfaces of each further diagnostic are listed.
struct Listing(usize);

impl Listing {
    /// The maximum number of interface names in a report, in addition to the first [`Listing::ALWAYS`] names
    /// of each diagnostic.
    const MOST: usize = 200_000;
    const ALWAYS: usize = 5;

    /// Returns the listed names, and the number of omitted names.
    fn list<'a>(&mut self, all: impl ExactSizeIterator<Item = &'a str>) -> (Vec<&'a str>, usize) {
        let length = all.len();
        let count = if length <= self.0 { length } else { length.min(Listing::ALWAYS) };
        self.0 = self.0.saturating_sub(count);
        (all.take(count).collect(), length - count)
    }
}

/// Whether packets certainly use `port`: a physical interface that is not shut down and has an address.
fn is_up(port: &Port) -> bool {
    let has_line = matches!(port.kind, Some(LineKind::Ethernet | LineKind::Serial));
    has_line && !port.shutdown && !port.addresses.is_empty()
}

impl DeviceModel {
    /// Returns the report of this device. Blank lines and comments are omitted.
    pub fn report(&self, detail: Detail) -> Report<'_> {
        let lines = || self.lines.iter().filter(|line| !line.is_blank(self.comment));
        let diagnosed: BTreeSet<usize> =
            self.diagnostics.iter().map(|diagnostic| diagnostic.diagnostic.line).collect();
        let is_shown = |line: &&Line| {
            detail != Detail::Remarks || line.state.differs() || diagnosed.contains(&line.number)
        };
        let mut listing = Listing(Listing::MOST);
        // An error of the whole device, such as a refused commit, concerns every port.
        let every: Vec<&str> = self.router.ports.iter().map(|port| port.interface.as_str()).collect();
        let count = |state| lines().filter(|line| line.state == state).count();
        Report {
            platform: &self.platform,
            lines: lines().filter(is_shown).collect(),
            counts: LineState::ALL
                .map(|state| (state.to_string().replace(' ', "-"), count(state)))
                .into_iter()
                .collect(),
            diagnostics: self
                .diagnostics
                .iter()
                .map(|entry| {
                    let (interfaces, further_interfaces) = match entry.interfaces.as_deref() {
                        Some(names) => listing.list(names.iter().map(String::as_str)),
                        None => listing.list(every.iter().copied()),
                    };
                    let fixed = self.fixed(&entry.diagnostic);
                    let assumable = entry.assumable.as_deref();
                    Reported {
                        diagnostic: &entry.diagnostic,
                        interfaces,
                        further_interfaces,
                        fixed,
                        assumable,
                    }
                })
                .collect(),
            has_interface_up: self.router.ports.iter().any(is_up),
            router: (detail == Detail::Policies).then_some(&self.router),
        }
    }

    /// Returns the corrected line of a diagnostic.
    fn fixed(&self, diagnostic: &Diagnostic) -> Option<String> {
        let fix = diagnostic.fix.as_ref()?;
        let line = self.lines.get(fix.line.checked_sub(1)?)?;
        Some(fix.apply(&line.text))
    }
}

#[cfg(test)]
mod tests {
    use super::Listing;

    #[test]
    fn a_report_lists_interfaces_up_to_a_limit() {
        let numbers: Vec<String> = (0..1_000).map(|n| format!("Serial{n}")).collect();
        let names: Vec<&str> = numbers.iter().map(String::as_str).collect();
        let mut listing = Listing(Listing::MOST);
        for diagnostic in 0..1_000 {
            let (listed, further) = listing.list(names.iter().copied());
            let is_whole = diagnostic < Listing::MOST / 1_000;
            assert_eq!((listed.len(), further), if is_whole { (1_000, 0) } else { (5, 995) });
        }
        assert_eq!(listing.list(names[..3].iter().copied()), (names[..3].to_vec(), 0));
    }
}
