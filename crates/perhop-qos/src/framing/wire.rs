//! [`Framing`]: the bytes that the wire adds to each frame.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The bytes that a link adds to an IP packet and that its rate includes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Framing {
    /// No framing. The rate counts IP bytes.
    #[default]
    Raw,
    /// An Ethernet II header without FCS and padding: IP bytes + 14, the length of a frame in Linux.
    EthernetHeader,
    /// An Ethernet header and FCS, padded to 64 bytes: IP bytes + 18 (IEEE 802.3 §3.1.1).
    EthernetFrame,
    /// An Ethernet frame with preamble, start delimiter and interpacket gap: IP bytes + 38.
    EthernetWire,
    /// PPP in HDLC-like framing with a 16-bit FCS: IP bytes + 7 (RFC 1662 §3.1). Adjacent frames share a
    /// flag. Stuffing is not counted.
    Ppp,
    /// Cisco HDLC with address, control, type, FCS and one flag: IP bytes + 7. Stuffing is not counted.
    Hdlc,
    /// AAL5 with VC multiplexing: IP bytes + 8, in cells of 53 bytes (RFC 2684 §6, ITU-T I.363.5).
    Aal5Mux,
    /// AAL5 with LLC/SNAP encapsulation: IP bytes + 8 + 8, in cells of 53 bytes (RFC 2684 §5.1).
    Aal5Snap,
}

/// The bytes of the CPCS-PDU trailer of AAL5.
const AAL5_TRAILER: u64 = 8;
/// The bytes of the encapsulation of a routed PDU: LLC (3), OUI (3) and protocol identifier (2).
const LLC_SNAP: u64 = 8;
/// The payload of an ATM cell, bytes.
const CELL_PAYLOAD: u64 = 48;
/// The length of an ATM cell, bytes.
const CELL: u64 = 53;

impl Framing {
    /// All framings, in the order of their definition.
    pub const ALL: [Framing; 8] = [
        Framing::Raw,
        Framing::EthernetHeader,
        Framing::EthernetFrame,
        Framing::EthernetWire,
        Framing::Ppp,
        Framing::Hdlc,
        Framing::Aal5Mux,
        Framing::Aal5Snap,
    ];

    /// The bytes of the link's header that an operating system counts for a queued packet: 14 bytes on
    /// Ethernet.
    pub const fn queued_header(self) -> u32 {
        match self {
            Framing::EthernetHeader | Framing::EthernetFrame | Framing::EthernetWire => 14,
            Framing::Raw | Framing::Ppp | Framing::Hdlc | Framing::Aal5Mux | Framing::Aal5Snap => 0,
        }
    }
    /// The wire bytes of a packet of `ip` IP bytes.
    pub const fn wire_bytes(self, ip: u64) -> u64 {
        match self {
            Framing::Raw => ip,
            Framing::EthernetHeader => ip + 14,
            Framing::EthernetFrame => ethernet_frame(ip),
            Framing::EthernetWire => ethernet_frame(ip) + 20,
            Framing::Ppp | Framing::Hdlc => ip + 7,
            Framing::Aal5Mux => (ip + AAL5_TRAILER).div_ceil(CELL_PAYLOAD) * CELL,
            Framing::Aal5Snap => (ip + LLC_SNAP + AAL5_TRAILER).div_ceil(CELL_PAYLOAD) * CELL,
        }
    }
    /// Returns the bytes that are added to the IP bytes, and the bytes of the shortest frame, or `None` if
    /// these two numbers do not determine the wire bytes.
    pub(crate) const fn added_and_least(self) -> Option<(u64, u64)> {
        match self {
            Framing::Raw => Some((0, 0)),
            Framing::EthernetHeader => Some((14, 0)),
            Framing::EthernetFrame => Some((18, 64)),
            Framing::EthernetWire => Some((38, 84)),
            Framing::Ppp | Framing::Hdlc => Some((7, 0)),
            Framing::Aal5Mux | Framing::Aal5Snap => None,
        }
    }
}

/// Writes the name of the framing in scenarios.
impl fmt::Display for Framing {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.pad(match self {
            Framing::Raw => "raw",
            Framing::EthernetHeader => "ethernet-header",
            Framing::EthernetFrame => "ethernet-frame",
            Framing::EthernetWire => "ethernet-wire",
            Framing::Ppp => "ppp",
            Framing::Hdlc => "hdlc",
            Framing::Aal5Mux => "aal5-mux",
            Framing::Aal5Snap => "aal5-snap",
        })
    }
}

const fn ethernet_frame(ip: u64) -> u64 {
    if ip < 46 { 64 } else { ip + 18 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Rate;

    #[test]
    fn wire_bytes_of_known_frames() {
        for (framing, ip, wire) in [
            (Framing::Raw, 1500, 1500),
            (Framing::EthernetFrame, 1500, 1518),
            (Framing::EthernetFrame, 28, 64),
            (Framing::EthernetWire, 1500, 1538),
            (Framing::EthernetHeader, 1500, 1514),
            (Framing::Ppp, 1500, 1507),
            (Framing::Aal5Mux, 1028, 22 * 53),
            (Framing::Aal5Mux, 1500, 32 * 53),
            (Framing::Aal5Mux, 604, 13 * 53),
            (Framing::Aal5Mux, 40, 53),
            (Framing::Aal5Snap, 40, 2 * 53),
        ] {
            assert_eq!(framing.wire_bytes(ip), wire, "{framing:?} of {ip} IP bytes");
        }
    }

    #[test]
    fn cell_times() {
        // A cell is sent in 424 bit / rate, rounded down to a picosecond: 212 us at 2 Mb/s, and 119.1 us at
        // 3.56 Mb/s.
        for (ip, cells, at_2_mb, at_3560_kb) in [
            (40, 1, 212_000_000, 119_101_123),
            (604, 13, 2_756_000_000, 1_548_314_606),
            (1028, 22, 4_664_000_000, 2_620_224_719),
            (1500, 32, 6_784_000_000, 3_811_235_955),
        ] {
            let bytes = Framing::Aal5Mux.wire_bytes(ip);
            assert_eq!(bytes, cells * 53);
            for (rate, picoseconds) in [(2_000_000, at_2_mb), (3_560_000, at_3560_kb)] {
                let time = Rate::from_bits_per_second(rate).transmission_time(bytes);
                assert_eq!(time.as_picoseconds(), picoseconds, "{ip} IP bytes at {rate} b/s");
            }
        }
    }
}
