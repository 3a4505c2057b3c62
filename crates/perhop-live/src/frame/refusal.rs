//! [`Refusal`]: why a frame has no packet to forward.

/// The reason why a frame has no packet to forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The frame is valid, but not IP: ARP, LLDP, spanning tree, a pseudowire.
    NotInternet,
    /// The frame is shorter than its Ethernet header, VLAN tags and MPLS labels.
    ShortFrame,
    /// The frame is shorter than its IP header.
    ShortHeader,
    /// The frame is shorter than its IP packet.
    ShortPacket,
    /// The version in the IP header differs from the version of the Ethernet type.
    WrongVersion,
    /// The length field of the IPv4 header is less than 20 bytes, or more than the packet.
    BadHeaderLength,
    /// The checksum of the IPv4 header is wrong.
    BadChecksum,
    /// The IP packet ends within an IPv6 extension header or before its ports.
    ShortTransport,
    /// An IPv6 packet of more than 65,535 bytes (RFC 2675).
    Jumbogram,
    /// The frame has more VLAN tags than are parsed.
    TooManyTags,
    /// The frame has more MPLS labels than are parsed.
    TooManyLabels,
}

impl Refusal {
    /// All reasons, in the order of their counters.
    pub const ALL: [Refusal; 11] = [
        Refusal::NotInternet,
        Refusal::ShortFrame,
        Refusal::ShortHeader,
        Refusal::ShortPacket,
        Refusal::WrongVersion,
        Refusal::BadHeaderLength,
        Refusal::BadChecksum,
        Refusal::ShortTransport,
        Refusal::Jumbogram,
        Refusal::TooManyTags,
        Refusal::TooManyLabels,
    ];
    /// Number of reasons.
    pub const COUNT: usize = Refusal::ALL.len();

    /// Index in [`Refusal::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }
    /// Name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Refusal::NotInternet => "not-internet",
            Refusal::ShortFrame => "short-frame",
            Refusal::ShortHeader => "short-header",
            Refusal::ShortPacket => "short-packet",
            Refusal::WrongVersion => "wrong-version",
            Refusal::BadHeaderLength => "bad-header-length",
            Refusal::BadChecksum => "bad-checksum",
            Refusal::ShortTransport => "short-transport",
            Refusal::Jumbogram => "jumbogram",
            Refusal::TooManyTags => "too-many-tags",
            Refusal::TooManyLabels => "too-many-labels",
        }
    }
}
