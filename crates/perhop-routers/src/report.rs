//! [`report`]: what there is to say of a router's configuration by itself.

use std::collections::{BTreeMap, BTreeSet};

use perhop_ios::platform::Evidence;
use perhop_ios::{Assumptions, Diagnostic, Dialect, Line, LineState, Platform, Profile, Recognition, Router};
use serde::Serialize;

/// What is asked for does not exist, or an assumption is no criterion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// What is wrong.
    pub message: String,
    /// How to correct it.
    pub help: String,
}

/// What becomes of the configuration `text` on the platform that it tells of itself, or on the one called
/// `platform`, with the classes of `assumptions` defined by match criteria; `detail` says how much of it.
///
/// # Errors
/// Where there is no such platform, or an assumption is no criterion.
pub fn report<T>(
    text: &str,
    platform: Option<&str>,
    assumptions: &Assumptions,
    detail: Detail,
    write: impl FnOnce(&Report) -> T,
) -> Result<T, Wrong> {
    if crate::is_tc(text, platform) {
        return Ok(crate::tc::report(text, platform.is_some(), detail, write));
    }
    let chosen =
        platform.map(|name| Platform::named(name).ok_or_else(|| unknown_platform(name))).transpose()?;
    let mut configuration = perhop_ios::parse_assuming(text, assumptions)
        .map_err(|(class, help)| Wrong { message: format!("assume {class}"), help })?;
    let recognition = Recognition::of(&configuration);
    let is_chosen = chosen.is_some();
    let platform = chosen.unwrap_or_else(|| Platform::of(recognition.profile));
    let router = perhop_ios::convert(&mut configuration, &platform);
    let dependencies = configuration.dependencies();
    let lines = || configuration.lines.iter().filter(|line| !line.is_blank('!'));
    let count = |state| lines().filter(|line| line.state == state).count();
    let diagnosed: BTreeSet<usize> = configuration.diagnostics.iter().map(|one| one.line).collect();
    let is_shown = |line: &&Line| match detail {
        Detail::Policies | Detail::Lines => true,
        Detail::Remarks => line.state.differs() || diagnosed.contains(&line.number),
    };
    let report = Report {
        platform: PlatformReport {
            profile: Named::Ios(platform.profile),
            dialect: Named::Ios(recognition.dialect),
            supported: recognition.dialect.is_supported(),
            chosen: is_chosen,
            certain: is_chosen || recognition.certain,
            because: Because::Ios(&recognition.because),
        },
        lines: lines().filter(is_shown).collect(),
        counts: LineState::ALL
            .map(|state| (state.to_string().replace(' ', "-"), count(state)))
            .into_iter()
            .collect(),
        diagnostics: configuration
            .diagnostics
            .iter()
            .map(|diagnostic| Concerning {
                diagnostic,
                interfaces: dependencies.used_by(diagnostic.line),
                fixed: diagnostic.fix.as_ref().and_then(|fix| {
                    let line = configuration.lines.get(fix.line.checked_sub(1)?)?;
                    Some(fix.apply(&line.text))
                }),
            })
            .collect(),
        router: (detail == Detail::Policies).then_some(RouterReport::Ios(&router)),
    };
    Ok(write(&report))
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

/// A diagnostic, the interfaces that it concerns, and its line mended.
#[derive(Debug, Serialize)]
pub(crate) struct Concerning<'a> {
    #[serde(flatten)]
    pub(crate) diagnostic: &'a Diagnostic,
    pub(crate) interfaces: Vec<&'a str>,
    /// What its line had better be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fixed: Option<String>,
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

fn unknown_platform(name: &str) -> Wrong {
    let message = format!("there is no platform `{name}`");
    Wrong { message, help: format!("platforms: {}, linux", Platform::NAMES.join(", ")) }
}
