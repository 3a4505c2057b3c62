//! [`Report`]: what a report of a configuration contains, in every language.

use std::collections::BTreeMap;

use perhop_ios::platform::Evidence;
use perhop_ios::{Dialect, Profile, Router};
use perhop_lint::{Diagnostic, Line};
use serde::Serialize;

/// What is asked for does not exist, or an assumption is no criterion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// What is wrong.
    pub message: String,
    /// How to correct it.
    pub help: String,
}

/// How much is said of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Every line, and the resulting policies.
    Policies,
    /// Every line.
    Lines,
    /// The lines that need attention.
    Remarks,
}

impl Detail {
    /// The detail called `name`.
    ///
    /// # Errors
    /// Where there is none of that name.
    pub fn named(name: &str) -> Result<Detail, Wrong> {
        match name {
            "policies" => Ok(Detail::Policies),
            "lines" => Ok(Detail::Lines),
            "remarks" => Ok(Detail::Remarks),
            _ => Err(Wrong {
                message: format!("there is no detail `{name}`"),
                help: "details: policies, lines, remarks".to_owned(),
            }),
        }
    }
}

/// What becomes of a configuration.
#[derive(Debug, Serialize)]
pub struct Report<'a> {
    pub(crate) platform: PlatformReport<'a>,
    pub(crate) lines: Vec<&'a Line>,
    pub(crate) counts: BTreeMap<String, usize>,
    pub(crate) diagnostics: Vec<Concerning<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) router: Option<RouterReport<'a>>,
}

/// What it amounts to.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum RouterReport<'a> {
    Ios(&'a Router),
    Tc(&'a perhop_tc::Router),
}

/// A name of a language of its own, or of `perhop-ios`.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Named<T> {
    Ios(T),
    Linux(&'static str),
}

/// The lines that tell.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Because<'a> {
    Ios(&'a [Evidence]),
    Tc(Vec<Sign<'a>>),
}

/// A line that tells, and what it says.
#[derive(Debug, Serialize)]
pub(crate) struct Sign<'a> {
    pub(crate) line: usize,
    pub(crate) text: &'a str,
    pub(crate) says: &'static str,
}

/// A diagnostic with the interfaces that it concerns and its corrected line.
#[derive(Debug, Serialize)]
pub(crate) struct Concerning<'a> {
    #[serde(flatten)]
    pub(crate) diagnostic: &'a Diagnostic,
    pub(crate) interfaces: Vec<&'a str>,
    /// The number of those that it concerns and that are not listed.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) further_interfaces: usize,
    /// What its line had better be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fixed: Option<String>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde passes references
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Lists the interfaces of diagnostics until a report has [`Listing::MOST`] names; then the first few alone.
pub(crate) struct Listing(usize);

impl Listing {
    /// Names of interfaces in a report at most, besides the first [`Listing::ALWAYS`] of each diagnostic.
    pub(crate) const MOST: usize = 200_000;
    pub(crate) const ALWAYS: usize = 5;

    pub(crate) fn new() -> Listing {
        Listing(Listing::MOST)
    }
    /// The names that are listed of `all`, and the number of the others.
    pub(crate) fn list<'a>(&mut self, all: &'a [String]) -> (Vec<&'a str>, usize) {
        let count = if all.len() <= self.0 { all.len() } else { all.len().min(Listing::ALWAYS) };
        self.0 = self.0.saturating_sub(count);
        (all[..count].iter().map(String::as_str).collect(), all.len() - count)
    }
}

/// The platform whose rules it is read by.
#[derive(Debug, Serialize)]
pub(crate) struct PlatformReport<'a> {
    pub(crate) profile: Named<Profile>,
    pub(crate) dialect: Named<Dialect>,
    pub(crate) supported: bool,
    pub(crate) chosen: bool,
    pub(crate) certain: bool,
    pub(crate) because: Because<'a>,
}

#[cfg(test)]
mod tests {
    use super::Listing;

    #[test]
    fn a_report_lists_interfaces_up_to_a_limit() {
        let names: Vec<String> = (0..1_000).map(|n| format!("Serial{n}")).collect();
        let mut listing = Listing::new();
        for diagnostic in 0..1_000 {
            let (listed, further) = listing.list(&names);
            let is_whole = diagnostic < Listing::MOST / 1_000;
            assert_eq!((listed.len(), further), if is_whole { (1_000, 0) } else { (5, 995) });
        }
        assert_eq!(listing.list(&names[..3]), (vec!["Serial0", "Serial1", "Serial2"], 0));
    }
}
