//! [`DualQueue`]: a low-latency queue, a classic queue, and the choice between them (RFC 9332).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::growing_ring::GrowingRing;
use super::stay::Stay;
use crate::classifier::OneOrMany;
use crate::packet::Ecn;
use crate::{ConfigError, Dscp, Packet, Time};

/// Whether low-latency packets have a queue of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CoupledQueues {
    /// Low-latency packets have their own queue.
    #[default]
    Two,
    /// All packets share one queue. The ECN field and the codepoint of a packet select its probability (PI2).
    /// `native` and `scheduler` have no effect.
    One,
}

/// The scheduler of the two queues.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CoupledScheduler {
    /// Weighted round robin by bytes while both queues contain packets. The value is the share of the classic
    /// queue in percent, 0 to 100, with two decimals.
    ClassicShare(f64),
    /// Time-shifted FIFO: the packet that has waited longer leaves first. The value is added to the wait of
    /// low-latency packets.
    TimeShift(Time),
}

/// The packets that join the low-latency queue.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct LowLatencyConfig {
    /// The ECN fields of low-latency packets. The low-latency queue marks these packets.
    pub ecn: LowLatencyEcn,
    /// The codepoints of low-latency packets, regardless of their ECN field: non-queue-building packets
    /// (`nqb`). The low-latency queue does not mark or drop these packets, except that its limit applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dscp: Option<OneOrMany<Dscp>>,
}

/// The ECN fields of packets that join the low-latency queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LowLatencyEcn {
    /// ECT(1) and CE (RFC 9331).
    #[default]
    L4s,
    /// ECT(0), ECT(1) and CE (Linux `any_ect`), for networks in which all senders are scalable.
    AnyEct,
}

/// The treatment of a packet in the two queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Classic,
    /// A low-latency packet because of its ECN field. It can be marked.
    Scalable,
    /// A low-latency packet because of its codepoint. It is not marked.
    NonQueueBuilding,
}

/// [`LowLatencyConfig`], compiled for the packet path.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LowLatency {
    any_ect: bool,
    /// One bit for each codepoint.
    dscps: u64,
}

impl LowLatencyConfig {
    pub(crate) fn compile(&self) -> LowLatency {
        let dscps = self.dscp.iter().flat_map(|OneOrMany(dscps)| dscps);
        LowLatency {
            any_ect: self.ecn == LowLatencyEcn::AnyEct,
            dscps: dscps.fold(0, |bits, dscp| bits | 1 << dscp.value()),
        }
    }
}

impl LowLatency {
    // RFC 9331 §5.1: ECT(1) and CE are treated as L4S. RFC 9332 §2.5.1.1: an operator may select additional
    // packets by other fields. Linux, `dualpi2_skb_classify`: packets that a filter assigns to class 2 are
    // not marked.
    #[inline]
    pub(crate) fn kind(self, packet: &Packet) -> Kind {
        match packet.marks.ecn() {
            Ecn::Capable1 | Ecn::CongestionExperienced => Kind::Scalable,
            Ecn::Capable0 if self.any_ect => Kind::Scalable,
            _ if self.dscps >> packet.dscp.value() & 1 == 1 => Kind::NonQueueBuilding,
            _ => Kind::Classic,
        }
    }
}

/// [`CoupledScheduler`], compiled for the packet path.
#[derive(Clone, Copy, Debug)]
enum Coupled {
    /// The weights in hundredths of a percent.
    Shares {
        classic: i64,
        low_latency: i64,
    },
    TimeShift(Time),
}

/// The bytes of a long packet with its Ethernet header. The initial credit is derived from this length.
const FIRST: i64 = 1514;

