//! [`Level`]: the memory of an interface for arriving packets of one priority, and the pauses that it causes.

use perhop_qos::policy::{PauseBuffer, PauseMode};
use perhop_qos::units::Time;
use perhop_scenario::routing::LinkId;

/// The content of a pause frame for one priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    /// The neighbor may send: a resume frame, or no frame so far.
    Resume,
    /// The neighbor must stop.
    Pause,
}

/// A pause frame that was sent and has no effect yet, for one priority.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// The time at which the frame takes effect.
    pub(super) effective: Time,
    pub(super) level: u32,
    pub(super) signal: Signal,
    /// The depth: the number of links over which the pause has spread.
    pub(super) depth: u32,
}

/// The memory, at the far end of a link, for packets of one priority that arrive over this link. Sizes are IP
/// bytes.
#[derive(Debug)]
pub(super) struct Level {
    /// The direction over which the packets arrive. Pauses of this level stop the port of this direction.
    pub(super) link: LinkId,
    pub(super) priority: u8,
    /// The neighbor is paused above this threshold.
    xoff: u64,
    /// The neighbor resumes at or below this threshold.
    xon: u64,
    /// The maximum of waiting bytes. Packets that would exceed it are dropped.
    limit: u64,
    /// Whether the port obeys pause frames of the priority.
    is_obeyed: bool,
    /// The bytes of the waiting packets that arrived over the link.
    pub(super) held: u64,
    /// The content of the last pause frame, which was sent or is about to be sent.
    pub(super) sent: Signal,
    /// The depth of the pause that the last pause frame requests.
    pub(super) sent_depth: u32,
    /// The beginning and the depth of the pause that is in effect; `None` without a pause.
    pause: Option<(Time, u32)>,
    pub(super) tally: Tally,
}

/// The counters of a level after the warm-up.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) pauses: u64,
    pub(super) spread: u64,
    pub(super) deepest: u32,
    pub(super) paused: Time,
    pub(super) longest: Time,
    /// The maximum number of waiting bytes since the start of the run, including the warm-up.
    pub(super) most_bytes: u64,
}

impl Level {
    pub(super) fn new(link: LinkId, priority: u8, buffer: PauseBuffer, far_end: PauseMode) -> Level {
        let (xoff, headroom) = (buffer.xoff.as_bytes(), buffer.headroom.as_bytes());
        Level {
            link,
            priority,
            xoff,
            xon: buffer.xon.as_bytes(),
            limit: xoff.saturating_add(headroom),
            is_obeyed: far_end == PauseMode::On,
            held: 0,
            sent: Signal::Resume,
            sent_depth: 0,
            pause: None,
            tally: Tally::default(),
        }
    }

    pub(super) fn has_room(&self, length: u32) -> bool {
        self.held + u64::from(length) <= self.limit
    }

    /// Adds a packet of `length` bytes. Returns whether the neighbor must now be paused. `depth` is the depth
    /// of this pause.
    pub(super) fn add(&mut self, length: u32, depth: u32) -> bool {
        self.held += u64::from(length);
        self.tally.most_bytes = self.tally.most_bytes.max(self.held);
        self.crosses(self.held, depth)
    }

    /// Handles the drop of a packet of `length` bytes. Returns whether the neighbor must now be paused.
    /// `depth` is the depth of this pause. A drop may cause the first pause: the headroom may be smaller than
    /// the first packet above the threshold.
    pub(super) fn refuse(&mut self, length: u32, depth: u32) -> bool {
        self.crosses(self.held + u64::from(length), depth)
    }

    fn crosses(&mut self, bytes: u64, depth: u32) -> bool {
        let crosses = self.is_obeyed && self.sent == Signal::Resume && bytes > self.xoff;
        if crosses {
            (self.sent, self.sent_depth) = (Signal::Pause, depth);
        }
        crosses
    }

    /// Removes a packet of `length` bytes. Returns whether the neighbor may resume.
    pub(super) fn remove(&mut self, length: u32) -> bool {
        self.held -= u64::from(length);
        let crosses = self.sent == Signal::Pause && self.held <= self.xon;
        if crosses {
            self.sent = Signal::Resume;
        }
        crosses
    }

    /// Whether the neighbor remains paused forever if `bytes` never leave.
    pub(super) fn stays_above(&self, bytes: u64) -> bool {
        bytes > self.xon
    }

    /// Returns the beginning of the current pause; `None` without a pause, or if a frame that will end the
    /// pause was already sent.
    pub(super) fn lasting_since(&self) -> Option<Time> {
        self.pause.filter(|_| self.sent == Signal::Pause).map(|(since, _)| since)
    }

    /// Returns the number of links over which the current pause has spread; 0 without a pause.
    pub(super) fn current_depth(&self) -> u32 {
        self.pause.map_or(0, |(_, depth)| depth)
    }

    /// Begins a pause of `depth` at `now`.
    pub(super) fn begin(&mut self, now: Time, depth: u32, counts_from: Time) {
        self.pause = Some((now, depth));
        if now >= counts_from {
            self.tally.pauses += 1;
            self.tally.spread += u64::from(depth > 1);
            self.tally.deepest = self.tally.deepest.max(depth);
        }
    }

    /// Ends the pause at `now`.
    pub(super) fn end(&mut self, now: Time, counts_from: Time) {
        if let Some((since, _)) = self.pause.take() {
            self.count_until(now, since, counts_from);
        }
    }

    /// Counts the time of a pause that has not ended at `now`, the end of the run.
    pub(super) fn settle(&mut self, now: Time, counts_from: Time) {
        if let Some((since, _)) = self.pause {
            self.count_until(now, since, counts_from);
        }
    }

    fn count_until(&mut self, now: Time, since: Time, counts_from: Time) {
        let lasted = now.saturating_sub(since.max(counts_from));
        self.tally.paused += lasted;
        self.tally.longest = self.tally.longest.max(lasted);
    }
}
