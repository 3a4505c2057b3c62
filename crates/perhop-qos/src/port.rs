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
mod outcome;
mod pace;
mod peaks;
mod pending;
mod precomputed;
mod rate_changes;

use crate::accounting::Accounting;
use crate::buffer::{AnyBuffer, BufferManager};
use crate::cake::Cake;

use crate::observer::Place;
use crate::policy::{ClassConfig, QueueingConfig, WireConfig};
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

/// The sending side of an interface.
///
/// The contract: a driver calls [`enqueue`](Port::enqueue) for each arrival, then
/// [`poll_transmit`](Port::poll_transmit) until it returns `None`, and again no later than
/// [`poll_timeout`](Port::poll_timeout) or with the next arrival. The plain engine does just that.
///
/// Three shortcuts give the same departures and are tested against it: [`send`](Port::send) (both calls in
/// one), [`cut_through`](Port::cut_through) (an idle port where nobody decides), and
/// [`precompute_departure`](Port::precompute_departure) (a FIFO that decides on arrival).
#[derive(Clone, Debug)]
#[repr(C)] // what a packet asks that passes straight through stands together
pub struct Port {
    pace: Pace,
    /// Packets that all queues hold, and the one that is being sent in fragments. Those whose departure is
    /// [precomputed](Port::precompute_departure) they only count.
    backlog: u64,
    ring: TransmitRing,
    /// A packet that finds its one queue empty meets nobody who would decide about it.
    allows_cut_through: bool,
    /// Whether there is one queue and the wire takes whole packets.
    is_single: bool,
    /// Whether in that case whoever finds nothing before it leaves, past the queue.
    passes_queue: bool,
    /// What befalls packets at the heads of the queues.
    heads: Heads,
    /// Where the scheduler found only packets that must wait: until when.
    shaped_until: Option<Time>,
    /// Precomputed departures that lie ahead: then the queue counts packets and holds none.
    pending: PendingDepartures,
    queues: Vec<Queue>,
    buffers: Vec<AnyBuffer>,
    scheduler: SchedulerTree,
    /// By queue, as far as the last that has one: most ports have none.
    gates: Vec<Gate>,
    classifier: PortClassifier,
    /// Where the headers cut packets.
    fragmenter: Option<Box<Fragmenter>>,
    /// What keeps the packets of all queues, and decides who is next, where that is CAKE.
    cake: Option<Box<Cake>>,
    /// How full the queues were at most, where somebody asks for it.
    peaks: Option<Box<Peaks>>,
}

impl Port {
    /// Where in a port the 64 bytes begin that a packet asks which passes straight through: best at the start
    /// of a cache line.
    pub const ASKED: usize = std::mem::offset_of!(Port, pace) + Pace::ASKED;

