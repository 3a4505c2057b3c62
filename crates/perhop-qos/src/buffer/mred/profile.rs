//! [`Profile`]: the values that multi-level RED computes from its configuration once.

use super::config::MredConfig;
use super::drop_curve::{DropCurve, LevelCurves};
use super::fixed_point::Smoothing;
use super::moving_average::Averaging;
use super::options::{AfterForcedConfig, Averages, DropSpacing, EcnConfig, LimitCounts};
use super::rules::{Arithmetic, IdleBegins, IdleEnds, Lengths, LimitTest, Overflow, Rules, Sparing};
use super::thresholds::PrecedenceConfig;
use crate::buffer::scalable::Scalable;
use crate::buffer::tail_drop::TailDrop;
use crate::framing::Framing;
use crate::packet::Ecn;
use crate::queue::Occupancy;
use crate::{Color, DropCause, Packet, QueueSize, Verdict};

/// The read-only data of a buffer manager, which its copies share. The fields that all packets read are the
/// first ones.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Profile {
    /// The longest queue, in packets, for which a single average that moves by shifts takes the fast path. It
    /// is 0 for all other averages.
    pub(super) shifting_up_to: u64,
    /// The longest queue, in packets, for which averages that move by multiplications take the fast path. It
    /// is 0 if they never take it.
    pub(super) multiplying_up_to: u64,
    pub(super) averaging: Averaging,
    /// The index of each precedence in the hot counts.
    pub(super) hot: [HotIndex; Color::COUNT],
    /// The index of the highest drop precedence.
    pub(super) last: usize,
    /// The packets that an average counts.
    pub(super) averages: Averages,
    pub(super) unit: Unit,
    pub(super) spacing: DropSpacing,
    pub(super) sparing: Sparing,
    after_forced: AfterForcedConfig,
    pub(super) overflow: Overflow,
    pub(super) limit_test: LimitTest,
    /// Whether a law has its own rules for averages, for the limit, or for the state between packets.
    pub(super) is_by_law: bool,
    /// Whether an arrival of the highest precedence changes no average.
    pub(super) is_blind_to_last: bool,
    /// The largest number of queued packets at which the law spares an arriving packet.
    pub(super) short_queue: u64,
    pub(super) ecn: EcnConfig,
    /// The marking by the instantaneous queue, if it is configured. The packets that it marks never take the
    /// fast path.
    pub(super) scalable: Option<Scalable>,
    /// The probability above which a selected packet is not marked.
    pub(super) marks_up_to: f64,
    limit_counts: LimitCounts,
    limit: Option<QueueSize>,
    /// The bytes of the link's header that are added for each packet, if a law counts frames.
    header: u64,
    /// 1 / mean packet size, if the drop probability depends on the length of a packet.
    packets_per_byte: Option<f64>,
    /// The mean packet size, if the count since the last drop is in bytes.
    pub(super) counts_bytes: Option<u32>,
    /// The drop curves of each precedence for decisions.
    pub(super) curves: LevelCurves,
    /// The drop curves of each precedence for reports.
    pub(super) reported: [DropCurve; Color::COUNT],
}

/// The unit of thresholds and averages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Packets,
    Bytes,
}

/// The index of a precedence in `Mred::hot`. With an enum, no packet needs a bounds check.
#[derive(Clone, Copy, Debug)]
pub(super) enum HotIndex {
    First,
    Second,
    Third,
}

impl HotIndex {
    /// The number of precedences with hot counts: the drop precedences of an AF class (RFC 2597).
    pub(super) const COUNT: usize = 3;

    fn new(index: usize) -> HotIndex {
        match index {
            0 => HotIndex::First,
            1 => HotIndex::Second,
            _ => HotIndex::Third,
        }
    }
}

impl Unit {
    fn from_size(size: QueueSize) -> Unit {
        match size {
            QueueSize::Packets(_) => Unit::Packets,
            QueueSize::Bytes(_) => Unit::Bytes,
        }
    }
    /// The packets or bytes in the queue.
    #[inline]
    pub(super) fn held(self, queue: &Occupancy) -> u64 {
        match self {
            Unit::Packets => queue.packets,
            Unit::Bytes => queue.bytes,
        }
    }
    /// The packets or bytes in the queue for each precedence.
    #[inline]
    pub(super) fn held_by_precedence(self, queue: &Occupancy) -> &[u64; Color::COUNT] {
        match self {
            Unit::Packets => &queue.packets_of,
            Unit::Bytes => &queue.bytes_of,
        }
    }
}

/// Returns `smoothing` for a single average of all packets of a queue. The result uses shifts if the
/// thresholds of `precedences` leave enough free bits.
fn shifting(smoothing: Smoothing, precedences: &[PrecedenceConfig]) -> Smoothing {
    let all = precedences.iter().flat_map(|precedence| [Some(precedence.shared()), precedence.own]);
    let highest = all.flatten().map(|thresholds| thresholds.max.count()).max().unwrap_or(0);
    // A gentle probability reaches 1 at twice the `max`.
    smoothing.shifting(2 * highest)
}

