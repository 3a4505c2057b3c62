//! The filter of acknowledgments: it finds queued acknowledgments that a later acknowledgment makes redundant
//! (`sch_cake.c` of Linux 6.1, `cake_ack_filter`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::packet::TcpHeader;

/// The queued acknowledgments that are dropped because of a later acknowledgment of the same connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CakeAckFilter {
    /// No acknowledgments are dropped.
    #[default]
    None,
    /// The first of two queued acknowledgments that the latest one makes redundant (`ack-filter`).
    Filter,
    /// Like `filter`, and also a single redundant acknowledgment directly before the latest one
    /// (`ack-filter-aggressive`).
    Aggressive,
}

/// The two TCP flags of ECN, which the filter compares.
const ECN: u16 = TcpHeader::ECE | TcpHeader::CWR;
/// The TCP flags other than those of ECN.
const OTHER_FLAGS: u16 = 0xfff & !ECN;

/// RFC 9293 §3.4: sequence numbers are compared modulo 2³².
fn is_after(number: u32, other: u32) -> bool {
    (number.wrapping_sub(other)).cast_signed() > 0
}

/// Whether `latest`, the header of the packet that has just joined, can make earlier packets redundant.
pub(super) fn triggers(latest: &TcpHeader) -> bool {
    latest.flags & (TcpHeader::ACK | TcpHeader::SYN) == TcpHeader::ACK
}

/// Whether the packet with the header `latest` makes the packet with the header `earlier`, of the same
/// connection, redundant. The ECN flags are not compared.
fn is_made_redundant(earlier: &TcpHeader, latest: &TcpHeader) -> bool {
    // The filter never drops packets with data, with flags other than ACK and the ECN flags, or with other
    // options.
    if earlier.flags & OTHER_FLAGS != TcpHeader::ACK || earlier.has_payload || earlier.has_others {
        return false;
    }
    // `cake_tcph_may_drop`: timestamps must not decrease. A packet without timestamps is treated like a
    // packet whose timestamps are 0.
    let (value, echo) = latest.timestamps.unwrap_or_default();
    if earlier.timestamps.is_some_and(|(own, echoed)| is_after(own, value) || is_after(echoed, echo)) {
        return false;
    }
    if is_after(earlier.acknowledgment, latest.acknowledgment) {
        return false;
    }
    match selective(earlier, latest) {
        Selective::Other => false,
        Selective::Same => earlier.acknowledgment != latest.acknowledgment,
        Selective::Less => true,
    }
}

/// The result of the comparison of the blocks of a selective acknowledgment with the blocks of a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Selective {
    /// The later blocks do not cover all of these blocks.
    Other,
    /// Both sets of blocks cover the same bytes.
    Same,
    /// The later blocks cover these blocks and more bytes.
    Less,
}

/// Compares the selective acknowledgments of two packets. Linux, `cake_tcph_sack_compare`.
fn selective(earlier: &TcpHeader, latest: &TcpHeader) -> Selective {
    let (own, others) = (earlier.blocks(), latest.blocks());
    match (own.is_empty(), others.is_empty()) {
        (true, true) => return Selective::Same,
        (true, false) => return Selective::Less,
        (false, true) => return Selective::Other,
        (false, false) => {}
    }
    let is_covered = |&(start, end): &(u32, u32)| {
        // A block below the acknowledgment number reports a duplicate (RFC 2883). The filter never drops such
        // packets.
        !is_after(earlier.acknowledgment, start)
            && others.iter().any(|other| !is_after(other.0, start) && !is_after(end, other.1))
    };
    let bytes = |blocks: &[(u32, u32)]| {
        blocks.iter().fold(0u32, |sum, (start, end)| sum.wrapping_add(end.wrapping_sub(*start)))
    };
    if !own.iter().all(is_covered) {
        Selective::Other
    } else if bytes(others) > bytes(own) {
        Selective::Less
    } else {
        Selective::Same
    }
}

/// A search through a queue, from its head to the packet that has just joined.
#[derive(Clone, Copy, Debug)]
pub(super) struct Search<T> {
    is_aggressive: bool,
    latest: TcpHeader,
    /// The first redundant packet, and its ECN flags.
    found: Option<(T, u16)>,
    /// Whether no packet has been processed since `found`.
    is_last: bool,
}

impl<T: Copy> Search<T> {
    pub(super) fn new(filter: CakeAckFilter, latest: TcpHeader) -> Search<T> {
        let is_aggressive = filter == CakeAckFilter::Aggressive;
        Search { is_aggressive, latest, found: None, is_last: false }
    }
    /// Processes the next packet, in slot `place`. `header` is `None` for a packet of another connection.
    /// Returns the packet to drop as soon as the search has found it.
    pub(super) fn next(&mut self, place: T, header: Option<&TcpHeader>) -> Option<T> {
        self.is_last = false;
        let earlier = header?;
        let ecn = earlier.flags & ECN;
        // If the ECN flags change, the previous acknowledgment is not dropped, because it is the last packet
        // with its flags.
        self.found = self.found.filter(|(_, flags)| *flags == ecn);
        if !is_made_redundant(earlier, &self.latest) {
            return None;
        }
        if let Some((first, _)) = self.found {
            return Some(first);
        }
        self.found = Some((place, ecn));
        self.is_last = true;
        None
    }
    /// Ends the search and returns the packet to drop, if any.
    pub(super) fn end(self) -> Option<T> {
        let (place, flags) = self.found?;
        (self.is_aggressive && self.is_last && flags == self.latest.flags & ECN).then_some(place)
    }
}
