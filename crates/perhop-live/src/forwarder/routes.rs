//! [`Routes`]: the directions to addresses.

use perhop_qos::classifier::Prefix;
use perhop_qos::packet::Address;
use perhop_scenario::routing::LinkId;

/// The routes to exact addresses, in a hash table with open addressing, and to prefixes for all other
/// addresses.
#[derive(Debug)]
pub(crate) struct Routes {
    /// A hash table whose size is a power of two, at most half full.
    places: Vec<Option<(Address, LinkId)>>,
    taken: usize,
    /// The routes to prefixes, the longest prefix first.
    prefixes: Vec<(Prefix, LinkId)>,
}

impl Routes {
    pub(crate) fn new() -> Routes {
        Routes { places: vec![None; 16], taken: 0, prefixes: Vec::new() }
    }
    /// Adds a route: packets to `to` leave via `direction`. The first route to an address applies.
    pub(crate) fn add(&mut self, to: Prefix, direction: LinkId) {
        if let Some(address) = to.host() {
            return self.add_host(address, direction);
        }
        let at = self.prefixes.partition_point(|(known, _)| known.length() >= to.length());
        self.prefixes.insert(at, (to, direction));
    }
    /// The direction to `destination`.
    #[inline]
    pub(crate) fn find(&self, destination: Address) -> Option<LinkId> {
        match self.places[self.place(destination)] {
            Some((_, direction)) => Some(direction),
            None => self.find_prefix(destination),
        }
    }

    #[cold]
    fn find_prefix(&self, destination: Address) -> Option<LinkId> {
        self.prefixes.iter().find(|(prefix, _)| prefix.contains(destination)).map(|(_, direction)| *direction)
    }
    fn add_host(&mut self, address: Address, direction: LinkId) {
        if 2 * (self.taken + 1) > self.places.len() {
            let doubled = vec![None; 2 * self.places.len()];
            for (known, direction) in std::mem::replace(&mut self.places, doubled).into_iter().flatten() {
                let place = self.place(known);
                self.places[place] = Some((known, direction));
            }
        }
        let place = self.place(address);
        if self.places[place].is_none() {
            self.places[place] = Some((address, direction));
            self.taken += 1;
        }
    }
    /// The place of `address`, or the free place for it.
    #[inline]
    fn place(&self, address: Address) -> usize {
        let mask = self.places.len() - 1;
        let mut place = scatter(address) as usize & mask;
        while self.places[place].is_some_and(|(known, _)| known != address) {
            place = (place + 1) & mask;
        }
        place
    }
}

/// A hash of all bits of `address`: Fibonacci hashing (Knuth, volume 3, §6.4).
#[inline]
pub(super) fn scatter(address: Address) -> u64 {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    let bits = address.to_bits();
    let product = ((bits >> 64) as u64 ^ (bits as u64).wrapping_mul(GOLDEN)).wrapping_mul(GOLDEN);
    product >> 32 ^ product
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Address {
        Address::from(text.parse::<std::net::IpAddr>().unwrap())
    }

    #[test]
    fn a_host_before_a_prefix_and_a_long_prefix_before_a_short_one() {
        let mut routes = Routes::new();
        for (to, direction) in
            [("0.0.0.0/0", 9), ("10.1.0.0/16", 1), ("10.0.0.0/8", 2), ("10.1.0.7/32", 3), ("2001:db8::7", 4)]
        {
            routes.add(to.parse().unwrap(), LinkId(direction));
        }
        for (destination, direction) in
            [("10.1.0.7", 3), ("10.1.0.8", 1), ("10.2.0.7", 2), ("192.0.2.1", 9), ("2001:db8::7", 4)]
        {
            assert_eq!(routes.find(address(destination)), Some(LinkId(direction)), "{destination}");
        }
        assert_eq!(routes.find(address("2001:db8::8")), None);
    }

    #[test]
    fn every_one_of_many_hosts_is_found() {
        let mut routes = Routes::new();
        let hosts = |number: u32| Address::from_ipv4((0x0a00_0001 + number).into());
        for number in 0..5000 {
            routes.add(Prefix::new(hosts(number).to_ip(), 32).unwrap(), LinkId(number));
        }
        assert!((0..5000).all(|number| routes.find(hosts(number)) == Some(LinkId(number))));
        assert_eq!(routes.find(hosts(5000)), None);
    }
}
