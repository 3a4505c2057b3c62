//! Quantities with their units: [`Time`] (integer picoseconds), [`Rate`] (bits per second),
//! [`ByteSize`] (bytes) and [`QueueSize`] (packets or bytes).
//!
//! All four are written with their unit in configuration files (`30ms`, `1.7Mb/s`, `25KiB`,
//! `40 packets`) and refuse a bare number: `10` beside a delay is ten of what?

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub};
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// An instant since the start of the run, or a span between two instants: integer picoseconds.
///
/// 64 bits last 213 days; one byte at 10 Gb/s is 800 ps exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

/// Picoseconds in one second.
pub const PICOSECONDS_PER_SECOND: u64 = 1_000_000_000_000;

impl Time {
    /// The start of the run; the empty span.
    pub const ZERO: Time = Time(0);
    /// Later than everything that happens: "never".
    pub const MAX: Time = Time(u64::MAX);

    /// `ps` picoseconds.
    pub const fn from_picoseconds(ps: u64) -> Time {
        Time(ps)
    }
    /// `ns` nanoseconds.
    pub const fn from_nanoseconds(ns: u64) -> Time {
        Time(ns * 1_000)
    }
    /// `us` microseconds.
    pub const fn from_microseconds(us: u64) -> Time {
        Time(us * 1_000_000)
    }
    /// `ms` milliseconds.
    pub const fn from_milliseconds(ms: u64) -> Time {
        Time(ms * 1_000_000_000)
    }
    /// `s` whole seconds.
    pub const fn from_seconds(s: u64) -> Time {
        Time(s * PICOSECONDS_PER_SECOND)
    }
    /// `seconds`, rounded to the nearest picosecond; negative values and NaN become zero,
    /// values past the range become [`Time::MAX`].
    pub fn from_seconds_f64(seconds: f64) -> Time {
        Time(libm::round(seconds * PICOSECONDS_PER_SECOND as f64) as u64)
    }
    /// The picoseconds.
    pub const fn as_picoseconds(self) -> u64 {
        self.0
    }
    /// The seconds, as a float: for reports, never for the simulation's own arithmetic.
    pub fn as_seconds(self) -> f64 {
        self.0 as f64 / PICOSECONDS_PER_SECOND as f64
    }
    /// The milliseconds, as a float, for reports.
    pub fn as_milliseconds(self) -> f64 {
        self.0 as f64 / 1e9
    }
    /// `self - earlier`, or zero where `earlier` is the later one.
    pub const fn saturating_sub(self, earlier: Time) -> Time {
        Time(self.0.saturating_sub(earlier.0))
    }
    /// `self + span`, stopping at [`Time::MAX`].
    pub const fn saturating_add(self, span: Time) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl Add for Time {
    type Output = Time;
    fn add(self, span: Time) -> Time {
        Time(self.0 + span.0)
    }
}
impl AddAssign for Time {
    fn add_assign(&mut self, span: Time) {
        self.0 += span.0;
    }
}
impl Sub for Time {
    type Output = Time;
    fn sub(self, earlier: Time) -> Time {
        Time(self.0 - earlier.0)
    }
}
impl Mul<u64> for Time {
    type Output = Time;
    fn mul(self, factor: u64) -> Time {
        Time(self.0 * factor)
    }
}
impl Sum for Time {
    fn sum<I: Iterator<Item = Time>>(spans: I) -> Time {
        spans.fold(Time::ZERO, Add::add)
    }
}

/// Bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// `bits` per second.
    pub const fn from_bits_per_second(bits: u64) -> Rate {
        Rate(bits)
    }
    /// The bits per second.
    pub const fn as_bits_per_second(self) -> u64 {
        self.0
    }
    /// How long `bytes` take at this rate, rounded down to a picosecond.
    ///
    /// Exact for every size up to 2.3 MB, beyond any packet. The rate must not be zero.
    pub const fn transmission_time(self, bytes: u64) -> Time {
        Time(bytes * (8 * PICOSECONDS_PER_SECOND) / self.0)
    }
}

/// A number of bytes; configuration says of what (payload, IP or wire) beside each use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteSize(u64);

impl ByteSize {
    /// `bytes` bytes.
    pub const fn from_bytes(bytes: u64) -> ByteSize {
        ByteSize(bytes)
    }
    /// The bytes.
    pub const fn as_bytes(self) -> u64 {
        self.0
    }
}

/// A length of a queue, counted in packets or in IP bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueueSize {
    /// Counted in packets, whatever their size.
    Packets(u64),
    /// Counted in IP bytes.
    Bytes(u64),
}

