//! The notation of quantities: numbers, units, and messages for invalid text.

use std::fmt;

use super::{PICOSECONDS_PER_SECOND, Time};

/// The name of a unit, and its value in the base unit.
pub(super) type Unit = (&'static str, u64);

pub(super) const TIME_UNITS: &[Unit] = &[
    ("d", 86_400 * PICOSECONDS_PER_SECOND),
    ("h", 3_600 * PICOSECONDS_PER_SECOND),
    ("min", 60 * PICOSECONDS_PER_SECOND),
    ("s", PICOSECONDS_PER_SECOND),
    ("ms", 1_000_000_000),
    ("us", 1_000_000),
    ("µs", 1_000_000),
    ("ns", 1_000),
    ("ps", 1),
];
pub(super) const RATE_UNITS: &[Unit] = &[
    ("Gb/s", 1_000_000_000),
    ("Gbit/s", 1_000_000_000),
    ("Gbps", 1_000_000_000),
    ("Mb/s", 1_000_000),
    ("Mbit/s", 1_000_000),
    ("Mbps", 1_000_000),
    ("kb/s", 1_000),
    ("kbit/s", 1_000),
    ("kbps", 1_000),
    ("b/s", 1),
    ("bit/s", 1),
    ("bps", 1),
];
pub(super) const PACKET_RATE_UNITS: &[Unit] = &[("pps", 1), ("packets/s", 1)];
pub(super) const SIZE_UNITS: &[Unit] = &[
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
    ("B", 1),
    ("bytes", 1),
    ("byte", 1),
];
pub(super) const PACKET_UNITS: &[Unit] = &[("packets", 1), ("packet", 1), ("pkts", 1), ("p", 1)];

/// The valid notation of a quantity, and the parts of its error messages.
pub(super) struct Notation {
    pub(super) what: &'static str,
    pub(super) units: &'static [Unit],
    pub(super) example: &'static str,
    /// The largest valid value, in the base unit.
    pub(super) most: u64,
}

pub(super) const TIME: Notation = Notation {
    what: "a time",
    units: TIME_UNITS,
    example: "30ms, 600s or 10min",
    most: Time::LONGEST.as_picoseconds(),
};
pub(super) const RATE: Notation =
    Notation { what: "a rate", units: RATE_UNITS, example: "1.7Mb/s or 64kb/s", most: u64::MAX };
pub(super) const PACKET_RATE: Notation = Notation {
    what: "a rate in packets",
    units: PACKET_RATE_UNITS,
    example: "500 packets/s",
    most: u64::MAX,
};
pub(super) const SIZE: Notation =
    Notation { what: "a size in bytes", units: SIZE_UNITS, example: "1500B, 25KiB or 64kB", most: u64::MAX };
pub(super) const QUEUE_SIZE: &str = "a queue length";
pub(super) const QUEUE_SIZE_EXAMPLE: &str = "40 packets, 25KiB or 64kB";
pub(super) const QUEUE_DEPTH_EXAMPLE: &str = "40 packets, 25KiB or 1ms";

/// Splits text such as `25KiB` into its number and its unit.
pub(super) fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

/// Returns the error message for `text`, which does not begin with a number.
pub(super) fn no_number(text: &str, what: &str, example: &str) -> String {
    if text.trim_start().starts_with('-') {
        format!("`{text}` is negative: write {what} such as {example}")
    } else {
        format!("expected {what} such as {example}, found `{text}`")
    }
}

impl Notation {
    /// Parses `text`, and returns its value in the base unit. The decimal arithmetic is exact. The result
    /// must be an integer.
    pub(super) fn parse(&self, text: &str) -> Result<u64, String> {
        let (number, unit) = split(text);
        let Notation { what, example, .. } = *self;
        if number.is_empty() {
            return Err(no_number(text, what, example));
        }
        if unit.is_empty() {
            return Err(format!("`{text}` has no unit: write {what} such as {example}"));
        }
        let Some(&(_, scale)) = self.units.iter().find(|(name, _)| *name == unit) else {
            return Err(format!("`{unit}` is not a unit of {what}{}", self.suggestion(unit)));
        };
        decimal(number, scale).filter(|value| *value <= self.most).ok_or_else(|| {
            format!(
                "`{text}` is too large or too fine: {what} is a whole number of {}, at most {}{unit}",
                self.units.last().map_or("", |u| u.0),
                self.most / scale
            )
        })
    }

    fn suggestion(&self, unit: &str) -> String {
        let hint = match unit {
            "KB" | "Kb" | "K" | "k" => "KB could be 1000 or 1024 bytes: write kB (1000) or KiB (1024)",
            "m" => "m could be milli, mega or minutes: write ms, min or Mb/s",
            "MB/s" | "kB/s" | "GB/s" | "B/s" => {
                "rates are in bits per second: write Mb/s, kb/s or Gb/s (1 byte is 8 bits)"
            }
            _ => "",
        };
        let same_but_case = self.units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit));
        match (hint, same_but_case) {
            ("", Some((name, _))) => format!("; did you mean {name}?"),
            ("", None) => format!("; write it as in {}", self.example),
            (hint, _) => format!(": {hint}"),
        }
    }
}

/// Returns `number` times `scale`, if the result is an integer that fits in a `u64`. `number` consists of
/// digits, at most one point, and underscores, which are ignored.
pub(super) fn decimal(number: &str, scale: u64) -> Option<u64> {
    let (mut value, mut divisor, mut after_point, mut digits) = (0u128, 1u128, false, 0);
    for c in number.chars() {
        match c {
            '_' => {}
            '.' if after_point => return None,
            '.' => after_point = true,
            digit => {
                digits += 1;
                value = value.checked_mul(10)?.checked_add(u128::from(digit.to_digit(10)?))?;
                divisor = if after_point { divisor.checked_mul(10)? } else { divisor };
            }
        }
    }
    let scaled = value.checked_mul(u128::from(scale))?;
    (digits > 0 && scaled.is_multiple_of(divisor)).then(|| u64::try_from(scaled / divisor).ok()).flatten()
}

/// Writes `value` without loss, in the largest of `units` in which it is an integer. `parse` reads the text
/// back.
pub(super) fn format_exact(value: u64, units: &[Unit], formatter: &mut fmt::Formatter) -> fmt::Result {
    let exact = units.iter().find(|(_, scale)| value != 0 && value.is_multiple_of(*scale));
    let (name, scale) = exact.or(units.last()).copied().unwrap_or(("", 1));
    write!(formatter, "{}{name}", value / scale)
}
