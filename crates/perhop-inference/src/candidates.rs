//! [`candidates`]: headers that can meet the conditions of a class. A [`Trial`](crate::trial::Trial) checks
//! whether they do.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};

use perhop_qos::classifier::{LengthRange, MatchConfig, OneOrMany};
use perhop_qos::packet::LinkMark;

use crate::header::{Header, free_address};

/// Maximum number of alternatives tried for one class.
const MOST: usize = 64;
/// The shortest IP packets that are sent, bytes.
const SHORTEST: u32 = 40;
/// The longest IP packets that are sent, bytes.
const LONGEST: u32 = 1500;
/// The default source address. It is from a network for documentation (RFC 5737), which configurations rarely
/// contain.
const SOURCE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
/// The default destination address, from another such network.
const DESTINATION: IpAddr = IpAddr::V4(Ipv4Addr::new(198, 51, 100, 1));
/// The codepoints that are tried if the condition does not restrict the codepoint.
const CODEPOINTS: [&str; 13] =
    ["ef", "af41", "af31", "af21", "af11", "cs6", "cs5", "cs4", "cs3", "cs2", "cs1", "cs7", "le"];

/// Generates headers that can meet all conditions, without the addresses in `taken`.
///
/// The packets of other classes and negated conditions are not analyzed. Instead, variants with other
/// addresses and codepoints follow the plain candidates.
pub(crate) fn candidates(matches: &[&MatchConfig], taken: &BTreeSet<IpAddr>) -> impl Iterator<Item = Header> {
    let parts = matches.iter().map(|condition| alternatives(condition, taken)).collect();
    let plain = combined(parts);
    let mut found = plain.clone();
    for header in plain.iter().filter(|header| header.source.is_none() || header.destination.is_none()) {
        let source = header.source.or(Some(SOURCE));
        let destination = header.destination.or(Some(DESTINATION));
        found.push(Header { source, destination, ..header.clone() });
    }
    for header in plain.iter().filter(|header| header.dscp.is_none()) {
        let marked = |dscp: &&str| Header { dscp: Some((*dscp).to_owned()), ..header.clone() };
        found.extend(CODEPOINTS.iter().map(marked));
    }
    found.into_iter()
}

/// Returns alternative headers that meet a condition.
fn alternatives(condition: &MatchConfig, taken: &BTreeSet<IpAddr>) -> Vec<Header> {
    let empty = Header::default;
    let mut parts: Vec<Vec<Header>> = Vec::new();
    // The precedence determines the mark of tags and labels. A codepoint of the same condition replaces the
    // precedence later.
    field(&mut parts, condition.cos.as_ref(), |mark| marked(*mark));
    field(&mut parts, condition.mpls_exp.as_ref(), |mark| marked(*mark));
    field(&mut parts, condition.dscp.as_ref(), |dscp| Header { dscp: Some(dscp.to_string()), ..empty() });
    field(&mut parts, condition.precedence.as_ref(), |precedence| Header {
        dscp: Some(format!("cs{}", precedence.value())),
        ..empty()
    });
    // The node assigns colors and labels, the path determines interfaces, and `not` is not analyzed.
    field(&mut parts, condition.color.as_ref(), |_| empty());
    field(&mut parts, condition.label.as_ref(), |_| empty());
    field(&mut parts, condition.length.as_ref(), |range| Header {
        packet_bytes: Some(length_in(*range)),
        ..empty()
    });
    field(&mut parts, condition.source.as_ref(), |value| Header {
        source: free_address(value, taken),
        ..empty()
    });
    field(&mut parts, condition.destination.as_ref(), |value| Header {
        destination: free_address(value, taken),
        ..empty()
    });
    field(&mut parts, condition.protocol.as_ref(), |value| Header {
        protocol: Some(value.to_string()),
        ..empty()
    });
    field(&mut parts, condition.source_port.as_ref(), |value| Header {
        source_port: Some(value.first().max(1)),
        ..empty()
    });
    field(&mut parts, condition.destination_port.as_ref(), |value| Header {
        destination_port: Some(value.first().max(1)),
        ..empty()
    });
    field(&mut parts, condition.input.as_ref(), |_| empty());
    parts.extend(condition.all.iter().flatten().map(|condition| alternatives(condition, taken)));
    if let Some(any) = &condition.any {
        parts.push(any.iter().flat_map(|condition| alternatives(condition, taken)).take(MOST).collect());
    }
    combined(parts)
}

