//! Sizes that limit UDP datagrams of any source.

/// IPv4 header without options and UDP header, bytes (RFC 791 §3.1, RFC 768).
pub(super) const IP_AND_UDP_HEADERS: u64 = 28;
/// The largest IPv4 packet, bytes (RFC 791 §3.1: Total Length has 16 bits).
pub(super) const LARGEST_PACKET: u64 = 65_535;
