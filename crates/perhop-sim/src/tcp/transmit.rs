//! Selection of the next data to send.

use perhop_qos::units::Time;

use super::sender::{Phase, Sender, Timing};
use perhop_scenario::tcp::{Fin, Recovery};

/// The data and the FIN of the next segment, as offsets in the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(super) sequence: u64,
    pub(super) length: u32,
    pub(super) fin: bool,
    /// Whether the piece contains only new data and is not a zero-window probe. Such packets are ECN-capable.
    pub(super) is_new: bool,
    /// Whether the sender certainly has no further segment now. `false` means that it may have one.
    pub(super) is_last: bool,
}

impl Piece {
    /// The offset after the piece, including its FIN.
    pub(super) fn end(self) -> u64 {
        self.sequence + u64::from(self.length) + u64::from(self.fin)
    }
}

/// The SACKed data around the sender's `next`.
struct Sacked {
    /// The first SACKed offset from the sender's `next` on; [`u64::MAX`] if there is none.
    next: u64,
    /// The number of SACKed bytes before the sender's `next` that do not count as in flight.
    bytes: u64,
}

impl Sacked {
    const NONE: Sacked = Sacked { next: u64::MAX, bytes: 0 };
}

impl Sender {
    /// Returns the next piece on the [fast path](Sender::is_fast_path), while data are in flight. The piece
    /// is a full segment of new data that fits into both windows and does not end the data. If the result is
    /// `None`, the sender has not changed, and [`Sender::poll`] selects the next piece.
    #[allow(clippy::inline_always)] // the fast path of every data segment
    #[inline(always)]
    pub(super) fn poll_fast_path(&mut self, now: Time) -> Option<Piece> {
        debug_assert!(self.flight() > 0, "an idle sender may have to restart");
        let (sequence, end) = (self.next, self.next + self.payload);
        if !(sequence == self.highest && end < self.written && end <= self.edge && self.is_fast_path()) {
            return None;
        }
        // The window is not inflated on the fast path.
        let left = self.bytes_in(self.window.segments).checked_sub(end - self.unacknowledged)?;
        let is_last = !self.finishing && left < (self.written - end).min(self.payload);
        self.cwnd_limited |= is_last;
        let piece = Piece { is_new: true, is_last, ..self.full_piece() };
        self.record_new_data(now, end);
        self.next = end;
        self.highest = end;
        Some(piece)
    }

    /// Returns the next piece, if the windows permit one. The caller repeats the call until the result is
    /// `None`. The application must [have sent data or closed](Sender::has_work).
    pub(super) fn poll(&mut self, now: Time) -> Option<Piece> {
        if self.is_recorded() {
            return self.poll_recorded(now);
        }
        let selective = self.phase == Phase::Recovery && self.parameters.recovery == Recovery::Sack;
        if self.probe_due || self.retransmit || selective {
            return self.poll_recovery_or_probe(now);
        }
        self.restart_if_idle(now);
        let piece = self.next_in_window(now)?;
        Some(self.record_sent(now, piece))
    }

    /// Does the same as [`Sender::poll`] for a sender with a record of every segment.
    fn poll_recorded(&mut self, now: Time) -> Option<Piece> {
        if self.probe_due {
            if let Some(linux) = &mut self.linux {
                linux.note_window_probe(now);
            }
            return Some(self.probe(now));
        }
        self.with_linux(|linux, stream| linux.poll(stream, now)).flatten()
    }
    /// Returns the segment of new data at `next` that the offered window permits.
    pub(super) fn next_piece(&mut self, now: Time) -> Option<Piece> {
        self.within_offered_window(now, self.piece(self.next, u64::MAX))
    }
    /// Counts a segment. `retransmissions` is 1 for a retransmission, otherwise 0.
    pub(super) fn count_sent(&mut self, now: Time, retransmissions: u64) {
        self.statistics.segments += 1;
        self.statistics.retransmissions += retransmissions;
        self.last_sent = now;
        self.probe_at = Time::MAX;
        self.probes = 0;
    }

    /// Returns the next piece if it is a zero-window probe, a fast retransmission, or a segment of SACK
    /// recovery.
    #[inline(never)]
    fn poll_recovery_or_probe(&mut self, now: Time) -> Option<Piece> {
        if self.probe_due {
            return Some(self.probe(now));
        }
        let piece = if std::mem::take(&mut self.retransmit) {
            let piece = self.piece(self.unacknowledged, self.highest);
            self.retransmitted = piece.end();
            piece
        } else {
            self.next_segment()?
        };
        Some(self.record_sent(now, piece))
    }

    /// Returns the retransmission from `sequence` up to `end`, including the FIN. The piece has its original
    /// length, even if the segment size has changed.
    pub(super) fn piece_again(&self, sequence: u64, end: u64) -> Piece {
        let length = (end.min(self.written) - sequence) as u32;
        Piece { sequence, length, fin: end > self.written, is_new: false, is_last: false }
    }
    /// Returns the piece of at most one full segment that starts at `sequence` and ends at or before `limit`.
    pub(super) fn piece(&self, sequence: u64, limit: u64) -> Piece {
        let end = self.written.min(limit).min(sequence + self.payload).max(sequence);
        let takes_fin = |sender: &Sender| sender.parameters.fin == Fin::WithData || end == sequence;
        let fin = self.finishing && end == self.written && limit > self.written && takes_fin(self);
        Piece { sequence, length: (end - sequence) as u32, fin, is_new: false, is_last: false }
    }

