//! Sources of traffic that offer a rate, by the kind of traffic.

use serde_json::{Value, json};

use crate::role::Kind;
use crate::words::{as_rate, counted, microseconds, number};

/// The rate, b/s, above which connections need window scaling, which permits windows above 64 KiB.
const FAST: f64 = 100e6;
/// The largest window without scaling, bytes.
const NARROW_WINDOW: f64 = 65536.0;
/// IP bytes of a full segment.
pub(crate) const PACKET: f64 = 1500.0;
/// The minimum number of greedy connections.
const CONNECTIONS: f64 = 4.0;
/// The rate for each further greedy connection, b/s. The windows of all connections then cover the queues,
/// and the product of the rate and the longest round trip.
const PER_CONNECTION: f64 = 5e6;
/// The maximum number of greedy connections.
const MOST_CONNECTIONS: f64 = 64.0;
/// The time that a transfer takes at the offered rate, if its size is within the limits below.
const TRANSFER_SECONDS: f64 = 0.25;
/// The number of users with transfers. Each user is a separate flow for fair queueing.
const USERS: u32 = 16;
/// The minimum size of a transfer, bytes.
const LEAST_TRANSFER: f64 = 500.0;
/// The maximum size of a transfer, bytes. It fits into the initial window of TCP (RFC 6928), so the transfer
/// is one burst.
const LARGEST_TRANSFER: f64 = 6_000.0;
/// The shape of the Pareto distribution of transfer sizes. With this shape, the variance is finite, so the
/// offered load of a run is near its mean.
const TRANSFER_SHAPE: f64 = 3.0;
/// Bytes of IPv4 and TCP headers with timestamps.
const TCP_HEADER: f64 = 52.0;
/// Segments of a connection without data from the client.
const CONTROL_SEGMENTS: f64 = 3.0;
/// Bytes of data in a full segment.
const SEGMENT: f64 = 1448.0;
/// The time between packets of a call.
const CALL_SECONDS: f64 = 0.02;
/// The maximum number of streams of one class between two sites.
const MOST_STREAMS: f64 = 64.0;
/// The time between video frames, 25 per second. A frame is a burst at twice the mean rate.
const FRAME_SECONDS: f64 = 0.04;
/// The minimum number of packets of a video frame.
const LEAST_BURST: f64 = 8.0;
/// The maximum rate of a video (Microsoft Learn, "Understand Teams network requirements": up to 4 Mb/s for a
/// client), b/s. A class of a fast line carries many videos, whose frames do not start together.
const VIDEO_RATE: f64 = 4e6;

/// The keys of a traffic entry that determine its rate.
#[derive(Clone, Debug)]
pub(crate) struct Sending {
    pub(crate) source: Value,
    pub(crate) count: u32,
    /// The kind of packets, in a few words.
    pub(crate) words: String,
}

/// Returns a source of the given kind that offers `rate` bits per second; a greedy source sends more.
pub(crate) fn sending(kind: Kind, rate: f64, packet_bytes: u32) -> Sending {
    let datagrams =
        |kind: &str| json!({kind: {"rate": as_rate(rate), "packet": {"ip": format!("{packet_bytes}B")}}});
    match kind {
        Kind::Constant => single(datagrams("cbr"), format!("{packet_bytes}-byte packets")),
        Kind::Datagrams => single(datagrams("poisson"), format!("{packet_bytes}-byte datagrams")),
        Kind::Bursts => videos(rate, packet_bytes),
        Kind::Transfers => {
            let mean_bytes = (rate * TRANSFER_SECONDS / 8.0).clamp(LEAST_TRANSFER, LARGEST_TRANSFER);
            Sending { count: USERS, ..transfers(rate / f64::from(USERS), mean_bytes) }
        }
        Kind::Greedy => {
            let connections = (rate / PER_CONNECTION).round_ties_even().clamp(CONNECTIONS, MOST_CONNECTIONS);
            Sending {
                source: json!({"bulk": {"tcp": tcp(rate)}}),
                count: connections as u32,
                words: greedy_words(connections as u32),
            }
        }
    }
}

