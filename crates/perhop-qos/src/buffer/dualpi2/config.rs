//! [`DualPi2Config`]: `DualPI2` as written in a policy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::queue::{CoupledQueues, CoupledScheduler, LowLatencyConfig};
use crate::{ConfigError, QueueSize, Rate, Time};

/// `DualPI2` as written in a policy: two queues. Packets with ECT(1) or CE join the low-latency queue, all
/// other packets the classic queue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct DualPi2Config {
    /// The implementation. An option that contradicts the implementation is an error.
    pub law: DualPi2Law,
    /// Whether low-latency packets have a queue of their own.
    pub queues: CoupledQueues,
    /// The packets that join the low-latency queue. Default: packets with ECT(1) or CE.
    #[serde(skip_serializing_if = "is_default")]
    pub low_latency: LowLatencyConfig,
    /// The target of the queueing delay in the classic queue. Default: 15ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Time>,
    /// The longest round trip for which the controller is stable. Default: 100ms. Only for `rfc`, which
    /// derives the interval and the gains from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_max: Option<Time>,
    /// The interval between updates of the probabilities. Default under `rfc`: the target or a third of
    /// `rtt-max`, the shorter of the two. Default under `linux`: 16ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update_interval: Option<Time>,
    /// The gain for the difference between delay and target, per second. Default: 0.1 · `update-interval` /
    /// `rtt-max`² under `rfc`; 41/256 under `linux`, which rounds to multiples of 1/256.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// The gain for the change of the delay since the last update, per second. Default: 0.3 / `rtt-max` under
    /// `rfc`; 819/256 under `linux`, which rounds to multiples of 1/256.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
    /// The coupling factor: the mark probability of the low-latency queue divided by the base probability, 1
    /// to 16. Default: 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coupling: Option<u8>,
    /// The marks that depend only on the delay of the low-latency queue. Default: a ramp from 800us to 1200us
    /// under `rfc`, a step at 1ms under `linux`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub native: Option<NativeMarking>,
    /// The minimum number of other packets in the low-latency queue for the step to mark an arriving packet.
    /// Default: 0. The kernels of the L4S team used 2 before Linux included `DualPI2`. Only for `linux`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_qlen_step: Option<u32>,
    /// The scheduler of the two queues. Default while both contain packets: the classic queue has a sixteenth
    /// of the rate under `rfc` and a tenth under `linux`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<CoupledScheduler>,
    /// The limit of both queues together. Default: 250 ms of the rate of the port under `rfc`, 10000 packets
    /// under `linux`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<QueueSize>,
}

/// Whether all fields of `config` have their defaults.
fn is_default(config: &LowLatencyConfig) -> bool {
    *config == LowLatencyConfig::default()
}

/// An implementation of `DualPI2`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DualPi2Law {
    /// RFC 9332, appendix A: the law adds up the probabilities and marks a packet when the sum exceeds 1.
    #[default]
    Rfc,
    /// `sch_dualpi2.c` of Linux since 6.17, with its integers and random numbers. While both queues together
    /// contain less than two packets of the largest size, only the step marks packets.
    Linux,
}

/// The marks that depend only on the delay of the low-latency queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NativeMarking {
    /// Marks every packet that has waited longer than this.
    Step(Time),
    /// Marks with a probability that grows from 0 to 1. Only for `rfc`.
    Ramp(RampConfig),
}

/// A probability that grows with the delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RampConfig {
    /// The delay up to which the probability is 0.
    pub from: Time,
    /// The additional delay at which the probability is 1.
    pub width: Time,
}

/// All options of a policy. An option that the policy omits has the default of the law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Settled {
    pub(super) target: Time,
    pub(super) update_interval: Time,
    pub(super) alpha: f64,
    pub(super) beta: f64,
    pub(super) coupling: u8,
    pub(super) native: NativeMarking,
    pub(super) limit: QueueSize,
}

impl DualPi2Config {
    /// The scheduler of both queues.
    pub fn scheduler(&self) -> CoupledScheduler {
        self.scheduler.unwrap_or(match self.law {
            DualPi2Law::Rfc => CoupledScheduler::ClassicShare(6.25),
            DualPi2Law::Linux => CoupledScheduler::ClassicShare(10.0),
        })
    }

    /// The limit of both queues, if it does not depend on the port.
    pub fn fixed_limit(&self) -> Option<QueueSize> {
        self.limit.or((self.law == DualPi2Law::Linux).then_some(QueueSize::Packets(10_000)))
    }
    /// The limit of both queues on a port that drains at `drain`.
    fn limit(&self, drain: Rate) -> QueueSize {
        // RFC 9332 appendix A.1: `limit = MAX_LINK_RATE * 250 ms`.
        let quarter_second = QueueSize::Bytes((drain.as_bits_per_second() / 32).max(3000));
        self.fixed_limit().unwrap_or(quarter_second)
    }

