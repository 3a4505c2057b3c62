//! [`Budget`]: the memory that the results of a run will need, estimated before the run begins.

use std::collections::BTreeMap;

use perhop_analysis::rates::{Given, Level, conditioner_limit, rates};
use perhop_qos::error::ConfigError;
use perhop_qos::policy::QueueingConfig;
use perhop_qos::units::Time;
use perhop_scenario::plan::{Beginning, Connections, Plan, Request};
use perhop_scenario::topology::Topology;
use perhop_scenario::{InterfaceConfig, LinkConfig, PacketSize, Scenario, SourceConfig, TrafficConfig};

/// The memory for one row of a result table at the end of a run, bytes. It includes the counters for the row,
/// the row in the table of its replication, and the row in the table of all replications.
const QUEUE_ROW: f64 = 240.0;
const THROUGHPUT_ROW: f64 = 110.0;
const DELAY_ROW: f64 = 250.0;
const PACKET_ROW: f64 = 140.0;
const CONNECTION_ROW: f64 = 200.0;
/// The memory for a packet of a call or a game, which is stored until the end of the replication, bytes.
const APPLICATION_PACKET: f64 = 48.0;
/// The memory for the tables of a replication without rows, bytes.
const REPLICATION: f64 = 30e3;
/// The memory for a class in each replication, including the distributions of delay, bytes.
const CLASS: f64 = 16e3;
/// The memory for a flow in each replication, bytes.
const FLOW: f64 = 700.0;
/// The memory for a queue in each replication, bytes.
const QUEUE: f64 = 500.0;
/// The length of a TCP packet, IP bytes. The number of packets is estimated as if all packets were full
/// segments.
const SEGMENT: f64 = 1500.0;
/// The payload of a full segment with timestamps, bytes.
const SEGMENT_PAYLOAD: f64 = 1448.0;
/// The number of packets with which the client opens and closes a connection, including one retransmission.
const CONNECTION_PACKETS: f64 = 4.0;

/// The memory for results, as one entry for each scenario key that requests results.
#[derive(Clone, Debug)]
pub struct Budget {
    parts: Vec<Part>,
}

#[derive(Clone, Debug)]
struct Part {
    /// The scenario key that requests the results.
    key: &'static str,
    what: String,
    bytes: f64,
    remedy: &'static str,
}

impl Budget {
    /// Estimates the memory for the results of `replications` of `scenario`.
    pub fn estimate(scenario: &Scenario, replications: u32) -> Budget {
        let count = f64::from(replications);
        let mut names = Names::new(scenario);
        let mut parts = vec![replicated(scenario, count)];
        let seconds = scenario.duration.as_seconds();
        let samples = |every: Time| (seconds / every.as_seconds().max(1e-12)).ceil();
        let sampled = scenario.measure.queues.iter();
        let rows: f64 =
            sampled.map(|probe| samples(probe.every) * names.queues(&probe.from, &probe.to)).sum();
        let longer = "a longer `every`, or a shorter duration";
        parts.push(Part::new("measure.queues", "samples of queues", count * rows * QUEUE_ROW, longer));
        let classes = classes(scenario);
        for (key, what, every, row) in [
            (
                "measure.throughput-every",
                "samples of throughput",
                scenario.measure.throughput_every,
                THROUGHPUT_ROW,
            ),
            ("measure.delay-every", "samples of delays", scenario.measure.delay_every, DELAY_ROW),
        ] {
            let rows = every.map_or(0.0, |every| samples(every) * classes);
            parts.push(Part::new(key, what, count * rows * row, "a longer interval, or a shorter duration"));
        }
        for name in &scenario.measure.packets {
            let packets: f64 = names.traffic(name).iter().map(|traffic| names.packets(traffic)).sum();
            let what = format!("packets of `{name}`");
            let bytes = count * packets * PACKET_ROW;
            parts.push(Part {
                key: "measure.packets",
                what,
                bytes,
                remedy: "a shorter duration, or no list of packets",
            });
        }
        let judged = scenario.traffic.iter().filter(|flow| flow.source.is_judged_by_packets());
        let packets: f64 = judged.map(|flow| names.packets(flow) + names.packets_back(flow)).sum();
        parts.push(Part::new(
            "traffic",
            "packets of calls and games",
            count * packets * APPLICATION_PACKET,
            "a shorter duration",
        ));
        let connections = scenario.measure.connections.iter().map(|probe| {
            let traffic = names.traffic(&probe.traffic).first().copied();
            let flows = if probe.flow.is_some() { 1 } else { traffic.map_or(0, TrafficConfig::flows) };
            samples(probe.every) * f64::from(flows)
        });
        let rows: f64 = connections.sum();
        parts.push(Part::new(
            "measure.connections",
            "samples of connections",
            count * rows * CONNECTION_ROW,
            longer,
        ));
        Budget { parts }
    }

