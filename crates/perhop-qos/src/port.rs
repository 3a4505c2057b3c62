//! [`Port`]: classifier → queues → scheduler → transmit ring → wire pace.

mod admission;
mod cake;
mod classifier;
mod fragmenter;
mod fragments;
mod gate;
mod heads;
mod judge;
mod judged;
mod leaves;
mod memory;
mod outcome;
mod pace;
mod paused;
mod peaks;
mod pending;
mod plain;
mod precomputed;
mod rate_changes;

use crate::accounting::Accounting;
use crate::buffer::{AnyBuffer, BufferManager, MemoryPools};
use crate::cake::Cake;

use crate::observer::Place;
use crate::policy::{QueueingConfig, WireConfig};
use crate::queue::{Queue, QueueId};
use crate::random::Streams;
use crate::ring::TransmitRing;
use crate::scheduler::{SchedulerTree, Selection};
use crate::{ConfigError, DropCause, Observer, Packet, Time, Verdict};
pub use classifier::PortClassifier;
use fragmenter::Fragmenter;
use gate::Gate;
use heads::Heads;
use leaves::Leaves;
pub use outcome::{Departure, Sent};
use pace::Pace;
pub use peaks::Peak;
use peaks::Peaks;
use pending::PendingDepartures;
pub use rate_changes::{RateChange, RateChanges};

/// The output of an interface: its classifier, its queues, its scheduler and its transmit ring.
///
/// A driver calls [`enqueue`](Port::enqueue) for each arrival. Then it calls
/// [`poll_transmit`](Port::poll_transmit) until the result is `None`. It polls again at the time that
/// [`poll_timeout`](Port::poll_timeout) returns or at the next arrival, whichever is first. The plain engine
/// makes exactly these calls.
///
/// Three shortcuts have the same departures, and tests compare them with these calls: [`send`](Port::send)
/// (both calls in one), [`cut_through`](Port::cut_through) (an idle port in which no component makes a
/// decision), and [`precompute_departure`](Port::precompute_departure) (a FIFO whose buffer manager decides
/// on arrival).
///
/// A clone uses the same [packet memory](crate::buffer::PortMemory), if the port has one.
#[derive(Clone, Debug)]
#[repr(C)] // fields that a packet reads on the cut-through path come first
pub struct Port {
    pace: Pace,
    /// The number of packets in all queues. It includes the packet whose fragments are being sent. It does
    /// not include packets with a [precomputed departure](Port::precompute_departure).
    backlog: u64,
    ring: TransmitRing,
    /// Whether a packet that finds the only queue empty is sent without a decision.
    allows_cut_through: bool,
    /// Whether there is one queue and packets are not fragmented.
    is_single: bool,
    /// Whether a packet that finds the only queue empty may bypass it.
    passes_queue: bool,
    /// The path that packets take from the heads of the queues to the ring.
    heads: Heads,
    /// The time until which shapers delay all packets, if the scheduler has found no packet that may leave.
    shaped_until: Option<Time>,
    /// The precomputed departures in the future. While there are any, the queue counts packets and stores
    /// none.
    pending: PendingDepartures,
    /// The queues. In a port without a policy, this is empty until a packet joins the queue or the queue is
    /// read.
    queues: Box<[Queue]>,
    /// The buffer manager of each queue.
    buffers: Box<[AnyBuffer]>,
    /// The schedulers of the queues, or `None` if there is only one queue, which needs no choice.
    scheduler: Option<Box<SchedulerTree>>,
    /// The gates of the queues, up to the last queue that has one. Most ports have none.
    gates: Box<[Gate]>,
    classifier: PortClassifier,
    /// The fragmenter, if the headers of the wire fragment packets.
    fragmenter: Option<Box<Fragmenter>>,
    /// CAKE, if it is the buffer manager. It stores the packets of all queues and selects the next one.
    cake: Option<Box<Cake>>,
    /// The largest occupancy of each queue, if a caller has requested it.
    peaks: Option<Box<Peaks>>,
}

