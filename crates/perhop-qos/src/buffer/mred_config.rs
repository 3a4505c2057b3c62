//! [`MredConfig`]: random early detection as written in a policy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::drop_curve::DropCurve;
use super::drop_spacing::DropSpacing;
use super::fixed_point::LEAST_WEIGHT;
use super::thresholds::{AboveMaxConfig, ModelConfig, PrecedenceConfig, ThresholdConfig};
use crate::{ByteSize, Color, ConfigError, QueueSize, Rate};

/// How much one sample of the queue moves an average.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AveragingConfig {
    /// The weight of one sample, from 2⁻³⁰ to 1: average ← average + weight · (queue − average).
    Weight(f64),
    /// The weight of one sample as n in 2⁻ⁿ, 0 to 30, the way routers write it: a larger n is a longer
    /// memory.
    Exponent(u32),
}

impl Default for AveragingConfig {
    /// 0.002, the weight of Floyd & Jacobson's simulations; the nearest exponent is 9.
    fn default() -> AveragingConfig {
        AveragingConfig::Weight(0.002)
    }
}

impl AveragingConfig {
    /// The weight of one sample.
    ///
    /// # Errors
    /// Where the weight is not from 2⁻³⁰ to 1, or the exponent is above 30: averages have no more digits.
    pub fn weight(self) -> Result<f64, ConfigError> {
        match self {
            AveragingConfig::Weight(weight) if (LEAST_WEIGHT..=1.0).contains(&weight) => Ok(weight),
            AveragingConfig::Weight(weight) => {
                Err(ConfigError::new("weight", format!("the weight must be from 2⁻³⁰ to 1, got {weight}"))
                    .help("0.002 remembers about 500 samples"))
            }
            AveragingConfig::Exponent(n @ 0..=30) => Ok(1.0 / f64::from(1u32 << n)),
            AveragingConfig::Exponent(n) => {
                Err(ConfigError::new("exponent", format!("the exponent must be at most 30, got {n}"))
                    .help("9 remembers 512 samples"))
            }
        }
    }
}

/// What an average does while the packets it counts are absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IdleConfig {
    /// It decays as if packets of the mean size had gone by at the port's rate, each finding the queue empty.
    #[default]
    Decay,
    /// It decays as before, and the arrival that ends the silence is also a sample of an empty queue:
    /// one packet more than `decay`, as in ns-2.
    DecayAndSample,
    /// As `decay-and-sample`, but only whole packets count as gone by (ns-2).
    DecayWholeAndSample,
    /// Nothing: the next arrival samples an empty queue once.
    None,
}

/// When an average takes a sample of the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UpdateConfig {
    /// At each arrival, before the packet joins.
    #[default]
    Arrivals,
    /// At each arrival, before the packet joins, and at each departure, after the packet has left.
    ArrivalsAndDepartures,
}

/// Which packets the average counts that decides about a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Averages {
    /// One average of the whole queue for all precedences (WRED).
    #[default]
    Single,
    /// Packets of its precedence and of all lower drop precedences, averaged together: an arrival
    /// moves the averages of its own and of all higher drop precedences (RIO, RIO-C of ns-2).
    Coupled,
    /// A sum of averages: each precedence averages its own packets at its own arrivals, and the averages of
    /// lower drop precedences that have packets in the queue are added (Linux GRED, grio).
    CoupledSampled,
    /// Packets of its own precedence only (RIO-DC).
    Decoupled,
}

/// Which packets the hard limit counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LimitCounts {
    /// All of the queue.
    #[default]
    Queue,
    /// Those that the average counts which the packet's arrival samples: the whole queue under `single`, its
    /// own precedence under `coupled-sampled` and `decoupled`, the lower ones too under `coupled`. Linux
    /// GRED.
    Averaged,
}

/// What becomes of an ECN-capable packet that is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EcnConfig {
    /// It is dropped like any other.
    #[default]
    Ignore,
    /// It is marked in place of a random drop. Where every packet is dropped it is dropped as well.
    Mark,
}

/// Which packets are spared early drops whatever their average says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SparedConfig {
    /// None.
    #[default]
    Nothing,
    /// The packet with which the average crosses `min` from below (Linux).
    FirstAboveMin,
    /// Packets that find at most one of those that the average counts in the queue, even where every
    /// packet would be dropped, and the first packet above `min` after them or after a lower average (ns-2).
    ShortQueueAndFirst,
}

