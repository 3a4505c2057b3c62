//! The options of random early detection, one type for each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fixed_point::LEAST_WEIGHT;
use crate::ConfigError;

/// The weight of one sample of the queue in an average.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AveragingConfig {
    /// The weight of one sample, from 2⁻³⁰ to 1: average ← average + weight · (queue − average).
    Weight(f64),
    /// The weight of one sample as n in 2⁻ⁿ, 0 to 30, as in routers. A larger n has a longer memory.
    Exponent(u32),
}

impl Default for AveragingConfig {
    /// 0.002, the weight of Floyd & Jacobson's simulations; the nearest exponent is 9.
    fn default() -> AveragingConfig {
        AveragingConfig::Weight(0.002)
    }
}

impl AveragingConfig {
    /// Returns the weight of one sample.
    ///
    /// # Errors
    /// The weight is not from 2⁻³⁰ to 1, or the exponent is above 30, which is the precision of averages.
    pub fn weight(self) -> Result<f64, ConfigError> {
        match self {
            AveragingConfig::Weight(weight) if (LEAST_WEIGHT..=1.0).contains(&weight) => Ok(weight),
            AveragingConfig::Weight(weight) => {
                Err(ConfigError::new("weight", format!("the weight must be from 2⁻³⁰ to 1, got {weight}"))
                    .help("0.002 averages over about 500 samples"))
            }
            AveragingConfig::Exponent(n @ 0..=30) => Ok(1.0 / f64::from(1u32 << n)),
            AveragingConfig::Exponent(n) => {
                Err(ConfigError::new("exponent", format!("the exponent must be at most 30, got {n}"))
                    .help("9 averages over 512 samples"))
            }
        }
    }
}

/// The change of an average while the packets that it counts are absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IdleConfig {
    /// The average decays as if packets of the mean size had passed at the port's rate and each had found an
    /// empty queue.
    #[default]
    Decay,
    /// The average decays, and the arrival that ends the idle time is also a sample of an empty queue. This
    /// is one packet more than `decay`, as in ns-2.
    DecayAndSample,
    /// Like `decay-and-sample`, but only whole packets count (ns-2; the clock of ns-2 differs, see `law`).
    DecayWholeAndSample,
    /// The average does not change. The next arrival samples an empty queue once.
    None,
}

/// The times at which an average takes a sample of the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UpdateConfig {
    /// A sample at each arrival, before the packet joins.
    #[default]
    Arrivals,
    /// A sample at each arrival, before the packet joins, and at each departure, after the packet has left.
    ArrivalsAndDepartures,
}

/// The packets that the average counts when it decides about a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Averages {
    /// One average of the whole queue for all precedences (WRED).
    #[default]
    Single,
    /// One average counts packets of its own and all lower drop precedences. An arrival changes the averages
    /// of its own and all higher drop precedences (RIO, RIO-C of ns-2).
    Coupled,
    /// A sum of averages. Each precedence averages its own packets at its own arrivals. The decision adds the
    /// averages of lower drop precedences that have packets in the queue (Linux GRED, grio).
    CoupledSampled,
    /// Packets of its own precedence only (RIO-DC).
    Decoupled,
}

/// The packets that the hard limit counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LimitCounts {
    /// All packets of the queue.
    #[default]
    Queue,
    /// The packets that the average sampled by the arrival counts. Under `single` it counts the whole queue.
    /// Under `coupled-sampled` and `decoupled` it counts the packet's precedence, and under `coupled` also
    /// the lower ones. This is the limit of Linux GRED.
    Averaged,
}

/// The treatment of an ECN-capable packet that is selected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EcnConfig {
    /// The packet is dropped like any other.
    #[default]
    Ignore,
    /// A packet that random drops select is marked instead. Above `max`, packets are dropped.
    Mark,
    /// A packet that any early drop selects is marked instead, even above `max` (Linux without `harddrop`,
    /// dsRED of ns-2).
    MarkAll,
}

/// The packets that are spared early drops regardless of their average.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SparedConfig {
    /// None.
    #[default]
    Nothing,
    /// The packet at which the average rises above `min` (Linux).
    FirstAboveMin,
    /// Packets that find at most one counted packet in the queue, even above `max`. The first packet above
    /// `min` after such a packet, or after a lower average, is spared, too (ns-2).
    ShortQueueAndFirst,
}

/// The effect of a drop above `max` on the drop spacing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AfterForcedConfig {
    /// The count restarts, as after any drop.
    #[default]
    Restart,
    /// The count continues. The packet counts as a kept packet, so that a packet below `max` is soon selected
    /// (ns-2 before May 1999).
    GoOn,
}

/// The distribution of early drops over the arrivals. For a constant probability p the number of arrivals
/// from one drop to the next is:
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DropSpacing {
    /// Uniform on 1 to 1/p, with a mean of (1 + 1/p)/2. p rises to p/(1 − n·p) after n kept packets (Floyd &
    /// Jacobson 1993, method 2).
    #[default]
    Uniform,
    /// Uniform on 1 to 1/p while p is constant, with one random number per drop instead of one per packet.
    /// After n kept packets, a packet is dropped if (n + 1)·p reaches R, which is uniform on 0 to 1 (Linux,
    /// after Floyd & Jacobson 1993, Figure 17).
    UniformPerDrop,
    /// Geometric with mean 1/p. Each decision is independent (method 1; assumed for routers that publish only
    /// p).
    Geometric,
    /// Like `uniform`, but the packet counts itself as kept. The probability is p/(1 − (n + 1)·p) after n
    /// kept packets, so that gaps are uniform on 1 to 1/p − 1 (Floyd & Jacobson 1993, Figure 2; ns-2 with
    /// `wait_ false`).
    CountedFirst,
    /// Like `counted-first`, without a guard. When n·p exceeds 1, the probability is negative. Then nothing
    /// is dropped until the average leaves the range from `min` to `max` or falls within this range (dsRED of
    /// ns-2, a defect).
    Unguarded,
    /// Uniform on 1/p to 2/p − 1: no drop while fewer than 1/p packets have passed (ns-2 and ns-3, `wait`).
    Wait,
}

/// Whether the drop probability depends on the length of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProbabilityConfig {
    /// Independent of the length.
    #[default]
    PerPacket,
    /// The probability is multiplied by the packet's IP bytes divided by the mean packet size.
    PerByte,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_out_of_range_are_refused() {
        for averaging in [
            AveragingConfig::Weight(0.0),
            AveragingConfig::Weight(1.5),
            AveragingConfig::Weight(f64::NAN),
            AveragingConfig::Weight(9e-10),
            AveragingConfig::Exponent(31),
        ] {
            assert!(averaging.weight().is_err(), "{averaging:?}");
        }
        assert_eq!(AveragingConfig::Exponent(9).weight(), Ok(1.0 / 512.0));
        let least = AveragingConfig::Exponent(30).weight();
        assert_eq!(
            (AveragingConfig::Weight(LEAST_WEIGHT).weight(), least),
            (Ok(LEAST_WEIGHT), Ok(LEAST_WEIGHT))
        );
    }
}
