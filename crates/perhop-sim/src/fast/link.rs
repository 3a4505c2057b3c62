//! [`Link`]: one direction of a link with its plan: how packets come to it, pass its port, and go on.
//!
//! The plan is made once, before the run (`plan.rs`). Each of its enums says which way packets take; what
//! cannot be written cannot happen. ARCHITECTURE.md lists all ways.

#[cfg(target_pointer_width = "64")]
use std::mem::offset_of;

use perhop_net::Direction;
#[cfg(target_pointer_width = "64")]
use perhop_qos::port::Port;
use perhop_scenario::routing::LinkId;

/// How packets come to a link's port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// When the agenda says so.
    Agenda,
    /// From the sources of the host it leads away from, and from nobody else. Nothing that happens elsewhere
    /// changes what they send, so they send ahead of the agenda: the index of their lookahead.
    Lookahead(u32),
    /// From this link away from a host, ahead of the agenda, and from nowhere else.
    Upstream(LinkId),
}

/// What decides about a packet at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PortMode {
    /// Nobody, where it finds the port idle: it goes straight to the wire.
    CutThrough(Departures),
    /// Output conditioners, a classifier, a buffer manager or a scheduler, whatever it finds.
    Queued(Departures),
    /// As `Queued`, after whoever fragments what is longer than the interface sends.
    Limited(Departures),
}

impl PortMode {
    /// Whether a packet that finds the port idle goes straight to the wire.
    #[inline]
    pub(super) fn cuts_through(self) -> bool {
        matches!(self, PortMode::CutThrough(_))
    }
    /// When the departure of a packet that waits is known.
    #[inline]
    pub(super) fn departures(self) -> Departures {
        let (PortMode::CutThrough(departures) | PortMode::Queued(departures) | PortMode::Limited(departures)) =
            self;
        departures
    }
}

/// When the departure of a packet that waits is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Departures {
    /// On its arrival: a FIFO whose buffer manager decides then (`docs/decisions/0006`).
    Precomputed,
    /// When the port is polled.
    Polled,
}

/// How a packet is received at the far end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FarEnd {
    /// By an event of its own.
    Event,
    /// By an event of its own, from a port that is polled in time: while a packet is sent in fragments,
    /// nothing is in flight whose arrival would see to the next of them.
    PolledEvent,
    /// Inline, as soon as it is on the wire: nothing else can reach what it meets there before
    /// (`docs/decisions/0005`).
    Inline(Awaited),
}

/// Who waits for what an inline link delivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Awaited {
    /// Nobody before the end of the run: the port may be late.
    Nobody,
    /// Something on the agenda further along its way: the port is polled in time.
    Downstream,
    /// The host at the far end, whose TCP answers, ahead of the agenda where it may; so the port is polled in
    /// time.
    Tcp,
}

/// Where a packet goes that has reached the far end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Onward {
    /// To the host there.
    Host,
    /// By this link: all packets take it.
    Link(LinkId),
    /// By the link that its flow takes.
    Routed,
}

/// What happens on a wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wire {
    /// Nothing.
    Ideal,
    /// It loses packets, or is captured.
    Inspected,
}

/// One direction of a link.
///
/// In this order and from the start of a cache line, what a packet asks that cuts through lies in few lines
/// (the first two, the port's, the tally's), and what its arrival asks in the first two: a network has many
/// links.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Link {
    pub(super) onward: Onward,
    pub(super) entry: Entry,
    pub(super) mode: PortMode,
    pub(super) far_end: FarEnd,
    pub(super) wire: Wire,
    pub(super) direction: Direction,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(
    (offset_of!(Link, direction) + Direction::PORT + Port::ASKED).is_multiple_of(64),
    "what most packets ask of a port begins with a cache line"
);

impl Link {
    /// Whether its port needs a poll of its own: where a shaper holds back all that waits, and where packets
    /// are delivered inline that somebody waits for; but not where sources look ahead, which poll it
    /// themselves.
    #[inline]
    pub(super) fn awaits_poll(&self) -> bool {
        let waits = match self.far_end {
            FarEnd::Event => self.direction.port.shaped_until().is_some(),
            FarEnd::Inline(Awaited::Nobody) => false,
            FarEnd::PolledEvent | FarEnd::Inline(Awaited::Downstream | Awaited::Tcp) => {
                self.direction.port.backlog() > 0
            }
        };
        waits && !matches!(self.entry, Entry::Lookahead(_))
    }
}
