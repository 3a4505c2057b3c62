//! The filter `flower`: fields by their names (`tc/f_flower.c`).

use perhop_qos::Dscp;
use perhop_qos::classifier::{MatchConfig, OneOrMany, PortRange, Prefix};
use perhop_qos::packet::{LinkMark, Protocol};

use super::body::{Body, common};
use super::u32::prefix;
use crate::kernel::Kernel;
use crate::model::{Family, ranges};
use crate::nearest::suggestion;
use crate::rules;
use crate::units;
use crate::words::Words;

/// Fields that packets in perhop do not have.
const UNSEEN: [&str; 24] = [
    "src_mac",
    "dst_mac",
    "ip_ttl",
    "tcp_flags",
    "ip_flags",
    "ct_state",
    "ct_zone",
    "ct_mark",
    "ct_label",
    "enc_dst_ip",
    "enc_src_ip",
    "enc_key_id",
    "enc_dst_port",
    "enc_tos",
    "enc_ttl",
    "arp_op",
    "arp_sip",
    "arp_tip",
    "type",
    "code",
    "num_of_vlans",
    "mpls_label",
    "mpls_ttl",
    "l2tpv3_sid",
];
const KNOWN: [&str; 14] = [
    "ip_proto",
    "src_ip",
    "dst_ip",
    "src_port",
    "dst_port",
    "ip_tos",
    "vlan_id",
    "vlan_prio",
    "vlan_ethtype",
    "mpls_tc",
    "indev",
    "classid",
    "flowid",
    "action",
];

/// Reads the options of a filter. Returns `false` if tc refuses an option.
pub(super) fn read(
    kernel: &mut Kernel,
    number: usize,
    words: &mut Words,
    body: &mut Body,
    has_protocol: bool,
) -> bool {
    while let Some(word) = words.next() {
        if common(kernel, number, word, words, body) {
            continue;
        }
        if word == "handle" || word == "hw_tc" || word == "eth_type" {
            words.next();
            continue;
        }
        if UNSEEN.contains(&word) {
            words.next();
            kernel.log.not_modelled(
                number,
                format!("the filter matches {word}, which perhop's packets do not have"),
            );
            body.condition.is_unseen = true;
            continue;
        }
        let Some(value) = words.next() else {
            kernel.refuse(number, format!("the value of `{word}` of flower is missing"));
            return false;
        };
        if let Some(help) = misplaced(word, body, has_protocol).filter(|_| !words.is_shown()) {
            kernel.refuse(number, format!("`{word} {value}` of flower: {help}"));
            return false;
        }
        match field(kernel, number, word, value, body) {
            Ok(()) => {}
            Err(Some(help)) => {
                kernel.refuse(number, format!("`{word} {value}` of flower: {help}"));
                return false;
            }
            Err(None) => {
                let help = suggestion(word, KNOWN);
                kernel.refuse(number, format!("`{word}` is not an option of flower: {help}"));
                return false;
            }
        }
    }
    true
}

/// Returns the missing option that must precede a field (`flower_parse_ip_proto`, `flower_parse_port`).
fn misplaced(word: &str, body: &Body, has_protocol: bool) -> Option<&'static str> {
    /// `f_flower.c:flower_port_attr_type`: TCP, UDP, SCTP.
    const WITH_PORTS: [u8; 3] = [6, 17, 132];
    let protocol = body.condition.matches.protocol.as_ref();
    let has_ports = protocol.is_some_and(|known| known.0.iter().any(|number| WITH_PORTS.contains(&number.0)));
    match word {
        "ip_proto" if !has_protocol => Some("write `protocol ip` before flower"),
        "src_port" | "dst_port" if !has_ports => {
            Some("write `ip_proto tcp` or `ip_proto udp` before this option")
        }
        _ => None,
    }
}

/// Whether `word` is the name of a field.
pub(super) fn is_field(word: &str) -> bool {
    KNOWN.contains(&word) || UNSEEN.contains(&word) || word == "eth_type"
}

