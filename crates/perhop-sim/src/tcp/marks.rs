//! The ECN marks of the packets that arrived at a receiver ([`Marks`]), and the receiver's feedback in
//! acknowledgments ([`Echo`]).

use perhop_scenario::tcp::{EcnFeedback, Flags};

/// RFC 9768 §3.2.1: the initial value of the counter of marked packets.
pub(super) const FIRST_COUNT: u8 = 5;
/// RFC 9768 §3.2.2.1, table 3: the flags for a SYN-ACK that arrived without ECN. In the simulator, all
/// SYN-ACKs are sent without ECN.
const SYN_ACK_NOT_CAPABLE: Flags = Flags::CWR;
/// RFC 9768 §3.2.2.5.1: the number of marks that are reported at once, if data await acknowledgment.
const MOST_UNREPORTED: u8 = 2;

/// The properties of an arriving segment that determine the feedback.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) is_marked: bool,
    pub(super) has_cwr: bool,
    /// Whether the segment contains new data within the window.
    pub(super) is_new: bool,
    /// RCV.NXT, if earlier data await acknowledgment.
    pub(super) awaiting: Option<u64>,
}

/// The feedback of marks in acknowledgments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Echo {
    /// The ECN flags of the next acknowledgment.
    pub(super) flags: Flags,
    /// Whether header prediction expects marked packets. With DCTCP's feedback, it expects them after a
    /// marked packet.
    pub(super) expects_mark: bool,
    feedback: EcnFeedback,
}

impl Echo {
    pub(super) fn new(feedback: EcnFeedback) -> Echo {
        Echo { flags: Flags::default(), expects_mark: false, feedback }
    }
    pub(super) fn is_accurate(self) -> bool {
        self.feedback == EcnFeedback::Accurate
    }
    pub(super) fn is_classic(self) -> bool {
        self.feedback == EcnFeedback::Classic
    }
    /// Reports the counter of marks from now on, if the feedback is accurate ECN.
    pub(super) fn begin_counting(&mut self, marks: &Marks) {
        if self.feedback == EcnFeedback::Accurate {
            self.flags = marks.flags();
        }
    }
    /// Sets the flags for the ACK of the handshake, which reports the ECN field of the SYN-ACK instead of the
    /// counter (RFC 9768 §3.2.2.1).
    pub(super) fn begin_handshake_ack(&mut self) {
        if self.feedback == EcnFeedback::Accurate {
            self.flags = SYN_ACK_NOT_CAPABLE;
        }
    }
    /// Reports the counter again after the ACK of the handshake.
    pub(super) fn end_handshake_ack(&mut self, marks: &Marks) {
        if self.feedback == EcnFeedback::Accurate && self.flags == SYN_ACK_NOT_CAPABLE {
            self.flags = marks.flags();
        }
    }
    /// Processes an arriving segment. Returns whether it must be acknowledged at once.
    pub(super) fn on_arrival(&mut self, marks: &mut Marks, arrival: &Arrival) -> bool {
        match self.feedback {
            EcnFeedback::Classic => {
                if arrival.has_cwr {
                    self.flags = Flags::default();
                }
                // RFC 3168 §6.1.3: every acknowledgment has ECE from the first CE until a CWR. §6.1.5: data
                // outside the window do not count.
                if arrival.is_marked && arrival.is_new {
                    self.flags = Flags::ECE;
                }
                false
            }
            EcnFeedback::Dctcp => self.follow(marks, arrival),
            EcnFeedback::Accurate => {
                // RFC 9768 §3.2.2.5.1: a mark is reported at once if the previous packet has none, or if
                // another mark is not yet reported.
                let answers = marks.count(arrival.is_marked, arrival.awaiting.is_none());
                self.flags = marks.flags();
                answers
            }
        }
    }
    /// Sets ECE for a marked packet and clears it for an unmarked packet (RFC 8257 §3.2). When ECE changes,
    /// earlier data are acknowledged separately with the old flags (Linux `net/ipv4/tcp_dctcp.h`,
    /// `dctcp_ece_ack_update`). Returns whether ECE changes.
    fn follow(&mut self, marks: &mut Marks, arrival: &Arrival) -> bool {
        if arrival.is_marked == self.expects_mark {
            return false;
        }
        if let Some(acknowledgment) = arrival.awaiting {
            marks.owed = Some(Box::new(Owed { acknowledgment, echo: self.flags }));
        }
        self.expects_mark = arrival.is_marked;
        self.flags = if arrival.is_marked { Flags::ECE } else { Flags::default() };
        true
    }
}

/// An acknowledgment that must be sent before the next acknowledgment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owed {
    pub(super) acknowledgment: u64,
    pub(super) echo: Flags,
}

/// The marks of arrived packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Marks {
    /// DCTCP: the acknowledgment of the data that arrived before the marks changed.
    pub(super) owed: Option<Box<Owed>>,
    /// Accurate ECN: the number of marked packets.
    counter: u8,
    /// Accurate ECN: the number of marked packets that are not reported yet.
    unreported: u8,
    /// Accurate ECN: whether the last packet was marked.
    was_marked: bool,
}

impl Default for Marks {
    fn default() -> Marks {
        Marks { owed: None, counter: FIRST_COUNT, unreported: 0, was_marked: false }
    }
}

impl Marks {
    /// Returns the counter as flags.
    pub(super) fn flags(&self) -> Flags {
        Flags::of_counter(self.counter)
    }
    /// Counts a packet. `is_reported` means that all earlier packets are reported, because no data await
    /// acknowledgment. Returns whether the packet must be acknowledged at once.
    pub(super) fn count(&mut self, is_marked: bool, is_reported: bool) -> bool {
        let was_marked = std::mem::replace(&mut self.was_marked, is_marked);
        if is_reported {
            self.unreported = 0;
        }
        if !is_marked {
            return false;
        }
        self.counter = (self.counter + 1) % 8;
        self.unreported += 1;
        !was_marked || self.unreported >= MOST_UNREPORTED
    }
}
