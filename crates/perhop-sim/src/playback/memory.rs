//! [`MemorySpan`]: the use of a packet memory over time by all ports that share it.

use std::collections::BTreeMap;

use perhop_net::Direction;
use perhop_qos::buffer::{PortMemory, UnitSize};
use perhop_qos::observer::Place;
use perhop_qos::packet::{Color, Packet};
use perhop_qos::units::Time;
use perhop_qos::verdict::DropCause;
use perhop_scenario::routing::LinkId;

use crate::link_ends::{LinkEnds, port_name};

/// A packet memory, and the ports that share it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryLayout {
    /// The size of a unit, bytes.
    pub unit_bytes: u32,
    /// The size of the pool that all ports share, units.
    pub pool_units: u64,
    /// The ports: first the chosen one, then the others in the order of their numbers.
    pub ports: Vec<PortLayout>,
}

/// A port and its share of a packet memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortLayout {
    /// The number of the port.
    pub number: usize,
    /// The name of the port in results.
    pub name: String,
    /// The units that only the queues of this port use, before they use the pool.
    pub reserved: u64,
    /// The queues that use the memory.
    pub queues: Vec<QueueLayout>,
}

/// The limits of a queue in a packet memory, units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueLayout {
    /// The number of the queue at the port.
    pub number: usize,
    /// The name of the queue in results.
    pub name: String,
    /// The units that only this queue uses.
    pub reserved: u64,
    /// The limits of the drop precedences without duplicates, ascending.
    pub most: Vec<u64>,
}

/// A packet memory over time.
#[derive(Clone, Debug, PartialEq)]
pub struct MemorySpan {
    /// The memory and its ports.
    pub layout: MemoryLayout,
    /// The columns of the samples. `time`: the end of an interval, seconds. `pool`: the maximum of used units
    /// of the pool in the interval. `units/0/1`: the maximum of units of the second queue of the first port.
    pub samples: Vec<(String, Vec<f64>)>,
    /// The columns of the drops: the indices `sample`, `port`, `queue` and `cause`, and the number of
    /// `packets`.
    pub drops: Vec<(String, Vec<f64>)>,
}

/// Observes the units of the queues of ports that share a memory, while a run is repeated.
///
/// As in [`perhop_qos::port::Peak`], only packets that wait count. A packet that leaves its queue at the time
/// of its arrival does not count.
#[derive(Debug)]
pub(super) struct MemoryWatch {
    pub(super) layout: MemoryLayout,
    /// The place of each port of the network among the ports of the memory.
    places: Vec<Option<usize>>,
    ports: Vec<WatchedPort>,
    pool: Level,
    /// The time of the last change.
    changed: Time,
    /// The number of drops since the last sample, by the indices of port, queue and cause.
    drops: BTreeMap<(usize, usize, usize), u64>,
}

#[derive(Debug)]
struct WatchedPort {
    unit: UnitSize,
    reserved: u64,
    /// The units that the queues use above their reserved units.
    shared: u64,
    queues: Vec<WatchedQueue>,
}

#[derive(Debug)]
struct WatchedQueue {
    number: usize,
    reserved: u64,
    level: Level,
}

/// The current number of units, and the maximum since the last sample.
#[derive(Debug, Default)]
struct Level {
    units: u64,
    most: u64,
}

impl Level {
    fn settle(&mut self) {
        self.most = self.most.max(self.units);
    }
    fn take(&mut self) -> f64 {
        std::mem::take(&mut self.most) as f64
    }
}

impl MemoryWatch {
    /// Creates an observer of the memory of port number `port`. `directions` have no packets yet, and `ends`
    /// has the names of their nodes. Returns `None` if the port has no shared memory.
    pub(super) fn new(directions: &[Direction], ends: &LinkEnds, port: usize) -> Option<MemoryWatch> {
        let chosen = &directions[port];
        let memory = chosen.port.memory()?;
        let numbers: Vec<usize> =
            std::iter::once(port).chain(chosen.sharers().iter().map(|link: &LinkId| link.index())).collect();
        let layout = MemoryLayout {
            unit_bytes: memory.unit().bytes(),
            pool_units: memory.pool_size(),
            ports: numbers.iter().map(|number| port_layout(*number, &directions[*number], ends)).collect(),
        };
        let watched = |port: &PortLayout| {
            let memory = directions[port.number].port.memory()?;
            let queue = |queue: &QueueLayout| {
                let level = Level::default();
                WatchedQueue { number: queue.number, reserved: queue.reserved, level }
            };
            let queues = port.queues.iter().map(queue).collect();
            Some(WatchedPort { unit: memory.unit(), reserved: port.reserved, shared: 0, queues })
        };
        let place = |port| numbers.iter().position(|number| *number == port);
        Some(MemoryWatch {
            ports: layout.ports.iter().filter_map(watched).collect(),
            places: (0..directions.len()).map(place).collect(),
            layout,
            pool: Level::default(),
            changed: Time::ZERO,
            drops: BTreeMap::new(),
        })
    }