    /// The port of `queueing` (one FIFO with tail drop where there is none) on top of `wire`, in a
    /// node whose interfaces are called `interfaces`, in the order of their numbers.
    ///
    /// # Errors
    /// The first class, buffer manager, scheduler or ring that cannot be built.
    pub fn build(
        queueing: Option<&QueueingConfig>,
        wire: &WireConfig,
        interfaces: &[String],
        streams: &Streams,
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
                .and_then(|classifier| Ok((classifier, SchedulerTree::build(config, wire.rate)?)))
                .and_then(|built| leaves.collect(config, wire, streams).map(|()| built))
                .map_err(|error| error.within("queueing"))?
        } else {
            leaves.add(&ClassConfig::default(), wire, streams)?;
            (PortClassifier::single(), SchedulerTree::single())
        };
        let Leaves { queues, buffers, gates, cake } = leaves;
        let fragmenter = Fragmenter::build(wire, queueing).map(Box::new);
        let allows_cut_through = gates.is_empty()
            && fragmenter.is_none()
            && classifier.is_single()
            && scheduler.is_single()
            && queues[0].is_plain()
            && buffers[0].ignores_an_empty_queue();
        Ok(Port {
            pace: Pace::new(wire),
            backlog: 0,
            ring,
            allows_cut_through,
            is_single: scheduler.is_single() && fragmenter.is_none(),
            passes_queue: scheduler.is_single() && fragmenter.is_none() && !queues[0].keeps_turns(),
            heads: Heads::of(&buffers, fragmenter.as_deref(), cake.as_deref()),
            shaped_until: None,
            pending: PendingDepartures::default(),
            queues,
            buffers,
            scheduler,
            gates,
            classifier,
            fragmenter,
            cake,
            peaks: None,
        })
    }

    /// This port, which is empty, counting as `accounting` says wherever a rate or a share is kept.
    pub fn counting(mut self, accounting: Accounting) -> Port {
        self.scheduler = self.scheduler.counting(accounting);
        self.queues.iter_mut().for_each(|queue| queue.count(accounting));
        let policers = self.gates.iter_mut().filter_map(|gate| gate.policer.as_mut());
        policers.for_each(|policer| policer.count(accounting));
        self
    }

    /// This port, which is empty, on a wire whose rate changes; queues and schedulers keep what was made for
    /// the first one.
    ///
    /// # Errors
    /// When the changes are not in order, the last rate is 0, or the wire takes fragments.
    pub fn changing(mut self, changes: &[RateChange]) -> Result<Port, ConfigError> {
        if changes.is_empty() {
            return Ok(self);
        }
        if self.sends_fragments() {
            let message = "the rate of a link that cuts packets into fragments cannot change";
            return Err(ConfigError::new("rate-changes", message).help("leave `mlppp` or `rate-changes` out"));
        }
        self.pace = self.pace.changing(changes)?;
        self.allows_cut_through = false;
        Ok(self)
    }

    /// `packet` arrives at the port: it is queued, marked and queued, or dropped.
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

    /// What [`enqueue`](Port::enqueue) and then [`poll_transmit`](Port::poll_transmit) do, without the
    /// detour through the queue where the packet would leave it at once.
    // Here, where most packets go, is nothing that must be called, nor has the observer a place in memory.
    #[expect(clippy::inline_always, reason = "what most packets take of it is as short as a call")]
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

    /// Whether nobody decides about a packet that finds nothing before it: there is one queue, and its buffer
    /// manager lets into an empty one whatever comes.
    pub fn allows_cut_through(&self) -> bool {
        self.allows_cut_through
    }

    /// When a packet of `length` IP bytes leaves that arrives at `now` at a port that is
    /// [open](Port::allows_cut_through), if nothing stands before it and nothing comes before it. `None` also
    /// where it would take a division to know, and where the rate changes.
    #[expect(clippy::inline_always, reason = "as short as a call")]
    #[inline(always)]
    pub fn cut_through_departure(&self, now: Time, length: u32) -> Option<Departure> {
        if self.backlog > 0 || !self.ring.is_drained(now) {
            return None;
        }
        self.pace.known(length).map(|takes| Departure { starts: now, ends: now + takes })
    }

    /// `packet` arrives when its departure starts, which was [foreseen](Port::cut_through_departure): it is
    /// in the ring.
    #[expect(clippy::inline_always, reason = "as short as a call")]
    #[inline(always)]
    pub fn cut_through<O: Observer>(&mut self, packet: &Packet, departure: Departure, mut observer: O) {
        debug_assert!(self.allows_cut_through && self.backlog == 0 && self.ring.is_drained(departure.starts));
        self.ring.push_alone(packet.length, departure.ends);
        let place = Place { queue: QueueId(0), precedence: packet.color };
        observer.cut_through(departure.starts, place, packet, departure);
    }

    /// Sends `packet` where a buffer manager is to be asked, or it must wait.
    #[inline]
    fn send_by_queue<O: Observer>(&mut self, now: Time, packet: &mut Packet, mut observer: O) -> Sent {
        self.ring.advance(now);
        let Some(place) = self.place_of(now, packet, &mut observer) else { return Sent::Dropped };
        let Ok((_, joins)) = self.admit(now, place, packet, &mut observer) else { return Sent::Dropped };
        if self.backlog == 0 && self.passes_queue && self.ring.admits(packet.length) {
            if !self.passes(now, place, packet, &mut observer) {
                return Sent::Dropped;
            }
            return Sent::Transmitted(self.hand_over(now, place, packet, &mut observer));
        }
        self.join(now, place, packet, joins, &mut observer);
        Sent::Queued
    }

    /// The next packet, marked as it leaves, enters the transmit ring at `now`, if there is one and the ring
    /// has room: `packet` is it then.
    ///
    /// From here on nothing can overtake or drop it, so its times are known. Of a packet in fragments that is
    /// so when the last of them enters the ring.
    #[expect(clippy::inline_always, reason = "called where packets wait, and a call takes a tenth of it")]
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

    /// The head of the queue that the scheduler chooses enters the ring, which has room, if it fits; there is
    /// one that waits, and nobody decides about it any more.
    #[expect(clippy::inline_always, reason = "called where packets wait, and a call takes a tenth of it")]
    #[inline(always)]
    fn serve<O: Observer>(&mut self, now: Time, packet: &mut Packet, mut observer: O) -> Option<Departure> {
        let id = self.choose(now)?;
        if self.peaks.is_some() {
            self.note_peak(now, id);
        }
        let queue = &mut self.queues[id.index()];
        let head = queue.head().filter(|head| self.ring.admits(head.length))?;
        let (length, place) = (head.length, Place { queue: id, precedence: queue.precedence_of(head) });
        *packet = *head;
        queue.drop_head(place.precedence, length);
        self.backlog -= 1;
        if !self.is_single {
            self.scheduler.dequeued(now, id, length, queue);
        }
        self.buffers[id.index()].departed(now, place.precedence, queue.occupancy());
        Some(self.hand_over(now, place, packet, &mut observer))
    }

    /// The queue to serve; `None` where all packets must wait.
    #[expect(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    fn choose(&mut self, now: Time) -> Option<QueueId> {
        // Where there is one queue, the packet that waits is there.
        if self.is_single {
            return Some(QueueId(0));
        }
        match self.scheduler.select(now, &self.queues) {
            Selection::Serve(id) => Some(id),
            Selection::WaitUntil(time) => {
                self.shaped_until = Some(time);
                None
            }
            Selection::Idle => None,
        }
    }

    /// Where `packet` would wait; `None` where no class takes it.
    #[inline]
    fn place_of<O: Observer>(&self, now: Time, packet: &Packet, observer: &mut O) -> Option<Place> {
        let id = self.classifier.queue_of(packet);
        let Some(queue) = self.queues.get(id.index()) else {
            observer.dropped(now, None, packet, DropCause::NoClass);
            return None;
        };
        Some(Place { queue: id, precedence: queue.precedence_of(packet) })
    }

    /// Hands to the ring a packet that has left its queue.
    #[expect(
        clippy::inline_always,
        reason = "a part of both ways through the port, where a call costs as much"
    )]
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

    /// A packet of `length` IP bytes, for which the wire takes so long, enters the ring: its times are known.
    #[inline]
    fn commit(&mut self, now: Time, length: u32, takes: Time) -> Departure {
        let starts = self.ring.free_at().max(now);
        let departure = Departure { starts, ends: starts + takes };
        self.ring.push(length, starts, departure.ends);
        departure
    }

    /// When to poll again if nothing arrives before: `None` while nothing waits.
    pub fn poll_timeout(&self) -> Option<Time> {
        match (self.backlog, self.shaped_until) {
            (0, _) => None,
            (_, Some(time)) => Some(time),
            (_, None) => self.ring.next_release(),
        }
    }

    /// Until when a shaper holds back all that waits, as the last poll found.
    pub fn shaped_until(&self) -> Option<Time> {
        self.shaped_until
    }

    /// Whether a class asks for a mark of the link layer.
    pub(crate) fn reads_link_marks(&self) -> bool {
        self.classifier.reads_link_marks()
    }
    /// The queues, in the order of the policy's leaf classes.
    pub fn queues(&self) -> &[Queue] {
        &self.queues
    }
    /// All packets that wait, but for [one in fragments](Port::in_fragments).
    pub fn waiting(&self) -> impl Iterator<Item = &Packet> {
        self.queues.iter().flat_map(Queue::iter).chain(self.cake.iter().flat_map(|cake| cake.iter()))
    }
    /// Queue `id` may change at `now`.
    #[cold]
    #[inline(never)]
    fn note_peak(&mut self, now: Time, id: QueueId) {
        if let Some(peaks) = &mut self.peaks {
            peaks.changes(now, id, &self.queues);
        }
    }
    /// From `now` on, notes how full each queue is at most.
    pub fn watch_peaks(&mut self, now: Time) {
        self.peaks = Some(Box::new(Peaks::new(now, self.queues.len())));
    }
    /// How full each queue was at most since it was asked last; empty where that is not
    /// [noted](Port::watch_peaks). Of a port that precomputes departures,
    /// [those past](Port::release_departed) must have been released.
    pub fn take_peaks(&mut self, now: Time) -> Vec<Peak> {
        self.peaks.as_mut().map(|peaks| peaks.take(now, &self.queues)).unwrap_or_default()
    }
    /// The buffer managers, one for each queue.
    pub fn buffers(&self) -> &[AnyBuffer] {
        &self.buffers
    }
    /// Whether the headers of its wire cut packets into fragments.
    pub fn sends_fragments(&self) -> bool {
        self.fragmenter.is_some()
    }
    /// The packet that is being sent in fragments, and has left its queue.
    pub fn in_fragments(&self) -> Option<&Packet> {
        self.fragmenter.as_ref()?.in_progress()
    }
    /// Packets that the queues hold, and the one [in fragments](Port::in_fragments); those in the ring are no
    /// longer there, and those whose departure is [precomputed](Port::precompute_departure) never were.
    pub fn backlog(&self) -> u64 {
        self.backlog
    }
    /// The transmit ring.
    pub fn ring(&self) -> &TransmitRing {
        &self.ring
    }
}
