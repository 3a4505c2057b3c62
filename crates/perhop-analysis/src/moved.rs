//! [`moved`]: packets that wait in different queues of two nodes.

use perhop_qos::policy::PolicyConfig;
use serde::Serialize;

use crate::classes::classes_of;
use crate::conditioning::{arriving, before, departing};
use crate::decision_diagram::{Set, TooComplex};
use crate::space::PacketSpace;
use crate::trace::Node;

/// A packet that waits in different queues in two nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Moved {
    /// The packet's queue in the first node; `None` if the packet matches no class.
    pub before: Option<String>,
    /// The packet's queue in the second node.
    pub after: Option<String>,
    /// The packet, as it arrives.
    pub packet: String,
}

/// A queue, and the arriving packets that can reach it. The queue is `None` for packets that match no class.
type Source = (Option<String>, Set);

impl Node<'_> {
    /// Returns the arriving packets that can enter the queues of this node as a packet of `queued`.
    ///
    /// # Errors
    /// The sets are too complex.
    pub fn came_from(&self, space: &mut PacketSpace, queued: Set) -> Result<Set, TooComplex> {
        let conditioners = |policy: Option<&PolicyConfig>, space: &mut PacketSpace, set| match policy {
            Some(policy) => before(space, &policy.conditioners, set),
            None => Ok(set),
        };
        let set = conditioners(self.output, space, queued)?;
        let set = departing(space, self.encapsulation, set)?;
        conditioners(self.input, space, set)
    }

    /// Returns the packets of `arrived` that can reach each queue. Packets that match no class have no queue.
    /// A port without classes has one queue, which has no name.
    fn sources(&self, space: &mut PacketSpace, arrived: Set) -> Result<Vec<Source>, TooComplex> {
        let queueing = self.output.and_then(|policy| policy.queueing.as_ref());
        let Some(queueing) = queueing else { return Ok(vec![(None, arrived)]) };
        let mut found = Vec::new();
        let mut nowhere = Set::ALL;
        for class in classes_of(space, queueing, Set::ALL)? {
            nowhere = space.minus(nowhere, class.takes)?;
            let set = self.came_from(space, class.takes)?;
            found.push((Some(class.name), space.and(set, arrived)?));
        }
        if nowhere != Set::NONE {
            let set = self.came_from(space, nowhere)?;
            found.push((None, space.and(set, arrived)?));
        }
        Ok(found)
    }
}

/// Returns a packet for each pair of different queues of two nodes. The packet can reach the first queue in
/// the first node and the second queue in the second node. It arrives on the interface `arrives`, or on any
/// interface. The result is exact for the fields that conditions contain. With meters, it is correct for at
/// least one history of their traffic.
///
/// # Errors
/// The sets are too complex.
pub fn moved(first: &Node, second: &Node, arrives: Option<&str>) -> Result<Vec<Moved>, TooComplex> {
    let mut interfaces = first.interfaces.to_vec();
    interfaces.extend(second.interfaces.iter().filter(|name| !first.interfaces.contains(name)).cloned());
    let mut space = PacketSpace::new(&interfaces);
    let number = arrives.and_then(|name| interfaces.iter().position(|interface| interface == name));
    let arrived = arriving(&mut space, number)?;
    let (from, to) = (first.sources(&mut space, arrived)?, second.sources(&mut space, arrived)?);
    let mut found = Vec::new();
    for (before, set) in &from {
        for (after, other) in to.iter().filter(|(after, _)| after != before) {
            let both = space.and(*set, *other)?;
            // Packets that can reach both queues in both nodes, depending on meters, have not moved.
            let exchanged = space.and(set_of(&from, after.as_ref()), set_of(&to, before.as_ref()))?;
            let both = space.minus(both, exchanged)?;
            if let Some(witness) = space.witness(both)? {
                let (before, after) = (before.clone(), after.clone());
                found.push(Moved { before, after, packet: witness.to_string() });
            }
        }
    }
    Ok(found)
}

fn set_of(sources: &[Source], queue: Option<&String>) -> Set {
    sources.iter().find(|(name, _)| name.as_ref() == queue).map_or(Set::NONE, |(_, set)| *set)
}
