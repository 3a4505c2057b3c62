//! Parsing of a `permit` or `deny` line of an access list.

use std::net::Ipv4Addr;

use perhop_qos::packet::Protocol;

use super::access_option::option;
use super::numbers::address;
use super::ports::ports;
use crate::ast::{AclAction, AclEntry, AclKind, AddressMatch, PrefixMatch};
use crate::words::{Finding, Reader, choose};

/// Parses the entry in the rest of the line, and returns the finding for the line.
pub(super) fn entry(
    kind: AclKind,
    action: AclAction,
    sequence: u64,
    reader: &mut Reader,
) -> Result<(AclEntry, Finding), Finding> {
    let mut entry = AclEntry {
        line: reader.line,
        sequence,
        action,
        protocol: None,
        source: AddressMatch::ANY,
        source_ports: Vec::new(),
        destination: AddressMatch::ANY,
        destination_ports: Vec::new(),
        precedence: None,
        dscp: None,
        type_of_service: None,
        unseen: None,
        prefixes: None,
        source_group: None,
        destination_group: None,
        service_group: None,
    };
    let finding = match kind {
        AclKind::Standard => standard(&mut entry, reader)?,
        AclKind::Ipv6 => ipv6(&mut entry, reader)?,
        AclKind::Extended | AclKind::Other => extended(&mut entry, reader)?,
    };
    if let Some(scattered) = scattered(&entry) {
        entry.unseen = Some("wildcard".to_owned());
        return Ok((entry, scattered));
    }
    Ok((entry, finding))
}

fn standard(entry: &mut AclEntry, reader: &mut Reader) -> Result<Finding, Finding> {
    if reader.eat("object-group") {
        entry.source_group = Some(reader.word("an object group")?.to_owned());
    } else {
        entry.source = address_match(reader)?;
    }
    if reader.eat("log") {
        reader.next();
    }
    reader.end()?;
    Ok(Finding::MODELLED)
}

fn extended(entry: &mut AclEntry, reader: &mut Reader) -> Result<Finding, Finding> {
    if reader.eat("object-group") {
        entry.service_group = Some(reader.word("an object group")?.to_owned());
    } else {
        entry.protocol = protocol(reader)?;
    }
    for source in [true, false] {
        let mut group = None;
        let mut address = AddressMatch::ANY;
        if reader.eat("object-group") {
            group = Some(reader.word("an object group")?.to_owned());
        } else if let Some(other) = reader.keyword(&["fqdn-group", "geo-group"]) {
            reader.word("a group")?;
            entry.unseen = Some(other.to_owned());
        } else {
            address = address_match(reader)?;
        }
        let ports = ports(entry.protocol, reader)?;
        if source {
            (entry.source, entry.source_group, entry.source_ports) = (address, group, ports);
        } else {
            (entry.destination, entry.destination_group, entry.destination_ports) = (address, group, ports);
        }
    }
    options(entry, reader)
}

fn ipv6(entry: &mut AclEntry, reader: &mut Reader) -> Result<Finding, Finding> {
    // Except for ICMP, the protocol names are the same for IPv4 and IPv6.
    entry.protocol = match reader.peek() {
        Some("ipv6") => {
            reader.next();
            None
        }
        Some("icmp") => {
            reader.next();
            Some(Protocol(58))
        }
        _ => protocol(reader)?,
    };
    if reader.eat("object-group") {
        entry.source_group = Some(reader.word("an object group")?.to_owned());
    }
    let source = if entry.source_group.is_some() { PrefixMatch::ANY } else { prefix(reader)? };
    entry.source_ports = ports(entry.protocol, reader)?;
    if reader.eat("object-group") {
        entry.destination_group = Some(reader.word("an object group")?.to_owned());
    }
    let destination = if entry.destination_group.is_some() { PrefixMatch::ANY } else { prefix(reader)? };
    entry.destination_ports = ports(entry.protocol, reader)?;
    entry.prefixes = Some((source, destination));
    options(entry, reader)
}

fn options(entry: &mut AclEntry, reader: &mut Reader) -> Result<Finding, Finding> {
    let mut finding = match &entry.unseen {
        Some(_) => Finding::not_modelled("perhop does not resolve names: no packet matches this entry"),
        None => Finding::MODELLED,
    };
    while reader.peek().is_some() {
        finding = option(entry, reader)?.unwrap_or(finding);
    }
    Ok(finding)
}