/// Two queues of packets, each in order of arrival.
#[derive(Clone, Debug)]
pub struct DualQueue {
    classic: GrowingRing<Timed>,
    low_latency: GrowingRing<Timed>,
    /// Whether the low-latency queue is served next. The value is computed at each change, because it is read
    /// three times per packet.
    serves_low_latency: bool,
    scheduler: Coupled,
    /// Whether all packets join the classic queue.
    is_one: bool,
    /// The packets that join the low-latency queue.
    takes: LowLatency,
    /// The bytes that are counted for a packet in addition to its IP bytes.
    header: i64,
    /// The credit of the classic queue, in bytes times weights. While it is above 0, the classic queue is
    /// served.
    credit: i64,
    /// The change of `credit` by the packet that was served last.
    change: i64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Timed {
    packet: Packet,
    since: Time,
}

impl CoupledScheduler {
    /// Builds two empty queues that count `header` bytes for each packet in addition to its IP bytes.
    ///
    /// # Errors
    /// The share is not a percentage.
    pub fn build(self, header: u32) -> Result<DualQueue, ConfigError> {
        let scheduler = match self {
            CoupledScheduler::TimeShift(shift) => Coupled::TimeShift(shift),
            CoupledScheduler::ClassicShare(percent) => {
                let hundredths = percent * 100.0;
                if !(0.0..=10_000.0).contains(&hundredths) || hundredths.fract() != 0.0 {
                    let message = format!("a share of {percent} percent is invalid");
                    return Err(ConfigError::new("classic-share", message)
                        .help("0 to 100, in hundredths: 6.25 is a sixteenth"));
                }
                let classic = hundredths as i64;
                Coupled::Shares { classic, low_latency: 10_000 - classic }
            }
        };
        let mut queue = DualQueue {
            classic: GrowingRing::default(),
            low_latency: GrowingRing::default(),
            serves_low_latency: false,
            scheduler,
            is_one: false,
            takes: LowLatency::default(),
            header: header.into(),
            credit: 0,
            change: 0,
        };
        queue.reset_credit();
        Ok(queue)
    }
}

impl DualQueue {
    /// Sets the number of queues, one or two, and the packets that join the low-latency queue. Both queues
    /// must be empty.
    pub(crate) fn with_queues(self, queues: CoupledQueues, takes: LowLatency) -> DualQueue {
        DualQueue { is_one: queues == CoupledQueues::One, takes, ..self }
    }

    /// Resets the credit because both queues are empty. Linux, `dualpi2_reset_c_protection`.
    fn reset_credit(&mut self) {
        self.change = 0;
        self.credit = match self.scheduler {
            Coupled::Shares { classic, low_latency } => FIRST * (classic - low_latency),
            Coupled::TimeShift(_) => 0,
        };
    }

    /// Chooses the queue that is served next.
    #[inline]
    fn choose(&mut self) {
        self.serves_low_latency = if self.classic.is_empty() || self.low_latency.is_empty() {
            self.classic.is_empty()
        } else {
            match self.scheduler {
                Coupled::Shares { .. } => self.credit <= 0,
                Coupled::TimeShift(shift) => self.is_ahead(shift),
            }
        };
    }
    /// Whether the wait of the low-latency head plus `shift` is at least the wait of the classic head. Both
    /// queues must contain packets.
    fn is_ahead(&self, shift: Time) -> bool {
        let since = |queue: &GrowingRing<Timed>| queue.front().map_or(Time::MAX, |timed| timed.since);
        since(&self.low_latency) <= since(&self.classic).saturating_add(shift)
    }

    #[inline]
    pub(super) fn head(&self) -> Option<&Packet> {
        let queue = if self.serves_low_latency { &self.low_latency } else { &self.classic };
        queue.front().map(|timed| &timed.packet)
    }
    #[inline]
    pub(super) fn push(&mut self, now: Time, packet: &Packet) {
        let is_low_latency = !self.is_one && self.takes.kind(packet) != Kind::Classic;
        let queue = if is_low_latency { &mut self.low_latency } else { &mut self.classic };
        queue.push_back(Timed { packet: *packet, since: now });
        if queue.len() == 1 {
            self.choose();
        }
    }

    /// Removes the head, which must exist.
    pub(super) fn drop_head(&mut self) -> Stay {
        let is_low_latency = self.serves_low_latency;
        let queue = if is_low_latency { &mut self.low_latency } else { &mut self.classic };
        let Some((length, since)) = queue.front().map(|timed| (timed.packet.length, timed.since)) else {
            return Stay::default();
        };
        queue.drop_front();
        let other = if is_low_latency { &self.classic } else { &self.low_latency };
        self.change = match self.scheduler {
            Coupled::Shares { classic, low_latency } if !other.is_empty() => {
                let weight = if is_low_latency { classic } else { -low_latency };
                weight * (i64::from(length) + self.header)
            }
            _ => 0,
        };
        self.credit += self.change;
        if self.classic.is_empty() && self.low_latency.is_empty() {
            self.reset_credit();
        }
        self.choose();
        Stay { since, ..Stay::default() }
    }
    /// Refunds the cost of the head that was removed last, because that packet was dropped.
    pub(super) fn head_dropped(&mut self) {
        self.credit -= self.change;
        self.change = 0;
        self.choose();
    }

    /// The packets of both queues. Low-latency packets come first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Packet> {
        self.low_latency.iter().chain(self.classic.iter()).map(|timed| &timed.packet)
    }
}
