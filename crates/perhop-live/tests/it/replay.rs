//! The live path makes the same decisions as the simulator. Both receive the same trace of arrivals, and
//! their logs must be equal.
//!
//! Every example is simulated, and the packets of its hosts are recorded. Real frames of the same packets are
//! then sent at the same instants, on a clock that is set by hand, through the forwarders of a live run. Each
//! port must make the same decisions about the packets, at the same picosecond.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use crate::frames;
use crate::scenarios;
use perhop_front_ends::loader;
use perhop_live::lowering::{Plan, plan};
use perhop_live::{DeviceId, Forwarder, TestWire};
use perhop_qos::observer::{Observer, Place, PortObservers};
use perhop_qos::packet::{Color, Dscp, Ecn, FlowKey, Ingress, LinkMark, Packet};
use perhop_qos::port::Departure;
use perhop_qos::units::Time;
use perhop_qos::verdict::DropCause;
use perhop_scenario::{PacketSize, Scenario, SizeLaw, SourceConfig, TrafficConfig};
use perhop_sim::Engine;
use perhop_sim::build::set_up;
use perhop_sim::fast::World;

/// An event of a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    Came,
    Arrived(Place),
    Enqueued(Place),
    Dropped(Option<Place>, DropCause),
    Marked(Place),
    Dequeued(Place, Departure),
    /// The packet was dropped outside the port: by a conditioner or on the wire.
    Ended(DropCause),
}

impl Event {
    fn kind(self) -> &'static str {
        match self {
            Event::Came => "Came",
            Event::Arrived(_) => "Arrived",
            Event::Enqueued(_) => "Enqueued",
            Event::Dropped(..) => "Dropped",
            Event::Marked(_) => "Marked",
            Event::Dequeued(..) => "Dequeued",
            Event::Ended(_) => "Ended",
        }
    }
}

/// One line of a log.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Entry {
    at: Time,
    event: Event,
    flow: FlowKey,
    length: u32,
    header: Header,
}

/// The fields that a node may change or set.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Header {
    dscp: Dscp,
    ecn: Ecn,
    /// `Some` if the frame has a tag for CoS or a label for EXP.
    cos: Option<LinkMark>,
    exp: Option<LinkMark>,
    color: Color,
    label: u8,
    input: Ingress,
}

/// The events at each port by its number, and the drops outside ports. Drops are separate, because the
/// simulator may detect them before earlier events.
#[derive(Clone, Debug, Default)]
struct Log {
    ports: Vec<Vec<Entry>>,
    ends: Vec<Vec<Entry>>,
}

/// The log of one port.
struct PortLog<'l>(&'l mut Vec<Entry>);

impl Log {
    fn port(&mut self, port: usize) -> &mut Vec<Entry> {
        if self.ports.len() <= port {
            self.ports.resize_with(port + 1, Vec::new);
            self.ends.resize_with(port + 1, Vec::new);
        }
        &mut self.ports[port]
    }

    /// The log by the names of ports and of the places after them.
    fn named(&mut self, name: impl Fn(usize) -> String) -> BTreeMap<String, Vec<Entry>> {
        let mut log = BTreeMap::new();
        for (port, entries) in std::mem::take(&mut self.ports).into_iter().enumerate() {
            log.insert(name(port), entries);
        }
        for (port, mut entries) in std::mem::take(&mut self.ends).into_iter().enumerate() {
            entries.sort_by_key(|entry| entry.at);
            log.insert(format!("outside {}", name(port)), entries);
        }
        log
    }
}

fn entry(at: Time, packet: &Packet, event: Event) -> Entry {
    let Packet { dscp, marks, color, label, input, .. } = *packet;
    let (ecn, cos, exp) = (marks.ecn(), packet.cos(), packet.exp());
    let header = Header { dscp, ecn, cos, exp, color, label, input };
    Entry { at, event, flow: packet.flow_key(), length: packet.length, header }
}

