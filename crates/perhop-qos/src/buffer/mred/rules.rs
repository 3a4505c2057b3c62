//! [`Rules`]: everything that an implementation of RED decides, as options or a law say it.

use super::options::{AfterForcedConfig, AveragingConfig, DropSpacing, LimitCounts, UpdateConfig};
use super::thresholds::AboveMaxConfig;
use crate::Rate;

/// Since when the packets that an average counts are held to be absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IdleBegins {
    /// Since the last of them left the queue.
    QueueEmpty,
    /// Since that one had been sent: the link asks for the next packet and finds none.
    LinkFree,
    /// Since the last packet of any precedence left, whatever others wait (dsRED under WRED).
    PrecedenceGone,
    /// Since the last packet of all had been sent, whatever an average counts (ns-2 `queue/rio.cc`).
    AllSent,
}

/// What ends the absence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IdleEnds {
    /// Any arrival; if that packet is dropped, another absence begins with it.
    EachArrival,
    /// Any arrival; if that packet is dropped, there is no absence before the next departure, and further
    /// arrivals sample an empty queue.
    FirstArrival,
    /// A packet that is accepted: until then each arrival decays the average for all of the time since the
    /// absence began.
    Accepted,
}

/// What an average does for an absence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IdleDecay {
    /// One sample of an empty queue for each packet that could have been sent, unrounded.
    Packets,
    /// Only whole packets count.
    WholePackets,
    /// Linux' table of powers of two.
    Table,
    /// Nothing.
    Never,
}

/// Idle time of an average.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IdleRule {
    pub(super) begins: IdleBegins,
    pub(super) ends: IdleEnds,
    pub(super) decay: IdleDecay,
    /// Whether the arrival is a sample as well.
    pub(super) samples: bool,
}

/// Which packets are spared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sparing {
    Nothing,
    /// The first above `min` after a lower average, which counts.
    FirstAboveMin,
    /// The first above `min` after a lower average or after one above `max`; it does not count (Linux).
    FirstInRange,
    /// Those that find a short queue, and the first after them (ns-2).
    ShortQueueAndFirst,
    /// As before, and the first even where its average is above `max` (ns-2.35 with `use_mark_p_`).
    ShortQueueAndAnyFirst,
}

impl Sparing {
    pub(super) fn spares_short_queues(self) -> bool {
        matches!(self, Sparing::ShortQueueAndFirst | Sparing::ShortQueueAndAnyFirst)
    }
}

/// What the length of a packet counts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lengths {
    Nothing,
    /// The probability, before the spacing.
    Probability,
    /// The count, in packets of mean size rounded down, and the probability after the spacing (ns-2,
    /// `bytes_`).
    CountAndProbability,
}

/// When the hard limit is tested, and what fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimitTest {
    /// Last: a packet that RED keeps must fit as a whole.
    Last,
    /// Last: there must be room, if not for the whole packet (ns-2 in bytes).
    LastForAny,
    /// First: nothing moves where a packet does not fit (dsRED).
    First,
}

/// What a packet lost to the hard limit does to the spacing of drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overflow {
    CountsAsKept,
    /// It counts anew (ns-2 since May 1999).
    Restarts,
    /// It counts anew but for the highest precedence (ns-2 `queue/rio.cc`).
    RestartsButLast,
}

/// What digits averages have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arithmetic {
    /// As many as there is room for.
    Fine,
    /// Those of Linux: averages over their weight are whole bytes.
    Linux,
}

/// Everything that an implementation of RED decides: the written options and what a law adds to them.
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
    /// Whether an average at a threshold counts as below it (dsRED).
    pub(super) thresholds_are_below: bool,
    /// Whether arrivals of the highest precedence move no average (ns-2 `queue/rio.cc`, a defect).
    pub(super) is_blind_to_last: bool,
    /// Beyond this probability a packet that is drawn is dropped and not marked (ns-2.35, `mark_p_`).
    pub(super) marks_up_to: f64,
}
