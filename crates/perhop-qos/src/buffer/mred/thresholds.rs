//! Thresholds: the averages at which packets of a drop precedence are dropped. A policy lists the thresholds,
//! or has one of the models of the AF literature.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fixed_point::LONGEST;
use crate::{ConfigError, QueueSize};

/// One drop precedence: the averages at which its packets are dropped, and the drop probability.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PrecedenceConfig {
    /// The average below which no packet is dropped.
    pub min: QueueSize,
    /// The average from which on every packet is dropped. With `above-max: gentle`, the drop probability
    /// instead rises from `max-probability` at this average to 1 at twice this average.
    pub max: QueueSize,
    /// The drop probability at `max`, above 0 and at most 1.
    pub max_probability: f64,
    /// An additional test on the average of this precedence's own packets: the third set of thresholds of
    /// RI+O. A packet must pass both tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<ThresholdConfig>,
}

/// One set of thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ThresholdConfig {
    /// The average below which no packet is dropped.
    pub min: QueueSize,
    /// The average from which on every packet is dropped. With `above-max: gentle`, the drop probability
    /// instead rises from `max-probability` at this average to 1 at twice this average.
    pub max: QueueSize,
    /// The drop probability at `max`, above 0 and at most 1.
    pub max_probability: f64,
}

impl PrecedenceConfig {
    /// The thresholds that apply to the deciding average.
    pub fn shared(&self) -> ThresholdConfig {
        ThresholdConfig { min: self.min, max: self.max, max_probability: self.max_probability }
    }
}

impl ThresholdConfig {
    /// Checks the thresholds, and whether they have the same unit as `unit`.
    pub(super) fn check(&self, unit: QueueSize, above_max: AboveMaxConfig) -> Result<(), ConfigError> {
        let ThresholdConfig { min, max, max_probability } = *self;
        for (field, size) in [("min", min), ("max", max)] {
            if !size.same_unit(unit) {
                return Err(ConfigError::new(
                    field,
                    format!("{size} is mixed with thresholds such as {unit}: an average has one unit"),
                )
                .help("write all thresholds in packets, or all in bytes"));
            }
        }
        above_max.check(max)?;
        if min.count() >= max.count() {
            return Err(ConfigError::new("min", format!("min is {min}, which is not below max, {max}"))
                .help("use a max above min; two or three times min is common"));
        }
        if max_probability > 0.0 && max_probability <= 1.0 {
            return Ok(());
        }
        Err(ConfigError::new(
            "max-probability",
            format!("the probability must be above 0 and at most 1, got {max_probability}"),
        )
        .help("for example 0.1; a mark probability denominator of 10 is 0.1"))
    }
}

/// The models for the thresholds of several precedences, after Figure 2 of Makkar et al., "Empirical study of
/// buffer management scheme for Diffserv assured forwarding PHB" (2000). All lists begin with precedence 0,
/// whose packets are dropped last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ModelConfig {
    /// The range of a precedence begins at the end of the range of the next higher drop precedence.
    Staggered(StaggeredConfig),
    /// The ranges have different beginnings and the same end.
    PartiallyOverlapped(PartiallyOverlappedConfig),
    /// All precedences have the same range.
    Overlapped(OverlappedConfig),
}

/// Thresholds with adjacent ranges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct StaggeredConfig {
    /// The boundaries of the ranges, in descending order. There is one boundary more than there are
    /// precedences: with `[50KiB, 25KiB, 10KiB]`, the range of precedence 0 is 25 to 50 KiB, and the range of
    /// precedence 1 is 10 to 25 KiB.
    pub boundaries: Vec<QueueSize>,
    /// The drop probability at the upper end of each precedence's range.
    pub max_probabilities: Vec<f64>,
}

/// Ranges with different beginnings and the same end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PartiallyOverlappedConfig {
    /// The beginning of each precedence's range, for example `[25KiB, 10KiB]`.
    pub min: Vec<QueueSize>,
    /// The end of all ranges.
    pub max: QueueSize,
    /// The drop probability of each precedence at `max`.
    pub max_probabilities: Vec<f64>,
}

/// Thresholds of RED: one range that all precedences share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct OverlappedConfig {
    /// The beginning of the range.
    pub min: QueueSize,
    /// The end of the range.
    pub max: QueueSize,
    /// The drop probability of each precedence at `max`.
    pub max_probabilities: Vec<f64>,
}

impl ModelConfig {
    /// Returns the thresholds and the drop probability of each precedence.
    ///
    /// # Errors
    /// The lists have different lengths, a range is empty, or a range ends above all possible averages.
    pub fn expand(&self, above_max: AboveMaxConfig) -> Result<Vec<PrecedenceConfig>, ConfigError> {
        let (name, ranges, probabilities): (_, Vec<(QueueSize, QueueSize)>, _) = match self {
            ModelConfig::Staggered(StaggeredConfig { boundaries, max_probabilities }) => {
                let ranges = boundaries.windows(2).map(|ends| (ends[1], ends[0])).collect();
                ("staggered", ranges, max_probabilities)
            }
            ModelConfig::PartiallyOverlapped(model) => {
                let ranges = model.min.iter().map(|min| (*min, model.max)).collect();
                ("partially-overlapped", ranges, &model.max_probabilities)
            }
            ModelConfig::Overlapped(model) => {
                let ranges = vec![(model.min, model.max); model.max_probabilities.len()];
                ("overlapped", ranges, &model.max_probabilities)
            }
        };
        if ranges.len() != probabilities.len() {
            return Err(ConfigError::new(
                "max-probabilities",
                format!("{} probabilities for {} ranges", probabilities.len(), ranges.len()),
            )
            .help("one probability for each drop precedence")
            .within(name));
        }
        let precedences: Vec<PrecedenceConfig> = ranges
            .iter()
            .zip(probabilities)
            .map(|(&(min, max), &max_probability)| PrecedenceConfig { min, max, max_probability, own: None })
            .collect();
        for (index, precedence) in precedences.iter().enumerate() {
            // The policy does not contain the expanded fields, so the error names the model.
            precedence.shared().check(precedences[0].min, above_max).map_err(|error| ConfigError {
                path: vec![name.to_owned()],
                message: format!("drop precedence {index}: {}", error.message),
                help: error.help,
            })?;
        }
        Ok(precedences)
    }
}

