//! Numbers, rates and times as scenario files and summaries write them.

use strsim::normalized_damerau_levenshtein;

/// The minimum similarity, 0 to 1, of a suggested name.
const SIMILAR: f64 = 0.6;

/// Returns `value` with `digits` significant digits, integers below a billion in full.
pub(crate) fn number(value: f64, digits: i32) -> String {
    if value == value.round_ties_even() && value.abs() < 1e9 {
        return with_separators(&format!("{value:.0}"));
    }
    // The exponent of the shortest notation is exact. A logarithm would round.
    let notation = format!("{value:e}");
    let magnitude: i32 = notation.rsplit('e').next().and_then(|exponent| exponent.parse().ok()).unwrap_or(0);
    let decimals = usize::try_from(digits - 1 - magnitude).unwrap_or(0);
    with_separators(&format!("{value:.decimals$}"))
}

/// Returns a decimal number with a comma between groups of three digits.
fn with_separators(text: &str) -> String {
    let (whole, fraction) = text.split_once('.').map_or((text, None), |(whole, part)| (whole, Some(part)));
    let (sign, whole) = whole.strip_prefix('-').map_or(("", whole), |whole| ("-", whole));
    let mut grouped = String::from(sign);
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    fraction.map_or_else(|| grouped.clone(), |part| format!("{grouped}.{part}"))
}

/// Returns a count with its noun: `1 flow`, `2 flows`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Returns a rate as a scenario file writes it: in whole kb/s, or in b/s if whole kb/s are too coarse.
pub(crate) fn as_rate(bits: f64) -> String {
    if bits >= 1e5 {
        format!("{}kb/s", (bits / 1000.0).round_ties_even())
    } else {
        format!("{}b/s", bits.round_ties_even().max(1.0))
    }
}

/// Returns the text of a rate: in kb/s, in Mb/s from 100 Mb/s, and so on.
pub(crate) fn rate_in_words(bits: f64) -> String {
    let (divisor, unit) = match bits {
        _ if bits < 1e8 => (1e3, "kb/s"),
        _ if bits < 1e9 => (1e6, "Mb/s"),
        _ => (1e9, "Gb/s"),
    };
    let scaled = bits / divisor;
    format!("{} {unit}", number(if scaled >= 100.0 { scaled.round_ties_even() } else { scaled }, 3))
}

/// Returns a time in whole microseconds, at least 1 us.
pub(crate) fn microseconds(seconds: f64) -> String {
    format!("{}us", (seconds * 1e6).round_ties_even().max(1.0))
}

/// Returns a time in whole nanoseconds.
pub(crate) fn nanoseconds(seconds: f64) -> String {
    format!("{}ns", (seconds * 1e9).round())
}

/// Returns a time as a scenario file writes it.
pub(crate) fn time(milliseconds: f64) -> String {
    if milliseconds < 1.0 || milliseconds % 1.0 != 0.0 {
        format!("{}us", (milliseconds * 1000.0).round_ties_even())
    } else if milliseconds % 1000.0 == 0.0 {
        format!("{}s", (milliseconds / 1000.0).floor())
    } else {
        format!("{}ms", milliseconds.round_ties_even())
    }
}

/// Returns a fraction as a percentage: `80 %`.
pub(crate) fn percent(part: f64) -> String {
    format!("{:.0} %", 100.0 * part)
}

/// Returns at most `count` names that are similar to `wanted`, the most similar first.
pub(crate) fn similar<'a>(
    wanted: &str,
    names: impl IntoIterator<Item = &'a str>,
    count: usize,
) -> Vec<&'a str> {
    let score = |name: &'a str| (normalized_damerau_levenshtein(wanted, name), name);
    let mut found: Vec<(f64, &str)> =
        names.into_iter().map(score).filter(|(score, _)| *score >= SIMILAR).collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(a.1)));
    found.into_iter().take(count).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_three_digits_and_separators() {
        for (bits, words) in [
            (2_048e3, "2,048 kb/s"),
            (409_600.0, "410 kb/s"),
            (76_800.0, "76.8 kb/s"),
            (100e6, "100 Mb/s"),
            (1.25e9, "1.25 Gb/s"),
            (400.0, "0.400 kb/s"),
            (500.0, "0.500 kb/s"),
            (8000.0, "8 kb/s"),
        ] {
            assert_eq!(rate_in_words(bits), words, "{bits}");
        }
    }

    #[test]
    fn times_are_in_the_coarsest_exact_unit() {
        for (milliseconds, words) in
            [(100_000.0, "100s"), (2_500.0, "2500ms"), (0.5, "500us"), (12.5, "12500us")]
        {
            assert_eq!(time(milliseconds), words);
        }
    }
}
