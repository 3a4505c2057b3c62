//! Checks of traffic: hosts, times, ports and sources.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use perhop_qos::meter::MeterScope;
use perhop_qos::packet::{Dscp, Protocol};
use perhop_qos::policy::PolicyConfig;
use perhop_qos::units::{ByteSize, Rate, Time};

use super::datagram::{IP_AND_UDP_HEADERS, LARGEST_PACKET};
use super::findings::Findings;
use super::judged;
use super::topology::{Network, links_of};
use crate::nearest::suggest;
use crate::path::ValuePath;
use crate::plan::{Connections, Plan};
use crate::tcp::{Handshake, TcpConfig};
use crate::topology::Topology;
use crate::trace::read_trace;
use crate::{
    CutGap, OnOffConfig, PacketSize, PcapConfig, PeriodLaw, Scenario, SourceConfig, TraceConfig,
    TrafficConfig, read_recording,
};

/// Limit on the hops of a path (RFC 791 §3.1: Time to Live has 8 bits).
const MOST_HOPS: usize = 255;

/// Checks all traffic, and the traces and captures that it names.
pub(super) fn check(scenario: &Scenario, network: &Network, base: &Path, findings: &mut Findings) {
    if scenario.traffic.is_empty() {
        findings.error(&"traffic".into(), "`traffic` is empty").help =
            Some("add at least one element with `name`, `from`, `to` and `source`".into());
    }
    let mut traces = BTreeSet::new();
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    let mut routes = BTreeMap::new();
    for (index, traffic) in scenario.traffic.iter().enumerate() {
        let path = ValuePath::from("traffic").join(index);
        if let Some(first) = names.get(traffic.name.as_str()) {
            let earlier = ValuePath::from("traffic").join(first).join("name");
            let message = format!("an earlier element of `traffic` has the name `{}`", traffic.name);
            findings.clash(&path.join("name"), message, &earlier).help = Some(
                "names identify traffic in results; to sum the results of several elements, give them \
                      the same `class`"
                    .into(),
            );
        } else {
            names.insert(&traffic.name, index);
        }
        ends(network, &path, traffic, &mut routes, findings);
        times(scenario.duration, &path, traffic, findings);
        ports(&path, traffic, findings);
        protocol(&path, traffic, findings);
        source(&path.join("source"), &traffic.source, findings);
        let has_replies = Plan::for_source(&traffic.source).is_some() || traffic.source.back().is_some();
        if traffic.reply_dscp.is_some() && !has_replies {
            findings
                .warning(&path.join("reply-dscp"), "`reply-dscp` has no effect: datagrams have no replies")
                .help = Some("remove it, or use an application on TCP".into());
        }
        if traffic.dont_fragment && Plan::for_source(&traffic.source).is_some() {
            findings
                .warning(
                    &path.join("dont-fragment"),
                    "`dont-fragment` has no effect: TCP is never fragmented",
                )
                .help = Some("remove it".into());
        }
        if let SourceConfig::Trace(config) = &traffic.source {
            trace(base, &path.join("source").join("trace").join("file"), config, &mut traces, findings);
        }
        if let SourceConfig::Pcap(config) = &traffic.source {
            recording(base, &path, traffic, config, findings);
        }
    }
    if scenario.policies.values().any(meters_per_flow) {
        flows_apart(scenario, findings);
    }
    if scenario.links.len() > MOST_HOPS || has_routes(scenario) {
        hops(scenario, network, findings);
    }
}

fn has_routes(scenario: &Scenario) -> bool {
    scenario.routers.values().any(|router| !router.routes.is_empty())
}

/// Reports routes that form a loop, and paths with more hops than the time to live permits.
fn hops(scenario: &Scenario, network: &Network, findings: &mut Findings) {
    let Ok(mut topology) = Topology::new(scenario) else { return };
    for (index, TrafficConfig { from, to, .. }) in scenario.traffic.iter().enumerate() {
        let is_connected = network.is_host(from) && network.is_host(to) && network.is_reachable(from, to);
        for [from, to] in [[from, to], [to, from]] {
            if is_connected && matches!(topology.path(from, to), Ok(None)) {
                let at = ValuePath::from("traffic").join(index).join("to");
                let message = format!("the routes from `{from}` to `{to}` form a loop");
                findings.error(&at, message).help = Some("correct the `routes` of the routers".into());
            }
        }
        let Ok(Some(path)) = topology.path(from, to) else { continue };
        if path.len() > MOST_HOPS {
            let at = ValuePath::from("traffic").join(index).join("to");
            let message = format!(
                "the path from `{from}` to `{to}` has {} hops, more than the time to live of a packet allows",
                path.len()
            );
            findings.error(&at, message).help =
                Some(format!("at most {MOST_HOPS} hops are possible: the time to live has eight bits"));
        }
    }
}

