//! [`HostEvent`]: the scheduled events of hosts, and the agenda that contains them.

use perhop_net::Event;
use perhop_net::agenda::Agenda;

/// A scheduled event at a host.
#[derive(Clone, Copy, Debug)]
pub enum HostEvent {
    /// A source sends its next packet. Each event has the index of its element.
    Emission(u32),
    /// The next packet of a recording is due.
    Replay(u32),
    /// A queue probe takes a sample.
    QueueSample(u32),
    /// An application on TCP starts, begins a transaction, or stops.
    SessionDue(u32),
    /// A timer of one end of a TCP connection may have expired.
    ConnectionTimer(u32),
    /// A probe of TCP connections takes a sample.
    ConnectionSample(u32),
    /// A time slice of a speed test ends.
    SpeedSample(u32),
    /// The warm-up ends.
    WarmupEnds,
}

/// The pending events of a simulated network.
pub(crate) type SimAgenda = Agenda<Event<HostEvent>>;

// The agenda reads each event before any other state, so the size of an event matters.
const _: () = assert!(size_of::<Event<HostEvent>>() == 8);
