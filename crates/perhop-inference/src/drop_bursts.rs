//! [`with_bursts`]: adds bursts to the load of classes that drop more packets than they would at regular
//! intervals.
//!
//! Counters show rates and drops, but not the times of packets. A class that drops packets although its rate
//! is below its share had bursts. The minimum length of these bursts follows from the drops: if all packets
//! come in equal bursts at the rate of the entrance, shorter bursts lose fewer packets. The data plane
//! computes the losses of a burst, because it contains all limits of the router.

use std::collections::BTreeSet;

use perhop_network::Devices;
use perhop_qos::{ConfigError, Packet, Time};
use serde_json::json;

use crate::failure::Failure;
use crate::horizon::Horizon;
use crate::network::Network;
use crate::rehearsal::{Counted, Rehearsal, Stream, Tally};
use crate::role::Kind;
use crate::sources::{kind_of_source, sending};
use crate::traffic::{Flow, Traffic, unlike};
use crate::trial::packet;
use crate::words::{as_rate, nanoseconds, number, rate_in_words};

/// If the dropped fraction of the output exceeds the dropped fraction of the run by more than this value,
/// perhop assumes that packets come in bursts. A run must reproduce the fraction within 2 percentage points.
/// The value is half of that, so that bursts can be rounded.
const UNEXPLAINED: f64 = 0.01;
/// The minimum difference of the dropped fractions of output and run that the answer reports. It is below the
/// 2 percentage points within which a run must reproduce drops.
const DIFFERENT: f64 = 0.015;
/// The maximum number of packets of a rehearsal. If a run has more packets, its rehearsal covers only a
/// shorter time.
const MOST_PACKETS: f64 = 100_000.0;
/// The number of rounds of the search. The bursts of one class change the drops of other classes, which are
/// then solved again.
const ROUNDS: usize = 3;

/// The bursts of a class in the measured time of a run. Its other packets come at regular intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bursts {
    /// The packets of each burst.
    packets: u64,
    /// The number of bursts.
    count: u64,
}

/// The load of a class.
struct Class {
    packet: Packet,
    /// The packets of the class in the measured time.
    packets: u64,
    /// The rate, bits per second of IP packets.
    rate: f64,
    /// The dropped fraction that the output shows; `None` if the class gets no bursts.
    dropped: Option<f64>,
}

impl Class {
    /// Returns the rate of the packets at regular intervals, bits per second.
    fn regular_rate(&self, bursts: Option<Bursts>) -> f64 {
        let Some(bursts) = bursts else { return self.rate };
        let left = self.packets.saturating_sub(bursts.packets * bursts.count);
        self.rate * left as f64 / self.packets as f64
    }
}

/// Returns the traffic, with bursts in the classes whose drops exceed the drops at regular intervals.
/// `dropped` has the dropped fraction of each flow.
///
/// # Errors
/// The device would refuse a feature of the path.
pub(crate) fn with_bursts(
    network: &Network,
    devices: &Devices,
    traffic: Traffic,
    dropped: &[Option<f64>],
) -> Result<Traffic, Failure> {
    let solver = Solver::new(network, devices, &traffic, dropped)?;
    let mut bursts: Vec<Option<Bursts>> = vec![None; solver.classes.len()];
    let regular = solver.dropped(&bursts).map_err(Failure::Option)?;
    let mut found = regular.clone();
    let mut unsolved = BTreeSet::new();
    for _ in 0..ROUNDS {
        let is_open = |place: &usize| !unsolved.contains(place) && solver.is_open(*place, &bursts, &found);
        let open: Vec<usize> = (0..bursts.len()).filter(is_open).collect();
        if open.is_empty() {
            break;
        }
        for place in &open {
            bursts[*place] = solver.solve(*place, &bursts).map_err(Failure::Option)?;
        }
        found = solver.dropped(&bursts).map_err(Failure::Option)?;
        let is_unsolved = |place: &usize| bursts[*place].is_none() && solver.is_open(*place, &bursts, &found);
        unsolved.extend(open.into_iter().filter(is_unsolved));
    }
    Ok(solver.rewritten(traffic, &bursts, &regular, &found))
}

/// The search for bursts.
struct Solver {
    classes: Vec<Class>,
    rehearsal: Rehearsal,
    /// The start of the measured time, seconds.
    warmup: f64,
    /// The length of the measured time, seconds.
    seconds: f64,
    /// The rate of the entrance, bits per second.
    entrance: f64,
}

