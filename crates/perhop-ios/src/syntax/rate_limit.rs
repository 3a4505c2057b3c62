//! `rate-limit` of an interface: committed access rate.

use super::action::{action, unseen};
use super::numbers::{bits_per_second, dscp};
use crate::ast::{Direction, Interface, RateLimit, RateLimitMatch};
use crate::rules;
use crate::words::{Finding, Reader, Reading};

/// Accepted bursts, bytes.
const BURST: std::ops::RangeInclusive<u64> = 1000..=1_024_000_000;

pub(super) fn rate_limit(interface: &mut Interface, reader: &mut Reader) -> Reading {
    let direction = match reader.one_of(&["input", "output"])? {
        "input" => Direction::Input,
        _ => Direction::Output,
    };
    let matches = matches(reader)?;
    if reader.negated() {
        let limits = &mut interface.rate_limits;
        limits.retain(|limit| (limit.direction, &limit.matches) != (direction, &matches));
        return Ok(Finding::MODELLED);
    }
    let rate = bits_per_second(reader)?;
    let burst = reader.number("the normal burst in bytes", BURST)?;
    let extended_burst = reader.number("the extended burst in bytes", 1000..=2_048_000_000)?;
    reader.one_of(&["conform-action"])?;
    let conform = action(reader)?;
    reader.one_of(&["exceed-action"])?;
    let exceed = action(reader)?;
    reader.end()?;
    if extended_burst < burst {
        reader.report_crossed(
            &rules::RATE_LIMIT_EXTENDED_BURST,
            (burst, extended_burst),
            format!("the extended burst, {extended_burst} bytes, is below the normal burst, {burst} bytes"),
            "the router raises the extended burst to the normal burst, so the bucket cannot go into debt",
        );
    }
    let finding = unseen(&conform).or_else(|| unseen(&exceed)).unwrap_or(Finding::MODELLED);
    interface.rate_limits.push(RateLimit {
        line: reader.line,
        direction,
        matches,
        rate,
        burst,
        extended_burst: extended_burst.max(burst),
        conform,
        exceed,
    });
    Ok(finding)
}

fn matches(reader: &mut Reader) -> Result<RateLimitMatch, Finding> {
    Ok(match reader.keyword(&["access-group", "dscp", "qos-group"]) {
        None => RateLimitMatch::All,
        Some("access-group") => {
            let name = reader.word("an access list")?;
            if name.eq_ignore_ascii_case("rate-limit") {
                RateLimitMatch::RateLimitList(reader.word("an access list")?.to_owned())
            } else {
                RateLimitMatch::AccessGroup(name.to_owned())
            }
        }
        Some("dscp") => RateLimitMatch::Dscp(dscp(reader)?),
        Some(_) => RateLimitMatch::QosGroup(reader.number("a group", 0..=99)? as u32),
    })
}