impl Profile {
    /// Builds the profile of a checked configuration with expanded `precedences`.
    pub(super) fn new(
        config: &MredConfig,
        rules: &Rules,
        precedences: &[PrecedenceConfig],
        mut averaging: Averaging,
        framing: Framing,
        scalable: Option<Scalable>,
    ) -> Profile {
        let last = precedences.len() - 1;
        let averages = config.averages.unwrap_or_default();
        let unit = Unit::from_size(precedences[0].min);
        if averages == Averages::Single && unit == Unit::Packets {
            averaging.smoothing = shifting(averaging.smoothing, precedences);
        }
        let shared = std::array::from_fn(|index| precedences[index.min(last)].shared());
        let mean = config.mean_packet_size.as_bytes();
        let beyond =
            if rules.thresholds_are_below { 1 << averaging.smoothing.bits_below_a_step() } else { 0 };
        let mut profile = Profile {
            shifting_up_to: 0,
            multiplying_up_to: 0,
            hot: std::array::from_fn(|index| HotIndex::new(index.min(last))),
            last,
            averages,
            unit,
            spacing: rules.spacing,
            sparing: rules.sparing,
            after_forced: rules.after_forced,
            overflow: rules.overflow,
            limit_test: rules.limit_test,
            // ns-2 tests `qlen > 1` in the unit of the queue. If that unit is bytes, a queue with one packet
            // is never short.
            short_queue: u64::from(unit == Unit::Packets || config.law.is_none()),
            is_by_law: rules.arithmetic == Arithmetic::Linux
                || rules.limit_test != LimitTest::Last
                || rules.idle.begins != IdleBegins::QueueEmpty
                || rules.idle.ends != IdleEnds::EachArrival,
            is_blind_to_last: rules.is_blind_to_last,
            ecn: config.ecn,
            scalable,
            marks_up_to: rules.marks_up_to,
            limit_counts: rules.limit_counts,
            limit: config.limit,
            // The kernel also counts the header of a frame (`qdisc_pkt_len`).
            header: if rules.arithmetic == Arithmetic::Linux { framing.queued_header().into() } else { 0 },
            packets_per_byte: (rules.lengths == Lengths::Probability).then_some(1.0 / mean as f64),
            counts_bytes: (rules.lengths == Lengths::CountAndProbability)
                .then(|| u32::try_from(mean).unwrap_or(u32::MAX)),
            curves: LevelCurves::new(&shared.map(Some), rules.above_max, &averaging.smoothing, beyond),
            reported: shared.map(|thresholds| DropCurve::new(&thresholds, rules.above_max)),
            averaging,
        };
        let up_to = if precedences.iter().all(|precedence| precedence.own.is_none()) {
            profile.fast_path()
        } else {
            0
        };
        let shifts = profile.averaging.smoothing.shifts();
        (profile.shifting_up_to, profile.multiplying_up_to) = if shifts { (up_to, 0) } else { (0, up_to) };
        profile
    }
    /// The drop curves for the averages of each precedence's own packets (RI+O), if they are configured.
    pub(super) fn own_curves(&self, rules: &Rules, precedences: &[PrecedenceConfig]) -> Option<LevelCurves> {
        let own = std::array::from_fn(|index| precedences.get(index).and_then(|precedence| precedence.own));
        let smoothing = &self.averaging.smoothing;
        own.iter().any(Option::is_some).then(|| LevelCurves::new(&own, rules.above_max, smoothing, 0))
    }
    /// The longest queue, in packets, for which the fast path has the same verdict as the full algorithm. The
    /// number is 0 unless one test decides (no RI+O), averages count packets, every packet fits, and all
    /// precedences have hot counts.
    fn fast_path(&self) -> u64 {
        let one_test = matches!(self.averages, Averages::Single | Averages::Coupled)
            && self.sparing == Sparing::Nothing
            && self.averaging.idle.begins != IdleBegins::PrecedenceGone
            && self.scalable.is_none()
            && self.packets_per_byte.is_none()
            && self.counts_bytes.is_none();
        if !one_test || self.unit == Unit::Bytes || self.last >= HotIndex::COUNT {
            return 0;
        }
        match self.limit {
            None => self.averaging.smoothing.longest(),
            // An arriving packet still fits if the queue is one packet below the limit.
            Some(QueueSize::Packets(limit)) => self.averaging.smoothing.longest().min(limit - 1),
            Some(QueueSize::Bytes(_)) => 0,
        }
    }

