//! What is counted of the packets of one class and color where they arrive.

use perhop_qos::conditioner::Count;
use perhop_qos::packet::Color;
use perhop_qos::units::Time;

/// Packets of one class that arrived in one color, as their codepoint says.
#[derive(Clone, Copy, Debug, Default)]
pub struct ColorTally {
    /// Sent after the warm-up, and arrived.
    pub delivered: Count,
    /// Arrived after the warm-up, whenever they were sent: what throughput is made of.
    pub received: Count,
    /// Sum of the delays of `delivered`, picoseconds.
    delay: u128,
}

/// The packets of one class, by color.
pub type ColorTallies = [ColorTally; Color::COUNT];

impl ColorTally {
    /// A packet of `length` IP bytes that was sent after the warm-up arrived after `delay`.
    pub fn deliver(&mut self, length: u32, delay: Time) {
        self.delivered.add(length);
        self.delay += u128::from(delay.as_picoseconds());
    }
    /// Mean delay, seconds; NaN of none.
    pub fn mean_delay(&self) -> f64 {
        self.delay as f64 / self.delivered.packets as f64 / 1e12
    }
}
