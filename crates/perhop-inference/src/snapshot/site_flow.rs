//! [`SiteFlow`]: the packets of one class from one site to another, whose paths are not yet known.

use std::net::IpAddr;

use perhop_analysis::PacketText;
use perhop_network::snapshot::{NotRun, Site, Snapshot, Way, Ways};
use perhop_qos::{ConfigError, Packet};
use serde_json::{Map, Value, json};

use crate::header::Header;
use crate::role::Kind;
use crate::sources::{sending, streams};
use crate::traffic::{DATAGRAM, suited};

/// The first source port of packets without a configured port. It is dynamic (RFC 6335), so it belongs to no
/// known application.
const PORT: u16 = 49152;
/// The number of source ports for the flows of one class between two sites.
const PORTS: u16 = 64;
/// IP bytes of a packet of TCP for the walk.
const TCP_BYTES: u32 = 1500;

/// Packets of one class from one site to another.
#[derive(Clone, Debug)]
pub(super) struct SiteFlow {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) class: String,
    pub(super) header: Header,
    pub(super) kind: Kind,
    pub(super) packet_bytes: u32,
    /// The offered rate, bits per second.
    pub(super) rate: f64,
    /// The keys of the traffic entry that do not depend on sites and rate.
    pub(super) keys: Map<String, Value>,
    /// The index of the class among the classes between the two sites.
    pub(super) number: usize,
}

/// A flow with the paths of its packets and of their replies.
pub(super) struct Routed {
    pub(super) site_flow: SiteFlow,
    pub(super) there: Vec<Way>,
    pub(super) back: Vec<Way>,
}

/// The result of the walks of a flow.
pub(super) struct Walked {
    pub(super) routed: Result<Routed, Box<Unrouted>>,
    pub(super) assumed: Vec<String>,
    pub(super) not_looked_at: Vec<String>,
}

/// A flow without usable paths.
pub(super) struct Unrouted {
    pub(super) site_flow: SiteFlow,
    pub(super) is_reply: bool,
    pub(super) why: NotRun,
}

impl SiteFlow {
    /// Returns the same flow with another header. The protocol determines the kind of source.
    pub(super) fn with_header(&self, header: Header) -> SiteFlow {
        let mut keys = self.keys.clone();
        let protocol = header.protocol.as_deref().filter(|name| !["tcp", "udp"].contains(name));
        for (key, value) in [("dscp", header.dscp.as_deref()), ("protocol", protocol)] {
            match value {
                Some(value) => keys.insert(key.to_owned(), json!(value)),
                None => keys.remove(key),
            };
        }
        let kind = suited(self.kind, &header, true);
        let of_datagrams = if self.packet_bytes == 0 { DATAGRAM } else { self.packet_bytes };
        let packet_bytes = header.packet_bytes.unwrap_or(of_datagrams);
        SiteFlow { header, kind, packet_bytes, keys, ..self.clone() }
    }

    pub(super) fn is_tcp(&self) -> bool {
        matches!(self.kind, Kind::Transfers | Kind::Greedy)
    }

    fn protocol(&self) -> &str {
        self.header.protocol.as_deref().unwrap_or(if self.is_tcp() { "tcp" } else { "udp" })
    }

    fn ports(&self) -> [u16; 2] {
        let number = u16::try_from(self.number).unwrap_or(u16::MAX);
        let source = PORT.wrapping_add(number.wrapping_mul(PORTS)).max(1024);
        [self.header.source_port.unwrap_or(source), self.header.destination_port.unwrap_or(PORT)]
    }

    /// Returns a packet in the notation of `perhop trace`, without its ends: `udp 49152 > 49152 dscp ef`.
    pub(super) fn packet_text(&self) -> String {
        let protocol = self.protocol();
        let [source, destination] = self.ports();
        let ports = match protocol {
            "tcp" | "udp" => format!(" {source} > {destination}"),
            _ => String::new(),
        };
        let dscp = self.header.dscp.as_deref().unwrap_or("default");
        let bytes = if self.is_tcp() { TCP_BYTES } else { self.packet_bytes };
        format!("{protocol}{ports} dscp {dscp} len {bytes}")
    }

    fn packet(&self, [from, to]: [IpAddr; 2]) -> Result<Packet, ConfigError> {
        let end = |address: IpAddr| match address {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("[{address}]"),
        };
        let text = self.packet_text();
        let (protocol, rest) = text.split_once(' ').unwrap_or((&text, ""));
        let fields = rest.split_once("dscp").map_or("", |(_, fields)| fields);
        let [source, destination] = self.ports();
        let written = match protocol {
            "tcp" | "udp" => {
                format!("{protocol} {}:{source} > {}:{destination} dscp{fields}", end(from), end(to))
            }
            _ => format!("{protocol} {from} > {to} dscp{fields}"),
        };
        let read: PacketText =
            written.parse().map_err(|message: String| ConfigError::new("packet", message))?;
        Ok(read.packet)
    }

    /// Follows the packets to the receiver, and the replies of TCP to the sender.
    pub(super) fn walk(self, snapshot: &Snapshot, sites: &[Site]) -> Result<Walked, ConfigError> {
        let there = self.packet([sites[self.from].address, sites[self.to].address])?;
        let mut found = snapshot.ways(&there)?;
        let mut back = Vec::new();
        let mut is_reply = false;
        if self.is_tcp() && found.ways.is_ok() {
            let reply = Packet {
                source: there.destination,
                destination: there.source,
                source_port: there.destination_port,
                destination_port: there.source_port,
                ..there
            };
            let Ways { ways, assumed, not_looked_at } = snapshot.ways(&reply)?;
            found.assumed.extend(assumed);
            found.not_looked_at.extend(not_looked_at);
            match ways {
                Ok(ways) => back = ways,
                Err(why) => (found.ways, is_reply) = (Err(why), true),
            }
        }
        let routed = match found.ways {
            Ok(there) => Ok(Routed { site_flow: self, there, back }),
            Err(why) => Err(Box::new(Unrouted { site_flow: self, is_reply, why })),
        };
        Ok(Walked { routed, assumed: found.assumed, not_looked_at: found.not_looked_at })
    }

    /// Returns the entry of traffic between two hosts, and the kind of its packets as text.
    pub(super) fn entry(&self, sites: &[Site]) -> (Map<String, Value>, String) {
        let sent = match self.kind {
            Kind::Constant => streams(self.rate, self.packet_bytes),
            kind => sending(kind, self.rate, self.packet_bytes),
        };
        let mut entry = self.keys.clone();
        let mut set = |key: &str, value: Value| entry.insert(key.to_owned(), value);
        let [from, to] = [&sites[self.from].name, &sites[self.to].name];
        set("name", json!(format!("{from} > {to}: {}", self.class)));
        set("from", json!(from));
        set("to", json!(to));
        set("source", sent.source.clone());
        set("count", json!(sent.count));
        let [source, destination] = self.ports();
        if matches!(self.protocol(), "tcp" | "udp") {
            set("source-port", json!(source));
            set("destination-port", json!(destination));
        }
        if sent.count > 1 {
            set("start-within", json!("20ms"));
        }
        entry.remove("class");
        (entry, sent.words)
    }
}
