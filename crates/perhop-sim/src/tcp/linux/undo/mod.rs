//! Detection and undo of spurious recoveries (RFC 4015, RFC 3708).

mod hooks;

/// The state for the undo of a reduction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    /// `undo_marker`: SND.UNA when the recovery began; `None` if there is no reduction to undo.
    began: Option<u64>,
    /// `undo_retrans`: the number of retransmissions whose originals are not known to have arrived; `None`
    /// before the first retransmission.
    unexplained: Option<u32>,
    /// `prior_ssthresh`: the threshold before the reduction; `None` after ECN marks.
    pub(super) threshold: Option<u32>,
    /// `retrans_stamp`: the send time of the first retransmission, microseconds.
    pub(super) first_resent: Option<u64>,
    /// The number of segments that are known to have arrived twice.
    pub(super) repeated: u32,
}

impl Undo {
    pub(super) fn is_possible(&self) -> bool {
        self.began.is_some()
    }
    pub(super) fn forget(&mut self) {
        self.began = None;
    }
    pub(super) fn forget_threshold(&mut self) {
        self.threshold = None;
    }
    /// Records a retransmission at `now`.
    pub(super) fn on_retransmission(&mut self, now: u64) {
        self.first_resent = self.first_resent.or(Some(now));
        self.unexplained = Some(self.unexplained.unwrap_or(0) + 1);
    }
    /// Records that `segments` segments up to `end` arrived twice. They count only if they had already been
    /// acknowledged, so that `end` is at most `acknowledged`.
    pub(super) fn on_duplicate(&mut self, end: u64, segments: u32, acknowledged: u64) {
        if end <= acknowledged {
            self.explain(end, segments);
        }
    }
    /// Records that a retransmitted segment in flight, which ends at `end`, arrived twice.
    pub(super) fn on_duplicate_in_flight(&mut self, end: u64) {
        self.explain(end, 1);
    }
    fn explain(&mut self, end: u64, segments: u32) {
        if self.began.is_some_and(|began| end > began)
            && let Some(unexplained) = &mut self.unexplained
        {
            *unexplained = unexplained.saturating_sub(segments);
        }
    }
    fn is_explained(&self) -> bool {
        self.unexplained == Some(0)
    }
}
