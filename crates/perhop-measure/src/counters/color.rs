//! Counters of one class and color at the receiver.

use perhop_qos::conditioner::Count;
use perhop_qos::packet::Color;

/// Arrived packets of one class with the color of their codepoint.
#[derive(Clone, Copy, Debug, Default)]
pub struct ColorTally {
    /// Packets that were sent after the warm-up and arrived.
    pub delivered: Count,
    /// Packets that arrived after the warm-up, also those sent during it: the basis of throughput.
    pub received: Count,
    /// Sum of the delays of `delivered`, picoseconds.
    pub(super) delay: u128,
}

/// The packets of one class, by color.
pub type ColorTallies = [ColorTally; Color::COUNT];

impl ColorTally {
    /// Mean delay, seconds; NaN without packets.
    pub fn mean_delay(&self) -> f64 {
        self.delay as f64 / self.delivered.packets as f64 / 1e12
    }
}
