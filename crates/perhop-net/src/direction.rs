//! [`Direction`]: one direction of a link, from the output side of one interface to the input side of the
//! next.

use std::collections::BTreeMap;
use std::mem::offset_of;
use std::sync::Arc;

use perhop_measure::counters::{PoolDrops, PortTally};
use perhop_qos::buffer::{PoolKey, PortMemory};
use perhop_qos::conditioner::TrafficConditioner;
use perhop_qos::framing::Fragmentation;
use perhop_qos::packet::{Ingress, Packet};
use perhop_qos::port::Port;
use perhop_qos::random::Stream;
use perhop_qos::units::Time;
use perhop_qos::verdict::DropCause;
use perhop_scenario::routing::LinkId;

use crate::agenda::Slot;
use crate::counters::DropPoint;
use crate::flights::{Flights, InFlight};

/// Random loss on a wire. Each packet can be lost, or each fragment if the wire fragments packets.
#[derive(Debug)]
pub struct Loss {
    /// Loss probability of a packet or fragment.
    pub probability: f64,
    /// The random stream of the draws.
    pub stream: Stream,
    /// The fragmentation by the wire's headers, if any.
    pub fragmentation: Option<Fragmentation>,
}

impl Loss {
    /// Whether the next packet, of `length` IP bytes, is lost. Draws a random number for each fragment until
    /// one is lost.
    pub fn loses_packet(&mut self, length: u32) -> bool {
        let fragments = self.fragmentation.as_ref().map_or(1, |fragmentation| fragmentation.count(length));
        (0..fragments).any(|_| self.stream.uniform() < self.probability)
    }
}

/// One direction of a link.
///
/// A network has many directions, so the order of the fields matters: most packets access only a few cache
/// lines.
#[derive(Debug)]
#[repr(C)]
pub struct Direction {
    /// The propagation delay.
    pub delay: Time,
    /// The packets in flight, in order of arrival. A wire does not reorder packets, so one wake-up is
    /// sufficient for all of them.
    pub in_flight: InFlight,
    /// The slot of the arrival of the first packet in `in_flight`.
    pub arrival: Slot,
    /// The input interface at the far end, and the marks that packets have after this interface.
    pub ingress: Ingress,
    /// The longest IP packet that the interface sends; [`UNLIMITED`](Direction::UNLIMITED) if there is no
    /// limit.
    pub mtu: u16,
    /// The conditioners of the input policy at the far end; `None` without conditioners.
    pub input: Option<Box<TrafficConditioner>>,
    /// The conditioners of the output policy; `None` without conditioners.
    pub output: Option<Box<TrafficConditioner>>,
    /// The counters of the port.
    pub tally: PortTally,
    /// The names of the port's queues in results. Ports with equal policies share the list.
    pub queue_names: Arc<[String]>,
    /// Loss on the wire; `None` if there is no loss.
    pub loss: Option<Box<Loss>>,
    /// The slot of the next poll, at `poll_at`.
    pub poll: Slot,
    /// The port: queues, scheduler, transmit ring and pace.
    pub port: Port,
    /// The time of the scheduled poll; `None` if there is none.
    pub poll_at: Option<Time>,
    /// The use of packet memory that the port shares with other ports; `None` if the port shares no memory.
    pub sharing: Option<Box<Sharing>>,
}

/// The use of a packet memory, which ports of a node share, by one of these ports.
#[derive(Debug)]
pub struct Sharing {
    /// The other directions whose ports share the memory ([`memory_groups`]). All ports with this memory
    /// transmit their due packets before a packet joins a queue of one of them.
    pub sharers: Box<[LinkId]>,
    /// The maximum use of the memory at drops of the port.
    pub drops: Option<Box<PoolDrops>>,
}

/// Returns the directions whose ports share memory, as groups of two or more in the order of their numbers.
///
/// The ports of a group read each other's state, so they must be in one part of a divided network. All other
/// ports are independent.
pub fn memory_groups(directions: &[Direction]) -> Vec<Vec<LinkId>> {
    let mut groups: Vec<Vec<LinkId>> = Vec::new();
    let mut known: BTreeMap<PoolKey, usize> = BTreeMap::new();
    for (number, direction) in directions.iter().enumerate() {
        let Some(pool) = direction.port.shared_pool() else { continue };
        let group = *known.entry(pool).or_insert(groups.len());
        groups.resize(groups.len().max(group + 1), Vec::new());
        groups[group].push(LinkId(number as u32));
    }
    groups.retain(|group| group.len() > 1);
    groups
}