    /// Returns the place of port number `port` among the ports of the memory.
    pub(super) fn place_of(&self, port: usize) -> Option<usize> {
        self.places.get(port).copied().flatten()
    }
    /// Records that `packet` joined its queue at the port at `place`.
    pub(super) fn enqueued(&mut self, now: Time, place: usize, at: Place, packet: &Packet) {
        self.change(now, place, at, |units, packet_units| units + packet_units, packet);
    }
    /// Records that `packet` left its queue at the port at `place`.
    pub(super) fn dequeued(&mut self, now: Time, place: usize, at: Place, packet: &Packet) {
        self.change(now, place, at, u64::saturating_sub, packet);
    }
    /// Records a drop at the port at `place`.
    pub(super) fn dropped(&mut self, place: usize, at: Option<Place>, cause: DropCause) {
        let queue = at.and_then(|at| self.queue_at(place, at));
        if let Some(queue) = queue {
            *self.drops.entry((place, queue, cause.index())).or_default() += 1;
        }
    }

    fn queue_at(&self, place: usize, at: Place) -> Option<usize> {
        self.ports[place].queues.iter().position(|queue| queue.number == at.queue.index())
    }
    fn change(&mut self, now: Time, place: usize, at: Place, by: fn(u64, u64) -> u64, packet: &Packet) {
        let Some(queue) = self.queue_at(place, at) else { return };
        self.settle(now);
        let port = &mut self.ports[place];
        let WatchedQueue { reserved, level, .. } = &mut port.queues[queue];
        let above = |units: u64| units.saturating_sub(*reserved);
        let before = above(level.units);
        level.units = by(level.units, port.unit.units(packet.length));
        let of_pool = |shared: u64| shared.saturating_sub(port.reserved);
        let held = of_pool(port.shared);
        port.shared = port.shared + above(level.units) - before;
        self.pool.units = self.pool.units + of_pool(port.shared) - held;
    }
    /// Includes the current units in the maxima, if they remained unchanged for some time before `now`.
    fn settle(&mut self, now: Time) {
        if now > self.changed {
            self.pool.settle();
            let queues = self.ports.iter_mut().flat_map(|port| &mut port.queues);
            queues.for_each(|queue| queue.level.settle());
            self.changed = now;
        }
    }

    /// Discards the maxima and drops so far.
    pub(super) fn clear(&mut self, now: Time) {
        self.settle(now);
        self.drops.clear();
        self.pool.take();
        for queue in self.ports.iter_mut().flat_map(|port| &mut port.queues) {
            queue.level.take();
        }
    }
    /// Adds the interval that ends at `now` to `span`.
    pub(super) fn sample(&mut self, now: Time, span: &mut MemorySpan) {
        self.settle(now);
        let queues = self.ports.iter_mut().flat_map(|port| &mut port.queues).map(|queue| queue.level.take());
        let row = [now.as_seconds(), self.pool.take()].into_iter().chain(queues);
        let number = span.samples[0].1.len();
        span.samples.iter_mut().zip(row).for_each(|((_, column), value)| column.push(value));
        for ((port, queue, cause), packets) in std::mem::take(&mut self.drops) {
            let row = [number, port, queue, cause, packets as usize];
            span.drops.iter_mut().zip(row).for_each(|((_, column), value)| column.push(value as f64));
        }
    }
    /// Returns a span without samples.
    pub(super) fn span(&self) -> MemorySpan {
        let column = |name: String| (name, Vec::new());
        let ports = self.layout.ports.iter().enumerate();
        let queues = ports.flat_map(|(port, layout)| {
            (0..layout.queues.len()).map(move |queue| format!("units/{port}/{queue}"))
        });
        let names = ["time", "pool"].map(str::to_owned).into_iter().chain(queues);
        let drops = ["sample", "port", "queue", "cause", "packets"].map(str::to_owned);
        MemorySpan {
            layout: self.layout.clone(),
            samples: names.map(column).collect(),
            drops: drops.map(column).into(),
        }
    }
}

fn port_layout(number: usize, direction: &Direction, ends: &LinkEnds) -> PortLayout {
    let queues = direction.port.memory_queues().map(|(index, queue)| {
        let limits = (0..Color::COUNT).filter_map(|index| queue.most_units(Color::new(index)));
        let mut most: Vec<u64> = limits.collect();
        most.sort_unstable();
        most.dedup();
        let (name, reserved) = (direction.queue_names[index].clone(), queue.reserved_units());
        QueueLayout { number: index, name, reserved, most }
    });
    PortLayout {
        number,
        name: port_name(ends.names(LinkId(number as u32))),
        reserved: direction.port.memory().map_or(0, PortMemory::reserved_units),
        queues: queues.collect(),
    }
}
