//! [`Classes`]: writing of the classes and queues of one port as commands.

use perhop_device::Notes;
use perhop_qos::classifier::MatchConfig;
use perhop_qos::policy::ClassConfig;

use super::condition::Conditions;
use super::queue::discipline;

/// The first handle of queues, above the numbers of classes.
const HANDLES: u32 = 0x100;

/// A class with a queue.
pub(super) struct Leaf {
    /// The name.
    pub(super) name: String,
    /// The minor number.
    pub(super) minor: u32,
    /// The conditions of its packets; empty for the class of the remaining packets.
    pub(super) matches: Vec<MatchConfig>,
}

/// The commands for the classes and queues of one port.
pub(super) struct Classes<'a> {
    /// The commands, with names as comments.
    pub(super) lines: Vec<String>,
    /// The leaves in the order of classification.
    pub(super) leaves: Vec<Leaf>,
    /// The policy, for messages.
    pub(super) place: &'a str,
    /// The rate of the port, bits per second.
    pub(super) rate_bps: u64,
    pub(super) notes: &'a mut Notes,
    conditions: &'a mut Conditions,
    next: u32,
}

impl<'a> Classes<'a> {
    /// Creates an empty set of classes for a port of `rate_bps` bits per second.
    pub(super) fn new(
        rate_bps: u64,
        place: &'a str,
        conditions: &'a mut Conditions,
        notes: &'a mut Notes,
    ) -> Classes<'a> {
        Classes { lines: Vec::new(), leaves: Vec::new(), place, rate_bps, notes, conditions, next: 0 }
    }

    /// Returns the number of the next class.
    pub(super) fn next_number(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    /// Adds the queue of a class with an approximate rate of `rate` bits per second.
    pub(super) fn add_leaf(
        &mut self,
        class: &ClassConfig,
        minor: u32,
        rate: u64,
        place: &str,
        matches: Vec<MatchConfig>,
    ) {
        let words = discipline(class, rate, self.conditions, &mut self.notes.at(place));
        let handle = minor + HANDLES;
        self.lines.push(format!("tc qdisc add dev \"$DEV\" parent 1:{minor:x} handle {handle:x}: {words}"));
        self.leaves.push(Leaf { name: class.name.clone(), minor, matches });
    }
}
