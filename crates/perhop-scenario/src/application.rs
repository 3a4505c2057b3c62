//! Applications on TCP: what a client at `from` and a server at `to` do with their connections.

use perhop_qos::units::{ByteSize, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tcp::TcpConfig;

/// One connection that always has data to send.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct BulkConfig {
    /// The TCP of both ends.
    pub tcp: TcpConfig,
}

/// Requests and responses in turn on one connection: netperf's `TCP_RR`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RequestResponseConfig {
    /// The TCP of both ends.
    pub tcp: TcpConfig,
    /// Payload of a request, from client to server.
    pub request: ByteSize,
    /// Payload of a response. Without any, request follows request without waiting.
    pub response: ByteSize,
}

/// A connection for each request and response, one after the other: netperf's `TCP_CRR`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ConnectRequestResponseConfig {
    /// The TCP of both ends.
    pub tcp: TcpConfig,
    /// Payload of a request, from client to server.
    pub request: ByteSize,
    /// Payload of a response.
    pub response: ByteSize,
    /// Which end closes the connection first.
    #[serde(default)]
    pub closes_first: Closing,
}

/// Which end of a connection closes it first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Closing {
    /// The server, behind its response: netperf, web servers.
    #[default]
    Server,
    /// The client, once it has the response.
    Client,
}

/// Files from client to server, one after the other, each confirmed by the receiving application: Chariot's
/// file send.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FileTransferConfig {
    /// The TCP of both ends.
    pub tcp: TcpConfig,
    /// Size of a file.
    #[serde(default = "default_file")]
    pub size: ByteSize,
    /// Size of the confirmation.
    #[serde(default = "default_confirmation")]
    pub confirmation: ByteSize,
    /// Which connections they use.
    #[serde(default)]
    pub connection: FileConnection,
}

fn default_file() -> ByteSize {
    ByteSize::from_bytes(100_000)
}
fn default_confirmation() -> ByteSize {
    ByteSize::from_bytes(1)
}

/// Which connections file transfers use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FileConnection {
    /// One for all files.
    #[default]
    Persistent,
    /// A new one for each file.
    PerFile,
}

/// Many short transfers from client to server that begin at random, each on a connection of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct WebConfig {
    /// The TCP of both ends.
    pub tcp: TcpConfig,
    /// Mean time between the beginnings of two transfers; gaps are exponential.
    pub mean_gap: Time,
    /// Mean size; sizes follow a Pareto law.
    pub mean_size: ByteSize,
    /// Shape of the law, above 1; the smaller, the heavier its tail.
    #[serde(default = "default_shape")]
    pub shape: f64,
}

fn default_shape() -> f64 {
    1.2
}