impl Port {
    /// The offset of the 64 bytes that the cut-through path reads. Reading is fastest if they are aligned to
    /// a cache line.
    pub const CUT_THROUGH_OFFSET: usize = std::mem::offset_of!(Port, pace) + Pace::CUT_THROUGH_OFFSET;

    /// Builds the port of `queueing` (`None`: one FIFO with tail drop) on `wire`, for a node with the
    /// interfaces `interfaces`, listed in the order of their numbers. The port shares its memory with no
    /// other port.
    ///
    /// # Errors
    /// The error of the first class, buffer manager, scheduler or ring that cannot be built.
    pub fn build(
        queueing: Option<&QueueingConfig>,
        wire: &WireConfig,
        interfaces: &[String],
        streams: &Streams,
    ) -> Result<Port, ConfigError> {
        Port::build_in(queueing, wire, interfaces, streams, &mut MemoryPools::default())
    }

    /// Builds the port like [`build`](Port::build), for a node with these `pools` of memory.
    ///
    /// # Errors
    /// The errors are those of [`build`](Port::build), or another port of the same pool has other settings.
    pub fn build_in(
        queueing: Option<&QueueingConfig>,
        wire: &WireConfig,
        interfaces: &[String],
        streams: &Streams,
        pools: &mut MemoryPools,
    ) -> Result<Port, ConfigError> {
        if wire.rate.as_bits_per_second() == 0 {
            return Err(ConfigError::new("rate", "a rate of 0 sends nothing").help("for example 10Mb/s"));
        }
        wire.headers.check(wire.framing).map_err(|error| error.within("headers"))?;
        let ring = wire.ring.build().map_err(|error| error.within("ring"))?;
        let mut leaves = Leaves::default();
        let (classifier, scheduler) = if let Some(config) = queueing {
            config
                .cake()
                .and_then(|cake| leaves.add_cake(cake, wire, streams))
                .map_err(|e| e.within("queueing"))?;
            PortClassifier::build(config, interfaces)
                .and_then(|classifier| Ok((classifier, Some(SchedulerTree::build(config, wire.rate)?))))
                .and_then(|built| leaves.collect_all(config, wire, streams, pools).map(|()| built))
                .map_err(|error| error.within("queueing"))?
        } else {
            (PortClassifier::single(), None)
        };
        let Leaves { queues, buffers, gates, cake, .. } = leaves;
        let scheduler = scheduler.filter(|scheduler| !scheduler.is_single()).map(Box::new);
        let fragmenter = Fragmenter::build(wire, queueing).map(Box::new);
        let allows_cut_through = gates.is_empty()
            && fragmenter.is_none()
            && classifier.is_single()
            && scheduler.is_none()
            && queues.first().is_none_or(Queue::is_plain)
            && buffers.first().is_none_or(BufferManager::ignores_an_empty_queue);
        let keeps_turns = queues.first().is_some_and(Queue::keeps_turns);
        Ok(Port {
            pace: Pace::new(wire),
            backlog: 0,
            ring,
            allows_cut_through,
            is_single: scheduler.is_none() && fragmenter.is_none(),
            passes_queue: scheduler.is_none() && fragmenter.is_none() && !keeps_turns,
            heads: Heads::for_buffers(&buffers, fragmenter.as_deref(), cake.as_deref()),
            shaped_until: None,
            pending: PendingDepartures::default(),
            queues: queues.into_boxed_slice(),
            buffers: buffers.into_boxed_slice(),
            scheduler,
            gates: gates.into_boxed_slice(),
            classifier,
            fragmenter,
            cake,
            peaks: None,
        })
    }

    /// Sets the accounting that rates and shares use. The port must be empty.
    pub fn counting(mut self, accounting: Accounting) -> Port {
        self.scheduler = self.scheduler.map(|scheduler| Box::new(scheduler.counting(accounting)));
        self.queues.iter_mut().for_each(|queue| queue.count(accounting));
        let policers = self.gates.iter_mut().filter_map(|gate| gate.policer.as_mut());
        policers.for_each(|policer| policer.count(accounting));
        self
    }

