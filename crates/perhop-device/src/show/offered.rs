//! [`offered_rates`]: the offered rates of classes, from the counters in outputs of a device.

use perhop_qos::ConfigError;

use super::counters::Traffic;

/// The maximum mean IP packet length of a class. Counters of a host may count several segments as one packet.
const LONGEST_PACKET: f64 = 1500.0;
/// The minimum mean IP packet length of a class: the headers of IPv4 and UDP.
const SHORTEST_PACKET: f64 = 28.0;

/// A leaf class with its offered traffic, before any drop.
#[derive(Clone, Debug, PartialEq)]
pub struct OfferedClass {
    /// The names of the enclosing classes and of the class, the outermost first.
    pub path: Vec<String>,
    /// All packets since the counters were cleared, with their IP bytes.
    pub traffic: Traffic,
    /// The packets of the class that queues and policers dropped since the counters were cleared, with their
    /// IP bytes; `None` if the output does not show them.
    pub dropped: Option<Traffic>,
    /// The rate that the device prints, bits per second of IP packets.
    pub rate_bps: Option<f64>,
    /// The fraction of `rate_bps` that the device prints as dropped, 0 to 1.
    pub dropped_of_rate: Option<f64>,
}

/// The offered rate of a class.
#[derive(Clone, Debug, PartialEq)]
pub struct OfferedRate {
    /// The names of the enclosing classes and of the class, the outermost first.
    pub path: Vec<String>,
    /// The offered rate, bits per second of IP packets.
    pub bps: f64,
    /// Mean length of a packet, IP bytes; `None` without packets.
    pub packet_bytes: Option<u32>,
    /// The dropped fraction of the bytes of the class, 0 to 1; `None` if the output does not show it.
    pub dropped: Option<f64>,
}

/// Returns the offered rates of classes. The rates come from the difference of two outputs `seconds` apart,
/// from the counters of one output over `seconds`, or from the rates that the device prints.
///
/// # Errors
/// A time is missing or has no matching output, or counters decreased.
pub fn offered_rates(
    earlier: Option<&[OfferedClass]>,
    later: &[OfferedClass],
    seconds: Option<f64>,
) -> Result<Vec<OfferedRate>, ConfigError> {
    let missing = |message: &str, help: &str| ConfigError::new("", message.to_owned()).help(help.to_owned());
    let rate = |class: &OfferedClass| match (earlier, seconds) {
        (Some(_), None) => {
            Err(missing("the time between the two outputs is not known", "give it: --over 300s"))
        }
        (None, None) => {
            let bps = class.rate_bps.ok_or_else(|| {
                missing(
                    "the output has counters but no rates",
                    "give the time since the counters were cleared: --over 300s",
                )
            })?;
            let packet_bytes = mean_packet(class.traffic);
            Ok(OfferedRate { path: class.path.clone(), bps, packet_bytes, dropped: class.dropped_of_rate })
        }
        (_, Some(seconds)) => {
            let before = earlier.map(|all| before(all, class)).transpose()?.flatten();
            let counted = class.traffic - before.map_or(Traffic::default(), |before| before.traffic);
            let dropped_before = before.and_then(|before| before.dropped).unwrap_or_default();
            let dropped = class.dropped.filter(|_| counted.bytes > 0.0);
            let part = |dropped: Traffic| ((dropped - dropped_before).bytes / counted.bytes).min(1.0);
            Ok(OfferedRate {
                path: class.path.clone(),
                bps: 8.0 * counted.bytes / seconds,
                packet_bytes: mean_packet(counted),
                dropped: dropped.map(part),
            })
        }
    };
    later.iter().map(rate).collect()
}

/// Returns the counters of a class in an earlier output; `None` if that output lacks the class.
///
/// # Errors
/// The earlier counters exceed the later ones.
fn before<'e>(
    earlier: &'e [OfferedClass],
    class: &OfferedClass,
) -> Result<Option<&'e OfferedClass>, ConfigError> {
    let same = earlier.iter().find(|reading| reading.path == class.path);
    let before = same.map_or(Traffic::default(), |reading| reading.traffic);
    if before.packets > class.traffic.packets {
        let (name, from, to) = (class.path.join("/"), before.packets, class.traffic.packets);
        let message =
            format!("the packets of class `{name}` went from {from} to {to}: the counters were reset");
        return Err(ConfigError::new("", message)
            .help("give the earlier output first, or one output and the time since the reset: --over 300s"));
    }
    Ok(same)
}

fn mean_packet(traffic: Traffic) -> Option<u32> {
    let mean = traffic.bytes / traffic.packets as f64;
    (traffic.packets > 0).then(|| mean.round().clamp(SHORTEST_PACKET, LONGEST_PACKET) as u32)
}
