//! BBR compared with the statements of its papers, over one link: a FIFO with a rate, a delay and a limit.

use crate::pair;
use crate::pair::{CLIENT, Pair, SERVER};
use crate::simulation;
use perhop_qos::QueueSize;
use perhop_qos::random::Streams;
use perhop_qos::units::Time;
use perhop_scenario::tcp::{CongestionControl, Profile, TcpConfig};
use perhop_sim::tcp::{BbrMode, BbrModel, Segment};
use serde_json::json;

/// Bytes of a full segment's packet and of its payload, with timestamps.
const PACKET: f64 = 1500.0;
const PAYLOAD: f64 = 1448.0;

fn tcp(congestion: CongestionControl) -> TcpConfig {
    TcpConfig {
        congestion: Some(congestion),
        window: Some(QueueSize::Bytes(16 << 20)),
        ..TcpConfig::new(Profile::Linux6)
    }
}

/// A link from client to server. Acknowledgments are delayed but need no transmission time.
#[derive(Clone, Copy)]
struct Link {
    rate: f64,
    round_trip: Time,
    /// Maximum number of waiting packets, and the fraction of packets that are lost at random.
    limit: f64,
    loss: f64,
    /// A policer before the link: its rate (bits per second) and burst (bytes).
    policer: Option<(f64, f64)>,
}

impl Link {
    fn new(rate: f64, round_trip: u64, limit: f64) -> Link {
        Link { rate, round_trip: Time::from_milliseconds(round_trip), limit, loss: 0.0, policer: None }
    }
    /// The segments in flight that fill the link without a queue.
    fn flight(&self) -> f64 {
        self.rate * self.round_trip.as_seconds() / 8.0 / PACKET
    }
    /// Payload bytes per second.
    fn goodput(&self) -> f64 {
        self.rate / 8.0 * PAYLOAD / PACKET
    }
    /// Returns the fate of each segment. Its timestamp is its send time.
    fn fate(self) -> impl FnMut(usize, &Segment) -> Option<Time> {
        let (mut free_at, mut random) = (0.0_f64, Streams::new(7, 0).stream());
        let (mut tokens, mut filled) = (self.policer.map_or(0.0, |(_, burst)| burst), 0.0);
        let half = Time::from_picoseconds(self.round_trip.as_picoseconds() / 2);
        move |end, segment| {
            let Some(stamps) = segment.timestamps().filter(|_| end == CLIENT && segment.length > 0) else {
                return Some(half);
            };
            let (now, bits) = (stamps.value.as_seconds(), f64::from(segment.length + 52) * 8.0);
            if let Some((rate, burst)) = self.policer {
                tokens = f64::min(burst, tokens + (now - filled) * rate / 8.0);
                filled = now;
                if tokens < bits / 8.0 {
                    return None;
                }
                tokens -= bits / 8.0;
            }
            let waits = (free_at - now).max(0.0);
            if random.uniform() < self.loss || waits * self.rate / 8.0 / PACKET > self.limit {
                return None;
            }
            free_at = now + waits + bits / self.rate;
            Some(half + Time::from_seconds_f64(free_at - now))
        }
    }
}

/// One sample per millisecond of a flow that always has data.
struct Sample {
    at: f64,
    model: BbrModel,
    window: f64,
    /// The segments in flight, and the segments acknowledged so far.
    flight: f64,
    acknowledged: f64,
    received: u64,
}

fn watch(congestion: CongestionControl, link: Link, seconds: u64) -> (Vec<Sample>, u64) {
    let parameters = tcp(congestion).build().unwrap();
    let mut pair = Pair::new(&parameters, link.fate());
    pair.ends[CLIENT].send(u64::MAX);
    let (mut samples, mut received) = (Vec::new(), 0);
    for ms in 1..=seconds * 1000 {
        pair.run(Time::from_milliseconds(ms), pair::silent);
        received += pair.received(SERVER);
        pair.events[SERVER].clear();
        let end = &pair.ends[CLIENT];
        samples.push(Sample {
            at: ms as f64 / 1000.0,
            model: end.bbr().expect("it is BBR"),
            window: end.congestion_window(),
            flight: end.flight() as f64 / PAYLOAD,
            acknowledged: end.acknowledged() as f64 / PAYLOAD,
            received,
        });
    }
    (samples, pair.ends[CLIENT].statistics().retransmissions)
}

const VERSIONS: [CongestionControl; 2] = [CongestionControl::Bbr, CongestionControl::Bbr3];

/// The starts of the round trips of a flow. A round trip ends when all data that were sent before its start
/// are acknowledged.
fn rounds(samples: &[Sample]) -> Vec<f64> {
    let (mut begins, mut ends) = (Vec::new(), 0.0);
    for sample in samples {
        if sample.acknowledged > ends {
            ends = sample.acknowledged + sample.flight;
            begins.push(sample.at);
        }
    }
    begins
}

