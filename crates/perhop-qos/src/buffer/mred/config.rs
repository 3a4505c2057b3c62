//! [`MredConfig`]: random early detection as written in a policy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::drop_curve::DropCurve;
use super::law::Law;
use super::options::{
    AfterForcedConfig, Averages, AveragingConfig, DropSpacing, EcnConfig, IdleConfig, LimitCounts,
    ProbabilityConfig, SparedConfig, UpdateConfig,
};
use super::rules::LimitTest;
use super::thresholds::{AboveMaxConfig, ModelConfig, PrecedenceConfig, ThresholdConfig};
use crate::buffer::scalable::{Scalable, ScalableConfig};
use crate::{ByteSize, Color, ConfigError, QueueSize, Rate};

/// Random early detection with one or more drop precedences, as written in a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct MredConfig {
    /// The 1 to 8 drop precedences in ascending order: packets of precedence 0 are dropped last. A packet
    /// whose precedence is above the last one counts as a packet of the last one. Excludes `model`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub precedences: Vec<PrecedenceConfig>,
    /// The drop precedences as one of the usual models. Excludes `precedences`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelConfig>,
    /// The implementation that determines all rules. An option that contradicts the implementation is an
    /// error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub law: Option<Law>,
    /// The packets that an average counts. Default under `mred`: all packets of the queue, in a single
    /// average. The names `red`, `wred`, `rio-c` and `rio-dc` determine the averages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub averages: Option<Averages>,
    /// The weight of a sample in an average. Default: `weight: 0.002`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub averaging: Option<AveragingConfig>,
    /// The times at which an average takes a sample. Default: `arrivals`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update: Option<UpdateConfig>,
    /// The change of an average during idle time. Default: `decay`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle: Option<IdleConfig>,
    /// The rate that converts idle time to packets, bits per second. Default: the rate of the port. Linux tc
    /// uses its parameter `bandwidth`, which can differ from the rate of the bottleneck.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_rate: Option<Rate>,
    /// The mean packet size, IP bytes. The idle clock counts packets of this size, and `per-byte` divides by
    /// it.
    pub mean_packet_size: ByteSize,
    /// The verdict on packets above `max`. Default: `drop`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub above_max: Option<AboveMaxConfig>,
    /// The spacing of drops. Default: `uniform`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drop_spacing: Option<DropSpacing>,
    /// The packets that are spared early drops regardless of their average. Default: `nothing`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spared: Option<SparedConfig>,
    /// The effect of a drop above `max` on the drop spacing. Default: `restart`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_forced: Option<AfterForcedConfig>,
    /// Whether long packets are dropped more often. Default: `per-packet`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probability: Option<ProbabilityConfig>,
    /// Whether ECN-capable packets are marked.
    pub ecn: EcnConfig,
    /// The marking of packets of scalable senders (L4S, DCTCP) by the instantaneous queue instead of
    /// averages. `ecn` applies to all other packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scalable: Option<ScalableConfig>,
    /// The limit of the queue, in packets or bytes. Its unit can differ from the unit of the thresholds.
    /// Default: only the averages limit the queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<QueueSize>,
    /// The packets that `limit` counts. Default: `queue`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_counts: Option<LimitCounts>,
}

/// The drop probability of one drop precedence as a function of the average. The function consists of
/// straight lines between corners. Each corner is a pair of average and probability.
#[derive(Clone, Debug, PartialEq)]
pub struct PrecedenceCurves {
    /// The unit of the averages.
    pub unit: QueueSize,
    /// The corners of the function of the deciding average.
    pub shared: Vec<(f64, f64)>,
    /// The corners of the function of the average of the precedence's own packets, if that average is tested.
    pub own: Option<Vec<(f64, f64)>>,
}

impl Default for MredConfig {
    /// Contains no precedence. The caller must set `precedences` or `model`.
    fn default() -> MredConfig {
        MredConfig {
            precedences: Vec::new(),
            model: None,
            law: None,
            averages: None,
            averaging: None,
            update: None,
            idle: None,
            idle_rate: None,
            // The default of ns-2 and ns-3.
            mean_packet_size: ByteSize::from_bytes(500),
            above_max: None,
            drop_spacing: None,
            spared: None,
            after_forced: None,
            probability: None,
            ecn: EcnConfig::default(),
            scalable: None,
            limit: None,
            limit_counts: None,
        }
    }
}

