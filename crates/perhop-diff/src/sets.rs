//! [`Matches`]: exact comparison of the packets that matches select.

use perhop_analysis::{PacketSpace, Set, TooComplex};
use perhop_qos::classifier::MatchConfig;
use serde_json::Value;

/// The difference between two matches with different texts.
pub(crate) enum MatchDifference {
    /// Both match the same packets, or the difference is reported elsewhere, as moved packets.
    None,
    /// One matches this packet and the other does not.
    Packet(String),
    /// The matches are too complex to compare. Only their texts are known to differ.
    Text,
}

/// The packets at a device, for the comparison of matches.
pub(crate) struct Matches {
    space: PacketSpace,
    /// The number of pairs of matches that were too complex.
    pub(crate) too_complex: usize,
}

impl Matches {
    /// Creates the comparison for a device with these interfaces.
    pub(crate) fn at(interfaces: &[String]) -> Matches {
        Matches { space: PacketSpace::new(interfaces), too_complex: 0 }
    }

    /// Compares the matches of two queues or conditioners; a missing match matches all packets. The packets
    /// of a queue also depend on earlier queues, so differences between queues are reported as moved packets.
    pub(crate) fn compare(
        &mut self,
        is_queue: bool,
        old: Option<&Value>,
        new: Option<&Value>,
    ) -> MatchDifference {
        if is_queue {
            return MatchDifference::None;
        }
        let sets = self.packets_of(old).and_then(|old| Ok([old, self.packets_of(new)?]));
        self.difference(sets)
    }

    /// Compares the packets that two access lists permit.
    pub(crate) fn compare_lists(&mut self, old: &Value, new: &Value) -> MatchDifference {
        if old["defined"] != new["defined"] {
            return MatchDifference::Text;
        }
        let sets = self.permitted(old).and_then(|old| Ok([old, self.permitted(new)?]));
        self.difference(sets)
    }

    /// Returns the packets that an access list permits. The first matching entry applies.
    fn permitted(&mut self, list: &Value) -> Result<Set, TooComplex> {
        let decision = |value: &Value| value.as_str() == Some("permit");
        let mut set = if decision(&list["rest"]) { Set::ALL } else { Set::NONE };
        for entry in list["entries"].as_array().into_iter().flatten().rev() {
            let taken = self.packets_of(Some(&entry[1]))?;
            set = if decision(&entry[0]) {
                self.space.or(taken, set)?
            } else {
                self.space.minus(set, taken)?
            };
        }
        Ok(set)
    }

    fn difference(&mut self, sets: Result<[Set; 2], TooComplex>) -> MatchDifference {
        match sets.and_then(|[old, new]| self.packet(old, new)) {
            Ok(Some(packet)) => MatchDifference::Packet(packet),
            Ok(None) => MatchDifference::None,
            Err(TooComplex) => {
                self.too_complex += 1;
                MatchDifference::Text
            }
        }
    }

    /// Returns a packet that is in exactly one of two sets.
    fn packet(&mut self, old: Set, new: Set) -> Result<Option<String>, TooComplex> {
        let gone = self.space.minus(old, new)?;
        let joined = self.space.minus(new, old)?;
        let either = self.space.or(gone, joined)?;
        Ok(self.space.witness(either)?.map(|witness| witness.to_string()))
    }

    /// Returns a packet that matches `condition`.
    pub(crate) fn witness(&mut self, condition: Option<&Value>) -> Option<String> {
        let taken = self.packets_of(condition).ok()?;
        self.space.witness(taken).ok()?.map(|witness| witness.to_string())
    }

    fn packets_of(&mut self, condition: Option<&Value>) -> Result<Set, TooComplex> {
        let config = condition.and_then(|value| serde_json::from_value::<MatchConfig>(value.clone()).ok());
        config.map_or(Ok(Set::ALL), |config| self.space.taken_by(&config))
    }
}
