//! [`Address`]: an IPv4 or IPv6 address in one type.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An IPv4 or IPv6 address in 16 bytes. An IPv4 address has its IPv4-mapped form (RFC 4291 §2.5.5.2), so that
/// both families share one comparison of prefixes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address([u64; 2]);

impl Address {
    /// The address as a 128-bit number. The most significant byte is the first byte of the address.
    pub const fn to_bits(self) -> u128 {
        (self.0[0] as u128) << 64 | self.0[1] as u128
    }
    /// Creates the address from the bytes of an IPv4 header.
    pub const fn from_ipv4(address: Ipv4Addr) -> Address {
        Address([0, 0xffff_0000_0000 | address.to_bits() as u64])
    }
    /// Creates the address from the bytes of an IPv6 header.
    pub const fn from_ipv6(address: Ipv6Addr) -> Address {
        let bits = address.to_bits();
        Address([(bits >> 64) as u64, bits as u64])
    }
    /// The address in the type of the standard library.
    pub const fn to_ip(self) -> IpAddr {
        Ipv6Addr::from_bits(self.to_bits()).to_canonical()
    }
}

impl From<IpAddr> for Address {
    fn from(address: IpAddr) -> Address {
        match address {
            IpAddr::V4(v4) => Address::from_ipv4(v4),
            IpAddr::V6(v6) => Address::from_ipv6(v6),
        }
    }
}
impl Default for Address {
    fn default() -> Address {
        Address::from_ipv4(Ipv4Addr::UNSPECIFIED)
    }
}
impl fmt::Debug for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{}", self.to_ip())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_both_families_survive() {
        for text in ["10.0.0.1", "2001:db8::7"] {
            let ip: IpAddr = text.parse().unwrap();
            assert_eq!(Address::from(ip).to_ip(), ip);
        }
    }
}