/// What a drop above `max` does to the drop spacing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AfterForcedConfig {
    /// It counts anew from there, as after any drop.
    #[default]
    Restart,
    /// It goes on: the packet counts like one that was kept, so that the first packet below `max` is soon
    /// drawn (ns-2 before May 1999).
    GoOn,
}

/// Whether the length of a packet counts in the drop probability.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProbabilityConfig {
    /// A packet is a packet.
    #[default]
    PerPacket,
    /// The probability is multiplied by the packet's IP bytes over the mean packet size.
    PerByte,
}

/// Random early detection with one or more drop precedences, as written in a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct MredConfig {
    /// The drop precedences, 1 to 8, beginning with 0, which is dropped last. A packet of a higher
    /// precedence than the last is treated as the last. Either this or `model`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub precedences: Vec<PrecedenceConfig>,
    /// The drop precedences in short, by one of the usual models. Either this or `precedences`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelConfig>,
    /// Which packets an average counts. Under `mred` a single average unless said otherwise; the
    /// names `red`, `wred`, `rio-c` and `rio-dc` say it themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub averages: Option<Averages>,
    /// How fast an average follows the queue.
    pub averaging: AveragingConfig,
    /// When an average takes a sample.
    pub update: UpdateConfig,
    /// What an average does while there is nothing to count.
    pub idle: IdleConfig,
    /// Bits per second at which idle time is counted in packets; by default the port's rate. Linux tc
    /// takes it from its `bandwidth` parameter, which need not be that of the bottleneck.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_rate: Option<Rate>,
    /// Mean size of a packet in IP bytes: the step of the idle clock, and what `per-byte` divides by.
    pub mean_packet_size: ByteSize,
    /// What happens above `max`.
    pub above_max: AboveMaxConfig,
    /// How drops are spread over arrivals.
    pub drop_spacing: DropSpacing,
    /// Which packets are spared early drops whatever their average says.
    pub spared: SparedConfig,
    /// What a drop above `max` does to the drop spacing.
    pub after_forced: AfterForcedConfig,
    /// Whether long packets are dropped more often.
    pub probability: ProbabilityConfig,
    /// Whether ECN-capable packets are marked.
    pub ecn: EcnConfig,
    /// What the queue holds at most, in packets or bytes whatever the thresholds count; without it,
    /// only the averages bound the queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<QueueSize>,
    /// Which packets `limit` counts.
    pub limit_counts: LimitCounts,
}

/// The drop probability of one drop precedence over the average, as corners of a line: average and
/// probability.
#[derive(Clone, Debug, PartialEq)]
pub struct PrecedenceCurves {
    /// A size in the unit that averages are counted in.
    pub unit: QueueSize,
    /// Over the average that decides.
    pub shared: Vec<(f64, f64)>,
    /// Over the average of its own packets alone, where there is such a test.
    pub own: Option<Vec<(f64, f64)>>,
}

impl Default for MredConfig {
    /// No precedence yet: `precedences` or `model` must follow.
    fn default() -> MredConfig {
        MredConfig {
            precedences: Vec::new(),
            model: None,
            averages: None,
            averaging: AveragingConfig::default(),
            update: UpdateConfig::default(),
            idle: IdleConfig::default(),
            idle_rate: None,
            // The default of ns-2 and ns-3.
            mean_packet_size: ByteSize::from_bytes(500),
            above_max: AboveMaxConfig::default(),
            drop_spacing: DropSpacing::default(),
            spared: SparedConfig::default(),
            after_forced: AfterForcedConfig::default(),
            probability: ProbabilityConfig::default(),
            ecn: EcnConfig::default(),
            limit: None,
            limit_counts: LimitCounts::default(),
        }
    }
}