impl Solver {
    fn new(
        network: &Network,
        devices: &Devices,
        traffic: &Traffic,
        dropped: &[Option<f64>],
    ) -> Result<Solver, Failure> {
        let Horizon { warmup, milliseconds } = Horizon::new(traffic);
        let (warmup, seconds) = (warmup / 1e3, (milliseconds - warmup) / 1e3);
        let class = |(flow, dropped): (&Flow, &Option<f64>)| {
            let (kind, bytes) =
                flow.entry.get("source").and_then(kind_of_source).unwrap_or((Kind::Transfers, None));
            let sent = packet(network, &flow.header);
            let length = bytes.unwrap_or(sent.length).max(1);
            let packets = (flow.rate * seconds / (8.0 * f64::from(length))) as u64;
            let dropped = dropped.filter(|_| kind == Kind::Constant && packets > 1);
            Class { packet: Packet { length, ..sent }, packets, rate: flow.rate, dropped }
        };
        let classes: Vec<Class> = traffic.flows.iter().zip(dropped).map(class).collect();
        let packets: u64 = classes.iter().map(|class| class.packets).sum();
        let part = (MOST_PACKETS / packets.max(1) as f64).min(1.0);
        let [from, until] = [warmup, warmup + part * seconds].map(Time::from_seconds_f64);
        let rehearsal = Rehearsal::new(network, devices, Counted { from, until })?;
        let entrance = network.entering.bits_per_second();
        Ok(Solver { classes, rehearsal, warmup, seconds, entrance })
    }

    /// Whether the search must find bursts for a class: for the first time, or again because bursts of other
    /// classes changed.
    fn is_open(&self, place: usize, bursts: &[Option<Bursts>], found: &[f64]) -> bool {
        let Some(wanted) = self.classes[place].dropped else { return false };
        let lacking = wanted - found[place];
        if bursts[place].is_some() { lacking.abs() > UNEXPLAINED } else { lacking > UNEXPLAINED }
    }

    /// Returns the dropped fraction of the packets of each class.
    fn dropped(&self, bursts: &[Option<Bursts>]) -> Result<Vec<f64>, ConfigError> {
        let (mut streams, mut owners) = (Vec::new(), Vec::new());
        for (place, (class, bursts)) in self.classes.iter().zip(bursts).enumerate() {
            let own = self.streams(class, *bursts);
            owners.extend(own.iter().map(|_| place));
            streams.extend(own);
        }
        let mut sums = vec![Tally::default(); self.classes.len()];
        for (place, tally) in owners.into_iter().zip(self.rehearsal.run(&streams)?) {
            sums[place].arrived += tally.arrived;
            sums[place].dropped += tally.dropped;
        }
        Ok(sums.iter().map(|sum| sum.dropped as f64 / sum.arrived.max(1) as f64).collect())
    }

    /// Returns the streams of a class: the packets at regular intervals, and the bursts.
    fn streams(&self, class: &Class, bursts: Option<Bursts>) -> Vec<Stream> {
        let bits = 8.0 * f64::from(class.packet.length);
        let mut found = Vec::new();
        let regular = class.regular_rate(bursts);
        if regular > 0.0 {
            let period = Time::from_seconds_f64(bits / regular);
            found.push(Stream {
                packet: class.packet,
                start: Time::ZERO,
                packets: 1,
                gap: Time::ZERO,
                period,
            });
        }
        if let Some(bursts) = bursts {
            let [start, gap, period] = [self.start(bursts), bits / self.entrance, self.period(bursts)];
            let [start, gap, period] = [start, gap, period].map(Time::from_seconds_f64);
            found.push(Stream { packet: class.packet, start, packets: bursts.packets, gap, period });
        }
        found
    }

    /// Returns the time between the starts of two bursts, seconds.
    fn period(&self, bursts: Bursts) -> f64 {
        self.seconds / bursts.count as f64
    }

    /// Returns the start of the first burst, seconds. It is chosen so that the measured time begins between
    /// two bursts.
    fn start(&self, bursts: Bursts) -> f64 {
        let period = self.period(bursts);
        (self.warmup + period / 2.0) % period
    }

