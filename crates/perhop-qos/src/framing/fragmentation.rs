//! [`Fragmentation`]: what a header that cuts packets makes of one.

use super::header::Header;
use super::multilink::Cut;
use super::stack::HeaderStack;

/// Headers of which one cuts packets into fragments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragmentation {
    /// Headers that are cut with the packet.
    inside: HeaderStack,
    cut: Cut,
    /// Headers that every fragment has.
    outside: HeaderStack,
    /// Whether packets with priority are sent between fragments.
    interleaves: bool,
}

impl Fragmentation {
    /// Bytes that a fragment carries at most.
    pub fn most(&self) -> u32 {
        self.cut.most
    }
    /// Bytes to be carried of a packet of `ip` IP bytes.
    pub fn carried(&self, ip: u32) -> u32 {
        self.inside.bytes(u64::from(ip)) as u32 + self.cut.once
    }
    /// Bytes without the framing of a fragment that carries so many.
    pub fn fragment_bytes(&self, carried: u32) -> u64 {
        self.outside.bytes(u64::from(carried + self.cut.each))
    }
    /// Bytes without the framing of a packet of `ip` IP bytes that is interleaved: it has all headers but the
    /// one that cuts.
    pub fn interleaved_bytes(&self, ip: u32) -> u64 {
        self.outside.bytes(self.inside.bytes(u64::from(ip)))
    }
    /// How many fragments a packet of `ip` IP bytes makes.
    pub fn count(&self, ip: u32) -> u32 {
        self.carried(ip).div_ceil(self.cut.most)
    }
    /// What the last fragment of a packet of `ip` IP bytes carries.
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
    /// How these headers cut packets into fragments, if one of them does.
    pub fn fragmentation(&self) -> Option<Fragmentation> {
        let headers = self.headers();
        let place = headers.iter().position(|header| header.cut().is_some())?;
        let interleaves = matches!(headers[place], Header::Mlppp(multilink) if multilink.interleave);
        let inside = HeaderStack::new(&headers[..place])?;
        let outside = HeaderStack::new(&headers[place + 1..])?;
        Some(Fragmentation { inside, cut: headers[place].cut()?, outside, interleaves })
    }
}
