//! Numbers with the units that IOS XR writes.

use crate::ast::TrafficRate;
use crate::syntax::numbers::{dscp, precedence};
use crate::words::{Finding, Reader};

/// The size of a packet in limits that are configured in packets, bytes. Source: Cisco, "Modular Quality of
/// Service Command Reference for the Cisco CRS Router", queue-limit.
pub(in crate::syntax) const PACKET_BYTES: u64 = 256;

/// A length of a queue or a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::syntax) enum Length {
    /// Bytes. A packet counts as 256 bytes.
    Bytes(u64),
    /// The time for which bytes can wait or burst at a configured rate, microseconds.
    Microseconds(u64),
}

/// Parses a rate with its unit, or a percentage; a number without a unit is in units of `default`.
pub(in crate::syntax) fn rate(reader: &mut Reader, default: &'static str) -> Result<TrafficRate, Finding> {
    if reader.eat("percent") {
        return percent(reader).map(TrafficRate::Percent);
    }
    let number = reader.number("a rate", 0..=4_294_967_295)?;
    let unit = reader.keyword(&["bps", "kbps", "mbps", "gbps", "percent"]).unwrap_or(default);
    let factor = match unit {
        "percent" if (1..=100).contains(&number) => return Ok(TrafficRate::Percent(number)),
        "percent" => {
            return Err(Finding::not_recognized(format!("{number} is not a percentage from 1 to 100")));
        }
        "bps" => 1,
        "kbps" => 1000,
        "mbps" => 1_000_000,
        _ => 1_000_000_000,
    };
    Ok(TrafficRate::BitsPerSecond(number.saturating_mul(factor)))
}

/// Parses a percentage.
pub(in crate::syntax) fn percent(reader: &mut Reader) -> Result<u64, Finding> {
    reader.number("a percentage", 1..=100)
}

/// Parses a length with its unit; without a unit, it is in units of `default`.
pub(in crate::syntax) fn length(reader: &mut Reader, default: &'static str) -> Result<Length, Finding> {
    let number = reader.number("a number", 1..=4_294_967_295)?;
    let units = ["bytes", "kbytes", "mbytes", "gbytes", "ms", "us", "packets"];
    Ok(match reader.keyword(&units).unwrap_or(default) {
        "bytes" => Length::Bytes(number),
        "kbytes" => Length::Bytes(number.saturating_mul(1000)),
        "mbytes" => Length::Bytes(number.saturating_mul(1_000_000)),
        "gbytes" => Length::Bytes(number.saturating_mul(1_000_000_000)),
        "ms" => Length::Microseconds(number.saturating_mul(1000)),
        "us" => Length::Microseconds(number),
        _ => Length::Bytes(number.saturating_mul(PACKET_BYTES)),
    })
}

/// Converts a burst to bytes, or to milliseconds if the rate is a percentage.
///
/// # Errors
/// The finding of the line, if the unit of the burst does not fit the form of the rate.
pub(in crate::syntax) fn burst_of(burst: Length, rate: TrafficRate) -> Result<u64, Finding> {
    match (burst, rate) {
        (Length::Bytes(bytes), TrafficRate::BitsPerSecond(_)) => Ok(bytes),
        (Length::Microseconds(us), TrafficRate::BitsPerSecond(bits)) => {
            let bytes = u128::from(bits) * u128::from(us) / 8_000_000;
            Ok(u64::try_from(bytes).unwrap_or(u64::MAX).max(1))
        }
        (Length::Microseconds(us), TrafficRate::Percent(_)) if us.is_multiple_of(1000) => Ok(us / 1000),
        (_, TrafficRate::Percent(_)) => Err(Finding::not_modelled(
            "next to a percentage perhop models only a burst in milliseconds: the default burst applies",
        )),
    }
}

/// Parses values up to the end of the line, or up to `most` words: single values, lists with commas, and
/// ranges with a hyphen.
pub(in crate::syntax) fn values(
    reader: &mut Reader,
    most: usize,
    parse: fn(&mut Reader) -> Result<u8, Finding>,
) -> Result<Vec<u8>, Finding> {
    let mut found = Vec::new();
    for _ in 0..most {
        let Some(word) = reader.peek() else { break };
        for part in word.split(',').filter(|part| !part.is_empty()) {
            let range = part.split_once('-').filter(|(first, _)| first.parse::<u8>().is_ok());
            let (first, last) = range.unwrap_or((part, part));
            let (first, last) = (value_of(first, parse, reader)?, value_of(last, parse, reader)?);
            if first > last {
                return Err(reader.unexpected("a range from the lower to the higher value"));
            }
            found.extend(first..=last);
        }
        reader.next();
    }
    if found.is_empty() { Err(reader.unexpected("a value")) } else { Ok(found) }
}

/// Parses `word` with `parse`.
fn value_of(
    word: &str,
    parse: fn(&mut Reader) -> Result<u8, Finding>,
    reader: &mut Reader,
) -> Result<u8, Finding> {
    let words = [word];
    parse(&mut Reader::new(&words, reader.form, reader.line, &mut *reader.found))
}

/// Parses a DSCP as a number.
pub(in crate::syntax) fn dscp_value(reader: &mut Reader) -> Result<u8, Finding> {
    dscp(reader).map(perhop_qos::Dscp::value)
}

/// Parses an IP precedence as a number.
pub(in crate::syntax) fn precedence_value(reader: &mut Reader) -> Result<u8, Finding> {
    precedence(reader).map(perhop_qos::packet::IpPrecedence::value)
}
