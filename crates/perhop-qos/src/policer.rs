//! [`Policer`]: a limit on the traffic of a class before its queue. RFC 2598 §2 requires such a limit if EF
//! has strict priority.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::accounting::Accounting;
use crate::meter::bucket::RatedBucket;
use crate::{ByteSize, ConfigError, Rate, Time};

/// The policer of a class in a policy: it drops packets that exceed a token bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PoliceConfig {
    /// The rate, bits per second of IP packets.
    pub rate: Rate,
    /// The size of the bucket, IP bytes. A longer packet never conforms.
    pub burst: ByteSize,
    /// The condition under which excess packets are dropped.
    #[serde(default)]
    pub when: PoliceWhen,
}

/// The condition under which a policer drops excess packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PoliceWhen {
    /// The port is congested: packets wait in the port, or its transmit ring has no room for the packet.
    #[default]
    Congested,
    /// Excess packets are always dropped.
    Always,
}

impl PoliceConfig {
    /// Builds the policer, with a full bucket.
    ///
    /// # Errors
    /// The rate or the burst is 0.
    pub fn build(&self) -> Result<Policer, ConfigError> {
        if self.rate.as_bits_per_second() == 0 {
            return Err(ConfigError::new("rate", "a rate of 0 passes no packet")
                .help("write a rate above 0, for example 300kb/s"));
        }
        if self.burst.as_bytes() == 0 {
            return Err(ConfigError::new("burst", "a burst of 0 passes no packet").help(
                "use at least the length of the longest packet; the bytes of 200 ms at the rate are common",
            ));
        }
        let bucket = RatedBucket::full(self.rate, self.burst);
        Ok(Policer { bucket, when: self.when, accounting: Accounting::IP })
    }
}

/// The policer of a class. A conforming packet spends tokens, even if the port is not congested.
#[derive(Clone, Debug)]
pub struct Policer {
    bucket: RatedBucket,
    when: PoliceWhen,
    accounting: Accounting,
}

impl Policer {
    /// Sets the accounting that the policer uses.
    pub fn count(&mut self, accounting: Accounting) {
        self.accounting = accounting;
    }
    /// Whether a packet of `length` IP bytes may join its queue. Calls `is_congested` only if the result
    /// depends on it.
    pub fn admits(&mut self, now: Time, length: u32, is_congested: impl FnOnce() -> bool) -> bool {
        self.bucket.take(now, self.accounting.counted(length))
            || (self.when == PoliceWhen::Congested && !is_congested())
    }
}
