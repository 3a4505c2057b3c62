//! [`PacketText`]: the text notation of a packet, in which a [`Witness`](crate::Witness) is printed.

use std::net::IpAddr;
use std::str::{FromStr, SplitWhitespace};

use perhop_qos::Packet;
use perhop_qos::packet::{Address, LinkMark, Protocol};

/// A packet as written: `tcp 10.1.2.3:443 > 10.9.8.7:50123 dscp af21 len 1500 cos 5 in Gi0/1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketText {
    /// The packet, without its interface. Without `len`, it has 500 IP bytes.
    pub packet: Packet,
    /// The interface on which it arrives, as written.
    pub input: Option<String>,
    /// The VLAN of the tag with which it arrives.
    pub vlan: Option<u16>,
}

const USUAL_BYTES: u32 = 500;
/// The VLANs that a tag can name (IEEE 802.1Q §9.6).
const VLANS: std::ops::RangeInclusive<u16> = 1..=4094;
const SHAPE: &str = "write a packet as `udp 192.0.2.1:50000 > 198.51.100.1:16384 dscp ef len 200`";

impl FromStr for PacketText {
    type Err = String;

    /// # Errors
    /// A part cannot be parsed. The error contains the part and its valid form.
    fn from_str(text: &str) -> Result<PacketText, String> {
        let mut words = text.split_whitespace();
        let protocol: Protocol = next(&mut words, "a protocol")?.parse()?;
        let has_ports = matches!(protocol, Protocol::TCP | Protocol::UDP);
        let (source, source_port) = end(next(&mut words, "a source")?, has_ports)?;
        if next(&mut words, "`>`")? != ">" {
            return Err(format!("`>` is missing after the source; {SHAPE}"));
        }
        let (destination, destination_port) = end(next(&mut words, "a destination")?, has_ports)?;
        if source.is_ipv4() != destination.is_ipv4() {
            return Err("source and destination must have one family: both IPv4 or both IPv6".to_owned());
        }
        let packet = Packet {
            protocol,
            source: Address::from(source),
            destination: Address::from(destination),
            source_port,
            destination_port,
            length: USUAL_BYTES,
            ..Packet::default()
        };
        let mut read = PacketText { packet, input: None, vlan: None };
        while let Some(key) = words.next() {
            let value = next(&mut words, &format!("a value of `{key}`"))?;
            read.set(key, value)?;
        }
        Ok(read)
    }
}

impl PacketText {
    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let packet = &mut self.packet;
        match key {
            "dscp" => packet.dscp = value.parse()?,
            "len" | "length" => {
                let least = if packet.source.to_ip().is_ipv4() { 20 } else { 40 };
                let length = value.parse().ok().filter(|length| (least..=65535).contains(length));
                packet.length =
                    length.ok_or(format!("len {value}: write a number of IP bytes from {least} to 65535"))?;
            }
            "cos" => packet.set_cos(mark(key, value)?),
            "exp" => packet.set_exp(mark(key, value)?),
            "vlan" => {
                let vlan = value.parse().ok().filter(|vlan| VLANS.contains(vlan));
                self.vlan = Some(vlan.ok_or(format!("vlan {value}: write a number from 1 to 4094"))?);
            }
            "in" => self.input = Some(value.to_owned()),
            _ => return Err(format!("`{key}` is not one of dscp, len, cos, exp, vlan, in")),
        }
        Ok(())
    }
}

fn next<'a>(words: &mut SplitWhitespace<'a>, what: &str) -> Result<&'a str, String> {
    words.next().ok_or_else(|| format!("{what} is missing; {SHAPE}"))
}

fn mark(key: &str, value: &str) -> Result<LinkMark, String> {
    value.parse().map_err(|_| format!("{key} {value}: write a number from 0 to 7"))
}

/// Parses `10.1.2.3:443`, `[2001:db8::1]:443`, or an address without a port.
fn end(text: &str, has_ports: bool) -> Result<(IpAddr, u16), String> {
    if let Ok(address) = text.parse() {
        return Ok((address, 0));
    }
    let refused = || format!("`{text}` is neither an address nor an address with a port; {SHAPE}");
    let (address, port) = text.rsplit_once(':').ok_or_else(refused)?;
    let address = address.trim_start_matches('[').trim_end_matches(']').parse().map_err(|_| refused())?;
    let port = port.parse().map_err(|_| refused())?;
    if !has_ports {
        return Err(format!("`{text}` has a port: only tcp and udp have ports"));
    }
    Ok((address, port))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Witness;

    #[test]
    fn written_packets_are_read_back() {
        for text in [
            "udp 192.0.2.1:50000 > 198.51.100.1:9 dscp ef len 200",
            "tcp [2001:db8::1]:443 > [2001:db8::2]:50123 dscp af21 len 1500 cos 5 exp 3 in Gi0/1",
            "icmp 192.0.2.1 > 198.51.100.1 dscp default len 64",
        ] {
            let read: PacketText = text.parse().unwrap();
            let witness = Witness { packet: read.packet, input: read.input };
            assert_eq!(witness.to_string(), text);
        }
    }

    #[test]
    fn invalid_packets_are_refused() {
        for (text, expected) in [
            ("", "a protocol is missing"),
            ("tcp 10.0.0.1:80 10.0.0.2:90", "`>` is missing"),
            ("tcp 10.0.0.1:99999 > 10.0.0.2:1", "`10.0.0.1:99999` is neither an address nor"),
            ("icmp 10.0.0.1:8 > 10.0.0.2", "only tcp and udp have ports"),
            ("udp 10.0.0.1:1 > 2001:db8::1", "one family"),
            ("udp 10.0.0.1:1 > 10.0.0.2:2 len 19", "from 20 to 65535"),
            ("udp 10.0.0.1:1 > 10.0.0.2:2 tos 4", "`tos` is not one of"),
            ("udp 10.0.0.1:1 > 10.0.0.2:2 vlan 4095", "from 1 to 4094"),
            ("udp 10.0.0.1:1 > 10.0.0.2:2 dscp", "a value of `dscp` is missing"),
        ] {
            let error = text.parse::<PacketText>().unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
