//! What each [`Law`] settles, and what the options say without one.

use super::law::Law;
use super::mred_config::MredConfig;
use super::mred_options::{
    AfterForcedConfig, Averages, AveragingConfig, DropSpacing, EcnConfig, IdleConfig, LimitCounts,
    ProbabilityConfig, SparedConfig, UpdateConfig,
};
use super::rules::{
    Arithmetic, IdleBegins, IdleDecay, IdleEnds, IdleRule, Lengths, LimitTest, Overflow, Rules, Sparing,
};
use super::thresholds::{AboveMaxConfig, PrecedenceConfig};
use crate::{ConfigError, QueueSize, Rate};

impl MredConfig {
    /// What its options say, or its law.
    ///
    /// # Errors
    /// The first option that the law contradicts.
    pub(super) fn rules(&self) -> Result<Rules, ConfigError> {
        let Some(law) = self.law else { return Ok(self.rules_of_options()) };
        if law.is_linux() {
            self.linux(law)
        } else if law == Law::Ns235DsRed {
            self.ds_red(law)
        } else {
            self.of_floyd(law)
        }
    }

    /// Without a law: every option for itself.
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

    /// Floyd & Jacobson 1993 and those that follow it closely: IOS, and `queue/red.cc` of ns-2.
    fn of_floyd(&self, law: Law) -> Result<Rules, ConfigError> {
        use DropSpacing::{CountedFirst, Geometric, Uniform, UniformPerDrop, Wait};
        use ProbabilityConfig::{PerByte, PerPacket};
        let is_ns = matches!(law, Law::Ns21999 | Law::Ns235 | Law::Ns235Rio);
        let decay = if is_ns { IdleConfig::DecayWholeAndSample } else { IdleConfig::Decay };
        law.choose("update", self.update, &[UpdateConfig::Arrivals])?;
        law.choose("idle", self.idle, &[decay])?;
        law.choose("limit-counts", self.limit_counts, &[LimitCounts::Queue])?;
        law.choose(
            "spared",
            self.spared,
            if is_ns { &[SparedConfig::ShortQueueAndFirst] } else { &[SparedConfig::Nothing] },
        )?;
        let (spacings, above_max, lengths): (&[_], &[_], &[_]) = match law {
            Law::Ns21999 => (&[Wait, CountedFirst], &[AboveMaxConfig::Drop], &[PerPacket, PerByte]),
            Law::Ns235 => (
                &[Wait, CountedFirst],
                &[AboveMaxConfig::Gentle, AboveMaxConfig::Drop],
                &[PerByte, PerPacket],
            ),
            Law::Ns235Rio => (
                &[Wait, CountedFirst],
                &[AboveMaxConfig::Drop, AboveMaxConfig::Gentle],
                &[PerPacket, PerByte],
            ),
            Law::Cisco => {
                (&[Geometric, Uniform, UniformPerDrop, Wait], &[AboveMaxConfig::Drop], &[PerPacket])
            }
            _ => (&[Uniform], &[AboveMaxConfig::Drop], &[PerPacket, PerByte]),
        };
        let after_forced =
            if law == Law::Ns21999 { AfterForcedConfig::GoOn } else { AfterForcedConfig::Restart };
        let idle = match law {
            // `deque` sets `idle_` where it finds nothing, `enque` clears it.
            Law::Ns21999 | Law::Ns235 => IdleRule {
                begins: IdleBegins::LinkFree,
                ends: IdleEnds::FirstArrival,
                decay: IdleDecay::WholePackets,
                samples: true,
            },
            Law::Ns235Rio => IdleRule {
                begins: IdleBegins::AllSent,
                ends: IdleEnds::FirstArrival,
                decay: IdleDecay::WholePackets,
                samples: true,
            },
            // Not published: as without a law.
            Law::Cisco => self.rules_of_options().idle,
            // Figure 2: `q_time` is set when the queue becomes empty, and nowhere else.
            _ => IdleRule {
                begins: IdleBegins::QueueEmpty,
                ends: IdleEnds::Accepted,
                decay: IdleDecay::Packets,
                samples: false,
            },
        };
        let default =
            if law == Law::Cisco { AveragingConfig::Exponent(9) } else { AveragingConfig::default() };
        let lengths = match law.choose("probability", self.probability, lengths)? {
            PerPacket => Lengths::Nothing,
            PerByte if is_ns => Lengths::CountAndProbability,
            PerByte => Lengths::Probability,
        };
        Ok(Rules {
            averaging: self.averaging.unwrap_or(default),
            idle,
            above_max: law.choose("above-max", self.above_max, above_max)?,
            spacing: law.choose("drop-spacing", self.drop_spacing, spacings)?,
            sparing: match law {
                Law::Ns21999 | Law::Ns235Rio => Sparing::ShortQueueAndFirst,
                Law::Ns235 => Sparing::ShortQueueAndAnyFirst,
                _ => Sparing::Nothing,
            },
            after_forced: law.choose("after-forced", self.after_forced, &[after_forced])?,
            overflow: match law {
                Law::Ns235 => Overflow::Restarts,
                Law::Ns235Rio => Overflow::RestartsButLast,
                _ => Overflow::CountsAsKept,
            },
            lengths,
            limit_test: if is_ns { LimitTest::LastForAny } else { LimitTest::Last },
            is_blind_to_last: law == Law::Ns235Rio,
            // `drop_early`: a mark only up to `mark_p_`, 0.1.
            marks_up_to: if law == Law::Ns235 { 0.1 } else { 1.0 },
            ..self.rules_of_options()
        })
    }

