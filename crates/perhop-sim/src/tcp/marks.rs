//! [`Marks`]: what a receiver knows of packets that arrived marked, beyond RFC 3168.

use perhop_scenario::tcp::Flags;

/// RFC 9768 §3.2.1: where the counter begins.
pub(super) const FIRST_COUNT: u8 = 5;
/// RFC 9768 §3.2.2.1, table 3: the SYN-ACK arrived without ECN, as ours are sent.
pub(super) const SYN_ACK_NOT_CAPABLE: Flags = Flags::CWR;
/// RFC 9768 §3.2.2.5.1: marks that are reported at once, where data await acknowledgment.
const MOST_UNREPORTED: u8 = 2;

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
