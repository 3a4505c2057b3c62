//! The nodes of a port: its own node, the nodes of sets of units, and the nodes of units.

use std::collections::BTreeMap;

use perhop_device::intent::At;
use perhop_device::lower::ClassLinks;
use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_qos::scheduler::{Cells, LinkLayerConfig, SchedulerConfig, ShareConfig};
use perhop_qos::{ByteSize, Rate};

use super::device::{Device, Findings, links_of};
use super::queues::{Queues, QueuesAt, queues};
use super::shares::LEAST_BURST;
use crate::cos::{Amount, Attached, ExcessRate, Overhead, Profile};

/// The bytes of a VLAN tag.
pub(super) const TAG: u16 = 4;
/// The name of the node of units without their own node.
pub(super) const REMAINING: &str = "remaining";
/// The guarantee of a node without `guaranteed-rate` if other nodes have a guarantee, bits per second. The
/// documents call it "very small".
const LEAST_GUARANTEE: u64 = 1000;

/// The rates of a node, with the names of their sources.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    pub(super) name: String,
    /// Whether it is the port itself.
    pub(super) is_port: bool,
    pub(super) scheduler_map: Option<At<String>>,
    /// Bits per second.
    pub(super) shaping: Option<u64>,
    pub(super) guaranteed: Option<u64>,
    /// The guarantee after scaling, bits per second.
    pub(super) scaled: Option<u64>,
    /// The configured rate that buffers refer to.
    delay_buffer: Option<u64>,
    /// Bytes.
    burst: Option<u64>,
    excess: Option<ExcessRate>,
    overhead: Overhead,
    lines: Vec<usize>,
}

impl Node {
    /// Returns the node of attachments below a node with `rate`. Percentages refer to this rate.
    pub(super) fn from_attachments(
        name: &str,
        attached: &Attached,
        profile: Option<&Profile>,
        rate: u64,
    ) -> Node {
        let Some(profile) = profile else {
            let lines = [attached.shaping_rate.map(|at| at.line), attached.shaping_burst.map(|at| at.line)];
            return Node {
                name: name.to_owned(),
                scheduler_map: attached.scheduler_map.clone(),
                shaping: attached.shaping_rate.map(|at| at.value.min(rate)),
                burst: attached.shaping_burst.map(|at| at.value),
                lines: lines.into_iter().flatten().collect(),
                ..Node::default()
            };
        };
        let bits = |at: Option<At<Amount>>| match at?.value {
            Amount::Rate(bits) => Some(bits),
            Amount::Percent(percent) => Some((u128::from(rate) * u128::from(percent) / 100) as u64),
            Amount::Remainder => None,
        };
        let attachment = attached.profile.as_ref().or(attached.remaining.as_ref());
        Node {
            name: name.to_owned(),
            is_port: false,
            scheduler_map: profile.scheduler_map.clone().or_else(|| attached.scheduler_map.clone()),
            shaping: bits(profile.shaping).map(|bits| bits.min(rate)),
            guaranteed: bits(profile.guaranteed).map(|bits| bits.min(rate)),
            scaled: None,
            delay_buffer: bits(profile.delay_buffer),
            burst: profile.burst.map(|at| at.value),
            excess: profile.excess.map(|at| at.value),
            overhead: profile.overhead.map(|at| at.value).unwrap_or_default(),
            lines: attachment.map(|at| at.line).into_iter().chain(profile.lines()).collect(),
        }
    }

    /// Whether a statement configures queues or rates of the node.
    pub(super) fn is_written(&self) -> bool {
        self.scheduler_map.is_some() || !self.lines.is_empty()
    }

    /// Returns the line of the first statement about the rates of the node.
    pub(super) fn first_line(&self) -> Option<usize> {
        self.lines.first().copied()
    }

    /// Returns the node as the node of the port.
    pub(super) fn into_port(self) -> Node {
        Node { is_port: true, ..self }
    }

    /// Returns the rate that percentages of its queues refer to (Junos CoS User Guide, "transmit-rate": the
    /// nearest shaper).
    fn reference(&self, around: u64) -> u64 {
        self.shaping.unwrap_or(around)
    }

    /// Returns the rate that its buffers refer to: the guarantee if the node has one (a vMX prints 1 564 672
    /// bytes for 50 % of a node of 50 Mb/s; Junos CoS User Guide, "delay-buffer-rate").
    fn buffer_rate(&self, around: u64) -> u64 {
        self.delay_buffer.or(self.guaranteed).or(self.shaping).unwrap_or(around)
    }

    /// Returns the bytes that the node counts for a packet. `None` if the node counts fewer bytes than the IP
    /// packet has.
    fn link_layer(&self, counted: u16) -> Option<LinkLayerConfig> {
        let bytes = i32::from(counted) + self.overhead.bytes;
        Some(LinkLayerConfig {
            overhead: u16::try_from(bytes).ok()?,
            cells: if self.overhead.is_cells { Cells::Atm } else { Cells::None },
            ..LinkLayerConfig::default()
        })
    }
}

/// The nodes of a port, from the outermost node to the node that contains the queues, and their common
/// properties.
pub(super) struct Nodes<'n> {
    pub(super) port: &'n str,
    pub(super) line: usize,
    pub(super) line_rate: Rate,
    /// The rate around the outermost node, bits per second.
    pub(super) around: u64,
    /// The bytes that the nodes count for a packet in addition to its IP bytes.
    pub(super) counted: u16,
    pub(super) has_accepted: bool,
    pub(super) mode: Mode,
    pub(super) chain: Vec<Node>,
}