/// Sets the [`sharing`](Direction::sharing) of all directions of a network.
pub fn find_sharers(directions: &mut [Direction]) {
    for group in memory_groups(directions) {
        for link in &group {
            let others = group.iter().copied().filter(|other| other != link);
            let direction = &mut directions[link.index()];
            let size = direction.port.memory().map_or(0, PortMemory::pool_size);
            let drops = Some(Box::new(PoolDrops::new(size, group.len())));
            direction.sharing = Some(Box::new(Sharing { sharers: others.collect(), drops }));
        }
    }
}

/// Records in `drops` that the pool had no room for a packet at the port of `link` at `now`. `find` returns
/// the direction of a link.
pub fn record_pool_drop<'d>(
    drops: &mut PoolDrops,
    now: Time,
    link: LinkId,
    find: impl Fn(LinkId) -> &'d Direction + Copy,
) {
    let units = move |link| find(link).port.memory().map_or(0, PortMemory::units_of_pool);
    let used = find(link).port.memory().map_or(0, PortMemory::pool_use);
    let ports = std::iter::once(link).chain(find(link).sharers().iter().copied());
    drops.record(now, used, ports.map(units));
}

impl Direction {
    /// The offset of the port, bytes, for the layout of types that contain a direction.
    pub const PORT: usize = offset_of!(Direction, port);
    /// The MTU of an interface that sends packets of any length.
    pub const UNLIMITED: u16 = u16::MAX;

    /// Whether a packet of `length` IP bytes exceeds the MTU of the interface.
    #[inline]
    pub fn exceeds_mtu(&self, length: u32) -> bool {
        length > u32::from(self.mtu) && self.mtu != Direction::UNLIMITED
    }

    /// Returns the other directions whose ports share memory with this one.
    #[inline]
    pub fn sharers(&self) -> &[LinkId] {
        self.sharing.as_ref().map_or(&[], |sharing| &sharing.sharers)
    }
    /// Returns the other directions whose ports share memory with this one, to renumber them.
    pub fn sharers_mut(&mut self) -> &mut [LinkId] {
        self.sharing.as_mut().map_or(&mut [], |sharing| &mut sharing.sharers)
    }
    /// Removes and returns the record of the drops of the port's pool, if a drop now would change the record.
    pub fn take_pool_drops(&mut self) -> Option<Box<PoolDrops>> {
        let used = self.port.memory()?.pool_use();
        self.sharing.as_mut()?.drops.take_if(|drops| drops.admits(used))
    }
    /// Stores the record that [`take_pool_drops`](Direction::take_pool_drops) returned.
    pub fn put_pool_drops(&mut self, drops: Box<PoolDrops>) {
        if let Some(sharing) = &mut self.sharing {
            sharing.drops = Some(drops);
        }
    }
    /// Counts `packet`, which was dropped outside the queues of the port, at `point`.
    pub fn count_drop(&mut self, packet: &Packet, cause: DropCause, point: DropPoint) {
        let PortTally { beyond, unqueued, .. } = &mut self.tally;
        let counters = if point.is_beyond_port() { beyond } else { unqueued };
        counters.add(cause, packet.length);
    }
    /// Returns the number of packets in the queues of the port and in flight. `flights` are those of the
    /// network.
    pub fn held(&self, flights: &Flights) -> u64 {
        self.port.backlog() + flights.iter(&self.in_flight).count() as u64
    }
    /// Returns all packets in the queues of the port and in flight. `flights` are those of the network.
    pub fn packets<'a>(&'a self, flights: &'a Flights) -> impl Iterator<Item = &'a Packet> {
        let queued = self.port.waiting();
        flights
            .iter(&self.in_flight)
            .map(|flight| &flight.packet)
            .chain(queued)
            .chain(self.port.in_fragments())
    }
}
