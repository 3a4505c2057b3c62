//! Tail drop: a packet that exceeds the limit of the queue is dropped.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contract::BufferManager;
use crate::queue::Occupancy;
use crate::{Color, ConfigError, DropCause, Packet, QueueSize, Time, Verdict};

/// Tail drop as written in a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct TailDropConfig {
    /// The limit of the queue.
    pub limit: QueueSize,
}

impl Default for TailDropConfig {
    /// The default is the queue limit of a class in many routers.
    fn default() -> TailDropConfig {
        TailDropConfig { limit: QueueSize::Packets(TailDropConfig::DEFAULT_PACKETS) }
    }
}

impl TailDropConfig {
    /// The default limit, packets.
    pub(crate) const DEFAULT_PACKETS: u64 = 64;

    /// Builds the buffer manager.
    ///
    /// # Errors
    /// The limit is 0.
    pub fn build(&self) -> Result<TailDrop, ConfigError> {
        if self.limit.count() == 0 {
            return Err(ConfigError::new("limit", "a queue with a limit of 0 drops every packet")
                .help("for example 64 packets"));
        }
        Ok(TailDrop { limit: self.limit })
    }
}

/// The buffer manager of a queue with tail drop.
#[derive(Clone, Copy, Debug)]
pub struct TailDrop {
    limit: QueueSize,
}

impl Default for TailDrop {
    fn default() -> TailDrop {
        TailDrop { limit: TailDropConfig::default().limit }
    }
}

impl TailDrop {
    /// Whether `queue` has room for `packet` under `limit`.
    #[inline]
    pub fn fits(limit: QueueSize, packet: &Packet, queue: &Occupancy) -> bool {
        match limit {
            QueueSize::Packets(packets) => queue.packets < packets,
            QueueSize::Bytes(bytes) => queue.bytes + u64::from(packet.length) <= bytes,
        }
    }
}

impl BufferManager for TailDrop {
    fn admit(&mut self, _: Time, packet: &Packet, _: Color, queue: &Occupancy) -> Verdict {
        if TailDrop::fits(self.limit, packet, queue) {
            Verdict::Pass
        } else {
            Verdict::Drop(DropCause::QueueFull)
        }
    }
    fn decides_on_arrival(&self) -> bool {
        true
    }
    fn ignores_an_empty_queue(&self) -> bool {
        // A limit in bytes can be less than one packet, so that an empty queue drops a packet.
        matches!(self.limit, QueueSize::Packets(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(limit: QueueSize, lengths: &[u32]) -> Vec<bool> {
        let mut buffer = TailDropConfig { limit }.build().unwrap();
        let mut queue = Occupancy::default();
        lengths
            .iter()
            .map(|length| {
                let packet = Packet { length: *length, ..Packet::default() };
                let fits = buffer.admit(Time::ZERO, &packet, Color::GREEN, &queue) == Verdict::Pass;
                if fits {
                    queue.packets += 1;
                    queue.bytes += u64::from(*length);
                }
                fits
            })
            .collect()
    }

    #[test]
    fn a_limit_in_packets_ignores_their_size() {
        assert_eq!(admitted(QueueSize::Packets(2), &[1500, 1500, 40]), [true, true, false]);
    }

    #[test]
    fn a_limit_in_bytes_admits_only_whole_packets() {
        let fits = admitted(QueueSize::Bytes(3000), &[1500, 1501, 1460, 40, 1]);
        assert_eq!(fits, [true, false, true, true, false]);
    }

    #[test]
    fn no_room_at_all_is_an_error() {
        for limit in [QueueSize::Packets(0), QueueSize::Bytes(0)] {
            assert_eq!(TailDropConfig { limit }.build().unwrap_err().path, ["limit"]);
        }
    }
}
