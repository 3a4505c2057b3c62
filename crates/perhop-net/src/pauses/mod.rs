//! [`Pauses`]: priority flow control between the ports of a network (IEEE 802.1Qbb).
//!
//! A [`Level`] counts the bytes of one priority that arrived at a node over one direction of a link and wait
//! in queues with `pause`. Above a threshold, the node sends a pause frame over the reverse direction of the
//! link, and the neighbor's port stops serving this priority. `docs/algorithms/pauses.md` describes the
//! times, and the rules of the standard that are not modeled.

mod carrying;
mod deadlock;
mod level;
mod observing;

use std::collections::VecDeque;

use perhop_qos::packet::Packet;
use perhop_qos::policy::{PauseConfig, PauseMode};
use perhop_qos::queue::QueueId;
use perhop_qos::units::{Rate, Time};
use perhop_scenario::routing::LinkId;

use crate::agenda::Slot;
use level::{Frame, Level};

/// The flow control of a [`Network`](crate::Network): [`Pauses`], or `()` for none. A network with `()` runs
/// no code for flow control.
pub trait FlowControl: Sized {
    /// Returns the state of all pauses; `None` if the network has no flow control.
    fn state(&mut self) -> Option<&mut Pauses>;
}

impl FlowControl for () {
    #[inline]
    fn state(&mut self) -> Option<&mut Pauses> {
        None
    }
}

impl FlowControl for Pauses {
    #[inline]
    fn state(&mut self) -> Option<&mut Pauses> {
        Some(self)
    }
}

/// The settings of one direction of a link, from which [`Pauses`] are built.
#[derive(Debug)]
pub struct PausableLink {
    /// The configuration `pause` of each queue of the port.
    pub queues: Vec<Option<PauseConfig>>,
    /// The rate of the port.
    pub rate: Rate,
    /// The direction from the far end back to the port.
    pub reverse: LinkId,
    /// For each interface of the port's node, the direction over which packets arrive. The list is empty for
    /// a host, because its packets use no memory of an interface.
    pub arrivals: Vec<Option<LinkId>>,
    /// The slot of the next pause frame that takes effect at the port.
    pub slot: Slot,
}

/// The number of the [`Level`] of each priority.
type LevelsByPriority = [Option<u32>; 8];

/// The state of one direction of a link.
#[derive(Debug)]
struct Pausable {
    /// The priority of each queue of the port, if its class has `pause`.
    priorities: Box<[Option<u8>]>,
    /// The priority of each queue, if its class obeys pause frames.
    obeying: Box<[Option<u8>]>,
    arrivals: Box<[Option<LinkId>]>,
    reverse: LinkId,
    /// The levels at the far end that count packets from this port.
    levels: LevelsByPriority,
    /// The transmission time of a pause frame from the port.
    frame_time: Time,
    /// The time from the arrival of a pause frame at the port to its effect, by priority.
    responses: [Time; 8],
    /// The pause frames that will take effect at the port, in order.
    frames: VecDeque<Frame>,
    slot: Slot,
}

/// The state of all pauses of a network.
#[derive(Debug)]
pub struct Pauses {
    links: Vec<Pausable>,
    levels: Vec<Level>,
    /// The levels that have crossed a threshold and whose frames have not been sent yet. There is at most
    /// one, because a packet joins or leaves one level at a time.
    crossed: Vec<u32>,
    counts_from: Time,
}

impl Pauses {
    /// Builds the state of a network from the settings of its directions of links. Pauses are counted from
    /// `counts_from` on. Returns `None` if no interface sends pause frames or limits the memory of arriving
    /// packets.
    pub fn new(settings: Vec<PausableLink>, counts_from: Time) -> Option<Pauses> {
        let mut levels = Vec::new();
        let found: Vec<LevelsByPriority> =
            (0..settings.len()).map(|link| add_levels(&settings, LinkId(link as u32), &mut levels)).collect();
        let links = settings.into_iter().zip(found).map(|(link, levels)| {
            let of_class = |pause: &Option<PauseConfig>| pause.map(|pause| pause.priority.value());
            let obeyed = |pause: &Option<PauseConfig>| {
                pause.filter(|pause| pause.mode == PauseMode::On).map(|pause| pause.priority.value())
            };
            Pausable {
                priorities: link.queues.iter().map(of_class).collect(),
                obeying: link.queues.iter().map(obeyed).collect(),
                arrivals: link.arrivals.into(),
                reverse: link.reverse,
                levels,
                frame_time: PauseConfig::frame_time(link.rate),
                responses: responses(&link.queues, link.rate),
                frames: VecDeque::new(),
                slot: link.slot,
            }
        });
        let links = links.collect();
        (!levels.is_empty()).then(|| Pauses { links, levels, crossed: Vec::with_capacity(2), counts_from })
    }

