//! [`report`]: the diagnostics, lines and policies of a router's configuration by itself.

use std::collections::BTreeSet;

use perhop_ios::{Assumptions, Platform, Recognition};
use perhop_lint::{Line, LineState};

use crate::contents::{
    Because, Concerning, Detail, Listing, Named, PlatformReport, Report, RouterReport, Wrong,
};
use crate::tc;

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
    if tc::is_tc(text, platform) {
        return Ok(tc::report(text, platform.is_some(), detail, write));
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
    let mut listing = Listing::new();
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
            .map(|diagnostic| {
                let (interfaces, further_interfaces) = listing.list(dependencies.used_by(diagnostic.line));
                let fixed = diagnostic.fix.as_ref().and_then(|fix| {
                    let line = configuration.lines.get(fix.line.checked_sub(1)?)?;
                    Some(fix.apply(&line.text))
                });
                Concerning { diagnostic, interfaces, further_interfaces, fixed }
            })
            .collect(),
        router: (detail == Detail::Policies).then_some(RouterReport::Ios(&router)),
    };
    Ok(write(&report))
}

fn unknown_platform(name: &str) -> Wrong {
    let message = format!("there is no platform `{name}`");
    Wrong { message, help: format!("platforms: {}, linux", Platform::NAMES.join(", ")) }
}