fn meters_per_flow(policy: &PolicyConfig) -> bool {
    policy.conditioners.iter().any(|conditioner| conditioner.per == MeterScope::Flow)
}

/// Warns about traffic with equal addresses and ports, because its flows share per-flow meters.
fn flows_apart(scenario: &Scenario, findings: &mut Findings) {
    let mut taken: BTreeMap<_, TakenPorts> = BTreeMap::new();
    for (index, traffic) in scenario.traffic.iter().enumerate() {
        let first = u32::from(traffic.source_port);
        let last = first.saturating_add(traffic.flows().saturating_sub(1));
        let ports = taken
            .entry((&traffic.from, &traffic.to, traffic.protocol(), traffic.destination_port))
            .or_default();
        if let Some(other) = ports.take(first, last, index) {
            let path = ValuePath::from("traffic").join(index);
            let (own, other) = (&traffic.name, &scenario.traffic[other].name);
            let message = format!(
                "flows of `{own}` and `{other}` have the same addresses and ports, so they share per-flow \
                 meters"
            );
            findings.warning(&path.join("name"), message).help =
                Some("set another `source-port` or `destination-port` for one of them".into());
        }
    }
}

/// The source ports in use between two hosts.
#[derive(Default)]
struct TakenPorts {
    /// The last port and the owner of each range of ports, by first port. Ranges do not overlap.
    owners: BTreeMap<u32, (u32, usize)>,
    /// The last port of each contiguous range of taken ports, by first port.
    ranges: BTreeMap<u32, u32>,
}

impl TakenPorts {
    /// Assigns the free ports from `first` to `last` to traffic entry `index`. Returns the owner of the
    /// lowest taken port in that range. A range is merged into another range at most once, so the total work
    /// is proportional to the number of calls.
    fn take(&mut self, first: u32, last: u32, index: usize) -> Option<usize> {
        let before = self.owners.range(..=first).next_back().filter(|(_, (end, _))| *end >= first);
        let other = before.or_else(|| self.owners.range(first..=last).next()).map(|(_, (_, owner))| *owner);
        let mut joined = Vec::new();
        while let Some((&start, &end)) =
            self.ranges.range(..=last).next_back().filter(|(_, end)| **end >= first)
        {
            self.ranges.remove(&start);
            joined.push((start, end));
        }
        let mut free = first;
        for (start, end) in joined.iter().rev() {
            if free < *start {
                self.owners.insert(free, (start - 1, index));
            }
            free = end.saturating_add(1);
        }
        if free <= last {
            self.owners.insert(free, (last, index));
        }
        let start = joined.last().map_or(first, |(start, _)| first.min(*start));
        self.ranges.insert(start, joined.first().map_or(last, |(_, end)| last.max(*end)));
        other
    }
}

/// Checks both ends of `traffic`. `routes` caches the reachability of pairs of hosts.
fn ends<'a>(
    network: &Network,
    path: &ValuePath,
    traffic: &'a TrafficConfig,
    routes: &mut BTreeMap<[&'a str; 2], bool>,
    findings: &mut Findings,
) {
    let TrafficConfig { from, to, .. } = traffic;
    let mut both = true;
    for (key, node) in [("from", from), ("to", to)] {
        if network.is_host(node) {
            continue;
        }
        both = false;
        if network.is_router(node) {
            findings
                .error(&path.join(key), format!("`{node}` is a router: only hosts send and receive"))
                .help = Some(format!("link a host to `{node}`"));
        } else {
            let hosts = || network.nodes().filter(|name| network.is_host(name));
            let message = format!("there is no host `{node}`");
            findings.error_with(&path.join(key), message, || suggest("hosts", node, hosts()));
        }
    }
    if both && from == to {
        findings.error(&path.join("to"), format!("`{from}` sends to itself")).help =
            Some("traffic goes from one host to another".into());
    } else if both
        && network.neighbors(from).next().is_some()
        && network.neighbors(to).next().is_some()
        && network.is_whole()
        && !*routes.entry([from, to]).or_insert_with(|| network.is_reachable(from, to))
    {
        let help = || {
            format!("{}; {}; hosts do not forward packets", links_of(network, from), links_of(network, to))
        };
        let message = format!("there is no route from `{from}` to `{to}`");
        findings.error_with(&path.join("to"), message, help);
    }
}

