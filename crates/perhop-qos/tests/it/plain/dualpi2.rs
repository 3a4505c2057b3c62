//! A plain implementation of `DualPI2`, with its two queues, its scheduler and a timer: RFC 9332 appendix A,
//! and `sch_dualpi2.c` of Linux.

use std::collections::VecDeque;

use perhop_qos::packet::Ecn;
use perhop_qos::random::Stream;
use perhop_qos::{Packet, Time};

/// The fate of a packet: its time, and the `payload` of the packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fate {
    Full(Time, u64),
    Dropped(Time, u64),
    /// The packet was sent, with a CE mark (true) or unchanged.
    Sent(Time, u64, bool),
}

#[derive(Clone, Copy)]
pub(crate) struct Waits {
    pub(crate) since: Time,
    pub(crate) packet: Packet,
}

/// The rule that selects the next queue if both have packets.
#[derive(Clone, Copy)]
pub(crate) enum Turn {
    /// The weights of the classic and of the low-latency queue.
    Weights(i64, i64),
    Shift(Time),
}

/// A marker: the part in which the two implementations differ.
pub(crate) trait Marker {
    fn interval(&self) -> Time;
    fn update(&mut self, classic_s: Option<f64>, low_s: Option<f64>);
    /// Decides about the head. Returns `None` if the head is dropped, otherwise whether it is marked.
    fn decide(&mut self, is_low: bool, head: &Waits, now: Time, left: &Queues) -> Option<bool>;
    fn probability(&self) -> f64;
}

pub(crate) struct Queues {
    pub(crate) classic: VecDeque<Waits>,
    pub(crate) low: VecDeque<Waits>,
}

impl Queues {
    pub(crate) fn packets(&self) -> usize {
        self.classic.len() + self.low.len()
    }
    pub(crate) fn bytes(&self, header: u64) -> u64 {
        let all = self.classic.iter().chain(&self.low);
        all.map(|waits| u64::from(waits.packet.length) + header).sum()
    }
}

pub(crate) struct Plain<M> {
    pub(crate) marker: M,
    pub(crate) queues: Queues,
    pub(crate) turn: Turn,
    pub(crate) credit: i64,
    /// The bytes that are counted for a packet in addition to its IP bytes. `wire_header` has the bytes that
    /// are sent with it on the wire.
    pub(crate) header: u64,
    pub(crate) wire_header: u64,
    pub(crate) limit: usize,
    /// The codepoints whose packets join the low-latency queue and are not marked there.
    pub(crate) others: Vec<u8>,
    /// Whether packets with ECT(0) join the low-latency queue, too.
    pub(crate) any_ect: bool,
    pub(crate) next_update: Time,
    /// The time at which the wire is free, and the transmission time of a byte.
    pub(crate) free_at: Time,
    pub(crate) byte: Time,
    pub(crate) fates: Vec<Fate>,
}

impl<M: Marker> Plain<M> {
    fn begin_again(&mut self) {
        if let Turn::Weights(classic, low) = self.turn {
            self.credit = 1514 * (classic - low);
        }
    }
    pub(crate) fn new(marker: M, turn: Turn, header: u64, limit: usize, byte: Time) -> Plain<M> {
        let queues = Queues { classic: VecDeque::new(), low: VecDeque::new() };
        let (next_update, free_at, fates) = (marker.interval(), Time::ZERO, Vec::new());
        let mut plain = Plain {
            marker,
            queues,
            turn,
            credit: 0,
            header,
            wire_header: header,
            limit,
            others: Vec::new(),
            any_ect: false,
            next_update,
            free_at,
            byte,
            fates,
        };
        plain.begin_again();
        plain
    }

    fn update_until(&mut self, now: Time) {
        while self.next_update <= now {
            let at = self.next_update;
            let waited = |queue: &VecDeque<Waits>| {
                queue.front().map(|waits| at.saturating_sub(waits.since).as_seconds())
            };
            let (classic, low) = (waited(&self.queues.classic), waited(&self.queues.low));
            self.marker.update(classic, low);
            self.next_update += self.marker.interval();
        }
    }

