//! [`EarlyTcm`]: the three color marker of the draft of February 1999 (draft-heinanen-diffserv-tcm-00).
//! Goyal, Misra and Jain used it for two and three drop precedences (draft-goyal-dpstdy-diffserv-00, §2).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contract::{ColorMode, Meter, color_aware, require_burst, require_rate};
use super::single_rate_tcm::{SingleRateTcm, SingleRateTcmConfig};
use crate::{ByteSize, Color, ConfigError, Packet, Rate, Time};

/// The three color marker of 1999 as written in a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct EarlyTcmConfig {
    /// The committed information rate, bits per second of IP packets. Both buckets are filled at this rate in
    /// total.
    pub cir: Rate,
    /// The committed burst size, IP bytes: the size of the bucket of drop precedence 0.
    pub cbs: ByteSize,
    /// The excess burst size, IP bytes: the size of the bucket of drop precedence 1. Without it, the meter
    /// has two precedences, green and yellow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ebs: Option<ByteSize>,
    /// Whether the meter considers the color that a packet already has. Default: it does.
    #[serde(default = "color_aware")]
    pub mode: ColorMode,
}

impl EarlyTcmConfig {
    /// Builds the meter, with full buckets.
    ///
    /// # Errors
    /// The rate or a burst is 0.
    pub fn build(&self) -> Result<EarlyTcm, ConfigError> {
        require_rate("cir", self.cir)?;
        require_burst("cbs", self.cbs)?;
        self.ebs.map_or(Ok(()), |ebs| require_burst("ebs", ebs))?;
        let ebs = self.ebs.unwrap_or(ByteSize::from_bytes(0));
        let buckets = SingleRateTcmConfig { cir: self.cir, cbs: self.cbs, ebs, mode: self.mode };
        Ok(EarlyTcm { buckets: buckets.build()?, mode: self.mode, has_excess: self.ebs.is_some() })
    }
}

/// The three color marker of 1999. With an excess bucket it equals the later [`SingleRateTcm`]. Without it,
/// it has two precedences.
#[derive(Clone, Debug)]
pub struct EarlyTcm {
    buckets: SingleRateTcm,
    mode: ColorMode,
    has_excess: bool,
}

impl Meter for EarlyTcm {
    fn measure(&mut self, now: Time, packet: &Packet) -> Color {
        // §2: "The tokens are generated for the two buckets at a combined rate. [...] The tokens are added to
        // the second bucket when the first bucket is full." A packet that arrives yellow must not use tokens
        // of the green bucket. A packet that arrives red must not use any tokens. RFC 2697 has the same
        // rules.
        let color = self.buckets.measure(now, packet);
        if self.has_excess || color == Color::GREEN {
            return color;
        }
        // Without the second bucket, packets that exceed the first bucket are yellow.
        self.mode.color_before(packet).max(Color::YELLOW)
    }
}
