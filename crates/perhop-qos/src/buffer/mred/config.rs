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
    /// The drop precedences, 1 to 8, beginning with 0, which is dropped last. A packet of a higher
    /// precedence than the last is treated as the last. Either this or `model`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub precedences: Vec<PrecedenceConfig>,
    /// The drop precedences in short, by one of the usual models. Either this or `precedences`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelConfig>,
    /// An implementation as a whole. An option beside it that it settles otherwise is an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub law: Option<Law>,
    /// Which packets an average counts. Under `mred` a single average unless said otherwise; the
    /// names `red`, `wred`, `rio-c` and `rio-dc` say it themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub averages: Option<Averages>,
    /// How fast an average follows the queue. By default `weight: 0.002`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub averaging: Option<AveragingConfig>,
    /// When an average takes a sample. By default `arrivals`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update: Option<UpdateConfig>,
    /// What an average does while there is nothing to count. By default `decay`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle: Option<IdleConfig>,
    /// Bits per second at which idle time is counted in packets; by default the port's rate. Linux tc
    /// takes it from its `bandwidth` parameter, which need not be that of the bottleneck.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_rate: Option<Rate>,
    /// Mean size of a packet in IP bytes: the step of the idle clock, and what `per-byte` divides by.
    pub mean_packet_size: ByteSize,
    /// What happens above `max`. By default `drop`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub above_max: Option<AboveMaxConfig>,
    /// How drops are spread over arrivals. By default `uniform`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drop_spacing: Option<DropSpacing>,
    /// Which packets are spared early drops whatever their average says. By default `nothing`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spared: Option<SparedConfig>,
    /// What a drop above `max` does to the drop spacing. By default `restart`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_forced: Option<AfterForcedConfig>,
    /// Whether long packets are dropped more often. By default `per-packet`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probability: Option<ProbabilityConfig>,
    /// Whether ECN-capable packets are marked.
    pub ecn: EcnConfig,
    /// How packets of scalable senders (L4S, DCTCP) are marked, by the queue of the moment in place of
    /// averages. What `ecn` says is for the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scalable: Option<ScalableConfig>,
    /// What the queue holds at most, in packets or bytes whatever the thresholds count; without it,
    /// only the averages bound the queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<QueueSize>,
    /// Which packets `limit` counts. By default `queue`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_counts: Option<LimitCounts>,
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
    /// The drop precedences written out, whichever way they were given.
    ///
    /// # Errors
    /// Where there are none, more than 8 or both ways at once, or one is wrong in itself.
    pub fn expanded(&self) -> Result<Vec<PrecedenceConfig>, ConfigError> {
        let above_max = self.rules()?.above_max;
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
            (Some(model), []) => model.expand(above_max).map_err(|error| error.within("model"))?,
            (None, precedences) => precedences.to_vec(),
        };
        if precedences.is_empty() || precedences.len() > Color::COUNT {
            let field = if self.model.is_some() { "model" } else { "precedences" };
            return Err(ConfigError::new(field, format!("{} drop precedences", precedences.len()))
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

    /// What is dropped at which average, for every drop precedence.
    ///
    /// # Errors
    /// As for [`expanded`](MredConfig::expanded).
    pub fn drop_curves(&self) -> Result<Vec<PrecedenceCurves>, ConfigError> {
        let above_max = self.rules()?.above_max;
        let corners = |thresholds| DropCurve::new(&thresholds, above_max).corners();
        let of = |precedence: &PrecedenceConfig| PrecedenceCurves {
            unit: precedence.min,
            shared: corners(precedence.shared()),
            own: precedence.own.map(corners),
        };
        Ok(self.expanded()?.iter().map(of).collect())
    }

    /// How fast an average follows the queue: the weight of one sample.
    ///
    /// # Errors
    /// Where the weight is out of range, or an option contradicts the law.
    pub fn weight(&self) -> Result<f64, ConfigError> {
        self.rules()?.averaging.weight().map_err(|error| error.within("averaging"))
    }

    /// The limit of the whole queue, which it never exceeds, if there is one: none where the limit counts
    /// other packets, or a packet fits as soon as a byte does (ns-2 in bytes).
    pub fn queue_limit(&self) -> Option<QueueSize> {
        let rules = self.rules().ok()?;
        let is_whole = rules.limit_counts == LimitCounts::Queue;
        self.limit.filter(|limit| {
            is_whole && (rules.limit_test != LimitTest::LastForAny || matches!(limit, QueueSize::Packets(_)))
        })
    }

    /// How drops are spread over arrivals.
    ///
    /// # Errors
    /// Where an option contradicts the law.
    pub fn spacing(&self) -> Result<DropSpacing, ConfigError> {
        Ok(self.rules()?.spacing)
    }

    /// This configuration under a name that implies one of the averages `allowed`: the first by default. An
    /// empty list allows all.
    ///
    /// # Errors
    /// Where the configuration names other averages.
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
    /// This configuration, if it has exactly one drop precedence.
    ///
    /// # Errors
    /// Where it has more, or none.
    pub(in crate::buffer) fn with_one_precedence(self) -> Result<MredConfig, ConfigError> {
        match self.expanded()?.len() {
            1 => Ok(self),
            count => {
                Err(ConfigError::new("precedences", format!("RED has one drop precedence, not {count}"))
                    .help("with several it is wred, rio-c, rio-dc or mred"))
            }
        }
    }

    /// How packets of scalable senders are marked, if they are.
    ///
    /// # Errors
    /// Where a threshold is wrong in itself.
    pub(super) fn built_scalable(&self) -> Result<Option<Scalable>, ConfigError> {
        let built = self.scalable.as_ref().map(ScalableConfig::build).transpose();
        built.map_err(|error| error.within("scalable"))
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
        self.check_law(precedences, further.is_some())?;
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
