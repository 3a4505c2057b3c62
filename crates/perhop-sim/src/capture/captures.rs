//! [`Captures`]: the options of captures. [`Captured`]: a written file. [`captured`]: the directions of links
//! to capture.

use std::io::{self, Write};

use perhop_capture::SnapLength;
use perhop_qos::units::Time;
use perhop_scenario::{LinkConfig, Scenario};

/// The default limit on the packets of one file. Few programs can open larger files.
pub const MOST_PACKETS: u64 = 10_000_000;

/// Options of captures.
pub struct Captures<'a> {
    /// Creates a file with the given name.
    pub create: &'a (dyn Fn(&str) -> io::Result<Box<dyn Write + Send>> + Sync),
    /// The number of bytes of each frame that are stored.
    pub snap_length: SnapLength,
    /// The limit on the packets of one file. Later packets are omitted.
    pub most_packets: u64,
}

/// A written file with the packets of one link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// Name of the file: `C1--E3.pcapng`.
    pub name: String,
    /// The captured directions, in the order of the file's interfaces: `C1->E3`.
    pub interfaces: Vec<String>,
    /// The number of packets in the file.
    pub packets: u64,
    /// The number of these packets that were dropped.
    pub dropped: u64,
    /// Time of the first omitted packet, if the limit was reached.
    pub full_at: Option<Time>,
}

/// Returns the directions of links to capture. These are the directions that `scenario` names. If it names
/// none, they are both directions of every link with a policy at one of its ends, or of all links if no link
/// has a policy.
pub(crate) fn captured(scenario: &Scenario) -> Vec<[String; 2]> {
    let named = &scenario.measure.captures;
    if !named.is_empty() {
        return named.iter().map(|capture| [capture.from.clone(), capture.to.clone()]).collect();
    }
    let has_policy = |link: &&LinkConfig| {
        link.interfaces.values().any(|interface| interface.input.is_some() || interface.output.is_some())
    };
    let both = |link: &LinkConfig| {
        let [a, b] = link.between.clone();
        [[a.clone(), b.clone()], [b, a]]
    };
    let around: Vec<[String; 2]> = scenario.links.iter().filter(has_policy).flat_map(both).collect();
    if around.is_empty() { scenario.links.iter().flat_map(both).collect() } else { around }
}