    /// Returns the level that counts `packet` in queue `queue` of the port of `link`; `None` if no level
    /// counts it.
    #[inline]
    fn level_of(&self, link: LinkId, queue: QueueId, packet: &Packet) -> Option<usize> {
        let port = &self.links[link.index()];
        let priority = (*port.priorities.get(queue.index())?)?;
        let arrival = (*port.arrivals.get(usize::from(packet.input.interface().0))?)?;
        let level = self.links[arrival.index()].levels[usize::from(priority)]?;
        Some(level as usize)
    }

    /// Whether the memory of the interface at which `packet` arrived has room for it. The packet is about to
    /// join queue `queue` of the port of `link`.
    fn has_room(&self, link: LinkId, queue: QueueId, packet: &Packet) -> bool {
        self.level_of(link, queue, packet).is_none_or(|level| self.levels[level].has_room(packet.length))
    }

    /// Counts `packet`, which joined queue `queue` of the port of `link`.
    fn joined(&mut self, link: LinkId, queue: QueueId, packet: &Packet) {
        self.arrived(link, queue, packet, Level::add);
    }

    /// Records that the memory of the interface at which `packet` arrived had no room for it.
    fn refused(&mut self, link: LinkId, queue: QueueId, packet: &Packet) {
        self.arrived(link, queue, packet, Level::refuse);
    }

    #[inline]
    fn arrived(
        &mut self,
        link: LinkId,
        queue: QueueId,
        packet: &Packet,
        must_pause: impl FnOnce(&mut Level, u32, u32) -> bool,
    ) {
        let Some(number) = self.level_of(link, queue, packet) else { return };
        let ahead = self.depth_of(link, self.levels[number].priority);
        if must_pause(&mut self.levels[number], packet.length, ahead + 1) {
            self.crossed.push(number as u32);
        }
    }

    /// Removes `packet`, which has left queue `queue` of the port of `link`, from its level.
    fn left(&mut self, link: LinkId, queue: QueueId, packet: &Packet) {
        let Some(number) = self.level_of(link, queue, packet) else { return };
        if self.levels[number].remove(packet.length) {
            self.crossed.push(number as u32);
        }
    }

    /// Returns the number of links over which the pause of `priority` at the port of `link` has spread; 0
    /// without a pause.
    fn depth_of(&self, link: LinkId, priority: u8) -> u32 {
        let level = self.links[link.index()].levels[usize::from(priority)];
        level.map_or(0, |level| self.levels[level as usize].current_depth())
    }

    /// Returns the queues of the port of `link` that a pause of `priority` stops.
    fn queues(&self, link: LinkId, priority: u8) -> impl Iterator<Item = QueueId> + '_ {
        let queues = self.links[link.index()].obeying.iter().enumerate();
        queues.filter(move |(_, queue)| **queue == Some(priority)).map(|(queue, _)| QueueId(queue as u16))
    }
}

/// Adds the levels of the memory at the far end of `link`, and returns their numbers.
fn add_levels(settings: &[PausableLink], link: LinkId, levels: &mut Vec<Level>) -> LevelsByPriority {
    let mut found = [None; 8];
    let near = &settings[link.index()];
    for pause in settings[near.reverse.index()].queues.iter().flatten() {
        let place = &mut found[usize::from(pause.priority.value())];
        let Some(buffer) = pause.buffer.filter(|_| place.is_none()) else { continue };
        let obeys = |own: &&PauseConfig| own.priority == pause.priority && own.mode == PauseMode::On;
        let is_obeyed = near.queues.iter().flatten().any(|own| obeys(&own));
        let far_end = if is_obeyed { PauseMode::On } else { PauseMode::Off };
        *place = Some(levels.len() as u32);
        levels.push(Level::new(link, pause.priority.value(), buffer, far_end));
    }
    found
}

/// Returns the time from the arrival of a pause frame to its effect, by priority, at a port with `queues` and
/// `rate`.
fn responses(queues: &[Option<PauseConfig>], rate: Rate) -> [Time; 8] {
    let mut responses = [Time::ZERO; 8];
    for pause in queues.iter().flatten() {
        responses[usize::from(pause.priority.value())] = pause.response(rate);
    }
    responses
}