    /// Returns the full segment at `next`. More than a segment of data must remain.
    #[inline]
    fn full_piece(&self) -> Piece {
        let (sequence, length) = (self.next, self.payload as u32);
        let piece = Piece { sequence, length, fin: false, is_new: false, is_last: false };
        debug_assert_eq!(piece, self.piece(sequence, u64::MAX));
        piece
    }

    /// Returns the piece at `next`, if both windows permit it.
    pub(super) fn next_in_window(&mut self, now: Time) -> Option<Piece> {
        let sacked = if self.scoreboard.is_empty() { Sacked::NONE } else { self.skip_sacked() };
        let in_the_middle = self.written.saturating_sub(self.next) > self.payload;
        let (piece, needed) = if in_the_middle && sacked.next == u64::MAX {
            (self.full_piece(), self.payload)
        } else if self.next < self.end() {
            let piece = self.piece(self.next, sacked.next);
            let takes_segment = piece.fin && self.parameters.fin == Fin::Alone;
            (piece, if takes_segment { self.payload } else { u64::from(piece.length).max(1) })
        } else {
            self.cwnd_limited = false;
            return None;
        };
        let room = self.room(sacked.bytes);
        if room < needed {
            self.cwnd_limited = true;
            return None;
        }
        let piece = self.within_offered_window(now, piece)?;
        let is_last = sacked.next == u64::MAX && self.fills_window(room, piece);
        Some(Piece { is_last, ..piece })
    }

    /// Moves `next` behind SACKed data after a timeout, and returns the SACKed data around `next`.
    #[inline(never)]
    fn skip_sacked(&mut self) -> Sacked {
        if self.phase == Phase::Loss && self.parameters.recovery == Recovery::Sack {
            // Data that were SACKed before the timeout are not retransmitted.
            self.next = self.scoreboard.first_missing(self.next);
        }
        // RFC 6675 §5, step 3: SACKed data have left the network.
        let has_left = self.parameters.limited_transmit || self.phase == Phase::Loss;
        let bytes = || self.scoreboard.present_between(self.unacknowledged, self.next);
        Sacked {
            next: self.scoreboard.first_present(self.next).unwrap_or(u64::MAX),
            bytes: if has_left { bytes() } else { 0 },
        }
    }

    /// Whether the congestion window has no room for the next piece after `piece`, and the next piece has no
    /// FIN. `room` is the room before `piece`, bytes. If true, the congestion window limits the sender, and
    /// the next poll would return `None`.
    fn fills_window(&mut self, room: u64, piece: Piece) -> bool {
        let left = self.written.saturating_sub(piece.end());
        let is_last = !self.finishing && left > 0 && room - u64::from(piece.length) < left.min(self.payload);
        self.cwnd_limited |= is_last;
        is_last
    }

    /// Returns the number of bytes that the congestion window permits after `next`. `sacked` bytes below
    /// `next` are not in flight. The window counts in whole segments, because a sender avoids small segments
    /// (RFC 9293 §3.8.6.2.1).
    fn room(&self, sacked: u64) -> u64 {
        let flight = self.next - self.unacknowledged - sacked;
        self.bytes_in(self.window.segments + self.inflation).saturating_sub(flight)
    }

    /// Returns the number of bytes of the whole segments in a window of `segments`, at least one segment.
    fn bytes_in(&self, segments: f64) -> u64 {
        // The conversion truncates fractions and saturates below 0. A receiver's window fits into the type.
        u64::from((segments as u32).max(1)) * self.payload
    }

    /// Returns `piece`, shortened to the offered window. A shortened piece is sent only if it is at least
    /// half of the largest window ever offered (RFC 9293 §3.8.6.2.1).
    fn within_offered_window(&mut self, now: Time, piece: Piece) -> Option<Piece> {
        let offered = self.edge.saturating_sub(piece.sequence);
        if offered >= u64::from(piece.length) {
            return Some(piece);
        }
        self.cwnd_limited = false;
        if offered > 0 && offered >= self.largest_window / 2 {
            return Some(self.piece(piece.sequence, piece.sequence + offered));
        }
        if self.next == self.unacknowledged && self.probe_at == Time::MAX {
            // RFC 9293 §3.8.6.1: no data are in flight whose acknowledgment could reopen the window.
            self.deadline = Time::MAX;
            self.probe_at = now + self.probe_interval();
        }
        None
    }

    /// Returns the interval to the next probe: the retransmission timeout, doubled with every probe (RFC 9293
    /// §3.8.6.1).
    fn probe_interval(&self) -> Time {
        let factor = 1u64 << self.probes.min(16);
        Time::from_picoseconds(self.rtt.rto().as_picoseconds().saturating_mul(factor))
            .min(self.parameters.maximum_rto)
    }

