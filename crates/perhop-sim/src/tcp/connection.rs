//! [`Connection`]: one endpoint of a connection, with a sender and a receiver, and the teardown of the
//! connection.

use std::sync::Arc;

use perhop_qos::units::Time;

use perhop_measure::tcp::SenderStatistics;

use super::linux::{BbrModel, LossRecovery};
use super::receiver::Receiver;
use super::segment::Segment;
use super::sender::Sender;
use perhop_scenario::tcp::{Flags, Handshake, Parameters};

/// The role of an endpoint when the connection is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Sends the SYN (active open).
    Active,
    /// Waits for the SYN (passive open).
    Passive,
}

/// The time at which the application reads data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// At once on arrival.
    AtOnce,
    /// In calls of [`Connection::read`]. Unread data occupy the receive buffer.
    OnDemand,
}

/// A notification for the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionEvent {
    /// The connection is open.
    Connected,
    /// More bytes arrived in order. The value is their number.
    Received(u64),
    /// All data of the peer and its FIN have arrived.
    PeerClosed,
    /// Both directions are closed. Only a retransmitted FIN may still arrive.
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

/// The progress of a connection: a coarser [`State`] that is cheap to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    Listen,
    SynSent,
    SynReceived,
    /// RFC 9293's ESTABLISHED: both endpoints may send, and neither has closed.
    Open,
    /// The application has closed, or the peer's FIN has arrived.
    Ending,
}

/// The time during which a closed connection still answers a retransmitted FIN: twice the maximum segment
/// lifetime of 30 s (Linux and BSD).
const TIME_WAIT: Time = Time::from_seconds(60);

/// One endpoint of a TCP connection.
///
/// While no loss is known, an arriving segment accesses only the first three cache lines of this struct and
/// the cache lines of the sender.
#[derive(Clone, Debug)]
#[repr(C)] // most frequently used first
pub struct Connection {
    pub(super) stage: Stage,
    pub(super) reading: Reading,
    /// Whether a SYN or SYN-ACK must be sent now.
    pub(super) syn_due: bool,
    /// Whether all data up to the peer's FIN has arrived.
    peer_closed: bool,
    /// Whether the peer closed before this endpoint sent its own FIN.
    closed_by_peer: bool,
    /// Events without data that the application has not taken yet: [`CONNECTED`], [`PEER_CLOSED`],
    /// [`CLOSED`].
    pub(super) changes: u8,
    /// Bytes that arrived in order and that the application has not taken yet.
    received: u64,
    /// Time at which the SYN or SYN-ACK is retransmitted; [`Time::MAX`] while that timer is off.
    pub(super) syn_deadline: Time,
    pub(super) receiver: Receiver,
    /// The number of SYNs or SYN-ACKs sent.
    pub(super) syns: u32,
    /// The send time of the last SYN or SYN-ACK.
    pub(super) syn_sent: Time,
    /// The end of TIME-WAIT; [`Time::MAX`] before it begins.
    time_wait_ends: Time,
    pub(super) sender: Sender,
}

/// Events without data, as bits of [`Connection::changes`].
pub(super) const CONNECTED: u8 = 1;
const PEER_CLOSED: u8 = 2;
const CLOSED: u8 = 4;

impl Connection {
    /// Creates an endpoint of a connection with `parameters`. The connection is not open yet. `clock_phase`,
    /// less than one tick, shifts the ticks of the endpoint's clock, so that the clocks of many hosts do not
    /// tick at the same time.
    pub fn new(parameters: &Arc<Parameters>, role: Role, clock_phase: Time) -> Connection {
        let one_way = parameters.handshake == Handshake::None;
        let stage = match role {
            _ if one_way => Stage::Open,
            Role::Active => Stage::SynSent,
            Role::Passive => Stage::Listen,
        };
        let mut receiver = Receiver::new(parameters, clock_phase);
        if one_way && parameters.ecn {
            receiver.begin_counting();
        }
        Connection {
            sender: Sender::new(parameters, clock_phase),
            receiver,
            reading: Reading::AtOnce,
            stage,
            syn_due: stage == Stage::SynSent,
            syn_deadline: Time::MAX,
            syns: 0,
            syn_sent: Time::ZERO,
            peer_closed: false,
            closed_by_peer: false,
            time_wait_ends: Time::MAX,
            changes: if one_way { CONNECTED } else { 0 },
            received: 0,
        }
    }

