//! [`Link`]: one direction of a link with its plan. The plan states how packets enter the link, pass the
//! port, and continue at the far end.
//!
//! The plan is made once, before the run (`plan.rs`). Each enum of the plan selects one step of a packet. The
//! types exclude combinations that cannot occur. ARCHITECTURE.md lists all combinations.

#[cfg(target_pointer_width = "64")]
use std::mem::offset_of;

use perhop_net::Direction;
#[cfg(target_pointer_width = "64")]
use perhop_qos::port::Port;
use perhop_scenario::routing::LinkId;

/// The origin of the packets that enter a link's port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// Events of the agenda.
    Agenda,
    /// Only the sources of the host at the near end. The rest of the network does not affect these sources,
    /// so they send ahead of the agenda. The value is the index of their lookahead.
    Lookahead(u32),
    /// Only this link, which leads away from a host. Packets arrive from it ahead of the agenda.
    Upstream(LinkId),
}

/// The elements that a packet passes at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PortMode {
    /// None if the port is idle: the packet goes directly to the wire.
    CutThrough(Departures),
    /// At least one of output conditioners, classifier, buffer manager and scheduler, even if the port is
    /// idle.
    Queued(Departures),
    /// The elements of `Queued`, after fragmentation of packets that exceed the interface's MTU.
    Limited(Departures),
}

impl PortMode {
    /// Whether a packet that finds the port idle goes directly to the wire.
    #[inline]
    pub(super) fn cuts_through(self) -> bool {
        matches!(self, PortMode::CutThrough(_))
    }
    /// The time at which the departure of a waiting packet is known.
    #[inline]
    pub(super) fn departures(self) -> Departures {
        let (PortMode::CutThrough(departures) | PortMode::Queued(departures) | PortMode::Limited(departures)) =
            self;
        departures
    }
}

/// The time at which the departure of a waiting packet is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Departures {
    /// At the arrival of the packet. The port is a FIFO whose buffer manager decides on arrival
    /// (`docs/decisions/0006`).
    Precomputed,
    /// At a poll of the port.
    Polled,
}

/// The way in which the far end of a link receives a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FarEnd {
    /// By an event of the agenda.
    Event,
    /// By an event, from a port that is polled in time. A port that sends fragments needs the poll: between
    /// two fragments, no packet is in flight whose arrival could transmit the next fragment.
    PolledEvent,
    /// Inline, as soon as the packet is on the wire. No other packet can reach the elements at the far end
    /// first (`docs/decisions/0005`).
    Inline(Awaited),
}

/// The event or element that needs the inline packets of a link on time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Awaited {
    /// No event or element before the end of the run, so the port may be late.
    Never,
    /// An event of the agenda further along the path, so the port is polled in time.
    Downstream,
    /// TCP at the far host. TCP answers ahead of the agenda if possible, so the port is polled in time.
    Tcp,
}

/// The next step of a packet that has reached the far end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Onward {
    /// Delivery to the host at the far end.
    Host,
    /// Transmission on this link, over which all packets continue.
    Link(LinkId),
    /// Transmission on the next link of the path of its flow.
    Routed,
}

/// The processing of packets on a wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wire {
    /// None.
    Ideal,
    /// Random loss, or capture.
    Inspected,
}

/// One direction of a link.
///
/// A network has many links, so the order of the fields matters. The struct is aligned to cache lines. A
/// packet that cuts through accesses only the first two cache lines of the struct and the cache lines of the
/// port. The arrival of a packet accesses only the first two.
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
    (offset_of!(Link, direction) + Direction::PORT + Port::CUT_THROUGH_OFFSET).is_multiple_of(64),
    "the fields of a port that most packets read begin a cache line"
);

impl Link {
    /// Whether the agenda must poll the port, because a shaper delays all waiting packets or because packets
    /// must be sent on time ([`Awaited`]). Sources that look ahead poll the port themselves.
    #[inline]
    pub(super) fn awaits_poll(&self) -> bool {
        let waits = match self.far_end {
            FarEnd::Event => self.direction.port.shaped_until().is_some(),
            FarEnd::Inline(Awaited::Never) => false,
            FarEnd::PolledEvent | FarEnd::Inline(Awaited::Downstream | Awaited::Tcp) => {
                self.direction.port.backlog() > 0
            }
        };
        waits && !matches!(self.entry, Entry::Lookahead(_))
    }
}
