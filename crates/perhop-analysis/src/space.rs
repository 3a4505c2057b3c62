//! [`PacketSpace`]: sets of packets by the values of their fields.

use perhop_qos::classifier::MatchConfig;

use crate::decision_diagram::{Diagrams, Set, TooComplex};
use crate::fields::Field;
use crate::plain::Plain;

/// A collection of sets of packets.
///
/// Methods that create a set fail if it exceeds the memory limit.
#[derive(Debug)]
pub struct PacketSpace {
    diagrams: Diagrams,
    interfaces: Vec<String>,
    /// The preferences of witnesses, built at first use.
    pub(crate) plain: Option<Plain>,
}

impl PacketSpace {
    /// Creates the space of packets at a node with these `interfaces`, in the order of their numbers.
    pub fn new(interfaces: &[String]) -> PacketSpace {
        PacketSpace { diagrams: Diagrams::new(), interfaces: interfaces.to_vec(), plain: None }
    }
    /// Creates the space of packets at a node with the interfaces that `conditions` name.
    pub fn naming<'a>(conditions: impl IntoIterator<Item = &'a MatchConfig>) -> PacketSpace {
        let mut names = Vec::new();
        conditions.into_iter().for_each(|condition| add_inputs(condition, &mut names));
        names.sort_unstable();
        names.dedup();
        PacketSpace::new(&names)
    }
    /// Returns the number of nodes of all sets, which determines memory and time.
    pub fn nodes(&self) -> usize {
        self.diagrams.len()
    }
    /// Returns the names of the node's interfaces, in the order of their numbers.
    pub fn interfaces(&self) -> &[String] {
        &self.interfaces
    }

    /// Returns the intersection of two sets.
    ///
    /// # Errors
    /// The set is too complex.
    pub fn and(&mut self, left: Set, right: Set) -> Result<Set, TooComplex> {
        self.diagrams.and(left, right)
    }
    /// Returns the union of two sets.
    ///
    /// # Errors
    /// The set is too complex.
    pub fn or(&mut self, left: Set, right: Set) -> Result<Set, TooComplex> {
        self.diagrams.or(left, right)
    }
    /// Returns the difference: the packets of `left` that are not in `right`.
    ///
    /// # Errors
    /// The set is too complex.
    pub fn minus(&mut self, left: Set, right: Set) -> Result<Set, TooComplex> {
        self.diagrams.minus(left, right)
    }
    /// Returns the union of `sets`.
    ///
    /// # Errors
    /// The set is too complex.
    pub fn any(&mut self, sets: Vec<Set>) -> Result<Set, TooComplex> {
        self.in_pairs(sets, Set::NONE, Diagrams::or)
    }
    /// Returns the intersection of `sets`.
    ///
    /// # Errors
    /// The set is too complex.
    pub fn all(&mut self, sets: Vec<Set>) -> Result<Set, TooComplex> {
        self.in_pairs(sets, Set::ALL, Diagrams::and)
    }
    /// Combines sets in pairs, so that each set is used in few large operations.
    fn in_pairs(
        &mut self,
        mut sets: Vec<Set>,
        of_none: Set,
        joined: fn(&mut Diagrams, Set, Set) -> Result<Set, TooComplex>,
    ) -> Result<Set, TooComplex> {
        while sets.len() > 1 {
            let pairs = sets.chunks(2).map(|pair| match pair {
                [one, other] => joined(&mut self.diagrams, *one, *other),
                rest => Ok(rest[0]),
            });
            sets = pairs.collect::<Result<_, _>>()?;
        }
        Ok(sets.first().copied().unwrap_or(of_none))
    }

    /// Returns the packets whose `field` begins with the first `length` bits of `value`, which has the width
    /// of the field.
    ///
    /// # Errors
    /// The set is too complex.
    pub fn begins(&mut self, field: Field, value: u128, length: u32) -> Result<Set, TooComplex> {
        let mut set = Set::ALL;
        for bit in (0..length).rev() {
            let variable = field.first_variable() + bit;
            set = if value >> (field.bits() - 1 - bit) & 1 == 1 {
                self.diagrams.choose(variable, Set::NONE, set)?
            } else {
                self.diagrams.choose(variable, set, Set::NONE)?
            };
        }
        Ok(set)
    }
    /// Returns the packets whose `field` is `value`.
    ///
    /// # Errors
    /// The set is too complex.
    pub fn equals(&mut self, field: Field, value: u128) -> Result<Set, TooComplex> {
        self.begins(field, value, field.bits())
    }
    /// Returns the packets whose `field` is one of `values`.
    ///
    /// # Errors
    /// The set is too complex.
    pub fn is_one_of(
        &mut self,
        field: Field,
        values: impl IntoIterator<Item = u128>,
    ) -> Result<Set, TooComplex> {
        let sets = values.into_iter().map(|value| self.equals(field, value)).collect::<Result<_, _>>()?;
        self.any(sets)
    }
    /// Returns the packets whose `field` is at least `first` and at most `last`.
    ///
    /// # Errors
    /// The set is too complex.
    pub fn within(&mut self, field: Field, first: u128, last: u128) -> Result<Set, TooComplex> {
        let (mut at_least, mut at_most) = (Set::ALL, Set::ALL);
        // The loop begins at the least significant bit. Lower bits matter only if this bit is equal.
        for bit in 0..field.bits() {
            let variable = field.first_variable() + field.bits() - 1 - bit;
            at_least = if first >> bit & 1 == 1 {
                self.diagrams.choose(variable, Set::NONE, at_least)?
            } else {
                self.diagrams.choose(variable, at_least, Set::ALL)?
            };
            at_most = if last >> bit & 1 == 1 {
                self.diagrams.choose(variable, Set::ALL, at_most)?
            } else {
                self.diagrams.choose(variable, at_most, Set::NONE)?
            };
        }
        self.and(at_least, at_most)
    }

    /// Returns the packets that are in `set` after each of `fields` is set to its value. This is the effect
    /// of marking on a set.
    ///
    /// # Errors
    /// The set is too complex.
    pub fn given(&mut self, set: Set, fields: &[(Field, u128)]) -> Result<Set, TooComplex> {
        self.diagrams
            .given(set, &|variable| fields.iter().find_map(|(field, value)| field.bit_of(*value, variable)))
    }
    /// Whether membership in `set` depends on `field`.
    pub fn asks(&self, set: Set, field: Field) -> bool {
        let first = field.first_variable();
        self.diagrams.asks(set, first, first + field.bits())
    }
    /// Whether the packet with 1 for the variables that `is_one` selects is in `set`.
    pub(crate) fn member_is(&self, set: Set, is_one: impl Fn(u32) -> bool) -> bool {
        self.diagrams.contains(set, is_one)
    }
    /// Returns the variables with one value in all packets of `set`, up to the first variable with both
    /// values.
    pub(crate) fn forced(&self, set: Set) -> Vec<(u32, bool)> {
        self.diagrams.forced(set)
    }
    /// Returns the first variable on which `set` depends; `None` if it depends on no variable.
    pub(crate) fn first_variable(&self, set: Set) -> Option<u32> {
        self.diagrams.first_variable(set)
    }
    /// Returns the subsets of `set` in which its first variable is 0 and 1.
    pub(crate) fn halves(&self, set: Set) -> (Set, Set) {
        self.diagrams.halves(set)
    }
    /// Returns the packets that are in `set` for some values of the variables that `is_free` selects.
    pub(crate) fn without(&mut self, set: Set, is_free: impl Fn(u32) -> bool) -> Result<Set, TooComplex> {
        self.diagrams.without(set, &is_free)
    }
    /// Returns the variables that are 1 in one packet of `set`; `None` if the set is empty.
    pub(crate) fn member(&self, set: Set) -> Option<Vec<u32>> {
        self.diagrams.member(set)
    }
}

/// Adds the input interfaces that a condition names.
fn add_inputs(condition: &MatchConfig, names: &mut Vec<String>) {
    names.extend(condition.input.iter().flat_map(|input| input.0.iter().cloned()));
    let inner = condition.all.iter().chain(&condition.any).flatten();
    inner.chain(condition.not.as_deref()).for_each(|inner| add_inputs(inner, names));
}
