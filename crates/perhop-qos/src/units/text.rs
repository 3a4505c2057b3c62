//! The text form of quantities: parsing, writing, serde and schema.

use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::notation::{
    PACKET_RATE, PACKET_UNITS, QUEUE_DEPTH_EXAMPLE, QUEUE_SIZE, QUEUE_SIZE_EXAMPLE, RATE, RATE_UNITS, SIZE,
    SIZE_UNITS, TIME, TIME_UNITS, decimal, format_exact, no_number, split,
};
use super::{ByteSize, PacketRate, QueueDepth, QueueSize, Rate, Time};

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
impl FromStr for PacketRate {
    type Err = String;
    fn from_str(text: &str) -> Result<PacketRate, String> {
        PACKET_RATE.parse(text).map(PacketRate)
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
        if number.is_empty() {
            return Err(no_number(text, QUEUE_SIZE, QUEUE_SIZE_EXAMPLE));
        }
        if unit.is_empty() {
            return Err(format!("`{text}` has no unit: packets or bytes? Write {QUEUE_SIZE_EXAMPLE}"));
        }
        if PACKET_UNITS.iter().any(|(name, _)| *name == unit) {
            return decimal(number, 1)
                .map(QueueSize::Packets)
                .ok_or_else(|| format!("`{text}` is not a whole number of packets"));
        }
        SIZE.parse(text)
            .map(QueueSize::Bytes)
            .map_err(|message| message.replace(SIZE.example, QUEUE_SIZE_EXAMPLE))
    }
}
impl FromStr for QueueDepth {
    type Err = String;
    fn from_str(text: &str) -> Result<QueueDepth, String> {
        let (_, unit) = split(text);
        if TIME_UNITS.iter().any(|(name, _)| *name == unit) {
            return text.parse().map(QueueDepth::Wait);
        }
        let size = text.parse().map(QueueDepth::Size);
        size.map_err(|message: String| message.replace(QUEUE_SIZE_EXAMPLE, QUEUE_DEPTH_EXAMPLE))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        // The largest unit is seconds, because the usual notation is "600s", not "10min".
        format_exact(self.0, &TIME_UNITS[3..], formatter)
    }
}
impl fmt::Display for Rate {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        format_exact(self.0, &[RATE_UNITS[0], RATE_UNITS[3], RATE_UNITS[6], RATE_UNITS[9]], formatter)
    }
}
impl fmt::Display for PacketRate {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{} packets/s", self.0)
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
impl fmt::Display for QueueDepth {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            QueueDepth::Size(size) => size.fmt(formatter),
            QueueDepth::Wait(wait) => wait.fmt(formatter),
        }
    }
}

/// Implements serde and the schema for a quantity that is written as text with its unit.
macro_rules! quantity_as_text {
    ($type:ident, $example:expr, $description:literal) => {
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
    TIME.example,
    "A time with its unit, at most 50d: 30ms, 600s, 10min (d, h, min, s, ms, us, ns, ps)"
);
quantity_as_text!(Rate, RATE.example, "A rate in bits per second with its unit: 64kb/s, 1.7Mb/s, 10Gb/s");
quantity_as_text!(
    PacketRate,
    PACKET_RATE.example,
    "A rate in packets per second with its unit: 500 packets/s, 500pps"
);
quantity_as_text!(ByteSize, SIZE.example, "A size in bytes with its unit: 1500B, 64kB (1000), 25KiB (1024)");
quantity_as_text!(QueueSize, QUEUE_SIZE_EXAMPLE, "A queue length in packets or IP bytes: 40 packets, 25KiB");
quantity_as_text!(
    QueueDepth,
    QUEUE_DEPTH_EXAMPLE,
    "A depth of a queue in packets, IP bytes or time: 40 packets, 25KiB, 1ms"
);

/// A serde visitor that parses text with `parse`. For a number without a unit, it reports the missing unit.
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
        assert_eq!("1.5d".parse(), Ok(Time::from_seconds(129_600)));
        assert_eq!("1200h".parse(), Ok(Time::LONGEST));
        assert_eq!("1.7Mb/s".parse(), Ok(Rate(1_700_000)));
        assert_eq!("25KiB".parse(), Ok(ByteSize(25_600)));
        assert_eq!("40 packets".parse(), Ok(QueueSize::Packets(40)));
        assert_eq!("40 packets".parse(), Ok(QueueDepth::Size(QueueSize::Packets(40))));
        assert_eq!("25KiB".parse(), Ok(QueueDepth::Size(QueueSize::Bytes(25_600))));
        assert_eq!("1ms".parse(), Ok(QueueDepth::Wait(Time::from_milliseconds(1))));
        assert_eq!("25kB".parse(), Ok(QueueSize::Bytes(25_000)));
        assert_eq!("500 packets/s".parse(), Ok(PacketRate(500)));
        assert_eq!("500pps".parse(), Ok(PacketRate(500)));
    }

    #[test]
    fn an_invalid_quantity_has_a_remedy() {
        let error = |text: &str| text.parse::<Rate>().unwrap_err();
        assert!(error("10").contains("has no unit"));
        assert!(error("10m").contains("ms, min or Mb/s"));
        assert!(error("10mb/s").contains("did you mean Mb/s?"));
        assert!(error("10MB/s").contains("bits per second"));
        assert!("25KB".parse::<ByteSize>().unwrap_err().contains("kB (1000) or KiB (1024)"));
        assert!("1.5 packets".parse::<QueueSize>().unwrap_err().contains("whole number"));
        assert!("1 minute".parse::<QueueDepth>().unwrap_err().contains("25KiB or 1ms"));
        assert!("0.5ps".parse::<Time>().unwrap_err().contains("too fine"));
        assert!("5000000s".parse::<Time>().unwrap_err().contains("at most 4320000s"));
        assert!("5124h".parse::<Time>().unwrap_err().contains("at most 1200h"));
        assert!("50.5d".parse::<Time>().unwrap_err().contains("at most 50d"));
        assert!("500".parse::<PacketRate>().unwrap_err().contains("has no unit"));
        assert!("0.5 packets/s".parse::<PacketRate>().unwrap_err().contains("whole number of packets/s"));
        assert!("500 packets".parse::<PacketRate>().unwrap_err().contains("write it as in 500 packets/s"));
        assert!("-3s".parse::<Time>().unwrap_err().contains("is negative: write a time"));
    }

    #[test]
    fn display_reads_back() {
        for text in ["30ms", "600s", "3400us", "0ps"] {
            assert_eq!(text.parse::<Time>().unwrap().to_string(), text);
        }
        for text in ["1700kb/s", "10Gb/s", "7b/s"] {
            assert_eq!(text.parse::<Rate>().unwrap().to_string(), text);
        }
        assert_eq!("500pps".parse::<PacketRate>().unwrap().to_string(), "500 packets/s");
        assert_eq!("25600B".parse::<ByteSize>().unwrap().to_string(), "25KiB");
    }

    #[test]
    fn transmission_time_is_exact() {
        let ten_gigabit = Rate(10_000_000_000);
        assert_eq!(ten_gigabit.transmission_time(1), Time::from_picoseconds(800));
        assert_eq!(Rate(1_700_000).transmission_time(1052).as_picoseconds(), 4_950_588_235);
    }
}