impl QueueSize {
    /// The count without its unit.
    pub const fn count(self) -> u64 {
        match self {
            QueueSize::Packets(count) | QueueSize::Bytes(count) => count,
        }
    }
    /// Whether both are counted in the same unit.
    pub const fn same_unit(self, other: QueueSize) -> bool {
        matches!(
            (self, other),
            (QueueSize::Packets(_), QueueSize::Packets(_)) | (QueueSize::Bytes(_), QueueSize::Bytes(_))
        )
    }
}

/// One unit of a quantity: how it is written, and what one of it is worth in the base unit.
type Unit = (&'static str, u64);

const TIME_UNITS: &[Unit] = &[
    ("h", 3_600 * PICOSECONDS_PER_SECOND),
    ("min", 60 * PICOSECONDS_PER_SECOND),
    ("s", PICOSECONDS_PER_SECOND),
    ("ms", 1_000_000_000),
    ("us", 1_000_000),
    ("µs", 1_000_000),
    ("ns", 1_000),
    ("ps", 1),
];
const RATE_UNITS: &[Unit] = &[
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
const SIZE_UNITS: &[Unit] = &[
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
const PACKET_UNITS: &[Unit] = &[("packets", 1), ("packet", 1), ("pkts", 1), ("p", 1)];

/// What a quantity's text may look like, and what to say when it does not.
struct Notation {
    what: &'static str,
    units: &'static [Unit],
    example: &'static str,
}

const TIME: Notation = Notation { what: "a time", units: TIME_UNITS, example: "30ms, 600s or 10min" };
const RATE: Notation = Notation { what: "a rate", units: RATE_UNITS, example: "1.7Mb/s or 64kb/s" };
const SIZE: Notation =
    Notation { what: "a size in bytes", units: SIZE_UNITS, example: "1500B, 25KiB or 64kB" };
const QUEUE_SIZE_EXAMPLE: &str = "40 packets, 25KiB or 64kB";

/// Splits `25KiB` into its number and its unit.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

impl Notation {
    /// `text` in the base unit: exact decimal arithmetic, an error where it is not a whole number of them.
    fn parse(&self, text: &str) -> Result<u64, String> {
        let (number, unit) = split(text);
        let Notation { what, example, .. } = *self;
        if number.is_empty() {
            return Err(format!("expected {what} such as {example}, found \"{text}\""));
        }
        if unit.is_empty() {
            return Err(format!("\"{text}\" has no unit: write {what} such as {example}"));
        }
        let Some(&(_, scale)) = self.units.iter().find(|(name, _)| *name == unit) else {
            return Err(format!("\"{unit}\" is not a unit of {what}{}", self.suggestion(unit)));
        };
        decimal(number, scale).ok_or_else(|| {
            format!(
                "\"{text}\" is too large or too fine: {what} is a whole number of {}",
                self.units.last().map_or("", |u| u.0)
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

/// `number` (digits, at most one point, underscores ignored) times `scale`, if that is a whole `u64`.
fn decimal(number: &str, scale: u64) -> Option<u64> {
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

/// `value` in the largest of `units` that keeps it a whole number, without loss: `parse` reads it back.
fn format_exact(value: u64, units: &[Unit], formatter: &mut fmt::Formatter) -> fmt::Result {
    let exact = units.iter().find(|(_, scale)| value != 0 && value.is_multiple_of(*scale));
    let (name, scale) = exact.or(units.last()).copied().unwrap_or(("", 1));
    write!(formatter, "{}{name}", value / scale)
}

impl FromStr for Time {
    type Err = String;
    fn from_str(text: &str) -> Result<Time, String> {
        TIME.parse(text).map(Time)
    }
}
impl FromStr for Rate {
    type Err = String;
    fn from_str(text: &str) -> Result<Rate, String> {
        RATE.parse(text).map(Rate)
    }
}
impl FromStr for ByteSize {
    type Err = String;
    fn from_str(text: &str) -> Result<ByteSize, String> {
        SIZE.parse(text).map(ByteSize)
    }
}
impl FromStr for QueueSize {
    type Err = String;
    fn from_str(text: &str) -> Result<QueueSize, String> {
        let (number, unit) = split(text);
        if unit.is_empty() {
            return Err(format!("\"{text}\" has no unit: packets or bytes? Write {QUEUE_SIZE_EXAMPLE}"));
        }
        if PACKET_UNITS.iter().any(|(name, _)| *name == unit) {
            return decimal(number, 1)
                .map(QueueSize::Packets)
                .ok_or_else(|| format!("\"{text}\" is not a whole number of packets"));
        }
        SIZE.parse(text)
            .map(QueueSize::Bytes)
            .map_err(|message| message.replace(SIZE.example, QUEUE_SIZE_EXAMPLE))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        // Seconds and below: "600s" is what people write, not "10min".
        format_exact(self.0, &TIME_UNITS[2..], formatter)
    }
}
impl fmt::Display for Rate {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        format_exact(self.0, &[RATE_UNITS[0], RATE_UNITS[3], RATE_UNITS[6], RATE_UNITS[9]], formatter)
    }
}
impl fmt::Display for ByteSize {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        format_exact(
            self.0,
            &[SIZE_UNITS[1], SIZE_UNITS[2], SIZE_UNITS[4], SIZE_UNITS[5], SIZE_UNITS[6]],
            formatter,
        )
    }
}
impl fmt::Display for QueueSize {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            QueueSize::Packets(count) => write!(formatter, "{count} packets"),
            QueueSize::Bytes(bytes) => ByteSize(*bytes).fmt(formatter),
        }
    }
}

/// Serde and schema for a quantity that is written as text with its unit.
macro_rules! quantity_as_text {
    ($type:ident, $what:expr, $example:expr, $description:literal) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$type, D::Error> {
                deserializer.deserialize_any(TextWithUnit { example: $example, parse: $type::from_str })
            }
        }
        impl JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "type": "string",
                    "description": $description,
                    "pattern": "^ *[0-9][0-9_.]* *[A-Za-zµ][A-Za-z/]*$",
                })
            }
        }
    };
}

