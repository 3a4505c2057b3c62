//! [`Divider`]: assigns the elements of a network to the drafts of its parts.

use std::collections::BTreeMap;

use perhop_net::agenda::Slot;
use perhop_net::{Direction, Event};
use perhop_qos::units::Time;
use perhop_scenario::routing::LinkId;

use super::draft::{Draft, far_side};
use super::place::{Place, Places};
use crate::event::{HostEvent, SimAgenda};
use crate::hosts::{FarNode, FlowSource, Hosts, QueueProbe};
use crate::parallel::numbering::Border;
use crate::parallel::partition::Partition;
use crate::setup::{Crossing, Entering};

/// The drafts of the parts, and the places of the elements of the whole network.
pub(super) struct Divider {
    pub(super) drafts: Vec<Draft>,
    /// By link: the place of the side with the port.
    pub(super) near: Vec<Place>,
    /// By link: the place of the other side if it is in another part and packets cross the border.
    pub(super) far: Vec<Option<Place>>,
    /// By start of a path: the stretches of the path. Each stretch is a part and the start of the path in
    /// this part.
    stretches: BTreeMap<u32, Vec<(usize, u32)>>,
    /// By flow: the places of the flow at its sender and at its receiver.
    pub(super) flow_ends: Vec<[Place; 2]>,
    /// By slot: the slot of the same event in its part.
    pub(super) slots: Vec<Slot>,
    pub(super) places: Places,
}

impl Divider {
    /// Creates the drafts and numbers their links.
    pub(super) fn new(partition: &Partition, hosts: &Hosts, entering: &[Entering]) -> Divider {
        let links = hosts.far_nodes.len();
        let crosses = partition.crossed(hosts);
        let mut divider = Divider {
            drafts: (0..partition.parts()).map(|_| Draft::new(&hosts.measurements)).collect(),
            near: Vec::with_capacity(links),
            far: Vec::with_capacity(links),
            stretches: BTreeMap::new(),
            flow_ends: Vec::with_capacity(hosts.flow_paths.len()),
            slots: Vec::new(),
            places: Places::default(),
        };
        for (index, crosses) in crosses.into_iter().enumerate() {
            let (link, far_node) = (LinkId(index as u32), hosts.far_nodes[index]);
            let [near, far] = partition.sides(link);
            // A path through the near part ends at the border.
            let (crossing, near_node) =
                if crosses { (Crossing::Leaves, FarNode::Host) } else { (Crossing::Inside, far_node) };
            let number = divider.drafts[near].add_link(link, crossing, near_node, entering[index]);
            divider.near.push(Place { part: near, number });
            divider.far.push(crosses.then(|| {
                let draft = &mut divider.drafts[far];
                let number = draft.add_link(link, Crossing::Enters, far_node, Entering::Sources);
                Place { part: far, number }
            }));
        }
        divider
    }

    /// Adds `flow` to each part that its path passes. If the path returns to a part, the flow is added again.
    pub(super) fn add_flow(&mut self, flow: usize, hosts: &Hosts) {
        let path = hosts.flow_paths[flow];
        if !self.stretches.contains_key(&path) {
            let stretches = self.stretches_of(hosts.path(flow));
            self.stretches.insert(path, stretches);
        }
        let mut ends: Option<[Place; 2]> = None;
        for (part, start) in &self.stretches[&path] {
            let number = self.drafts[*part].add_flow(flow, *start, hosts.templates[flow]);
            let place = Place { part: *part, number };
            if let Some([_, before]) = ends {
                self.drafts[before.part].numbering.onward[before.number] = number as u32;
            }
            ends = Some([ends.map_or(place, |[first, _]| first), place]);
        }
        self.flow_ends.push(ends.unwrap_or_default());
    }

    /// Adds the stretches of `path` to their parts, and returns them. A stretch begins with the far side of
    /// the link over which packets enter the part, and ends with the near side of the link over which they
    /// leave.
    fn stretches_of(&mut self, path: impl Iterator<Item = LinkId>) -> Vec<(usize, u32)> {
        let (mut stretches, mut stretch) = (Vec::new(), Vec::new());
        let mut part = 0;
        for link in path {
            let near = self.near[link.index()];
            part = near.part;
            stretch.push(LinkId(near.number as u32));
            if let Some(far) = self.far[link.index()] {
                stretches.push((part, self.drafts[part].add_path(&stretch)));
                part = far.part;
                stretch = vec![LinkId(far.number as u32)];
            }
        }
        stretches.push((part, self.drafts[part].add_path(&stretch)));
        stretches
    }