    /// Returns the shortest bursts with which a class loses as many packets as in the output, and the
    /// smallest sufficient number of bursts. `None` if packets at regular intervals already lose as many
    /// packets, or if one burst of all packets loses fewer packets.
    fn solve(&self, place: usize, bursts: &[Option<Bursts>]) -> Result<Option<Bursts>, ConfigError> {
        let class = &self.classes[place];
        let Some(wanted) = class.dropped else { return Ok(None) };
        let lost = |own: Bursts| -> Result<f64, ConfigError> {
            let mut all = bursts.to_vec();
            all[place] = Some(own);
            Ok(self.dropped(&all)?[place])
        };
        let mut without = bursts.to_vec();
        without[place] = None;
        if self.dropped(&without)?[place] >= wanted {
            return Ok(None);
        }
        let whole = |packets: u64| Bursts { packets, count: class.packets / packets };
        let (mut short, mut long) = (1, 2);
        while long <= class.packets && lost(whole(long))? < wanted {
            (short, long) = (long, 2 * long);
        }
        if long > class.packets {
            return Ok(None);
        }
        while long - short > 1 {
            let middle = short.midpoint(long);
            if lost(whole(middle))? < wanted { short = middle } else { long = middle }
        }
        let (mut few, mut many) = (0, whole(long).count);
        let (mut of_few, mut of_many) = (0.0, lost(whole(long))?);
        while many - few > 1 {
            let middle = few.midpoint(many);
            let part = lost(Bursts { packets: long, count: middle })?;
            if part < wanted { (few, of_few) = (middle, part) } else { (many, of_many) = (middle, part) }
        }
        let is_few = few > 0 && wanted - of_few < of_many - wanted;
        Ok(Some(Bursts { packets: long, count: if is_few { few } else { many } }))
    }

    /// Returns the traffic with the bursts, and remarks about the bursts and about drops that differ.
    fn rewritten(
        &self,
        mut traffic: Traffic,
        bursts: &[Option<Bursts>],
        regular: &[f64],
        found: &[f64],
    ) -> Traffic {
        let names = traffic.flows.iter().filter_map(|flow| flow.entry.get("name")?.as_str());
        let mut names: BTreeSet<String> = names.map(str::to_owned).collect();
        let mut flows = Vec::new();
        for (place, flow) in traffic.flows.into_iter().enumerate() {
            let class = flow.class().to_owned();
            let wanted = self.classes[place].dropped.unwrap_or(found[place]);
            let shown = format!("class `{class}`: the output shows {} dropped", points(wanted));
            if let Some(own) = bursts[place] {
                let (of_regular, every) = (points(regular[place]), number(self.period(own), 2));
                traffic.remarks.push(format!(
                    "{shown}, but packets at regular intervals would lose {of_regular}: perhop assumes the \
                     shortest bursts with the shown loss, {} packets every {every} s",
                    own.packets
                ));
            }
            if (wanted - found[place]).abs() > DIFFERENT {
                traffic
                    .remarks
                    .push(format!("{shown}, but the inferred load loses {}", points(found[place])));
            }
            flows.extend(self.flows(place, flow, bursts[place], &mut names));
        }
        Traffic { flows, ..traffic }
    }

    /// Returns the flows of a class: one with packets at regular intervals, and one with the bursts. Adds the
    /// name of the second flow to `names`.
    fn flows(
        &self,
        place: usize,
        flow: Flow,
        bursts: Option<Bursts>,
        names: &mut BTreeSet<String>,
    ) -> Vec<Flow> {
        let Some(own) = bursts else { return vec![flow] };
        let (class, name) = (&self.classes[place], flow.class().to_owned());
        let bytes = class.packet.length;
        let mut found = Vec::new();
        let mut bursting = flow.clone();
        let rate = class.regular_rate(bursts);
        if rate > 0.0 {
            let sent = sending(Kind::Constant, rate, bytes);
            let mut steady = flow;
            steady.entry.insert("source".to_owned(), sent.source);
            steady.offered = [rate_in_words(rate), sent.words];
            steady.rate = rate;
            found.push(steady);
            let own_name = unlike(&format!("{name}-bursts"), names);
            names.insert(own_name.clone());
            bursting.entry.insert("name".to_owned(), json!(own_name));
            bursting.entry.insert("class".to_owned(), json!(name));
        }
        let gap = 8.0 * f64::from(bytes) / self.entrance;
        // The burst ends half an interval after its last packet, so the source sends no further packet.
        let on = (own.packets as f64 - 0.5) * gap;
        let source = json!({"on-off": {
            "rate": as_rate(self.entrance), "packet": {"ip": format!("{bytes}B")},
            "on-time": nanoseconds(on), "off-time": nanoseconds(self.period(own) - on), "cut-gap": "dropped",
        }});
        bursting.entry.insert("source".to_owned(), source);
        bursting.entry.insert("start".to_owned(), json!(nanoseconds(self.start(own))));
        bursting.rate = class.rate - rate;
        bursting.offered =
            [rate_in_words(bursting.rate), format!("bursts of {} {bytes}-byte packets", own.packets)];
        found.push(bursting);
        found
    }
}

/// Returns a fraction as text in percent.
fn points(part: f64) -> String {
    format!("{:.1} %", 100.0 * part)
}
