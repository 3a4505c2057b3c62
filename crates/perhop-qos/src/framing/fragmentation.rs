//! [`Fragmentation`]: the fragments of a packet on a link whose headers fragment packets.

use super::header::Header;
use super::multilink::Cut;
use super::stack::HeaderStack;

/// The headers of a link, one of which fragments packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragmentation {
    /// The headers that are fragmented together with the packet.
    inside: HeaderStack,
    cut: Cut,
    /// The headers that each fragment has.
    outside: HeaderStack,
    /// Whether packets with priority are sent between fragments.
    interleaves: bool,
}

impl Fragmentation {
    /// Returns the largest payload of a fragment, bytes.
    pub fn most(&self) -> u32 {
        self.cut.most
    }
    /// The bytes that all fragments of a packet of `ip` IP bytes carry together.
    pub fn carried(&self, ip: u32) -> u32 {
        self.inside.bytes(u64::from(ip)) as u32 + self.cut.once
    }
    /// The bytes of a fragment that carries `carried` bytes, without the framing.
    pub fn fragment_bytes(&self, carried: u32) -> u64 {
        self.outside.bytes(u64::from(carried + self.cut.each))
    }
    /// The bytes of an interleaved packet of `ip` IP bytes, without the framing. They include all headers
    /// except the fragmenting header.
    pub fn interleaved_bytes(&self, ip: u32) -> u64 {
        self.outside.bytes(self.inside.bytes(u64::from(ip)))
    }
    /// The number of fragments of a packet of `ip` IP bytes.
    pub fn count(&self, ip: u32) -> u32 {
        self.carried(ip).div_ceil(self.cut.most)
    }
    /// The bytes that the last fragment of a packet of `ip` IP bytes carries.
    pub fn last(&self, ip: u32) -> u32 {
        let carried = self.carried(ip);
        carried - (self.count(ip) - 1) * self.cut.most
    }
    /// Whether packets with priority are sent between fragments.
    pub fn interleaves(&self) -> bool {
        self.interleaves
    }
}

impl HeaderStack {
    /// Returns how these headers fragment packets, or `None` if none of them fragments packets.
    pub fn fragmentation(&self) -> Option<Fragmentation> {
        let headers = self.headers();
        let place = headers.iter().position(|header| header.cut().is_some())?;
        let interleaves = matches!(headers[place], Header::Mlppp(multilink) if multilink.interleave);
        let inside = HeaderStack::new(&headers[..place])?;
        let outside = HeaderStack::new(&headers[place + 1..])?;
        Some(Fragmentation { inside, cut: headers[place].cut()?, outside, interleaves })
    }
}