impl MredConfig {
    /// The drop precedences written out, whichever way they were given.
    ///
    /// # Errors
    /// Where there are none, more than 8 or both ways at once, or one is wrong in itself.
    pub fn expanded(&self) -> Result<Vec<PrecedenceConfig>, ConfigError> {
        let precedences = match (&self.model, self.precedences.as_slice()) {
            (None, []) => {
                return Err(ConfigError::new("precedences", "no drop precedence has thresholds").help(
                    "for example precedences: [{min: 5 packets, max: 15 packets, max-probability: 0.02}]",
                ));
            }
            (Some(_), [_, ..]) => {
                return Err(ConfigError::new("model", "there are precedences and a model")
                    .help("write the thresholds one way"));
            }
            (Some(model), []) => model.expand(self.above_max).map_err(|error| error.within("model"))?,
            (None, precedences) => precedences.to_vec(),
        };
        if precedences.is_empty() || precedences.len() > Color::COUNT {
            let field = if self.model.is_some() { "model" } else { "precedences" };
            return Err(ConfigError::new(field, format!("{} drop precedences", precedences.len()))
                .help(format!("1 to {}", Color::COUNT)));
        }
        let unit = precedences[0].min;
        for (index, precedence) in precedences.iter().enumerate() {
            let check = |thresholds: ThresholdConfig| thresholds.check(unit, self.above_max);
            let own = precedence.own.map_or(Ok(()), |own| check(own).map_err(|error| error.within("own")));
            check(precedence.shared()).and(own).map_err(|error| error.within(index).within("precedences"))?;
        }
        Ok(precedences)
    }

    /// What is dropped at which average, for every drop precedence.
    ///
    /// # Errors
    /// As for [`expanded`](MredConfig::expanded).
    pub fn drop_curves(&self) -> Result<Vec<PrecedenceCurves>, ConfigError> {
        let corners = |thresholds| DropCurve::new(&thresholds, self.above_max).corners();
        let of = |precedence: &PrecedenceConfig| PrecedenceCurves {
            unit: precedence.min,
            shared: corners(precedence.shared()),
            own: precedence.own.map(corners),
        };
        Ok(self.expanded()?.iter().map(of).collect())
    }

    /// This configuration under a name that implies one of the averages `allowed`: the first by default. An
    /// empty list allows all.
    ///
    /// # Errors
    /// Where the configuration names other averages.
    pub(super) fn named(&self, allowed: &[Averages]) -> Result<MredConfig, ConfigError> {
        let averages = self.averages.or(allowed.first().copied());
        if averages.is_some_and(|averages| !allowed.is_empty() && !allowed.contains(&averages)) {
            return Err(ConfigError::new("averages", "these averages contradict the buffer's name")
                .help("leave `averages` out, or call the buffer mred"));
        }
        Ok(MredConfig { averages, ..self.clone() })
    }
    /// This configuration, if it has exactly one drop precedence.
    ///
    /// # Errors
    /// Where it has more, or none.
    pub(super) fn with_one_precedence(self) -> Result<MredConfig, ConfigError> {
        match self.expanded()?.len() {
            1 => Ok(self),
            count => {
                Err(ConfigError::new("precedences", format!("RED has one drop precedence, not {count}"))
                    .help("with several it is wred, rio-c, rio-dc or mred"))
            }
        }
    }

    /// The drop precedences written out, if this configuration is valid.
    ///
    /// # Errors
    /// The first field that is out of range or contradicts another.
    pub(super) fn checked(&self) -> Result<Vec<PrecedenceConfig>, ConfigError> {
        let precedences = self.expanded()?;
        self.check(&precedences)?;
        Ok(precedences)
    }
    fn check(&self, precedences: &[PrecedenceConfig]) -> Result<(), ConfigError> {
        if self.mean_packet_size.as_bytes() == 0 {
            return Err(ConfigError::new("mean-packet-size", "the mean packet size must be above 0")
                .help("for example 500B"));
        }
        if self.idle_rate.is_some_and(|rate| rate.as_bits_per_second() == 0) {
            return Err(ConfigError::new("idle-rate", "the idle rate must be above 0")
                .help("for example 10Mb/s; for averages that never decay write `idle: none`"));
        }
        if self.limit.is_some_and(|limit| limit.count() == 0) {
            return Err(ConfigError::new("limit", "a queue with a limit of 0 drops every packet")
                .help("at least the largest max"));
        }
        let further = precedences.iter().position(|precedence| precedence.own.is_some());
        match further {
            Some(index) if self.averages == Some(Averages::Decoupled) => {
                Err(ConfigError::new("own", "decoupled averages count a precedence's own packets already")
                    .help("RI+O is coupled averages with own thresholds")
                    .within(index)
                    .within("precedences"))
            }
            _ => Ok(()),
        }
    }
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
