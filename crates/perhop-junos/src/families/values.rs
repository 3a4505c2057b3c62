//! [`Rules`]: the queueing rules of each family.

use super::chips::{self, Chip};

/// The share of a queue whose scheduler has no transmit rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MissingRate {
    /// No share of the guarantees; the queue gets only excess.
    Zero,
    /// An equal part of the rate that the other queues leave.
    EqualPart,
}

/// The order of queues above their guarantees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExcessOrder {
    /// Two levels, which `excess-priority` sets. The default is high for strict-high and high queues, and low
    /// for all others.
    TwoLevels,
    /// The priority of the queue determines the order.
    Priority,
    /// The priority of the queue determines the order, even within its transmit rate. The transmit rate is a
    /// weight among queues of equal priority.
    PriorityAlone,
    /// All queues have one level.
    OneLevel,
    /// The priorities of queues preempt each other without guarantees. Low queues share by weight.
    Preemptive,
}

/// The levels of queue priorities within guarantees. Level 0 is served first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Levels {
    /// Each priority has a level of its own.
    Own,
    /// Strict-high and high share a level, and so do the two medium priorities. In a node, strict-high
    /// precedes high.
    Pairs,
    /// The levels of strict-high, high, medium-high, medium-low and low.
    Table([u16; 5]),
}

/// The weights of queues above their guarantees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weights {
    /// Excess rates; without them, transmit rates. The minimum is 1/125.
    Parts,
    /// Transmit rates; excess rates have no effect.
    TransmitRates,
    /// Whole multiples of 1/127, in proportion to excess rates, otherwise transmit rates, otherwise shaping
    /// rates.
    WholeParts,
}

/// The delay buffer of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DelayBuffer {
    /// The length for ports with at least 1 Gb/s, microseconds.
    pub(crate) fast_us: u64,
    /// The length for slower ports, microseconds.
    pub(crate) slow_us: u64,
    /// The bytes of a queue without a configured buffer, each with the minimum port rate for which it
    /// applies, bits per second.
    pub(crate) least_bytes: &'static [(u64, u64)],
    /// Limit on the bytes of a queue with `buffer-size`, if there is one.
    pub(crate) most_bytes: Option<u64>,
}

impl DelayBuffer {
    /// Returns the bytes of a queue without a configured buffer, on a port of `rate` bits per second.
    pub(crate) fn least(&self, rate: u64) -> u64 {
        let fits = self.least_bytes.iter().rev().find(|(from, _)| *from <= rate);
        fits.map_or(0, |(_, bytes)| *bytes)
    }
}

/// The queueing rules of a family.
#[derive(Debug)]
pub(crate) struct Rules {
    pub(crate) classes: &'static [(&'static str, u8)],
    /// The queues of a port.
    pub(crate) queues: u8,
    /// Percent of the rate and buffer of queues without a scheduler map.
    pub(crate) default_percents: &'static [(u8, u8)],
    pub(crate) missing_rate: MissingRate,
    pub(crate) excess_order: ExcessOrder,
    pub(crate) levels: Levels,
    pub(crate) weights: Weights,
    /// Bytes that the scheduler counts for an untagged packet in addition to its IP bytes.
    pub(crate) overhead: u16,
    pub(crate) delay_buffer: DelayBuffer,
    /// Whether a document or an output shows the sizes of buffers.
    pub(crate) has_known_buffers: bool,
    /// The burst of a shaper, milliseconds of its rate.
    pub(crate) shaper_burst_ms: u64,
    /// The packet memory that the queues of a switch share.
    pub(crate) chip: Option<&'static Chip>,
}

const ROUTER_CLASSES: [(&str, u8); 4] =
    [("best-effort", 0), ("expedited-forwarding", 1), ("assured-forwarding", 2), ("network-control", 3)];
const BRANCH_CLASSES: [(&str, u8); 4] =
    [("best-effort", 0), ("assured-forwarding", 1), ("expedited-forwarding", 5), ("network-control", 7)];
const QFX_CLASSES: [(&str, u8); 5] =
    [("best-effort", 0), ("fcoe", 3), ("no-loss", 4), ("network-control", 7), ("mcast", 8)];

/// Bytes of an Ethernet header, its check sequence, preamble and gap.
const WIRE_BYTES: u16 = 38;
/// Bytes of an Ethernet header without check sequence.
const FRAME: u16 = 14;
/// Bytes of an Ethernet header and its check sequence.
const CHECKED_FRAME: u16 = 18;

