//! [`ports_above`]: the tunnels and sub-interfaces that share a port. [`shapers_above_port`]: the rule for
//! shapers whose rates together exceed the rate of that port.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use perhop_lint::{Diagnostic, rules};
use perhop_qos::Rate;

use crate::forwarding::TunnelSource;
use crate::port::Port;

/// Maximum number of shaped ports that a message names.
const MOST_NAMES: usize = 3;

/// Maximum depth of nested ports. A tunnel in a tunnel over a sub-interface has depth 4.
const DEEPEST: usize = 8;

/// Finds the port below a tunnel or a sub-interface.
#[derive(Debug)]
pub struct PortsBelow<'a> {
    by_interface: BTreeMap<&'a str, &'a Port>,
    by_address: BTreeMap<IpAddr, &'a Port>,
}

impl<'a> PortsBelow<'a> {
    /// Creates the lookup for the ports of a device.
    pub fn new(ports: &'a [Port]) -> PortsBelow<'a> {
        let (mut by_interface, mut by_address) = (BTreeMap::new(), BTreeMap::new());
        for port in ports {
            by_interface.entry(port.interface.as_str()).or_insert(port);
            for own in &port.addresses {
                by_address.entry(own.address).or_insert(port);
            }
        }
        PortsBelow { by_interface, by_address }
    }

    /// Returns the port that carries the packets of `port`; `None` if `port` is not above another port.
    fn below(&self, port: &Port) -> Option<&'a Port> {
        let source = port.forwarding.tunnel.as_ref().and_then(|tunnel| tunnel.source.as_ref());
        let line = match source.map(|source| &source.value) {
            Some(TunnelSource::Interface(name)) => self.by_interface.get(name.as_str()).copied(),
            Some(TunnelSource::Address(address)) => self.by_address.get(address).copied(),
            None => None,
        };
        let parent = line.unwrap_or(port).forwarding.parent.as_deref();
        parent.and_then(|parent| self.by_interface.get(parent).copied()).or(line)
    }

    /// Returns the name of the lowest port that carries the packets of `port`.
    pub fn line_of<'p>(&self, port: &'p Port) -> &'p str
    where
        'a: 'p,
    {
        let down = std::iter::successors(Some(port), |port| self.below(port));
        down.take(DEEPEST).last().map_or(port.name.as_str(), |lowest| lowest.name.as_str())
    }
}

/// Returns the tunnels and sub-interfaces that are up and whose packets leave through the port `below`.
pub fn ports_above<'a>(ports: &'a [Port], below: &Port) -> Vec<&'a Port> {
    let found = PortsBelow::new(ports);
    let is_above = |port: &&Port| found.below(port).is_some_and(|carrier| carrier.name == below.name);
    ports.iter().filter(|port| !port.shutdown).filter(is_above).collect()
}

/// Returns a diagnostic for each port whose rate is less than the sum of the shaped rates of the ports above
/// it.
pub fn shapers_above_port(ports: &[Port]) -> Vec<Diagnostic> {
    let found = PortsBelow::new(ports);
    let mut above: BTreeMap<usize, CommonPort> = BTreeMap::new();
    for port in ports.iter().filter(|port| !port.shutdown) {
        if let (Some(below), Some(rate)) = (found.below(port), shaped_rate(port)) {
            let common = above.entry(below.line).or_insert(CommonPort { below, shaped: Vec::new() });
            common.shaped.push((port, rate));
        }
    }
    above.into_values().filter_map(|common| exceeded(common.below, &common.shaped)).collect()
}

/// Returns the interfaces that a diagnostic of [`shapers_above_port`] concerns: the common port and all ports
/// above it. `None` for diagnostics of other rules.
pub fn interfaces_of_common_port(ports: &[Port], diagnostic: &Diagnostic) -> Option<Arc<[String]>> {
    let is_below = |port: &&Port| port.line == diagnostic.line;
    let is_of_rule = diagnostic.rule.id == rules::SHAPERS_ABOVE_PORT.id;
    let below = ports.iter().find(is_below).filter(|_| is_of_rule)?;
    let all = std::iter::once(below).chain(ports_above(ports, below));
    Some(all.map(|port| port.interface.clone()).collect())
}

/// A port, and the shaped ports whose packets leave through it.
struct CommonPort<'a> {
    below: &'a Port,
    shaped: Vec<(&'a Port, Rate)>,
}

/// Returns the sum of the shaped rates of a port; `None` if some packets are not shaped.
fn shaped_rate(port: &Port) -> Option<Rate> {
    let classes = &port.output.queueing.as_ref()?.classes;
    let rates: Option<Vec<Rate>> = classes.iter().map(|class| class.shape.map(|shape| shape.rate)).collect();
    rates.filter(|rates| !rates.is_empty()).map(|rates| sum(rates.into_iter()))
}

fn exceeded(below: &Port, shaped: &[(&Port, Rate)]) -> Option<Diagnostic> {
    let rate = below.wire.rate.or(below.bandwidth)?;
    let sum = sum(shaped.iter().map(|(_, rate)| *rate));
    if shaped.len() < 2 || sum <= rate {
        return None;
    }
    let excess = Rate::from_bits_per_second(sum.as_bits_per_second() - rate.as_bits_per_second());
    let mut names: Vec<&str> = shaped.iter().map(|(port, _)| port.name.as_str()).take(MOST_NAMES).collect();
    let others = format!("{} others", shaped.len() - names.len());
    if shaped.len() > names.len() {
        names.push(&others);
    }
    Some(Diagnostic::new(
        &rules::SHAPERS_ABOVE_PORT,
        below.line,
        format!(
            "the shapers of {} add up to {sum}, {excess} more than the {rate} of {}",
            names.join(", "),
            below.name
        ),
        format!(
            "when all of them are busy, none gets its rate: `perhop run --whole-port {}` shows what each \
             class gets",
            below.name
        ),
    ))
}

fn sum(rates: impl Iterator<Item = Rate>) -> Rate {
    Rate::from_bits_per_second(rates.map(Rate::as_bits_per_second).fold(0, u64::saturating_add))
}
