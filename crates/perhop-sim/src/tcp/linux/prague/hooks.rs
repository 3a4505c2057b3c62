//! The use of Prague by the sender.

use perhop_scenario::tcp::HEADERS;

use super::super::super::sender::Sender;
use super::super::acknowledged::Ack;
use super::super::{LinuxSender, Scalable, State};
use super::{LEAST_WINDOW, Path, Prague, SLOW_SHIFT};

/// The gain of the mean fraction of marks (`PRAGUE_SHIFT_G`). RFC 9331 §4.3 does not determine it.
const GAIN: f64 = 1.0 / 16.0;
/// `MIN_MSS`: the length of payload and options in the shortest packet, bytes.
const LEAST_SEGMENT: u32 = 150;

impl Prague {
    /// Updates the mean fraction of marks, once per round trip and later once per virtual round trip
    /// (`prague_update_alpha`). Returns whether the fraction was updated.
    fn update(&mut self, stream: &Sender, now: u64, delivered: u32, marked: u32, path: &Path) -> bool {
        let is_in_slow_start = path.is_in_slow_start;
        let is_due = !self.is_independent(is_in_slow_start) || now - self.updated >= self.virtual_rtt;
        if stream.unacknowledged < self.ends || !is_due {
            return false;
        }
        if self.has_seen_mark {
            let share = f64::from(marked - self.marked) / f64::from((delivered - self.delivered).max(1));
            self.alpha = (self.alpha + GAIN * (share - self.alpha)).min(1.0);
            self.updated = now;
        }
        self.slow = self.slow + path.smoothed - (self.slow >> SLOW_SHIFT);
        (self.ends, self.delivered, self.marked) = (stream.next, delivered, marked);
        self.rounds += u32::from(!is_in_slow_start);
        self.has_seen_mark
    }
}

impl LinuxSender {
    /// Whether Prague controls the window, so that proportional rate reduction does not apply.
    pub(in crate::tcp::linux) fn has_prague(&self) -> bool {
        matches!(self.scalable.as_deref(), Some(Scalable::Prague(_)))
    }
    fn path(&self, stream: &Sender) -> Path {
        Path {
            smoothed: self.smoothed(stream).unwrap_or(0),
            packet: f64::from(stream.full_packet),
            is_in_slow_start: self.is_in_slow_start(),
        }
    }
    /// Starts Prague when the connection opens.
    pub(in crate::tcp::linux) fn open_prague(&mut self, stream: &Sender) {
        let (path, window) = (self.path(stream), self.window);
        if let Some(Scalable::Prague(prague)) = self.scalable.as_deref_mut() {
            prague.start(&path, window);
        }
    }
    /// Reduces Prague's window for marks when the sender enters the state `Cwr`.
    pub(in crate::tcp::linux) fn reduce_by_marks(&mut self, stream: &Sender, now: u64) {
        let path = self.path(stream);
        if let Some(Scalable::Prague(prague)) = self.scalable.as_deref_mut() {
            prague.on_marks(now, &path);
        }
    }
    /// Reduces the window after a loss or a timeout.
    pub(in crate::tcp::linux) fn reduce_prague_by_loss(&mut self, stream: &Sender) {
        let (path, window) = (self.path(stream), self.window);
        if let Some(Scalable::Prague(prague)) = self.scalable.as_deref_mut() {
            prague.on_loss(window, &path);
        }
    }
    /// Returns the pace, bytes per second, if Prague controls the rate.
    pub(in crate::tcp::linux) fn prague_pace(&self) -> Option<u64> {
        match self.scalable.as_deref() {
            Some(Scalable::Prague(prague)) => prague.pace,
            _ => None,
        }
    }

    /// Processes `delivered` segments in any state (`prague_cong_control`).
    pub(in crate::tcp::linux) fn control_prague(&mut self, stream: &mut Sender, ack: &Ack, delivered: u32) {
        let Some(mut scalable) = self.scalable.take() else { return };
        if let Scalable::Prague(prague) = scalable.as_mut() {
            if self.state == State::Open {
                prague.on_open();
            }
            self.grow_prague(stream, prague, ack, delivered);
            let path = self.path(stream);
            if prague.update(stream, ack.now, self.delivered, self.feedback.marked, &path) {
                self.choose_segment(stream, prague);
            }
            let path = self.path(stream);
            prague.update_pace(ack.now, &path, self.in_flight());
            prague.choose_control(&path, self.window);
        }
        self.scalable = Some(scalable);
    }
    /// Chooses the length of segments according to the rate (second half of `prague_update_alpha`). Windows
    /// count segments of this length.
    fn choose_segment(&mut self, stream: &mut Sender, prague: &mut Prague) {
        let path = self.path(stream);
        let is_wanted = prague.virtual_rtt > 0 && prague.is_independent(path.is_in_slow_start);
        if !is_wanted || prague.in_loss {
            return;
        }
        let headers = stream.full_packet - stream.payload as u32;
        let most = stream.parameters.payload() + headers;
        let least = (LEAST_SEGMENT + HEADERS).min(most);
        let packet = (prague.packet_of_rate(&path) as u32).clamp(least, most);
        if packet == stream.full_packet {
            return;
        }
        let factor = path.packet / f64::from(packet);
        (stream.full_packet, stream.payload) = (packet, u64::from(packet - headers));
        prague.window *= factor;
        let window = (libm::ceil(prague.window) as u32).max(LEAST_WINDOW);
        if window != self.window {
            self.window = window;
            self.threshold = (f64::from(self.threshold) * factor) as u32;
        }
    }
    /// Grows the window for `delivered` segments (`prague_update_cwnd`).
    fn grow_prague(&mut self, stream: &Sender, prague: &mut Prague, ack: &Ack, delivered: u32) {
        if ack.marks > 0 {
            if !std::mem::replace(&mut prague.has_seen_mark, true) {
                prague.shrink_to(prague.window / 2.0);
            }
            self.threshold = self.threshold.min(self.window);
        }
        let mut unmarked = delivered.saturating_sub(ack.marks);
        // A paced sender may have unsent data although the window is not full.
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
            prague.grow(unmarked, &self.path(stream));
        }
        // The window in whole segments follows the fractional window in steps.
        let whole = (libm::ceil(prague.window) as u32).max(LEAST_WINDOW);
        if self.window > whole {
            self.window -= 1;
            self.threshold = self.window;
        } else if self.window < whole {
            self.window += 1;
        }
    }
}