fn times(duration: Time, path: &ValuePath, traffic: &TrafficConfig, findings: &mut Findings) {
    let TrafficConfig { start, start_within, stop, .. } = traffic;
    let latest = start.saturating_add(*start_within);
    let has_duration = duration > Time::ZERO;
    if has_duration && *start >= duration {
        findings
            .error(
                &path.join("start"),
                format!("`start` ({start}) must be before the end of the run ({duration})"),
            )
            .help = Some("reduce `start`, or increase `duration`".into());
    } else if has_duration && latest >= duration {
        findings.warning(
            &path.join("start-within"),
            format!("flows may start at {latest}, after the end of the run ({duration})"),
        );
    }
    let Some(stop) = stop else { return };
    if stop <= start {
        findings.error(&path.join("stop"), format!("`stop` ({stop}) must be after `start` ({start})")).help =
            Some("`stop` is a time in the run, not a length".into());
    } else if *stop <= latest {
        findings.warning(&path.join("stop"), format!("flows may start at {latest}, after `stop` ({stop})"));
    }
    if has_duration && *stop > duration {
        findings
            .warning(&path.join("stop"), format!("`stop` ({stop}) is after the end of the run ({duration})"));
    }
}

fn ports(path: &ValuePath, traffic: &TrafficConfig, findings: &mut Findings) {
    findings.require(traffic.count > 0, path, "count", "at least 1", "to disable the traffic, remove it");
    let (first, free) = (traffic.source_port, u32::from(u16::MAX - traffic.source_port) + 1);
    if traffic.flows() > free {
        let message = format!(
            "{} flows need source ports {first} to {}, above 65535",
            traffic.flows(),
            u32::from(first).saturating_add(traffic.flows() - 1)
        );
        findings.error(&path.join("count"), message).help =
            Some(format!("at most {free} flows, or a lower `source-port`"));
    }
}

/// Checks that the source can send `protocol`.
fn protocol(path: &ValuePath, traffic: &TrafficConfig, findings: &mut Findings) {
    let Some(protocol) = traffic.protocol else { return };
    let at = path.join("protocol");
    if traffic.protocol() != protocol {
        findings.error(&at, format!("the source of this traffic sends TCP, not {protocol}")).help =
            Some("remove `protocol`, or choose a source of datagrams: cbr, on-off, poisson or trace".into());
    } else if matches!(traffic.source, SourceConfig::Pcap(_)) {
        findings.error(&at, "the packets of a capture keep their protocols").help =
            Some("remove `protocol`".into());
    } else if protocol == Protocol::TCP && Plan::for_source(&traffic.source).is_none() {
        findings.error(&at, "the source of this traffic sends datagrams, not TCP").help =
            Some("choose an application as source: bulk, request-response, web …".into());
    }
    let (key, packet) = match &traffic.source {
        SourceConfig::Cbr(cbr) => ("cbr", cbr.packet),
        SourceConfig::OnOff(on_off) => ("on-off", on_off.packet),
        SourceConfig::Poisson(poisson) => ("poisson", poisson.packet),
        _ => return,
    };
    if protocol != Protocol::UDP && matches!(packet, PacketSize::Payload(_)) {
        let at = path.join("source").join(key).join("packet").join("payload");
        findings
            .error(
                &at,
                format!("`payload` is the payload of UDP, but these packets have protocol {protocol}"),
            )
            .help = Some("write the size of the whole IP packet, as in `packet: { ip: 84B }`".into());
    }
}