quantity_as_text!(
    Time,
    TIME.what,
    TIME.example,
    "A time with its unit: 30ms, 600s, 10min (h, min, s, ms, us, ns, ps)"
);
quantity_as_text!(
    Rate,
    RATE.what,
    RATE.example,
    "A rate in bits per second with its unit: 64kb/s, 1.7Mb/s, 10Gb/s"
);
quantity_as_text!(
    ByteSize,
    SIZE.what,
    SIZE.example,
    "A size in bytes with its unit: 1500B, 64kB (1000), 25KiB (1024)"
);
quantity_as_text!(
    QueueSize,
    "a queue length",
    QUEUE_SIZE_EXAMPLE,
    "A queue length in packets or IP bytes: 40 packets, 25KiB"
);

/// Reads text through `parse`; says what is missing when it meets a bare number.
struct TextWithUnit<T> {
    example: &'static str,
    parse: fn(&str) -> Result<T, String>,
}

impl<T> de::Visitor<'_> for TextWithUnit<T> {
    type Value = T;
    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "text with a unit such as {}", self.example)
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        (self.parse)(text).map_err(E::custom)
    }
    fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }
    fn visit_f64<E: de::Error>(self, number: f64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_exactly() {
        assert_eq!("30ms".parse(), Ok(Time::from_milliseconds(30)));
        assert_eq!("0.1 s".parse(), Ok(Time::from_milliseconds(100)));
        assert_eq!("1.7Mb/s".parse(), Ok(Rate(1_700_000)));
        assert_eq!("25KiB".parse(), Ok(ByteSize(25_600)));
        assert_eq!("40 packets".parse(), Ok(QueueSize::Packets(40)));
        assert_eq!("25kB".parse(), Ok(QueueSize::Bytes(25_000)));
    }

    #[test]
    fn a_wrong_quantity_says_what_would_be_right() {
        let error = |text: &str| text.parse::<Rate>().unwrap_err();
        assert!(error("10").contains("has no unit"));
        assert!(error("10m").contains("ms, min or Mb/s"));
        assert!(error("10mb/s").contains("did you mean Mb/s?"));
        assert!(error("10MB/s").contains("bits per second"));
        assert!("25KB".parse::<ByteSize>().unwrap_err().contains("kB (1000) or KiB (1024)"));
        assert!("1.5 packets".parse::<QueueSize>().unwrap_err().contains("whole number"));
        assert!("0.5ps".parse::<Time>().unwrap_err().contains("too fine"));
        assert!("-3s".parse::<Time>().unwrap_err().contains("expected a time"));
    }

    #[test]
    fn display_reads_back() {
        for text in ["30ms", "600s", "3400us", "0ps"] {
            assert_eq!(text.parse::<Time>().unwrap().to_string(), text);
        }
        for text in ["1700kb/s", "10Gb/s", "7b/s"] {
            assert_eq!(text.parse::<Rate>().unwrap().to_string(), text);
        }
        assert_eq!("25600B".parse::<ByteSize>().unwrap().to_string(), "25KiB");
    }

    #[test]
    fn transmission_time_is_exact() {
        let ten_gigabit = Rate(10_000_000_000);
        assert_eq!(ten_gigabit.transmission_time(1), Time::from_picoseconds(800));
        assert_eq!(Rate(1_700_000).transmission_time(1052).as_picoseconds(), 4_950_588_235);
    }
}
