//! Reads and checks the shares of classes.

use super::config::ShareConfig;
use super::virtual_time::Weight;
use crate::error::ConfigError;
use crate::policy::ClassConfig;

/// The name of a scheduler, and the shares that it supports.
pub(super) struct Takes {
    /// The name of the scheduler in messages such as "has no meaning under …".
    pub(super) scheduler: &'static str,
    /// The supported keys of [`ShareConfig`].
    pub(super) shares: &'static [&'static str],
    /// A description of the supported keys, for messages about an invalid share.
    pub(super) help: &'static str,
}

impl ShareConfig {
    /// The keys of the shares that are configured.
    fn written(&self) -> impl Iterator<Item = &'static str> {
        [
            ("weight", self.weight.is_some()),
            ("bandwidth", self.bandwidth.is_some()),
            ("minimum", self.minimum.is_some()),
            ("quantum", self.quantum.is_some()),
            ("fraction", self.fraction.is_some()),
            ("borrow", self.borrow.is_some()),
            ("max-idle", self.max_idle.is_some()),
            ("extra-delay", self.extra_delay.is_some()),
            ("real-time", self.real_time.is_some()),
            ("link-share", self.link_share.is_some()),
            ("upper-limit", self.upper_limit.is_some()),
            ("level", self.level.is_some()),
            ("excess-level", self.excess_level.is_some()),
            ("cap", self.cap.is_some()),
            ("rate", self.rate.is_some()),
            ("ceil", self.ceil.is_some()),
            ("burst", self.burst.is_some()),
            ("ceil-burst", self.ceil_burst.is_some()),
            ("link-layer", self.link_layer.is_some()),
            ("direct", self.direct.is_some()),
        ]
        .into_iter()
        .filter_map(|(key, written)| written.then_some(key))
    }
}

/// Returns an error in the share of class `index`.
pub(super) fn error_in(index: usize, key: &str, message: impl Into<String>) -> ConfigError {
    ConfigError::new(key, message).within("share").within(index).within("classes")
}

impl Takes {
    /// Checks that no class has a share that this scheduler does not support.
    pub(super) fn check(&self, classes: &[ClassConfig]) -> Result<(), ConfigError> {
        for (index, class) in classes.iter().enumerate() {
            if let Some(key) = class.share.written().find(|key| !self.shares.contains(key)) {
                let message = format!("{key} has no meaning under {}", self.scheduler);
                return Err(error_in(index, key, message).help(self.help));
            }
        }
        Ok(())
    }

    /// The weights of the classes, all above 0. Only the ratios between them matter.
    pub(super) fn numbers(&self, classes: &[ClassConfig]) -> Result<Numbers, ConfigError> {
        self.check(classes)?;
        let by_bandwidth = classes.iter().any(|class| class.share.bandwidth.is_some());
        let number = |(index, class): (usize, &ClassConfig)| {
            let share = &class.share;
            match (share.weight, share.bandwidth) {
                (Some(_), _) if by_bandwidth => {
                    Err(error_in(index, "weight", "weight and bandwidth cannot be compared")
                        .help("write either weight or bandwidth in all classes of one scheduler"))
                }
                (Some(weight), None) if weight > 0.0 && weight.is_finite() => Ok(weight),
                (Some(weight), _) => {
                    Err(error_in(index, "weight", format!("a weight of {weight} is invalid"))
                        .help("write a number above 0, for example 1 or 2.5"))
                }
                (None, Some(rate)) if rate.as_bits_per_second() > 0 => Ok(rate.as_bits_per_second() as f64),
                (None, Some(_)) => {
                    Err(error_in(index, "bandwidth", "a class with a bandwidth of 0 is never served")
                        .help("write a bandwidth above 0, for example 300kb/s"))
                }
                (None, None) if by_bandwidth => Err(error_in(
                    index,
                    "",
                    "the class has no bandwidth, but other classes of the scheduler have one",
                )
                .help("write its bandwidth, for example the rest of the wire's rate")),
                (None, None) => Ok(1.0),
            }
        };
        let values = classes.iter().enumerate().map(number).collect::<Result<_, _>>()?;
        Ok(Numbers { values, key: if by_bandwidth { "bandwidth" } else { "weight" } })
    }

    /// The weights of the classes, as fractions of their sum.
    pub(super) fn weights(&self, classes: &[ClassConfig]) -> Result<Vec<Weight>, ConfigError> {
        let Numbers { values, key } = self.numbers(classes)?;
        let sum: f64 = values.iter().sum();
        let weight = |(index, value): (usize, &f64)| {
            Weight::part(*value / sum).ok_or_else(|| {
                error_in(
                    index,
                    key,
                    "the share of the class is less than one part in 16 million of the sum of all classes",
                )
                .help("write weights within seven powers of ten of each other")
            })
        };
        values.iter().enumerate().map(weight).collect()
    }
}