    /// Registers the events of `agenda` in their parts, and schedules the pending events.
    pub(super) fn add_events(&mut self, agenda: SimAgenda, warmup: Time) {
        let (registered, pending) = agenda.into_parts();
        for event in &registered {
            let slot = match *event {
                Event::Arrival(link) => {
                    let Place { part, number } = self.far[link.index()].unwrap_or(self.near[link.index()]);
                    self.drafts[part].agenda.register(Event::Arrival(LinkId(number as u32)))
                }
                Event::Poll(link) => {
                    let Place { part, number } = self.near[link.index()];
                    self.drafts[part].agenda.register(Event::Poll(LinkId(number as u32)))
                }
                Event::Pause(_) => unreachable!("a network with pauses is not divided"),
                Event::Edge(HostEvent::WarmupEnds) => self.add_end_of_warmup(warmup),
                Event::Edge(event) => {
                    let (part, event) = self.renumbered(event);
                    self.drafts[part].agenda.register(Event::Edge(event))
                }
            };
            self.slots.push(slot);
        }
        for (time, slot) in pending {
            let part = match registered[slot.index()] {
                Event::Arrival(link) | Event::Poll(link) | Event::Pause(link) => self.near[link.index()].part,
                // This event is scheduled when it is registered.
                Event::Edge(HostEvent::WarmupEnds) => continue,
                Event::Edge(event) => self.renumbered(event).0,
            };
            self.drafts[part].agenda.schedule(self.slots[slot.index()], time);
        }
    }

    /// Registers and schedules the end of the warm-up in every part. Returns one of its slots.
    fn add_end_of_warmup(&mut self, warmup: Time) -> Slot {
        let event = Event::Edge(HostEvent::WarmupEnds);
        let slots = self.drafts.iter_mut().map(|Draft { agenda, .. }| {
            let slot = agenda.register(event);
            agenda.schedule(slot, warmup);
            slot
        });
        // A division has at least two parts.
        slots.last().unwrap_or_else(|| unreachable!("a network without parts"))
    }

    /// Adds `direction`, the next link of the whole network.
    pub(super) fn add_direction(&mut self, link: usize, mut direction: Direction) {
        let [arrival, poll] = [direction.arrival, direction.poll].map(|slot| self.slots[slot.index()]);
        (direction.arrival, direction.poll) = (arrival, poll);
        // Ports that share memory are in one node and therefore in one part.
        for sharer in direction.sharers_mut() {
            *sharer = LinkId(self.near[sharer.index()].number as u32);
        }
        if let Some(far) = self.far[link] {
            // Packets on this link are moved to the other part before they arrive. The scheduled wake-up for
            // an arrival is therefore a poll without effect.
            direction.arrival = poll;
            self.drafts[far.part].directions.push(far_side(&mut direction, arrival));
            let border = Border {
                link: LinkId(self.near[link].number as u32),
                part: far.part,
                mailbox: 0,
                far_link: LinkId(far.number as u32),
                delay: direction.delay,
            };
            self.drafts[self.near[link].part].numbering.borders.push(border);
        }
        self.drafts[self.near[link].part].directions.push(direction);
    }

    pub(super) fn add_sources(&mut self, sources: Vec<FlowSource>) {
        for mut source in sources {
            let [Place { part, number }, _] = self.flow_ends[source.flow];
            source.flow = number;
            self.drafts[part].sources.push(source);
        }
    }

    pub(super) fn add_queue_probes(&mut self, probes: Vec<QueueProbe>) {
        for (index, mut probe) in probes.into_iter().enumerate() {
            let Place { part, number } = self.near[probe.link.index()];
            (probe.link, probe.slot) = (LinkId(number as u32), self.slots[probe.slot.index()]);
            self.drafts[part].queue_probes.push(probe);
            self.drafts[part].numbering.queue_probes.push(index);
        }
    }
}
