//! [`Ports`]: the client ports that distinguish flows in a capture.

use perhop_qos::packet::Packet;
use perhop_scenario::{Scenario, TrafficConfig};

/// The client ports of a scenario's flows in captures.
///
/// In the simulation, a flow has the ports of the scenario, so two traffic entries without ports have equal
/// ports. In a capture, equal ports would merge the two entries into one conversation. Flows of entries with
/// equal ends, and the connections of a flow, therefore have consecutive ports in captures.
pub(crate) struct Ports(Vec<Place>);

/// The place of a traffic entry among the entries with equal ends.
#[derive(Clone, Copy)]
struct Place {
    first: u16,
    /// The number of flows of the earlier entries with equal ends.
    before: u64,
    /// The number of flows of all entries with equal ends.
    flows: u64,
}

impl Ports {
    pub(crate) fn assign(scenario: &Scenario) -> Ports {
        let all = &scenario.traffic;
        let flows = |entries: &[TrafficConfig], own: &TrafficConfig| -> u64 {
            entries.iter().filter(|entry| ends(entry) == ends(own)).map(|entry| u64::from(entry.count)).sum()
        };
        let place = |(index, own): (usize, &TrafficConfig)| Place {
            first: own.source_port,
            before: flows(&all[..index], own),
            flows: flows(all, own),
        };
        Ports(all.iter().enumerate().map(place).collect())
    }

    /// Returns the client port of connection `number` of flow `flow` of traffic entry `traffic`.
    pub(crate) fn client(&self, traffic: usize, flow: u32, number: u64) -> u16 {
        let Place { first, before, flows } = self.0[traffic];
        let above = before + u64::from(flow) + number * flows;
        first + (above % (0x1_0000 - u64::from(first))) as u16
    }

    /// Sets the client port in `packet`, a datagram of flow `flow` of traffic entry `traffic`. Packets of
    /// recordings keep their ports.
    pub(crate) fn assign_port(&self, traffic: usize, flow: u32, packet: &mut Packet) {
        if packet.source_port == self.0[traffic].first.wrapping_add(flow as u16) {
            packet.source_port = self.client(traffic, flow, 0);
        }
    }
}

/// The fields of a traffic entry that determine its ports. Entries with equal fields have equal ports.
fn ends(traffic: &TrafficConfig) -> (&str, &str, u8, u16, u16) {
    let TrafficConfig { from, to, source_port, destination_port, .. } = traffic;
    (from, to, traffic.protocol().0, *source_port, *destination_port)
}
