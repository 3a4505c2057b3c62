//! Parsing of numbers and codepoints.

use std::net::Ipv4Addr;

use perhop_qos::Dscp;
use perhop_qos::packet::IpPrecedence;

use crate::ast::{Field, PriorityRate, TrafficRate};
use crate::words::{Finding, Reader};

/// Accepted values of `bandwidth`, kilobits per second.
pub(super) const KILOBITS: std::ops::RangeInclusive<u64> = 1..=1_000_000_000;

/// Parses an IPv4 address.
pub(super) fn address(reader: &mut Reader, what: &str) -> Result<Ipv4Addr, Finding> {
    let address = reader.peek().and_then(|word| word.parse().ok());
    let address = address.ok_or_else(|| reader.unexpected(what))?;
    reader.next();
    Ok(address)
}

/// Parses an IP precedence by number or name.
pub(super) fn precedence(reader: &mut Reader) -> Result<IpPrecedence, Finding> {
    let value = reader.peek().and_then(|word| word.parse().ok());
    let value = value.ok_or_else(|| reader.unexpected("an IP precedence (0 to 7 or a name)"))?;
    reader.next();
    Ok(value)
}

/// Parses a DSCP by number or name.
pub(super) fn dscp(reader: &mut Reader) -> Result<Dscp, Finding> {
    // Routers do not accept `nqb`, the name of the codepoint in RFC 9956.
    let known = reader.peek().filter(|word| !word.eq_ignore_ascii_case("nqb"));
    let value = known.and_then(|word| word.parse().ok());
    let value = value.ok_or_else(|| reader.unexpected("a DSCP (0 to 63 or a name)"))?;
    reader.next();
    Ok(value)
}

/// Parses a value of three bits.
pub(super) fn eight(reader: &mut Reader) -> Result<u8, Finding> {
    reader.number("a value", 0..=7).map(|value| value as u8)
}

/// Parses a value of `field`, by number or name.
pub(super) fn field_value(field: Field, reader: &mut Reader) -> Result<u8, Finding> {
    match field {
        Field::Dscp | Field::TunnelDscp => dscp(reader).map(Dscp::value),
        Field::Precedence | Field::TunnelPrecedence => precedence(reader).map(IpPrecedence::value),
        Field::QosGroup => reader.number("a group", 0..=99).map(|group| group as u8),
        _ => eight(reader),
    }
}

/// Parses one or more values up to the end of the line.
pub(super) fn list<T>(
    reader: &mut Reader,
    parse: fn(&mut Reader) -> Result<T, Finding>,
) -> Result<Vec<T>, Finding> {
    let mut values = vec![parse(reader)?];
    while reader.peek().is_some() {
        values.push(parse(reader)?);
    }
    Ok(values)
}

/// Parses a rate in bits per second, or a percentage after `percent`.
pub(super) fn rate(reader: &mut Reader) -> Result<TrafficRate, Finding> {
    if reader.eat("percent") {
        return reader.number("a percentage", 1..=100).map(TrafficRate::Percent);
    }
    let bits = bits_per_second(reader)?;
    reader.keyword(&["bps"]);
    Ok(TrafficRate::BitsPerSecond(bits))
}

/// Parses a rate in bits per second, also in the form `8k`, `10m` or `1g` of later releases.
pub(super) fn bits_per_second(reader: &mut Reader) -> Result<u64, Finding> {
    let value = reader.peek().and_then(scaled).filter(|bits| (1..=1_000_000_000_000).contains(bits));
    let value = value.ok_or_else(|| reader.unexpected("a rate in bits per second"))?;
    reader.next();
    Ok(value)
}

/// Parses `8k`, `10m`, `1g`, or a plain number.
pub(super) fn scaled(word: &str) -> Option<u64> {
    let digits = word.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let factor = match word[digits.len()..].to_ascii_lowercase().as_str() {
        "" => 1,
        "k" => 1_000,
        "m" => 1_000_000,
        "g" => 1_000_000_000,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

/// Parses a rate in kilobits per second, or a percentage after `percent`. At the end of the line, the rate is
/// unlimited.
pub(super) fn priority_rate(reader: &mut Reader) -> Result<PriorityRate, Finding> {
    if reader.eat("percent") {
        return reader.number("a percentage", 1..=100).map(PriorityRate::Percent);
    }
    if reader.peek().is_none() {
        return Ok(PriorityRate::Unlimited);
    }
    reader.number("kilobits per second", KILOBITS).map(PriorityRate::Kilobits)
}