    /// Sends all packets that leave at or before `now`.
    pub(crate) fn pass(&mut self, now: Time) {
        while self.queues.packets() > 0 && self.free_at <= now {
            self.send(self.free_at);
        }
    }

    pub(crate) fn arrive(&mut self, now: Time, packet: Packet) {
        self.update_until(now);
        if self.queues.packets() >= self.limit {
            self.fates.push(Fate::Full(now, packet.payload));
            return;
        }
        let waits = Waits { since: now, packet };
        let is_other = self.others.contains(&packet.dscp.value());
        match packet.marks.ecn() {
            Ecn::Capable1 | Ecn::CongestionExperienced => self.queues.low.push_back(waits),
            Ecn::Capable0 if self.any_ect => self.queues.low.push_back(waits),
            Ecn::NotCapable | Ecn::Capable0 if is_other => self.queues.low.push_back(waits),
            Ecn::NotCapable | Ecn::Capable0 => self.queues.classic.push_back(waits),
        }
        if self.free_at <= now {
            self.send(now);
        }
    }

    fn send(&mut self, now: Time) {
        self.update_until(now);
        while self.queues.packets() > 0 {
            let Queues { classic, low } = &self.queues;
            let is_low = match (classic.front(), low.front(), self.turn) {
                (None, _, _) => true,
                (_, None, _) => false,
                (_, _, Turn::Weights(..)) => self.credit <= 0,
                // The queue whose head has waited longer is served. The shift is added to the wait of the
                // low-latency head.
                (Some(classic), Some(low), Turn::Shift(shift)) => {
                    now.saturating_sub(classic.since) <= now.saturating_sub(low.since) + shift
                }
            };
            let queue = if is_low { &mut self.queues.low } else { &mut self.queues.classic };
            let head = queue.pop_front().unwrap();
            let other = if is_low { &self.queues.classic } else { &self.queues.low };
            let shares = !other.is_empty();
            let ecn = head.packet.marks.ecn();
            let is_scalable = matches!(ecn, Ecn::Capable1 | Ecn::CongestionExperienced)
                || self.any_ect && ecn == Ecn::Capable0;
            let decision = if is_low && !is_scalable {
                Some(false)
            } else {
                self.marker.decide(is_low, &head, now, &self.queues)
            };
            let Some(marked) = decision else {
                self.fates.push(Fate::Dropped(now, head.packet.payload));
                continue;
            };
            if let (true, Turn::Weights(classic, low)) = (shares, self.turn) {
                let bytes = i64::from(head.packet.length) + self.header.cast_signed();
                self.credit += if is_low { classic * bytes } else { -low * bytes };
            }
            let has_ce = marked || head.packet.marks.ecn() == Ecn::CongestionExperienced;
            self.fates.push(Fate::Sent(now, head.packet.payload, has_ce));
            self.free_at = now + self.byte * (u64::from(head.packet.length) + self.wire_header);
            break;
        }
        if self.queues.packets() == 0 {
            self.begin_again();
        }
    }
}

/// RFC 9332, appendix A, with the names of its pseudocode.
pub(crate) struct Rfc {
    pub(crate) interval: Time,
    pub(crate) target: f64,
    pub(crate) alpha: f64,
    pub(crate) beta: f64,
    pub(crate) k: f64,
    pub(crate) p: f64,
    pub(crate) prevq: f64,
    pub(crate) count: [f64; 3],
}

impl Rfc {
    fn recur(&mut self, which: usize, likelihood: f64) -> bool {
        self.count[which] += likelihood;
        if self.count[which] > 1.0 {
            self.count[which] -= 1.0;
            return true;
        }
        false
    }
}

