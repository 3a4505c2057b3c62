//! [`Rules`]: the complete behavior of an implementation of RED. Options or a law determine it.

use super::options::{AfterForcedConfig, AveragingConfig, DropSpacing, LimitCounts, UpdateConfig};
use super::thresholds::AboveMaxConfig;
use crate::Rate;

/// The start of an average's idle time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IdleBegins {
    /// The last packet that the average counts leaves the queue.
    QueueEmpty,
    /// The last packet that the average counts has been sent, and the link finds no next packet.
    LinkFree,
    /// The last packet of any one precedence leaves, even if packets of other precedences wait (dsRED under
    /// WRED).
    PrecedenceGone,
    /// The last packet of the queue has been sent. All averages become idle, regardless of the packets that
    /// they count (ns-2 `queue/rio.cc`).
    AllSent,
}

/// The end of an average's idle time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IdleEnds {
    /// Any arrival. If the arriving packet is dropped, a new idle time begins.
    EachArrival,
    /// Any arrival. If the arriving packet is dropped, the next idle time begins only at the next departure.
    /// Until then, arrivals add samples of an empty queue.
    FirstArrival,
    /// An accepted packet. Each arrival before it decays the average for the whole time since the beginning
    /// of the idle time.
    Accepted,
}

/// The change of an average in idle time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IdleDecay {
    /// One sample of an empty queue for each packet that the port could have sent. The number can be a
    /// fraction.
    Packets,
    /// Like `Packets`, with the number of packets rounded down.
    WholePackets,
    /// The table of powers of two of Linux.
    Table,
    /// The average does not change in idle time.
    Never,
}

/// The start, the end and the effect of an average's idle time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IdleRule {
    pub(super) begins: IdleBegins,
    pub(super) ends: IdleEnds,
    pub(super) decay: IdleDecay,
    /// Whether the arrival that ends the idle time also adds a sample.
    pub(super) samples: bool,
}

/// The packets that are spared early drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sparing {
    Nothing,
    /// The first packet above `min` after a lower average. The count includes this packet.
    FirstAboveMin,
    /// The first packet above `min` after a lower average or after an average above `max`. The count does not
    /// include this packet (Linux).
    FirstInRange,
    /// Packets that arrive at a short queue, and the first packet after such packets (ns-2).
    ShortQueueAndFirst,
    /// Like `ShortQueueAndFirst`, but the first packet after such packets is spared even if its average is
    /// above `max` (ns-2.35 with `use_mark_p_`).
    ShortQueueAndAnyFirst,
}

impl Sparing {
    pub(super) fn spares_short_queues(self) -> bool {
        matches!(self, Sparing::ShortQueueAndFirst | Sparing::ShortQueueAndAnyFirst)
    }
}

/// The effect of a packet's length on early drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lengths {
    Nothing,
    /// The length multiplies the probability, before the spacing.
    Probability,
    /// The count is in bytes, divided by the mean size and rounded down. The length multiplies the
    /// probability after the spacing (ns-2, `bytes_`).
    CountAndProbability,
}

/// The position of the test of the hard limit, and its criterion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimitTest {
    /// The test is last. A packet that RED keeps must fit completely.
    Last,
    /// The test is last. A packet fits if any room remains (ns-2 in bytes).
    LastForAny,
    /// The test is first. A packet that does not fit changes no state (dsRED).
    First,
}

/// The effect of a drop at the hard limit on the drop spacing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overflow {
    CountsAsKept,
    /// The count restarts (ns-2 since May 1999).
    Restarts,
    /// The count restarts, except for the highest precedence (ns-2 `queue/rio.cc`).
    RestartsButLast,
}

/// The precision of averages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arithmetic {
    /// The full precision of [`Average`](super::fixed_point::Average).
    Fine,
    /// The precision of Linux: average / weight is an integer number of bytes.
    Linux,
}

/// The complete behavior of an implementation of RED, from the written options and the rules of the law.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) averaging: AveragingConfig,
    pub(super) arithmetic: Arithmetic,
    pub(super) update: UpdateConfig,
    pub(super) idle: IdleRule,
    pub(super) idle_rate: Option<Rate>,
    pub(super) above_max: AboveMaxConfig,
    pub(super) spacing: DropSpacing,
    pub(super) sparing: Sparing,
    pub(super) after_forced: AfterForcedConfig,
    pub(super) overflow: Overflow,
    pub(super) lengths: Lengths,
    pub(super) limit_test: LimitTest,
    pub(super) limit_counts: LimitCounts,
    /// Whether an average that equals a threshold has not yet reached it (dsRED).
    pub(super) thresholds_are_below: bool,
    /// Whether an arrival of the highest precedence changes no average (ns-2 `queue/rio.cc`, a defect).
    pub(super) is_blind_to_last: bool,
    /// The probability above which a selected packet is dropped instead of marked (ns-2.35, `mark_p_`).
    pub(super) marks_up_to: f64,
}