    /// Processes an arriving `segment`.
    #[inline]
    pub fn on_segment(&mut self, now: Time, segment: &Segment) {
        if self.stage == Stage::Open && segment.flags == Flags::ACK {
            self.process(now, segment);
        } else {
            self.on_segment_slow_path(now, segment);
        }
    }

    /// Processes a segment with any flags in any state. This is [`Connection::on_segment`] without its fast
    /// path.
    #[inline(never)]
    pub(super) fn on_segment_slow_path(&mut self, now: Time, segment: &Segment) {
        let is_open = self.stage >= Stage::Open && !segment.has(Flags::SYN);
        if !is_open && !self.advance_handshake(now, segment) {
            return;
        }
        self.process(now, segment);
        if self.receiver.has_seen_fin() {
            self.on_peer_fin();
        }
        if self.stage == Stage::Ending {
            self.check_closed(now);
        }
    }

    /// Processes the acknowledgment, the timestamps and the data of `segment`.
    #[allow(clippy::inline_always)] // the fast path of every segment
    #[inline(always)]
    fn process(&mut self, now: Time, segment: &Segment) {
        if segment.has(Flags::ACK) {
            self.sender.on_acknowledgment(now, segment);
        }
        self.receiver.update_ts_recent(segment);
        if segment.has_text() {
            self.receive_data(now, segment);
        }
    }

    /// Processes the data and the FIN of `segment`.
    #[allow(clippy::inline_always)] // the fast path of every data segment
    #[inline(always)]
    fn receive_data(&mut self, now: Time, segment: &Segment) {
        let received = self.receiver.on_data(now, segment);
        match self.reading {
            Reading::AtOnce => self.receiver.open_whole_window(),
            Reading::OnDemand => self.receiver.add_unread(received),
        }
        self.received += received;
    }

    /// Records the peer's FIN. Earlier data can still be missing.
    #[cold]
    fn on_peer_fin(&mut self) {
        self.stage = Stage::Ending;
        if self.receiver.is_finished() && !self.peer_closed {
            self.peer_closed = true;
            self.changes |= PEER_CLOSED;
            self.closed_by_peer = !self.fin_is_sent();
        }
    }

    /// Passes the round-trip time and the timeout of the sender to the receiver, which derives its delays
    /// from them.
    pub(super) fn learn_round_trip(&mut self) {
        self.receiver.learn_round_trip(self.sender.rtt.rto(), self.sender.round_trip_time());
    }

    fn fin_is_sent(&self) -> bool {
        self.sender.finishing && self.sender.highest > self.sender.written
    }
    fn fin_is_acknowledged(&self) -> bool {
        self.sender.finishing && self.sender.unacknowledged > self.sender.written
    }

    fn check_closed(&mut self, now: Time) {
        if self.fin_is_acknowledged() && self.receiver.is_finished() && self.time_wait_ends == Time::MAX {
            self.changes |= CLOSED;
            // RFC 9293 §3.6: the endpoint that closed second goes from LAST-ACK to CLOSED at once.
            self.time_wait_ends = if self.closed_by_peer { now } else { now + TIME_WAIT };
        }
    }

    /// Handles the timers that have expired by `now`.
    pub fn on_timer(&mut self, now: Time) {
        if self.syn_deadline <= now {
            self.syn_deadline = Time::MAX;
            self.syn_due = true;
        }
        self.receiver.on_timer(now);
        self.sender.on_timer(now);
    }

    /// Returns the time at which the caller must call [`Connection::on_timer`] next; `None` if no timer runs.
    pub fn poll_timeout(&self) -> Option<Time> {
        Some(self.next_timer()).filter(|timer| *timer < Time::MAX)
    }
    /// Returns the time at which the next timer expires; [`Time::MAX`] if no timer runs.
    pub(crate) fn next_timer(&self) -> Time {
        let of_sender = self.sender.deadline.min(self.sender.probe_at);
        of_sender.min(self.receiver.deadline().min(self.syn_deadline))
    }

