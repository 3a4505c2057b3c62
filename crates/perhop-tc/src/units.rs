//! Parsing of numbers like iproute2 (`lib/utils_math.c`, `lib/utils.c`, `tc/tc_util.c`).

use perhop_qos::Time;

/// Units of rates in bits per second; case-insensitive. **`bps` is bytes per second**.
/// `utils_math.c:suffixes`.
const RATES: [(&str, f64); 18] = [
    ("bit", 1.0),
    ("kibit", 1024.0),
    ("kbit", 1e3),
    ("mibit", 1_048_576.0),
    ("mbit", 1e6),
    ("gibit", 1_073_741_824.0),
    ("gbit", 1e9),
    ("tibit", 1_099_511_627_776.0),
    ("tbit", 1e12),
    ("bps", 8.0),
    ("kibps", 8192.0),
    ("kbps", 8e3),
    ("mibps", 8_388_608.0),
    ("mbps", 8e6),
    ("gibps", 8_589_934_592.0),
    ("gbps", 8e9),
    ("tibps", 8_796_093_022_208.0),
    ("tbps", 8e12),
];

/// Units of sizes in bytes; `k` is 1024, also of bits. `utils_math.c:get_size64`.
const SIZES: [(&str, f64); 10] = [
    ("b", 1.0),
    ("k", 1024.0),
    ("kb", 1024.0),
    ("kbit", 128.0),
    ("m", 1_048_576.0),
    ("mb", 1_048_576.0),
    ("mbit", 131_072.0),
    ("g", 1_073_741_824.0),
    ("gb", 1_073_741_824.0),
    ("gbit", 134_217_728.0),
];

/// Units of times in microseconds. A number without a unit is in microseconds. `utils.c:get_time`.
const TIMES: [(&str, f64); 9] = [
    ("s", 1e6),
    ("sec", 1e6),
    ("secs", 1e6),
    ("ms", 1e3),
    ("msec", 1e3),
    ("msecs", 1e3),
    ("us", 1.0),
    ("usec", 1.0),
    ("usecs", 1.0),
];

/// Parses the number at the start of `text` like C's `strtod`, and returns the rest.
fn number(text: &str) -> Option<(f64, &str)> {
    // C's `strtod` also accepts hexadecimal numbers.
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        let end = digits.find(|digit: char| !digit.is_ascii_hexdigit()).unwrap_or(digits.len());
        let value = u32::from_str_radix(&digits[..end], 16).ok()?;
        return Some((f64::from(value), &digits[end..]));
    }
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let sign = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let whole = digits(sign);
    let mut end = sign + whole;
    let mut fraction = 0;
    if bytes.get(end) == Some(&b'.') {
        fraction = digits(end + 1);
        end += 1 + fraction;
    }
    if whole + fraction == 0 {
        return None;
    }
    if let Some(b'e' | b'E') = bytes.get(end) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = bytes.get(end + 1 + sign..).map_or(0, |_| digits(end + 1 + sign));
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    let value: f64 = text[..end].parse().ok()?;
    (value.is_finite() && value >= 0.0).then_some((value, &text[end..]))
}

fn scaled(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let (value, unit) = number(text)?;
    if unit.is_empty() {
        return Some(value);
    }
    let (_, scale) = units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?;
    Some(value * scale)
}

/// Parses a rate to bits per second, in whole bytes per second, as in the kernel. `get_rate64`.
pub(crate) fn rate(text: &str) -> Option<u64> {
    let bits = scaled(text, &RATES)?;
    (0.0..1e18).contains(&bits).then(|| (bits / 8.0) as u64 * 8)
}

/// Whether a rate is in bytes: `10mbps`, often intended as megabits.
pub(crate) fn counts_bytes(text: &str) -> bool {
    number(text).is_some_and(|(_, unit)| unit.to_ascii_lowercase().ends_with("bps"))
}

/// Returns a rate in bytes with the unit bits: `10mbit` for `10mbps`.
pub(crate) fn in_bits(text: &str) -> String {
    let keep = text.len().saturating_sub("bps".len());
    format!("{}bit", text.get(..keep).unwrap_or(text))
}

/// Parses a size to bytes, within 32 bits. `get_size`.
pub(crate) fn size(text: &str) -> Option<u64> {
    let bytes = scaled(text, &SIZES)?;
    (bytes <= f64::from(u32::MAX)).then_some(bytes as u64)
}

/// Parses a time to whole microseconds, within 32 bits. `get_time`.
pub(crate) fn time(text: &str) -> Option<Time> {
    let micros = scaled(text, &TIMES)?;
    (micros <= f64::from(u32::MAX)).then(|| Time::from_microseconds(micros as u64))
}

/// Parses a percentage to a fraction: `7%`.
pub(crate) fn percent(text: &str) -> Option<f64> {
    match number(text)? {
        (value, "%") if value <= 100.0 => Some(value / 100.0),
        _ => None,
    }
}

/// Parses a number with a fraction.
pub(crate) fn fraction(text: &str) -> Option<f64> {
    match number(text)? {
        (value, "") => Some(value),
        _ => None,
    }
}