    /// Returns all options, with defaults for a port that drains at `drain`.
    ///
    /// # Errors
    /// The error names the first option that is out of range or contradicts the law.
    pub(super) fn settle(&self, drain: Rate) -> Result<Settled, ConfigError> {
        let target = self.target.unwrap_or(Time::from_milliseconds(15));
        let rtt_max = self.rtt_max.unwrap_or(Time::from_milliseconds(100));
        let third = Time::from_picoseconds(rtt_max.as_picoseconds() / 3);
        let (interval, native) = match self.law {
            DualPi2Law::Rfc => {
                let ramp =
                    RampConfig { from: Time::from_microseconds(800), width: Time::from_microseconds(400) };
                (target.min(third), NativeMarking::Ramp(ramp))
            }
            DualPi2Law::Linux => {
                (Time::from_milliseconds(16), NativeMarking::Step(Time::from_milliseconds(1)))
            }
        };
        let update_interval = self.update_interval.unwrap_or(interval);
        let (rtt_s, interval_s) = (rtt_max.as_seconds(), update_interval.as_seconds());
        let (alpha, beta) = match self.law {
            DualPi2Law::Rfc => (0.1 * interval_s / (rtt_s * rtt_s), 0.3 / rtt_s),
            DualPi2Law::Linux => (41.0 / 256.0, 819.0 / 256.0),
        };
        if self.law == DualPi2Law::Rfc && self.min_qlen_step.is_some() {
            let message = "under RFC 9332 the ramp marks no packet that leaves an empty queue behind";
            return Err(ConfigError::new("min-qlen-step", message).help("leave it out, or write law: linux"));
        }
        let settled = Settled {
            target,
            update_interval,
            alpha: self.alpha.unwrap_or(alpha),
            beta: self.beta.unwrap_or(beta),
            coupling: self.coupling.unwrap_or(2),
            native: self.native.unwrap_or(native),
            limit: self.limit(drain),
        };
        check_times(rtt_max, &settled)?;
        check_numbers(&settled)?;
        match self.law {
            DualPi2Law::Rfc => Ok(settled),
            DualPi2Law::Linux => self.check_linux(&settled).map(|()| settled),
        }
    }

    /// Rejects options that `sch_dualpi2.c` does not have.
    fn check_linux(&self, settled: &Settled) -> Result<(), ConfigError> {
        let differs = |field: &str, what: &str| {
            Err(ConfigError::new(field, format!("law: linux has {what}"))
                .help("leave it out, or write law: rfc"))
        };
        if self.rtt_max.is_some() {
            return differs("rtt-max", "gains, not a round trip");
        }
        for (field, gain) in [("alpha", settled.alpha), ("beta", settled.beta)] {
            if (gain * 256.0).fract() != 0.0 {
                return differs(field, "gains in steps of 1/256");
            }
        }
        if matches!(settled.native, NativeMarking::Ramp(_)) {
            return differs("native", "a step in the low-latency queue");
        }
        match self.scheduler() {
            CoupledScheduler::ClassicShare(share) if share.fract() == 0.0 => {}
            _ => return differs("scheduler", "a share of the classic queue in whole percent"),
        }
        match settled.limit {
            QueueSize::Packets(_) => Ok(()),
            QueueSize::Bytes(_) => differs("limit", "a limit in packets"),
        }
    }
}

fn check_times(rtt_max: Time, settled: &Settled) -> Result<(), ConfigError> {
    let times =
        [("target", settled.target), ("rtt-max", rtt_max), ("update-interval", settled.update_interval)];
    for (field, time) in times {
        if !(Time::from_microseconds(1)..=Time::from_seconds(4)).contains(&time) {
            return Err(
                ConfigError::new(field, format!("a {field} of {time} is out of range")).help("1us to 4s")
            );
        }
    }
    Ok(())
}

fn check_numbers(settled: &Settled) -> Result<(), ConfigError> {
    for (field, gain) in [("alpha", settled.alpha), ("beta", settled.beta)] {
        if !(0.0..=1e6).contains(&gain) {
            let message = format!("a gain of {gain} per second is out of range");
            return Err(ConfigError::new(field, message).help("0 to 1000000; RFC 9332 has 0.15 and 3"));
        }
    }
    if !(1..=16).contains(&settled.coupling) {
        return Err(ConfigError::new(
            "coupling",
            format!("a coupling factor of {} is out of range", settled.coupling),
        )
        .help("1 to 16; RFC 9332 recommends 2"));
    }
    if let NativeMarking::Ramp(RampConfig { width, .. }) = settled.native
        && width == Time::ZERO
    {
        return Err(ConfigError::new("width", "a ramp without a width is a step")
            .help("write native: {step: 1ms}")
            .within("ramp")
            .within("native"));
    }
    if settled.limit.count() == 0 {
        return Err(ConfigError::new("limit", "queues with a limit of 0 drop every packet")
            .help("for example 10000 packets"));
    }
    Ok(())
}
