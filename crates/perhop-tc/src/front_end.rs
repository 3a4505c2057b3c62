//! [`Tc`]: the implementation of the front-end interface for tc.

use perhop_device::show::Shows;
use perhop_device::{
    AddedInterface, Certainty, Concern, DeviceModel, Evidence, FrontEnd, OpenLine, ParseOptions, Recognition,
    RecognizedPlatform, Writer,
};
use perhop_lint::{Line, LineState, Rule};
use perhop_qos::{ConfigError, Rate};

use crate::configuration::Configuration;
use crate::convert::convert;
use crate::recognition::{parse, recognized};
use crate::rules;
use crate::statistics::TcShows;
use crate::write::TcWriter;

/// Commands and output of Linux' `tc`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tc;

/// The name of the platform.
const PLATFORM: &str = "linux";
/// The name of the device that perhop adds. No real configuration has such a device.
const ADDED: &str = "ether99";
/// The possible rates of the added device, Gb/s, slowest first.
const ADDED_GIGABITS: [u64; 3] = [10, 100, 400];
/// The device that has no physical line.
const LOOPBACK: &str = "lo";
/// The character that starts a shell comment.
const COMMENT: char = '#';

impl FrontEnd for Tc {
    fn name(&self) -> &'static str {
        "Linux tc"
    }

    fn platforms(&self) -> &'static [&'static str] {
        &[PLATFORM]
    }

    fn recognize(&self, text: &str) -> Option<Recognition> {
        let configuration = recognized(text)?;
        Some(Recognition { certainty: Certainty::Certain, because: evidence(&configuration.lines) })
    }

    fn rules(&self) -> &'static [&'static Rule] {
        rules::ALL
    }

    fn added_interface(&self, rate: Rate) -> AddedInterface {
        let rates = ADDED_GIGABITS.map(|gigabits| Rate::from_bits_per_second(gigabits * 1_000_000_000));
        AddedInterface {
            name: ADDED.to_owned(),
            command: format!("tc qdisc add dev {ADDED} root pfifo limit 1000"),
            rate: rates.into_iter().find(|candidate| *candidate >= rate).unwrap_or(rates[2]),
        }
    }

    fn writer(&self) -> Option<(&'static str, &dyn Writer)> {
        Some(("tc", &TcWriter))
    }

    fn shows(&self) -> Option<&dyn Shows> {
        Some(&TcShows)
    }

    fn has_line(&self, name: &str) -> bool {
        name != LOOPBACK
    }

    /// Reads `text`. Assumptions and hardware properties have no effect: a filter names its class, and the
    /// kernel has no tx-ring of a circuit.
    fn parse(&self, text: &str, options: &ParseOptions) -> Result<DeviceModel, ConfigError> {
        let mut configuration = parse(text);
        let router = convert(&mut configuration);
        let interfaces = |line| configuration.device_of(line).map(|device| [device.to_owned()].into());
        let concern = |diagnostic: &perhop_lint::Diagnostic| Concern {
            interfaces: interfaces(diagnostic.line),
            assumable: None,
            diagnostic: diagnostic.clone(),
        };
        let diagnostics = configuration.diagnostics.iter().map(concern).collect();
        let mut open_lines = OpenLine::all(&configuration.lines, interfaces);
        // The lines themselves are modeled; these rules report the effect of offloads, which perhop does not
        // model.
        let offloads = [rules::TC_POLICE_BURST_OFFLOAD.id, rules::TC_POLICE_BURST_GRO.id];
        let is_of_offloads = |found: &&perhop_lint::Diagnostic| offloads.contains(&found.rule.id);
        let partly = configuration.diagnostics.iter().filter(is_of_offloads).map(|found| found.line);
        open_lines.extend(partly.map(|line| OpenLine { line, interfaces: interfaces(line) }));
        open_lines.sort_by_key(|open| open.line);
        open_lines.dedup_by_key(|open| open.line);
        let Configuration { lines, .. } = configuration;
        let platform = RecognizedPlatform {
            name: PLATFORM.to_owned(),
            dialect: PLATFORM.to_owned(),
            system: "Linux".to_owned(),
            supported: true,
            chosen: options.platform.is_some(),
            certain: true,
            because: evidence(&lines),
            memory_rules: std::collections::BTreeMap::new(),
        };
        let (memory, unsimulated) = (None, None);
        Ok(DeviceModel {
            platform,
            lines,
            comment: COMMENT,
            diagnostics,
            open_lines,
            router,
            unsimulated,
            memory,
        })
    }
}

/// Returns the first line that is part of a policy.
fn evidence(lines: &[Line]) -> Vec<Evidence> {
    let is_command = |line: &&Line| line.state == LineState::Modelled && !line.is_blank(COMMENT);
    let says = "commands or output of tc";
    let found = lines.iter().find(is_command);
    found
        .map(|line| Evidence { line: line.number, text: line.text.to_string(), says: says.to_owned() })
        .into_iter()
        .collect()
}
