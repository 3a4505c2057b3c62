//! Runs the shared classifier vectors of `vectors/classifier/`: cases that a person can check by hand.

use std::net::IpAddr;

use crate::vectors::cases;
use perhop_qos::classifier::MatchConfig;
use perhop_qos::packet::{InterfaceId, LinkMark, Protocol};
use perhop_qos::policy::QueueingConfig;
use perhop_qos::port::PortClassifier;
use perhop_qos::{Color, Dscp, Packet};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MatchCase {
    name: String,
    #[serde(default, rename = "source")]
    _source: String,
    #[serde(default)]
    interfaces: Vec<String>,
    #[serde(rename = "match")]
    matches: MatchConfig,
    #[serde(default)]
    packet: Header,
    packets: Vec<Header<bool>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PortCase {
    name: String,
    queueing: QueueingConfig,
    packets: Vec<Header<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Refused {
    #[serde(rename = "match")]
    matches: Option<toml::Value>,
    queueing: Option<QueueingConfig>,
    path: Option<String>,
    found: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Header<E = ()> {
    source: Option<IpAddr>,
    destination: Option<IpAddr>,
    protocol: Option<Protocol>,
    source_port: Option<u16>,
    destination_port: Option<u16>,
    dscp: Option<Dscp>,
    color: Option<Color>,
    label: Option<u8>,
    cos: Option<LinkMark>,
    mpls_exp: Option<LinkMark>,
    length: Option<u32>,
    input: Option<String>,
    expect: Option<E>,
}

impl<E> Header<E> {
    /// Returns `packet` with the fields of this entry.
    fn write(&self, mut packet: Packet, interfaces: &[String]) -> Packet {
        packet.source = self.source.map_or(packet.source, Into::into);
        packet.destination = self.destination.map_or(packet.destination, Into::into);
        packet.protocol = self.protocol.unwrap_or(packet.protocol);
        packet.source_port = self.source_port.unwrap_or(packet.source_port);
        packet.destination_port = self.destination_port.unwrap_or(packet.destination_port);
        packet.dscp = self.dscp.unwrap_or(packet.dscp);
        packet.color = self.color.unwrap_or(packet.color);
        packet.label = self.label.unwrap_or(packet.label);
        if let Some(input) = &self.input {
            let index = interfaces.iter().position(|name| name == input).expect("a known interface");
            packet.input = InterfaceId(u16::try_from(index).unwrap()).into();
        }
        if let Some(cos) = self.cos {
            packet.set_cos(cos);
        }
        if let Some(exp) = self.mpls_exp {
            packet.set_exp(exp);
        }
        packet.length = self.length.unwrap_or(packet.length);
        packet
    }
}

#[test]
fn conditions() {
    for case in cases::<MatchCase>("classifier/match.toml") {
        let matches = case.matches.build(&case.interfaces).expect(&case.name);
        let base = case.packet.write(Packet::default(), &case.interfaces);
        for (index, header) in case.packets.iter().enumerate() {
            let packet = header.write(base, &case.interfaces);
            assert_eq!(Some(matches.matches(&packet)), header.expect, "\"{}\", packet {index}", case.name);
        }
    }
}

#[test]
fn classes_of_a_port() {
    for case in cases::<PortCase>("classifier/port.toml") {
        let classifier = PortClassifier::build(&case.queueing, &[]).expect(&case.name);
        let names = case.queueing.queue_names();
        for (index, header) in case.packets.iter().enumerate() {
            let packet = header.write(Packet::default(), &[]);
            let path = classifier.classify(&packet).map_or("none", |queue| &names[queue.index()]);
            let class = path.rsplit('/').next();
            assert_eq!(class, header.expect.as_deref(), "\"{}\", packet {index}", case.name);
        }
    }
}

#[test]
fn refused() {
    let interfaces = ["H1".to_owned(), "core".to_owned()];
    for case in cases::<Refused>("classifier/refused.toml") {
        let built = match (case.matches, &case.queueing) {
            (Some(text), None) => match text.try_into::<MatchConfig>() {
                Err(unreadable) => {
                    assert!(unreadable.to_string().contains(&case.found), "{unreadable}");
                    assert_eq!(case.path, None);
                    continue;
                }
                Ok(config) => config.build(&interfaces).map(|_| ()),
            },
            (None, Some(queueing)) => PortClassifier::build(queueing, &interfaces).map(|_| ()),
            _ => panic!("a case has a match or a queueing"),
        };
        let error = built.expect_err(&case.found);
        assert_eq!(Some(error.path.join(".")), case.path, "{error}");
        assert!(error.to_string().contains(&case.found), "{error}\nexpected: {}", case.found);
        assert!(error.help.is_some(), "{error} says nothing about what would be right");
    }
}
