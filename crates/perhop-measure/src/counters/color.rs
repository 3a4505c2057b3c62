//! What is counted of the packets of one class and color where they arrive.

use perhop_qos::conditioner::Count;
use perhop_qos::packet::Color;

/// Packets of one class that arrived in one color, as their codepoint says.
#[derive(Clone, Copy, Debug, Default)]
pub struct ColorTally {
    /// Sent after the warm-up, and arrived.
    pub delivered: Count,
    /// Arrived after the warm-up, whenever they were sent: what throughput is made of.
    pub received: Count,
    /// Sum of the delays of `delivered`, picoseconds.
    pub(super) delay: u128,
}

/// The packets of one class, by color.
pub type ColorTallies = [ColorTally; Color::COUNT];

impl ColorTally {
    /// Mean delay, seconds; NaN of none.
    pub fn mean_delay(&self) -> f64 {
        self.delay as f64 / self.delivered.packets as f64 / 1e12
    }
}
