//! A router for tests. It is built from a configuration, and its conditioners process packets.

use perhop_device::{Attachments, Port};
use perhop_ios::{Configuration, LineState, Platform, Profile, convert, parse};
use perhop_qos::packet::{Encapsulation, Ingress, InterfaceId, LinkMark};
use perhop_qos::policy::PolicyConfig;
use perhop_qos::random::Streams;
use perhop_qos::{Dscp, Packet, Time, Verdict};

pub(crate) const PLAIN: Encapsulation = Encapsulation { tag: false, labels: false };
pub(crate) const TAGGED: Encapsulation = Encapsulation { tag: true, labels: false };
pub(crate) const LABELED: Encapsulation = Encapsulation { tag: false, labels: true };

/// A router, and its configuration with diagnostics.
pub(crate) struct Node {
    pub(crate) configuration: Configuration,
    pub(crate) ports: Vec<Port>,
}

impl Node {
    pub(crate) fn from_text(text: &str, profile: Profile) -> Node {
        let mut configuration = parse(text);
        let router = convert(&mut configuration, &Platform::for_profile(profile));
        Node { configuration, ports: router.ports }
    }
    pub(crate) fn port(&self, name: &str) -> &Port {
        let port = self.ports.iter().find(|port| port.name == name);
        port.unwrap_or_else(|| panic!("no port {name}"))
    }
    pub(crate) fn policies(&self, name: &str) -> &Attachments {
        self.port(name).attachments.as_ref().expect("policies as the router prints them")
    }
    /// The state of the only line that begins with `words`, and its note.
    pub(crate) fn line(&self, words: &str) -> (LineState, &str) {
        let mut lines = self.configuration.lines.iter().filter(|line| line.text.trim().starts_with(words));
        let line = lines.next().unwrap_or_else(|| panic!("no line {words}"));
        (line.state, line.note.as_deref().unwrap_or(""))
    }
    pub(crate) fn says(&self, part: &str) -> bool {
        self.configuration.diagnostics.iter().any(|found| found.to_string().contains(part))
    }
    /// Whether a diagnostic of this rule was found.
    pub(crate) fn has_finding(&self, rule: &str) -> bool {
        self.configuration.diagnostics.iter().any(|found| found.rule.id == rule)
    }
    /// Returns `packet` after the input policy of `port`.
    pub(crate) fn receives(&self, port: &str, packet: Packet, link: Encapsulation) -> Packet {
        self.receive_all(port, &[packet], link)[0]
    }
    /// Returns the packets that the input policy of `port` passes if `packets` arrive at once.
    pub(crate) fn receive_all(&self, port: &str, packets: &[Packet], link: Encapsulation) -> Vec<Packet> {
        let mut conditioner = conditioner(&self.port(port).input);
        let arrive = |mut packet: Packet| {
            let marked = packet;
            packet.arrive(Ingress::new(InterfaceId(0), link));
            packet.marks = marked.marks;
            matches!(conditioner.condition(Time::ZERO, &mut packet), Verdict::Pass).then_some(packet)
        };
        packets.iter().copied().filter_map(arrive).collect()
    }
    /// Returns `packet` after the conditioners of the output policy of `port`.
    pub(crate) fn sends(&self, port: &str, mut packet: Packet, link: Encapsulation) -> Packet {
        let mut conditioner = conditioner(&self.port(port).output).leaving_by(link);
        assert!(matches!(conditioner.condition(Time::ZERO, &mut packet), Verdict::Pass));
        packet
    }
}

pub(crate) fn conditioner(policy: &PolicyConfig) -> perhop_qos::conditioner::TrafficConditioner {
    let built = policy.build_conditioner(&["GigabitEthernet0/0".to_owned()], &Streams::new(1, 0));
    built.unwrap_or_else(|error| panic!("{error}"))
}

/// A packet of 500 bytes with its Ethernet header, which policers count.
pub(crate) fn packet(dscp: &str) -> Packet {
    Packet { dscp: dscp.parse::<Dscp>().unwrap(), length: 486, ..Packet::default() }
}

pub(crate) fn with_cos(packet: Packet, cos: u8) -> Packet {
    let mut packet = packet;
    packet.set_cos(LinkMark::new(cos).unwrap());
    packet
}

pub(crate) fn with_exp(packet: Packet, exp: u8) -> Packet {
    let mut packet = packet;
    packet.set_exp(LinkMark::new(exp).unwrap());
    packet
}

pub(crate) fn cos(packet: Packet) -> Option<u8> {
    packet.cos().map(LinkMark::value)
}

pub(crate) fn exp(packet: Packet) -> Option<u8> {
    packet.exp().map(LinkMark::value)
}
