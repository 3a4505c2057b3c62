//! [`Session`]: one end of an application between two hosts, with its counters.

use perhop_qos::random::Stream;
use perhop_scenario::plan::Plan;

use super::super::report::{ClientConnection, Sample, SessionReport};
use super::kernel::{Counted, Tcp};

/// End of a session at this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SessionEnd {
    Client,
    Server,
}

/// One end of one session of the scenario's TCP traffic.
#[derive(Debug)]
pub(super) struct Session {
    /// The flow of the client.
    pub(super) flow: usize,
    pub(super) traffic: usize,
    pub(super) number: u32,
    pub(super) end: SessionEnd,
    pub(super) plan: Plan,
    pub(super) tcp: Tcp,
    pub(super) stream: Stream,
    /// When it stops starting transactions, nanoseconds since the start of the run.
    pub(super) stops: u64,
    pub(super) started: bool,
    /// Connections opened since the start of the run.
    pub(super) begun: u32,
    pub(super) tally: Tally,
}

/// Counters of one end of a session after the warm-up.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) connections: u64,
    pub(super) transactions: u64,
    pub(super) completions: Vec<u64>,
    pub(super) received: u64,
    pub(super) transfers: Vec<ClientConnection>,
    pub(super) samples: Vec<Sample>,
    /// Counters of connections that have ended.
    pub(super) over: Counted,
}

impl Session {
    /// Draws the random numbers that the simulator uses for the clocks of both ends of a new connection.
    pub(super) fn draw_clocks(&mut self) {
        let _ = (self.stream.uniform(), self.stream.uniform());
    }
    pub(super) fn report(self) -> SessionReport {
        let Session { traffic, number, end, tally, .. } = self;
        SessionReport {
            traffic,
            number,
            is_client: end == SessionEnd::Client,
            connections: tally.connections,
            transactions: tally.transactions,
            completions: tally.completions,
            received: tally.received,
            segments: tally.over.segments,
            retransmissions: tally.over.retransmissions,
            timeouts: tally.over.timeouts,
            transfers: tally.transfers,
            samples: tally.samples,
        }
    }
}
