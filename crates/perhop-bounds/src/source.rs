//! The arrival curves of traffic sources, derived from their profiles.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use perhop_qos::error::ConfigError;
use perhop_qos::packet::{Dscp, FlowKey, Packet};
use perhop_qos::units::{PICOSECONDS_PER_SECOND, Rate, Time};
use perhop_scenario::plan::Plan;
use perhop_scenario::tcp::{Headers, TcpConfig};
use perhop_scenario::{
    CbrConfig, CutGap, OnOffConfig, PeriodLaw, PoissonConfig, SizeLaw, SourceConfig, TrafficConfig,
    read_recording, read_trace,
};

use crate::arrival::Arrival;
use crate::lengths::Lengths;
use crate::schedule::PICOSECOND;

/// Packets of one flow that have the same headers, and their arrival curve in IP bytes.
#[derive(Clone, Debug)]
pub struct Sent {
    /// The headers of the packets.
    pub packet: Packet,
    /// The lengths of the packets.
    pub lengths: Lengths,
    /// The arrival curve. `None` means unbounded.
    pub own: Option<Arrival>,
}

/// The length of the longest IPv4 packet, bytes (RFC 791 §3.1).
const LONGEST_IP: u32 = 65_535;
/// The length of an acknowledgment with the longest option for selective acknowledgments, bytes (RFC 791, RFC
/// 9293, RFC 2018).
const LONGEST_ACKNOWLEDGMENT: u32 = 80;
/// The length of the IP and TCP headers without options, bytes.
const SHORTEST_SEGMENT: u32 = 40;

/// Returns the packets that a flow of `traffic` with `key` sends to its receiver, and the replies. `longest`
/// is the length of the longest TCP packet that fits the path of the flow, IP bytes.
///
/// # Errors
/// A file cannot be read, or the parameters of TCP contradict each other.
pub fn sent(
    traffic: &TrafficConfig,
    key: FlowKey,
    base: &Path,
    longest: Option<u32>,
) -> Result<[Vec<Sent>; 2], ConfigError> {
    let template = |dscp: Dscp, key: FlowKey| Packet { dscp, color: dscp.color(), ..Packet::new(key, 0) };
    let packet = template(traffic.dscp, key);
    if let Some((_, tcp)) = Plan::for_source(&traffic.source) {
        let lengths = segment_lengths(tcp, longest)?;
        let back = template(traffic.reply_dscp.unwrap_or(traffic.dscp), key.reversed());
        let segments = |packet| vec![Sent { packet, lengths: lengths.clone(), own: None }];
        return Ok([segments(packet), segments(back)]);
    }
    let single = |lengths, own| vec![Sent { packet, lengths, own }];
    let regular = |source: &SourceConfig, packet| match source {
        SourceConfig::Cbr(config) => {
            vec![Sent {
                packet,
                lengths: Lengths::exactly(config.packet.ip_length()),
                own: Some(cbr(config)),
            }]
        }
        _ => Vec::new(),
    };
    let back = template(traffic.reply_dscp.unwrap_or(traffic.dscp), key.reversed());
    let back = traffic.source.back().map_or_else(Vec::new, |source| regular(&source, back));
    let forth = match traffic.source.forth().as_ref() {
        source @ SourceConfig::Cbr(_) => regular(source, packet),
        SourceConfig::OnOff(config) => {
            single(Lengths::exactly(config.packet.ip_length()), Some(on_off(config)))
        }
        SourceConfig::Poisson(config) => single(poisson_lengths(config), None),
        SourceConfig::Trace(config) => {
            let entries = read_trace(base, &config.file)
                .map_err(|error| ConfigError::new("source.trace.file", error.to_string()))?;
            let packets = entries
                .iter()
                .map(|entry| (template(entry.dscp.unwrap_or(traffic.dscp), key), entry.time, entry.length));
            recorded(packets)
        }
        SourceConfig::Pcap(config) => {
            let recording =
                read_recording(base, config).map_err(|error| error.within("pcap").within("source"))?;
            let keys: Vec<FlowKey> = recording.flows.iter().map(|flow| flow.unwrap_or(key)).collect();
            let packets = recording.packets.iter().map(|recorded| {
                let key = keys.get(recorded.flow as usize).copied().unwrap_or(key);
                let packet =
                    Packet { marks: recorded.marks, input: recorded.input, ..template(recorded.dscp, key) };
                (packet, recorded.time, recorded.length)
            });
            recorded(packets)
        }
        _ => Vec::new(),
    };
    Ok([forth, back])
}

