//! Formatting of values for the router.

use perhop_device::Missing;
use perhop_qos::{Dscp, QueueSize, Rate};

/// Codepoints without a name on the router: `le`, `va` and `nqb`.
const NUMBERED: [u8; 3] = [1, 44, 45];

/// Returns the name of a codepoint, or its number if the router has no name.
pub(super) fn codepoint(dscp: Dscp) -> String {
    if NUMBERED.contains(&dscp.value()) { dscp.value().to_string() } else { dscp.to_string() }
}

/// Returns a name that the router accepts, without spaces, question marks and quotation marks.
pub(super) fn name(text: &str) -> String {
    let is_apart = |letter: char| letter.is_whitespace() || letter == '?' || letter == '"';
    let parts: Vec<&str> = text.trim().split(is_apart).collect();
    let mut found = String::new();
    for (index, part) in parts.iter().enumerate() {
        // A sequence of such characters becomes one hyphen.
        if index > 0 && (!part.is_empty() || index + 1 == parts.len()) {
            found.push('-');
        }
        found.push_str(part);
    }
    if found.is_empty() { "unnamed".to_owned() } else { found }
}

/// Returns a rate as whole kilobits per second, or as a percentage of `of_bits`, which the router rounds
/// down: `512`, `percent 20`.
///
/// # Errors
/// The rate is neither a number of whole kilobits per second nor a percentage.
pub(super) fn rate(rate: Rate, of_bits: Option<u64>) -> Result<String, Missing> {
    let bits = rate.as_bits_per_second();
    if bits >= 1000 && bits.is_multiple_of(1000) {
        return Ok((bits / 1000).to_string());
    }
    let of_bits = of_bits.filter(|of_bits| *of_bits > 0);
    let percent = of_bits.and_then(|of_bits| (1..=100).find(|percent| of_bits * percent / 100 == bits));
    percent.map(|percent| format!("percent {percent}")).ok_or_else(|| {
        let reason = "IOS accepts only whole kilobits per second and percentages";
        Missing::new(format!("a rate of {bits} b/s"), reason).instead("round the rate")
    })
}

/// Returns the words after `queue-limit` for a limit; packets are the default unit.
pub(super) fn limit(limit: QueueSize) -> String {
    match limit {
        QueueSize::Packets(packets) => packets.to_string(),
        QueueSize::Bytes(bytes) => format!("{bytes} bytes"),
    }
}

/// Returns a limit with its unit.
pub(super) fn limit_with_unit(limit: QueueSize) -> String {
    match limit {
        QueueSize::Packets(packets) => format!("{packets} packets"),
        QueueSize::Bytes(bytes) => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn names_replace_characters_that_end_a_word() {
        let cases = [("a b", "a-b"), ("  a?? \"b", "a-b"), ("", "unnamed"), ("a?", "a-"), ("x\ny", "x-y")];
        for (given, expected) in cases {
            assert_eq!(name(given), expected, "{given:?}");
        }
    }
}
