//! The implementations that `law` can name. Each has its own queue and uses the arithmetic of its source:
//! floating point in ns-2 (single precision in dsRED), and integers in Linux.

pub(crate) mod ds_red;
pub(crate) mod linux;
pub(crate) mod ns_red;

use perhop_qos::random::Stream;

/// Whether a packet joins, or `None` if this depends on the last digits of an average. After a `None`, the
/// two implementations cannot be compared.
pub(crate) type Fate = Option<bool>;

/// The interface of an implementation of RED. Time is in seconds.
pub(crate) trait Implementation {
    /// Whether a packet of `length` bytes and precedence `index` joins.
    fn enque(&mut self, now: f64, index: usize, length: u32) -> Fate;
    /// Called when the link is free and polls for the next packet. `head` has the index and length of the
    /// head, if there is one.
    fn deque(&mut self, now: f64, head: Option<(usize, u32)>);
    /// Returns the averages, in packets or bytes.
    fn averages(&self) -> Vec<f64>;
    /// Returns the difference up to which two averages count as equal.
    fn tolerance(&self) -> f64;
}

/// Thresholds and probability of a precedence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Curve {
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) max_p: f64,
}

/// Returns whether a random number is below the probability `chance`, or `None` if this depends on the
/// precision of the numbers.
pub(crate) fn falls_below(chance: f64, random: &mut Stream) -> Fate {
    if chance <= 0.0 || chance >= 1.0 {
        return Some(chance >= 1.0);
    }
    let number = random.bits() as f64 / 2f64.powi(64);
    ((number - chance).abs() > 1e-4 * chance.max(1e-3)).then_some(number < chance)
}

/// Whether two numbers are so close that their order depends on the precision.
pub(crate) fn near(number: f64, other: f64) -> bool {
    (number - other).abs() < 1e-4 * other.abs().max(1e-3)
}

/// Floyd & Jacobson 1993, Figure 2, with the count of section 7. `q_time` is set only when the queue becomes
/// empty.
pub(crate) struct Floyd {
    pub(crate) curve: Curve,
    pub(crate) weight: f64,
    pub(crate) limit: u64,
    /// The transmission time of a packet of mean length, seconds.
    pub(crate) s: f64,
    pub(crate) random: Stream,
    pub(crate) average: f64,
    pub(crate) count: i64,
    pub(crate) q_time: f64,
    pub(crate) packets: u64,
}

impl Implementation for Floyd {
    fn enque(&mut self, now: f64, _: usize, _: u32) -> Fate {
        if self.packets > 0 {
            self.average += self.weight * (self.packets as f64 - self.average);
        } else {
            self.average *= (1.0 - self.weight).powf((now - self.q_time) / self.s);
        }
        let Curve { min, max, max_p } = self.curve;
        if near(self.average, min) || near(self.average, max) {
            return None;
        }
        if self.average >= max {
            self.count = 0;
            return Some(false);
        }
        if self.average >= min {
            let pb = max_p * (self.average - min) / (max - min);
            let denominator = 1.0 - self.count as f64 * pb;
            if near(pb, denominator) {
                return None;
            }
            let chance = if pb >= denominator { 1.0 } else { pb / denominator };
            if falls_below(chance, &mut self.random)? {
                self.count = 0;
                return Some(false);
            }
            self.count += 1;
        } else {
            self.count = 0;
        }
        let fits = self.packets < self.limit;
        self.packets += u64::from(fits);
        Some(fits)
    }
    fn deque(&mut self, now: f64, head: Option<(usize, u32)>) {
        if head.is_some() {
            self.packets -= 1;
            if self.packets == 0 {
                self.q_time = now;
            }
        }
    }
    fn averages(&self) -> Vec<f64> {
        vec![self.average]
    }
    fn tolerance(&self) -> f64 {
        1e-6
    }
}