/// Returns the lengths of the packets of a TCP sender on a path for packets of at most `longest` bytes.
fn segment_lengths(tcp: &TcpConfig, longest: Option<u32>) -> Result<Lengths, ConfigError> {
    let within = longest.map_or_else(|| tcp.clone(), |longest| tcp.within(longest));
    let parameters = within.build().map_err(|error| error.within("tcp").within("source"))?;
    let least = if parameters.headers == Headers::Added { SHORTEST_SEGMENT } else { 1 };
    Ok(Lengths::Between(least, parameters.largest_packet().max(LONGEST_ACKNOWLEDGMENT)))
}

/// Returns the lengths of the packets of a Poisson source.
fn poisson_lengths(config: &PoissonConfig) -> Lengths {
    match config.sizes {
        SizeLaw::Fixed => Lengths::exactly(config.packet.ip_length()),
        SizeLaw::Exponential => Lengths::Between(1, LONGEST_IP),
    }
}

/// Returns the time between two packets, seconds. Each packet counts as `counted` bytes for `rate`.
fn gap(counted: u64, rate: Rate) -> f64 {
    counted as f64 * 8.0 / rate.as_bits_per_second() as f64
}

/// Returns the arrival curve of one packet at once, and then one packet after each gap. A real gap may be a
/// picosecond shorter, because times are whole picoseconds.
fn paced(length: f64, gap: f64) -> Arrival {
    let rate = length / gap;
    Arrival::token_bucket(length + rate * PICOSECOND, rate)
}

fn cbr(config: &CbrConfig) -> Arrival {
    let length = u64::from(config.packet.ip_length());
    let counted = config.rate_counts.map_or(config.packet.counted(), |framing| framing.wire_bytes(length));
    // Gaps vary independently, so all gaps may have the shortest length.
    let shortest = gap(counted, config.rate) * (1.0 - config.jitter);
    let shortest = if config.jitter == 0.0 { shortest } else { shortest - PICOSECOND };
    paced(length as f64, shortest)
}

/// Returns the arrival curve of n packets in each cycle. n is ⌈on-time / gap⌉, or on average on-time / gap.
/// The curve is the minimum of two token buckets. One bucket has the peak rate. The other bucket has the mean
/// rate, and its burst is the number of bytes by which n packets exceed the mean rate.
fn on_off(config: &OnOffConfig) -> Arrival {
    let OnOffConfig { rate, packet, on_time, off_time, law, cut_gap } = config;
    let (gap, length) = (gap(packet.counted(), *rate), f64::from(packet.ip_length()));
    let peak = paced(length, gap);
    if *law != PeriodLaw::Deterministic {
        return peak;
    }
    let cycle = (*on_time + *off_time).as_seconds();
    let gaps = on_time.as_seconds() / gap;
    let (mean, burst) = match cut_gap {
        CutGap::Dropped => {
            let packets = (gaps - 1e-9).ceil().max(1.0);
            let mean = packets * length / cycle;
            (mean, packets * length - mean * (packets - 1.0) * gap)
        }
        // A span contains at most one packet plus the packets of its ON time. This ON time is at most one
        // whole ON period plus the average share of the remaining span.
        CutGap::Carried => {
            let mean = gaps * length / cycle;
            (mean, length + gaps * length - mean * on_time.as_seconds())
        }
    };
    peak.within(&Arrival::token_bucket(burst + mean * 2.0 * PICOSECOND, mean))
}

/// A packet, and the times and lengths of all packets that have the same headers.
type Group = (Packet, Vec<(Time, u32)>);

/// Groups the packets of a recording by headers. The arrival curve of each group consists of the smallest
/// token buckets that admit the group.
fn recorded(packets: impl Iterator<Item = (Packet, Time, u32)>) -> Vec<Sent> {
    let mut groups: BTreeMap<(FlowKey, u8, String), Group> = BTreeMap::new();
    for (packet, time, length) in packets {
        let marks = format!("{:?} {:?}", packet.marks, packet.input);
        let headers = (packet.flow_key(), packet.dscp.value(), marks);
        groups.entry(headers).or_insert_with(|| (packet, Vec::new())).1.push((time, length));
    }
    let sent = |(packet, times): Group| {
        let lengths: BTreeSet<u32> = times.iter().map(|(_, length)| *length).collect();
        Some(Sent { packet, lengths: Lengths::among(lengths)?, own: Some(envelope(&times)) })
    };
    groups.into_values().filter_map(sent).collect()
}

