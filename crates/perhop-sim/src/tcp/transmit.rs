//! What the sender sends next.

use perhop_qos::units::Time;

use super::sender::{Phase, Sender, Timing};
use perhop_scenario::tcp::{Fin, Recovery};

/// A piece of the stream to be sent now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(super) sequence: u64,
    pub(super) length: u32,
    pub(super) fin: bool,
    /// Whether none of it was ever sent, and it is not a probe: such packets are ECN-capable.
    pub(super) is_new: bool,
    /// Whether it is known that nothing comes after it now.
    pub(super) is_last: bool,
}

impl Piece {
    /// The offset after it, its FIN counted.
    fn end(self) -> u64 {
        self.sequence + u64::from(self.length) + u64::from(self.fin)
    }
}

/// What selective acknowledgments say of the stream around `next`.
struct Selected {
    /// The first offset from `next` on that has arrived; [`u64::MAX`] where none has.
    next: u64,
    /// Bytes before `next` that have arrived and do not count as under way.
    arrived: u64,
}

impl Selected {
    const NONE: Selected = Selected { next: u64::MAX, arrived: 0 };
}

impl Sender {
    /// The next piece, while something is under way, where that follows from the windows alone: nothing is the matter, more
    /// than a segment's worth of the stream follows, of which nothing was ever sent, and both windows have room for it.
    /// Otherwise nothing has changed, and [`Sender::poll`] knows what is next.
    #[allow(clippy::inline_always)] // most segments are sent here, and the compiler knows what that makes short
    #[inline(always)]
    pub(super) fn poll_foreseen(&mut self, now: Time) -> Option<Piece> {
        debug_assert!(self.flight() > 0 && (!self.calm || self.is_calm()));
        let (sequence, end) = (self.next, self.next + self.payload);
        if !(self.calm && sequence == self.highest && end < self.written && end <= self.edge) {
            return None;
        }
        // Nothing inflates the window.
        let left = self.bytes_in(self.window.segments).checked_sub(end - self.unacknowledged)?;
        let is_last = !self.finishing && left < (self.written - end).min(self.payload);
        self.limited |= is_last;
        let piece = Piece { is_new: true, is_last, ..self.full_piece() };
        self.send_first(now, end);
        self.next = end;
        self.highest = end;
        Some(piece)
    }

    /// The next piece, if the windows let one out. Asked until there is none, and only where there
    /// [ever was](Sender::has_work) anything to send.
    pub(super) fn poll(&mut self, now: Time) -> Option<Piece> {
        let selective = self.phase == Phase::Recovery && self.parameters.recovery == Recovery::Sack;
        if self.probe_due || self.retransmit || selective {
            return self.poll_beside_window(now);
        }
        self.restart_if_idle(now);
        let piece = self.next_in_window(now)?;
        Some(self.sent(now, piece))
    }

    /// The same where what is next does not follow from the windows alone.
    #[inline(never)]
    fn poll_beside_window(&mut self, now: Time) -> Option<Piece> {
        if self.probe_due {
            return Some(self.probe(now));
        }
        let piece = if std::mem::take(&mut self.retransmit) {
            let piece = self.piece(self.unacknowledged, self.highest);
            self.retransmitted = piece.end();
            piece
        } else {
            self.next_selective()?
        };
        Some(self.sent(now, piece))
    }

    /// A segment's worth of the stream from `sequence` on, nothing of it at or after `limit`.
    pub(super) fn piece(&self, sequence: u64, limit: u64) -> Piece {
        let end = self.written.min(limit).min(sequence + self.payload).max(sequence);
        let takes_fin = |sender: &Sender| sender.parameters.fin == Fin::WithData || end == sequence;
        let fin = self.finishing && end == self.written && limit > self.written && takes_fin(self);
        Piece { sequence, length: (end - sequence) as u32, fin, is_new: false, is_last: false }
    }

    /// The piece at `next` where more than a segment's worth of the stream follows.
    #[inline]
    fn full_piece(&self) -> Piece {
        let (sequence, length) = (self.next, self.payload as u32);
        let piece = Piece { sequence, length, fin: false, is_new: false, is_last: false };
        debug_assert_eq!(piece, self.piece(sequence, u64::MAX));
        piece
    }

