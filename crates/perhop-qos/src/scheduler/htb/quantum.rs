//! The quantum of a class of HTB with a queue: the bytes that the class sends in one turn.

use std::ops::RangeInclusive;

use super::bucket::bytes_per_second;
use crate::scheduler::config::ShareConfig;
use crate::units::{ByteSize, Rate};

/// The default of r2q (iproute2 `q_htb.c`, `htb_parse_opt`). The quantum is the rate in bytes per second
/// divided by r2q.
pub const HTB_RATE_TO_QUANTUM: u32 = 10;
/// The limits of a quantum that is derived from a rate, bytes (`sch_htb.c`, `htb_change_class`).
pub const HTB_QUANTA: RangeInclusive<u64> = 1000..=200_000;

/// Returns the quantum that is derived from a rate and r2q, bytes. The limits [`HTB_QUANTA`] are not applied.
pub fn htb_rate_quantum(rate: Rate, rate_to_quantum: Option<u32>) -> u64 {
    bytes_per_second(rate) / u64::from(rate_to_quantum.unwrap_or(HTB_RATE_TO_QUANTUM).max(1))
}

/// Returns the quantum of a class with a queue: the configured quantum, or the quantum that is derived from
/// its rate within [`HTB_QUANTA`].
pub fn htb_quantum(share: &ShareConfig, rate_to_quantum: Option<u32>) -> ByteSize {
    share.quantum.unwrap_or_else(|| {
        let of_rate = share.rate.map_or(0, |rate| htb_rate_quantum(rate, rate_to_quantum));
        ByteSize::from_bytes(of_rate.clamp(*HTB_QUANTA.start(), *HTB_QUANTA.end()))
    })
}
