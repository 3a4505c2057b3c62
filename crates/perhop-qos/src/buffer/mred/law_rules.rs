//! The rules of each [`Law`], and the rules that the options determine if there is no law.

use super::config::MredConfig;
use super::law::Law;
use super::options::{
    AfterForcedConfig, Averages, AveragingConfig, DropSpacing, EcnConfig, IdleConfig, LimitCounts,
    ProbabilityConfig, SparedConfig, UpdateConfig,
};
use super::rules::{
    Arithmetic, IdleBegins, IdleDecay, IdleEnds, IdleRule, Lengths, LimitTest, Overflow, Rules, Sparing,
};
use super::thresholds::{AboveMaxConfig, PrecedenceConfig};
use crate::{ConfigError, QueueSize, Rate};

impl MredConfig {
    /// Returns the rules of the law, or the rules that the options determine if there is no law.
    ///
    /// # Errors
    /// The error names the first option that contradicts the law.
    pub(super) fn rules(&self) -> Result<Rules, ConfigError> {
        let Some(law) = self.law else { return Ok(self.rules_of_options()) };
        match law {
            Law::Floyd1993 | Law::Cisco => self.published(law),
            Law::Ns21999 | Law::Ns235 | Law::Ns235Rio => self.red_cc(law),
            Law::Ns235DsRed => self.ds_red(law),
            Law::LinuxRed | Law::LinuxRedInClass | Law::LinuxGred => self.linux(law),
        }
    }

    /// Returns the rules that the options determine if there is no law.
    fn rules_of_options(&self) -> Rules {
        let (decay, samples) = match self.idle.unwrap_or_default() {
            IdleConfig::Decay => (IdleDecay::Packets, false),
            IdleConfig::DecayAndSample => (IdleDecay::Packets, true),
            IdleConfig::DecayWholeAndSample => (IdleDecay::WholePackets, true),
            IdleConfig::None => (IdleDecay::Never, true),
        };
        Rules {
            averaging: self.averaging.unwrap_or_default(),
            arithmetic: Arithmetic::Fine,
            update: self.update.unwrap_or_default(),
            idle: IdleRule { begins: IdleBegins::QueueEmpty, ends: IdleEnds::EachArrival, decay, samples },
            idle_rate: self.idle_rate,
            above_max: self.above_max.unwrap_or_default(),
            spacing: self.drop_spacing.unwrap_or_default(),
            sparing: match self.spared.unwrap_or_default() {
                SparedConfig::Nothing => Sparing::Nothing,
                SparedConfig::FirstAboveMin => Sparing::FirstAboveMin,
                SparedConfig::ShortQueueAndFirst => Sparing::ShortQueueAndFirst,
            },
            after_forced: self.after_forced.unwrap_or_default(),
            overflow: Overflow::CountsAsKept,
            lengths: match self.probability.unwrap_or_default() {
                ProbabilityConfig::PerPacket => Lengths::Nothing,
                ProbabilityConfig::PerByte => Lengths::Probability,
            },
            limit_test: LimitTest::Last,
            limit_counts: self.limit_counts.unwrap_or_default(),
            thresholds_are_below: false,
            is_blind_to_last: false,
            marks_up_to: 1.0,
        }
    }

    /// The rules of Floyd & Jacobson 1993, and the published rules of Cisco IOS.
    fn published(&self, law: Law) -> Result<Rules, ConfigError> {
        use DropSpacing::{Geometric, Uniform, UniformPerDrop, Wait};
        use ProbabilityConfig::{PerByte, PerPacket};
        law.choose("update", self.update, &[UpdateConfig::Arrivals])?;
        law.choose("idle", self.idle, &[IdleConfig::Decay])?;
        law.choose("limit-counts", self.limit_counts, &[LimitCounts::Queue])?;
        law.choose("spared", self.spared, &[SparedConfig::Nothing])?;
        law.choose("after-forced", self.after_forced, &[AfterForcedConfig::Restart])?;
        law.choose("above-max", self.above_max, &[AboveMaxConfig::Drop])?;
        if law == Law::Cisco {
            let spacings = [Geometric, Uniform, UniformPerDrop, Wait];
            law.choose("probability", self.probability, &[PerPacket])?;
            return Ok(Rules {
                averaging: self.averaging.unwrap_or(AveragingConfig::Exponent(9)),
                spacing: law.choose("drop-spacing", self.drop_spacing, &spacings)?,
                ..self.rules_of_options()
            });
        }
        // Figure 2 sets `q_time` only when the queue becomes empty.
        let idle = IdleRule {
            begins: IdleBegins::QueueEmpty,
            ends: IdleEnds::Accepted,
            decay: IdleDecay::Packets,
            samples: false,
        };
        law.choose("probability", self.probability, &[PerPacket, PerByte])?;
        law.choose("drop-spacing", self.drop_spacing, &[Uniform])?;
        Ok(Rules { idle, ..self.rules_of_options() })
    }