impl PortObservers for Log {
    type Observer<'w> = PortLog<'w>;
    fn of_port(&mut self, port: usize) -> PortLog<'_> {
        PortLog(self.port(port))
    }
    fn arriving(&mut self, now: Time, port: usize, packet: &Packet) {
        self.port(port).push(entry(now, packet, Event::Came));
    }
    fn dropped_between(&mut self, now: Time, port: usize, packet: &Packet, cause: DropCause) {
        self.port(port);
        self.ends[port].push(entry(now, packet, Event::Ended(cause)));
    }
}

impl Observer for PortLog<'_> {
    fn arrived(&mut self, now: Time, place: Place, packet: &Packet) {
        self.0.push(entry(now, packet, Event::Arrived(place)));
    }
    fn enqueued(&mut self, now: Time, place: Place, packet: &Packet) {
        self.0.push(entry(now, packet, Event::Enqueued(place)));
    }
    fn dropped(&mut self, now: Time, place: Option<Place>, packet: &Packet, cause: DropCause) {
        self.0.push(entry(now, packet, Event::Dropped(place, cause)));
    }
    fn marked(&mut self, now: Time, place: Place, packet: &Packet) {
        self.0.push(entry(now, packet, Event::Marked(place)));
    }
    fn dequeued(&mut self, now: Time, place: Place, packet: &Packet, departure: Departure) {
        self.0.push(entry(now, packet, Event::Dequeued(place, departure)));
    }
}

/// Returns the log of the simulator.
fn simulated(scenario: &Scenario, base: &Path) -> BTreeMap<String, Vec<Entry>> {
    let setup = set_up(scenario, base, scenario.seed, 0, &[]).unwrap();
    let mut world = World::new(setup, Log::default());
    world.finish();
    let mut log = std::mem::take(world.observers());
    log.named(|port| world.port_name(port).unwrap())
}

/// A live testbed without an operating system: forwarders whose cables have no delay.
struct Testbed {
    plan: Plan,
    forwarders: Vec<Forwarder<TestWire, Log>>,
    /// By forwarder and device: the forwarder and device at the other end, or `None` if a host is at the
    /// other end.
    beyond: Vec<Vec<Option<(usize, DeviceId)>>>,
}

impl Testbed {
    fn new(scenario: &Scenario, base: &Path) -> Testbed {
        let plan = plan(scenario, base, scenario.seed, 0).unwrap();
        let forwarders: Vec<_> = plan
            .forwarders
            .iter()
            .map(|config| Forwarder::build(config, TestWire::default(), Log::default()).unwrap())
            .collect();
        let place = |node: &str| plan.forwarders.iter().position(|forwarder| forwarder.node == node);
        let other_end = |node: &str, device: &str| {
            let is_near = |end: &perhop_live::lowering::CableEnd| end.node == node && end.device == device;
            let cable = plan.cables.iter().find(|cable| cable.ends.iter().any(is_near)).unwrap();
            let far = cable.ends.iter().find(|end| !is_near(end)).unwrap();
            place(&far.node).map(|at| (at, plan.forwarders[at].device(&far.device).unwrap()))
        };
        let beyond = plan
            .forwarders
            .iter()
            .map(|config| config.devices().iter().map(|device| other_end(&config.node, device)).collect())
            .collect();
        Testbed { plan, forwarders, beyond }
    }

    /// The device on which frames of the host at the beginning of the direction `name` arrive.
    fn entrance(&self, name: &str) -> Option<(usize, DeviceId)> {
        self.plan.forwarders.iter().enumerate().find_map(|(place, config)| {
            let direction = config.directions.iter().find(|direction| direction.name == name)?;
            let device = config.device(direction.receives_on.as_deref()?)?;
            Some((place, device))
        })
    }