    /// `diffserv/dsredq.cc` of ns-2.35.
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
        // `updateREDStateVar`: under WRED the flag is set where the packet's own precedence has none left.
        let begins = match self.averages {
            Some(Averages::Single) | None => IdleBegins::PrecedenceGone,
            _ => IdleBegins::QueueEmpty,
        };
        Ok(Rules {
            // `updateIdleFlag`: called where a packet was queued.
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

    /// `include/net/red.h` of Linux, and the queues that use it.
    fn linux(&self, law: Law) -> Result<Rules, ConfigError> {
        let idle = match law {
            // `gred_dequeue` sets the clock with the packet that leaves nothing, `gred_enqueue` clears it.
            Law::LinuxGred => IdleRule {
                begins: IdleBegins::QueueEmpty,
                ends: IdleEnds::FirstArrival,
                decay: IdleDecay::Table,
                samples: false,
            },
            // `red_dequeue` sets it where it finds nothing. After a dropped packet the device asks at once.
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
            // iproute2 tc/q_red.c, q_gred.c: `bandwidth`, 10Mbit where it is not given.
            idle_rate: self.idle_rate.or(Some(Rate::from_bits_per_second(10_000_000))),
            spacing: DropSpacing::UniformPerDrop,
            sparing: Sparing::FirstInRange,
            limit_counts: law.choose("limit-counts", self.limit_counts, &[LimitCounts::Averaged])?,
            ..self.rules_of_options()
        })
    }

    /// Whether thresholds and averages are such as the law has.
    ///
    /// # Errors
    /// Where they are not.
    pub(super) fn check_law(
        &self,
        precedences: &[PrecedenceConfig],
        further_test: bool,
    ) -> Result<(), ConfigError> {
        let Some(law) = self.law else { return Ok(()) };
        let (count, unit) = (precedences.len(), precedences[0].min);
        if law == Law::Ns235Rio && count != 2 {
            return Err(ConfigError::new("law", format!("ns-2.35-rio has two precedences, not {count}"))
                .help("in packets are precedence 0, out packets precedence 1"));
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
            return Err(ConfigError::new("law", format!("{} knows no `own` thresholds", law.name()))
                .help("leave `law` out, and write every option"));
        }
        let averages = self.averages.unwrap_or_default();
        if law.averages().contains(&averages) { Ok(()) } else { Err(law.contradicted("averages")) }
    }
}
