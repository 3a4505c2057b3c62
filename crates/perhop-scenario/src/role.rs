//! [`Role`]: the purpose of traffic, which determines how its class is judged.

use perhop_qos::packet::Dscp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The purpose of traffic, which determines how its class is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Calls.
    Voice,
    /// Conferences and other interactive video.
    Video,
    /// Video in one direction, on demand or broadcast.
    Streaming,
    /// Signaling of calls.
    Signaling,
    /// Routing protocols and network operation.
    Control,
    /// Short transactions that a user waits for.
    Transactions,
    /// Files and backups.
    Bulk,
    /// Traffic without guarantees.
    BestEffort,
    /// Traffic that yields to all other traffic.
    Scavenger,
}

impl Role {
    /// Returns the role of a codepoint.
    // RFC 4594 figure 3; RFC 5865 for VOICE-ADMIT, RFC 8622 for LE.
    pub fn of_codepoint(dscp: Dscp) -> Role {
        match dscp.value() {
            // EF, VOICE-ADMIT
            46 | 44 => Role::Voice,
            // AF4x multimedia conferencing, CS4 real-time interactive
            32 | 34 | 36 | 38 => Role::Video,
            // AF3x multimedia streaming, CS3 broadcast video
            24 | 26 | 28 | 30 => Role::Streaming,
            // CS5
            40 => Role::Signaling,
            // CS6 and CS7 network control, CS2 OAM
            16 | 48 | 56 => Role::Control,
            // AF2x low-latency data
            18 | 20 | 22 => Role::Transactions,
            // AF1x high-throughput data
            10 | 12 | 14 => Role::Bulk,
            // LE, CS1 low-priority data
            1 | 8 => Role::Scavenger,
            _ => Role::BestEffort,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codepoints_have_the_roles_of_rfc_4594() {
        let role = |name: &str| Role::of_codepoint(name.parse().unwrap());
        for (names, expected) in [
            (&["ef", "44"][..], Role::Voice),
            (&["af41", "af43", "cs4"], Role::Video),
            (&["af31", "cs3"], Role::Streaming),
            (&["cs5"], Role::Signaling),
            (&["cs6", "cs2"], Role::Control),
            (&["af21", "af22"], Role::Transactions),
            (&["af11", "af13"], Role::Bulk),
            (&["default", "cs0", "5"], Role::BestEffort),
            (&["cs1", "le"], Role::Scavenger),
        ] {
            for name in names {
                assert_eq!(role(name), expected, "{name}");
            }
        }
    }
}
