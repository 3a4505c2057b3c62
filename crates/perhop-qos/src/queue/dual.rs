//! [`DualQueue`]: a queue for low latency beside a classic one, and who is served of the two (RFC 9332).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::growing_ring::GrowingRing;
use super::stay::Stay;
use crate::classifier::OneOrMany;
use crate::packet::Ecn;
use crate::{ConfigError, Dscp, Packet, Time};

/// Whether packets with low latency have a queue of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CoupledQueues {
    /// They have.
    #[default]
    Two,
    /// All share one queue, and codepoints tell which probability counts: PI2. `native` and `scheduler` say
    /// nothing then.
    One,
}

/// Which of the two queues is served.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CoupledScheduler {
    /// Weighted round robin by bytes while both hold packets: so many percent are the classic queue's, 0 to
    /// 100, in hundredths.
    ClassicShare(f64),
    /// The packet that has waited longer, where those of the low-latency queue count as if they had waited so
    /// much longer (time-shifted FIFO).
    TimeShift(Time),
}

/// Which packets take the low-latency queue.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct LowLatencyConfig {
    /// By their ECN field: they are marked there.
    pub ecn: LowLatencyEcn,
    /// By their codepoint, whatever their ECN field says, as non-queue-building ones (`nqb`). They are
    /// neither marked nor dropped there: nothing but the limit holds them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dscp: Option<OneOrMany<Dscp>>,
}

/// By which ECN fields packets take the low-latency queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LowLatencyEcn {
    /// ECT(1) and CE (RFC 9331).
    #[default]
    L4s,
    /// ECT(0) as well (Linux' `any_ect`): where all senders are known to be scalable.
    AnyEct,
}

/// What a packet is to the two queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Classic,
    /// By its ECN field: it is marked.
    Scalable,
    /// By its codepoint: it is left alone.
    NonQueueBuilding,
}

/// [`LowLatencyConfig`], as packets are asked.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LowLatency {
    any_ect: bool,
    /// A bit for each codepoint.
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
    // RFC 9331 §5.1: ECT(1) and CE are treated as L4S. RFC 9332 §2.5.1.1: an operator may add others, by
    // other fields. Linux, `dualpi2_skb_classify`: what filters call class 2 is left alone.
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

/// A scheduler as it counts.
#[derive(Clone, Copy, Debug)]
enum Coupled {
    /// Weights in hundredths of a percent.
    Shares {
        classic: i64,
        low_latency: i64,
    },
    TimeShift(Time),
}

/// Bytes of a packet with its Ethernet header, with which the low-latency queue is ahead at the start.
const FIRST: i64 = 1514;

/// The packets of both queues, each in order of arrival.
#[derive(Clone, Debug)]
pub struct DualQueue {
    classic: GrowingRing<Timed>,
    low_latency: GrowingRing<Timed>,
    /// Whether the low-latency queue is served next: chosen whenever that may have changed, asked three times
    /// per packet.
    serves_low_latency: bool,
    scheduler: Coupled,
    /// Whether all packets take the classic queue.
    is_one: bool,
    takes: LowLatency,
    /// What a packet counts beyond its IP bytes.
    header: i64,
    /// In bytes times weights: above 0 it is the classic queue's turn.
    credit: i64,
    /// What the packet served last has changed of it.
    change: i64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Timed {
    packet: Packet,
    since: Time,
}

impl CoupledScheduler {
    /// Two empty queues, whose packets count so many bytes beyond their IP bytes.
    ///
    /// # Errors
    /// Where the share is no percentage.
    pub fn build(self, header: u32) -> Result<DualQueue, ConfigError> {
        let scheduler = match self {
            CoupledScheduler::TimeShift(shift) => Coupled::TimeShift(shift),
            CoupledScheduler::ClassicShare(percent) => {
                let hundredths = percent * 100.0;
                if !(0.0..=10_000.0).contains(&hundredths) || hundredths.fract() != 0.0 {
                    let message = format!("a share of {percent} percent");
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
        queue.begin_again();
        Ok(queue)
    }
}

impl DualQueue {
    /// This queue, which is empty: all packets in one FIFO, or those with low latency in their own.
    pub(crate) fn of(self, queues: CoupledQueues, takes: LowLatency) -> DualQueue {
        DualQueue { is_one: queues == CoupledQueues::One, takes, ..self }
    }

    /// Linux, `dualpi2_reset_c_protection`: who asks and finds nothing begins again.
    fn begin_again(&mut self) {
        self.change = 0;
        self.credit = match self.scheduler {
            Coupled::Shares { classic, low_latency } => FIRST * (classic - low_latency),
            Coupled::TimeShift(_) => 0,
        };
    }

    /// Chooses which queue is served next.
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
    /// Whether the low-latency queue's head has waited longer, of two heads.
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

    /// Forgets the head, which there must be.
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
            self.begin_again();
        }
        self.choose();
        Stay { since, ..Stay::default() }
    }
    /// The head that was forgotten last has not been sent: it cost its queue nothing.
    pub(super) fn head_dropped(&mut self) {
        self.credit -= self.change;
        self.change = 0;
        self.choose();
    }

    /// The packets, those with low latency first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Packet> {
        self.low_latency.iter().chain(self.classic.iter()).map(|timed| &timed.packet)
    }
}