    /// Returns the total memory, bytes.
    pub fn bytes(&self) -> f64 {
        self.parts.iter().map(|part| part.bytes).sum()
    }

    /// Checks that the results need at most `available` bytes.
    ///
    /// # Errors
    /// The results need more memory. The error names the results that need most memory, and a way to reduce
    /// them.
    pub fn fits(&self, available: f64) -> Result<(), ConfigError> {
        let bytes = self.bytes();
        let Some(most) = self.parts.iter().max_by(|a, b| a.bytes.total_cmp(&b.bytes)) else { return Ok(()) };
        if bytes <= available {
            return Ok(());
        }
        let [all, had, most_of_it] = [bytes, available, most.bytes].map(format_bytes);
        let message = format!(
            "the results need about {all} of memory, but {had} is available; {most_of_it} is for {}",
            most.what
        );
        Err(match most.key.split_once('.') {
            Some((section, key)) => ConfigError::new(key, message).within(section),
            None => ConfigError::new(most.key, message),
        }
        .help(most.remedy))
    }
}

impl Part {
    fn new(key: &'static str, what: &str, bytes: f64, remedy: &'static str) -> Part {
        Part { key, what: what.to_owned(), bytes, remedy }
    }
}

/// Returns the memory for `count` replications that does not depend on `measure`.
fn replicated(scenario: &Scenario, count: f64) -> Part {
    let flows: f64 = scenario.traffic.iter().map(|traffic| f64::from(traffic.flows())).sum();
    let ends = scenario.links.iter().flat_map(|link| link.between.each_ref().map(|from| (link, from)));
    let queues: f64 = ends.map(|(link, from)| queues(scenario, link, from)).sum();
    let each = REPLICATION + classes(scenario) * CLASS + flows * FLOW + queues * QUEUE;
    let what = format!("{count} replications");
    Part {
        key: "replications",
        what,
        bytes: count * each,
        remedy: "fewer replications: 100 already give narrow intervals",
    }
}

/// Returns the number of classes in results. Each class counts twice, because TCP traffic has a second class
/// for the answers.
fn classes(scenario: &Scenario) -> f64 {
    let mut names: Vec<&String> =
        scenario.traffic.iter().map(|traffic| traffic.class.as_ref().unwrap_or(&traffic.name)).collect();
    names.sort_unstable();
    names.dedup();
    2.0 * names.len() as f64
}

/// Returns the number of queues at the port from `from` to the other end of `link`.
fn queues(scenario: &Scenario, link: &LinkConfig, from: &str) -> f64 {
    let policy = link.interfaces.get(from).and_then(|end| end.output.as_ref());
    let queueing =
        policy.and_then(|name| scenario.policies.get(name)).and_then(|policy| policy.queueing.as_ref());
    queueing.map_or(1.0, leaves)
}

fn leaves(queueing: &QueueingConfig) -> f64 {
    queueing.classes.iter().map(|class| class.queues() as f64).sum()
}

/// Returns the approximate number of packets that `traffic` sends: the rate multiplied by the duration. For
/// TCP, the estimate assumes full segments at the rate that links and windows permit. Traces and recordings
/// count as 0 packets.
pub fn packets(scenario: &Scenario, traffic: &TrafficConfig) -> f64 {
    Names::new(scenario).packets(traffic)
}

