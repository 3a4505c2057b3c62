//! [`PacketsOfClasses`]: comparison of the packets that classes on several devices match, by test packets.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use perhop_analysis::PacketText;
use perhop_device::intent::{Class, Condition, VisibleHeader};
use perhop_qos::{Dscp, Packet};

use crate::snapshot::Snapshot;

/// Packets of the applications and protocols that access lists and classes commonly match.
const APPLICATIONS: [&str; 36] = [
    "udp 10.1.1.9:16500 > 10.2.2.9:16500",
    "udp 10.1.1.9:5060 > 10.2.2.9:5060",
    "tcp 10.1.1.9:50001 > 10.2.2.9:5060",
    "tcp 10.1.1.9:50001 > 10.2.2.9:2000",
    "tcp 10.1.1.9:50001 > 10.2.2.9:22",
    "tcp 10.1.1.9:50001 > 10.2.2.9:23",
    "tcp 10.1.1.9:50001 > 10.2.2.9:80",
    "tcp 10.1.1.9:50001 > 10.2.2.9:443",
    "tcp 10.1.1.9:50001 > 10.2.2.9:445",
    "tcp 10.1.1.9:50001 > 10.2.2.9:1433",
    "tcp 10.1.1.9:50001 > 10.2.2.9:1521",
    "tcp 10.1.1.9:50001 > 10.2.2.9:3389",
    "tcp 10.1.1.9:50001 > 10.2.2.9:179",
    "tcp 10.1.1.9:50001 > 10.2.2.9:646",
    "udp 10.1.1.9:646 > 224.0.0.2:646",
    "udp 10.1.1.9:50001 > 10.2.2.9:53",
    "udp 10.1.1.9:50001 > 10.2.2.9:161",
    "udp 10.1.1.9:50001 > 10.2.2.9:123",
    "icmp 10.1.1.9 > 10.2.2.9",
    "89 10.1.1.9 > 224.0.0.5",
    "88 10.1.1.9 > 224.0.0.10",
    "47 10.1.1.9 > 10.2.2.9",
    "tcp 10.1.1.9:179 > 10.2.2.9:50001",
    "tcp 10.1.1.9:646 > 10.2.2.9:50001",
    "tcp 10.1.1.9:50001 > 10.2.2.9:49",
    "udp 10.1.1.9:1985 > 224.0.0.2:1985",
    "udp 10.1.1.9:1985 > 224.0.0.102:1985",
    "112 10.1.1.9 > 224.0.0.18",
    "udp 10.1.1.9:49153 > 10.2.2.9:3784",
    "udp 10.1.1.9:49153 > 10.2.2.9:3785",
    "udp 10.1.1.9:500 > 10.2.2.9:500",
    "udp 10.1.1.9:4500 > 10.2.2.9:4500",
    "50 10.1.1.9 > 10.2.2.9",
    "103 10.1.1.9 > 224.0.0.13",
    "udp 10.1.1.9:520 > 224.0.0.9:520",
    "udp 10.1.1.9:50001 > 10.2.2.9:1813",
];
/// The values of CoS and EXP.
const MARKS: std::ops::Range<u8> = 0..8;
/// Maximum number of packets that a message names.
const FEW: usize = 4;

/// The test packets that only one of two classes matches.
pub(super) struct Difference<'p> {
    pub(super) more: Vec<&'p Packet>,
    pub(super) less: Vec<&'p Packet>,
}

impl Difference<'_> {
    /// Returns the difference as text, such as `matches cs5 and not ef`.
    pub(super) fn words(&self) -> String {
        match (self.more.is_empty(), self.less.is_empty()) {
            (false, false) => format!("matches {} and not {}", names(&self.more), names(&self.less)),
            (false, true) => format!("also matches {}", names(&self.more)),
            _ => format!("does not match {}", names(&self.less)),
        }
    }
}

/// Returns the packets as text. The text of a packet is its EXP, CoS or codepoint, otherwise its protocol and
/// port.
fn names(packets: &[&Packet]) -> String {
    let mut found: Vec<String> = packets.iter().map(|packet| name(packet)).collect();
    found.dedup();
    let more = found.len().saturating_sub(FEW);
    found.truncate(FEW);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    found.join(", ") + &rest
}

fn name(packet: &Packet) -> String {
    if let Some(exp) = packet.exp() {
        return format!("exp {}", exp.value());
    }
    if let Some(cos) = packet.cos() {
        return format!("cos {}", cos.value());
    }
    if packet.dscp != Dscp::default() {
        return packet.dscp.to_string();
    }
    format!("protocol {} port {}", packet.protocol, packet.destination_port)
}