/// The weights of the classes, and the key of the configuration that contains them.
pub(super) struct Numbers {
    pub(super) values: Vec<f64>,
    pub(super) key: &'static str,
}

#[cfg(test)]
mod tests {
    use super::super::SchedulerConfig;
    use super::super::config::CapConfig;
    use super::*;
    use crate::units::{ByteSize, Rate};

    fn error(scheduler: SchedulerConfig, shares: &[ShareConfig]) -> ConfigError {
        let class = |share: &ShareConfig| ClassConfig { share: share.clone(), ..Default::default() };
        let classes: Vec<ClassConfig> = shares.iter().map(class).collect();
        scheduler.build(&classes, Rate::from_bits_per_second(1_000_000)).expect_err("must be refused")
    }
    fn weight(weight: f64) -> ShareConfig {
        ShareConfig { weight: Some(weight), ..Default::default() }
    }
    fn bandwidth(kilobits: u64) -> ShareConfig {
        let rate = Rate::from_bits_per_second(kilobits * 1000);
        ShareConfig { bandwidth: Some(rate), ..Default::default() }
    }
    fn level(level: u16) -> ShareConfig {
        ShareConfig { level: Some(level), ..Default::default() }
    }

    #[test]
    fn a_share_of_another_scheduler_is_refused_by_name() {
        let quantum = ShareConfig { quantum: Some(ByteSize::from_bytes(1500)), ..Default::default() };
        let refused = error(SchedulerConfig::Priority, &[level(0), quantum]);
        assert_eq!(
            refused.to_string(),
            "classes.1.share.quantum: quantum has no meaning under strict priority \
             (strict priority accepts the keys level (0 is served first) and cap)"
        );
        assert!(
            error(SchedulerConfig::Fifo, &[weight(1.0)]).message.contains("weight has no meaning under fifo")
        );
        assert!(error(SchedulerConfig::Drr, &[weight(1.0)]).help.unwrap().contains("the key quantum"));
        assert!(error(SchedulerConfig::Wfq, &[level(1)]).message.contains("level has no meaning under wfq"));
    }

    #[test]
    fn weights_are_positive_and_comparable() {
        for scheduler in [
            SchedulerConfig::Wrr,
            SchedulerConfig::Scfq,
            SchedulerConfig::Wfq,
            SchedulerConfig::Wf2qPlus,
            SchedulerConfig::ThreeParameter,
        ] {
            for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
                let refused = error(scheduler, &[weight(1.0), weight(wrong)]);
                assert_eq!(refused.path, ["classes", "1", "share", "weight"]);
            }
            let refused = error(scheduler, &[weight(1e9), weight(1e-3)]);
            assert_eq!(refused.path[3], "weight");
            if scheduler == SchedulerConfig::ThreeParameter {
                continue;
            }
            assert!(error(scheduler, &[bandwidth(0)]).message.contains("never served"));
            assert!(
                error(scheduler, &[bandwidth(300), weight(1.0)])
                    .message
                    .contains("weight and bandwidth cannot be compared")
            );
            assert!(
                error(scheduler, &[bandwidth(300), ShareConfig::default()]).message.contains("no bandwidth")
            );
        }
    }

    #[test]
    fn a_minimum_of_zero_is_refused() {
        let minimum = |kilobits: u64| {
            let rate = Rate::from_bits_per_second(kilobits * 1000);
            ShareConfig { minimum: Some(rate), ..Default::default() }
        };
        let refused = error(SchedulerConfig::ThreeParameter, &[minimum(300), minimum(0)]);
        assert_eq!(refused.path, ["classes", "1", "share", "minimum"]);
        assert!(refused.message.contains("guarantees nothing") && refused.help.is_some());
        let refused = error(SchedulerConfig::ThreeParameter, &[minimum(300), bandwidth(300)]);
        assert!(refused.message.contains("bandwidth has no meaning under three-parameter"));
        assert!(refused.help.unwrap().contains("accepts the keys minimum"));
        assert!(error(SchedulerConfig::Scfq, &[minimum(300)]).message.contains("minimum has no meaning"));
    }

    #[test]
    fn levels_are_distinct_and_complete() {
        let refused = |shares: &[ShareConfig]| error(SchedulerConfig::Priority, shares).message;
        assert!(refused(&[level(1), level(1)]).contains("level 1 is taken"));
        assert!(refused(&[level(1), ShareConfig::default()]).contains("no level"));
        let cap = |rate, burst| {
            let (rate, burst) = (Rate::from_bits_per_second(rate), ByteSize::from_bytes(burst));
            ShareConfig { cap: Some(CapConfig { rate, burst }), ..Default::default() }
        };
        assert!(refused(&[cap(0, 1500)]).contains("cap of 0"));
        assert!(refused(&[cap(1000, 0)]).contains("burst of 0"));
    }
}