    /// Sets the changes of the wire's rate. The port must be empty. Queues and schedulers keep the settings
    /// that are derived from the first rate.
    ///
    /// # Errors
    /// The changes are not in order of time, the last rate is 0, or the headers of the wire fragment packets.
    pub fn changing(mut self, changes: &[RateChange]) -> Result<Port, ConfigError> {
        if changes.is_empty() {
            return Ok(self);
        }
        if self.sends_fragments() {
            let message = "the rate of a link that fragments packets cannot change";
            return Err(ConfigError::new("rate-changes", message).help("leave `mlppp` or `rate-changes` out"));
        }
        self.pace = self.pace.changing(changes)?;
        self.allows_cut_through = false;
        Ok(self)
    }

    /// Processes the arrival of `packet`: the packet joins a queue, is marked and joins a queue, or is
    /// dropped.
    #[inline]
    pub fn enqueue<O: Observer>(&mut self, now: Time, packet: &mut Packet, mut observer: O) -> Verdict {
        let Some(place) = self.place_of(now, packet, &mut observer) else {
            return Verdict::Drop(DropCause::NoClass);
        };
        match self.admit(now, place, packet, &mut observer) {
            Ok((verdict, joins)) => {
                self.join(now, place, packet, joins, &mut observer);
                verdict
            }
            Err(cause) => Verdict::Drop(cause),
        }
    }

    /// Calls [`enqueue`](Port::enqueue) and then [`poll_transmit`](Port::poll_transmit). A packet that would
    /// leave its queue at once bypasses the queue.
    // Most packets take this path. All its calls are inlined, so that the observer stays in registers.
    #[expect(clippy::inline_always, reason = "the usual path is as short as a call")]
    #[inline(always)]
    pub fn send<O: Observer>(&mut self, now: Time, packet: &mut Packet, observer: O) -> Sent {
        if self.allows_cut_through
            && let Some(departure) = self.cut_through_departure(now, packet.length)
        {
            self.cut_through(packet, departure, observer);
            return Sent::Transmitted(departure);
        }
        self.send_by_queue(now, packet, observer)
    }

    /// Whether a packet that finds the port idle is sent without a decision. This is true if there is one
    /// queue whose buffer manager admits every packet to an empty queue.
    pub fn allows_cut_through(&self) -> bool {
        self.allows_cut_through
    }

    /// Returns the departure of a packet of `length` IP bytes that arrives at `now`. Returns `None` if the
    /// port is not idle, if the transmission time cannot be computed without a division, or if the rate
    /// changes. The caller must check [`allows_cut_through`](Port::allows_cut_through) first.
    #[expect(clippy::inline_always, reason = "as short as a call")]
    #[inline(always)]
    pub fn cut_through_departure(&self, now: Time, length: u32) -> Option<Departure> {
        if self.backlog > 0 || !self.ring.is_drained(now) {
            return None;
        }
        self.pace.known(length).map(|takes| Departure { starts: now, ends: now + takes })
    }

    /// Moves `packet`, which arrives at `departure.starts`, into the ring.
    /// [`cut_through_departure`](Port::cut_through_departure) must have returned `departure`.
    #[expect(clippy::inline_always, reason = "as short as a call")]
    #[inline(always)]
    pub fn cut_through<O: Observer>(&mut self, packet: &Packet, departure: Departure, mut observer: O) {
        debug_assert!(self.allows_cut_through && self.backlog == 0 && self.ring.is_drained(departure.starts));
        self.ring.push_alone(packet.length, departure.ends);
        let place = Place { queue: QueueId(0), precedence: packet.color };
        observer.cut_through(departure.starts, place, packet, departure);
    }