fn source(path: &ValuePath, source: &SourceConfig, findings: &mut Findings) {
    match source {
        SourceConfig::Cbr(cbr) => {
            let path = path.join("cbr");
            rate_and_packet(&path, cbr.rate, cbr.packet, findings);
            let (fits, found) = ((0.0..1.0).contains(&cbr.jitter), format!("in [0, 1), got {}", cbr.jitter));
            findings.require(fits, &path, "jitter", &found, "0.1 varies gaps by up to 10 %");
        }
        SourceConfig::OnOff(config) => on_off(&path.join("on-off"), config, findings),
        SourceConfig::Poisson(poisson) => {
            rate_and_packet(&path.join("poisson"), poisson.rate, poisson.packet, findings);
        }
        SourceConfig::Trace(_) | SourceConfig::Pcap(_) => {}
        SourceConfig::Voice(config) => judged::voice(&path.join("voice"), config, findings),
        SourceConfig::Game(config) => judged::game(&path.join("game"), config, findings),
        SourceConfig::Bulk(_) => application(&path.join("bulk"), source, &[], findings),
        SourceConfig::RequestResponse(config) => {
            application(&path.join("request-response"), source, &[("request", config.request)], findings);
        }
        SourceConfig::ConnectRequestResponse(config) => {
            let path = path.join("connect-request-response");
            application(&path, source, &[("request", config.request)], findings);
        }
        SourceConfig::FileTransfer(config) => {
            let sizes = [("size", config.size), ("confirmation", config.confirmation)];
            application(&path.join("file-transfer"), source, &sizes, findings);
        }
        SourceConfig::Web(config) => {
            let (path, has_gaps) = (path.join("web"), config.mean_gap > Time::ZERO);
            findings.require(has_gaps, &path, "mean-gap", "above 0", "for example 100ms");
            let help =
                "with a shape up to 1, a Pareto distribution has no mean; 1.2 is usual for web traffic";
            pareto_shape(&path, config.shape, help, findings);
            application(&path, source, &[("mean-size", config.mean_size)], findings);
        }
        SourceConfig::Video(config) => {
            let path = path.join("video");
            judged::video(&path, config, findings);
            application(&path, source, &[("request", config.request)], findings);
        }
        SourceConfig::PageLoad(config) => {
            let path = path.join("page-load");
            judged::page(&path, config, findings);
            application(&path, source, &[("request", config.request), ("html", config.html)], findings);
        }
        SourceConfig::SpeedTest(config) => {
            let path = path.join("speed-test");
            judged::speed_test(&path, config, findings);
            application(&path, source, &[], findings);
        }
    }
}

/// Checks the bursts of the source at `path`.
fn on_off(path: &ValuePath, on_off: &OnOffConfig, findings: &mut Findings) {
    rate_and_packet(path, on_off.rate, on_off.packet, findings);
    let sends = on_off.on_time > Time::ZERO;
    findings.require(sends, path, "on-time", "above 0", "for example 100ms");
    if on_off.cut_gap == CutGap::Carried && sends && on_off.rate.as_bits_per_second() > 0 {
        let packets = on_off.on_time.as_seconds() * on_off.rate.as_bits_per_second() as f64
            / (8.0 * on_off.packet.counted() as f64);
        let help = "write longer bursts, or `cut-gap: dropped`, which begins every burst with a packet";
        let condition = "at least a thousandth of the gap between packets";
        findings.require(packets >= 1e-3, path, "on-time", condition, help);
    }
    if let PeriodLaw::Pareto { shape } = on_off.law {
        let help = "with a shape up to 1, a Pareto distribution has no mean; 1.5 is usual";
        pareto_shape(&path.join("law").join("pareto"), shape, help, findings);
    }
}

/// Checks sizes and TCP of the application at `path`.
fn application(path: &ValuePath, source: &SourceConfig, sizes: &[(&str, ByteSize)], findings: &mut Findings) {
    for (size, bytes) in sizes {
        findings.require(bytes.as_bytes() > 0, path, size, "above 0", "at least 1B");
    }
    if let Some((plan, tcp)) = Plan::for_source(source) {
        check_tcp(&path.join("tcp"), tcp, plan, findings);
    }
}

