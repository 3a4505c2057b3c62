//! Applications on TCP, between a client at `from` and a server at `to`.

use perhop_qos::units::{ByteSize, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::default::bytes;
use crate::tcp::SharedTcp;

/// One connection that always has data to send.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct BulkConfig {
    /// The TCP implementation of both endpoints: a profile, and parameters that differ from it.
    pub tcp: SharedTcp,
}

/// Requests and responses in turn on one connection: netperf's `TCP_RR`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RequestResponseConfig {
    /// The TCP implementation of both endpoints: a profile, and parameters that differ from it.
    pub tcp: SharedTcp,
    /// Payload of a request from client to server, bytes.
    pub request: ByteSize,
    /// Payload of a response, bytes. With 0, the client sends requests back to back.
    pub response: ByteSize,
}

/// A connection for each request and response, one after the other: netperf's `TCP_CRR`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ConnectRequestResponseConfig {
    /// The TCP implementation of both endpoints: a profile, and parameters that differ from it.
    pub tcp: SharedTcp,
    /// Payload of a request from client to server, bytes.
    pub request: ByteSize,
    /// Payload of a response, bytes.
    pub response: ByteSize,
    /// The endpoint that closes the connection first.
    #[serde(default)]
    pub closes_first: Closing,
}

/// The endpoint that closes a connection first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Closing {
    /// The server, after its response: netperf, web servers.
    #[default]
    Server,
    /// The client, after it has received the response.
    Client,
}

/// Files from client to server, one after the other, each confirmed by the receiving application: the file
/// send of Chariot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FileTransferConfig {
    /// The TCP implementation of both endpoints: a profile, and parameters that differ from it.
    pub tcp: SharedTcp,
    /// Size of a file, bytes.
    #[serde(default = "bytes::<100_000>")]
    pub size: ByteSize,
    /// Size of the confirmation, bytes.
    #[serde(default = "bytes::<1>")]
    pub confirmation: ByteSize,
    /// Whether files share a connection.
    #[serde(default)]
    pub connection: FileConnection,
}

/// Whether files share a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FileConnection {
    /// One connection for all files.
    #[default]
    Persistent,
    /// A new connection for each file.
    PerFile,
}

/// Many short transfers from client to server that start at random times, each on its own connection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct WebConfig {
    /// The TCP implementation of both endpoints: a profile, and parameters that differ from it.
    pub tcp: SharedTcp,
    /// Mean time between the starts of two transfers; the gaps are exponentially distributed.
    pub mean_gap: Time,
    /// Mean size of a transfer, bytes; sizes are Pareto-distributed.
    pub mean_size: ByteSize,
    /// Shape of the Pareto distribution, above 1; a smaller shape gives a heavier tail.
    #[serde(default = "default_shape")]
    pub shape: f64,
}

fn default_shape() -> f64 {
    1.2
}
