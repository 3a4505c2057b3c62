//! [`FlowDrops`]: drops by flow.

use perhop_qos::conditioner::Count;
use perhop_qos::packet::FlowKey;
use perhop_qos::verdict::DropCause;

use super::routes::scatter;

/// Numbers of dropped packets, by cause.
pub(crate) type Drops = [Count; DropCause::COUNT];

/// The maximum number of flows that are counted individually. Any sender can create new flows, so further
/// flows are counted together.
const MOST_FLOWS: usize = 1 << 16;

/// The drops of each flow with drops, in the order of their first drops. Flows are found by open addressing;
/// only the first drop of a flow may allocate memory.
#[derive(Debug)]
pub(crate) struct FlowDrops {
    flows: Vec<(FlowKey, Drops)>,
    /// A hash table, at most half full, whose size is a power of two. An entry is 0, or an index of `flows`
    /// plus one.
    places: Vec<u32>,
    /// The counters of all flows above [`MOST_FLOWS`].
    others: Drops,
}

impl FlowDrops {
    pub(crate) fn new() -> FlowDrops {
        FlowDrops { flows: Vec::new(), places: vec![0; 64], others: Drops::default() }
    }
    /// Counts a dropped packet of `flow` with `length` IP bytes.
    pub(crate) fn add(&mut self, flow: &FlowKey, cause: DropCause, length: u32) {
        let place = self.place(flow);
        let drops = match self.places[place] {
            0 if self.flows.len() == MOST_FLOWS => &mut self.others,
            0 => self.enter(flow),
            known => &mut self.flows[known as usize - 1].1,
        };
        drops[cause.index()].add(length);
    }
    /// Each flow with drops.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &(FlowKey, Drops)> {
        self.flows.iter()
    }
    /// The drops of flows that are not counted individually.
    pub(crate) fn others(&self) -> &Drops {
        &self.others
    }

    fn enter(&mut self, flow: &FlowKey) -> &mut Drops {
        if 2 * (self.flows.len() + 1) > self.places.len() {
            self.places = vec![0; 2 * self.places.len()];
            for index in 0..self.flows.len() {
                let place = self.place(&self.flows[index].0);
                self.places[place] = index as u32 + 1;
            }
        }
        let place = self.place(flow);
        self.flows.push((*flow, Drops::default()));
        self.places[place] = self.flows.len() as u32;
        &mut self.flows[self.places[place] as usize - 1].1
    }
    /// The place of `flow`, or the free place for it.
    fn place(&self, flow: &FlowKey) -> usize {
        let ports = u64::from(flow.source_port) << 24 | u64::from(flow.destination_port) << 8;
        let mixed = scatter(flow.source).rotate_left(17) ^ scatter(flow.destination);
        let hash = (mixed ^ ports ^ u64::from(flow.protocol.0)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        let mask = self.places.len() - 1;
        let mut place = hash as usize & mask;
        while self.places[place] != 0 && self.flows[self.places[place] as usize - 1].0 != *flow {
            place = (place + 1) & mask;
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flow_has_its_own_counters_until_there_are_too_many() {
        let flow = |number: u32| FlowKey {
            source: perhop_qos::packet::Address::from_ipv4((0x0a00_0000 + number / 1000).into()),
            source_port: (number % 1000) as u16,
            ..FlowKey::default()
        };
        let mut drops = FlowDrops::new();
        for round in 0..2u32 {
            for number in 0..MOST_FLOWS as u32 + 10 {
                drops.add(&flow(number), DropCause::QueueFull, 100 + round);
            }
        }
        for (number, (key, counted)) in (0..).zip(drops.iter()) {
            assert_eq!(*key, flow(number));
            assert_eq!(counted[DropCause::QueueFull.index()], Count { packets: 2, bytes: 201 });
        }
        assert_eq!(drops.iter().count(), MOST_FLOWS);
        assert_eq!(drops.others()[DropCause::QueueFull.index()].packets, 20);
    }
}
