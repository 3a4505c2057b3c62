//! [`Multilink`]: the header of multilink PPP, which can fragment packets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ip_version::is_default;
use crate::error::ConfigError;
use crate::units::ByteSize;

/// The bytes of an uncompressed PPP protocol number (RFC 1661 §2).
pub(super) const PPP_PROTOCOL: u64 = 2;

/// A multilink header and the inner PPP protocol number after it (RFC 1990 §3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Multilink {
    /// The format of the sequence number.
    #[serde(skip_serializing_if = "is_default")]
    pub sequence: MultilinkSequence,
    /// The largest number of bytes of a packet in one fragment, 16 to 65535. Default: packets are not
    /// fragmented.
    #[serde(skip_serializing_if = "is_default")]
    pub fragment: Option<ByteSize>,
    /// Whether packets of priority classes are sent between the fragments of other packets. They are not
    /// fragmented and have no multilink header.
    #[serde(skip_serializing_if = "is_default")]
    pub interleave: bool,
}

/// The format of a multilink header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MultilinkSequence {
    /// 24 bits: a header of 4 bytes.
    #[default]
    Long,
    /// 12 bits: a header of 2 bytes.
    Short,
}

/// The fragmentation of packets by a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    /// The largest number of bytes that a fragment carries.
    pub(super) most: u32,
    /// The bytes of the header before each fragment.
    pub(super) each: u32,
    /// The bytes that the header adds once to each packet, and that are fragmented with it.
    pub(super) once: u32,
}

impl Multilink {
    /// The bytes that the header adds to a packet that it does not fragment.
    pub(super) const fn added(self) -> u64 {
        self.sequence.bytes() + PPP_PROTOCOL
    }
    /// The smallest fragment size, bytes. A smaller fragment would be shorter than its headers.
    const LEAST: u64 = 16;

    /// Checks that the parameters have valid values and do not contradict each other.
    pub(super) fn check(self) -> Result<(), ConfigError> {
        match self.fragment {
            Some(size) if !(Multilink::LEAST..=65535).contains(&size.as_bytes()) => {
                let message = format!("a fragment size of {size} is out of range");
                Err(ConfigError::new("fragment", message).help("write 16B to 65535B: delay × rate / 8"))
            }
            None if self.interleave => Err(ConfigError::new("interleave", "no fragment size is set")
                .help("write `fragment`, for example 72B for 10 ms at 64 kb/s")),
            _ => Ok(()),
        }
    }
    /// Returns how this header fragments packets, or `None` if it does not fragment packets.
    pub(super) fn cut(self) -> Option<Cut> {
        let most = self.fragment?.as_bytes() as u32;
        Some(Cut { most, each: self.sequence.bytes() as u32, once: PPP_PROTOCOL as u32 })
    }
}

impl MultilinkSequence {
    /// The bytes of the header before each fragment.
    const fn bytes(self) -> u64 {
        match self {
            MultilinkSequence::Long => 4,
            MultilinkSequence::Short => 2,
        }
    }
}
