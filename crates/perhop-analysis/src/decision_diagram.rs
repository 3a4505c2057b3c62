//! [`Diagrams`]: reduced ordered binary decision diagrams in one table, so that equal sets share one node.
//!
//! Bryant 1986, "Graph-Based Algorithms for Boolean Function Manipulation", IEEE Transactions on Computers
//! C-35(8): `apply` with a table of known results.

use std::error::Error;
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};

/// A set of packets, or of other assignments of the variables. The value is the number of a node in the table
/// that created the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Set(u32);

impl Set {
    /// The empty set.
    pub const NONE: Set = Set(0);
    /// The set of all assignments.
    pub const ALL: Set = Set(1);
}

/// The error that a set needs more nodes than the limit, or that a list of sets needs more comparisons than
/// the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooComplex;

impl fmt::Display for TooComplex {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(
            formatter,
            "the conditions are too complex: perhop would need too many nodes or comparisons \
                           for their packets"
        )
    }
}
impl Error for TooComplex {}

/// The maximum number of nodes. With the tables, they occupy about 150 MB. Two thousand random access-list
/// entries need 600,000 nodes.
const MOST_NODES: usize = 2_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Node {
    variable: u32,
    /// The subset in which the variable is 0.
    without: Set,
    /// The subset in which the variable is 1.
    with: Set,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Operation {
    And,
    Or,
    /// The members of the first set that are not in the second.
    Minus,
}

/// A hash that multiplies and folds, because the keys are a few small numbers (Knuth, "The Art of Computer
/// Programming", volume 3, §6.4: multiplicative hashing).
#[derive(Default)]
struct Multiplying(u64);

impl Hasher for Multiplying {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }
    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }
    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(23) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    fn write_isize(&mut self, number: isize) {
        self.write_u64(number as u64);
    }
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}

#[expect(clippy::disallowed_types, reason = "no iteration, so the order of entries has no effect")]
type Table<Key> = std::collections::HashMap<Key, Set, BuildHasherDefault<Multiplying>>;

/// All sets, and the results of operations on them.
#[derive(Debug)]
pub(crate) struct Diagrams {
    nodes: Vec<Node>,
    unique: Table<Node>,
    known: Table<(Operation, Set, Set)>,
}

impl Diagrams {
    /// Creates a table with the empty set and the set of all assignments.
    pub(crate) fn new() -> Diagrams {
        let terminal = |set| Node { variable: u32::MAX, without: set, with: set };
        Diagrams {
            nodes: vec![terminal(Set::NONE), terminal(Set::ALL)],
            unique: Table::default(),
            known: Table::default(),
        }
    }
    /// Returns the number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }
    /// Returns the set that is `without` if `variable` is 0, and `with` if it is 1. Neither set depends on an
    /// earlier variable.
    pub(crate) fn choose(&mut self, variable: u32, without: Set, with: Set) -> Result<Set, TooComplex> {
        if without == with {
            return Ok(with);
        }
        let node = Node { variable, without, with };
        if let Some(set) = self.unique.get(&node) {
            return Ok(*set);
        }
        if self.nodes.len() >= MOST_NODES {
            return Err(TooComplex);
        }
        let set = Set(self.nodes.len() as u32);
        self.nodes.push(node);
        self.unique.insert(node, set);
        Ok(set)
    }
    /// Returns the intersection of two sets.
    pub(crate) fn and(&mut self, left: Set, right: Set) -> Result<Set, TooComplex> {
        self.apply(Operation::And, left.min(right), left.max(right))
    }
    /// Returns the union of two sets.
    pub(crate) fn or(&mut self, left: Set, right: Set) -> Result<Set, TooComplex> {
        self.apply(Operation::Or, left.min(right), left.max(right))
    }
    /// Returns the difference: the members of `left` that are not in `right`.
    pub(crate) fn minus(&mut self, left: Set, right: Set) -> Result<Set, TooComplex> {
        self.apply(Operation::Minus, left, right)
    }

