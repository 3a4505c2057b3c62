//! [`Records`]: the state of every segment in flight, and the counts by state.

use std::collections::VecDeque;

/// The state of a segment, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks(u8);

impl Marks {
    /// The segment is selectively acknowledged.
    pub(super) const SACKED: Marks = Marks(1);
    /// The segment was declared lost, perhaps more than once.
    pub(super) const LOST: Marks = Marks(2);
    /// A retransmission of the segment is in flight.
    pub(super) const RETRANSMITTED: Marks = Marks(4);
    /// The segment was sent more than once.
    pub(super) const SENT_AGAIN: Marks = Marks(8);
    /// The segment ends with a FIN, which SACK blocks do not cover.
    pub(super) const FIN: Marks = Marks(16);

    pub(super) fn has(self, marks: Marks) -> bool {
        self.0 & marks.0 != 0
    }
    pub(super) fn set(&mut self, marks: Marks) {
        self.0 |= marks.0;
    }
    pub(super) fn clear(&mut self, marks: Marks) {
        self.0 &= !marks.0;
    }
    /// Whether the segment was ever retransmitted.
    pub(super) fn is_sent_again(self) -> bool {
        self.has(Marks(Marks::RETRANSMITTED.0 | Marks::SENT_AGAIN.0))
    }
    /// Whether the segment is lost, and no retransmission of it is in flight.
    pub(super) fn awaits_retransmission(self) -> bool {
        self.0 & (Marks::LOST.0 | Marks::RETRANSMITTED.0 | Marks::SACKED.0) == Marks::LOST.0
    }
}

/// One segment in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    /// The offset of the segment's first byte.
    pub(super) start: u64,
    /// The offset after the segment's last byte, including the FIN.
    pub(super) end: u64,
    /// The time of the segment's last transmission, microseconds.
    pub(super) sent: u64,
    /// The number of segments of the connection that were delivered by the time `sent`.
    pub(super) delivered: u32,
    pub(super) marks: Marks,
}

impl Record {
    /// The offset after the segment's last byte, without a FIN.
    fn data_end(&self) -> u64 {
        self.end - u64::from(self.marks.has(Marks::FIN))
    }
}

/// The number of a transmitted segment and the time of the transmission.
#[derive(Clone, Copy, Debug)]
struct Transmission {
    number: u64,
    sent: u64,
}

/// The segments in flight, both in the order of the stream and in the order of their last transmission.
/// Segments are numbered from 0.
#[derive(Clone, Debug, Default)]
pub(super) struct Records {
    segments: VecDeque<Record>,
    /// The number of the first segment in flight.
    first: u64,
    /// The transmissions in the order of time. The entry of a segment that was retransmitted or delivered
    /// later is stale.
    transmissions: VecDeque<Transmission>,
    /// `sacked_out`. Without SACK, the number of duplicate acknowledgments, which represent delivered
    /// segments.
    pub(super) sacked: u32,
    /// `lost_out`: the number of segments that are declared lost and not yet delivered.
    pub(super) lost: u32,
    /// `retrans_out`: the number of retransmitted segments in flight.
    pub(super) retransmitted: u32,
    /// The number of segments that were ever declared lost.
    pub(super) losses: u32,
    /// The number below which no segment awaits retransmission.
    search_from: u64,
    /// The offset after the highest SACKed data.
    highest_sacked: u64,
    /// The segments that were declared lost since the list was last read; `None` if lost segments are not
    /// listed.
    fresh_losses: Option<Vec<u64>>,
}

