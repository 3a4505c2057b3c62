//! Commands and output of Linux' `tc`, behind the loader's trait and as a report.

use std::collections::BTreeSet;

use perhop_lint::{LineState, Severity};
use perhop_scenario::{ConfiguredPort, ConfiguredRouter, Finding};

use crate::contents::{Because, Concerning, Detail, Named, PlatformReport, Report, RouterReport, Sign};
use crate::not_simulated::not_simulated;

/// The platform of such a configuration.
const PLATFORM: &str = "linux";

/// Whether `text` is for `tc`: the platform says so, or the text where there is none.
pub fn is_tc(text: &str, platform: Option<&str>) -> bool {
    platform.map_or_else(|| perhop_tc::is_configuration(text), |name| name == PLATFORM)
}

/// The devices of `text`.
pub(crate) fn read(text: &str) -> ConfiguredRouter {
    let mut configuration = perhop_tc::parse(text);
    let router = perhop_tc::convert(&mut configuration);
    let serious = configuration.diagnostics.iter().filter(|found| found.severity != Severity::Note);
    let mut findings: Vec<Finding> = serious
        .map(|found| Finding {
            rule: found.rule,
            line: found.line,
            interfaces: configuration.device_of(found.line).map(|device| [device.to_owned()].into()),
            message: found.message.clone(),
            help: found.router.clone(),
        })
        .collect();
    findings.extend(not_simulated(&configuration.lines));
    let port = |port: perhop_tc::Port| ConfiguredPort {
        name: port.name,
        interface: port.interface,
        line: port.line,
        addresses: port.addresses,
        input: port.input,
        output: port.output,
        mtu: port.wire.mtu,
        shutdown: port.shutdown,
        ..ConfiguredPort::default()
    };
    ConfiguredRouter { ports: router.ports.into_iter().map(port).collect(), findings }
}

/// What there is to say of `text`, handed to `write`.
pub(crate) fn report<T>(text: &str, is_chosen: bool, detail: Detail, write: impl FnOnce(&Report) -> T) -> T {
    let mut configuration = perhop_tc::parse(text);
    let router = perhop_tc::convert(&mut configuration);
    let lines = || configuration.lines.iter().filter(|line| !line.is_blank('#'));
    let diagnosed: BTreeSet<usize> = configuration.diagnostics.iter().map(|one| one.line).collect();
    let is_shown = |line: &&perhop_lint::Line| {
        detail != Detail::Remarks || line.state.differs() || diagnosed.contains(&line.number)
    };
    let first = lines().find(|line| line.state == LineState::Modelled);
    let says = "commands or output of tc";
    let sign = first.map(|line| Sign { line: line.number, text: &line.text, says });
    let count = |state: LineState| lines().filter(|line| line.state == state).count();
    write(&Report {
        platform: PlatformReport {
            profile: Named::Linux(PLATFORM),
            dialect: Named::Linux(PLATFORM),
            supported: true,
            chosen: is_chosen,
            certain: true,
            because: Because::Tc(sign.into_iter().collect()),
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
                interfaces: configuration.device_of(diagnostic.line).into_iter().collect(),
                further_interfaces: 0,
                fixed: diagnostic.fix.as_ref().and_then(|fix| {
                    let line = configuration.lines.get(fix.line.checked_sub(1)?)?;
                    Some(fix.apply(&line.text))
                }),
            })
            .collect(),
        router: (detail == Detail::Policies).then_some(RouterReport::Tc(&router)),
    })
}
