//! [`Law`]: random early detection as one implementation has it, all of it under one name.
//!
//! A law settles what options settle one by one, and what no option says ([`Rules`]).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::drop_spacing::DropSpacing;
use super::mred_config::MredConfig;
use super::mred_options::{
    AfterForcedConfig, Averages, AveragingConfig, EcnConfig, IdleConfig, LimitCounts, ProbabilityConfig,
    SparedConfig, UpdateConfig,
};
use super::thresholds::{AboveMaxConfig, PrecedenceConfig};
use crate::{ConfigError, QueueSize, Rate};

/// An implementation of random early detection, as a whole: when averages move and idle, which packets are
/// spared, how drops are spaced, when the limit is tested. The options that a law leaves open take the
/// implementation's own default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Law {
    /// Figure 2 of Floyd & Jacobson 1993: the idle clock runs until a packet is accepted.
    #[serde(rename = "floyd-1993")]
    Floyd1993,
    /// `queue/red.cc` of ns-2 before 13 May 1999: as `ns-2.35`, but a forced drop does not end the count,
    /// and there is no gentle RED. Open: `drop-spacing` (`wait`, or `counted-first` for `wait_ false`) and
    /// `probability` (`per-packet`, or `per-byte` for `bytes_ true`).
    #[serde(rename = "ns-2-1999")]
    Ns21999,
    /// `queue/red.cc` of ns-2.35 with the defaults of its `ns-default.tcl`. Open: `above-max` (`gentle`, or
    /// `drop` for `gentle_ false`), `drop-spacing` (`wait`, or `counted-first` for `wait_ false`) and
    /// `probability` (`per-byte`, or `per-packet` for `bytes_ false`).
    #[serde(rename = "ns-2.35")]
    Ns235,
    /// `diffserv/dsredq.cc` of ns-2.35: RIO-C (`averages: coupled`), RIO-D (`decoupled`) and WRED (`single`),
    /// its defects included: the probability has no guard, and under WRED the idle clock starts whenever the
    /// last packet of a precedence leaves. Thresholds in packets.
    #[serde(rename = "ns-2.35-dsred")]
    Ns235DsRed,
    /// `queue/rio.cc` of ns-2.35: two precedences, in and out, its defect included: no average moves at an
    /// arrival of an out packet. Open as in `ns-2.35`, whose defaults differ: here `above-max` is `drop` and
    /// `probability` is `per-packet`.
    #[serde(rename = "ns-2.35-rio")]
    Ns235Rio,
    /// `sch_red.c` of Linux since 3.3, as a device's own queue. Thresholds in bytes. `mean-packet-size` is
    /// the `avpkt` of tc, `idle-rate` its `bandwidth` (10 Mb/s by default, as there).
    #[serde(rename = "linux-red")]
    LinuxRed,
    /// As `linux-red`, below a shaping class (htb, tbf): those ask a queue only while it holds packets, so
    /// that it never idles.
    #[serde(rename = "linux-red-in-class")]
    LinuxRedInClass,
    /// `sch_gred.c` of Linux since 3.3: several virtual queues of equal `prio` under `grio` (`averages:
    /// single`), `grio` with different ones (`coupled-sampled`), without `grio` (`decoupled`). Thresholds in
    /// bytes. `mean-packet-size` is the `avpkt` of tc, `idle-rate` its `bandwidth` (10 Mb/s by default, as
    /// there).
    #[serde(rename = "linux-gred")]
    LinuxGred,
    /// `random-detect` of Cisco IOS as far as it is published: `exponent: 9`, everything dropped from `max`
    /// on. Not published, and open: `drop-spacing` (`geometric` by default).
    #[serde(rename = "cisco")]
    Cisco,
}

/// Since when the packets that an average counts are held to be absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IdleBegins {
    /// Since the last of them left the queue.
    QueueEmpty,
    /// Since that one had been sent: the link asks for the next packet and finds none.
    LinkFree,
    /// Since the last packet of any precedence left, whatever others wait (dsRED under WRED).
    PrecedenceGone,
    /// Since the last packet of all had been sent, whatever an average counts (ns-2 `queue/rio.cc`).
    AllSent,
}

/// What ends the absence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IdleEnds {
    /// Any arrival; if that packet is dropped, another absence begins with it.
    EachArrival,
    /// Any arrival; if that packet is dropped, there is no absence before the next departure, and further
    /// arrivals sample an empty queue.
    FirstArrival,
    /// A packet that is accepted: until then each arrival decays the average for all of the time since the
    /// absence began.
    Accepted,
}

/// What an average does for an absence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IdleDecay {
    /// One sample of an empty queue for each packet that could have been sent, unrounded.
    Packets,
    /// Only whole packets count.
    WholePackets,
    /// Linux' table of powers of two.
    Table,
    /// Nothing.
    Never,
}

/// Idle time of an average.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IdleRule {
    pub(super) begins: IdleBegins,
    pub(super) ends: IdleEnds,
    pub(super) decay: IdleDecay,
    /// Whether the arrival is a sample as well.
    pub(super) samples: bool,
}