impl Records {
    /// Starts to list lost segments individually.
    pub(super) fn list_losses(&mut self) {
        self.fresh_losses = Some(Vec::new());
    }
    pub(super) fn has_fresh_losses(&self) -> bool {
        self.fresh_losses.as_ref().is_some_and(|fresh| !fresh.is_empty())
    }
    pub(super) fn fresh_losses(&self) -> &[u64] {
        self.fresh_losses.as_deref().unwrap_or_default()
    }
    pub(super) fn forget_fresh_losses(&mut self) {
        if let Some(fresh) = &mut self.fresh_losses {
            fresh.clear();
        }
    }
    /// The number of segments that were sent and are not cumulatively acknowledged (`packets_out`).
    pub(super) fn len(&self) -> u32 {
        self.segments.len() as u32
    }
    pub(super) fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }
    /// The number of segments in flight, including retransmissions. Delivered and lost segments do not count.
    pub(super) fn in_flight(&self) -> u32 {
        (self.len() + self.retransmitted).saturating_sub(self.sacked + self.lost)
    }
    pub(super) fn head(&self) -> Option<&Record> {
        self.segments.front()
    }
    pub(super) fn head_number(&self) -> u64 {
        self.first
    }
    pub(super) fn tail_number(&self) -> u64 {
        self.first + self.segments.len() as u64 - 1
    }
    pub(super) fn get(&self, number: u64) -> Option<&Record> {
        self.segments.get(number.checked_sub(self.first)? as usize)
    }
    pub(super) fn at(&mut self, number: u64) -> &mut Record {
        &mut self.segments[(number - self.first) as usize]
    }
    /// Returns the offset after the highest SACKed data, or `unacknowledged` if it is higher
    /// (`tcp_highest_sack_seq`).
    pub(super) fn forward_most(&self, unacknowledged: u64) -> u64 {
        if self.sacked == 0 { unacknowledged } else { self.highest_sacked.max(unacknowledged) }
    }
    pub(super) fn raise_highest_sacked(&mut self, end: u64) {
        self.highest_sacked = self.highest_sacked.max(end);
    }

    /// Adds a new segment that is sent.
    pub(super) fn push(&mut self, record: Record) {
        let number = self.first + self.segments.len() as u64;
        self.segments.push_back(record);
        self.transmissions.push_back(Transmission { number, sent: record.sent });
    }
    /// Records that the segment `number` is retransmitted at `now`.
    pub(super) fn resend(&mut self, number: u64, now: u64, delivered: u32) {
        let record = self.at(number);
        record.sent = now;
        record.delivered = delivered;
        record.marks.set(Marks::SENT_AGAIN);
        self.transmissions.push_back(Transmission { number, sent: now });
    }
    /// Removes and returns the first segment, if it ends at or below `unacknowledged`.
    pub(super) fn pop_acknowledged(&mut self, unacknowledged: u64) -> Option<Record> {
        let record = *self.segments.front().filter(|record| record.end <= unacknowledged)?;
        self.segments.pop_front();
        self.first += 1;
        self.search_from = self.search_from.max(self.first);
        Some(record)
    }
    /// Removes stale transmissions at the front.
    pub(super) fn trim_transmissions(&mut self) {
        while let Some(transmission) = self.transmissions.front() {
            if self.counts(*transmission) {
                return;
            }
            self.transmissions.pop_front();
        }
    }
    fn counts(&self, transmission: Transmission) -> bool {
        let record = self.get(transmission.number);
        record.is_some_and(|record| record.sent == transmission.sent && !record.marks.has(Marks::SACKED))
    }

    /// Returns the numbers of the segments that are completely within the offsets from `start` up to `end`.
    pub(super) fn covered(&self, start: u64, end: u64) -> std::ops::Range<u64> {
        let begins = self.segments.partition_point(|record| record.start < start);
        let within = self.segments.partition_point(|record| record.data_end() <= end && record.start < end);
        self.first + begins as u64..self.first + within.max(begins) as u64
    }

    /// Declares the segment `number` lost, or its retransmission if the segment was already lost
    /// (`tcp_mark_skb_lost`).
    pub(super) fn mark_lost(&mut self, number: u64) {
        let record = self.at(number);
        if record.marks.has(Marks::SACKED) {
            return;
        }
        if !record.marks.has(Marks::LOST) {
            record.marks.set(Marks::LOST);
            self.lost += 1;
        } else if record.marks.has(Marks::RETRANSMITTED) {
            record.marks.clear(Marks::RETRANSMITTED);
            self.retransmitted -= 1;
        } else {
            return;
        }
        self.losses += 1;
        if let Some(fresh) = &mut self.fresh_losses {
            fresh.push(number);
        }
        self.search_from = self.search_from.min(number);
    }
    /// Revokes all declarations of loss.
    pub(super) fn clear_losses(&mut self) {
        self.segments.iter_mut().for_each(|record| record.marks.clear(Marks::LOST));
        self.lost = 0;
    }
    /// Returns the number of the first segment that awaits retransmission.
    pub(super) fn next_lost(&mut self) -> Option<u64> {
        if self.retransmitted >= self.lost {
            return None;
        }
        let from = (self.search_from.max(self.first) - self.first) as usize;
        let found = self.segments.range(from..).position(|record| record.marks.awaits_retransmission());
        let number = self.first + (from + found?) as u64;
        self.search_from = number;
        Some(number)
    }

    /// Calls `judge` for each transmission, beginning with the earliest, until `judge` returns `Unknown`.
    /// Declares the segments lost for which `judge` returns `Lost` (`tcp_rack_detect_loss`).
    pub(super) fn walk_by_time(&mut self, mut judge: impl FnMut(&Record) -> Verdict) {
        self.trim_transmissions();
        let mut index = 0;
        while let Some(transmission) = self.transmissions.get(index).copied() {
            index += 1;
            if !self.counts(transmission) {
                continue;
            }
            let record = self.at(transmission.number);
            if record.marks.awaits_retransmission() {
                continue;
            }
            match judge(record) {
                Verdict::Lost => self.mark_lost(transmission.number),
                Verdict::NotYet => {}
                Verdict::Unknown => break,
            }
        }
    }
}

/// The result of loss detection for one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Lost,
    /// The segment may be late.
    NotYet,
    /// The segment was sent after all delivered segments, and so were all later segments.
    Unknown,
}
