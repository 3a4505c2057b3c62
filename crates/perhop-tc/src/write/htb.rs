//! Writing of HTB classes (tc-htb(8)).

use perhop_qos::scheduler::{Cells, LinkLayerConfig, ShareConfig, htb_quantum};
use perhop_qos::{ByteSize, Rate};

/// Bytes of a bucket in addition to one nanosecond of its rate: `q_htb.c`.
const LONGEST_PACKET: u64 = 1600;

/// Returns rate and ceiling of a class, bits per second. For the direct class, both are the rate of the port.
pub(super) fn rates(share: &ShareConfig, rate_bps: u64) -> (u64, u64) {
    let Some(rate) = share.rate else { return (rate_bps, rate_bps) };
    (rate.as_bits_per_second(), share.ceil.unwrap_or(rate).as_bits_per_second())
}

/// Returns rate, ceiling, buckets and link layer of a class.
pub(super) fn words(share: &ShareConfig, rate: u64, ceil: u64) -> String {
    let (burst, ceil_burst) = (bucket(share.burst, rate), bucket(share.ceil_burst, ceil));
    let link = share.link_layer.map(link_layer).unwrap_or_default();
    format!("rate {rate}bit ceil {ceil}bit burst {burst}b cburst {ceil_burst}b{link}")
}

/// Returns priority and quantum of a leaf class.
pub(super) fn turns(share: &ShareConfig, rate: u64, rate_to_quantum: Option<u32>) -> String {
    let share = ShareConfig { rate: Some(Rate::from_bits_per_second(rate)), ..share.clone() };
    let quantum = htb_quantum(&share, rate_to_quantum).as_bytes();
    format!("prio {} quantum {quantum}", share.level.unwrap_or(0))
}

/// Returns the configured priority and quantum of a leaf class.
pub(super) fn written_turns(share: &ShareConfig) -> String {
    let level = share.level.filter(|level| *level > 0).map(|level| format!(" prio {level}"));
    let quantum = share.quantum.map(|quantum| format!(" quantum {}", quantum.as_bytes()));
    format!("{}{}", level.unwrap_or_default(), quantum.unwrap_or_default())
}

fn bucket(written: Option<ByteSize>, rate: u64) -> u64 {
    written.map_or(LONGEST_PACKET + rate / 8_000_000_000, ByteSize::as_bytes)
}

fn link_layer(link: LinkLayerConfig) -> String {
    let number = |key, value| if value == 0 { String::new() } else { format!(" {key} {value}") };
    let cells = if link.cells == Cells::Atm { " linklayer atm" } else { "" };
    format!("{}{}{cells}", number("mpu", link.minimum_packet_unit), number("overhead", link.overhead))
}