/// The mode of the nodes under a port.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mode {
    /// The port has no nodes inside.
    Flat,
    /// No node has a guarantee, so nodes share by their shaping rates.
    Peak,
    /// A node has a guarantee.
    Committed,
}

/// The guarantees of the nodes under a port.
#[derive(Debug)]
pub(super) struct Guarantees {
    /// Whether a node has a guarantee.
    pub(super) has_any: bool,
    /// The sums of the guarantees inside the node at a path of names, bits per second.
    pub(super) sums: BTreeMap<Vec<String>, u128>,
}

impl Guarantees {
    /// Sums the guarantees of nodes, which `units` lists from the outermost node of each unit inward.
    pub(super) fn new(units: &[Vec<Node>]) -> Guarantees {
        // All units of a set list the node of the set, which must count once.
        let mut guarantees: BTreeMap<Vec<String>, u64> = BTreeMap::new();
        for nodes in units {
            let mut path: Vec<String> = Vec::new();
            for node in nodes {
                path.push(node.name.clone());
                guarantees.insert(path.clone(), node.guaranteed.unwrap_or(0));
            }
        }
        let mut sums: BTreeMap<Vec<String>, u128> = BTreeMap::new();
        for (mut path, bits) in guarantees {
            path.pop();
            *sums.entry(path).or_default() += u128::from(bits);
        }
        Guarantees { has_any: units.iter().flatten().any(|node| node.guaranteed.is_some()), sums }
    }
}

impl Nodes<'_> {
    /// Returns the classes of the nodes around the queues of the innermost one.
    pub(super) fn queues(&self, device: Device, findings: &mut Findings) -> Queues {
        let (mut reference, mut buffer_rate, mut layers) = (self.around, self.around, Vec::new());
        for node in &self.chain {
            let link_layer = node.link_layer(self.counted).unwrap_or_else(|| {
                for line in &node.lines {
                    findings.not_modeled(*line, "`overhead-accounting` that counts less than IP bytes");
                }
                Node::default().link_layer(self.counted).unwrap_or_default()
            });
            (reference, buffer_rate) = (node.reference(reference), node.buffer_rate(reference));
            layers.push((node, reference, link_layer));
        }
        let place = vec![0; self.chain.len()];
        let innermost = self.chain.last();
        let at = QueuesAt {
            name: self.port,
            line: self.line,
            scheduler_map: innermost.and_then(|node| node.scheduler_map.as_ref()),
            reference: Rate::from_bits_per_second(reference),
            port_rate: match self.mode {
                Mode::Flat => Rate::from_bits_per_second(reference),
                Mode::Peak | Mode::Committed => self.line_rate,
            },
            buffer_rate: Rate::from_bits_per_second(buffer_rate),
            link_layer: layers.last().map(|(_, _, link_layer)| *link_layer).unwrap_or_default(),
            is_in_node: self.mode != Mode::Flat,
            place: &place,
            has_accepted: self.has_accepted,
        };
        let Queues { mut config, links: mut inner } = queues(device, at, findings);
        let mut links: Vec<ClassLinks> = Vec::new();
        for (depth, (node, reference, link_layer)) in layers.iter().enumerate().rev() {
            if !node.lines.is_empty() {
                let own = links_of(0, &node.lines, None);
                links.push(ClassLinks { node: Some(vec![0; depth + 1]), ..own });
            }
            let class = ClassConfig {
                name: node.name.clone(),
                share: self.share(device, node, *reference, *link_layer),
                queueing: Some(config),
                ..ClassConfig::default()
            };
            let scheduler = SchedulerConfig::GuaranteeExcess;
            config = QueueingConfig { scheduler, classes: vec![class], ..QueueingConfig::default() };
        }
        links.reverse();
        links.append(&mut inner);
        for (index, link) in links.iter_mut().enumerate() {
            link.class.0 = index;
        }
        Queues { config, links }
    }

    /// Returns the share of a node; `reference` is the rate of the parent node.
    fn share(&self, device: Device, node: &Node, reference: u64, link_layer: LinkLayerConfig) -> ShareConfig {
        let default = |rate: u64| rate / 8 * device.rules.shaper_burst_ms / 1000;
        let burst = |rate: u64| ByteSize::from_bytes(node.burst.unwrap_or(default(rate)).max(LEAST_BURST));
        let guaranteed = match self.mode {
            Mode::Committed if !node.is_port => {
                Some(node.scaled.unwrap_or(LEAST_GUARANTEE).clamp(1, reference.max(1)))
            }
            _ => None,
        };
        // TechLibrary hierarchical-scheduler-priority-propagation: nodes share the excess in the ratio of
        // their guarantees, or of their shaping rates if no node has a guarantee; `excess-rate` replaces
        // both.
        let weight = match (node.excess, guaranteed) {
            (Some(ExcessRate::Percent(percent)), _) => f64::from(percent).max(0.1),
            (Some(ExcessRate::Proportion(number)), _) => (number as f64 / 10.0).max(0.1),
            (None, Some(bits)) => bits as f64 / 1e6,
            (None, None) => reference as f64 / 1e6,
        };
        ShareConfig {
            rate: guaranteed.map(Rate::from_bits_per_second),
            burst: guaranteed.map(burst),
            ceil: node.shaping.map(|bits| Rate::from_bits_per_second(bits.max(1))),
            ceil_burst: node.shaping.map(burst),
            weight: (!node.is_port).then_some(weight.max(1e-6)),
            link_layer: Some(link_layer),
            ..ShareConfig::default()
        }
    }
}