    fn apply(&mut self, operation: Operation, left: Set, right: Set) -> Result<Set, TooComplex> {
        if let Some(known) = at_once(operation, left, right) {
            return Ok(known);
        }
        if let Some(known) = self.known.get(&(operation, left, right)) {
            return Ok(*known);
        }
        let (first, second) = (self.nodes[left.0 as usize], self.nodes[right.0 as usize]);
        let variable = first.variable.min(second.variable);
        let halves = |node: Node, set| {
            if node.variable == variable { (node.without, node.with) } else { (set, set) }
        };
        let (first_without, first_with) = halves(first, left);
        let (second_without, second_with) = halves(second, right);
        let without = self.apply_ordered(operation, first_without, second_without)?;
        let with = self.apply_ordered(operation, first_with, second_with)?;
        let set = self.choose(variable, without, with)?;
        self.known.insert((operation, left, right), set);
        Ok(set)
    }
    /// Applies a commutative operation with its operands in a fixed order, so that a stored result is found
    /// for both orders.
    fn apply_ordered(&mut self, operation: Operation, left: Set, right: Set) -> Result<Set, TooComplex> {
        match operation {
            Operation::And => self.and(left, right),
            Operation::Or => self.or(left, right),
            Operation::Minus => self.minus(left, right),
        }
    }

    /// Returns the assignments that are in `set` when the variables in `given` are set to these values. The
    /// result does not depend on these variables.
    pub(crate) fn given(
        &mut self,
        set: Set,
        given: &impl Fn(u32) -> Option<bool>,
    ) -> Result<Set, TooComplex> {
        self.given_with(set, given, &mut Table::default())
    }
    fn given_with(
        &mut self,
        set: Set,
        given: &impl Fn(u32) -> Option<bool>,
        known: &mut Table<Set>,
    ) -> Result<Set, TooComplex> {
        if set == Set::NONE || set == Set::ALL {
            return Ok(set);
        }
        if let Some(known) = known.get(&set) {
            return Ok(*known);
        }
        let Node { variable, without, with } = self.nodes[set.0 as usize];
        let found = match given(variable) {
            Some(true) => self.given_with(with, given, known)?,
            Some(false) => self.given_with(without, given, known)?,
            None => {
                let without = self.given_with(without, given, known)?;
                let with = self.given_with(with, given, known)?;
                self.choose(variable, without, with)?
            }
        };
        known.insert(set, found);
        Ok(found)
    }

    /// Returns the assignments that are in `set` for at least one choice of the variables that `is_free`
    /// selects. The result does not depend on these variables.
    pub(crate) fn without(&mut self, set: Set, is_free: &impl Fn(u32) -> bool) -> Result<Set, TooComplex> {
        self.without_with(set, is_free, &mut Table::default())
    }
    fn without_with(
        &mut self,
        set: Set,
        is_free: &impl Fn(u32) -> bool,
        known: &mut Table<Set>,
    ) -> Result<Set, TooComplex> {
        if set == Set::NONE || set == Set::ALL {
            return Ok(set);
        }
        if let Some(known) = known.get(&set) {
            return Ok(*known);
        }
        let Node { variable, without, with } = self.nodes[set.0 as usize];
        let without = self.without_with(without, is_free, known)?;
        let with = self.without_with(with, is_free, known)?;
        let found =
            if is_free(variable) { self.or(without, with)? } else { self.choose(variable, without, with)? };
        known.insert(set, found);
        Ok(found)
    }
    /// Returns the first variable on which `set` depends; `None` if it depends on no variable.
    pub(crate) fn first_variable(&self, set: Set) -> Option<u32> {
        Some(self.nodes[set.0 as usize].variable).filter(|variable| *variable != u32::MAX)
    }
    /// Returns the subsets of `set` in which its first variable is 0 and 1.
    pub(crate) fn halves(&self, set: Set) -> (Set, Set) {
        let Node { without, with, .. } = self.nodes[set.0 as usize];
        (without, with)
    }

