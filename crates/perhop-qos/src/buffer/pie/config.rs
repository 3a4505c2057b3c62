//! [`PieConfig`]: PIE as written in a policy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::buffer::mred::options::EcnConfig;
use crate::{ByteSize, ConfigError, QueueSize, Time};

/// PIE as written in a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct PieConfig {
    /// The implementation. An option that contradicts the implementation is an error.
    pub law: PieLaw,
    /// The target of the queueing delay (`QDELAY_REF` of the RFC, `target` of tc).
    pub target: Time,
    /// The interval between updates of the drop probability (`T_UPDATE` of the RFC, `tupdate` of tc). Linux
    /// rounds it to whole milliseconds and adds one.
    pub update_interval: Time,
    /// The gain for the difference between delay and target, per second, 0 to 2. Under `linux`, it is a
    /// multiple of 1/16, and tc expects the numerator.
    pub alpha: f64,
    /// The gain for the change of the delay since the last update, per second, 0 to 2. Under `linux`, it is a
    /// multiple of 1/16, and tc expects the numerator.
    pub beta: f64,
    /// The time for which an uncongested queue admits every packet (`MAX_BURST`).
    pub burst: Time,
    /// The source of the queueing delay. Default: `departure-rate` for `rfc`, `sojourn` for `linux`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<PieDelay>,
    /// The spacing of drops. Default: `random` for `rfc`, `derandomized` for `linux`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drop_spacing: Option<PieSpacing>,
    /// The backlog, IP bytes, up to which an arriving packet is not dropped early. Default: two packets of
    /// 1500 B.
    pub floor: ByteSize,
    /// Whether ECN-capable packets are marked instead of dropped: `mark` marks up to the drop probability
    /// `mark-up-to`, `mark-all` always.
    pub ecn: EcnConfig,
    /// The drop probability above which `ecn: mark` marks no packets (`mark_ecnth`), 0 to 1.
    pub mark_up_to: f64,
    /// The limit of the queue (`TAIL_DROP`).
    pub limit: QueueSize,
}

/// An implementation of PIE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PieLaw {
    /// RFC 8033: the drop probability of section 4. The burst allowance decreases with each update.
    #[default]
    Rfc,
    /// `sch_pie.c` of Linux since 5.8, with its integers. The first update is after half a second, and the
    /// burst allowance decreases with the time between departures. `burst` is 150 ms, `mark-up-to` is 0.1,
    /// and the limit is in packets.
    Linux,
}

/// The source of PIE's queueing delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PieDelay {
    /// The queue's bytes divided by the departure rate. Each measurement of the rate counts the departure of
    /// 16 KiB. It begins only while the queue contains at least 16 KiB. Only for `rfc`.
    DepartureRate,
    /// The sojourn time of the packet that left last.
    Sojourn,
}

/// The spacing of PIE's drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PieSpacing {
    /// The decision about each packet is independent of the others. Only for `rfc`.
    Random,
    /// No packet is dropped while the sum of the drop probabilities since the last drop is below 0.85. When
    /// the sum reaches 8.5, the packet is dropped with certainty.
    Derandomized,
}

impl Default for PieConfig {
    fn default() -> PieConfig {
        PieConfig {
            law: PieLaw::default(),
            target: Time::from_milliseconds(15),
            update_interval: Time::from_milliseconds(15),
            alpha: 0.125,
            beta: 1.25,
            burst: Time::from_milliseconds(150),
            delay: None,
            drop_spacing: None,
            floor: ByteSize::from_bytes(3000),
            ecn: EcnConfig::default(),
            mark_up_to: 0.1,
            limit: QueueSize::Packets(1000),
        }
    }
}

impl PieConfig {
    /// The source of the queueing delay.
    pub fn delay(&self) -> PieDelay {
        self.delay.unwrap_or(match self.law {
            PieLaw::Rfc => PieDelay::DepartureRate,
            PieLaw::Linux => PieDelay::Sojourn,
        })
    }
    /// The spacing of drops.
    pub fn drop_spacing(&self) -> PieSpacing {
        self.drop_spacing.unwrap_or(match self.law {
            PieLaw::Rfc => PieSpacing::Random,
            PieLaw::Linux => PieSpacing::Derandomized,
        })
    }
    /// Returns the drop probability up to which packets are marked, or `None` if packets are never marked.
    pub(in crate::buffer) fn marks_up_to(&self) -> Option<f64> {
        match self.ecn {
            EcnConfig::Ignore => None,
            EcnConfig::Mark => Some(self.mark_up_to),
            EcnConfig::MarkAll => Some(f64::INFINITY),
        }
    }