impl Marker for Rfc {
    fn interval(&self) -> Time {
        self.interval
    }
    fn update(&mut self, classic: Option<f64>, low: Option<f64>) {
        let curq = match (classic, low) {
            (Some(seconds), _) | (None, Some(seconds)) => seconds,
            (None, None) => 0.0,
        };
        self.p += self.alpha * (curq - self.target) + self.beta * (curq - self.prevq);
        self.p = self.p.clamp(0.0, 1.0);
        self.prevq = curq;
    }
    fn decide(&mut self, is_low: bool, head: &Waits, now: Time, left: &Queues) -> Option<bool> {
        let (p_c, p_cl) = (self.p * self.p, self.k * self.p);
        if !is_low {
            let due = self.recur(0, p_c);
            let drops = head.packet.marks.ecn() == Ecn::NotCapable || p_c >= 1.0 / (self.k * self.k);
            return if due && drops { None } else { Some(due) };
        }
        if p_cl >= 1.0 {
            return if self.recur(2, p_c) { None } else { Some(true) };
        }
        let (wait_us, mut native) = (now.saturating_sub(head.since).as_seconds() * 1e6, 0.0);
        if !left.low.is_empty() && wait_us > 800.0 {
            native = ((wait_us - 800.0) / 400.0).min(1.0);
        }
        Some(self.recur(1, native.max(p_cl)))
    }
    fn probability(&self) -> f64 {
        self.p
    }
}

/// `sch_dualpi2.c`, with the kernel's names.
pub(crate) struct Kernel {
    pub(crate) pi2_target: i128,
    pub(crate) tupdate: Time,
    /// The factor alpha in units of 1/256.
    pub(crate) alpha: i128,
    pub(crate) beta: i128,
    pub(crate) header: u64,
    pub(crate) random: Stream,
    pub(crate) prob: i128,
    pub(crate) last_qdelay: i128,
}

const MAX_PROB: i128 = 0xffff_ffff;

impl Kernel {
    fn roll(&mut self, prob: i128) -> bool {
        i128::from(self.random.bits() >> 32) <= prob
    }
    fn squared(&mut self) -> bool {
        self.roll(self.prob) && self.roll(self.prob)
    }
}

impl Marker for Kernel {
    fn interval(&self) -> Time {
        self.tupdate
    }
    fn update(&mut self, classic: Option<f64>, low: Option<f64>) {
        // In these tests, all times are whole nanoseconds.
        let nanoseconds = |seconds: Option<f64>| (seconds.unwrap_or(0.0) * 1e9).round() as i128;
        let qdelay = nanoseconds(classic).max(nanoseconds(low));
        let gain = |parts: i128| parts * MAX_PROB / 4 / 1_000_000_000;
        let delta =
            (qdelay - self.pi2_target) * gain(self.alpha) + (qdelay - self.last_qdelay) * gain(self.beta);
        self.last_qdelay = qdelay;
        // The division rounds towards 0, both for positive and for negative numbers.
        self.prob = (self.prob + delta / 64).clamp(0, MAX_PROB);
    }
    fn decide(&mut self, is_low: bool, head: &Waits, now: Time, left: &Queues) -> Option<bool> {
        let mut marked = false;
        if left.bytes(self.header) >= 2 * (1500 + self.header) {
            let overload = 2 * self.prob > MAX_PROB;
            if !is_low {
                let due = self.squared();
                if due && (overload || head.packet.marks.ecn() == Ecn::NotCapable) {
                    return None;
                }
                marked = due;
            } else if overload {
                if self.squared() {
                    return None;
                }
                marked = true;
            } else {
                marked = self.roll(2 * self.prob);
            }
        }
        let waited = now.saturating_sub(head.since);
        Some(marked || (is_low && waited > Time::from_milliseconds(1)))
    }
    fn probability(&self) -> f64 {
        self.prob as f64 / MAX_PROB as f64
    }
}
