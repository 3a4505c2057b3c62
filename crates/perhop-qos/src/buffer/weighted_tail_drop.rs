//! Weighted tail drop: tail drop with a limit for each drop precedence.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contract::BufferManager;
use super::tail_drop::TailDrop;
use crate::queue::Occupancy;
use crate::{Color, ConfigError, DropCause, Packet, QueueSize, Time, Verdict};

/// Weighted tail drop as written in a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct WeightedTailDropConfig {
    /// For each drop precedence, beginning with 0, the limit of the whole queue that applies to arriving
    /// packets of this precedence. Precedences above the last listed one have its limit.
    pub limits: Vec<QueueSize>,
}

impl WeightedTailDropConfig {
    /// Builds the buffer manager.
    ///
    /// # Errors
    /// There is no limit, there are more limits than drop precedences, or a limit is 0.
    pub fn build(&self) -> Result<WeightedTailDrop, ConfigError> {
        let count = self.limits.len();
        let Some(last) = self.limits.last().filter(|_| count <= Color::COUNT) else {
            return Err(ConfigError::new("limits", format!("{count} limits are out of range"))
                .help(format!("1 to {}: one for each drop precedence", Color::COUNT)));
        };
        if let Some(index) = self.limits.iter().position(|limit| limit.count() == 0) {
            let message = format!("a limit of 0 drops every packet of drop precedence {index}");
            return Err(ConfigError::new("limits", message).help("for example 64 packets"));
        }
        let limits = std::array::from_fn(|index| *self.limits.get(index).unwrap_or(last));
        Ok(WeightedTailDrop { limits: Box::new(limits) })
    }
}

/// The buffer manager of a queue with weighted tail drop.
#[derive(Clone, Debug)]
pub struct WeightedTailDrop {
    /// The limit of each drop precedence. The limits are in a box, so that the enum of all buffer managers
    /// stays small.
    limits: Box<[QueueSize; Color::COUNT]>,
}

impl BufferManager for WeightedTailDrop {
    fn admit(&mut self, _: Time, packet: &Packet, precedence: Color, queue: &Occupancy) -> Verdict {
        if TailDrop::fits(self.limits[precedence.index()], packet, queue) {
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
        self.limits.iter().all(|limit| matches!(limit, QueueSize::Packets(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_limits_are_errors() {
        let nine = vec![QueueSize::Packets(1); Color::COUNT + 1];
        let zero = vec![QueueSize::Packets(1), QueueSize::Bytes(0)];
        for (limits, found) in
            [(Vec::new(), "0 limits"), (nine, "9 limits"), (zero, "every packet of drop precedence 1")]
        {
            let error = WeightedTailDropConfig { limits }.build().unwrap_err();
            assert!(error.path == ["limits"] && error.message.contains(found), "{error}");
        }
    }

    #[test]
    fn only_limits_in_packets_admit_any_packet_to_an_empty_queue() {
        let ignores = |limits: &[QueueSize]| {
            WeightedTailDropConfig { limits: limits.to_vec() }.build().unwrap().ignores_an_empty_queue()
        };
        assert!(ignores(&[QueueSize::Packets(2), QueueSize::Packets(1)]));
        assert!(!ignores(&[QueueSize::Packets(2), QueueSize::Bytes(1000)]));
    }
}
