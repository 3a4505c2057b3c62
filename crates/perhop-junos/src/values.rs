//! Numbers, rates and codepoints as Junos writes them.

/// Parses a number with an optional factor: `625k`, `50m`, `1g`.
///
/// The factors are powers of ten, even for bytes and microseconds (Junos CoS User Guide, "transmit-rate").
pub(crate) fn number(text: &str) -> Option<u64> {
    let (digits, factor) = match text.char_indices().last()? {
        (index, 'k' | 'K') => (&text[..index], 1_000),
        (index, 'm' | 'M') => (&text[..index], 1_000_000),
        (index, 'g' | 'G') => (&text[..index], 1_000_000_000),
        _ => (text, 1),
    };
    if digits.is_empty() || !digits.chars().all(|character| character.is_ascii_digit()) {
        return None;
    }
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

/// Parses `bits` binary digits: `101110`.
pub(crate) fn binary(text: &str, bits: usize) -> Option<u8> {
    (text.len() == bits && text.chars().all(|digit| matches!(digit, '0' | '1')))
        .then(|| u8::from_str_radix(text, 2).ok())
        .flatten()
}

/// Parses a percentage, 0 to 100.
pub(crate) fn percent(text: &str) -> Option<u8> {
    text.parse().ok().filter(|percent| *percent <= 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_decimal_factors() {
        assert_eq!(number("625k"), Some(625_000));
        assert_eq!(number("4m"), Some(4_000_000));
        assert_eq!(number("1g"), Some(1_000_000_000));
        for wrong in ["", "k", "1.5m", "-1", "99999999999999999999", "20000000000g"] {
            assert_eq!(number(wrong), None, "{wrong}");
        }
        assert_eq!(binary("101110", 6), Some(46));
        assert_eq!(binary("10111", 6), None);
        assert_eq!(binary("+01110", 6), None);
    }
}
