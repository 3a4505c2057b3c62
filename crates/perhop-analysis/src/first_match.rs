//! [`FirstMatch`]: a list of sets, as in an access list. The first set that contains a packet decides about
//! the packet.

use std::collections::BTreeMap;

use perhop_qos::Packet;

use crate::decision_diagram::{Set, TooComplex};
use crate::fields::Field;
use crate::space::PacketSpace;
use crate::witness::value_of;

/// One bit for each variable.
type Bits = [u64; 6];

/// The maximum number of comparisons in one list, which need a few seconds.
const MOST_COMPARISONS: u64 = 20_000_000;

/// A list of sets, in which the first set with a packet is found without checking each set.
///
/// The shape of a set consists of the variables with a single value in the set, up to the first variable with
/// both values. A packet can be in the set only if it has the same values of these variables. Sets of the
/// same shape are therefore looked up by these values (Srinivasan, Suri and Varghese 1999, "Packet
/// Classification using Tuple Space Search"). Even long lists of addresses have few shapes.
#[derive(Debug, Default)]
pub struct FirstMatch {
    sets: Vec<Set>,
    shapes: BTreeMap<Bits, BTreeMap<Bits, Vec<usize>>>,
    comparisons: u64,
}

impl FirstMatch {
    /// Creates an empty list.
    pub fn new() -> FirstMatch {
        FirstMatch::default()
    }
    /// Returns the number of shapes and sets with which packets were compared.
    pub fn comparisons(&self) -> u64 {
        self.comparisons
    }
    /// Adds `set` at the end.
    pub fn push(&mut self, space: &PacketSpace, set: Set) {
        let (mut shape, mut values) = (Bits::default(), Bits::default());
        for (variable, is_one) in space.forced(set) {
            let (word, bit) = place(variable);
            shape[word] |= bit;
            values[word] |= if is_one { bit } else { 0 };
        }
        self.shapes.entry(shape).or_default().entry(values).or_default().push(self.sets.len());
        self.sets.push(set);
    }
    /// Returns the index of the first set that contains `packet`.
    ///
    /// # Errors
    /// There were too many comparisons.
    pub fn first_with(&mut self, space: &PacketSpace, packet: &Packet) -> Result<Option<usize>, TooComplex> {
        let mut bits = Bits::default();
        for field in Field::ALL {
            let value = value_of(packet, field);
            for bit in (0..field.bits()).filter(|bit| value >> (field.bits() - 1 - bit) & 1 == 1) {
                let (word, bit) = place(field.first_variable() + bit);
                bits[word] |= bit;
            }
        }
        self.first(space, &bits)
    }
    /// Whether the sets together contain all packets of `set`.
    ///
    /// # Errors
    /// The set is too complex, or there were too many comparisons.
    pub fn covers(&mut self, space: &mut PacketSpace, set: Set) -> Result<bool, TooComplex> {
        let mut left = set;
        while let Some(ones) = space.member(left) {
            let mut bits = Bits::default();
            for variable in ones {
                let (word, bit) = place(variable);
                bits[word] |= bit;
            }
            let Some(first) = self.first(space, &bits)? else { return Ok(false) };
            left = space.minus(left, self.sets[first])?;
        }
        Ok(true)
    }

    /// Returns the index of the first set that contains the packet with these `bits`.
    fn first(&mut self, space: &PacketSpace, bits: &Bits) -> Result<Option<usize>, TooComplex> {
        let has = |set| {
            space.member_is(set, |variable| {
                let (word, bit) = place(variable);
                bits[word] & bit != 0
            })
        };
        let mut first = usize::MAX;
        for (shape, sets) in &self.shapes {
            self.comparisons += 1;
            let values: Bits = std::array::from_fn(|word| bits[word] & shape[word]);
            for candidate in sets.get(&values).into_iter().flatten() {
                if *candidate >= first {
                    break;
                }
                self.comparisons += 1;
                if has(self.sets[*candidate]) {
                    first = *candidate;
                }
            }
        }
        if self.comparisons > MOST_COMPARISONS {
            return Err(TooComplex);
        }
        Ok((first < usize::MAX).then_some(first))
    }
}

/// Returns the word and the bit of a variable.
fn place(variable: u32) -> (usize, u64) {
    ((variable / 64) as usize, 1 << (variable % 64))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Generates an entry with prefixes of destination and source, and possibly a range of destination ports.
    fn entry() -> impl Strategy<Value = (u32, u32, u32, u32, Option<u16>)> {
        (0_u32..4, 0_u32..3, 0_u32..4, 0_u32..3, prop::option::of(0_u16..4))
    }

    proptest! {
        /// Compares with a linear search through the sets.
        #[test]
        fn agrees_with_a_linear_search(entries in prop::collection::vec(entry(), 1..30)) {
            let mut space = PacketSpace::new(&[]);
            let (mut list, mut sets): (FirstMatch, Vec<Set>) = (FirstMatch::new(), Vec::new());
            for (to, to_length, from, from_length, port) in entries {
                let address = |first_bits: u32| u128::from(first_bits) << 126;
                let to = space.begins(Field::Destination, address(to), to_length).unwrap();
                let from = space.begins(Field::Source, address(from), from_length).unwrap();
                let mut set = space.and(to, from).unwrap();
                if let Some(port) = port {
                    let ports = space.within(Field::DestinationPort, port.into(), 0xffff).unwrap();
                    set = space.and(set, ports).unwrap();
                }
                let all = space.any(sets.clone()).unwrap();
                let rest = space.minus(set, all).unwrap();
                prop_assert_eq!(list.covers(&mut space, set).unwrap(), rest == Set::NONE);
                if let Some(witness) = space.any_packet(set).unwrap() {
                    let plain = sets.iter().position(|before| space.contains(*before, &witness.packet));
                    prop_assert_eq!(list.first_with(&space, &witness.packet).unwrap(), plain);
                }
                list.push(&space, set);
                sets.push(set);
            }
        }
    }

    /// Entries with one port each and any address have one shape, so each lookup takes one comparison.
    #[test]
    fn entries_of_one_shape_take_one_lookup() {
        let mut space = PacketSpace::new(&[]);
        let mut list = FirstMatch::new();
        for port in 0..2_000 {
            let set = space.equals(Field::DestinationPort, port).unwrap();
            assert!(!list.covers(&mut space, set).unwrap());
            list.push(&space, set);
        }
        assert!(list.comparisons() < 2 * 2_000, "{}", list.comparisons());
    }
}