/// Returns token buckets of several rates, from the mean rate upward. Each bucket has the smallest burst that
/// admits all packets in `times`. A further bucket has the rate 0 and the total amount as its burst.
fn envelope(times: &[(Time, u32)]) -> Arrival {
    let total: f64 = times.iter().map(|(_, length)| f64::from(*length)).sum();
    let span = match times {
        [(first, _), .., (last, _)] => last.saturating_sub(*first).as_seconds(),
        _ => 0.0,
    };
    if span == 0.0 {
        return Arrival::token_bucket(total, 0.0);
    }
    let bucket = |factor: f64| {
        let rate = total / span * factor;
        Arrival::token_bucket(least_burst(times, rate) + rate * PICOSECOND, rate)
    };
    let rates = [1.0, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 100.0];
    // On the way to this place, delays may change so that all packets arrive at once.
    let all = Arrival::token_bucket(total, 0.0);
    rates.iter().map(|factor| bucket(*factor)).fold(all, |least, bucket| least.within(&bucket))
}

/// Returns the smallest burst of a token bucket of `rate` bytes per second that admits all packets.
fn least_burst(times: &[(Time, u32)], rate: f64) -> f64 {
    let (mut level, mut most, mut before) = (0.0f64, 0.0f64, None::<Time>);
    for (time, length) in times {
        let elapsed = before.map_or(0, |before| time.saturating_sub(before).as_picoseconds());
        level = (level - rate * elapsed as f64 / PICOSECONDS_PER_SECOND as f64).max(0.0) + f64::from(*length);
        most = most.max(level);
        before = Some(*time);
    }
    most
}

#[cfg(test)]
mod tests {
    use perhop_qos::units::ByteSize;
    use perhop_scenario::PacketSize;

    use super::*;

    #[test]
    fn bursts_of_three_packets() {
        // One packet of 1000 bytes is sent in each millisecond for 3 ms, and no packet for 7 ms: at 0, 1, 2,
        // 10, 11, 12 ms …
        let config = OnOffConfig {
            rate: Rate::from_bits_per_second(8_000_000),
            packet: PacketSize::Ip(ByteSize::from_bytes(1000)),
            on_time: Time::from_milliseconds(3),
            off_time: Time::from_milliseconds(7),
            law: PeriodLaw::Deterministic,
            cut_gap: CutGap::Dropped,
        };
        let curve = on_off(&config);
        // A span of 0 ms contains one packet, 1 ms contains two, 2 ms contain three, and 12 ms contain six.
        // The first packet of a burst is sent 8 ms after the last packet of the previous burst.
        for (span, packets) in [(0.0, 1.0), (1e-3, 2.0), (2e-3, 3.0), (10e-3, 4.0), (12e-3, 6.0)] {
            assert!(curve.at(span) >= packets * 1000.0, "{span}: {}", curve.at(span));
        }
        assert!(curve.at(2e-3) < 3001.0 && curve.at(12e-3) < 6001.0);
        assert!((curve.rate() - 3e5).abs() < 1e-6);
        // A gap can end in the next burst, and this burst then begins with a packet. The curve therefore
        // allows at most one packet more.
        let carried = on_off(&OnOffConfig { cut_gap: CutGap::Carried, ..config.clone() });
        assert!((carried.rate() - 3e5).abs() < 1e-6);
        assert!(carried.at(10e-3) >= 4000.0 && carried.at(12e-3) < 7001.0);
        let random = on_off(&OnOffConfig { law: PeriodLaw::Exponential, ..config });
        assert!((random.rate() - 1e6).abs() < 1e-6);
    }

    #[test]
    fn jitter_may_shorten_every_gap() {
        let config = CbrConfig {
            rate: Rate::from_bits_per_second(800_000),
            packet: PacketSize::Ip(ByteSize::from_bytes(100)),
            rate_counts: None,
            jitter: 0.2,
        };
        // The gap is 1 ms, and at least 0.8 ms with jitter. The highest rate is therefore 125 kB/s.
        assert!((cbr(&config).rate() - 125_000.0).abs() < 1.0);
        assert!((cbr(&CbrConfig { jitter: 0.0, ..config }).rate() - 100_000.0).abs() < 1e-3);
    }

    #[test]
    fn a_recording_is_within_its_envelope() {
        let at = |ms| Time::from_milliseconds(ms);
        let times = [(at(0), 500), (at(0), 500), (at(5), 200), (at(6), 700), (at(20), 100)];
        let curve = envelope(&times);
        for (first, (from, _)) in times.iter().enumerate() {
            let mut sum = 0.0;
            for (time, length) in &times[first..] {
                sum += f64::from(*length);
                assert!(curve.at((*time - *from).as_seconds()) >= sum - 1e-9);
            }
        }
        // 1000 bytes arrive at once. A token bucket with the mean rate of 100 bytes per ms needs a burst of
        // 1000 − 500 + 200 − 100 + 700 = 1300 bytes.
        assert!((curve.at(0.0) - 1000.0).abs() < 1e-6);
        assert!((least_burst(&times, 1e5) - 1300.0).abs() < 1e-9);
    }
}