/// Reads a field. An error contains the correction, or `None` if the field does not exist.
fn field(
    kernel: &mut Kernel,
    number: usize,
    name: &str,
    value: &str,
    body: &mut Body,
) -> Result<(), Option<&'static str>> {
    let family = body.condition.family;
    let matches = &mut body.condition.matches;
    match name {
        "ip_proto" => {
            let number = match value {
                "icmpv6" => Some(Protocol(58)),
                "sctp" => Some(Protocol(132)),
                "l2tp" => Some(Protocol(115)),
                other => other.parse().ok(),
            };
            matches.protocol = Some(number.ok_or(Some("write tcp, udp, icmp or a number"))?.into());
        }
        "src_ip" => matches.source = Some(address(value, family)?.into()),
        "dst_ip" => matches.destination = Some(address(value, family)?.into()),
        "src_port" => matches.source_port = Some(port(value)?),
        "dst_port" => matches.destination_port = Some(port(value)?),
        "ip_tos" => service(kernel, number, value, matches)?,
        "vlan_prio" => {
            let mark = value.parse().ok().and_then(LinkMark::new).ok_or(Some("write a number up to 7"))?;
            matches.cos = Some(mark.into());
        }
        "mpls_tc" => {
            let mark = value.parse().ok().and_then(LinkMark::new).ok_or(Some("write a number up to 7"))?;
            matches.mpls_exp = Some(mark.into());
        }
        "indev" => matches.input = Some(OneOrMany(vec![value.to_owned()])),
        "vlan_id" | "vlan_ethtype" | "cvlan_id" | "cvlan_prio" | "cvlan_ethtype" => {
            kernel
                .log
                .not_modelled(number, format!("the filter matches {name}, which perhop does not model"));
            body.condition.is_unseen = true;
        }
        _ => return Err(None),
    }
    Ok(())
}

/// Reads the type of service with its mask: `0xb8/0xfc`. tc accepts only hexadecimal numbers.
fn service(
    kernel: &mut Kernel,
    number: usize,
    text: &str,
    matches: &mut MatchConfig,
) -> Result<(), Option<&'static str>> {
    let (value, mask) = text.split_once('/').unwrap_or((text, "ff"));
    let byte = |text: &str| units::integer(text, 16).filter(|byte| *byte <= 0xff);
    let (Some(value), Some(mask)) = (byte(value), byte(mask)) else {
        return Err(Some("write a value and a mask in hexadecimal, such as 0xb8/0xfc"));
    };
    if mask & 3 != 0 {
        let message =
            "the filter also compares the ECN bits, so it misses packets of ECN-capable connections";
        let linux = "perhop compares only the codepoint; write the mask 0xfc";
        kernel.log.found(&rules::TC_ECN_BITS_MATCHED, number, message, linux);
    }
    let (value, mask) = ((value >> 2) as u8, (mask >> 2) as u8);
    if mask != 0 {
        let codepoints = (0..64).filter(|codepoint| codepoint & mask == value & mask).filter_map(Dscp::new);
        matches.dscp = Some(OneOrMany(codepoints.collect()));
    }
    Ok(())
}

fn address(text: &str, family: Family) -> Result<Prefix, Option<&'static str>> {
    let bytes = if family == Family::Six { 16 } else { 4 };
    let help = Some("write an address or a prefix of the filter's protocol, such as 10.0.0.0/8");
    let (value, length) = prefix(text, bytes).ok_or(help)?;
    let width = 8 * bytes as u32;
    let whole = u128::MAX >> (128 - width);
    let value = value & whole & !whole.checked_shr(length).unwrap_or(0);
    let address = if bytes == 4 {
        std::net::Ipv4Addr::from_bits(value as u32).into()
    } else {
        std::net::Ipv6Addr::from_bits(value).into()
    };
    Prefix::new(address, length as u8).map_err(|_| help)
}

/// Parses a port, a range, or a port with a mask.
fn port(text: &str) -> Result<OneOrMany<PortRange>, Option<&'static str>> {
    let help = Some("write a port, or a range such as 5000-5100");
    if let Some((value, mask)) = text.split_once('/') {
        let value = value.parse::<u16>().map_err(|_| help)?;
        let mask = units::integer(mask, 0).filter(|mask| *mask <= 0xffff).ok_or(help)? as u16;
        let ranges = ranges(value & mask, mask).ok_or(help)?;
        return Ok(OneOrMany(ranges.into_iter().filter_map(|(a, b)| PortRange::new(a, b).ok()).collect()));
    }
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (first.parse().map_err(|_| help)?, last.parse().map_err(|_| help)?);
    PortRange::new(first, last).map(OneOrMany::from).map_err(|_| help)
}