/// Cardwell et al. 2016: the rate doubles each round trip, and startup ends when it has grown by less than a
/// quarter in three round trips.
#[test]
fn startup_doubles_and_ends_three_rounds_after_the_path_is_full() {
    for congestion in VERSIONS {
        let link = Link::new(50e6, 40, 10_000.0);
        let (samples, retransmissions) = watch(congestion, link, 3);
        assert_eq!(retransmissions, 0, "{congestion:?}");
        let reaches = |share: f64| {
            let found = samples.iter().find(|sample| sample.model.bandwidth as f64 >= share * link.goodput());
            found.expect("the rate is found").at
        };
        let round = link.round_trip.as_seconds();
        let doubling = reaches(0.8) - reaches(0.2);
        assert!(
            (1.5 * round..3.0 * round).contains(&doubling),
            "{congestion:?}: {doubling} s for two doublings"
        );
        let left = samples.iter().find(|sample| sample.model.mode != BbrMode::Startup).expect("it ends").at;
        // Above 80 % of the link, the rate cannot grow by a quarter. Version 1 checks the growth when a round
        // begins. Version 3 checks it at every acknowledgment and counts starts of rounds, and the first
        // round may start immediately.
        let full = reaches(0.8);
        let between = rounds(&samples).iter().filter(|begin| full < **begin && **begin <= left).count();
        let expected = if congestion == CongestionControl::Bbr { 3..=5 } else { 2..=4 };
        assert!(expected.contains(&between), "{congestion:?}: {between} rounds after it is full");
    }
}

/// If a flow is alone on a link, its model equals the link. The tolerance is 2 % for the rate, and the
/// transmission time of a packet for the minimum round-trip time.
#[test]
fn the_model_matches_the_path() {
    for (rate, round_trip) in [(10e6, 40), (50e6, 20), (20e6, 100)] {
        for congestion in VERSIONS {
            let link = Link::new(rate, round_trip, 1000.0);
            let (samples, _) = watch(congestion, link, 5);
            let last = &samples[samples.len() - 1];
            let ratio = last.model.bandwidth as f64 / link.goodput();
            assert!((0.98..=1.02).contains(&ratio), "{congestion:?}, {rate}: rate {ratio}");
            let least = last.model.least_round_trip.unwrap().as_seconds() - link.round_trip.as_seconds();
            assert!((0.0..=2.0 * PACKET * 8.0 / rate).contains(&least), "{congestion:?}, {rate}: {least} s");
        }
    }
}

/// While the rate is probed, the flight remains near the flight that fills the path, and the link is fully
/// used. Version 1 increases by a quarter for one round trip. Version 3 increases until the rate is constant
/// for three round trips: 1.25^3 = 1.95.
#[test]
fn the_flight_fills_the_path() {
    for (congestion, limits) in VERSIONS.into_iter().zip([1.15..1.45, 1.5..2.0]) {
        let link = Link::new(20e6, 50, 1000.0);
        let (samples, retransmissions) = watch(congestion, link, 9);
        assert_eq!(retransmissions, 0, "{congestion:?}");
        let steady =
            samples.iter().filter(|sample| sample.at > 2.0 && sample.model.mode == BbrMode::ProbeBandwidth);
        let flights: Vec<f64> = steady.map(|sample| sample.flight / link.flight()).collect();
        let mean = flights.iter().sum::<f64>() / flights.len() as f64;
        assert!((0.95..1.15).contains(&mean), "{congestion:?}: mean {mean}");
        let most = flights.iter().copied().fold(0.0, f64::max);
        assert!(limits.contains(&most), "{congestion:?}: most {most}");
        let begin = samples.iter().find(|sample| sample.at >= 2.0).unwrap().received;
        let used = (samples[samples.len() - 1].received - begin) as f64 / 7.0 / link.goodput();
        assert!(used > 0.95, "{congestion:?}: {used} of the link");
    }
}

