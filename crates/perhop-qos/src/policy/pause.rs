//! [`PauseConfig`]: priority flow control of a class (IEEE 802.1Qbb, now IEEE 802.1Q clause 36).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::packet::LinkMark;
use crate::units::{ByteSize, Rate, Time};

/// Priority flow control of a class. Its packets are not dropped if the neighbors can be paused in time.
///
/// A packet in a queue with `pause` uses memory of the interface on which it arrived at the node. Each
/// priority has its own memory. When more than `xoff` is used, that interface requests the neighbor to pause
/// the priority. When at most `xon` is used, the interface requests the neighbor to resume. Both ends of the
/// link must have `mode: on`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PauseConfig {
    /// The priority in pause frames.
    pub priority: LinkMark,
    /// Whether the interface sends and obeys pause frames of the priority.
    #[serde(default)]
    pub mode: PauseMode,
    /// The memory of the interface for arriving packets of the priority. Default: no limit, and the interface
    /// sends no pause frames. This is the default for a host that processes every packet at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<PauseBuffer>,
    /// The time from the arrival of a pause frame until the interface starts no further packet. Default: the
    /// maximum of IEEE 802.3, 31B.3.7, for the rate of the interface.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Time>,
}

/// Whether an interface sends and obeys pause frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PauseMode {
    /// The interface sends pause frames, if it has a `buffer`, and obeys the pause frames of its neighbor.
    #[default]
    On,
    /// The interface neither sends nor obeys pause frames. Packets of the class still use memory of the
    /// interfaces on which they arrived.
    Off,
}

/// The memory of an interface for arriving packets of one priority, IP bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PauseBuffer {
    /// The used memory above which the neighbor must pause.
    pub xoff: ByteSize,
    /// The used memory at or below which the neighbor may resume.
    pub xon: ByteSize,
    /// The memory above `xoff` for packets that arrive before the pause takes effect. Packets that exceed it
    /// are dropped.
    pub headroom: ByteSize,
}

/// The wire bytes of a pause frame: the shortest Ethernet frame, its preamble, and the gap to the next frame.
const FRAME_BYTES: u64 = 64 + 8 + 12;
/// The bits of a pause quantum (IEEE 802.3, 31B.2).
const QUANTUM_BITS: u64 = 512;
/// The maximum response time to a pause frame, in quanta, for interfaces up to a rate in bits per second
/// (IEEE 802.3, 31B.3.7). `buffer_headroom_mellanox.lua` of `sonic-swss` lists the same values.
const RESPONSES: [(u64, u64); 9] = [
    (100_000_000, 1),
    (1_000_000_000, 2),
    (10_000_000_000, 67),
    (25_000_000_000, 80),
    (40_000_000_000, 118),
    (50_000_000_000, 147),
    (100_000_000_000, 394),
    (200_000_000_000, 453),
    (u64::MAX, 905),
];

impl PauseConfig {
    /// Returns the time from the arrival of a pause frame at an interface of `rate` until the pause takes
    /// effect.
    pub fn response(&self, rate: Rate) -> Time {
        self.response.unwrap_or_else(|| {
            let bits = rate.as_bits_per_second();
            let entry = RESPONSES.iter().find(|(most, _)| bits <= *most);
            let quanta = entry.map_or(0, |(_, quanta)| *quanta);
            rate.transmission_time(quanta * QUANTUM_BITS / 8)
        })
    }
    /// Returns the transmission time of a pause frame at `rate`.
    pub fn frame_time(rate: Rate) -> Time {
        rate.transmission_time(FRAME_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_response_is_that_of_the_next_listed_rate() {
        let pause = PauseConfig {
            priority: LinkMark::new(3).unwrap(),
            mode: PauseMode::On,
            buffer: None,
            response: None,
        };
        let response = |gigabits: u64| {
            pause.response(Rate::from_bits_per_second(gigabits * 1_000_000_000)).as_picoseconds()
        };
        // A quantum is 51.2 ns at 10 Gb/s and 5.12 ns at 100 Gb/s.
        assert_eq!(response(10), 67 * 51_200);
        assert_eq!(response(100), 394 * 5_120);
        // An interface of 20 Gb/s has the number of quanta of 25 Gb/s, and its quantum is 25.6 ns.
        assert_eq!(response(20), 80 * 25_600);
    }
}