fn check_tcp(path: &ValuePath, tcp: &TcpConfig, plan: Plan, findings: &mut Findings) {
    match tcp.build() {
        Err(error) => findings.error(&path.extend(&error.path), error.message).help = error.help,
        Ok(parameters)
            if parameters.handshake == Handshake::None && plan.connections == Connections::PerTransaction =>
        {
            let message = "one connection per transaction needs a handshake";
            let at = if tcp.handshake.is_some() { path.join("handshake") } else { path.join("profile") };
            findings.error(&at, message).help =
                Some("set `handshake: three-way`, or choose an application that keeps its connection".into());
        }
        Ok(_) => {}
    }
}

/// Checks the `shape` of a Pareto distribution with a mean.
fn pareto_shape(path: &ValuePath, shape: f64, help: &str, findings: &mut Findings) {
    let has_mean = shape > 1.0 && shape.is_finite();
    findings.require(has_mean, path, "shape", &format!("above 1, got {shape}"), help);
}

fn rate_and_packet(path: &ValuePath, rate: Rate, packet: PacketSize, findings: &mut Findings) {
    let help = "for example 2Mb/s; to disable the traffic, remove it";
    findings.require(rate.as_bits_per_second() > 0, path, "rate", "above 0", help);
    let (key, size, ip) = match packet {
        PacketSize::Payload(size) => ("payload", size, size.as_bytes().saturating_add(IP_AND_UDP_HEADERS)),
        PacketSize::Ip(size) => ("ip", size, size.as_bytes()),
    };
    let path = path.join("packet").join(key);
    if size.as_bytes() == 0 {
        findings.error(&path, format!("`{key}` must be above 0")).help = Some("for example 1000B".into());
    } else if ip > LARGEST_PACKET {
        findings.error(&path, format!("`{key}` of {size} gives an IP packet of {ip} bytes")).help =
            Some(format!("an IP packet has at most {LARGEST_PACKET} bytes including headers"));
    } else if ip < IP_AND_UDP_HEADERS {
        findings
            .warning(&path, format!("an IP packet of {ip} bytes has no room for the IP and UDP headers"))
            .help = Some(format!("the headers take {IP_AND_UDP_HEADERS} bytes"));
    }
}

/// Checks each trace file once, by reading it.
fn trace<'a>(
    base: &Path,
    path: &ValuePath,
    config: &'a TraceConfig,
    read: &mut BTreeSet<&'a str>,
    findings: &mut Findings,
) {
    if !read.insert(&config.file) {
        return;
    }
    match read_trace(base, &config.file) {
        Ok(_) => {}
        // An error in the content of the trace has the file and line of the trace. Other errors are about the
        // file name.
        Err(mut diagnostic) if diagnostic.line.is_some() => {
            diagnostic.path = path.to_string();
            findings.push(*diagnostic);
        }
        Err(diagnostic) => findings.error(path, diagnostic.message).help = diagnostic.help,
    }
}

/// Checks a capture by reading it.
fn recording(
    base: &Path,
    path: &ValuePath,
    traffic: &TrafficConfig,
    config: &PcapConfig,
    findings: &mut Findings,
) {
    if let Err(error) = read_recording(base, config) {
        let path = path.join("source").join("pcap").extend(&error.path);
        findings.error(&path, error.message).help = error.help;
    }
    findings.require(traffic.count <= 1, path, "count", "1: a capture is replayed once", "remove `count`");
    if traffic.dscp != Dscp::default() {
        findings
            .warning(&path.join("dscp"), "`dscp` has no effect: packets of a capture keep their codepoints")
            .help = Some("remove it; a conditioner at the first router can remark the packets".into());
    }
}

#[cfg(test)]
mod tests {
    use super::TakenPorts;

    /// The result of `take` agrees with a linear search through all earlier ranges.
    #[test]
    fn ports_are_taken_once() {
        let ranges: Vec<(u32, u32)> =
            (0..400u32).map(|n| (n * 7919 % 900, n * 7919 % 900 + n * 31 % 40)).collect();
        let mut ports = TakenPorts::default();
        let mut owners = std::collections::BTreeMap::new();
        for (index, &(first, last)) in ranges.iter().enumerate() {
            let expected = (first..=last).find_map(|port| owners.get(&port).copied());
            assert_eq!(ports.take(first, last, index), expected, "{first} to {last}");
            for port in first..=last {
                owners.entry(port).or_insert(index);
            }
        }
        assert!(ports.ranges.len() <= ports.owners.len() && ports.owners.len() <= 2 * ranges.len());
    }
}