/// Which packets are spared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sparing {
    Nothing,
    /// The first above `min` after a lower average, which counts.
    FirstAboveMin,
    /// The first above `min` after a lower average or after one above `max`; it does not count (Linux).
    FirstInRange,
    /// Those that find a short queue, and the first after them (ns-2).
    ShortQueueAndFirst,
    /// As before, and the first even where its average is above `max` (ns-2.35 with `use_mark_p_`).
    ShortQueueAndAnyFirst,
}

impl Sparing {
    pub(super) fn spares_short_queues(self) -> bool {
        matches!(self, Sparing::ShortQueueAndFirst | Sparing::ShortQueueAndAnyFirst)
    }
}

/// What the length of a packet counts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lengths {
    Nothing,
    /// The probability, before the spacing.
    Probability,
    /// The count, in packets of mean size rounded down, and the probability after the spacing (ns-2,
    /// `bytes_`).
    CountAndProbability,
}

/// When the hard limit is tested, and what fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimitTest {
    /// Last: a packet that RED keeps must fit as a whole.
    Last,
    /// Last: there must be room, if not for the whole packet (ns-2 in bytes).
    LastForAny,
    /// First: nothing moves where a packet does not fit (dsRED).
    First,
}

/// What a packet lost to the hard limit does to the spacing of drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overflow {
    CountsAsKept,
    /// It counts anew (ns-2 since May 1999).
    Restarts,
    /// It counts anew but for the highest precedence (ns-2 `queue/rio.cc`).
    RestartsButLast,
}

/// What digits averages have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arithmetic {
    /// As many as there is room for.
    Fine,
    /// Those of Linux: averages over their weight are whole bytes.
    Linux,
}

/// Everything that an implementation of RED decides: the written options and what a law adds to them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) averaging: AveragingConfig,
    pub(super) arithmetic: Arithmetic,
    pub(super) update: UpdateConfig,
    pub(super) idle: IdleRule,
    pub(super) idle_rate: Option<Rate>,
    pub(super) above_max: AboveMaxConfig,
    pub(super) spacing: DropSpacing,
    pub(super) sparing: Sparing,
    pub(super) after_forced: AfterForcedConfig,
    pub(super) overflow: Overflow,
    pub(super) lengths: Lengths,
    pub(super) limit_test: LimitTest,
    pub(super) limit_counts: LimitCounts,
    /// Whether an average at a threshold counts as below it (dsRED).
    pub(super) thresholds_are_below: bool,
    /// Whether arrivals of the highest precedence move no average (ns-2 `queue/rio.cc`, a defect).
    pub(super) is_blind_to_last: bool,
    /// Beyond this probability a packet that is drawn is dropped and not marked (ns-2.35, `mark_p_`).
    pub(super) marks_up_to: f64,
}

impl Law {
    /// Its name in a policy.
    pub fn name(self) -> &'static str {
        match self {
            Law::Floyd1993 => "floyd-1993",
            Law::Ns21999 => "ns-2-1999",
            Law::Ns235 => "ns-2.35",
            Law::Ns235DsRed => "ns-2.35-dsred",
            Law::Ns235Rio => "ns-2.35-rio",
            Law::LinuxRed => "linux-red",
            Law::LinuxRedInClass => "linux-red-in-class",
            Law::LinuxGred => "linux-gred",
            Law::Cisco => "cisco",
        }
    }
    /// The averages that the implementation knows.
    pub(super) fn averages(self) -> &'static [Averages] {
        use Averages::{Coupled, CoupledSampled, Decoupled, Single};
        match self {
            Law::Floyd1993 | Law::Ns21999 | Law::Ns235 => &[Single, Coupled, CoupledSampled, Decoupled],
            Law::Ns235DsRed => &[Single, Coupled, Decoupled],
            Law::Ns235Rio => &[Coupled],
            Law::LinuxGred => &[Single, CoupledSampled, Decoupled],
            Law::LinuxRed | Law::LinuxRedInClass | Law::Cisco => &[Single],
        }
    }
    fn is_linux(self) -> bool {
        matches!(self, Law::LinuxRed | Law::LinuxRedInClass | Law::LinuxGred)
    }
    /// The error of an option that this law settles otherwise.
    fn contradicted(self, field: &str) -> ConfigError {
        ConfigError::new(field, format!("the law {} has another `{field}` than this", self.name()))
            .help(format!("leave `{field}` out, or leave `law` out and write every option"))
    }
    /// What is `written` of an option, where this law allows it; by default the first that it allows.
    fn choose<T: Copy + PartialEq>(
        self,
        field: &str,
        written: Option<T>,
        allowed: &[T],
    ) -> Result<T, ConfigError> {
        match written {
            None => Ok(allowed[0]),
            Some(value) if allowed.contains(&value) => Ok(value),
            Some(_) => Err(self.contradicted(field)),
        }
    }
}

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
