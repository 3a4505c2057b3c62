//! Writing of meters as policers. Each policer is a token bucket.

use perhop_device::{Missing, NotesAt};
use perhop_qos::meter::{ColorMode, MeterConfig};
use perhop_qos::{ByteSize, Color, Rate};

/// The Ethernet bytes that a policer counts per departing packet.
const ETHERNET: i32 = 14;
/// An MTU above the MTU of any interface without offloads, bytes.
const MTU: u64 = 65_535;

/// The bytes that the policers at one hook count per packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    /// Overhead of the policy in addition to IP, bytes.
    pub(super) overhead: i32,
    /// Whether the packets depart.
    pub(super) leaves: bool,
}

/// A token bucket, and the color of packets that exceed it.
pub(super) struct Bucket {
    pub(super) exceeding: Color,
    pub(super) words: String,
}

/// Returns the buckets of a meter in the order in which packets pass them.
///
/// # Errors
/// Linux has no such meter.
pub(super) fn buckets(
    meter: &MeterConfig,
    counted: Counted,
    notes: &mut NotesAt,
) -> Result<Vec<Bucket>, Missing> {
    let aware = |mode: ColorMode| match mode {
        ColorMode::ColorBlind => Ok(()),
        ColorMode::ColorAware => {
            let missing = Missing::new("a color-aware meter", "tc has no packet colors");
            Err(missing.instead("write `mode: color-blind`"))
        }
    };
    let mut bucket = |rate, burst| bucket(rate, burst, counted, notes);
    Ok(match meter {
        MeterConfig::TokenBucket(config) => {
            vec![Bucket { exceeding: config.excess, words: bucket(config.rate, config.burst) }]
        }
        MeterConfig::PacketRate(config) => {
            let rate = config.rate.as_packets_per_second();
            let words = format!("pkts_rate {rate} pkts_burst {}", config.burst.count());
            vec![Bucket { exceeding: config.excess, words }]
        }
        // RFC 2698: packets above the peak rate take no tokens from the committed bucket.
        MeterConfig::TwoRateTcm(two_rates) => {
            aware(two_rates.mode)?;
            vec![
                Bucket { exceeding: Color::RED, words: bucket(two_rates.pir, two_rates.pbs) },
                Bucket { exceeding: Color::YELLOW, words: bucket(two_rates.cir, two_rates.cbs) },
            ]
        }
        MeterConfig::SingleRateTcm(two_rates) => {
            aware(two_rates.mode)?;
            let both = ByteSize::from_bytes(two_rates.cbs.as_bytes() + two_rates.ebs.as_bytes());
            let words = bucket(two_rates.cir, both);
            notes.report(
                "meter single-rate-tcm",
                "Linux has no bucket that fills from the overflow of another: one bucket gets both bursts, and no packet is yellow",
            );
            vec![Bucket { exceeding: Color::RED, words }]
        }
        other => {
            let kind = super::words::kind(other);
            let reason = "a policer of Linux is one token bucket";
            return Err(Missing::new(format!("meter {kind}"), reason).instead("write a `token-bucket`"));
        }
    })
}

/// Returns a bucket. A policer counts the frame of a departing packet, but only the IP packet of an arriving
/// packet.
fn bucket(rate: Rate, burst: ByteSize, counted: Counted, notes: &mut NotesAt) -> String {
    let more = counted.overhead - if counted.leaves { ETHERNET } else { 0 };
    if more < 0 {
        notes.report(
            format!("lengths of IP packets plus {} bytes", counted.overhead),
            format!("a policer of departing packets also counts {ETHERNET} bytes of Ethernet"),
        );
    }
    let overhead = if more > 0 { format!(" overhead {more}") } else { String::new() };
    let (rate, burst) = (rate.as_bits_per_second(), burst.as_bytes());
    format!("rate {rate}bit burst {burst}b mtu {MTU}b{overhead}")
}