    /// The piece at `next`, if both windows allow it.
    pub(super) fn next_in_window(&mut self, now: Time) -> Option<Piece> {
        let selected = if self.scoreboard.is_empty() { Selected::NONE } else { self.skip_selected() };
        let in_the_middle = self.written.saturating_sub(self.next) > self.payload;
        let (piece, needed) = if in_the_middle && selected.next == u64::MAX {
            (self.full_piece(), self.payload)
        } else if self.next < self.end() {
            let piece = self.piece(self.next, selected.next);
            let takes_segment = piece.fin && self.parameters.fin == Fin::Alone;
            (piece, if takes_segment { self.payload } else { u64::from(piece.length).max(1) })
        } else {
            self.limited = false;
            return None;
        };
        let room = self.room(selected.arrived);
        if room < needed {
            self.limited = true;
            return None;
        }
        let piece = self.within_offered_window(now, piece)?;
        let is_last = selected.next == u64::MAX && self.fills(room, piece);
        Some(Piece { is_last, ..piece })
    }

    /// Goes on behind what need not be sent again, where something is SACKed.
    #[inline(never)]
    fn skip_selected(&mut self) -> Selected {
        if self.phase == Phase::Restart && self.parameters.recovery == Recovery::Sack {
            // What was SACKed before the timeout is not sent again.
            self.next = self.scoreboard.first_missing(self.next);
        }
        // RFC 6675 §5, step 3: what is SACKed has left the network.
        let has_left = self.parameters.limited_transmit || self.phase == Phase::Restart;
        let arrived = || self.scoreboard.present_between(self.unacknowledged, self.next);
        Selected {
            next: self.scoreboard.first_present(self.next).unwrap_or(u64::MAX),
            arrived: if has_left { arrived() } else { 0 },
        }
    }

    /// Whether `piece` leaves too little of the congestion window's `room` for the next one, which has no FIN:
    /// then the window is what stops the sender. Where nothing is SACKed, the next answer would be just that.
    fn fills(&mut self, room: u64, piece: Piece) -> bool {
        let left = self.written.saturating_sub(piece.end());
        let is_last = !self.finishing && left > 0 && room - u64::from(piece.length) < left.min(self.payload);
        self.limited |= is_last;
        is_last
    }

    /// Bytes that the congestion window still lets out, where `arrived` of those below `next` do not count. It
    /// counts whole segments: RFC 9293 §3.8.6.2.1 would not send parts of them.
    fn room(&self, arrived: u64) -> u64 {
        let flight = self.next - self.unacknowledged - arrived;
        self.bytes_in(self.window.segments + self.inflation).saturating_sub(flight)
    }

    /// Bytes of the whole segments in a window of so many, which is one at least.
    fn bytes_in(&self, segments: f64) -> u64 {
        // The conversion cuts off fractions, takes what is below 0 for 0, and no receiver offers more than fits.
        u64::from((segments as u32).max(1)) * self.payload
    }

    /// `piece` as far as the receiver has room for it. RFC 9293 §3.8.6.2.1: a part of it only if that is
    /// half of the largest window ever offered.
    fn within_offered_window(&mut self, now: Time, piece: Piece) -> Option<Piece> {
        let offered = self.edge.saturating_sub(piece.sequence);
        if offered >= u64::from(piece.length) {
            return Some(piece);
        }
        self.limited = false;
        if offered > 0 && offered >= self.largest_window / 2 {
            return Some(self.piece(piece.sequence, piece.sequence + offered));
        }
        if self.next == self.unacknowledged && self.probe_at == Time::MAX {
            // RFC 9293 §3.8.6.1: nothing is under way that would bring news of the window.
            self.deadline = Time::MAX;
            self.probe_at = now + self.probe_interval();
            self.calm = false;
        }
        None
    }

    /// RFC 9293 §3.8.6.1: the retransmission timeout, doubled with every probe.
    fn probe_interval(&self) -> Time {
        let factor = 1u64 << self.probes.min(16);
        Time::from_picoseconds(self.rtt.rto().as_picoseconds().saturating_mul(factor))
            .min(self.parameters.maximum_rto)
    }

    /// One byte beyond the window, or as much of a segment as the window takes.
    fn probe(&mut self, now: Time) -> Piece {
        self.probe_due = false;
        self.probes += 1;
        self.probe_at = now + self.probe_interval();
        self.statistics.probes += 1;
        let offered = self.edge.saturating_sub(self.next).max(1);
        let piece = self.piece(self.next, self.next + offered);
        // `next` stays: the byte is sent again with its segment when the window opens.
        self.highest = self.highest.max(piece.end());
        piece
    }