    /// Sends `packet` without the cut-through path. The gate, the buffer manager and the queue can drop it,
    /// and it can wait.
    #[inline]
    fn send_by_queue<O: Observer>(&mut self, now: Time, packet: &mut Packet, mut observer: O) -> Sent {
        self.ring.advance(now);
        let Some(place) = self.place_of(now, packet, &mut observer) else {
            return Sent::Dropped(DropCause::NoClass);
        };
        let joins = match self.admit(now, place, packet, &mut observer) {
            Ok((_, joins)) => joins,
            Err(cause) => return Sent::Dropped(cause),
        };
        if self.backlog == 0 && self.passes_queue && self.ring.admits(packet.length) {
            return match self.pass(now, place, packet, &mut observer) {
                Ok(()) => Sent::Transmitted(self.hand_over(now, place, packet, &mut observer)),
                Err(cause) => Sent::Dropped(cause),
            };
        }
        self.join(now, place, packet, joins, &mut observer);
        Sent::Queued
    }

    /// Moves the next packet into the transmit ring at `now`, if a packet waits and the ring has room. Copies
    /// the packet, with its final marks, to `packet`.
    ///
    /// A packet in the ring cannot be overtaken or dropped, so its times are known. A fragmented packet is
    /// returned when its last fragment enters the ring.
    #[expect(clippy::inline_always, reason = "a call would take a tenth of the time")]
    #[inline(always)]
    pub fn poll_transmit<O: Observer>(
        &mut self,
        now: Time,
        packet: &mut Packet,
        observer: O,
    ) -> Option<Departure> {
        self.ring.advance(now);
        self.shaped_until = None;
        if self.backlog == 0 || !self.ring.has_room() {
            return None;
        }
        match self.heads {
            Heads::Free => self.serve(now, packet, observer),
            Heads::Judged => self.serve_judged(now, packet, observer),
            Heads::InFragments => self.serve_fragments(now, packet, observer),
            Heads::Cake => self.serve_cake(now, packet, observer),
        }
    }

    /// Moves the head of the selected queue into the ring, if it fits. The caller ensures that the ring has
    /// room, that at least one packet waits, and that no buffer manager decides about heads.
    #[expect(clippy::inline_always, reason = "a call would take a tenth of the time")]
    #[inline(always)]
    fn serve<O: Observer>(&mut self, now: Time, packet: &mut Packet, mut observer: O) -> Option<Departure> {
        let id = self.choose(now)?;
        if self.peaks.is_some() {
            self.record_peak(now, id);
        }
        let queue = &mut self.queues[id.index()];
        let head = queue.head().filter(|head| self.ring.admits(head.length))?;
        let (length, place) = (head.length, Place { queue: id, precedence: queue.precedence_of(head) });
        *packet = *head;
        queue.drop_head(place.precedence, length);
        self.backlog -= 1;
        if let Some(scheduler) = &mut self.scheduler {
            scheduler.dequeued(now, id, length, queue);
        }
        self.buffers[id.index()].departed(now, place.precedence, length, queue.occupancy());
        Some(self.hand_over(now, place, packet, &mut observer))
    }

    /// Returns the queue to serve, or `None` if all packets must wait.
    #[expect(clippy::inline_always, reason = "a call would take a tenth of the time")]
    #[inline(always)]
    fn choose(&mut self, now: Time) -> Option<QueueId> {
        if self.is_single {
            return Some(QueueId(0));
        }
        match self.select(now) {
            Selection::Serve(id) => Some(id),
            Selection::WaitUntil(time) => {
                self.shaped_until = Some(time);
                None
            }
            Selection::Idle => None,
        }
    }

    /// Returns the choice of the schedulers. Without schedulers, returns the only queue if it has packets.
    #[expect(clippy::inline_always, reason = "every waiting packet calls it")]
    #[inline(always)]
    fn select(&mut self, now: Time) -> Selection<QueueId> {
        match &mut self.scheduler {
            Some(scheduler) => scheduler.select(now, &self.queues),
            None if self.queues[0].occupancy().packets > 0 => Selection::Serve(QueueId(0)),
            None => Selection::Idle,
        }
    }