/// The transition from random drops to drops of every packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AboveMaxConfig {
    /// Every packet is dropped from `max` on.
    #[default]
    Drop,
    /// The probability rises from `max-probability` at `max` to 1 at twice `max`.
    Gentle,
}

impl AboveMaxConfig {
    /// The multiple of `max` from which on every packet is dropped.
    pub(super) fn times_max(self) -> u64 {
        match self {
            AboveMaxConfig::Drop => 1,
            AboveMaxConfig::Gentle => 2,
        }
    }
    /// Checks that an average can reach the value from which on every packet is dropped. A queue longer than
    /// [`LONGEST`] counts as a queue of that length, so the curve above that length would have no effect.
    fn check(self, max: QueueSize) -> Result<(), ConfigError> {
        let (times, first_beyond) = (self.times_max(), LONGEST + 1);
        if max.count() < first_beyond / times {
            return Ok(());
        }
        let size = |count| match max {
            QueueSize::Packets(_) => QueueSize::Packets(count),
            QueueSize::Bytes(_) => QueueSize::Bytes(count),
        };
        let what = match self {
            AboveMaxConfig::Drop => "and no average reaches that",
            AboveMaxConfig::Gentle => "and no average reaches twice that, where a gentle curve ends",
        };
        let (below, end) = (size(first_beyond / times), size(first_beyond));
        Err(ConfigError::new("max", format!("max is {max}, {what}"))
            .help(format!("below {below}; a queue that is longer than {end} counts as {end}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: u64 = 1024;

    fn bytes(kib: u64) -> QueueSize {
        QueueSize::Bytes(kib * KIB)
    }
    fn range(min: u64, max: u64, max_probability: f64) -> PrecedenceConfig {
        PrecedenceConfig { min: bytes(min), max: bytes(max), max_probability, own: None }
    }

    #[test]
    fn models_expand_to_rows() {
        // Makkar et al. 2000, Table 1.
        let max_probabilities = vec![0.02, 0.1];
        let staggered = ModelConfig::Staggered(StaggeredConfig {
            boundaries: vec![bytes(50), bytes(25), bytes(10)],
            max_probabilities: max_probabilities.clone(),
        });
        assert_eq!(
            staggered.expand(AboveMaxConfig::Drop).unwrap(),
            [range(25, 50, 0.02), range(10, 25, 0.1)]
        );
        let partially = ModelConfig::PartiallyOverlapped(PartiallyOverlappedConfig {
            min: vec![bytes(25), bytes(10)],
            max: bytes(50),
            max_probabilities: max_probabilities.clone(),
        });
        assert_eq!(
            partially.expand(AboveMaxConfig::Drop).unwrap(),
            [range(25, 50, 0.02), range(10, 50, 0.1)]
        );
        let overlapped =
            ModelConfig::Overlapped(OverlappedConfig { min: bytes(25), max: bytes(50), max_probabilities });
        assert_eq!(
            overlapped.expand(AboveMaxConfig::Drop).unwrap(),
            [range(25, 50, 0.02), range(25, 50, 0.1)]
        );
    }

    #[test]
    fn a_model_with_a_hole_is_refused() {
        let staggered = |boundaries: &[u64]| {
            ModelConfig::Staggered(StaggeredConfig {
                boundaries: boundaries.iter().map(|kib| bytes(*kib)).collect(),
                max_probabilities: vec![0.02, 0.1],
            })
        };
        let error = staggered(&[50, 25]).expand(AboveMaxConfig::Drop).unwrap_err();
        assert_eq!(
            error.to_string(),
            "staggered.max-probabilities: 2 probabilities for 1 ranges (one probability for each drop precedence)"
        );
        let error = staggered(&[10, 25, 50]).expand(AboveMaxConfig::Drop).unwrap_err().to_string();
        assert!(error.starts_with("staggered: drop precedence 0: min is 25KiB"), "{error}");
    }

    #[test]
    fn a_curve_beyond_every_average_is_refused() {
        for (above_max, first_beyond) in [(AboveMaxConfig::Drop, 1 << 33), (AboveMaxConfig::Gentle, 1 << 32)]
        {
            let check = |max| {
                let max = QueueSize::Packets(max);
                ThresholdConfig { min: QueueSize::Packets(1), max, max_probability: 0.1 }
                    .check(max, above_max)
            };
            assert_eq!(check(first_beyond - 1), Ok(()));
            assert_eq!(check(first_beyond).unwrap_err().path, ["max"]);
            assert_eq!(check(u64::MAX).unwrap_err().path, ["max"]);
        }
    }
}