    /// The rules of `queue/red.cc` and `queue/rio.cc` of ns-2.
    fn red_cc(&self, law: Law) -> Result<Rules, ConfigError> {
        use AboveMaxConfig::{Drop, Gentle};
        use ProbabilityConfig::{PerByte, PerPacket};
        law.choose("update", self.update, &[UpdateConfig::Arrivals])?;
        law.choose("idle", self.idle, &[IdleConfig::DecayWholeAndSample])?;
        law.choose("limit-counts", self.limit_counts, &[LimitCounts::Queue])?;
        law.choose("spared", self.spared, &[SparedConfig::ShortQueueAndFirst])?;
        let (above_max, probabilities): (&[_], [_; 2]) = match law {
            Law::Ns21999 => (&[Drop], [PerPacket, PerByte]),
            Law::Ns235Rio => (&[Drop, Gentle], [PerPacket, PerByte]),
            _ => (&[Gentle, Drop], [PerByte, PerPacket]),
        };
        let spacings = [DropSpacing::Wait, DropSpacing::CountedFirst];
        let (sparing, overflow, after_forced) = match law {
            Law::Ns21999 => (Sparing::ShortQueueAndFirst, Overflow::CountsAsKept, AfterForcedConfig::GoOn),
            Law::Ns235Rio => {
                (Sparing::ShortQueueAndFirst, Overflow::RestartsButLast, AfterForcedConfig::Restart)
            }
            _ => (Sparing::ShortQueueAndAnyFirst, Overflow::Restarts, AfterForcedConfig::Restart),
        };
        // `deque` sets `idle_` if the queue is empty, and `enque` clears it.
        let idle = IdleRule {
            begins: if law == Law::Ns235Rio { IdleBegins::AllSent } else { IdleBegins::LinkFree },
            ends: IdleEnds::FirstArrival,
            decay: IdleDecay::WholePackets,
            samples: true,
        };
        Ok(Rules {
            idle,
            above_max: law.choose("above-max", self.above_max, above_max)?,
            spacing: law.choose("drop-spacing", self.drop_spacing, &spacings)?,
            sparing,
            after_forced: law.choose("after-forced", self.after_forced, &[after_forced])?,
            overflow,
            lengths: match law.choose("probability", self.probability, &probabilities)? {
                PerPacket => Lengths::Nothing,
                PerByte => Lengths::CountAndProbability,
            },
            limit_test: LimitTest::LastForAny,
            is_blind_to_last: law == Law::Ns235Rio,
            // `drop_early` marks packets only up to the probability `mark_p_`, 0.1.
            marks_up_to: if law == Law::Ns235 { 0.1 } else { 1.0 },
            ..self.rules_of_options()
        })
    }

    /// The rules of `diffserv/dsredq.cc` of ns-2.35.
    fn ds_red(&self, law: Law) -> Result<Rules, ConfigError> {
        law.choose("update", self.update, &[UpdateConfig::Arrivals])?;
        law.choose("idle", self.idle, &[IdleConfig::DecayWholeAndSample])?;
        law.choose("limit-counts", self.limit_counts, &[LimitCounts::Queue])?;
        law.choose("spared", self.spared, &[SparedConfig::Nothing])?;
        law.choose("after-forced", self.after_forced, &[AfterForcedConfig::Restart])?;
        law.choose("above-max", self.above_max, &[AboveMaxConfig::Drop])?;
        law.choose("drop-spacing", self.drop_spacing, &[DropSpacing::Unguarded])?;
        law.choose("probability", self.probability, &[ProbabilityConfig::PerPacket])?;
        if self.ecn == EcnConfig::Mark {
            return Err(law.contradicted("ecn"));
        }
        // `updateREDStateVar`: under WRED the idle flag is set when no other packet of the same precedence
        // remains.
        let begins = match self.averages {
            Some(Averages::Single) | None => IdleBegins::PrecedenceGone,
            _ => IdleBegins::QueueEmpty,
        };
        Ok(Rules {
            // `updateIdleFlag` is called after a packet has joined the queue.
            idle: IdleRule {
                begins,
                ends: IdleEnds::Accepted,
                decay: IdleDecay::WholePackets,
                samples: true,
            },
            spacing: DropSpacing::Unguarded,
            limit_test: LimitTest::First,
            thresholds_are_below: true,
            ..self.rules_of_options()
        })
    }

