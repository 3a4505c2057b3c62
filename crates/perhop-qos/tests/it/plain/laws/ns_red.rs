//! `queue/red.cc` and `queue/rio.cc` of ns-2.

use perhop_qos::random::Stream;

use super::{Curve, Fate, Implementation, falls_below, near};

/// ns-2.35 `queue/red.cc` (v 1.90): `enque`, `deque`, `estimator`, `calculate_p_new`, `modify_p`,
/// `drop_early`. The version before May 1999 has `ns1_compat_`, and neither `gentle_` nor `use_mark_p_`.
#[expect(clippy::struct_excessive_bools, reason = "they are ns-2's own variables")]
pub(crate) struct NsRed {
    pub(crate) curve: Curve,
    pub(crate) weight: f64,
    pub(crate) gentle: bool,
    pub(crate) wait: bool,
    /// `bytes_`: whether the count is in bytes, divided by the mean size.
    pub(crate) bytes: bool,
    /// `queue_in_bytes_`.
    pub(crate) queue_in_bytes: bool,
    pub(crate) use_mark_p: bool,
    pub(crate) ns1_compat: bool,
    pub(crate) mean: u32,
    /// The limit in packets, or in bytes if the queue counts bytes.
    pub(crate) limit: u64,
    /// The number of packets of the mean size that are sent in a second.
    pub(crate) ptc: f64,
    pub(crate) random: Stream,
    pub(crate) state: NsState,
}

pub(crate) struct NsState {
    average: f64,
    count: u64,
    count_bytes: u64,
    old: bool,
    idle: Option<f64>,
    packets: u64,
    queued_bytes: u64,
}

impl Default for NsState {
    fn default() -> NsState {
        NsState {
            average: 0.0,
            count: 0,
            count_bytes: 0,
            old: false,
            idle: Some(0.0),
            packets: 0,
            queued_bytes: 0,
        }
    }
}

impl NsRed {
    fn held(&self) -> u64 {
        if self.queue_in_bytes { self.state.queued_bytes } else { self.state.packets }
    }
    /// The drop probability (`calculate_p_new` of ns-2).
    fn probability(&self, average: f64) -> f64 {
        let Curve { min, max, max_p } = self.curve;
        let p = if average < max {
            max_p * (average - min) / (max - min)
        } else if self.gentle {
            (1.0 - max_p) / max * average + 2.0 * max_p - 1.0
        } else {
            1.0
        };
        p.min(1.0)
    }
    /// `modify_p`. Returns `None` near a point at which its formula changes.
    fn modified(&self, p: f64, length: u32) -> Option<f64> {
        let count = if self.bytes {
            (self.state.count_bytes / u64::from(self.mean)) as f64
        } else {
            self.state.count as f64
        };
        let expected = count * p;
        if near(expected, 1.0) || near(expected, 2.0) {
            return None;
        }
        let spaced = match (self.wait, expected) {
            (true, 2.0..) | (false, 1.0..) => 1.0,
            (true, 1.0..) => p / (2.0 - expected),
            (true, _) => 0.0,
            (false, _) => p / (1.0 - expected),
        };
        if near(spaced, 1.0) && spaced != 1.0 {
            return None;
        }
        let by_length = f64::from(length) / f64::from(self.mean);
        Some(if self.bytes && spaced < 1.0 { spaced * by_length } else { spaced })
    }
}

impl Implementation for NsRed {
    fn enque(&mut self, now: f64, _: usize, length: u32) -> Fate {
        let held = self.held();
        let idled = self.state.idle.take().map_or(0.0, |since| self.ptc * (now - since));
        if idled > 0.5 && (idled - idled.round()).abs() < 1e-6 {
            return None;
        }
        self.state.average *= (1.0 - self.weight).powf(idled.floor() + 1.0);
        self.state.average += self.weight * held as f64;
        self.state.count += 1;
        self.state.count_bytes += u64::from(length);
        let average = self.state.average;
        let forced_from = if self.gentle { 2.0 * self.curve.max } else { self.curve.max };
        if near(average, self.curve.min) || near(average, self.curve.max) || near(average, forced_from) {
            return None;
        }
        let (mut forced, mut drawn) = (false, false);
        if average >= self.curve.min && held > 1 {
            if !self.use_mark_p && average >= forced_from {
                forced = true;
            } else if !self.state.old {
                (self.state.count, self.state.count_bytes, self.state.old) = (1, u64::from(length), true);
            } else {
                let chance = self.modified(self.probability(average), length)?;
                drawn = falls_below(chance, &mut self.random)?;
                if drawn {
                    (self.state.count, self.state.count_bytes) = (0, 0);
                }
            }
        } else {
            self.state.old = false;
        }
        forced |= held >= self.limit;
        if forced && !self.ns1_compat {
            (self.state.count, self.state.count_bytes) = (0, 0);
        }
        if forced || drawn {
            return Some(false);
        }
        self.state.packets += 1;
        self.state.queued_bytes += u64::from(length);
        Some(true)
    }
    fn deque(&mut self, now: f64, head: Option<(usize, u32)>) {
        if let Some((_, length)) = head {
            self.state.packets -= 1;
            self.state.queued_bytes -= u64::from(length);
            self.state.idle = None;
        } else {
            self.state.idle = Some(now);
        }
    }
    fn averages(&self) -> Vec<f64> {
        vec![self.state.average]
    }
    fn tolerance(&self) -> f64 {
        1e-6
    }
}

