//! [`Connection`]: one end of a connection: its two halves put together, and teardown.

use perhop_qos::units::Time;

use perhop_measure::tcp::SenderStatistics;

use super::outgoing::Transmitted;
use super::receiver::Receiver;
use super::segment::Segment;
use super::sender::Sender;
use perhop_scenario::tcp::Flags;
use perhop_scenario::tcp::{Handshake, Parameters};

/// Which end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Sends the first SYN.
    Active,
    /// Waits for it.
    Passive,
}

/// Whether the application takes data as they arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// It does.
    AtOnce,
    /// It calls [`Connection::read`]; what it leaves fills the receive buffer.
    OnDemand,
}

/// What the application hears of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The connection is open.
    Connected,
    /// So many more bytes arrived, in order.
    Received(u64),
    /// The peer has no more data: everything it sent has arrived.
    PeerClosed,
    /// Both directions are closed; only a repeated FIN may still come.
    Closed,
}

/// The states of RFC 9293 §3.3.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum State {
    Listen,
    SynSent,
    SynReceived,
    Established,
    FinWait1,
    FinWait2,
    CloseWait,
    Closing,
    LastAck,
    TimeWait,
    Closed,
}

/// How far a connection is on its way from its opening to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    Listen,
    SynSent,
    SynReceived,
    /// Both ends may send, and nothing of its end has been asked for or heard of: RFC 9293's ESTABLISHED.
    Open,
    /// The application has no more to send, or the peer's FIN was seen.
    Ending,
}

/// Time that a closed connection still answers a repeated FIN: twice the maximum segment lifetime, which is
/// 30 s in Linux and BSD.
const TIME_WAIT: Time = Time::from_seconds(60);

/// One end of a TCP connection.
#[derive(Clone, Debug)]
#[repr(C)] // in the order of how often they are looked at
pub struct Connection {
    pub(super) stage: Stage,
    pub(super) reading: Reading,
    /// A SYN or SYN-ACK is to be sent now.
    pub(super) syn_due: bool,
    /// Whether everything up to the peer's FIN is here, and whether that was before ours was sent: then ours is the last.
    peer_closed: bool,
    closed_by_peer: bool,
    /// What the application has not heard yet.
    pub(super) news: News,
    /// When the SYN or SYN-ACK is sent again ([`Time::MAX`]: never), how often it was sent, and when last.
    pub(super) syn_deadline: Time,
    pub(super) receiver: Receiver,
    pub(super) sender: Sender,
    pub(super) syns: u32,
    pub(super) syn_sent: Time,
    /// When TIME-WAIT ends; `None` before it begins.
    time_wait_ends: Option<Time>,
}

/// Events not yet taken: counters instead of a queue.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct News {
    received: u64,
    /// [`CONNECTED`], [`PEER_CLOSED`], [`CLOSED`].
    pub(super) changes: u8,
}

/// Changes of a connection's state, as bits.
pub(super) const CONNECTED: u8 = 1;
const PEER_CLOSED: u8 = 2;
const CLOSED: u8 = 4;

impl Connection {
    /// One end of a connection that is not open yet. `clock_phase` (less than the clock's tick) shifts the
    /// ticks of its clock, so that the clocks of many senders do not tick as one.
    pub fn new(parameters: &Parameters, role: Role, clock_phase: Time) -> Connection {
        let one_way = parameters.handshake == Handshake::None;
        let stage = match role {
            _ if one_way => Stage::Open,
            Role::Active => Stage::SynSent,
            Role::Passive => Stage::Listen,
        };
        Connection {
            sender: Sender::new(parameters, clock_phase),
            receiver: Receiver::new(parameters, clock_phase),
            reading: Reading::AtOnce,
            stage,
            syn_due: stage == Stage::SynSent,
            syn_deadline: Time::MAX,
            syns: 0,
            syn_sent: Time::ZERO,
            peer_closed: false,
            closed_by_peer: false,
            time_wait_ends: None,
            news: News { changes: if one_way { CONNECTED } else { 0 }, ..News::default() },
        }
    }

