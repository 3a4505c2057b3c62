//! PIE according to its sources, with a timer that fires at each update: RFC 8033 appendices A and B in
//! floating point, and `sch_pie.c` of Linux in integers that are too wide to overflow.

use perhop_qos::random::Stream;
use perhop_qos::{Packet, Time, Verdict};

/// The packets of a queue, each with its arrival time.
pub(crate) type Held<'h> = &'h [(Time, Packet)];

/// An implementation of PIE. It is called for all updates, arrivals and departures in order.
pub(crate) trait PlainPie {
    fn first_update(&self) -> Time;
    fn update_interval(&self) -> Time;
    fn update(&mut self, held: Held);
    /// Returns the fate of an arriving packet, which finds `held` in the queue.
    fn arrives(&mut self, now: Time, packet: &Packet, held: Held) -> Fate;
    /// Called when the first packet of `before` has left.
    fn left(&mut self, now: Time, before: Held);
    fn probability(&self) -> f64;
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fate {
    Joins,
    Marked,
    Early,
    Full,
}

impl From<Verdict> for Fate {
    fn from(verdict: Verdict) -> Fate {
        match verdict {
            Verdict::Pass => Fate::Joins,
            Verdict::MarkCe => Fate::Marked,
            Verdict::Drop(perhop_qos::DropCause::QueueFull) => Fate::Full,
            Verdict::Drop(_) => Fate::Early,
        }
    }
}

fn bytes(held: Held, header: u32) -> u64 {
    held.iter().map(|(_, packet)| u64::from(packet.length + header)).sum()
}

/// RFC 8033, with the names of its pseudocode.
pub(crate) struct Rfc {
    pub(crate) qdelay_ref: f64,
    pub(crate) t_update_us: u64,
    pub(crate) max_burst_us: u64,
    pub(crate) alpha: f64,
    pub(crate) beta: f64,
    pub(crate) mark_ecnth: Option<f64>,
    pub(crate) tail_drop: usize,
    pub(crate) couple_of_packets: u64,
    pub(crate) timestamps: bool,
    pub(crate) derandomizes: bool,
    pub(crate) random: Stream,
    pub(crate) drop_prob: f64,
    pub(crate) current_qdelay: f64,
    pub(crate) qdelay_old: f64,
    pub(crate) burst_allowance_us: u64,
    pub(crate) accu_prob: f64,
    pub(crate) avg_dq_time: f64,
    pub(crate) dq_count: u64,
    pub(crate) measurement_start: Option<Time>,
}

impl Rfc {
    fn drop_early(&mut self, held: Held) -> bool {
        if self.qdelay_old < self.qdelay_ref / 2.0 && self.drop_prob < 0.2 {
            return false;
        }
        if bytes(held, 0) <= self.couple_of_packets {
            return false;
        }
        if !self.derandomizes {
            return self.random.uniform() < self.drop_prob;
        }
        self.accu_prob = if self.drop_prob == 0.0 { 0.0 } else { self.accu_prob + self.drop_prob };
        if self.accu_prob < 0.85 {
            false
        } else if self.accu_prob >= 8.5 || self.random.uniform() < self.drop_prob {
            self.accu_prob = 0.0;
            true
        } else {
            false
        }
    }
}

impl PlainPie for Rfc {
    fn first_update(&self) -> Time {
        self.update_interval()
    }
    fn update_interval(&self) -> Time {
        Time::from_microseconds(self.t_update_us)
    }
    fn update(&mut self, held: Held) {
        if !self.timestamps {
            self.current_qdelay = bytes(held, 0) as f64 * self.avg_dq_time / 16384.0;
        }
        let p = self.alpha * (self.current_qdelay - self.qdelay_ref)
            + self.beta * (self.current_qdelay - self.qdelay_old);
        let p = match self.drop_prob {
            prob if prob < 0.000_001 => p / 2048.0,
            prob if prob < 0.000_01 => p / 512.0,
            prob if prob < 0.0001 => p / 128.0,
            prob if prob < 0.001 => p / 32.0,
            prob if prob < 0.01 => p / 8.0,
            prob if prob < 0.1 => p / 2.0,
            _ => p.min(0.02),
        };
        self.drop_prob += p;
        if self.current_qdelay == 0.0 && self.qdelay_old == 0.0 {
            self.drop_prob *= 0.98;
        }
        self.drop_prob = self.drop_prob.clamp(0.0, 1.0);
        self.qdelay_old = self.current_qdelay;
        self.burst_allowance_us -= self.t_update_us.min(self.burst_allowance_us);
    }
    fn arrives(&mut self, _: Time, packet: &Packet, held: Held) -> Fate {
        if held.len() >= self.tail_drop {
            self.accu_prob = 0.0;
            return Fate::Full;
        }
        let half = self.qdelay_ref / 2.0;
        if self.drop_prob == 0.0 && self.current_qdelay < half && self.qdelay_old < half {
            self.burst_allowance_us = self.max_burst_us;
        }
        if self.burst_allowance_us > 0 || !self.drop_early(held) {
            return Fate::Joins;
        }
        let is_capable = packet.marks.ecn() != perhop_qos::packet::Ecn::NotCapable;
        match self.mark_ecnth {
            Some(most) if self.drop_prob < most && is_capable => Fate::Marked,
            _ => Fate::Early,
        }
    }
    fn left(&mut self, now: Time, before: Held) {
        let ((arrived, packet), left) = (before[0], bytes(&before[1..], 0));
        if self.timestamps {
            self.current_qdelay = now.as_seconds() - arrived.as_seconds();
            return;
        }
        if let Some(start) = self.measurement_start {
            self.dq_count += u64::from(packet.length);
            if self.dq_count >= 1 << 14 {
                let dq_time = now.saturating_sub(start).as_seconds();
                self.avg_dq_time =
                    if self.avg_dq_time == 0.0 { dq_time } else { 0.25 * dq_time + 0.75 * self.avg_dq_time };
                self.measurement_start = None;
            }
        }
        if self.measurement_start.is_none() && left >= 1 << 14 {
            (self.measurement_start, self.dq_count) = (Some(now), 0);
        }
    }
    fn probability(&self) -> f64 {
        self.drop_prob
    }
}

/// `sch_pie.c`, with the kernel's names.
pub(crate) struct Kernel {
    pub(crate) target: i128,
    pub(crate) tupdate_us: u64,
    pub(crate) limit: usize,
    /// The factor alpha in units of 1/16, as tc passes it.
    pub(crate) alpha: i128,
    pub(crate) beta: i128,
    pub(crate) ecn: bool,
    /// The bytes of the header that is counted: 14 on an Ethernet link.
    pub(crate) header: u32,
    pub(crate) random: Stream,
    pub(crate) prob: i128,
    pub(crate) accu_prob: i128,
    pub(crate) qdelay: i128,
    pub(crate) qdelay_old: i128,
    pub(crate) burst_time: i128,
    pub(crate) dq_tstamp: Option<i128>,
}

const MAX_PROB: i128 = (1 << 56) - 1;
pub(crate) const MILLISECOND: i128 = 15_625; // in units of 64 ns

fn psched(time: Time) -> i128 {
    i128::from(time.as_picoseconds() / 1000 / 64)
}

impl PlainPie for Kernel {
    fn first_update(&self) -> Time {
        // A timer of 500 ms fires in the slot of 8 ms after this time.
        Time::from_milliseconds(63 * 8)
    }
    fn update_interval(&self) -> Time {
        Time::from_milliseconds(self.tupdate_us.div_ceil(1000) + 1)
    }
    fn update(&mut self, held: Held) {
        let backlog = bytes(held, self.header);
        let (qdelay, old, oldprob) = (self.qdelay, self.qdelay_old, self.prob);
        let mut update_prob = !(qdelay == 0 && backlog != 0);
        // The divisor is 2 below a tenth, and 4 times as large for each further factor of ten.
        let divisor = match oldprob {
            p if p < MAX_PROB / 1_000_000 => 2048,
            p if p < MAX_PROB / 100_000 => 512,
            p if p < MAX_PROB / 10_000 => 128,
            p if p < MAX_PROB / 1000 => 32,
            p if p < MAX_PROB / 100 => 8,
            p if p < MAX_PROB / 10 => 2,
            _ => 1,
        };
        let gain = |sixteenths: i128| sixteenths * (MAX_PROB / 15_625_000) / 16 / divisor;
        let mut delta = gain(self.alpha) * (qdelay - self.target) + gain(self.beta) * (qdelay - old);
        if delta > MAX_PROB / 50 && oldprob >= MAX_PROB / 10 {
            delta = MAX_PROB / 100 * 2;
        }
        if qdelay > 250 * MILLISECOND {
            delta += MAX_PROB / 50;
        }
        self.prob += delta;
        if self.prob >= 1 << 64 {
            self.prob = MAX_PROB;
            update_prob = false;
        }
        self.prob = self.prob.max(0);
        if qdelay == 0 && old == 0 && update_prob {
            self.prob -= self.prob / 64;
        }
        if qdelay < self.target / 2 && old < self.target / 2 && self.prob == 0 {
            (self.burst_time, self.dq_tstamp, self.accu_prob) = (150 * MILLISECOND, None, 0);
        }
        self.qdelay_old = qdelay;
    }
    fn arrives(&mut self, _: Time, packet: &Packet, held: Held) -> Fate {
        let fate = if held.len() >= self.limit {
            Fate::Full
        } else if !self.drop_early(bytes(held, self.header)) {
            Fate::Joins
        } else if self.ecn
            && self.prob <= MAX_PROB / 10
            && packet.marks.ecn() != perhop_qos::packet::Ecn::NotCapable
        {
            Fate::Marked
        } else {
            Fate::Early
        };
        if matches!(fate, Fate::Full | Fate::Early) {
            self.accu_prob = 0;
        }
        fate
    }
    fn left(&mut self, now: Time, before: Held) {
        let now = psched(now);
        self.qdelay = if before.len() == 1 { 0 } else { now - psched(before[0].0) };
        if let Some(last) = self.dq_tstamp {
            self.burst_time = (self.burst_time - (now - last)).max(0);
        }
        self.dq_tstamp = Some(now);
    }
    fn probability(&self) -> f64 {
        self.prob as f64 / MAX_PROB as f64
    }
}

impl Kernel {
    fn drop_early(&mut self, backlog: u64) -> bool {
        let two_packets = 2 * (1500 + u64::from(self.header));
        if self.burst_time > 0 || backlog < two_packets {
            return false;
        }
        if self.qdelay < self.target / 2 && self.prob < MAX_PROB / 5 {
            return false;
        }
        self.accu_prob = if self.prob == 0 { 0 } else { self.accu_prob + self.prob };
        if self.accu_prob < MAX_PROB / 100 * 85 {
            return false;
        }
        if self.accu_prob >= MAX_PROB / 2 * 17 {
            return true;
        }
        let hit = i128::from(self.random.bits() / 256) < self.prob;
        if hit {
            self.accu_prob = 0;
        }
        hit
    }
}
