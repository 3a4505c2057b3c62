//! Two ends of a connection and a path between them, whose loss and delay the test chooses.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use perhop_qos::packet::Ecn;
use perhop_qos::units::Time;
use perhop_scenario::tcp::Parameters;
use perhop_sim::tcp::{Connection, ConnectionEvent, Role, Segment};

/// The indices of the two ends.
pub(crate) const CLIENT: usize = 0;
pub(crate) const SERVER: usize = 1;

/// The fate of a segment on the path: its delay, or `None` if it is lost.
pub(crate) trait Fate: FnMut(usize, &Segment) -> Option<Time> {}
impl<F: FnMut(usize, &Segment) -> Option<Time>> Fate for F {}

/// The delay of a second copy of a delivered segment, if there is one.
pub(crate) type Copies = Box<dyn FnMut(&Segment) -> Option<Time>>;

/// Whether the path marks an ECN-capable segment as congestion experienced.
pub(crate) type Marks = Box<dyn FnMut(&Segment) -> bool>;

/// The two ends, the segments between them, and the events of their applications.
pub(crate) struct Pair<F> {
    pub(crate) ends: [Connection; 2],
    pub(crate) events: [Vec<ConnectionEvent>; 2],
    pub(crate) now: Time,
    fate: F,
    pub(crate) doubled: Copies,
    pub(crate) marked: Marks,
    /// Segments with data that were marked, by the end that sent them.
    pub(crate) marks: [u64; 2],
    /// The segments on the path: (arrival, order of sending, receiving end, index of the segment).
    under_way: BinaryHeap<Reverse<(Time, usize, usize)>>,
    segments: Vec<Segment>,
}

impl<F: Fate> Pair<F> {
    pub(crate) fn new(parameters: &Parameters, fate: F) -> Pair<F> {
        let parameters = Arc::new(*parameters);
        let end = |role| Connection::new(&parameters, role, Time::ZERO);
        Pair {
            ends: [end(Role::Active), end(Role::Passive)],
            events: [Vec::new(), Vec::new()],
            now: Time::ZERO,
            fate,
            doubled: Box::new(|_| None),
            marked: Box::new(|_| false),
            marks: [0; 2],
            under_way: BinaryHeap::new(),
            segments: Vec::new(),
        }
    }

    /// Sends all due segments of `end`, and passes its events to `application`.
    fn serve(&mut self, end: usize, application: &mut impl FnMut(usize, ConnectionEvent, &mut Connection)) {
        loop {
            while let Some(mut segment) = self.ends[end].poll_transmit(self.now) {
                let Some(delay) = (self.fate)(end, &segment) else { continue };
                if segment.ecn != Ecn::NotCapable && (self.marked)(&segment) {
                    segment.ecn = Ecn::CongestionExperienced;
                    self.marks[end] += u64::from(segment.length > 0);
                }
                for delay in [Some(delay), (self.doubled)(&segment)].into_iter().flatten() {
                    self.segments.push(segment.clone());
                    self.under_way.push(Reverse((self.now + delay, self.segments.len() - 1, 1 - end)));
                }
            }
            let Some(event) = self.ends[end].poll_event() else { break };
            self.events[end].push(event);
            application(end, event, &mut self.ends[end]);
        }
    }

    /// Runs all events up to `limit`. `application` receives every event of a connection.
    pub(crate) fn run(
        &mut self,
        limit: Time,
        mut application: impl FnMut(usize, ConnectionEvent, &mut Connection),
    ) {
        self.serve(CLIENT, &mut application);
        self.serve(SERVER, &mut application);
        loop {
            let arrival = self.under_way.peek().map(|Reverse((time, _, _))| *time);
            let timers = [CLIENT, SERVER].map(|end| self.ends[end].poll_timeout());
            let times = [arrival, timers[CLIENT], timers[SERVER]];
            let Some(next) = times.into_iter().flatten().min().filter(|next| *next <= limit) else { break };
            assert!(next >= self.now, "time goes back from {} to {next}", self.now);
            self.now = next;
            if arrival == Some(next) {
                let Some(Reverse((_, index, end))) = self.under_way.pop() else { break };
                let segment = self.segments[index].clone();
                self.ends[end].on_segment(next, &segment);
                self.serve(end, &mut application);
                if self.under_way.is_empty() {
                    self.segments.clear();
                }
            } else {
                let end = if timers[CLIENT] == Some(next) { CLIENT } else { SERVER };
                self.ends[end].on_timer(next);
                self.serve(end, &mut application);
            }
        }
        self.now = limit;
    }

    /// Bytes that `end`'s application has received.
    pub(crate) fn received(&self, end: usize) -> u64 {
        let bytes =
            |event: &ConnectionEvent| if let ConnectionEvent::Received(bytes) = event { *bytes } else { 0 };
        self.events[end].iter().map(bytes).sum()
    }
    /// Bytes that `end`'s application has sent and that are acknowledged.
    pub(crate) fn acknowledged(&self, end: usize) -> u64 {
        self.ends[end].acknowledged()
    }
}

/// An application that does nothing.
pub(crate) fn silent(_: usize, _: ConnectionEvent, _: &mut Connection) {}