/// Returns constant streams that together offer `rate` bits per second. Each sends a packet every 20 ms, like
/// a call.
///
/// Two streams with one period keep their phase, so a shared policer drops packets of the same stream for the
/// whole run (Floyd and Jacobson 1992, "On traffic phase effects in packet-switched gateways"). Many streams
/// with random phases share the loss equally, like calls.
pub(crate) fn streams(rate: f64, packet_bytes: u32) -> Sending {
    let call = 8.0 * f64::from(packet_bytes) / CALL_SECONDS;
    let count = (rate / call).round_ties_even().clamp(1.0, MOST_STREAMS);
    let each = sending(Kind::Constant, rate / count, packet_bytes);
    let words = format!("{} of {packet_bytes}-byte packets", counted(count as u64, "stream"));
    Sending { count: count as u32, words, ..each }
}

/// Returns the kind of traffic of a source from [`sending`], and the IP bytes of its datagrams.
pub(crate) fn kind_of_source(source: &Value) -> Option<(Kind, Option<u32>)> {
    let (key, settings) = source.as_object()?.iter().next()?;
    let kind = match key.as_str() {
        "cbr" => Kind::Constant,
        "poisson" => Kind::Datagrams,
        "on-off" => Kind::Bursts,
        "web" => Kind::Transfers,
        "bulk" => Kind::Greedy,
        _ => return None,
    };
    let bytes = settings["packet"]["ip"].as_str().and_then(|text| text.trim_end_matches('B').parse().ok());
    Some((kind, bytes))
}

/// The limit of a queue, packets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// The limit for all flows together.
    pub(crate) all: f64,
    /// The limit for each flow.
    pub(crate) of_flow: f64,
}

/// Returns greedy connections whose window can fill a queue with `room`.
pub(crate) fn filling(sent: Sending, room: Room) -> Sending {
    let needed = room.of_flow.min(room.all / f64::from(sent.count));
    let is_narrow = needed * PACKET >= NARROW_WINDOW && sent.source["bulk"].is_object();
    if !is_narrow {
        return sent;
    }
    Sending { source: json!({"bulk": {"tcp": tcp(f64::INFINITY)}}), ..sent }
}

/// Returns the description of greedy TCP.
pub(crate) fn greedy_words(connections: u32) -> String {
    counted(connections.into(), "greedy TCP connection")
}

fn single(source: Value, words: String) -> Sending {
    Sending { source, count: 1, words }
}

fn tcp(rate: f64) -> Value {
    json!({"profile": "linux-modern", "window": if rate > FAST { "1MiB" } else { "64KiB" }})
}

/// Returns videos that together offer `rate` bits per second.
fn videos(rate: f64, packet_bytes: u32) -> Sending {
    let count = (rate / VIDEO_RATE).ceil().clamp(1.0, MOST_STREAMS);
    let video = bursts(rate / count, packet_bytes);
    let words = match count as u64 {
        1 => video.words,
        count => format!("{} of {}", counted(count, "stream"), video.words),
    };
    Sending { count: count as u32, words, ..video }
}

/// Returns frames of variable size. The source is on for half of the time on average, at twice the rate.
fn bursts(rate: f64, packet_bytes: u32) -> Sending {
    let bits = 8.0 * f64::from(packet_bytes);
    let gap = bits / (2.0 * rate);
    let on = (FRAME_SECONDS / 2.0).max(LEAST_BURST * gap);
    // A burst of exponential length has one packet at its start and one after each complete gap.
    let packets = 1.0 / -libm::expm1(-gap / on);
    let off = packets * bits / rate - on;
    let source = json!({"on-off": {
        "rate": as_rate(2.0 * rate), "packet": {"ip": format!("{packet_bytes}B")},
        "on-time": microseconds(on), "off-time": microseconds(off), "law": "exponential",
    }});
    single(source, format!("bursts of {packet_bytes}-byte packets"))
}

/// Returns TCP transfers of a mean size that start at random times and offer `rate` bits per second.
pub(crate) fn transfers(rate: f64, mean_bytes: f64) -> Sending {
    let size = mean_bytes.round_ties_even().max(1.0);
    let segments = (size / SEGMENT).ceil() + CONTROL_SEGMENTS;
    let gap = (size + segments * TCP_HEADER) * 8.0 / rate;
    let source = json!({"web": {
        "tcp": tcp(rate), "mean-gap": microseconds(gap), "mean-size": format!("{size}B"),
        "shape": TRANSFER_SHAPE,
    }});
    single(source, format!("TCP transfers of {} kB", number(size / 1000.0, 2)))
}