    /// `segment` arrives.
    #[inline]
    pub fn on_segment(&mut self, now: Time, segment: &Segment) {
        if self.stage == Stage::Open && segment.flags == Flags::ACK {
            self.process(now, segment);
        } else {
            self.on_rare_segment(now, segment);
        }
    }

    /// The same of one that opens or closes the connection, or says more than what it acknowledges.
    #[inline(never)]
    pub(super) fn on_rare_segment(&mut self, now: Time, segment: &Segment) {
        let is_open = self.stage >= Stage::Open && !segment.has(Flags::SYN);
        if !is_open && !self.advance_handshake(now, segment) {
            return;
        }
        self.process(now, segment);
        if self.receiver.has_seen_the_end() {
            self.note_the_end();
        }
        if self.stage == Stage::Ending {
            self.note_closed(now);
        }
    }

    /// What `segment` acknowledges, and its data.
    #[allow(clippy::inline_always)] // most segments have no other flag, and the compiler knows what that makes short
    #[inline(always)]
    fn process(&mut self, now: Time, segment: &Segment) {
        if segment.has(Flags::ACK) {
            self.sender.on_acknowledgment(now, segment);
        }
        self.receiver.note_timestamps(segment);
        if segment.has_text() {
            self.take_in(now, segment);
        }
    }

    /// The data and the FIN of `segment`.
    #[allow(clippy::inline_always)] // see above
    #[inline(always)]
    fn take_in(&mut self, now: Time, segment: &Segment) {
        let received = self.receiver.on_data(now, segment);
        match self.reading {
            Reading::AtOnce => self.receiver.open_whole_window(),
            Reading::OnDemand => self.receiver.leave_unread(received),
        }
        self.news.received += received;
    }

    /// The peer's FIN was seen.
    #[cold]
    fn note_the_end(&mut self) {
        self.stage = Stage::Ending;
        if self.receiver.is_finished() && !self.peer_closed {
            self.peer_closed = true;
            self.news.changes |= PEER_CLOSED;
            self.closed_by_peer = !self.fin_is_sent();
        }
    }

    fn fin_is_sent(&self) -> bool {
        self.sender.finishing && self.sender.highest > self.sender.written
    }
    fn fin_is_acknowledged(&self) -> bool {
        self.sender.finishing && self.sender.unacknowledged > self.sender.written
    }

    fn note_closed(&mut self, now: Time) {
        if self.fin_is_acknowledged() && self.receiver.is_finished() && self.time_wait_ends.is_none() {
            self.news.changes |= CLOSED;
            // RFC 9293 §3.6: who closed second goes from LAST-ACK to CLOSED at once.
            self.time_wait_ends = Some(if self.closed_by_peer { now } else { now + TIME_WAIT });
        }
    }

    /// A timer may have expired.
    pub fn on_timer(&mut self, now: Time) {
        if self.syn_deadline <= now {
            self.syn_deadline = Time::MAX;
            self.syn_due = true;
        }
        self.receiver.on_timer(now);
        self.sender.on_timer(now);
    }

    /// The next instant at which [`Connection::on_timer`] has something to do.
    pub fn poll_timeout(&self) -> Option<Time> {
        Some(self.next_timer()).filter(|timer| *timer < Time::MAX)
    }
    /// The same; [`Time::MAX`] where no timer runs.
    pub(crate) fn next_timer(&self) -> Time {
        let of_sender = self.sender.deadline.min(self.sender.probe_at);
        of_sender.min(self.receiver.deadline().min(self.syn_deadline))
    }