/// Every 10 s, the window is four segments for 200 ms and at least a round trip. In version 3, the interval
/// is 5 s, and the window is half of the flight that fills the path.
#[test]
fn the_minimum_round_trip_is_probed() {
    for (congestion, each) in VERSIONS.into_iter().zip([10.0, 5.0]) {
        let link = Link::new(20e6, 50, 1000.0);
        let (samples, _) = watch(congestion, link, 24);
        let mut begins = Vec::new();
        let mut lengths = Vec::new();
        for pair in samples.windows(2) {
            let probes = |sample: &Sample| sample.model.mode == BbrMode::ProbeRoundTrip;
            match (probes(&pair[0]), probes(&pair[1])) {
                (false, true) => begins.push(pair[1].at),
                (true, false) => lengths.push(pair[1].at - begins[begins.len() - 1]),
                _ => {}
            }
            if probes(&pair[1]) && pair[1].at - begins[begins.len() - 1] > 0.1 {
                let expected = if congestion == CongestionControl::Bbr { 4.0 } else { 0.5 * link.flight() };
                assert!((pair[1].window - expected).abs() <= 2.0, "{congestion:?}: {}", pair[1].window);
            }
        }
        assert!(begins.len() >= 2, "{congestion:?}: {begins:?}");
        for gap in begins.windows(2).map(|pair| pair[1] - pair[0]) {
            // The gap is from the end of one probe to the next probe.
            assert!((each..each + 0.5).contains(&gap), "{congestion:?}: {begins:?}");
        }
        for length in lengths {
            assert!((0.2..0.4).contains(&length), "{congestion:?}: {length} s");
        }
    }
}

fn used(congestion: CongestionControl, link: Link, seconds: u64) -> f64 {
    let parameters = tcp(congestion).build().unwrap();
    let mut pair = Pair::new(&parameters, link.fate());
    pair.ends[CLIENT].send(u64::MAX);
    pair.run(Time::from_seconds(seconds), pair::silent);
    pair.received(SERVER) as f64 / seconds as f64 / link.goodput()
}

/// Cardwell et al. 2016, figure 8: with random losses of 1 %, BBR uses the whole link and CUBIC only a small
/// part of it.
#[test]
fn random_loss_does_not_stop_it() {
    let link = Link { loss: 0.01, ..Link::new(50e6, 40, 1000.0) };
    assert!(used(CongestionControl::Bbr, link, 15) > 0.9);
    assert!(used(CongestionControl::Bbr3, link, 15) > 0.7, "below its threshold of 2 %");
    assert!(used(CongestionControl::Cubic, link, 15) < 0.3);
}

/// Behind a policer with a tenth of the link's rate, version 1 detects this rate and uses it for 48 rounds.
/// Otherwise, it would send a quarter more in every eighth round, and these segments would be lost.
#[test]
fn a_policer_is_found() {
    let policed = 5e6;
    let link = Link { policer: Some((policed, 30_000.0)), ..Link::new(50e6, 40, 1000.0) };
    let (samples, _) = watch(CongestionControl::Bbr, link, 12);
    let rate = policed / 8.0 * PAYLOAD / PACKET;
    // In the mode for policers, the pace is constant for 48 rounds of 40 ms, although the rate is probed.
    let is_steady =
        |sample: &Sample| sample.model.mode == BbrMode::ProbeBandwidth && sample.model.pacing_gain == 1.0;
    let mut longest = 0;
    let mut begin = None;
    let mut ratio = 0.0;
    for (index, sample) in samples.iter().enumerate() {
        if !is_steady(sample) {
            begin = None;
        } else if index - *begin.get_or_insert(index) > longest {
            longest = index - begin.unwrap_or(index);
            ratio = sample.model.bandwidth as f64 / rate;
        }
    }
    // Without this mode, the longest time at one pace would be six round trips, 0.24 s.
    assert!((1500..2500).contains(&longest), "{longest} ms at one pace");
    assert!((0.85..1.15).contains(&ratio), "{ratio} of the policer's rate");
}

/// Two flows of the same kind share a link. After some probes of the minimum round-trip time, each flow has
/// about half of the link.
#[test]
fn two_flows_share() {
    for congestion in ["bbr", "bbr3"] {
        let tcp = json!({"profile": "linux-6", "congestion": congestion});
        let flow = |name: &str, start: &str| {
            json!({"name": name, "from": "a", "to": "b", "start": start,
                   "source": {"bulk": {"tcp": tcp}}})
        };
        let scenario = json!({
            "perhop": 1, "name": "shares", "duration": "60s",
            "hosts": {"a": {}, "b": {}}, "routers": {"r": {}},
            "links": [{"between": ["a", "r"], "rate": "1Gb/s", "delay": "5ms"},
                      {"between": ["r", "b"], "rate": "20Mb/s", "delay": "15ms"}],
            "traffic": [flow("one", "0s"), flow("two", "2s")],
            "measure": {"warmup": "20s"},
        });
        let results = simulation::simulate(&scenario, simulation::ONCE);
        let table = results.table("flows").unwrap();
        // The other two flows are acknowledgments.
        let mut bytes = simulation::numbers(table, "delivered_bytes");
        bytes.sort_by(f64::total_cmp);
        let share = bytes[3] / (bytes[2] + bytes[3]);
        assert!(share < 0.65, "{congestion}: {share}");
    }
}
