//! What acknowledgments do to the sender.

use perhop_qos::units::Time;

use super::segment::{Segment, Timestamps};
use super::sender::{Phase, Sender, Timing};
use perhop_scenario::tcp::Flags;
use perhop_scenario::tcp::{Counting, Growth, Recovery};

#[allow(clippy::inline_always)] // what most segments do that acknowledge something
impl Sender {
    /// `segment` acknowledges.
    #[inline(always)]
    pub(super) fn on_acknowledgment(&mut self, now: Time, segment: &Segment) {
        debug_assert!(!self.calm || self.is_calm());
        if segment.acknowledgment > self.unacknowledged {
            // RFC 9293 §3.10.7.4: not what was never sent.
            if segment.acknowledgment <= self.highest {
                self.heed_progress(now, segment);
            }
        } else if !self.is_unmoved_by(segment) {
            self.heed_repetition(now, segment);
        }
    }

    /// Whether nothing is under way that `segment` could acknowledge, and it says of the window what the last one said
    /// that acknowledged as much: then to heed it changes nothing.
    pub(super) fn is_unmoved_by(&self, segment: &Segment) -> bool {
        self.highest == self.unacknowledged
            && segment.acknowledgment == self.unacknowledged
            && segment.window == self.last_window
            && !segment.has(Flags::ECE)
    }

    /// `segment` acknowledges something for the first time.
    #[inline(always)]
    fn heed_progress(&mut self, now: Time, segment: &Segment) {
        let echoes = self.understands_mark(segment);
        self.learn(segment);
        self.open_to(segment);
        if echoes {
            self.on_congestion_mark(segment.acknowledgment);
        }
        self.on_new_data(now, segment, echoes);
    }

    /// `segment` acknowledges nothing for the first time.
    #[inline(never)]
    pub(super) fn heed_repetition(&mut self, now: Time, segment: &Segment) {
        let news = self.learn(segment);
        let is_duplicate = self.is_duplicate(segment);
        if segment.acknowledgment == self.unacknowledged {
            self.open_to(segment);
        }
        if self.understands_mark(segment) {
            self.on_congestion_mark(segment.acknowledgment);
        }
        if is_duplicate {
            self.calm = false;
            self.on_duplicate(now, news);
        }
    }

    /// Whether `segment` echoes congestion to a sender that understands it.
    #[inline]
    fn understands_mark(&self, segment: &Segment) -> bool {
        segment.has(Flags::ECE) && self.ecn
    }

    /// Whether the blocks of `segment` say anything new to a sender that listens to them.
    #[inline]
    fn learn(&mut self, segment: &Segment) -> bool {
        !segment.sack.is_empty() && self.parameters.recovery == Recovery::Sack && self.learn_blocks(segment)
    }

    /// RFC 6675 §4, Update. Whether the blocks say anything new.
    #[inline(never)]
    fn learn_blocks(&mut self, segment: &Segment) -> bool {
        let mut news = false;
        for (start, end) in segment.sack.iter() {
            if start >= self.unacknowledged.max(segment.acknowledgment) && end <= self.highest && start < end
            {
                news |= self.scoreboard.add(start, end);
            }
        }
        self.calm &= !news;
        news
    }

    /// RFC 5681 §2: an acknowledgment without data, SYN or FIN, of what is already acknowledged, while data
    /// are under way, with the window unchanged.
    fn is_duplicate(&self, segment: &Segment) -> bool {
        segment.acknowledgment == self.unacknowledged
            && self.next > self.unacknowledged
            && !segment.has_text()
            && segment.window == self.last_window
    }

    #[inline]
    fn open_to(&mut self, segment: &Segment) {
        if segment.window != self.last_window {
            self.last_window = segment.window;
            self.largest_window = self.largest_window.max(u64::from(segment.window));
        }
        self.edge = self.edge.max(segment.acknowledgment + u64::from(segment.window));
    }

