//! [`Protocol`]: the protocol number of an IP packet.

use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::name_or_number::name_or_number;

/// The IP protocol number (RFC 790 and successors).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Protocol(pub u8);

impl Protocol {
    /// Internet control messages.
    pub const ICMP: Protocol = Protocol(1);
    /// Transmission control protocol.
    pub const TCP: Protocol = Protocol(6);
    /// User datagram protocol.
    pub const UDP: Protocol = Protocol(17);
}

impl FromStr for Protocol {
    type Err = String;
    fn from_str(text: &str) -> Result<Protocol, String> {
        match text.to_ascii_lowercase().as_str() {
            "icmp" => Ok(Protocol::ICMP),
            "tcp" => Ok(Protocol::TCP),
            "udp" => Ok(Protocol::UDP),
            other => other.parse().map(Protocol).map_err(|_| {
                format!("`{text}` is not a protocol: write tcp, udp, icmp or a number from 0 to 255")
            }),
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match *self {
            Protocol::ICMP => formatter.pad("icmp"),
            Protocol::TCP => formatter.pad("tcp"),
            Protocol::UDP => formatter.pad("udp"),
            Protocol(number) => formatter.pad(&number.to_string()),
        }
    }
}

name_or_number!(Protocol, 255, "a protocol: tcp, udp, icmp or a number from 0 to 255");
