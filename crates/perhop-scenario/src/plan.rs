//! [`Plan`]: the behavior of an application on TCP.

use perhop_qos::packet::Protocol;
use perhop_qos::random::Stream;
use perhop_qos::units::{ByteSize, Time};

use crate::tcp::TcpConfig;
use crate::{Closing, FileConnection, SourceConfig, TrafficConfig};

/// Size of a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Request {
    /// Unlimited data.
    Endless,
    /// A fixed number of bytes.
    Fixed(u64),
    /// Pareto-distributed.
    Pareto {
        /// Mean of the distribution, bytes.
        mean: f64,
        /// Shape of the distribution, above 1.
        shape: f64,
    },
}

/// Number of transactions per connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connections {
    /// One connection for all transactions.
    One,
    /// One connection per transaction. A transaction ends when its connection is closed.
    PerTransaction,
}

/// The start times of transactions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Beginning {
    /// At the end of the previous transaction.
    InTurn,
    /// At random times, independent of other transactions: exponential gaps with this mean, seconds.
    Poisson(f64),
}

/// The behavior of an application on TCP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Size of a request.
    pub request: Request,
    /// Size of the server's response, bytes.
    pub response: u64,
    /// Number of transactions per connection.
    pub connections: Connections,
    /// The endpoint that closes the connection of a transaction first.
    pub closing: Closing,
    /// The start times of transactions.
    pub beginning: Beginning,
}

impl Plan {
    /// Returns the plan of `source` and its TCP; `None` if the source sends datagrams. If connections have
    /// different plans, returns the plan of the first connection.
    pub fn for_source(source: &SourceConfig) -> Option<(Plan, &TcpConfig)> {
        Plan::for_flow(source, 0)
    }
    /// Returns the plan of flow `number` of `source`, and its TCP. For an application that chooses its
    /// requests at run time, the plan describes only the use of connections.
    pub fn for_flow(source: &SourceConfig, number: u32) -> Option<(Plan, &TcpConfig)> {
        let (connections, beginning) = (Connections::One, Beginning::InTurn);
        let closing = Closing::Client;
        let in_turn = |request, response| Plan { request, response, connections, closing, beginning };
        let fixed = |request: ByteSize, response: ByteSize| {
            in_turn(Request::Fixed(request.as_bytes()), response.as_bytes())
        };
        Some(match source {
            SourceConfig::Bulk(config) => (in_turn(Request::Endless, 0), &*config.tcp),
            SourceConfig::RequestResponse(config) => (fixed(config.request, config.response), &*config.tcp),
            SourceConfig::ConnectRequestResponse(config) => {
                let plan = fixed(config.request, config.response);
                let (connections, closing) = (Connections::PerTransaction, config.closes_first);
                (Plan { connections, closing, ..plan }, &*config.tcp)
            }
            SourceConfig::FileTransfer(config) => {
                let plan = fixed(config.size, config.confirmation);
                let connections = match config.connection {
                    FileConnection::Persistent => Connections::One,
                    FileConnection::PerFile => Connections::PerTransaction,
                };
                (Plan { connections, ..plan }, &*config.tcp)
            }
            SourceConfig::Web(config) => {
                let request =
                    Request::Pareto { mean: config.mean_size.as_bytes() as f64, shape: config.shape };
                let beginning = Beginning::Poisson(config.mean_gap.as_seconds());
                let connections = Connections::PerTransaction;
                (Plan { request, response: 0, connections, closing, beginning }, &*config.tcp)
            }
            SourceConfig::Video(config) => {
                (in_turn(Request::Fixed(config.request.as_bytes()), 1), &*config.tcp)
            }
            SourceConfig::PageLoad(config) => {
                let plan = in_turn(Request::Fixed(config.request.as_bytes()), 1);
                (Plan { connections: Connections::PerTransaction, ..plan }, &*config.tcp)
            }
            SourceConfig::SpeedTest(config) => {
                // The last connection is the probe.
                let is_probe = number % source.connections() == config.connections;
                let byte = ByteSize::from_bytes(1);
                (if is_probe { fixed(byte, byte) } else { in_turn(Request::Endless, 0) }, &*config.tcp)
            }
            SourceConfig::Cbr(_)
            | SourceConfig::Voice(_)
            | SourceConfig::Game(_)
            | SourceConfig::OnOff(_)
            | SourceConfig::Poisson(_)
            | SourceConfig::Trace(_)
            | SourceConfig::Pcap(_) => return None,
        })
    }

    /// Draws the size of the next request, bytes; [`u64::MAX`] if it is unlimited.
    pub fn next_request(&self, stream: &mut Stream) -> u64 {
        match self.request {
            Request::Endless => u64::MAX,
            Request::Fixed(bytes) => bytes,
            Request::Pareto { mean, shape } => libm::round(mean * stream.pareto(shape)).max(1.0) as u64,
        }
    }
    /// Whether the client never waits for the server, because its request is endless or has no response.
    pub fn is_continuous(&self) -> bool {
        self.connections == Connections::One && self.response == 0
    }
    /// Whether each connection is for one transaction and `end` closes the connection first.
    pub fn closes(&self, end: Closing) -> bool {
        self.connections == Connections::PerTransaction && self.closing == end
    }
    /// Draws the gap to the next transaction, if transactions start at random times.
    pub fn gap(&self, stream: &mut Stream) -> Option<Time> {
        match self.beginning {
            Beginning::InTurn => None,
            Beginning::Poisson(mean) => Some(Time::from_seconds_f64(mean * stream.exponential())),
        }
    }
}

impl TrafficConfig {
    /// Returns the IP protocol of the packets: TCP if the source is an application on TCP, otherwise
    /// `protocol` or UDP.
    pub fn protocol(&self) -> Protocol {
        let of_datagrams = self.protocol.unwrap_or(Protocol::UDP);
        if Plan::for_source(&self.source).is_some() { Protocol::TCP } else { of_datagrams }
    }
}