/// Parses a whole number in `base`; base 0 selects C notation with 0x and a leading 0. `get_u32`.
pub(crate) fn integer(text: &str, base: u32) -> Option<u64> {
    let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let (digits, base) = match (base, hexadecimal) {
        (0 | 16, Some(digits)) => (digits, 16),
        (0, None) if text.len() > 1 && text.starts_with('0') => (&text[1..], 8),
        (0, None) => (text, 10),
        (base, _) => (text, base),
    };
    let value = u64::from_str_radix(digits, base).ok()?;
    (!digits.starts_with('+') && u32::try_from(value).is_ok()).then_some(value)
}

/// Parses the number of a class, `1:10`, or of a queueing discipline, `1:`, in hexadecimal.
/// `tc_util.c:get_tc_classid`.
pub(crate) fn class_id(text: &str) -> Option<u32> {
    match text {
        "root" => return Some(ROOT),
        "none" => return Some(0),
        _ => {}
    }
    let part = |digits: &str| match digits {
        "" => Some(0),
        digits if digits.starts_with('+') => None,
        digits => u32::from_str_radix(digits.strip_prefix("0x").unwrap_or(digits), 16).ok(),
    };
    let (major, minor) = text.split_once(':').map_or((None, text), |(major, minor)| (Some(major), minor));
    let (major, minor) = if let Some(major) = major {
        (part(major)?, part(minor)?)
    } else {
        let whole = part(minor).filter(|_| !minor.is_empty())?;
        return Some(whole);
    };
    (major <= 0xffff && minor <= 0xffff).then_some(major << 16 | minor)
}

/// Parses the number of a queueing discipline: `1:`. `tc_util.c:get_qdisc_handle`.
pub(crate) fn handle(text: &str) -> Option<u32> {
    if text == "none" {
        return Some(0);
    }
    let digits = text.strip_suffix(':').unwrap_or(text);
    let major = u32::from_str_radix(digits, 16).ok().filter(|major| *major <= 0xffff)?;
    (!digits.starts_with('+')).then_some(major << 16)
}

/// `TC_H_ROOT`.
pub(crate) const ROOT: u32 = u32::MAX;

/// Formats the number of a class like tc.
pub(crate) fn shown_id(id: u32) -> String {
    match id {
        ROOT => "root".to_owned(),
        _ if id.trailing_zeros() >= 16 => format!("{:x}:", id >> 16),
        _ if id >> 16 == 0 => format!(":{id:x}"),
        _ => format!("{:x}:{:x}", id >> 16, id & 0xffff),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_match_get_rate() {
        let cases = [
            ("10mbit", 10_000_000),
            ("10Mbit", 10_000_000),
            // This unit means bytes per second and is often intended as bits.
            ("10mbps", 80_000_000),
            ("1kibit", 1024),
            ("1.5Mbit", 1_500_000),
            // 1001 b/s are rounded to 125 whole bytes per second.
            ("1001bit", 1000),
            ("64000", 64_000),
            ("1e6bit", 1_000_000),
        ];
        for (text, bits) in cases {
            assert_eq!(rate(text), Some(bits), "{text}");
        }
        for text in ["", "mbit", "-1mbit", "10mb", "10 mbit", "1e", "nan", "inf"] {
            assert_eq!(rate(text), None, "{text}");
        }
        assert!(counts_bytes("10mbps") && counts_bytes("8Bps") && !counts_bytes("10mbit"));
        assert_eq!(in_bits("10mbps"), "10mbit");
    }

    #[test]
    fn sizes_and_times_match_iproute2() {
        let sizes = [("15k", 15_360), ("15kb", 15_360), ("8kbit", 1024), ("2mbit", 262_144), ("100", 100)];
        for (text, bytes) in sizes {
            assert_eq!(size(text), Some(bytes), "{text}");
        }
        assert_eq!((size("0x1f"), rate("0x10kbit")), (Some(31), Some(16_000)));
        assert_eq!(size("5gb"), None);
        assert_eq!(size("10p"), None);
        for (text, micros) in [("5ms", 5000), ("20000", 20_000), ("1.5msec", 1500), ("2s", 2_000_000)] {
            assert_eq!(time(text), Some(Time::from_microseconds(micros)), "{text}");
        }
        assert_eq!(time("5m"), None);
        // In picoseconds, these times exceed 64 bits.
        assert_eq!((time("4294967296"), time("99999999999s")), (None, None));
        assert_eq!(percent("50%"), Some(0.5));
        assert_eq!(integer("0x1f", 0), Some(31));
        assert_eq!(integer("30", 16), Some(48));
        assert_eq!(integer("010", 0), Some(8));
        assert_eq!(integer("5p", 0), None);
    }

    #[test]
    fn numbers_of_classes_are_hexadecimal() {
        assert_eq!(class_id("1:10"), Some(0x1_0010));
        assert_eq!(class_id("1:"), Some(0x1_0000));
        assert_eq!(class_id(":3"), Some(3));
        assert_eq!(class_id("root"), Some(ROOT));
        assert_eq!(class_id("1:g"), None);
        assert_eq!(class_id("10000:1"), None);
        assert_eq!(class_id(""), None);
        assert_eq!(handle("ffff:"), Some(0xffff_0000));
        assert_eq!(handle("1:1"), None);
        assert_eq!(shown_id(0x1_0010), "1:10");
        assert_eq!(shown_id(0x10_0000), "10:");
    }
}