    /// Returns a zero-window probe: one byte beyond the window, or as much of a segment as the window
    /// permits.
    fn probe(&mut self, now: Time) -> Piece {
        self.probe_due = false;
        self.probes += 1;
        self.probe_at = now + self.probe_interval();
        self.statistics.probes += 1;
        let offered = self.edge.saturating_sub(self.next).max(1);
        let piece = self.piece(self.next, self.next + offered);
        // `next` does not change: the byte is retransmitted with its segment when the window opens.
        self.highest = self.highest.max(piece.end());
        piece
    }

    /// Reduces the window to the initial window after an idle time longer than the timeout (RFC 5681 §4.1).
    pub(super) fn restart_if_idle(&mut self, now: Time) {
        if self.highest > self.unacknowledged || self.highest == 0 || !self.parameters.idle_restart {
            return;
        }
        if now.saturating_sub(self.last_sent) > self.rtt.rto() {
            self.window.segments = self.window.segments.min(self.parameters.initial_segments());
        }
    }

    /// Returns the sender's estimate of the bytes in flight (RFC 6675 §4, SetPipe).
    pub(super) fn pipe(&self) -> u64 {
        let missing = |start: u64, end: u64| {
            let end = end.max(start);
            end - start - self.scoreboard.present_between(start, end)
        };
        let lost = self.scoreboard.lost_below(self.parameters.duplicate_threshold, self.payload);
        missing(self.unacknowledged.max(lost), self.highest)
            + missing(self.unacknowledged, self.retransmitted.min(self.highest))
    }

    /// Returns the next segment in SACK recovery (RFC 6675 §5, step C, and §4, NextSeg).
    fn next_segment(&mut self) -> Option<Piece> {
        let window = self.window.segments as u64 * self.payload;
        if window.saturating_sub(self.pipe()) < self.payload {
            self.cwnd_limited = true;
            return None;
        }
        let lost = self.scoreboard.lost_below(self.parameters.duplicate_threshold, self.payload);
        let missing = self.scoreboard.first_missing(self.retransmitted.max(self.unacknowledged));
        let repairable = missing < self.scoreboard.highest();
        // The rules are (1) the first lost segment, (2) new data, (3) the first segment that can be lost, (4)
        // the rescue.
        if repairable && missing < lost {
            return Some(self.retransmit_hole(missing));
        }
        if let Some(piece) = self.new_data() {
            return Some(piece);
        }
        if repairable {
            return Some(self.retransmit_hole(missing));
        }
        self.rescue()
    }
    fn retransmit_hole(&mut self, missing: u64) -> Piece {
        let limit = self.scoreboard.first_present(missing).unwrap_or(self.highest);
        let piece = self.piece(missing, limit);
        self.retransmitted = piece.end();
        piece
    }
    fn new_data(&self) -> Option<Piece> {
        let piece = self.piece(self.highest, u64::MAX);
        let fits = piece.end() <= self.edge.saturating_add(u64::from(piece.fin));
        (self.highest < self.end() && fits).then_some(piece)
    }
    /// Retransmits the last segment that is not SACKed, once per recovery (RFC 6675 §4, NextSeg rule 4).
    /// Without this rule, the loss of that segment would cause a timeout.
    fn rescue(&mut self) -> Option<Piece> {
        if self.rescued || self.scoreboard.highest() >= self.highest {
            return None;
        }
        self.rescued = true;
        let lowest = self.scoreboard.highest().max(self.unacknowledged);
        let start = self.highest.saturating_sub(self.payload).max(lowest);
        Some(self.piece(start, self.highest))
    }

    /// Updates the state of the sender for `piece`, which is sent now.
    fn record_sent(&mut self, now: Time, mut piece: Piece) -> Piece {
        let end = piece.end();
        piece.is_new = piece.sequence >= self.highest;
        if piece.is_new {
            self.record_new_data(now, end);
        } else {
            self.statistics.retransmissions += 1;
            // Karn & Partridge 1987: an acknowledgment could belong to either transmission.
            self.timing = Timing::NONE;
            self.record_segment(now);
        }
        if piece.sequence == self.next || piece.is_new {
            self.next = self.next.max(end);
        }
        self.highest = self.highest.max(end);
        if piece.is_new && self.duplicates > 0 && self.phase == Phase::Open {
            self.limited_transmit_bytes += end - piece.sequence;
        }
        self.probe_at = Time::MAX;
        self.probes = 0;
        piece
    }
    /// Updates counters, round-trip timing and the timer for new data up to `end`, which are sent now.
    #[inline]
    fn record_new_data(&mut self, now: Time, end: u64) {
        if self.timing.end == u64::MAX {
            self.timing = Timing { end, sent: now };
        }
        self.record_segment(now);
    }
    /// Counts a segment with data or FIN, and starts the retransmission timer if it is off (RFC 6298 §5.1).
    #[inline]
    fn record_segment(&mut self, now: Time) {
        self.statistics.segments += 1;
        self.last_sent = now;
        if self.deadline == Time::MAX {
            self.deadline = now + self.rtt.rto();
        }
    }
}