/// ns-2.35 `queue/rio.cc` (v 1.14), `enque` and `deque`, with in packets (precedence 0) and out packets. It
/// consists of two [`NsRed`]: `inside` counts and tests the in packets, and `all` counts all packets and
/// tests the out packets.
pub(crate) struct NsRio {
    pub(crate) inside: NsRed,
    pub(crate) all: NsRed,
    /// `idle_` and `in_idle_`. Both use the same `idletime_`.
    pub(crate) idle: [bool; 2],
    pub(crate) idle_time: f64,
}

impl NsRio {
    /// The drop decision for a packet that `red` has counted. Returns whether the drop is forced, and whether
    /// it is random.
    fn judge(red: &mut NsRed, length: u32, random: &mut Stream) -> Option<(bool, bool)> {
        let average = red.state.average;
        let forced_from = if red.gentle { 2.0 * red.curve.max } else { red.curve.max };
        if near(average, red.curve.min) || near(average, red.curve.max) || near(average, forced_from) {
            return None;
        }
        if average < red.curve.min || red.held() <= 1 {
            red.state.old = false;
            return Some((false, false));
        }
        if average >= forced_from {
            return Some((true, false));
        }
        if !red.state.old {
            (red.state.count, red.state.count_bytes, red.state.old) = (1, u64::from(length), true);
            return Some((false, false));
        }
        let drawn = falls_below(red.modified(red.probability(average), length)?, random)?;
        if drawn {
            (red.state.count, red.state.count_bytes) = (0, 0);
        }
        Some((false, drawn))
    }
    /// Returns the parts that count a packet of precedence `index`.
    fn counting(&mut self, index: usize) -> impl Iterator<Item = &mut NsRed> {
        [&mut self.all, &mut self.inside].into_iter().take(2 - index)
    }
}

impl Implementation for NsRio {
    fn enque(&mut self, now: f64, index: usize, length: u32) -> Fate {
        if index == 0 {
            for (idle, red) in self.idle.iter_mut().zip([&mut self.all, &mut self.inside]) {
                let idled = if *idle { red.ptc * (now - self.idle_time) } else { 0.0 };
                if idled > 0.5 && (idled - idled.round()).abs() < 1e-6 {
                    return None;
                }
                *idle = false;
                red.state.average *= (1.0 - red.weight).powf(idled.floor() + 1.0);
                red.state.average += red.weight * red.held() as f64;
            }
        }
        let full = self.all.held() >= self.all.limit;
        // Both use the same random generator.
        let mut random = self.all.random.clone();
        let red = if index == 0 { &mut self.inside } else { &mut self.all };
        red.state.count += 1;
        red.state.count_bytes += u64::from(length);
        let judged = NsRio::judge(red, length, &mut random);
        self.all.random = random;
        let (forced, drawn) = judged?;
        if (forced || full) && !drawn && index == 0 {
            (self.inside.state.count, self.inside.state.count_bytes) = (0, 0);
        }
        if forced || full || drawn {
            return Some(false);
        }
        for red in self.counting(index) {
            red.state.packets += 1;
            red.state.queued_bytes += u64::from(length);
        }
        Some(true)
    }
    fn deque(&mut self, now: f64, head: Option<(usize, u32)>) {
        let Some((index, length)) = head else {
            (self.idle, self.idle_time) = ([true; 2], now);
            return;
        };
        self.idle[0] = false;
        if index == 0 {
            self.idle[1] = false;
        }
        for red in self.counting(index) {
            red.state.packets -= 1;
            red.state.queued_bytes -= u64::from(length);
        }
    }
    fn averages(&self) -> Vec<f64> {
        vec![self.inside.state.average, self.all.state.average]
    }
    fn tolerance(&self) -> f64 {
        1e-6
    }
}
