//! Applications on TCP by which users judge a network: adaptive video, page loads, speed tests.

use perhop_qos::units::{ByteSize, Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::default::{bytes, number};
use crate::tcp::SharedTcp;

/// Adaptive video over HTTP (DASH, ISO/IEC 23009-1): the player at `from` requests segments one after the
/// other on one connection from the server at `to`, each in the bitrate that its rate adaptation chooses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct VideoConfig {
    /// The TCP implementation of both endpoints: a profile, and parameters that differ from it.
    pub tcp: SharedTcp,
    /// The bitrates of the representations, in ascending order.
    #[serde(default = "ladder")]
    pub ladder: Vec<Rate>,
    /// Playing time of a segment.
    #[serde(default = "segment")]
    pub segment: Time,
    /// Largest playing time in the player's buffer; the player requests a segment when the buffer has room
    /// for it.
    #[serde(default = "buffer")]
    pub buffer: Time,
    /// Playing time in the buffer at which playback starts, and resumes after a stall.
    #[serde(default = "starts_with")]
    pub starts_with: Time,
    /// The rule for the next bitrate.
    #[serde(default)]
    pub adaptation: Adaptation,
    /// Payload of a request, bytes.
    #[serde(default = "bytes::<400>")]
    pub request: ByteSize,
}

/// The ladder that Netflix used until 2015 (Aaron et al., "Per-Title Encode Optimization", 2015).
fn ladder() -> Vec<Rate> {
    [235, 375, 560, 750, 1050, 1750, 2350, 3000, 4300, 5800]
        .map(|kilobits| Rate::from_bits_per_second(1000 * kilobits))
        .to_vec()
}
fn segment() -> Time {
    Time::from_seconds(4)
}
fn buffer() -> Time {
    Time::from_seconds(30)
}
fn starts_with() -> Time {
    Time::from_seconds(4)
}

/// The rule by which a player chooses the bitrate of the next segment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Adaptation {
    /// The highest bitrate below a fraction of the throughput of the last segments.
    Throughput(ThroughputRule),
    /// The bitrate is a function of the buffer level: BBA-0 (Huang et al. 2014).
    Bba(BbaRule),
    /// The bitrate with the best utility at the buffer level: BOLA-BASIC (Spiteri et al. 2016).
    Bola(BolaRule),
}

impl Default for Adaptation {
    fn default() -> Adaptation {
        Adaptation::Throughput(ThroughputRule { safety: safety(), segments: number::<u32, 5>() })
    }
}

/// Rate adaptation by throughput.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ThroughputRule {
    /// Largest fraction of the throughput for the bitrate; above 0, at most 1.
    #[serde(default = "safety")]
    pub safety: f64,
    /// Number of segments in the harmonic mean of the throughput.
    #[serde(default = "number::<u32, 5>")]
    pub segments: u32,
}

/// The `bandwidthSafetyFactor` of dash.js.
fn safety() -> f64 {
    0.9
}

/// Rate adaptation BBA-0. The defaults are the fractions of the paper: 90 s and 126 s of a 240 s buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct BbaRule {
    /// Buffer level up to which the bitrate is the lowest; by default 0.375 of the buffer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reservoir: Option<Time>,
    /// Span of buffer levels above the reservoir, at the end of which the bitrate is the highest; by default
    /// 0.525 of the buffer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cushion: Option<Time>,
}

/// Rate adaptation BOLA-BASIC.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct BolaRule {
    /// γp: the weight of uninterrupted playback relative to bitrate; 5 in the paper.
    #[serde(default = "gamma_p")]
    pub gamma_p: f64,
}

fn gamma_p() -> f64 {
    5.0
}

/// Loads of a web page by a browser at `from` from a server at `to`: HTML first, then style sheets and
/// scripts, then images and fonts, over several connections. Pages follow each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PageConfig {
    /// The TCP implementation of both endpoints: a profile, and parameters that differ from it.
    pub tcp: SharedTcp,
    /// Parallel connections, each with one request at a time; browsers open six per host (HTTP/1.1).
    #[serde(default = "number::<u32, 6>")]
    pub connections: u32,
    /// Size of the HTML; by default the median of HTTP Archive (Web Almanac 2024, desktop).
    #[serde(default = "bytes::<18_000>")]
    pub html: ByteSize,
    /// Style sheets and scripts, which the HTML references; by default the median of HTTP Archive: 78 and 613
    /// kB.
    #[serde(default = "scripts")]
    pub scripts: ObjectsConfig,
    /// Images and fonts, which are requested after all scripts have run; by default the median of HTTP
    /// Archive: 1,054 and 131 kB.
    #[serde(default = "images")]
    pub images: ObjectsConfig,
    /// Payload of a request, bytes.
    #[serde(default = "bytes::<400>")]
    pub request: ByteSize,
    /// Processing time of the browser for the HTML, and then for the scripts.
    #[serde(default = "parse")]
    pub parse: Time,
    /// Round trips of TLS before the first request of a connection: 1 for TLS 1.3 (RFC 8446), 2 for TLS 1.2.
    #[serde(default = "number::<u32, 1>")]
    pub tls_round_trips: u32,
    /// Mean time between the end of a load and the start of the next, exponentially distributed.
    #[serde(default = "think")]
    pub think: Time,
}

/// Objects of equal size on a page.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ObjectsConfig {
    /// Number of objects.
    pub count: u32,
    /// Size of each object, bytes.
    pub size: ByteSize,
}

/// 78 kB of style sheets and 613 kB in 24 scripts: 30 objects of 23 kB.
fn scripts() -> ObjectsConfig {
    ObjectsConfig { count: 30, size: ByteSize::from_bytes(23_000) }
}
/// 1,054 kB in 18 images and 131 kB of fonts: 22 objects of 54 kB.
fn images() -> ObjectsConfig {
    ObjectsConfig { count: 22, size: ByteSize::from_bytes(54_000) }
}
fn parse() -> Time {
    Time::from_milliseconds(50)
}
fn think() -> Time {
    Time::from_seconds(5)
}

/// A speed test: bulk data from `from` to `to` over several connections from `start` to `stop`, and a probe
/// of the latency under that load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SpeedTestConfig {
    /// The TCP implementation of all endpoints: a profile, and parameters that differ from it.
    pub tcp: SharedTcp,
    /// Connections with bulk data in parallel.
    #[serde(default = "number::<u32, 4>")]
    pub connections: u32,
}
