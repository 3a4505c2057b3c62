//! What a receiver knows of packets that arrived marked ([`Marks`]), and what it tells of them ([`Echo`]).

use perhop_scenario::tcp::{EcnFeedback, Flags};

/// RFC 9768 §3.2.1: where the counter begins.
pub(super) const FIRST_COUNT: u8 = 5;
/// RFC 9768 §3.2.2.1, table 3: the SYN-ACK arrived without ECN, as ours are sent.
const SYN_ACK_NOT_CAPABLE: Flags = Flags::CWR;
/// RFC 9768 §3.2.2.5.1: marks that are reported at once, where data await acknowledgment.
const MOST_UNREPORTED: u8 = 2;

/// An arriving segment, as far as marks are concerned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) is_marked: bool,
    pub(super) has_cwr: bool,
    /// Whether it brings data within the window that had not arrived.
    pub(super) is_new: bool,
    /// RCV.NXT, if data before it await acknowledgment.
    pub(super) awaiting: Option<u64>,
}

/// What acknowledgments tell of marks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Echo {
    /// The flags of ECN that acknowledgments carry.
    pub(super) flags: Flags,
    /// Whether header prediction expects marked packets: with DCTCP's feedback after a marked one.
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
    /// Accurate ECN was agreed on: segments carry the counter.
    pub(super) fn begin_counting(&mut self, marks: &Marks) {
        if self.feedback == EcnFeedback::Accurate {
            self.flags = marks.flags();
        }
    }
    /// RFC 9768 §3.2.2.1: the ACK of the handshake tells how the SYN-ACK arrived, instead of the counter.
    pub(super) fn begin_greeting(&mut self) {
        if self.feedback == EcnFeedback::Accurate {
            self.flags = SYN_ACK_NOT_CAPABLE;
        }
    }
    /// The ACK of the handshake has been sent: segments carry the counter again.
    pub(super) fn end_greeting(&mut self, marks: &Marks) {
        if self.feedback == EcnFeedback::Accurate && self.flags == SYN_ACK_NOT_CAPABLE {
            self.flags = marks.flags();
        }
    }
    /// A segment arrives. Returns whether it is to be acknowledged at once.
    pub(super) fn on_arrival(&mut self, marks: &mut Marks, arrival: &Arrival) -> bool {
        match self.feedback {
            EcnFeedback::Classic => {
                if arrival.has_cwr {
                    self.flags = Flags::default();
                }
                // RFC 3168 §6.1.3: ECE on every acknowledgment from the first CE until a CWR. §6.1.5: data
                // outside of the window do not count.
                if arrival.is_marked && arrival.is_new {
                    self.flags = Flags::ECE;
                }
                false
            }
            EcnFeedback::Dctcp => self.follow(marks, arrival),
            EcnFeedback::Accurate => {
                // RFC 9768 §3.2.2.5.1: the acknowledgment must not wait after the first mark, and where a
                // second one would.
                let answers = marks.count(arrival.is_marked, arrival.awaiting.is_none());
                self.flags = marks.flags();
                answers
            }
        }
    }
    /// RFC 8257 §3.2: ECE follows the marks. Before a change, what awaits acknowledgment is acknowledged on
    /// its own (Linux `net/ipv4/tcp_dctcp.h`, `dctcp_ece_ack_update`). Returns whether there is a change.
    fn follow(&mut self, marks: &mut Marks, arrival: &Arrival) -> bool {
        if arrival.is_marked == self.expects_mark {
            return false;
        }
        if let Some(acknowledgment) = arrival.awaiting {
            marks.owed = Some(Owed { acknowledgment, echo: self.flags });
        }
        self.expects_mark = arrival.is_marked;
        self.flags = if arrival.is_marked { Flags::ECE } else { Flags::default() };
        true
    }
}

/// An acknowledgment that is to be sent before the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owed {
    pub(super) acknowledgment: u64,
    pub(super) echo: Flags,
}

/// Marks of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Marks {
    /// DCTCP: what came before the marks changed.
    pub(super) owed: Option<Owed>,
    /// Accurate ECN: marked packets, those that no acknowledgment has told of yet, and whether the last one
    /// was.
    counter: u8,
    unreported: u8,
    was_marked: bool,
}

impl Default for Marks {
    fn default() -> Marks {
        Marks { owed: None, counter: FIRST_COUNT, unreported: 0, was_marked: false }
    }
}

impl Marks {
    /// The counter as flags.
    pub(super) fn flags(&self) -> Flags {
        Flags::of_counter(self.counter)
    }
    /// A packet arrived; all before it `is_reported` if nothing awaits acknowledgment. Returns whether it is
    /// to be acknowledged at once.
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