    /// What `segment` acknowledges for the first time need not be sent again, and lets the window grow.
    #[inline(always)]
    fn on_new_data(&mut self, now: Time, segment: &Segment, echoes: bool) {
        let acknowledged = segment.acknowledgment - self.unacknowledged;
        self.measure(now, segment);
        self.unacknowledged = segment.acknowledgment;
        self.next = self.next.max(segment.acknowledgment);
        let most = if self.calm { Some(2.0) } else { self.calm_down(now, acknowledged) };
        let Some(most) = most else { return };
        self.restart_timer(now);
        if !echoes {
            self.grow(now, acknowledged, most);
        }
    }

    /// `acknowledged` bytes are new where something was the matter. The answer is by how many segments they let the window
    /// grow in slow start at most; none where recovery has seen to the window.
    #[inline(never)]
    fn calm_down(&mut self, now: Time, acknowledged: u64) -> Option<f64> {
        self.scoreboard.advance(self.unacknowledged);
        self.duplicates = 0;
        self.sent_early = 0;
        self.retransmit = false;
        self.probe_at = Time::MAX;
        self.probe_due = false;
        self.probes = 0;
        let most = match self.phase {
            Phase::Recovery => {
                self.recover(now, acknowledged);
                None
            }
            Phase::Restart => {
                if self.recovery_point.is_none_or(|point| self.unacknowledged >= point) {
                    self.phase = Phase::Open;
                }
                Some(1.0)
            }
            Phase::Open => Some(2.0),
        };
        if most.is_some() {
            self.inflation = 0.0;
        }
        self.calm = self.is_calm();
        most
    }

    /// Whether no loss is known or suspected, and no closed window probed: what [`Sender::calm`] remembers.
    pub(super) fn is_calm(&self) -> bool {
        self.phase == Phase::Open
            && self.scoreboard.is_empty()
            && self.duplicates == 0
            && self.sent_early == 0
            && self.inflation == 0.0
            && !self.retransmit
            && self.probe_at == Time::MAX
            && self.probes == 0
            && !self.probe_due
    }

    #[inline(always)]
    fn measure(&mut self, now: Time, segment: &Segment) {
        let Timing { end, sent } = self.timing;
        let is_timed = segment.acknowledgment >= end;
        if let Some(Timestamps { echo, .. }) = segment.timestamps {
            self.rtt.sample(echo, now, self.window.segments);
        } else if is_timed {
            self.rtt.sample(sent, now, self.window.segments);
        }
        if is_timed {
            self.timing = Timing::NONE;
        }
    }

    /// RFC 6298 §5.2, §5.3: off when nothing is under way, else from now.
    pub(super) fn restart_timer(&mut self, now: Time) {
        let under_way = self.highest > self.unacknowledged;
        self.deadline = if under_way { now + self.rtt.rto() } else { Time::MAX };
    }

    /// `acknowledged` bytes let the window grow; in slow start by `most` segments at most, where bytes count
    /// (RFC 3465 §2.2, §2.3: two, and one after a timeout).
    #[inline(always)]
    pub(super) fn grow(&mut self, now: Time, acknowledged: u64, most: f64) {
        if self.parameters.growth == Growth::WhenLimited && !self.limited {
            return self.congestion.hold(now);
        }
        let segments = match self.parameters.counting {
            Counting::Acknowledgments => 1.0,
            Counting::Bytes if acknowledged == self.payload => 1.0,
            Counting::Bytes => (acknowledged as f64 / self.payload as f64).min(most),
        };
        let Sender { congestion, window, rtt, .. } = self;
        congestion.grow(now, window, segments, || rtt.smoothed());
    }

    /// RFC 3168 §6.1.2: as if a segment were lost, but once per window of data, and nothing is sent again.
    fn on_congestion_mark(&mut self, acknowledgment: u64) {
        let done = |point: Option<u64>| point.is_some_and(|point| acknowledgment <= point);
        if self.phase != Phase::Open || done(self.mark_point) || done(self.recovery_point) {
            return;
        }
        self.statistics.congestion_marks += 1;
        self.mark_point = Some(self.highest);
        self.reduce();
        // A window of one segment does not become two.
        self.window.segments = self.window.segments.min(self.window.threshold);
    }
}
