//! [`PolicyReading`]: the numbers in the output of a device.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::intent::Direction;

/// One row of the table of random early detection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EarlyDropReading {
    /// The precedence or codepoint, as printed.
    pub value: String,
    /// The average queue length above which packets are dropped at random.
    pub min: u64,
    /// The average queue length above which all packets are dropped.
    pub max: u64,
    /// One in this number of packets is dropped just below `max`.
    pub mark_denominator: u64,
    /// Packets that left the queue.
    pub transmitted_packets: u64,
    /// Packets dropped at random.
    pub random_packets: u64,
    /// Packets dropped because the queue was at a limit.
    pub tail_packets: u64,
}

/// The numbers of a class, or of a queue that several classes share.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ClassReading {
    /// The names of the enclosing classes and of the class, the outermost first.
    pub path: Vec<String>,
    /// Numbers by name. The front end defines the names.
    pub numbers: BTreeMap<String, u64>,
    /// The rows of the table of random early detection.
    pub early_drops: Vec<EarlyDropReading>,
    /// The actions of the policer, by color as printed.
    pub actions: BTreeMap<String, Vec<String>>,
}

impl ClassReading {
    /// Returns the path with `/` between the names.
    pub fn name(&self) -> String {
        self.path.join("/")
    }

    /// Returns the number with the name `name`.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.numbers.get(name).copied()
    }
}

/// The numbers of a policy at an interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PolicyReading {
    /// The interface; empty if the output does not name it.
    pub interface: String,
    /// The direction of the packets.
    pub side: Direction,
    /// The name of the policy.
    pub name: String,
    /// The classes, including inner classes.
    pub classes: Vec<ClassReading>,
}
