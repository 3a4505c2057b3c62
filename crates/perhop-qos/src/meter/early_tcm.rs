//! [`EarlyTcm`]: the three color marker of February 1999 (draft-heinanen-diffserv-tcm-00), as
//! Goyal, Misra and Jain used it for two and three drop precedences
//! (draft-goyal-dpstdy-diffserv-00, §2).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::token_bucket::{Bucket, Refill, cost};
use super::{ColorMode, Meter, color_aware, require_burst, require_rate};
use crate::error::ConfigError;
use crate::packet::{Color, Packet};
use crate::units::{ByteSize, Rate, Time};

/// The three color marker of 1999 as written in a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct EarlyTcmConfig {
    /// Committed information rate, bits per second of IP packets: what both buckets are filled at together.
    pub cir: Rate,
    /// Committed burst size in IP bytes: the bucket of drop precedence 0.
    pub cbs: ByteSize,
    /// Excess burst size in IP bytes: the bucket of drop precedence 1. Without it there are two
    /// precedences, green and yellow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ebs: Option<ByteSize>,
    /// Whether the color that a packet already has counts; by default it does.
    #[serde(default = "color_aware")]
    pub mode: ColorMode,
}

impl EarlyTcmConfig {
    /// The meter, with its buckets full.
    ///
    /// # Errors
    /// Where the rate or a burst is 0.
    pub fn build(&self) -> Result<EarlyTcm, ConfigError> {
        require_rate("cir", self.cir)?;
        require_burst("cbs", self.cbs)?;
        self.ebs.map_or(Ok(()), |ebs| require_burst("ebs", ebs))?;
        Ok(EarlyTcm {
            refill: Refill::new(self.cir),
            committed: Bucket::full(self.cbs),
            excess: self.ebs.map(Bucket::full),
            mode: self.mode,
        })
    }
}

/// The three color marker of 1999.
#[derive(Clone, Debug)]
pub struct EarlyTcm {
    refill: Refill,
    committed: Bucket,
    excess: Option<Bucket>,
    mode: ColorMode,
}

impl Meter for EarlyTcm {
    fn measure(&mut self, now: Time, packet: &Packet) -> Color {
        // §2: "The tokens are generated for the two buckets at a combined rate. [...] The tokens are added
        // to the second bucket when the first bucket is full."
        let surplus = self.committed.fill(self.refill.earned(now));
        let (color, cost) = (self.mode.color_before(packet), cost(packet.length));
        // A packet that comes in yellow must not use tokens of the green bucket, nor a red one any.
        let Some(excess) = &mut self.excess else {
            let conforms = color == Color::GREEN && self.committed.take(cost);
            return if conforms { Color::GREEN } else { color.max(Color::YELLOW) };
        };
        excess.fill(surplus);
        if color == Color::GREEN && self.committed.take(cost) {
            Color::GREEN
        } else if color <= Color::YELLOW && excess.take(cost) {
            Color::YELLOW
        } else {
            color.max(Color::RED)
        }
    }
}
