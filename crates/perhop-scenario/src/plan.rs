//! [`Plan`]: what an application does with its connections.

use perhop_qos::random::Stream;

use perhop_qos::units::Time;

use crate::tcp::TcpConfig;
use crate::{Closing, FileConnection, SourceConfig};

/// What the client sends in one transaction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Request {
    /// More than ever ends.
    Endless,
    /// So many bytes.
    Fixed(u64),
    /// A Pareto law.
    Pareto {
        /// Its mean, bytes.
        mean: f64,
        /// Its shape, above 1.
        shape: f64,
    },
}

/// How connections and transactions go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connections {
    /// All transactions on one.
    One,
    /// One for each, which ends it by closing.
    PerTransaction,
}

/// When transactions begin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Beginning {
    /// Each when the one before it is over.
    InTurn,
    /// At random, whatever becomes of the others: independent gaps of this mean, seconds.
    Poisson(f64),
}

/// What an application does with its connections.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// What the client sends in one transaction.
    pub request: Request,
    /// Bytes that the server answers.
    pub response: u64,
    /// How connections and transactions go together.
    pub connections: Connections,
    /// Which end closes a connection of a transaction.
    pub closing: Closing,
    /// When transactions begin.
    pub beginning: Beginning,
}

impl Plan {
    /// What `source` does, and by which TCP; `None` if it sends datagrams.
    pub fn of(source: &SourceConfig) -> Option<(Plan, &TcpConfig)> {
        let (connections, beginning) = (Connections::One, Beginning::InTurn);
        let closing = Closing::Client;
        let in_turn = |request, response| Plan { request, response, connections, closing, beginning };
        Some(match source {
            SourceConfig::Bulk(config) => (in_turn(Request::Endless, 0), &config.tcp),
            SourceConfig::RequestResponse(config) => {
                let (request, response) = (config.request.as_bytes(), config.response.as_bytes());
                (in_turn(Request::Fixed(request), response), &config.tcp)
            }
            SourceConfig::ConnectRequestResponse(config) => {
                let (request, response) = (config.request.as_bytes(), config.response.as_bytes());
                let plan = in_turn(Request::Fixed(request), response);
                let (connections, closing) = (Connections::PerTransaction, config.closes_first);
                (Plan { connections, closing, ..plan }, &config.tcp)
            }
            SourceConfig::FileTransfer(config) => {
                let plan = in_turn(Request::Fixed(config.size.as_bytes()), config.confirmation.as_bytes());
                let connections = match config.connection {
                    FileConnection::Persistent => Connections::One,
                    FileConnection::PerFile => Connections::PerTransaction,
                };
                (Plan { connections, ..plan }, &config.tcp)
            }
            SourceConfig::Web(config) => {
                let request =
                    Request::Pareto { mean: config.mean_size.as_bytes() as f64, shape: config.shape };
                let beginning = Beginning::Poisson(config.mean_gap.as_seconds());
                let connections = Connections::PerTransaction;
                (Plan { request, response: 0, connections, closing, beginning }, &config.tcp)
            }
            SourceConfig::Cbr(_)
            | SourceConfig::OnOff(_)
            | SourceConfig::Poisson(_)
            | SourceConfig::Trace(_)
            | SourceConfig::Pcap(_) => return None,
        })
    }

    /// Bytes of the next request; [`u64::MAX`] of an endless one.
    pub fn next_request(&self, stream: &mut Stream) -> u64 {
        match self.request {
            Request::Endless => u64::MAX,
            Request::Fixed(bytes) => bytes,
            Request::Pareto { mean, shape } => libm::round(mean * stream.pareto(shape)).max(1.0) as u64,
        }
    }
    /// The client sends without waiting for anything: an endless request, or requests without an answer.
    pub fn is_continuous(&self) -> bool {
        self.connections == Connections::One && self.response == 0
    }
    /// Whether connections carry one transaction, and `end` is the first to close them.
    pub fn closes(&self, end: Closing) -> bool {
        self.connections == Connections::PerTransaction && self.closing == end
    }
    /// The gap to the next transaction, where they begin at random.
    pub fn gap(&self, stream: &mut Stream) -> Option<Time> {
        match self.beginning {
            Beginning::InTurn => None,
            Beginning::Poisson(mean) => Some(Time::from_seconds_f64(mean * stream.exponential())),
        }
    }
}