const PROTOCOLS: &[(&str, u8)] = &[
    ("ahp", 51),
    ("eigrp", 88),
    ("esp", 50),
    ("gre", 47),
    ("hbh", 0),
    ("icmp", 1),
    ("igmp", 2),
    ("ipinip", 4),
    ("nos", 94),
    ("ospf", 89),
    ("pcp", 108),
    ("pim", 103),
    ("sctp", 132),
    ("tcp", 6),
    ("udp", 17),
];

/// Returns the number of the protocol `word`.
pub(super) fn protocol_number(word: &str) -> Option<Protocol> {
    let names: Vec<&'static str> = PROTOCOLS.iter().map(|(name, _)| *name).collect();
    let name = choose(word, &names);
    PROTOCOLS.iter().find(|(known, _)| Some(*known) == name).map(|(_, number)| Protocol(*number))
}

/// Parses a protocol by name or number; `None` for any IP packet.
pub(super) fn protocol(reader: &mut Reader) -> Result<Option<Protocol>, Finding> {
    let word = reader.word("a protocol")?;
    // IOS XR writes the name of the IP version.
    if word.eq_ignore_ascii_case("ip") || word.eq_ignore_ascii_case("ipv4") {
        return Ok(None);
    }
    let number = word.parse::<u8>().ok().map(Protocol).or_else(|| protocol_number(word));
    number.map(Some).ok_or_else(|| Finding::not_recognized(format!("`{word}` is not a protocol")))
}

/// Parses `any`, `host a.b.c.d`, `a.b.c.d wildcard`, or, in a standard list, a single address.
fn address_match(reader: &mut Reader) -> Result<AddressMatch, Finding> {
    if reader.eat("any") {
        return Ok(AddressMatch::ANY);
    }
    if reader.eat("host") {
        return address(reader, "an address").map(AddressMatch::host);
    }
    // IOS XR also accepts prefix lengths.
    if let Some(found) = prefix_of_ipv4(reader) {
        return Ok(found);
    }
    let address = address(reader, "an address, `host` or `any`")?;
    let wildcard = reader.peek().and_then(|word| word.parse::<Ipv4Addr>().ok());
    if wildcard.is_some() {
        reader.next();
    }
    Ok(AddressMatch { address, wildcard: wildcard.unwrap_or(Ipv4Addr::UNSPECIFIED) })
}

/// Parses `10.0.0.0/8`; `None` if the next word has another form.
pub(super) fn prefix_of_ipv4(reader: &mut Reader) -> Option<AddressMatch> {
    let (address, length) = reader.peek()?.split_once('/')?;
    let length = length.parse::<u32>().ok().filter(|length| *length <= 32)?;
    let wildcard = Ipv4Addr::from(u32::MAX.checked_shr(length).unwrap_or(0));
    let found = AddressMatch { address: address.parse().ok()?, wildcard };
    reader.next();
    Some(found)
}

/// Parses `any`, `host 2001:db8::1`, `2001:db8::/32`.
pub(super) fn prefix(reader: &mut Reader) -> Result<PrefixMatch, Finding> {
    if reader.eat("any") {
        return Ok(PrefixMatch::ANY);
    }
    let host = reader.eat("host");
    let read = |word: &str| {
        let (address, length) = word.split_once('/').unwrap_or((word, "128"));
        let length = length.parse().ok().filter(|length| *length <= 128 && (!host || *length == 128))?;
        Some(PrefixMatch { address: address.parse().ok()?, length })
    };
    let prefix = reader.peek().and_then(read);
    let prefix = prefix.ok_or_else(|| reader.unexpected("an IPv6 prefix, `host` or `any`"))?;
    reader.next();
    Ok(prefix)
}

/// Limit on the 1-bits of a wildcard mask that are not trailing. Each of these bits doubles the number of
/// prefixes.
const MOST_SCATTERED_BITS: u32 = 8;

/// Returns a finding for a wildcard mask with too many 1-bits that are not trailing.
fn scattered(entry: &AclEntry) -> Option<Finding> {
    let scattered = |address: AddressMatch| {
        let wildcard = address.wildcard.to_bits();
        wildcard.count_ones() - wildcard.trailing_ones() > MOST_SCATTERED_BITS
    };
    (scattered(entry.source) || scattered(entry.destination)).then(|| {
        Finding::not_modelled(
            "the wildcard mask has too many scattered bits for perhop: no packet matches this entry",
        )
    })
}

impl AclEntry {
    /// Whether both entries match the same packets and have the same action.
    pub(super) fn is_equivalent(&self, other: &AclEntry) -> bool {
        let AclEntry { line: _, sequence: _, .. } = other;
        *self == AclEntry { line: self.line, sequence: self.sequence, ..other.clone() }
    }
}