    /// Returns the queue and the drop precedence of `packet`, or `None` if no class matches.
    #[inline]
    fn place_of<O: Observer>(&mut self, now: Time, packet: &Packet, observer: &mut O) -> Option<Place> {
        let id = self.classifier.queue_of(packet);
        let Some(queue) = self.queues.get(id.index()) else {
            return self.place_without_queue(now, packet, observer);
        };
        Some(Place { queue: id, precedence: queue.precedence_of(packet) })
    }

    /// Moves a packet that has left its queue into the ring.
    #[expect(clippy::inline_always, reason = "both paths through the port call it, and a call takes as long")]
    #[inline(always)]
    fn hand_over<O: Observer>(
        &mut self,
        now: Time,
        place: Place,
        packet: &Packet,
        observer: &mut O,
    ) -> Departure {
        let takes = self.pace.time(self.ring.free_at().max(now), packet.length);
        let departure = self.commit(now, packet.length, takes);
        observer.dequeued(now, place, packet, departure);
        departure
    }

    /// Adds a packet of `length` IP bytes with the transmission time `takes` to the ring.
    #[inline]
    fn commit(&mut self, now: Time, length: u32, takes: Time) -> Departure {
        let starts = self.ring.free_at().max(now);
        let departure = Departure { starts, ends: starts + takes };
        self.ring.push(length, starts, departure.ends);
        departure
    }

    /// Returns the time at which the driver must poll again if no packet arrives earlier, or `None` if no
    /// packet waits.
    pub fn poll_timeout(&self) -> Option<Time> {
        match (self.backlog, self.shaped_until) {
            (0, _) => None,
            (_, Some(time)) => Some(time),
            (_, None) => self.ring.next_release(),
        }
    }

    /// The time until which a shaper delays all packets, as determined by the last poll.
    pub fn shaped_until(&self) -> Option<Time> {
        self.shaped_until
    }

    /// Whether the condition of a class reads a mark of the link layer.
    pub(crate) fn reads_link_marks(&self) -> bool {
        self.classifier.reads_link_marks()
    }
    /// All packets that wait, except the packet [in fragments](Port::in_fragments).
    pub fn waiting(&self) -> impl Iterator<Item = &Packet> {
        self.queues.iter().flat_map(Queue::iter).chain(self.cake.iter().flat_map(|cake| cake.iter()))
    }
    /// Records the occupancy of queue `id` before it changes at `now`.
    #[cold]
    #[inline(never)]
    fn record_peak(&mut self, now: Time, id: QueueId) {
        if let Some(peaks) = &mut self.peaks {
            peaks.record(now, id, &self.queues);
        }
    }
    /// Starts to record the largest occupancy of each queue at `now`.
    pub fn watch_peaks(&mut self, now: Time) {
        if self.queues.is_empty() {
            self.add_plain_queue();
        }
        self.peaks = Some(Box::new(Peaks::new(now, self.queues.len())));
    }
    /// Returns the largest occupancy of each queue since the previous call. The result is empty if
    /// [`watch_peaks`](Port::watch_peaks) has not been called. If the port precomputes departures, call
    /// [`release_departed`](Port::release_departed) first.
    pub fn take_peaks(&mut self, now: Time) -> Vec<Peak> {
        self.peaks.as_mut().map(|peaks| peaks.take(now, &self.queues)).unwrap_or_default()
    }
    /// Whether the headers of the wire fragment packets.
    pub fn sends_fragments(&self) -> bool {
        self.fragmenter.is_some()
    }
    /// The packet that has left its queue and whose fragments are being sent.
    pub fn in_fragments(&self) -> Option<&Packet> {
        self.fragmenter.as_ref()?.in_progress()
    }
    /// The number of packets in the queues, including the packet [in fragments](Port::in_fragments). Packets
    /// in the ring and packets with a [precomputed departure](Port::precompute_departure) are not included.
    pub fn backlog(&self) -> u64 {
        self.backlog
    }
    /// The transmit ring.
    pub fn ring(&self) -> &TransmitRing {
        &self.ring
    }
}