/// Returns the approximate work for one replication of `scenario`: the number of links on the path of a
/// packet, summed over all packets. The estimate assumes that every second TCP segment is acknowledged, and
/// that TCP entries with the same slowest port share the rate of this port.
pub fn packet_hops(scenario: &Scenario) -> f64 {
    let mut names = Names::new(scenario);
    // For each slowest port: the packets that TCP would send, the packets that the port can send, and the
    // number of links on the longest path.
    let mut shared: BTreeMap<usize, [f64; 3]> = BTreeMap::new();
    let mut sum = 0.0;
    for traffic in &scenario.traffic {
        let (packets, path) = (names.packets(traffic), names.path(traffic));
        let hops = path.len() as f64;
        let slowest = path.into_iter().min_by(|a, b| a.1.total_cmp(&b.1));
        match slowest {
            Some((port, rate)) if Plan::for_source(&traffic.source).is_some() => {
                let most = rate * scenario.duration.as_seconds() / (8.0 * SEGMENT);
                let [sent, passed, longest] = shared.entry(port).or_default();
                (*sent, *passed, *longest) = (*sent + packets, passed.max(most), longest.max(hops));
            }
            _ => sum += hops * (packets + names.packets_back(traffic)),
        }
    }
    let tcp_hops = shared.into_values().map(|[sent, passed, hops]| 1.5 * hops * sent.min(passed));
    sum + tcp_hops.sum::<f64>()
}

/// The links, traffic and paths of a scenario by name. `new` takes time in proportion to the size of the
/// scenario.
struct Names<'a> {
    scenario: &'a Scenario,
    /// The first link between each pair of nodes. The two names are in alphabetical order.
    links: BTreeMap<[&'a str; 2], &'a LinkConfig>,
    traffic: BTreeMap<&'a str, Vec<&'a TrafficConfig>>,
    /// The topology; `None` if a link has an unknown end.
    topology: Option<Topology<'a>>,
}

impl<'a> Names<'a> {
    fn new(scenario: &'a Scenario) -> Names<'a> {
        let mut links = BTreeMap::new();
        for link in &scenario.links {
            links.entry(pair(&link.between[0], &link.between[1])).or_insert(link);
        }
        let mut traffic: BTreeMap<&str, Vec<&TrafficConfig>> = BTreeMap::new();
        for entry in &scenario.traffic {
            traffic.entry(&entry.name).or_default().push(entry);
        }
        Names { scenario, links, traffic, topology: Topology::new(scenario).ok() }
    }

    /// Returns the traffic entries with this `name`.
    fn traffic(&self, name: &str) -> Vec<&'a TrafficConfig> {
        self.traffic.get(name).cloned().unwrap_or_default()
    }

    /// Returns the number of queues at the port from `from` to `to`.
    fn queues(&self, from: &str, to: &str) -> f64 {
        self.links.get(&pair(from, to)).map_or(1.0, |link| queues(self.scenario, link, from))
    }

    /// Returns the approximate number of packets that `traffic` sends.
    fn packets(&mut self, traffic: &TrafficConfig) -> f64 {
        let seconds = self.scenario.duration.as_seconds();
        let at = |rate: f64, packet: PacketSize| {
            f64::from(traffic.count) * rate * seconds / (8.0 * packet.counted() as f64)
        };
        match traffic.source.forth().as_ref() {
            SourceConfig::Cbr(cbr) => at(cbr.rate.as_bits_per_second() as f64, cbr.packet),
            SourceConfig::OnOff(on_off) => {
                let (on, off) = (on_off.on_time.as_seconds(), on_off.off_time.as_seconds());
                at(on_off.rate.as_bits_per_second() as f64 * on / (on + off), on_off.packet)
            }
            SourceConfig::Poisson(poisson) => at(poisson.rate.as_bits_per_second() as f64, poisson.packet),
            SourceConfig::Trace(_) | SourceConfig::Pcap(_) => 0.0,
            _ => {
                let most = self.max_rate_bps(traffic) * seconds / (8.0 * SEGMENT);
                request_packets_per_s(traffic).map_or(most, |rate| most.min(rate * seconds))
            }
        }
    }

