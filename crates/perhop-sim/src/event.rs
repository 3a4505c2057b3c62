//! [`HostEvent`]: what can happen at hosts by itself, and the agenda that holds it.

use perhop_net::Event;
use perhop_net::agenda::Agenda;

/// What can happen at hosts by itself.
#[derive(Clone, Copy, Debug)]
pub enum HostEvent {
    /// A source sends its next packet.
    Emission(u32),
    /// A recording's next packet is due.
    Replay(u32),
    /// A queue probe takes a sample.
    QueueSample(u32),
    /// An application on TCP starts, begins a transaction, or stops.
    SessionDue(u32),
    /// A timer of one end of a TCP connection may have expired.
    ConnectionTimer(u32),
    /// A probe of TCP connections takes a sample.
    ConnectionSample(u32),
    /// A slice of a speed test is over.
    SpeedSample(u32),
    /// The warm-up is over.
    WarmupEnds,
}

/// What happens next in a simulated network.
pub(crate) type SimAgenda = Agenda<Event<HostEvent>>;

// The agenda looks up each event before anything else is known of it.
const _: () = assert!(size_of::<Event<HostEvent>>() == 8);
