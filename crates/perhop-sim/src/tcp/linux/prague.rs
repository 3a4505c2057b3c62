//! TCP Prague: scalable congestion control for the Internet (RFC 9331 §4), as `tcp_prague.c` of
//! L4STeam/linux does it with a window.
//!
//! Departs from it: windows below four segments are not controlled by their rate, nor with shorter segments,
//! so that the window with its fraction does not fall below what is sent at least;
//! a mark ends slow start also where its acknowledgment delivers unmarked segments, which undoes the first
//! halving there; the pace does not swing by 3 %.

use super::super::sender::Sender;
use super::acknowledged::Ack;
use super::{LinuxSender, Scalable, State};

/// RFC 9331 §4.3 leaves the gain open; `PRAGUE_SHIFT_G`: 1/16.
const GAIN: f64 = 1.0 / 16.0;
/// The least window, segments (`MIN_CWND_RTT`).
const LEAST_WINDOW: u32 = 2;
/// Round trips after slow start from which on growth does not depend on the round trip
/// (`DEFAULT_RTT_TRANSITION`).
const TRANSITION: u32 = 4;

/// State of Prague. Times are in microseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prague {
    /// `frac_cwnd`: the window with its fraction, segments.
    window: f64,
    /// The share of segments that arrive marked; 0 until there was a mark.
    alpha: f64,
    has_seen_mark: bool,
    /// After a loss, until no loss is known: the window does not grow.
    in_loss: bool,
    /// The window at the last loss.
    window_at_loss: f64,
    /// Round trips since slow start.
    rounds: u32,
    /// The offset whose acknowledgment ends the round trip, and what was delivered before it began.
    ends: u64,
    delivered: u32,
    marked: u32,
    /// When the share was updated last, and when marks reduced the window last.
    updated: u64,
    reduced: u64,
    /// The round trip whose share shorter ones take (`prague_rtt_target`).
    virtual_rtt: u64,
}

impl Prague {
    pub(super) fn new(window: f64, virtual_rtt: u64) -> Prague {
        Prague {
            window,
            alpha: 0.0,
            has_seen_mark: false,
            in_loss: false,
            window_at_loss: 0.0,
            rounds: 0,
            ends: 0,
            delivered: 0,
            marked: 0,
            updated: 0,
            reduced: 0,
            virtual_rtt,
        }
    }
    /// `prague_is_rtt_indep`.
    fn is_independent(&self, is_in_slow_start: bool) -> bool {
        !is_in_slow_start && self.rounds >= TRANSITION
    }
    /// `prague_ai_ack_increase`: segments by which a window of unmarked segments lets the window grow, at a
    /// smoothed round trip of `smoothed`. A flow of half the virtual round trip has half its window, and two
    /// of its round trips to grow in: a quarter.
    fn increase(&self, smoothed: u64) -> f64 {
        if self.rounds < TRANSITION || smoothed == 0 || smoothed >= self.virtual_rtt {
            return 1.0;
        }
        let part = smoothed as f64 / self.virtual_rtt as f64;
        part * part
    }
    /// `prague_enter_cwr`: marks, at `now`.
    fn on_marks(&mut self, now: u64, is_in_slow_start: bool) {
        if self.is_independent(is_in_slow_start) && now - self.reduced < self.virtual_rtt {
            return;
        }
        self.reduced = now;
        self.shrink_to(self.window - self.window * self.alpha / 2.0);
    }
    /// To `window` segments, but not below what is sent at least: marks of what cannot be sent slower would
    /// let it shrink without end, and growth is by the part of a window that is acknowledged.
    fn shrink_to(&mut self, window: f64) {
        self.window = window.max(f64::from(LEAST_WINDOW));
    }
    /// `prague_enter_loss`: half, also after a timeout.
    pub(super) fn on_loss(&mut self, window: u32) {
        self.window_at_loss = f64::from(window);
        self.shrink_to(self.window / 2.0);
        self.in_loss = true;
    }
    /// `prague_cwnd_undo`: there was no loss.
    pub(super) fn undo(&mut self) {
        self.in_loss = false;
        self.window = self.window.max(self.window_at_loss);
    }
    /// `prague_ca_open`.
    pub(super) fn on_open(&mut self) {
        self.in_loss = false;
    }
    /// `prague_update_alpha`, once per round trip, later once per virtual one.
    fn update(&mut self, stream: &Sender, now: u64, delivered: u32, marked: u32, is_in_slow_start: bool) {
        let is_due = !self.is_independent(is_in_slow_start) || now - self.updated >= self.virtual_rtt;
        if stream.unacknowledged < self.ends || !is_due {
            return;
        }
        if self.has_seen_mark {
            let share = f64::from(marked - self.marked) / f64::from((delivered - self.delivered).max(1));
            self.alpha = (self.alpha + GAIN * (share - self.alpha)).min(1.0);
            self.updated = now;
        }
        (self.ends, self.delivered, self.marked) = (stream.next, delivered, marked);
        self.rounds += u32::from(!is_in_slow_start);
    }
}