    /// Returns the approximate number of packets that the receiver of `traffic` sends back.
    fn packets_back(&mut self, traffic: &TrafficConfig) -> f64 {
        let back = traffic.source.back();
        back.map_or(0.0, |source| self.packets(&TrafficConfig { source, ..traffic.clone() }))
    }

    /// Returns the ports on the path of `traffic`, each with its index and the maximum rate of a class, bits
    /// per second.
    fn path(&mut self, traffic: &TrafficConfig) -> Vec<(usize, f64)> {
        let Some(topology) = self.topology.as_mut() else { return Vec::new() };
        let path = topology.path(&traffic.from, &traffic.to).ok().flatten().unwrap_or_default();
        let ports = path.iter().map(|link| {
            let [from, to] = topology.ends(*link);
            let link_config = &self.scenario.links[link.index() / 2];
            (link.index(), class_rate_bps(self.scenario, link_config, from, to))
        });
        ports.collect()
    }

    /// Returns the maximum rate of `traffic`, bits per second: the rate of the slowest port on its path,
    /// including the limits of policies. Long connections send at most one window per round-trip time without
    /// queueing delays.
    fn max_rate_bps(&mut self, traffic: &TrafficConfig) -> f64 {
        let path = self.path(traffic);
        let slowest = path.iter().map(|(_, rate)| *rate).reduce(f64::min).unwrap_or_default();
        let delays = path.iter().map(|(port, _)| self.scenario.links[port / 2].delay.as_seconds());
        let round_trip = 2.0 * delays.sum::<f64>();
        let lasting =
            Plan::for_source(&traffic.source).filter(|(plan, _)| plan.connections == Connections::One);
        let window = lasting.and_then(|(_, tcp)| tcp.build().ok()).map(|tcp| 8.0 * f64::from(tcp.window));
        let by_window = window.map(|bits| f64::from(traffic.flows()) * bits / round_trip);
        // Without a propagation delay, the window does not limit the rate.
        by_window.map_or(slowest, |rate| slowest.min(rate))
    }
}

/// Returns the maximum rate of a single class at the port from `from` to `to`, bits per second: the line
/// rate, or less if shapers and policers limit every class.
fn class_rate_bps(scenario: &Scenario, link: &LinkConfig, from: &str, to: &str) -> f64 {
    let policy = |node: &str, side: fn(&InterfaceConfig) -> Option<&String>| {
        scenario.policies.get(side(link.interfaces.get(node)?)?)
    };
    let line = link.interfaces.get(from).and_then(|end| end.rate).unwrap_or(link.rate);
    let output = policy(from, |end| end.output.as_ref());
    let conditioners = [output, policy(to, |end| end.input.as_ref())].into_iter().flatten();
    let limiters =
        conditioners.flat_map(|policy| &policy.conditioners).filter(|stage| stage.matches.is_none());
    let none = BTreeMap::new();
    let level = output.and_then(|policy| rates(policy, Given { line: Some(line), limits: &none }));
    let maxima = level.iter().flat_map(Level::leaves).map(|class| class.maximum.unwrap_or(f64::INFINITY));
    let line = line.as_bits_per_second() as f64;
    let greatest = maxima.reduce(f64::max).unwrap_or(line);
    limiters.filter_map(conditioner_limit).fold(greatest.min(line), f64::min)
}

/// Returns the approximate number of packets per second of `traffic` with requests at random times; `None`
/// for applications that send as fast as possible.
fn request_packets_per_s(traffic: &TrafficConfig) -> Option<f64> {
    let (plan, _) = Plan::for_source(&traffic.source)?;
    let (Request::Pareto { mean, .. }, Beginning::Poisson(gap)) = (plan.request, plan.beginning) else {
        return None;
    };
    let each = (mean / SEGMENT_PAYLOAD).ceil() + CONNECTION_PACKETS;
    Some(f64::from(traffic.flows()) * each / gap)
}

