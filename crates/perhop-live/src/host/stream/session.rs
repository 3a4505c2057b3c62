//! [`Session`]: one end of an application between two hosts, with its counters.

use perhop_qos::random::Stream;
use perhop_scenario::plan::Plan;

use super::super::report::SessionReport;
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
    pub(super) end: SessionEnd,
    pub(super) plan: Plan,
    pub(super) tcp: Tcp,
    pub(super) stream: Stream,
    /// The time after which the session starts no transactions, nanoseconds since the start of the run.
    pub(super) stops: u64,
    pub(super) started: bool,
    /// Connections opened since the start of the run.
    pub(super) begun: u32,
    /// The counters of the session after the warm-up.
    pub(super) tally: SessionReport,
    /// Counters of connections that have ended.
    pub(super) over: Counted,
}

impl Session {
    /// Draws and discards the random numbers that the simulator uses for the clocks of both ends of a new
    /// connection, so that later draws are the same.
    pub(super) fn draw_clocks(&mut self) {
        let _ = (self.stream.uniform(), self.stream.uniform());
    }
    pub(super) fn report(self) -> SessionReport {
        let Counted { segments, retransmissions, timeouts, .. } = self.over;
        SessionReport { segments, retransmissions, timeouts, ..self.tally }
    }
}