    /// Checks the values and, under `linux`, whether `sch_pie.c` has these options.
    ///
    /// # Errors
    /// The error names the first field that is out of range or contradicts the law.
    pub(in crate::buffer) fn check(&self) -> Result<(), ConfigError> {
        for (field, time) in [("target", self.target), ("update-interval", self.update_interval)] {
            if !(Time::from_microseconds(1)..=Time::from_seconds(100)).contains(&time) {
                return Err(ConfigError::new(field, format!("a {field} of {time} is out of range"))
                    .help("1us to 100s; RFC 8033 recommends 15ms"));
            }
        }
        for (field, gain) in [("alpha", self.alpha), ("beta", self.beta)] {
            if !(0.0..=2.0).contains(&gain) {
                return Err(ConfigError::new(field, format!("a gain of {gain} per second is out of range"))
                    .help("0 to 2"));
            }
        }
        if !(0.0..=1.0).contains(&self.mark_up_to) {
            return Err(ConfigError::new(
                "mark-up-to",
                format!("a probability of {} is out of range", self.mark_up_to),
            )
            .help("0 to 1; RFC 8033 recommends 0.1"));
        }
        if self.limit.count() == 0 {
            return Err(ConfigError::new("limit", "a queue with a limit of 0 drops every packet")
                .help("for example 1000 packets"));
        }
        match self.law {
            PieLaw::Rfc => Ok(()),
            PieLaw::Linux => self.check_linux(),
        }
    }

    /// Rejects options that `sch_pie.c` does not have.
    fn check_linux(&self) -> Result<(), ConfigError> {
        let usual = PieConfig::default();
        let differs = |field: &str, what: &str| {
            let help = "leave it out, or write law: rfc";
            Err(ConfigError::new(field, format!("law: linux has {what}")).help(help))
        };
        if self.delay() != PieDelay::Sojourn {
            return differs("delay", "only the delay of the last packet, the default of Linux");
        }
        if self.drop_spacing() != PieSpacing::Derandomized {
            return differs("drop-spacing", "always derandomized drops");
        }
        if self.burst != usual.burst {
            return differs("burst", "a burst allowance of 150 ms");
        }
        if self.mark_up_to.to_bits() != usual.mark_up_to.to_bits() || self.ecn == EcnConfig::MarkAll {
            return differs("mark-up-to", "marks up to a drop probability of 0.1");
        }
        if !matches!(self.limit, QueueSize::Packets(_)) {
            return differs("limit", "a limit in packets");
        }
        for (field, gain) in [("alpha", self.alpha), ("beta", self.beta)] {
            if (gain * 16.0).fract() != 0.0 {
                return differs(field, "gains in steps of 1/16");
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn invalid_values_are_errors_with_their_field() {
        for (written, field) in [
            (json!({"target": "0ms"}), "target"),
            (json!({"update-interval": "200s"}), "update-interval"),
            (json!({"alpha": -0.1}), "alpha"),
            (json!({"beta": 3.0}), "beta"),
            (json!({"mark-up-to": 1.5}), "mark-up-to"),
            (json!({"limit": "0 packets"}), "limit"),
            (json!({"law": "linux", "delay": "departure-rate"}), "delay"),
            (json!({"law": "linux", "drop-spacing": "random"}), "drop-spacing"),
            (json!({"law": "linux", "burst": "100ms"}), "burst"),
            (json!({"law": "linux", "mark-up-to": 0.2}), "mark-up-to"),
            (json!({"law": "linux", "limit": "100kB"}), "limit"),
            (json!({"law": "linux", "alpha": 0.1}), "alpha"),
        ] {
            let config: PieConfig = serde_json::from_value(written.clone()).unwrap();
            let error = config.check().unwrap_err();
            assert!(error.path == [field] && error.help.is_some(), "{written}: {error}");
        }
        for law in ["rfc", "linux"] {
            serde_json::from_value::<PieConfig>(json!({"law": law})).unwrap().check().unwrap();
        }
    }
}