/// The sets of test packets that classes match. Equal sets have one number.
pub(super) struct PacketsOfClasses<'s> {
    probes: Vec<Packet>,
    /// The number of the set of each class, by the memory address of the class. The lifetime `'s` guarantees
    /// that no class moves.
    known: BTreeMap<usize, usize>,
    classes: PhantomData<&'s Class>,
    sets: Vec<Vec<bool>>,
    numbers: BTreeMap<Vec<bool>, usize>,
}

impl Default for PacketsOfClasses<'_> {
    fn default() -> Self {
        let codepoints = (0..64).filter_map(Dscp::new).map(super::treatment::packet);
        let text = |text: &str| text.parse::<PacketText>().ok().map(|read| read.packet);
        let of_frames = |field| {
            MARKS.filter_map(move |value| {
                text(&format!("udp 203.0.113.1:49152 > 203.0.113.2:49152 {field} {value}"))
            })
        };
        let applications = APPLICATIONS.iter().filter_map(|application| text(application));
        let probes = codepoints.chain(of_frames("exp")).chain(of_frames("cos")).chain(applications).collect();
        PacketsOfClasses {
            probes,
            known: BTreeMap::new(),
            classes: PhantomData,
            sets: Vec::new(),
            numbers: BTreeMap::new(),
        }
    }
}

impl<'s> PacketsOfClasses<'s> {
    /// Returns the number of the set of packets that a class matches. Equal sets have the same number.
    pub(super) fn number_of(&mut self, class: &'s Class) -> usize {
        let address = std::ptr::from_ref(class).addr();
        if let Some(number) = self.known.get(&address) {
            return *number;
        }
        let set: Vec<bool> = match &class.condition {
            Condition::When(config) => match config.build(&[]) {
                Ok(matches) => self.probes.iter().map(|packet| matches.matches(packet)).collect(),
                Err(_) => vec![false; self.probes.len()],
            },
            Condition::Always => vec![true; self.probes.len()],
            Condition::Never => vec![false; self.probes.len()],
        };
        let next = self.sets.len();
        let number = *self.numbers.entry(set.clone()).or_insert(next);
        if number == next {
            self.sets.push(set);
        }
        self.known.insert(address, number);
        number
    }

    /// Whether two classes match the same packets.
    pub(super) fn are_same(&mut self, class: &'s Class, other: &'s Class) -> bool {
        self.number_of(class) == self.number_of(other)
    }

    /// Returns, for each test packet, the indexes of the classes that match it.
    pub(super) fn matching(&mut self, classes: &'s [Class]) -> Vec<Vec<usize>> {
        let numbers: Vec<usize> = classes.iter().map(|class| self.number_of(class)).collect();
        let of_packet = |packet: usize| {
            let matches = |place: &usize| classes[*place].takes_rest || self.sets[numbers[*place]][packet];
            (0..classes.len()).filter(matches).collect()
        };
        (0..self.probes.len()).map(of_packet).collect()
    }

    /// Whether both classes match a common test packet. False if `other` is the default class.
    pub(super) fn share(&mut self, class: &'s Class, other: &'s Class) -> bool {
        if other.takes_rest {
            return false;
        }
        let (own, other) = (self.number_of(class), self.number_of(other));
        self.sets[own].iter().zip(&self.sets[other]).any(|(own, other)| *own && *other)
    }

    /// Returns the difference of two sets: the packets that are only in `own`, and the packets that are only
    /// in `other`.
    pub(super) fn difference(&self, own: usize, other: usize) -> Difference<'_> {
        let only = |first: usize, second: usize| {
            let pairs = self.sets[first].iter().zip(&self.sets[second]).zip(&self.probes);
            pairs.filter(|((first, second), _)| **first && !**second).map(|(_, packet)| packet).collect()
        };
        Difference { more: only(own, other), less: only(other, own) }
    }
}

impl Snapshot<'_> {
    /// Returns the line by which a class of a policy matches a packet. For an access list, this is the line
    /// of the entry.
    pub(super) fn criterion_of_class(
        &self,
        device: usize,
        policy: &str,
        class: &str,
        packet: &Packet,
    ) -> Option<usize> {
        let lines =
            self.devices[device].device.class_lines()?.matched(policy, &[], packet, VisibleHeader::Ip);
        let own = lines.into_iter().next().filter(|matched| matched.class == class)?;
        own.criteria.last().copied()
    }
}
