//! The behavior of applications. It is the same as in the sessions of the simulator.

use std::cmp::Reverse;

use perhop_scenario::Closing;
use perhop_scenario::plan::{Beginning, Connections};

use super::connection::Connection;
use super::session::{Session, SessionEnd};
use super::{Exchange, Task, at_port};

/// Delay before a client retries, nanoseconds.
const PATIENCE: u64 = 100_000_000;

impl Exchange {
    /// Sends the client's request of the next transaction.
    pub(super) fn begin(&mut self, now: u64, connection: &mut Connection) {
        let Session { plan, stream, stops, tally, .. } = &mut self.sessions[connection.session];
        if now >= *stops {
            return connection.close();
        }
        let request = plan.next_request(stream);
        if plan.connections == Connections::One {
            connection.began = now;
        }
        if plan.beginning != Beginning::InTurn {
            tally.transfers.push(at_port(connection.port, connection.began));
        }
        connection.send(if plan.is_continuous() { u64::MAX } else { request });
        if plan.closes(Closing::Client) && plan.response == 0 {
            connection.close();
        }
    }

    /// Handles the arrival of `bytes`.
    pub(super) fn answer(&mut self, now: u64, connection: &mut Connection, bytes: u64) {
        let session = &mut self.sessions[connection.session];
        session.tally.received += if now >= self.warmup { bytes } else { 0 };
        connection.transaction_bytes += bytes;
        match session.end {
            SessionEnd::Client => self.on_client_bytes(now, connection),
            SessionEnd::Server => self.on_server_bytes(now, connection),
        }
    }

    /// Handles bytes that arrive at the client. A complete response ends the transaction, or the client
    /// closes the connection.
    fn on_client_bytes(&mut self, now: u64, connection: &mut Connection) {
        let plan = self.sessions[connection.session].plan;
        if connection.transaction_bytes < plan.response {
            return;
        }
        connection.transaction_bytes -= plan.response;
        match plan.connections {
            Connections::PerTransaction if plan.closing == Closing::Server => {}
            Connections::PerTransaction => connection.close(),
            Connections::One => {
                self.complete(now, connection);
                self.begin(now, connection);
            }
        }
    }

    /// Handles bytes that arrive at the server, which answers complete requests.
    fn on_server_bytes(&mut self, now: u64, connection: &mut Connection) {
        let Session { plan, tally, .. } = &mut self.sessions[connection.session];
        while connection.transaction_bytes >= connection.request {
            connection.transaction_bytes -= connection.request;
            connection.send(plan.response);
            if plan.closes(Closing::Server) {
                connection.close();
            }
            if plan.is_continuous() {
                tally.transactions += u64::from(now >= self.warmup);
            }
        }
    }

    /// Handles the peer's FIN.
    pub(super) fn on_peer_fin(&mut self, now: u64, connection: &mut Connection) {
        connection.close();
        let Session { end, plan, stops, tally, .. } = &mut self.sessions[connection.session];
        match end {
            // The request is complete.
            SessionEnd::Server if plan.beginning != Beginning::InTurn => {
                tally.transfers.push(at_port(connection.port, now));
            }
            SessionEnd::Client
                if plan.beginning == Beginning::InTurn && plan.connections == Connections::PerTransaction =>
            {
                let goes_on = now < *stops;
                self.complete(now, connection);
                if goes_on {
                    self.connect(now, connection.session);
                }
            }
            _ => {}
        }
    }

    /// Handles the end of a transaction.
    fn complete(&mut self, now: u64, connection: &Connection) {
        if now >= self.warmup {
            let tally = &mut self.sessions[connection.session].tally;
            tally.completions.push(now.saturating_sub(connection.began));
        }
    }

    /// Stops `session`, and discards unsent data.
    pub(super) fn stop(&mut self, session: usize) {
        let own = |connection: &&mut Connection| connection.session == session;
        for connection in self.connections.iter_mut().flatten().filter(own) {
            connection.unsent = 0;
        }
    }

    /// Handles the failure of a connection of `session`. An application with consecutive transactions opens a
    /// new connection after a delay.
    pub(super) fn after_failure(&mut self, now: u64, session: usize) {
        let Session { end, plan, stops, .. } = &self.sessions[session];
        let again = now + PATIENCE;
        if *end == SessionEnd::Client && plan.beginning == Beginning::InTurn && again < *stops {
            self.agenda.push(Reverse((again, Task::Begin(session))));
        }
    }
}