    /// Runs all events that happen at `now`.
    fn instant(&mut self, now: Time) {
        loop {
            let mut sent = Vec::new();
            for (place, forwarder) in self.forwarders.iter_mut().enumerate() {
                forwarder.wire().clock = now;
                forwarder.step().unwrap();
                sent.extend(
                    forwarder.wire().sent.drain(..).map(|(device, at, frame)| (place, device, at, frame)),
                );
            }
            let mut goes_on = false;
            for (place, device, at, frame) in sent {
                assert_eq!(at, now, "a frame is sent when it is due");
                if let Some((place, device)) = self.beyond[place][device.index()] {
                    self.forwarders[place].wire().coming.push_back((device, now, frame));
                    goes_on = true;
                }
            }
            if !goes_on {
                return;
            }
        }
    }

    /// Sends `trace` (instant, entrance, frame) until `end`. Returns the log of each port, by its name.
    fn replay(
        mut self,
        mut trace: VecDeque<(Time, (usize, DeviceId), Vec<u8>)>,
        end: Time,
    ) -> BTreeMap<String, Vec<Entry>> {
        loop {
            let own = self.forwarders.iter().filter_map(Forwarder::next_at).min();
            let next = own.into_iter().chain(trace.front().map(|(at, ..)| *at)).min();
            let Some(now) = next.filter(|now| *now <= end) else { break };
            let due = trace.partition_point(|(at, ..)| *at <= now);
            for (_, (place, device), frame) in trace.drain(..due) {
                self.forwarders[place].wire().coming.push_back((device, now, frame));
            }
            self.instant(now);
        }
        let mut log = BTreeMap::new();
        for (forwarder, config) in self.forwarders.iter_mut().zip(&self.plan.forwarders) {
            forwarder.wire().clock = end;
            let report = forwarder.report();
            assert_eq!(report.frames.held, report.frames.slots_taken, "{}", config.node);
            assert_eq!(forwarder.totals().received, forwarder.totals().ended() + forwarder.held());
            log.extend(forwarder.observers().named(|port| config.directions[port].name.clone()));
        }
        log
    }
}

/// The packets that hosts send, in order of time: the arrivals at the ports of hosts.
fn trace_of(
    log: &BTreeMap<String, Vec<Entry>>,
    testbed: &Testbed,
) -> VecDeque<(Time, (usize, DeviceId), Vec<u8>)> {
    let mut trace = Vec::new();
    for (name, entries) in log {
        let Some(entrance) = testbed.entrance(name) else { continue };
        for entry in entries.iter().filter(|entry| entry.event == Event::Came) {
            let Header { dscp, ecn, .. } = entry.header;
            let packet = Packet { dscp, marks: ecn.into(), ..Packet::new(entry.flow, entry.length) };
            trace.push((entry.at, entrance, frames::ethernet(&packet)));
        }
    }
    trace.sort_by_key(|(at, ..)| *at);
    trace.into()
}

/// Returns the number of lines that the simulator logged, and the first difference; adds the kinds of events
/// to `events`.
fn compare(scenario: &Scenario, base: &Path, events: &mut BTreeSet<&'static str>) -> (usize, Option<String>) {
    let expected = simulated(scenario, base);
    let testbed = Testbed::new(scenario, base);
    let trace = trace_of(&expected, &testbed);
    let found = testbed.replay(trace, scenario.duration);
    let difference = expected.iter().find_map(|(name, expected)| {
        let found = found.get(name).map_or(&[][..], Vec::as_slice);
        let differs = |place: &usize| expected.get(*place) != found.get(*place);
        let place = (0..expected.len().max(found.len())).find(differs)?;
        let (lines, lines_live) = (expected.len(), found.len());
        let (simulated, live) = (expected.get(place), found.get(place));
        Some(format!(
            "{name}, line {place} of {lines} and {lines_live}:\n  simulated {simulated:?}\n  live      {live:?}"
        ))
    });
    events.extend(expected.values().flatten().map(|entry| entry.event.kind()));
    (expected.values().map(Vec::len).sum(), difference)
}

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().ends_with(".perhop.yaml"))
        // Some examples are left out. A live run rejects the first two: the addresses in a capture do not
        // belong to hosts, and hosts of a live run have no players and browsers. The third has commands of
        // tc, and this test reads only IOS. The fourth depends on the contents of acknowledgments, which are
        // not in the log from which frames are made.
        .filter(|path| {
            // Live runs refuse ports that pause their neighbors.
            let left_out = ["replay", "applications", "linux-tc", "ack-filter", "priority-flow-control"];
            !left_out.iter().any(|name| path.ends_with(format!("{name}.perhop.yaml")))
        })
        .collect();
    files.sort();
    files
}