    /// Returns a member of `set`: the variables with value 1, in ascending order. All other variables are 0.
    /// `None` if the set is empty.
    pub(crate) fn member(&self, mut set: Set) -> Option<Vec<u32>> {
        let mut ones = Vec::new();
        while set != Set::ALL {
            if set == Set::NONE {
                return None;
            }
            let node = self.nodes[set.0 as usize];
            // Every node except the empty set has a member, so the search never fails.
            set = if node.without == Set::NONE {
                ones.push(node.variable);
                node.with
            } else {
                node.without
            };
        }
        Some(ones)
    }
    /// Returns the variables that have the same value in all members of `set`, with this value. Stops at the
    /// first variable with both values.
    pub(crate) fn forced(&self, mut set: Set) -> Vec<(u32, bool)> {
        let mut found = Vec::new();
        while set != Set::NONE && set != Set::ALL {
            let Node { variable, without, with } = self.nodes[set.0 as usize];
            let is_one = without == Set::NONE;
            if !is_one && with != Set::NONE {
                break;
            }
            found.push((variable, is_one));
            set = if is_one { with } else { without };
        }
        found
    }
    /// Whether membership in `set` depends on a variable from `first` up to but not including `end`.
    pub(crate) fn asks(&self, set: Set, first: u32, end: u32) -> bool {
        let mut seen = Table::default();
        let mut next = vec![set];
        while let Some(set) = next.pop() {
            let node = self.nodes[set.0 as usize];
            // The variables of a diagram ascend from the root, so no variable of the range follows a later
            // variable.
            if node.variable >= end || seen.insert(set, set).is_some() {
                continue;
            }
            if node.variable >= first {
                return true;
            }
            next.extend([node.without, node.with]);
        }
        false
    }
    /// Whether the assignment with 1 for the variables that `is_one` selects is a member of `set`.
    pub(crate) fn contains(&self, mut set: Set, is_one: impl Fn(u32) -> bool) -> bool {
        while set != Set::ALL && set != Set::NONE {
            let node = self.nodes[set.0 as usize];
            set = if is_one(node.variable) { node.with } else { node.without };
        }
        set == Set::ALL
    }
}

/// Returns the result of an operation that needs no new nodes; `None` for other operations.
#[expect(clippy::match_same_arms, reason = "operation by operation")]
fn at_once(operation: Operation, left: Set, right: Set) -> Option<Set> {
    match (operation, left, right) {
        (Operation::And, Set::NONE, _) | (Operation::And, _, Set::NONE) => Some(Set::NONE),
        (Operation::And, Set::ALL, set) | (Operation::And, set, Set::ALL) => Some(set),
        (Operation::Or, Set::NONE, set) | (Operation::Or, set, Set::NONE) => Some(set),
        (Operation::Or, Set::ALL, _) | (Operation::Or, _, Set::ALL) => Some(Set::ALL),
        (Operation::Minus, Set::NONE, _) | (Operation::Minus, _, Set::ALL) => Some(Set::NONE),
        (Operation::Minus, set, Set::NONE) => Some(set),
        (Operation::And | Operation::Or, left, right) if left == right => Some(left),
        (Operation::Minus, left, right) if left == right => Some(Set::NONE),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const VARIABLES: u32 = 5;

    /// Creates a set from the truth table of five variables. Bit `n` is 1 if `n` is a member.
    fn from_truth_table(diagrams: &mut Diagrams, table: u32, variable: u32, above: u32) -> Set {
        if variable == VARIABLES {
            return if table >> above & 1 == 1 { Set::ALL } else { Set::NONE };
        }
        let without = from_truth_table(diagrams, table, variable + 1, above);
        let with = from_truth_table(diagrams, table, variable + 1, above | 1 << variable);
        diagrams.choose(variable, without, with).unwrap()
    }
    fn table(diagrams: &Diagrams, set: Set) -> u32 {
        (0..32).fold(0, |bits, n| bits | u32::from(diagrams.contains(set, |v| n >> v & 1 == 1)) << n)
    }

    proptest! {
        #[test]
        fn operations_agree_with_truth_tables(left: u32, right: u32, variable in 0..VARIABLES, is_one: bool) {
            let mut diagrams = Diagrams::new();
            let (a, b) = (from_truth_table(&mut diagrams, left, 0, 0), from_truth_table(&mut diagrams, right, 0, 0));
            let both = diagrams.and(a, b).unwrap();
            prop_assert_eq!(table(&diagrams, both), left & right);
            let either = diagrams.or(a, b).unwrap();
            prop_assert_eq!(table(&diagrams, either), left | right);
            let rest = diagrams.minus(a, b).unwrap();
            prop_assert_eq!(table(&diagrams, rest), left & !right);
            // Equal sets share one node, regardless of the operations that created them.
            let again = diagrams.or(both, rest).unwrap();
            prop_assert_eq!(again, a);
            let given = diagrams.given(a, &|v| (v == variable).then_some(is_one)).unwrap();
            let expected = (0..32u32).fold(0, |bits, n| {
                let n_given = if is_one { n | 1 << variable } else { n & !(1 << variable) };
                bits | (left >> n_given & 1) << n
            });
            prop_assert_eq!(table(&diagrams, given), expected);
            match diagrams.member(a) {
                None => prop_assert_eq!(left, 0),
                Some(ones) => {
                    let member = ones.iter().fold(0, |bits, v| bits | 1u32 << v);
                    prop_assert!(left >> member & 1 == 1);
                }
            }
        }
    }
}
