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
    /// The weight of one sample as the exponent n of 2⁻ⁿ, 0 to 30, as in routers. With a larger n, the
    /// average changes more slowly.
    Exponent(u32),
}

impl Default for AveragingConfig {
    /// 0.002 is the weight in the simulations of Floyd & Jacobson. The nearest exponent is 9.
    fn default() -> AveragingConfig {
        AveragingConfig::Weight(0.002)
    }
}

impl AveragingConfig {
    /// Returns the weight of one sample.
    ///
    /// # Errors
    /// The weight is not from 2⁻³⁰ to 1, or the exponent is above 30. Averages have a precision of 30 bits.
    pub fn weight(self) -> Result<f64, ConfigError> {
        match self {
            AveragingConfig::Weight(weight) if (LEAST_WEIGHT..=1.0).contains(&weight) => Ok(weight),
            AveragingConfig::Weight(weight) => {
                Err(ConfigError::new("weight", format!("the weight must be from 2⁻³⁰ to 1, got {weight}"))
                    .help("with a weight of 0.002, the average covers about 500 samples"))
            }
            AveragingConfig::Exponent(n @ 0..=30) => Ok(1.0 / f64::from(1u32 << n)),
            AveragingConfig::Exponent(n) => {
                Err(ConfigError::new("exponent", format!("the exponent must be at most 30, got {n}"))
                    .help("with an exponent of 9, the average covers 512 samples"))
            }
        }
    }
}

/// The change of an average while the queue contains no packet that it counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IdleConfig {
    /// The average decays as if the port had sent packets of the mean size all the time, and each of them had
    /// found an empty queue.
    #[default]
    Decay,
    /// The average decays, and the arrival that ends the idle time adds a sample of an empty queue. The decay
    /// is one packet more than under `decay`, as in ns-2.
    DecayAndSample,
    /// Like `decay-and-sample`, but the decay counts only whole packets (ns-2). See `law` for the clock of
    /// ns-2.
    DecayWholeAndSample,
    /// The average does not change. The next arrival adds one sample of an empty queue.
    None,
}

/// The times at which an average takes a sample of the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UpdateConfig {
    /// Each arrival, before the packet joins the queue.
    #[default]
    Arrivals,
    /// Each arrival, before the packet joins the queue, and each departure, after the packet has left it.
    ArrivalsAndDepartures,
}

/// The packets that the average counts when it decides about a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Averages {
    /// All precedences use one average of the whole queue (WRED).
    #[default]
    Single,
    /// Each precedence has an average of the packets of this precedence and of all lower drop precedences. An
    /// arrival changes the averages of its own and all higher drop precedences (RIO, RIO-C of ns-2).
    Coupled,
    /// A sum of averages. Each precedence has an average of its own packets, which changes when one of its
    /// packets arrives. The deciding value is this average plus the averages of all lower drop precedences
    /// that have packets in the queue (Linux GRED, grio).
    CoupledSampled,
    /// Each precedence has an average of its own packets (RIO-DC).
    Decoupled,
}

/// The packets that the hard limit counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LimitCounts {
    /// All packets of the queue.
    #[default]
    Queue,
    /// The packets that count in the average of the arriving packet. Under `single`, these are all packets of
    /// the queue. Under `coupled-sampled` and `decoupled`, they are the packets of the same drop precedence.
    /// Under `coupled`, they also include the packets of lower precedences. Linux GRED has this limit.
    Averaged,
}

/// The treatment of an ECN-capable packet that an early drop selects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EcnConfig {
    /// The packet is dropped like any other.
    #[default]
    Ignore,
    /// A packet that a random drop selects is marked instead. Above `max`, packets are dropped.
    Mark,
    /// A packet that any early drop selects is marked instead, even above `max` (Linux without `harddrop`,
    /// dsRED of ns-2).
    MarkAll,
}

/// The packets that are spared early drops regardless of their average.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SparedConfig {
    /// No packets are spared.
    #[default]
    Nothing,
    /// The packet at which the average rises above `min` (Linux).
    FirstAboveMin,
    /// A packet that finds at most one packet that the average counts in the queue, even if the average is
    /// above `max`. After such a packet, and after an average below `min`, the first packet above `min` is
    /// spared, too (ns-2).
    ShortQueueAndFirst,
}

/// The effect of a drop above `max` on the drop spacing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AfterForcedConfig {
    /// The count restarts, as after any drop.
    #[default]
    Restart,
    /// The count continues, and the packet counts as a kept packet. The next drop below `max` is therefore
    /// soon (ns-2 before May 1999).
    GoOn,
}

/// The spacing of early drops. Each rule describes the number of arrivals from one drop to the next, for a
/// constant probability p.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DropSpacing {
    /// Uniform on 1 to 1/p, with a mean of (1 + 1/p)/2. p rises to p/(1 − n·p) after n kept packets (Floyd &
    /// Jacobson 1993, method 2).
    #[default]
    Uniform,
    /// Uniform on 1 to 1/p while p is constant, with one random number R per drop instead of one per packet.
    /// R is uniform on 0 to 1. After n kept packets, a packet is dropped if (n + 1)·p reaches R (Linux, after
    /// Floyd & Jacobson 1993, Figure 17).
    UniformPerDrop,
    /// Geometric with a mean of 1/p. Each decision is independent of the others (Floyd & Jacobson 1993,
    /// method 1). This is the assumption for routers that publish only p.
    Geometric,
    /// Like `uniform`, but the arriving packet is already counted as kept. The probability is therefore p/(1
    /// − (n + 1)·p) after n kept packets, and gaps are uniform on 1 to 1/p − 1 (Floyd & Jacobson 1993, Figure
    /// 2; ns-2 with `wait_ false`).
    CountedFirst,
    /// Like `counted-first`, but without a guard. When n·p exceeds 1, the computed probability is negative,
    /// and no packet is dropped until the average leaves the range from `min` to `max` or falls within this
    /// range (dsRED of ns-2, a defect).
    Unguarded,
    /// Uniform on 1/p to 2/p − 1. No packet is dropped while fewer than 1/p packets have arrived since the
    /// last drop (ns-2 and ns-3, `wait`).
    Wait,
}

/// Whether the drop probability depends on the length of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProbabilityConfig {
    /// The probability does not depend on the length.
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