/// Simulated seconds of each example: enough for every policy to drop, mark and shape.
const DURATION: Time = Time::from_seconds(5);

#[test]
fn every_example_has_equal_decisions() {
    let (mut failed, mut events) = (Vec::new(), BTreeSet::new());
    let examples = examples();
    assert!(examples.len() > 20, "only {} examples found", examples.len());
    for path in examples {
        let loaded = loader().load(&path, &[]);
        let loaded = loaded.unwrap_or_else(|found| panic!("{}: {found:?}", path.display()));
        let mut scenario = loaded.resolved;
        scenario.duration = scenario.duration.min(DURATION);
        scenario.traffic.iter_mut().for_each(fit_into_frames);
        let (lines, difference) = compare(&scenario, &loaded.base, &mut events);
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(lines > 100, "{name}: only {lines} lines to compare");
        failed.extend(difference.map(|difference| format!("{name}: {difference}")));
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    // The comparison is complete only if events of every kind occurred.
    for kind in ["Came", "Arrived", "Enqueued", "Dropped", "Dequeued", "Ended"] {
        assert!(events.contains(kind), "no example has an event {kind}");
    }
}

#[test]
fn cases_outside_the_examples_have_equal_decisions() {
    let loaded = perhop_scenario::load_json(scenarios::everything_else(), ".");
    let scenario = loaded.unwrap_or_else(|found| panic!("{found:?}")).resolved;
    for seed in 1..=3 {
        let mut events = BTreeSet::new();
        let scenario = Scenario { seed, ..scenario.clone() };
        let (lines, difference) = compare(&scenario, Path::new("."), &mut events);
        assert_eq!(difference, None, "seed {seed}");
        assert!(lines > 20_000, "only {lines} lines to compare");
        assert_eq!(events.len(), 7, "something never happened: {events:?}");
    }
}

/// Only frames between routers contain the marks.
#[test]
fn tags_and_labels_carry_marks_from_forwarder_to_forwarder() {
    let loaded = perhop_scenario::load_json(scenarios::tags_and_labels(), ".");
    let scenario = loaded.unwrap_or_else(|found| panic!("{found:?}")).resolved;
    let mut events = BTreeSet::new();
    let (lines, difference) = compare(&scenario, Path::new("."), &mut events);
    assert_eq!(difference, None);
    assert!(lines > 10_000, "only {lines} lines to compare");
    let log = simulated(&scenario, Path::new("."));
    for port in ["r->s", "s->t", "t->u", "u->b"] {
        let dequeued = |event: &Event| matches!(event, Event::Dequeued(..));
        let mut seen: Vec<_> = log[port].iter().filter(|entry| dequeued(&entry.event)).collect();
        seen.sort_by_key(|entry| (entry.header.cos, entry.header.exp));
        seen.dedup_by_key(|entry| (entry.header.cos, entry.header.exp));
        assert!(seen.len() > 1, "{port}: all packets have the same marks");
    }
}

/// Converts packet sizes to payload sizes. An exponential packet size may be shorter than an IP and a UDP
/// header, and no frame contains such a packet.
fn fit_into_frames(traffic: &mut TrafficConfig) {
    if let SourceConfig::Poisson(poisson) = &mut traffic.source
        && poisson.sizes == SizeLaw::Exponential
        && let PacketSize::Ip(mean) = poisson.packet
    {
        poisson.packet = PacketSize::Payload(mean);
    }
}