    /// RFC 5681 §4.1: after an idle time longer than the timeout, the window is no larger than at the start.
    pub(super) fn restart_if_idle(&mut self, now: Time) {
        if self.highest > self.unacknowledged || self.highest == 0 || !self.parameters.idle_restart {
            return;
        }
        if now.saturating_sub(self.last_sent) > self.rtt.rto() {
            self.window.segments = self.window.segments.min(self.parameters.initial_segments());
        }
    }

    /// RFC 6675 §4, SetPipe: bytes that are under way as far as the sender knows.
    pub(super) fn pipe(&self) -> u64 {
        let missing = |start: u64, end: u64| {
            let end = end.max(start);
            end - start - self.scoreboard.present_between(start, end)
        };
        let lost = self.scoreboard.lost_below(self.parameters.duplicate_threshold, self.payload);
        missing(self.unacknowledged.max(lost), self.highest)
            + missing(self.unacknowledged, self.retransmitted.min(self.highest))
    }

    /// RFC 6675 §5, step C and §4, NextSeg.
    fn next_selective(&mut self) -> Option<Piece> {
        let window = self.window.segments as u64 * self.payload;
        if window.saturating_sub(self.pipe()) < self.payload {
            self.limited = true;
            return None;
        }
        let lost = self.scoreboard.lost_below(self.parameters.duplicate_threshold, self.payload);
        let missing = self.scoreboard.first_missing(self.retransmitted.max(self.unacknowledged));
        let repairable = missing < self.scoreboard.highest();
        // (1) the first that is lost, (2) new data, (3) the first that may be lost, (4) the rescue.
        if repairable && missing < lost {
            return Some(self.repair(missing));
        }
        if let Some(piece) = self.unsent() {
            return Some(piece);
        }
        if repairable {
            return Some(self.repair(missing));
        }
        self.rescue()
    }
    fn repair(&mut self, missing: u64) -> Piece {
        let limit = self.scoreboard.first_present(missing).unwrap_or(self.highest);
        let piece = self.piece(missing, limit);
        self.retransmitted = piece.end();
        piece
    }
    fn unsent(&self) -> Option<Piece> {
        let piece = self.piece(self.highest, u64::MAX);
        let fits = piece.end() <= self.edge.saturating_add(u64::from(piece.fin));
        (self.highest < self.end() && fits).then_some(piece)
    }
    /// Once per recovery, the last segment that is not SACKed: its loss shows in no other way.
    fn rescue(&mut self) -> Option<Piece> {
        if self.rescued || self.scoreboard.highest() >= self.highest {
            return None;
        }
        self.rescued = true;
        let lowest = self.scoreboard.highest().max(self.unacknowledged);
        let start = self.highest.saturating_sub(self.payload).max(lowest);
        Some(self.piece(start, self.highest))
    }

    /// Notes that `piece` goes out now: counters, round-trip timing, timer.
    fn sent(&mut self, now: Time, mut piece: Piece) -> Piece {
        let end = piece.end();
        piece.is_new = piece.sequence >= self.highest;
        if piece.is_new {
            self.send_first(now, end);
        } else {
            self.statistics.retransmissions += 1;
            // Karn & Partridge 1987: an acknowledgment could be for either.
            self.timing = Timing::NONE;
            self.send_any(now);
        }
        if piece.sequence == self.next || piece.is_new {
            self.next = self.next.max(end);
        }
        self.highest = self.highest.max(end);
        if !self.calm {
            if piece.is_new && self.duplicates > 0 && self.phase == Phase::Open {
                self.sent_early += end - piece.sequence;
            }
            self.probe_at = Time::MAX;
            self.probes = 0;
        }
        piece
    }
    /// The same of any piece that goes up to `end` and was never sent.
    #[inline]
    fn send_first(&mut self, now: Time, end: u64) {
        if self.timing.end == u64::MAX {
            self.timing = Timing { end, sent: now };
        }
        self.send_any(now);
    }
    /// The same of any piece.
    #[inline]
    fn send_any(&mut self, now: Time) {
        self.statistics.segments += 1;
        self.last_sent = now;
        if self.deadline == Time::MAX {
            self.deadline = now + self.rtt.rto();
        }
    }
}
