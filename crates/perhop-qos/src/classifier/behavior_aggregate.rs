//! [`DscpSet`]: conditions on the DS field alone, the behavior aggregate classifier of RFC 2475 §2.3.1.

use crate::packet::{Dscp, IpPrecedence};

/// A set of DSCPs, with one bit for each of the 64 values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DscpSet(u64);

impl DscpSet {
    /// The set of all codepoints.
    pub(crate) const ALL: DscpSet = DscpSet(u64::MAX);

    /// Returns the set of these codepoints.
    pub(crate) fn from_codepoints(codepoints: &[Dscp]) -> DscpSet {
        DscpSet(codepoints.iter().fold(0, |bits, dscp| bits | 1 << dscp.value()))
    }
    /// Returns the codepoints with one of these precedences, the three high bits of a codepoint (RFC 2474
    /// §4.2.2).
    pub(crate) fn of_precedences(precedences: &[IpPrecedence]) -> DscpSet {
        DscpSet(precedences.iter().fold(0, |bits, precedence| bits | 0xff << (precedence.value() * 8)))
    }
    /// Whether the set contains `dscp`.
    pub(crate) fn contains(self, dscp: Dscp) -> bool {
        self.0 >> dscp.value() & 1 == 1
    }
    /// Whether the set is empty.
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }
    /// The codepoints that are in both sets.
    pub(crate) fn intersection(self, other: DscpSet) -> DscpSet {
        DscpSet(self.0 & other.0)
    }
    /// The codepoints that are in at least one of the sets.
    pub(crate) fn union(self, other: DscpSet) -> DscpSet {
        DscpSet(self.0 | other.0)
    }
    /// The codepoints that are not in this set.
    pub(crate) fn complement(self) -> DscpSet {
        DscpSet(!self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_precedence_is_eight_codepoints() {
        let critical = DscpSet::of_precedences(&["critical".parse().unwrap()]);
        for value in 0..64 {
            let dscp = Dscp::new(value).unwrap();
            assert_eq!(critical.contains(dscp), (40..48).contains(&value));
            assert_eq!(critical.complement().contains(dscp), !critical.contains(dscp));
        }
    }
}