/// Returns the names of two nodes in alphabetical order.
fn pair<'b>(first: &'b str, other: &'b str) -> [&'b str; 2] {
    if first < other { [first, other] } else { [other, first] }
}

fn format_bytes(bytes: f64) -> String {
    let units = [(1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB")];
    let (divisor, unit) = units.into_iter().find(|(divisor, _)| bytes >= *divisor).unwrap_or((1e3, "kB"));
    format!("{:.1} {unit}", bytes / divisor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(measure: &str) -> Scenario {
        let text = format!(
            r#"{{"perhop": 1, "name": "", "duration": "100s", "hosts": {{"a": {{}}, "b": {{}}}},
            "links": [{{"between": ["a", "b"], "rate": "1Mb/s"}}], "measure": {{{measure}}},
            "traffic": [
              {{"name": "cbr", "from": "a", "to": "b", "count": 2,
                "source": {{"cbr": {{"rate": "80kb/s", "packet": {{"ip": "100B"}}}}}}}},
              {{"name": "bulk", "from": "a", "to": "b", "source": {{"bulk": {{"tcp": {{"profile": "linux-modern"}}}}}}}}]}}"#
        );
        perhop_scenario::load_json(serde_json::from_str(&text).unwrap(), ".").unwrap().scenario
    }

    #[test]
    fn rows_are_counted_before_a_run() {
        // The traffic consists of 2 flows of 100 packets per second, and a TCP flow with segments of 1500
        // bytes at 1 Mb/s.
        for (measure, rows) in [
            (r#""packets": ["cbr"]"#, 20_000.0 * PACKET_ROW),
            (r#""packets": ["bulk"]"#, 1e8 / 12e3 * PACKET_ROW),
            (r#""throughput-every": "100ms""#, 4_000.0 * THROUGHPUT_ROW),
            (r#""queues": [{"from": "a", "to": "b", "every": "10ms"}]"#, 10_000.0 * QUEUE_ROW),
        ] {
            let with =
                Budget::estimate(&scenario(measure), 3).bytes() - Budget::estimate(&scenario(""), 3).bytes();
            assert!((with - 3.0 * rows).abs() < 1.0, "{measure}: {with}");
        }
    }

    /// Two connections have a window of 64 KiB and a round-trip time of 20 ms. The link does not limit them.
    #[test]
    fn windows_bound_the_packets_of_connections() {
        let text = r#"{"perhop": 1, "name": "", "duration": "10s", "hosts": {"a": {}, "b": {}},
            "links": [{"between": ["a", "b"], "rate": "100Gb/s", "delay": "10ms"}],
            "traffic": [{"name": "bulk", "from": "a", "to": "b", "count": 2,
                "source": {"bulk": {"tcp": {"profile": "linux-6", "window": "65536B"}}}}]}"#;
        let scenario = perhop_scenario::load_json(serde_json::from_str(text).unwrap(), ".").unwrap().scenario;
        let segments = 2.0 * 65_536.0 / 0.02 * 10.0 / 1500.0;
        let counted = packets(&scenario, &scenario.traffic[0]);
        assert!((counted - segments).abs() < 1.0, "{counted} and not {segments}");
    }

    /// A class of a policy may send at most 2 Mb/s, and the link at most 10 Gb/s. A request of 14480 bytes
    /// consists of 10 segments.
    #[test]
    fn policies_and_requests_bound_the_packets_sent() {
        let scenario = |queueing: &str| {
            let text = format!(
                r#"{{"perhop": 1, "name": "", "duration": "60s", "hosts": {{"a": {{}}, "b": {{}}}},
                "policies": {{"wan": {{"queueing": {queueing}}}}},
                "links": [{{"between": ["a", "b"], "rate": "10Gb/s", "interfaces": {{"a": {{"output": "wan"}}}}}}],
                "traffic": [
                  {{"name": "bulk", "from": "a", "to": "b", "source": {{"bulk": {{"tcp": {{"profile": "linux-6"}}}}}}}},
                  {{"name": "web", "from": "a", "to": "b", "source": {{"web": {{"tcp": {{"profile": "linux-6"}},
                    "mean-gap": "100ms", "mean-size": "14480B", "shape": 3.0}}}}}}]}}"#
            );
            let value = serde_json::from_str(&text).unwrap();
            let scenario = perhop_scenario::load_json(value, ".").unwrap().scenario;
            scenario.traffic.iter().map(|traffic| packets(&scenario, traffic)).collect::<Vec<_>>()
        };
        let shaped = r#"{"classes": [{"name": "all", "shape": {"rate": "2Mb/s", "burst": "3000B"},
            "queueing": {"scheduler": "drr", "classes": [{"name": "x", "match": {"dscp": "ef"}}, {"name": "y"}]}}]}"#;
        let policed = r#"{"classes": [
            {"name": "x", "match": {"dscp": "ef"}, "shape": {"rate": "1Mb/s", "burst": "3000B"}},
            {"name": "y", "police": {"rate": "2Mb/s", "burst": "3000B", "when": "always"}}]}"#;
        for queueing in [shaped, policed] {
            assert_eq!(scenario(queueing), [2e6 * 60.0 / 12e3, 600.0 * 14.0]);
        }
        assert_eq!(scenario(r#"{"classes": [{"name": "all"}]}"#)[0], 1e10 * 60.0 / 12e3);
    }

    /// The run has 10 s at 1 Mb/s. 200 packets per second of 100 bytes cross both links. Two entries with
    /// segments of 1500 bytes share the line. Every second segment is acknowledged.
    #[test]
    fn packet_hops_count_the_links_of_each_path() {
        let scenario = |traffic: &str| {
            let text = format!(
                r#"{{"perhop": 1, "name": "", "duration": "10s", "hosts": {{"a": {{}}, "b": {{}}}}, "routers": {{"r": {{}}}},
                "links": [{{"between": ["a", "r"], "rate": "100Mb/s"}}, {{"between": ["r", "b"], "rate": "1Mb/s"}}],
                "traffic": [{traffic}]}}"#
            );
            perhop_scenario::load_json(serde_json::from_str(&text).unwrap(), ".").unwrap().scenario
        };
        let cbr = r#"{"name": "v", "from": "a", "to": "b", "source": {"cbr": {"rate": "160kb/s", "packet": {"ip": "100B"}}}}"#;
        assert_eq!(packet_hops(&scenario(cbr)), 200.0 * 10.0 * 2.0);
        let bulk = |name| {
            format!(
                r#"{{"name": "{name}", "from": "a", "to": "b", "source": {{"bulk": {{"tcp": {{"profile": "linux-6"}}}}}}}}"#
            )
        };
        let both = packet_hops(&scenario(&format!("{}, {}", bulk("x"), bulk("y"))));
        assert!((both - 1.5 * 2.0 * 1e7 / 12e3).abs() < 1e-6, "{both}");
    }

    #[test]
    fn the_most_is_named_with_its_remedy() {
        let budget = Budget::estimate(&scenario(r#""packets": ["cbr"]"#), 1_000_000_000);
        let error = budget.fits(1e9).unwrap_err();
        assert_eq!(error.path, ["measure", "packets"]);
        assert!(error.message.contains("packets of `cbr`"), "{}", error.message);
        assert!(budget.fits(1e18).is_ok());
    }

    #[test]
    fn bytes_are_formatted_with_units() {
        let words = [1500.0, 2e6, 3.5e9, 1e12, 1.25e15].map(format_bytes);
        assert_eq!(words, ["1.5 kB", "2.0 MB", "3.5 GB", "1.0 TB", "1.2 PB"]);
    }

    #[test]
    fn queues_are_the_innermost_classes() {
        let policy = serde_json::json!({"classes": [
            {"name": "voice"},
            {"name": "data", "queueing": {"classes": [{"name": "gold"}, {"name": "rest"}]}},
        ]});
        assert_eq!(leaves(&serde_json::from_value(policy).unwrap()), 3.0);
    }
}