impl MredConfig {
    /// Returns the drop precedences, with `model` expanded.
    ///
    /// # Errors
    /// There is no precedence, there are more than 8, `precedences` and `model` are both present, or a
    /// precedence is invalid.
    pub fn expanded(&self) -> Result<Vec<PrecedenceConfig>, ConfigError> {
        let above_max = self.rules()?.above_max;
        let precedences = match (&self.model, self.precedences.as_slice()) {
            (None, []) => {
                return Err(ConfigError::new("precedences", "no drop precedence has thresholds").help(
                    "for example precedences: [{min: 5 packets, max: 15 packets, max-probability: 0.02}]",
                ));
            }
            (Some(_), [_, ..]) => {
                return Err(ConfigError::new("model", "precedences and a model exclude each other")
                    .help("write the thresholds either as `precedences` or as a `model`"));
            }
            (Some(model), []) => model.expand(above_max).map_err(|error| error.within("model"))?,
            (None, precedences) => precedences.to_vec(),
        };
        if precedences.is_empty() || precedences.len() > Color::COUNT {
            let field = if self.model.is_some() { "model" } else { "precedences" };
            return Err(ConfigError::new(
                field,
                format!("{} drop precedences are out of range", precedences.len()),
            )
            .help(format!("1 to {}", Color::COUNT)));
        }
        let unit = precedences[0].min;
        for (index, precedence) in precedences.iter().enumerate() {
            let check = |thresholds: ThresholdConfig| thresholds.check(unit, above_max);
            let own = precedence.own.map_or(Ok(()), |own| check(own).map_err(|error| error.within("own")));
            check(precedence.shared()).and(own).map_err(|error| error.within(index).within("precedences"))?;
        }
        Ok(precedences)
    }

    /// The drop probability of every drop precedence, as a function of the average.
    ///
    /// # Errors
    /// The errors are those of [`expanded`](MredConfig::expanded).
    pub fn drop_curves(&self) -> Result<Vec<PrecedenceCurves>, ConfigError> {
        let above_max = self.rules()?.above_max;
        let corners = |thresholds| DropCurve::new(&thresholds, above_max).corners();
        let curves = |precedence: &PrecedenceConfig| PrecedenceCurves {
            unit: precedence.min,
            shared: corners(precedence.shared()),
            own: precedence.own.map(corners),
        };
        Ok(self.expanded()?.iter().map(curves).collect())
    }

    /// The weight of one sample in an average.
    ///
    /// # Errors
    /// The weight is out of range, or an option contradicts the law.
    pub fn weight(&self) -> Result<f64, ConfigError> {
        self.rules()?.averaging.weight().map_err(|error| error.within("averaging"))
    }

    /// Returns the limit that the whole queue never exceeds, or `None` if there is no limit, if the limit
    /// counts only some of the packets, or if a packet is admitted while any room remains (ns-2 in bytes).
    pub fn queue_limit(&self) -> Option<QueueSize> {
        let rules = self.rules().ok()?;
        let is_whole = rules.limit_counts == LimitCounts::Queue;
        self.limit.filter(|limit| {
            is_whole && (rules.limit_test != LimitTest::LastForAny || matches!(limit, QueueSize::Packets(_)))
        })
    }

    /// The spacing of drops.
    ///
    /// # Errors
    /// An option contradicts the law.
    pub fn spacing(&self) -> Result<DropSpacing, ConfigError> {
        Ok(self.rules()?.spacing)
    }

    /// Returns this configuration for a buffer whose name permits the averages `allowed`. The first one is
    /// the default. An empty list permits all averages.
    ///
    /// # Errors
    /// The configuration has other averages.
    pub(in crate::buffer) fn named(&self, allowed: &[Averages]) -> Result<MredConfig, ConfigError> {
        let known = |averages: &&Averages| self.law.is_none_or(|law| law.averages().contains(averages));
        let default = allowed.iter().find(known).or(allowed.first());
        let averages = self.averages.or(default.copied());
        if averages.is_some_and(|averages| !allowed.is_empty() && !allowed.contains(&averages)) {
            return Err(ConfigError::new("averages", "these averages contradict the buffer's name")
                .help("leave `averages` out, or call the buffer mred"));
        }
        Ok(MredConfig { averages, ..self.clone() })
    }
    /// Returns this configuration if it has exactly one drop precedence.
    ///
    /// # Errors
    /// There are several drop precedences, or there is none.
    pub(in crate::buffer) fn with_one_precedence(self) -> Result<MredConfig, ConfigError> {
        match self.expanded()?.len() {
            1 => Ok(self),
            count => {
                Err(ConfigError::new("precedences", format!("RED has one drop precedence, not {count}"))
                    .help("for several drop precedences, write wred, rio-c, rio-dc or mred"))
            }
        }
    }

    /// Builds the marking for packets of scalable senders, if configured.
    ///
    /// # Errors
    /// A threshold is invalid.
    pub(super) fn built_scalable(&self) -> Result<Option<Scalable>, ConfigError> {
        let built = self.scalable.as_ref().map(ScalableConfig::build).transpose();
        built.map_err(|error| error.within("scalable"))
    }

    /// Returns the expanded drop precedences if this configuration is valid.
    ///
    /// # Errors
    /// The error names the first field that is out of range or contradicts another field.
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
        self.check_law(precedences, further.is_some())?;
        match further {
            Some(index) if self.averages == Some(Averages::Decoupled) => Err(ConfigError::new(
                "own",
                "with decoupled averages, each average already counts only the packets of its own precedence",
            )
            .help("leave `own` out; RI+O has coupled averages and `own` thresholds")
            .within(index)
            .within("precedences")),
            _ => Ok(()),
        }
    }
}