    /// Queues `bytes` further bytes for sending; [`u64::MAX`] means an endless transfer.
    pub fn send(&mut self, bytes: u64) {
        self.sender.note_write();
        self.sender.written = self.sender.written.saturating_add(bytes);
    }
    /// Closes the sending direction. A FIN follows the queued data. The endpoint can still receive data.
    pub fn close(&mut self) {
        self.sender.finishing = self.sender.parameters.handshake == Handshake::ThreeWay;
        if self.sender.finishing && self.stage == Stage::Open {
            self.stage = Stage::Ending;
        }
    }
    /// Closes the sending direction and discards data that have not been sent yet.
    pub fn stop_sending(&mut self) {
        self.sender.written = self.sender.written.min(self.sender.highest);
        self.close();
    }
    /// Sets the times at which the application reads. By default, the application reads data on arrival.
    pub fn set_reading(&mut self, reading: Reading) {
        self.reading = reading;
        if reading == Reading::AtOnce {
            self.receiver.read(self.receiver.unread());
        }
    }
    /// Reads `bytes` from the receive buffer.
    pub fn read(&mut self, bytes: u64) {
        self.receiver.read(bytes);
    }
    /// Removes and returns the next event for the application; `None` if there is none.
    pub fn poll_event(&mut self) -> Option<ConnectionEvent> {
        let (received, changes) = (self.received, self.changes);
        if changes & CONNECTED != 0 {
            self.changes &= !CONNECTED;
            return Some(ConnectionEvent::Connected);
        }
        if received > 0 {
            self.received = 0;
            return Some(ConnectionEvent::Received(received));
        }
        if changes == 0 {
            return None;
        }
        let first = changes & changes.wrapping_neg();
        self.changes &= !first;
        Some(if first == PEER_CLOSED { ConnectionEvent::PeerClosed } else { ConnectionEvent::Closed })
    }
    /// Whether only [`ConnectionEvent::Received`] can be pending.
    pub(crate) fn is_unchanged(&self) -> bool {
        self.changes == 0
    }
    /// Removes the next [`ConnectionEvent::Received`] and returns its number of bytes; 0 if none is pending.
    pub(crate) fn take_received(&mut self) -> u64 {
        std::mem::take(&mut self.received)
    }

    /// Whether the connection is established and neither endpoint has closed.
    pub fn is_only_open(&self) -> bool {
        self.stage == Stage::Open
    }
    /// The state of RFC 9293.
    pub fn state(&self, now: Time) -> State {
        match self.stage {
            Stage::Listen => return State::Listen,
            Stage::SynSent => return State::SynSent,
            Stage::SynReceived => return State::SynReceived,
            Stage::Open | Stage::Ending => {}
        }
        if self.time_wait_ends < Time::MAX {
            return if now < self.time_wait_ends { State::TimeWait } else { State::Closed };
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

    /// The congestion window, segments with fractions, without inflation by duplicate acknowledgments.
    pub fn congestion_window(&self) -> f64 {
        self.sender.congestion_window().segments
    }
    /// The slow-start threshold, segments.
    pub fn slow_start_threshold(&self) -> f64 {
        self.sender.congestion_window().threshold
    }
    /// The retransmission timeout, including back-off.
    pub fn retransmission_timeout(&self) -> Time {
        self.sender.rtt.rto()
    }
    /// The smoothed round-trip time; `None` before the first sample.
    pub fn round_trip_time(&self) -> Option<Time> {
        self.sender.round_trip_time()
    }
    /// Returns the state of loss recovery; `None` if the sender does not keep a record of every segment.
    pub fn loss_recovery(&self) -> Option<LossRecovery> {
        self.sender.linux.as_ref().map(|linux| linux.loss_recovery())
    }
    /// BBR's model of the path, if BBR is the congestion control.
    pub fn bbr(&self) -> Option<BbrModel> {
        self.sender.bbr_model()
    }
    /// Returns the number of payload bytes that were sent and acknowledged.
    pub fn acknowledged(&self) -> u64 {
        // The FIN takes an offset, but is not payload.
        self.sender.unacknowledged.min(self.sender.written)
    }
    /// Returns the number of bytes that were sent and not acknowledged, including the FIN (FlightSize).
    pub fn flight(&self) -> u64 {
        self.sender.flight()
    }
    /// Returns the counters of the sender.
    pub fn statistics(&self) -> SenderStatistics {
        self.sender.statistics.into()
    }
    /// Returns the number of retransmission timeouts so far.
    pub(crate) fn timeouts(&self) -> u32 {
        self.sender.statistics.timeouts
    }
}
