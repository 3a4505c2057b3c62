//! Opening of a connection (RFC 9293 §3.5).

use perhop_qos::units::Time;

use super::connection::{CONNECTED, Connection, Stage};
use super::outgoing::Transmitted;
use super::segment::Segment;
use perhop_scenario::tcp::{EcnFeedback, Flags, HandshakeTiming};

impl Connection {
    /// Processes the arriving `segment` in the handshake (RFC 9293 §3.5). Returns whether the caller must
    /// process the data and the acknowledgment of the segment.
    #[cold]
    pub(super) fn advance_handshake(&mut self, now: Time, segment: &Segment) -> bool {
        match (self.stage, segment.has(Flags::SYN)) {
            (Stage::Open | Stage::Ending, false) => true,
            (Stage::Open | Stage::Ending, true) => {
                // The peer sends its SYN-ACK again, because the acknowledgment of the SYN-ACK was lost.
                self.receiver.acknowledge_now();
                false
            }
            (Stage::Listen, true) => {
                self.stage = Stage::SynReceived;
                self.syn_due = true;
                // RFC 3168 §6.1.1: an ECN-setup SYN has ECE and CWR.
                self.negotiate_ecn(segment.has(self.ecn_request_flags()));
                self.receiver.update_ts_recent(segment);
                false
            }
            (Stage::SynReceived, true) => {
                self.syn_due = true;
                false
            }
            (Stage::SynSent, true) if segment.has(Flags::ACK) => {
                // RFC 3168 §6.1.1: an ECN-setup SYN-ACK has ECE but not CWR. RFC 9768 §3.1.1: with accurate
                // ECN it has CWR but not ECE if the SYN was not ECN-capable.
                let (has, lacks) = self.answers_with();
                self.negotiate_ecn(segment.has(has) && !segment.has(lacks));
                self.open(now);
                self.receiver.update_ts_recent(segment);
                if self.sender.is_recorded() {
                    // Linux sends this acknowledgment before connect() returns, so the application has not
                    // written data that could carry it.
                    self.receiver.acknowledge_purely();
                    if self.sender.ecn {
                        self.receiver.begin_handshake_ack();
                    }
                } else {
                    self.receiver.acknowledge_now();
                }
                false
            }
            (Stage::SynReceived, false) if segment.has(Flags::ACK) => {
                if !segment.has_text()
                    && let Some(linux) = &mut self.sender.linux
                {
                    linux.expect_handshake_ack();
                }
                self.open(now);
                true
            }
            (Stage::Listen | Stage::SynSent | Stage::SynReceived, _) => false,
        }
    }

    /// Returns the flags of a SYN that requests ECN (RFC 3168 §6.1.1, RFC 9768 §3.1.1).
    fn ecn_request_flags(&self) -> Flags {
        let classic = Flags::ECE | Flags::CWR;
        if self.is_accurate() { classic | Flags::AE } else { classic }
    }
    /// Returns the flags that a SYN-ACK has, and the flags that it lacks, if it accepts ECN.
    fn answers_with(&self) -> (Flags, Flags) {
        if self.is_accurate() { (Flags::CWR, Flags::ECE) } else { (Flags::ECE, Flags::CWR) }
    }
    fn is_accurate(&self) -> bool {
        self.sender.parameters.ecn_feedback == EcnFeedback::Accurate
    }

    fn negotiate_ecn(&mut self, peer_is_willing: bool) {
        self.sender.ecn = self.sender.parameters.ecn && peer_is_willing;
    }

    fn open(&mut self, now: Time) {
        self.stage = if self.sender.finishing { Stage::Ending } else { Stage::Open };
        self.syn_due = false;
        self.syn_deadline = Time::MAX;
        self.changes |= CONNECTED;
        let is_timed = self.syns == 1 && self.sender.parameters.handshake_timing == HandshakeTiming::Measured;
        if self.sender.ecn {
            self.receiver.begin_counting();
        }
        self.sender.on_open(now, is_timed.then_some(self.syn_sent), self.syns);
        self.learn_round_trip();
    }

    /// Writes a SYN or SYN-ACK into `segment`, if one is due.
    #[cold]
    pub(super) fn transmit_syn(&mut self, now: Time, segment: &mut Segment) -> Transmitted {
        if !std::mem::take(&mut self.syn_due) {
            return Transmitted::Nothing;
        }
        self.write_common(now, segment);
        segment.length = 0;
        segment.sequence = 0;
        segment.acknowledgment = 0;
        segment.flags = Flags::SYN;
        if self.stage == Stage::SynReceived {
            self.receiver.write_acknowledgment(segment);
            if self.sender.ecn {
                segment.flags |= self.answers_with().0;
            }
        } else if self.sender.parameters.ecn && self.syns < self.sender.parameters.ecn_setups {
            segment.flags |= self.ecn_request_flags();
        }
        segment.window = self.sender.parameters.first_window();
        let factor = 1u64 << self.syns.min(16);
        let parameters = &self.sender.parameters;
        let wait = Time::from_picoseconds(parameters.initial_rto.as_picoseconds().saturating_mul(factor));
        self.syn_deadline = now + wait.min(parameters.maximum_rto);
        self.syns += 1;
        self.syn_sent = now;
        Transmitted::Segment
    }
}