    /// The next segment to send; to be asked until there is none, after every other call.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        let mut segment = Segment::default();
        (self.transmit(now, &mut segment).0 != Transmitted::Nothing).then_some(segment)
    }

    /// The application sends `bytes` more; [`u64::MAX`] is more than ever ends.
    pub fn send(&mut self, bytes: u64) {
        self.sender.written = self.sender.written.saturating_add(bytes);
    }
    /// The application has no more to send: a FIN follows what it has sent. It may go on receiving.
    pub fn close(&mut self) {
        self.sender.finishing = self.sender.parameters.handshake == Handshake::ThreeWay;
        if self.sender.finishing && self.stage == Stage::Open {
            self.stage = Stage::Ending;
        }
    }
    /// The application gives up what it has not sent yet, and closes.
    pub fn stop_sending(&mut self) {
        self.sender.written = self.sender.written.min(self.sender.highest);
        self.close();
    }
    /// Whether the application takes data as they arrive, which is so at the start.
    pub fn set_reading(&mut self, reading: Reading) {
        self.reading = reading;
        if reading == Reading::AtOnce {
            self.receiver.read(self.receiver.unread());
        }
    }
    /// The application takes `bytes` of what has arrived.
    pub fn read(&mut self, bytes: u64) {
        self.receiver.read(bytes);
    }
    /// What the application has not heard of yet, one thing at a time.
    pub fn poll_event(&mut self) -> Option<Event> {
        let News { received, changes } = self.news;
        if changes & CONNECTED != 0 {
            self.news.changes &= !CONNECTED;
            return Some(Event::Connected);
        }
        if received > 0 {
            self.news.received = 0;
            return Some(Event::Received(received));
        }
        if changes == 0 {
            return None;
        }
        let first = changes & changes.wrapping_neg();
        self.news.changes &= !first;
        Some(if first == PEER_CLOSED { Event::PeerClosed } else { Event::Closed })
    }
    /// Whether there is nothing to hear but of bytes that arrived.
    pub(crate) fn is_unchanged(&self) -> bool {
        self.news.changes == 0
    }
    /// The bytes of which the next [`Event::Received`] would tell; 0 if there are none.
    pub(crate) fn take_received(&mut self) -> u64 {
        std::mem::take(&mut self.news.received)
    }

    /// When the peer can need no more answers: the end of TIME-WAIT, once both directions are closed.
    pub fn forgettable_at(&self) -> Option<Time> {
        self.time_wait_ends
    }
    /// Whether it is open, and nothing of its end has been asked for or heard of.
    pub fn is_only_open(&self) -> bool {
        self.stage == Stage::Open
    }
    /// Its state as RFC 9293 names it.
    pub fn state(&self, now: Time) -> State {
        match self.stage {
            Stage::Listen => return State::Listen,
            Stage::SynSent => return State::SynSent,
            Stage::SynReceived => return State::SynReceived,
            Stage::Open | Stage::Ending => {}
        }
        if let Some(ends) = self.time_wait_ends {
            return if now < ends { State::TimeWait } else { State::Closed };
        }
        match (self.fin_is_sent(), self.fin_is_acknowledged(), self.receiver.is_finished()) {
            (false, _, false) => State::Established,
            (false, _, true) => State::CloseWait,
            (true, false, false) => State::FinWait1,
            (true, true, _) => State::FinWait2,
            (true, false, true) if self.closed_by_peer => State::LastAck,
            (true, false, true) => State::Closing,
        }
    }

    /// The congestion window, segments, fractions included; inflation by duplicates left out.
    pub fn congestion_window(&self) -> f64 {
        self.sender.window.segments
    }
    /// The slow-start threshold, segments.
    pub fn slow_start_threshold(&self) -> f64 {
        self.sender.window.threshold
    }
    /// The retransmission timeout now, back-off included.
    pub fn retransmission_timeout(&self) -> Time {
        self.sender.rtt.rto()
    }
    /// The smoothed round-trip time, once one was measured.
    pub fn round_trip_time(&self) -> Option<Time> {
        self.sender.rtt.smoothed()
    }
    /// Payload bytes that were sent and are acknowledged.
    pub fn acknowledged(&self) -> u64 {
        // The FIN takes an offset, but it is no byte of the application's.
        self.sender.unacknowledged.min(self.sender.written)
    }
    /// Payload bytes under way.
    pub fn flight(&self) -> u64 {
        self.sender.flight()
    }
    /// What the sender has counted.
    pub fn statistics(&self) -> SenderStatistics {
        self.sender.statistics
    }
    /// The parameters it was made with.
    pub fn parameters(&self) -> &Parameters {
        &self.sender.parameters
    }
}
