//! [`CakeConfig`]: CAKE as written in a policy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ack_filter::CakeAckFilter;
use super::cobalt::CobaltSettings;
use super::isolation::CakeIsolation;
use super::length::{CakeCells, Lengths};
use super::pace::{ByteTime, TinClock};
use super::tin::{Tin, TinSettings};
use super::tins::CakeTins;
use crate::queue::FlowHash;
use crate::{ByteSize, ConfigError, Rate, Time};

/// CAKE as written in a policy: the queues, the scheduler and the shaper of a whole port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct CakeConfig {
    /// The rate of the shaper, in counted bytes. Default: the rate of the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Rate>,
    /// The mapping of codepoints to tins.
    pub tins: CakeTins,
    /// The flows or hosts that share the bandwidth of a tin fairly.
    pub isolation: CakeIsolation,
    /// The header fields that distinguish flows. Only if `isolation` uses flows.
    #[serde(skip_serializing_if = "FlowHash::is_default")]
    pub flow_hash: FlowHash,
    /// The approximate longest round-trip time of the connections, 1us to 1000s. It is the interval of
    /// COBALT, and a twentieth of it is the target. Both are longer if the transmission of a packet takes
    /// long.
    pub rtt: Time,
    /// The bytes that are counted for a packet in addition to its IP bytes, -64 to 256. Default: 14 on an
    /// Ethernet link, otherwise 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overhead: Option<i32>,
    /// The minimum counted length of a packet, 0 to 256 bytes.
    #[serde(skip_serializing_if = "is_zero")]
    pub mpu: u32,
    /// The cells of the link. Their bytes are included in the counted length.
    pub cells: CakeCells,
    /// The memory limit for packets, including the bookkeeping of an operating system. A packet of 1500 bytes
    /// uses 2304 bytes. Default: four times the bandwidth × `rtt`, from 4 MiB to 15.5 MB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_limit: Option<ByteSize>,
    /// Clears the codepoint of each packet that leaves. The original codepoint selects the tin.
    #[serde(skip_serializing_if = "is_false")]
    pub wash: bool,
    /// Counts dropped packets as if they were sent, for a port behind the bottleneck.
    #[serde(skip_serializing_if = "is_false")]
    pub ingress: bool,
    /// The queued acknowledgments that are dropped because a later one makes them redundant.
    #[serde(skip_serializing_if = "is_default")]
    pub ack_filter: CakeAckFilter,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde requires a reference
fn is_zero(number: &u32) -> bool {
    *number == 0
}
#[allow(clippy::trivially_copy_pass_by_ref)] // serde requires a reference
fn is_false(option: &bool) -> bool {
    !*option
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde requires a reference
fn is_default(filter: &CakeAckFilter) -> bool {
    *filter == CakeAckFilter::None
}

impl Default for CakeConfig {
    /// The defaults of `tc` and Linux.
    fn default() -> CakeConfig {
        CakeConfig {
            bandwidth: None,
            tins: CakeTins::default(),
            isolation: CakeIsolation::default(),
            flow_hash: FlowHash::default(),
            rtt: Time::from_milliseconds(100),
            overhead: None,
            mpu: 0,
            cells: CakeCells::default(),
            memory_limit: None,
            wash: false,
            ingress: false,
            ack_filter: CakeAckFilter::None,
        }
    }
}

/// The length of the longest packet, bytes.
pub(super) const MTU: u32 = 1500;
/// The largest number of queued packets of maximum length. Linux, `cake_init`.
const PACKETS: u64 = 10_240;

impl CakeConfig {
    /// The names of the queues of a class `class` in results: the names of the tins, or the name of the class
    /// if there is only one tin.
    pub fn queue_names(&self, class: &str) -> Vec<String> {
        match self.tins.names().as_slice() {
            [_] => vec![class.to_owned()],
            names => names.iter().map(|name| format!("{class}/{name}")).collect(),
        }
    }
    /// Returns the counted length of a packet of `ip` IP bytes. If the policy has no `overhead`, `default` is
    /// added.
    pub fn counted(&self, ip: u32, default: i32) -> u32 {
        self.lengths(default).counted(ip)
    }
    pub(super) fn lengths(&self, default: i32) -> Lengths {
        Lengths { overhead: self.overhead.unwrap_or(default), mpu: self.mpu, cells: self.cells }
    }
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        if !(Time::from_microseconds(1)..=Time::from_seconds(1000)).contains(&self.rtt) {
            return Err(ConfigError::new("rtt", format!("a round trip of {} is out of range", self.rtt))
                .help("1us to 1000s; use 100ms if round trips are not known"));
        }
        if let Some(rate) = self.bandwidth
            && rate.as_bits_per_second() < 512
        {
            return Err(ConfigError::new("bandwidth", format!("a bandwidth of {rate} is too low"))
                .help("at least 512b/s; without `bandwidth` cake sends at the rate of the link"));
        }
        if let Some(overhead) = self.overhead.filter(|overhead| !(-64..=256).contains(overhead)) {
            return Err(ConfigError::new(
                "overhead",
                format!("an overhead of {overhead} bytes is out of range"),
            )
            .help("-64 to 256; 38 for Ethernet with its check sequence, preamble and gap"));
        }
        if self.mpu > 256 {
            return Err(ConfigError::new("mpu", format!("an mpu of {} bytes is out of range", self.mpu))
                .help("0 to 256; 84 for Ethernet with its preamble and gap"));
        }
        if self.memory_limit.is_some_and(|limit| !(4096..=1 << 32).contains(&limit.as_bytes())) {
            return Err(ConfigError::new("memory-limit", "the memory is too small or too large")
                .help("4096B to 4GiB; by default 4MiB up to 335Mb/s"));
        }
        Ok(())
    }

    /// Returns a tin with a rate of `rate` bytes per second, or with `weight` bytes per turn if the rate is
    /// 0. Linux, `cake_set_rate`.
    pub(super) fn tin(&self, rate: u64, weight: i64, mtu: u32, key: u64) -> Tin {
        let byte_time = ByteTime::at(rate);
        let mtu_time = byte_time.for_bytes(mtu);
        let aim = Time::from_picoseconds(self.rtt.as_picoseconds() / 20).max(Time::from_microseconds(1));
        let target = aim.max(Time::from_picoseconds(mtu_time.as_picoseconds() * 3 / 2));
        let interval = (self.rtt + target).saturating_sub(aim).max(target * 2);
        let settings = TinSettings {
            cobalt: CobaltSettings { target, interval, mtu_time },
            quantum: if rate == 0 { 1514 } else { (rate >> 12).clamp(300, 1514) as u32 },
            weight: weight.max(1),
            isolation: self.isolation,
            key,
            flow_hash: self.flow_hash,
        };
        Tin::new(settings, TinClock { byte_time, next: Time::ZERO })
    }

    /// The memory limit, bytes. Linux, `cake_reconfigure`.
    pub(super) fn memory(&self, rate: u64, header: u32) -> u64 {
        let most = PACKETS * u64::from(MTU + header);
        match self.memory_limit {
            Some(limit) => limit.as_bytes(),
            None if rate == 0 => most,
            None => {
                let sent = u128::from(rate) * u128::from(self.rtt.as_picoseconds()) * 4 / 1_000_000_000_000;
                u64::try_from(sent).unwrap_or(u64::MAX).clamp(4 << 20, most)
            }
        }
    }
}