impl LinuxSender {
    /// Whether Prague controls the window, and not proportional rate reduction.
    pub(super) fn has_prague(&self) -> bool {
        matches!(self.scalable.as_deref(), Some(Scalable::Prague(_)))
    }
    /// Marks reduce Prague's window as the state becomes CWR.
    pub(super) fn reduce_by_marks(&mut self, now: u64) {
        let is_in_slow_start = self.is_in_slow_start();
        if let Some(Scalable::Prague(prague)) = self.scalable.as_deref_mut() {
            prague.on_marks(now, is_in_slow_start);
        }
    }

    /// `prague_cong_control`: `delivered` segments in any state.
    pub(super) fn control_prague(&mut self, stream: &Sender, ack: &Ack, delivered: u32) {
        let Some(mut scalable) = self.scalable.take() else { return };
        if let Scalable::Prague(prague) = scalable.as_mut() {
            if self.state == State::Open {
                prague.on_open();
            }
            self.grow_prague(stream, prague, ack, delivered);
            let (is_in_slow_start, marked) = (self.is_in_slow_start(), self.feedback.marked);
            prague.update(stream, ack.now, self.delivered, marked, is_in_slow_start);
        }
        self.scalable = Some(scalable);
    }
    /// `prague_update_cwnd`.
    fn grow_prague(&mut self, stream: &Sender, prague: &mut Prague, ack: &Ack, delivered: u32) {
        if ack.marks > 0 {
            if !std::mem::replace(&mut prague.has_seen_mark, true) {
                prague.shrink_to(prague.window / 2.0);
            }
            self.threshold = self.threshold.min(self.window);
        }
        let mut unmarked = delivered.saturating_sub(ack.marks);
        // A paced sender may not fill the window although it has data.
        let is_limited = self.is_limited() || stream.next < stream.end();
        if unmarked > 0 && !prague.in_loss && is_limited {
            if self.is_in_slow_start() {
                let grown = self.window.saturating_add(unmarked).min(self.threshold);
                unmarked -= grown - self.window;
                self.window = grown;
                prague.window = f64::from(grown);
                if unmarked == 0 {
                    return;
                }
            }
            let smoothed = self.smoothed(stream).unwrap_or(0) >> 3;
            prague.window += f64::from(unmarked) * prague.increase(smoothed) / prague.window;
        }
        // The whole window follows step by step.
        let whole = (libm::ceil(prague.window) as u32).max(LEAST_WINDOW);
        if self.window > whole {
            self.window -= 1;
            self.threshold = self.window;
        } else if self.window < whole {
            self.window += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every segment is marked for a thousand round trips: the window is the least, and what grows by a
    /// whole window of unmarked segments is one segment.
    #[test]
    fn marks_without_end_leave_a_window_that_grows_by_a_segment() {
        let mut prague = Prague { alpha: 1.0, ..Prague::new(40.0, 0) };
        for round in 0..1000 {
            prague.on_marks(round * 25_000, false);
        }
        assert_eq!(prague.window, 2.0);
        prague.window += 2.0 * prague.increase(0) / prague.window;
        assert_eq!(prague.window, 3.0);
        prague.on_loss(3);
        assert_eq!(prague.window, 2.0, "after a loss, too");
    }
}
