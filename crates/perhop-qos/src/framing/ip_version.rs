//! [`IpVersion`]: the version of an outer IP header.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of an outer IP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IpVersion {
    /// IPv4: a header of 20 bytes, without options (RFC 791 §3.1).
    #[default]
    Ipv4,
    /// IPv6: a header of 40 bytes, without extension headers (RFC 8200 §3).
    Ipv6,
}

impl IpVersion {
    /// The bytes of the IP header.
    pub const fn header_bytes(self) -> u64 {
        match self {
            IpVersion::Ipv4 => 20,
            IpVersion::Ipv6 => 40,
        }
    }
}

/// Whether `value` is the default, so that serde may omit the key.
pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
