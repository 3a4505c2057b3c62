//! Reports policers of the control plane that pass less traffic than the neighbors of a routing protocol
//! send. After a failure, all neighbors send at once, and retransmit until they receive an answer. Therefore
//! a policer must pass one packet of maximum length from each neighbor per retransmission interval. Hellos
//! and keepalives need far less (68 bytes in 10 s, 59 bytes in 60 s).

mod neighbors;

use std::collections::BTreeMap;

use perhop_analysis::{Conditioned, conditioned};
use perhop_device::PortRole;
use perhop_lint::Diagnostic;
use perhop_qos::action::Action;
use perhop_qos::conditioner::ConditionerConfig;
use perhop_qos::meter::MeterConfig;
use perhop_qos::policy::PolicyConfig;
use perhop_qos::{Packet, Rate};

use crate::convert::context::Context;
use crate::convert::ports::ConvertedPort;
use crate::rules;
use neighbors::{LONGEST, Neighbors, Protocol, neighbors, plain_packet};

/// The neighbors of one protocol whose packets a conditioner matches.
struct Share {
    protocol: Protocol,
    neighbors: u64,
    is_assumed: bool,
    /// Whether the conditioner drops all packets of these neighbors.
    drops_all: bool,
}

impl Share {
    /// Returns the required bits per second, and the required packets per minute.
    fn need(&self) -> (u64, u64) {
        let (count, interval) = (self.neighbors, self.protocol.interval_s());
        (count * u64::from(LONGEST) * 8 / interval, count * 60 / interval)
    }

    fn words(&self) -> String {
        let Share { protocol, neighbors, is_assumed, .. } = self;
        let assumed = if *is_assumed { " (assumed: one on each interface)" } else { "" };
        let s = if *neighbors == 1 { "" } else { "s" };
        format!(
            "{neighbors} {} neighbor{s}{assumed}, each with a packet of {LONGEST} bytes per {} s ({})",
            protocol.name(),
            protocol.interval_s(),
            protocol.source()
        )
    }
}

impl Context<'_> {
    /// Reports policers of the control plane whose rate is too low for routing protocols.
    pub(in crate::convert) fn routing_needs(&mut self, ports: &[ConvertedPort]) {
        let names: Vec<String> = ports.iter().map(|port| port.port.interface.clone()).collect();
        for ConvertedPort { port, input, .. } in ports {
            let Some(policy) = input else { continue };
            if port.forwarding.role != PortRole::ControlPlane {
                continue;
            }
            let mut shares: BTreeMap<usize, Vec<Share>> = BTreeMap::new();
            for protocol in Protocol::ALL {
                let neighbors = neighbors(self.configuration, protocol);
                for (index, share) in dropping_conditioners(&port.output, &names, &neighbors) {
                    shares.entry(index).or_default().push(share);
                }
            }
            for (index, shares) in shares {
                let class = port.links.output.class_of_conditioner(index);
                let demands = class.and_then(|links| port.intent.output.first()?.class(links.class));
                let police = demands.and_then(|class| class.police.as_ref()).map(|police| police.line);
                let line = police.or(class.map(|class| class.line)).unwrap_or(policy.line);
                let conditioner = &port.output.conditioners[index];
                self.found.extend(finding(conditioner, &shares, line));
            }
        }
    }
}

/// Returns the conditioners that drop some packets of the neighbors.
fn dropping_conditioners(
    policy: &PolicyConfig,
    names: &[String],
    neighbors: &Neighbors,
) -> Vec<(usize, Share)> {
    let mut found: BTreeMap<usize, Share> = BTreeMap::new();
    for packets in &neighbors.packets {
        let mut seen: BTreeMap<usize, bool> = BTreeMap::new();
        for packet in packets {
            let Some((index, drops_all)) = dropping(policy, names, packet) else { continue };
            // Without a `router` block, it is unknown whether the protocol runs. Packets of the protocol then
            // count only if their class matches no other packets.
            let is_named = || {
                let other = dropping(policy, names, &plain_packet(packet));
                other.is_none_or(|(other, _)| other != index)
            };
            if neighbors.is_configured.unwrap_or_else(is_named) {
                seen.entry(index).and_modify(|all| *all |= drops_all).or_insert(drops_all);
            }
        }
        for (index, drops_all) in seen {
            let share = found.entry(index).or_insert(Share {
                protocol: neighbors.protocol,
                neighbors: 0,
                is_assumed: neighbors.is_assumed,
                drops_all: false,
            });
            share.neighbors += 1;
            share.drops_all |= drops_all;
        }
    }
    found.into_iter().collect()
}

/// Returns the first conditioner that can drop `packet`, and whether it drops the packet for every color.
fn dropping(policy: &PolicyConfig, names: &[String], packet: &Packet) -> Option<(usize, bool)> {
    // The reader of the policy has already reported a condition that cannot be built.
    let ways = conditioned(policy, names, packet).ok()?;
    let last = |way: &Conditioned| way.steps.last().map(|step| step.index);
    let index = ways.iter().filter(|way| way.dropped).find_map(last)?;
    Some((index, ways.iter().all(|way| way.dropped)))
}

/// The maximum rate of the traffic that passes a conditioner.
enum Limit {
    Nothing,
    Bits(Rate),
    PacketsPerSecond(u64),
}

fn limit(conditioner: &ConditionerConfig) -> Option<Limit> {
    let drops_yellow = conditioner.yellow.contains(&Action::Drop);
    if conditioner.green.contains(&Action::Drop) || conditioner.actions.contains(&Action::Drop) {
        return Some(Limit::Nothing);
    }
    Some(match conditioner.meter.as_ref()? {
        MeterConfig::TokenBucket(config) => Limit::Bits(config.rate),
        MeterConfig::TokenBucketWithDebt(config) => Limit::Bits(config.rate),
        MeterConfig::SingleRateTcm(config) => Limit::Bits(config.cir),
        MeterConfig::TwoRateTcm(config) => Limit::Bits(if drops_yellow { config.cir } else { config.pir }),
        MeterConfig::PacketRate(config) => Limit::PacketsPerSecond(config.rate.as_packets_per_second()),
        _ => return None,
    })
}

fn finding(conditioner: &ConditionerConfig, shares: &[Share], line: usize) -> Option<Diagnostic> {
    let class = conditioner.name.as_deref().unwrap_or("control-plane");
    let bits: u64 = shares.iter().map(|share| share.need().0).sum();
    let per_minute: u64 = shares.iter().map(|share| share.need().1).sum();
    let protocols: Vec<&str> = shares.iter().map(|share| share.protocol.name()).collect();
    let protocols = protocols.join(" and ");
    let message = match limit(conditioner)? {
        Limit::Nothing => format!("class {class} drops packets of {protocols} to the router itself"),
        Limit::Bits(rate) if rate.as_bits_per_second() < bits => format!(
            "class {class} polices {protocols} to {rate}, but the neighbors may need {}",
            Rate::from_bits_per_second(bits)
        ),
        Limit::PacketsPerSecond(packets) if packets * 60 < per_minute => format!(
            "class {class} polices {protocols} to {packets} packets/s, but the neighbors may need {:.1}",
            per_minute as f64 / 60.0
        ),
        Limit::Bits(_) | Limit::PacketsPerSecond(_) => return None,
    };
    let needs: Vec<String> = shares.iter().map(Share::words).collect();
    let remedy = format!(
        "after a failure all neighbors send at once, and drops end the routing sessions: {}",
        needs.join("; ")
    );
    Some(Diagnostic::new(&rules::CONTROL_PLANE_RATE_LOW, line, message, remedy))
}