/// Returns a header whose precedence is the mark of a tag or label; for 5, the codepoint of voice.
fn marked(mark: LinkMark) -> Header {
    let dscp = if mark.value() == 5 { "ef".to_owned() } else { format!("cs{}", mark.value()) };
    Header { dscp: Some(dscp), ..Header::default() }
}

/// Adds a header for each of the first values of a field.
fn field<T>(parts: &mut Vec<Vec<Header>>, values: Option<&OneOrMany<T>>, header: impl Fn(&T) -> Header) {
    if let Some(OneOrMany(values)) = values {
        parts.push(values.iter().take(MOST).map(header).collect());
    }
}

/// Returns the first combinations of one header from each part. The last part varies fastest.
fn combined(parts: Vec<Vec<Header>>) -> Vec<Header> {
    let joined = |before: Vec<Header>, part: Vec<Header>| {
        let pairs =
            before.iter().flat_map(|first| part.iter().map(|second| first.clone().joined(second.clone())));
        pairs.take(MOST).collect()
    };
    if parts.iter().any(Vec::is_empty) {
        return Vec::new();
    }
    parts.into_iter().fold(vec![Header::default()], joined)
}

/// Returns a length within a range, as close as possible to the lengths of sent packets.
fn length_in(range: LengthRange) -> u32 {
    let (first, last) = (u32::from(range.first()), u32::from(range.last()));
    first.max(last.min(SHORTEST)).min(first.max(LONGEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn condition(text: &str) -> MatchConfig {
        serde_json::from_str(text).unwrap()
    }

    fn first(text: &str, taken: &[&str]) -> Header {
        let taken = taken.iter().map(|text| text.parse().unwrap()).collect();
        candidates(&[&condition(text)], &taken).next().unwrap()
    }

    #[test]
    fn plain_conditions_come_first() {
        let any = condition(
            r#"{"any": [{"protocol": "udp", "destination-port": "16384-32767"}, {"dscp": ["ef", "cs5"]}]}"#,
        );
        let found: Vec<Header> = candidates(&[&any], &BTreeSet::new()).take(3).collect();
        let voice =
            Header { protocol: Some("udp".into()), destination_port: Some(16384), ..Header::default() };
        let marked = |dscp: &str| Header { dscp: Some(dscp.into()), ..Header::default() };
        assert_eq!(found, [voice, marked("ef"), marked("cs5")]);
        let within = r#"{"all": [{"source": "10.0.0.0/30"}, {"precedence": "critical"}, {"not": {"protocol": "tcp"}}]}"#;
        let source = Some("10.0.0.2".parse().unwrap());
        assert_eq!(first(within, &["10.0.0.1"]), Header { source, ..marked("cs5") });
        assert_eq!(first(r#"{"protocol": 1}"#, &[]).protocol.as_deref(), Some("icmp"));
        assert_eq!(first(r#"{"protocol": "89"}"#, &[]).protocol.as_deref(), Some("89"));
    }

    #[test]
    fn lengths_match_the_condition() {
        for (wanted, bytes) in
            [("1000-65535", 1000), ("0-100", 40), ("40", 40), ("20-30", 30), ("64-1500", 64)]
        {
            assert_eq!(
                first(&format!(r#"{{"length": "{wanted}"}}"#), &[]).packet_bytes,
                Some(bytes),
                "{wanted}"
            );
        }
    }

    /// The work for an access list of any length depends only on the number of headers tried.
    #[test]
    fn the_work_is_proportional_to_the_headers_tried() {
        let list = |entries: usize| {
            let entry = |n: usize| {
                format!(
                    r#"{{"source": "10.{}.{}.1", "destination-port": {}}}"#,
                    n / 256,
                    n % 256,
                    n % 60_000 + 1
                )
            };
            condition(&format!(r#"{{"any": [{}]}}"#, (0..entries).map(entry).collect::<Vec<_>>().join(",")))
        };
        let count = |entries| candidates(&[&list(entries)], &BTreeSet::new()).count();
        assert_eq!(count(100), count(5_000));
        assert!(count(5_000) <= 64 * 15);
    }
}
