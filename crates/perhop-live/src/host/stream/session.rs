//! [`Session`]: one end of an application between two hosts, and what is counted of it.

use perhop_qos::random::Stream;
use perhop_scenario::plan::Plan;

use super::super::report::{ClientConnection, Sample, SessionReport};
use super::kernel::{Counted, Tcp};

/// Which end of its connections a host is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Client,
    Server,
}

/// One end of one session of the scenario's TCP traffic.
#[derive(Debug)]
pub(super) struct Session {
    /// The client's flow, of its two.
    pub(super) flow: usize,
    pub(super) traffic: usize,
    pub(super) number: u32,
    pub(super) end: End,
    pub(super) plan: Plan,
    pub(super) tcp: Tcp,
    pub(super) stream: Stream,
    /// When it begins nothing more, nanoseconds since the run began.
    pub(super) stops: u64,
    pub(super) started: bool,
    /// Connections begun since the start of the run.
    pub(super) begun: u32,
    pub(super) tally: Tally,
}

/// What is counted of one end of a session after the warm-up.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) connections: u64,
    pub(super) transactions: u64,
    pub(super) completions: Vec<u64>,
    pub(super) received: u64,
    pub(super) transfers: Vec<ClientConnection>,
    pub(super) samples: Vec<Sample>,
    /// Of connections that are over.
    pub(super) over: Counted,
}

impl Session {
    /// What its random draws are when it makes a connection: as many as in the simulator, where they set the
    /// clocks of both ends.
    pub(super) fn draw_clocks(&mut self) {
        let _ = (self.stream.uniform(), self.stream.uniform());
    }
    pub(super) fn report(self) -> SessionReport {
        let Session { traffic, number, end, tally, .. } = self;
        SessionReport {
            traffic,
            number,
            is_client: end == End::Client,
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