    /// The rules of `include/net/red.h` of Linux and of the qdiscs that include this file.
    fn linux(&self, law: Law) -> Result<Rules, ConfigError> {
        let idle = match law {
            // `gred_dequeue` starts the idle clock when the last packet leaves, and `gred_enqueue` stops it.
            Law::LinuxGred => IdleRule {
                begins: IdleBegins::QueueEmpty,
                ends: IdleEnds::FirstArrival,
                decay: IdleDecay::Table,
                samples: false,
            },
            // `red_dequeue` starts the idle clock if it finds the queue empty. After a dropped packet, the
            // device calls it again at once.
            Law::LinuxRed => IdleRule {
                begins: IdleBegins::LinkFree,
                ends: IdleEnds::EachArrival,
                decay: IdleDecay::Table,
                samples: false,
            },
            _ => IdleRule {
                begins: IdleBegins::QueueEmpty,
                ends: IdleEnds::EachArrival,
                decay: IdleDecay::Never,
                samples: true,
            },
        };
        if self.idle.is_some() {
            return Err(law.contradicted("idle"));
        }
        law.choose("update", self.update, &[UpdateConfig::Arrivals])?;
        law.choose("spared", self.spared, &[SparedConfig::FirstAboveMin])?;
        law.choose("after-forced", self.after_forced, &[AfterForcedConfig::Restart])?;
        law.choose("above-max", self.above_max, &[AboveMaxConfig::Drop])?;
        law.choose("drop-spacing", self.drop_spacing, &[DropSpacing::UniformPerDrop])?;
        law.choose("probability", self.probability, &[ProbabilityConfig::PerPacket])?;
        let averaging = self.averaging.unwrap_or(AveragingConfig::Exponent(9));
        if !matches!(averaging, AveragingConfig::Exponent(1..)) {
            return Err(ConfigError::new("averaging", "Linux averages with a weight of 2⁻ⁿ, n from 1 on")
                .help("for example { exponent: 9 }, which is near 0.002"));
        }
        Ok(Rules {
            averaging,
            arithmetic: Arithmetic::Linux,
            idle,
            // `bandwidth` of iproute2 tc/q_red.c and q_gred.c, by default 10Mbit.
            idle_rate: self.idle_rate.or(Some(Rate::from_bits_per_second(10_000_000))),
            spacing: DropSpacing::UniformPerDrop,
            sparing: Sparing::FirstInRange,
            limit_counts: law.choose("limit-counts", self.limit_counts, &[LimitCounts::Averaged])?,
            ..self.rules_of_options()
        })
    }

    /// Checks that the law supports the thresholds and averages of this configuration.
    ///
    /// # Errors
    /// The error names the law or the first option that the law does not support.
    pub(super) fn check_law(
        &self,
        precedences: &[PrecedenceConfig],
        further_test: bool,
    ) -> Result<(), ConfigError> {
        let Some(law) = self.law else { return Ok(()) };
        let (count, unit) = (precedences.len(), precedences[0].min);
        if law == Law::Ns235Rio && count != 2 {
            return Err(ConfigError::new("law", format!("ns-2.35-rio has two precedences, not {count}"))
                .help("write precedence 0 for in packets, and precedence 1 for out packets"));
        }
        let (is_known, name) = match (law, unit) {
            (Law::Ns235DsRed, QueueSize::Bytes(_)) => (false, "packets"),
            (_, QueueSize::Packets(_)) if law.is_linux() => (false, "bytes"),
            _ => (true, ""),
        };
        if !is_known {
            return Err(ConfigError::new("law", format!("{} counts queues in {name}", law.name()))
                .help(format!("write all thresholds in {name}")));
        }
        if further_test && law != Law::Floyd1993 {
            return Err(ConfigError::new("law", format!("{} has no `own` thresholds", law.name()))
                .help("leave `law` out, and write every option"));
        }
        if self.scalable.is_some() && law != Law::Floyd1993 {
            let message = format!("{} does not mark by the current queue length", law.name());
            return Err(ConfigError::new("scalable", message)
                .help("leave `scalable` out, or leave `law` out and write every option"));
        }
        let averages = self.averages.unwrap_or_default();
        if law.averages().contains(&averages) { Ok(()) } else { Err(law.contradicted("averages")) }
    }
}