    /// The index of `precedence`. All precedences above the last one have the index of the last one.
    #[inline]
    pub(super) fn index(&self, precedence: Color) -> usize {
        precedence.index().min(self.last)
    }
    /// The packets or bytes of precedence `index` in the queue, if `held` has the numbers for each
    /// precedence. The last index includes all higher precedences.
    #[inline]
    pub(super) fn of_precedence(&self, held: &[u64; Color::COUNT], index: usize) -> u64 {
        if index < self.last { held[index] } else { held[index..].iter().sum() }
    }
    /// The packets or bytes in the queue, in the unit of the averages.
    #[inline]
    pub(super) fn held(&self, queue: &Occupancy) -> u64 {
        self.unit.held(queue) + self.header * queue.packets
    }
    /// The bytes of frames in the queue for each precedence.
    pub(super) fn framed(&self, queue: &Occupancy) -> [u64; Color::COUNT] {
        std::array::from_fn(|index| queue.bytes_of[index] + self.header * queue.packets_of[index])
    }
    /// Whether averages count bytes of frames.
    #[inline]
    pub(super) fn counts_frames(&self) -> bool {
        self.header > 0
    }
    /// The number of packets in the queue that the average of precedence `index` counts.
    pub(super) fn packets_averaged(&self, index: usize, queue: &Occupancy) -> u64 {
        match self.averages {
            Averages::Single => queue.packets,
            Averages::Decoupled => self.of_precedence(&queue.packets_of, index),
            _ if index == self.last => queue.packets,
            _ => queue.packets_of[..=index].iter().sum(),
        }
    }

    /// The effect of a drop above `max` on the drop spacing of precedence `index`.
    #[inline]
    pub(super) fn after_forced(&self, index: usize) -> AfterForcedConfig {
        // ns-2 `queue/rio.cc`: a forced drop of an out packet does not change the counts.
        if self.overflow == Overflow::RestartsButLast && index == self.last {
            return AfterForcedConfig::GoOn;
        }
        self.after_forced
    }

    /// Returns the factor of the drop probability for a packet of `length` IP bytes, or `None` if the
    /// probability does not depend on the length.
    #[inline]
    pub(super) fn scale(&self, length: u32) -> Option<f64> {
        self.packets_per_byte.map(|packets| packets * f64::from(length))
    }

    /// Returns the verdict on `packet`, which a random drop has selected.
    #[expect(clippy::inline_always, reason = "a call would take as long as the decision")]
    #[inline(always)]
    pub(super) fn drawn(&self, packet: &Packet) -> Verdict {
        // RFC 3168 §5: "instead of dropping the packet, the router MAY instead set the CE codepoint".
        if self.ecn != EcnConfig::Ignore && packet.marks.ecn() != Ecn::NotCapable {
            return Verdict::MarkCe;
        }
        Verdict::Drop(DropCause::EarlyRandom)
    }

    /// Whether `packet` of precedence `index` fits under the hard limit.
    #[inline]
    pub(super) fn fits(&self, index: usize, packet: &Packet, queue: &Occupancy) -> bool {
        let Some(limit) = self.limit else { return true };
        if self.limit_counts == LimitCounts::Queue || self.averages == Averages::Single {
            return TailDrop::fits(limit, packet, queue);
        }
        self.fits_as_averaged(limit, index, packet, queue)
    }
    /// Whether `packet` fits under the hard limit, like [`Profile::fits`], with the rules of a law.
    pub(super) fn fits_by_law(&self, index: usize, packet: &Packet, queue: &Occupancy) -> bool {
        let Some(limit) = self.limit else { return true };
        if self.limit_test == LimitTest::LastForAny {
            return match limit {
                QueueSize::Packets(packets) => queue.packets < packets,
                QueueSize::Bytes(bytes) => queue.bytes < bytes,
            };
        }
        if self.header > 0
            && let QueueSize::Bytes(bytes) = limit
        {
            let held = match self.averages {
                Averages::Single => self.held(queue),
                _ => self.of_precedence(&self.framed(queue), index),
            };
            return held + u64::from(packet.length) + self.header <= bytes;
        }
        self.fits(index, packet, queue)
    }
    /// Whether `packet` fits under `limit` together with the queued packets that its average counts.
    #[inline(never)]
    fn fits_as_averaged(&self, limit: QueueSize, index: usize, packet: &Packet, queue: &Occupancy) -> bool {
        // The last index includes all higher precedences.
        let end = if index < self.last { index + 1 } else { Color::COUNT };
        let counted = match self.averages {
            Averages::Single | Averages::Coupled => 0..end,
            Averages::CoupledSampled | Averages::Decoupled => index..end,
        };
        match limit {
            QueueSize::Packets(packets) => queue.packets_of[counted].iter().sum::<u64>() < packets,
            QueueSize::Bytes(bytes) => {
                queue.bytes_of[counted].iter().sum::<u64>() + u64::from(packet.length) <= bytes
            }
        }
    }
}