pub(super) const MX: Rules = Rules {
    classes: &ROUTER_CLASSES,
    queues: 8,
    default_percents: &[(0, 95), (3, 5)],
    missing_rate: MissingRate::Zero,
    excess_order: ExcessOrder::TwoLevels,
    levels: Levels::Pairs,
    weights: Weights::Parts,
    overhead: WIRE_BYTES,
    // TechLibrary hw-cos-trio-scheduler-delay-buffering: 4 KB to 256 MB.
    delay_buffer: DelayBuffer {
        fast_us: 100_000,
        slow_us: 500_000,
        least_bytes: &[(0, 32_768)],
        most_bytes: Some(256 << 20),
    },
    has_known_buffers: true,
    shaper_burst_ms: 100,
    chip: None,
};

pub(super) const SRX: Rules = Rules {
    classes: &BRANCH_CLASSES,
    default_percents: &[(0, 95), (7, 5)],
    missing_rate: MissingRate::EqualPart,
    excess_order: ExcessOrder::Priority,
    levels: Levels::Own,
    weights: Weights::TransmitRates,
    delay_buffer: delay_buffer(100_000, &[(0, 9192)]),
    ..MX
};

/// ACX7000: the dedicated part of the buffers alone.
pub(super) const ACX: Rules = Rules {
    missing_rate: MissingRate::EqualPart,
    excess_order: ExcessOrder::Preemptive,
    levels: Levels::Own,
    delay_buffer: delay_buffer(100, &[(0, 2048), (25_000_000_000, 4096), (100_000_000_000, 8192)]),
    ..MX
};

/// Express chips of the fourth generation and older.
pub(super) const PTX: Rules = Rules {
    excess_order: ExcessOrder::OneLevel,
    levels: Levels::Own,
    delay_buffer: delay_buffer(25_000, &[(0, 32_768)]),
    ..MX
};

/// The old line cards of M series, with two hardware levels.
pub(super) const M: Rules = Rules {
    missing_rate: MissingRate::EqualPart,
    excess_order: ExcessOrder::Priority,
    levels: Levels::Table([0, 0, 0, 1, 1]),
    weights: Weights::TransmitRates,
    overhead: FRAME,
    delay_buffer: delay_buffer(200_000, &[(0, 9192)]),
    ..MX
};

pub(super) const M120: Rules = Rules { levels: Levels::Table([0, 0, 1, 2, 3]), ..M };

/// T series and M320, with three hardware levels.
pub(super) const T: Rules =
    Rules { levels: Levels::Table([0, 0, 1, 1, 2]), delay_buffer: delay_buffer(100_000, &[(0, 9192)]), ..M };

/// IQE PICs: one round robin within the guarantees, two levels above them.
pub(super) const IQE: Rules = Rules {
    excess_order: ExcessOrder::TwoLevels,
    levels: Levels::Table([0; 5]),
    weights: Weights::WholeParts,
    shaper_burst_ms: 10,
    ..M
};

pub(super) const J: Rules = Rules { excess_order: ExcessOrder::PriorityAlone, levels: Levels::Own, ..M };

/// EX2200 to EX4500: strict-high queues first, then deficit round robin by transmit rate.
pub(super) const EX: Rules = Rules {
    classes: &BRANCH_CLASSES,
    default_percents: &[(0, 95), (7, 5)],
    missing_rate: MissingRate::Zero,
    overhead: CHECKED_FRAME,
    has_known_buffers: false,
    ..PTX
};

pub(super) const QFX5100: Rules = Rules {
    classes: &QFX_CLASSES,
    queues: 12,
    default_percents: &[(0, 5), (3, 35), (4, 35), (7, 5), (8, 20)],
    has_known_buffers: true,
    chip: Some(&chips::QFX5100),
    ..EX
};
pub(super) const QFX5110: Rules = Rules { chip: Some(&chips::QFX5110), ..QFX5100 };
pub(super) const QFX5120: Rules = Rules { chip: Some(&chips::QFX5120), ..QFX5100 };
pub(super) const QFX5130: Rules = Rules { chip: Some(&chips::QFX5130), ..QFX5100 };
pub(super) const QFX5200: Rules = Rules { chip: Some(&chips::QFX5200), ..QFX5100 };
pub(super) const QFX5210: Rules = Rules { chip: Some(&chips::QFX5210), ..QFX5100 };
pub(super) const QFX5220: Rules = Rules { chip: Some(&chips::QFX5220), ..QFX5100 };
pub(super) const QFX5230: Rules = Rules { chip: Some(&chips::QFX5230), ..QFX5100 };
pub(super) const QFX5240: Rules = Rules { chip: Some(&chips::QFX5240), ..QFX5100 };

const fn delay_buffer(us: u64, least_bytes: &'static [(u64, u64)]) -> DelayBuffer {
    DelayBuffer { fast_us: us, slow_us: us, least_bytes, most_bytes: None }
}
