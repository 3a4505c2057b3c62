//! `show firewall`: the counters and policers of filters, printed with the counters of a run.

use std::collections::BTreeMap;

use perhop_device::Port;
use perhop_device::intent::Direction;
use perhop_device::lower::Links;
use perhop_device::show::{ColorCounters, CountedDevice, CountedPort, ShownPort, Traffic};
use perhop_qos::Color;
use perhop_qos::action::Action;
use perhop_qos::policy::PolicyConfig;
use serde_json::{Value, json};

use super::applied::Applied;
use crate::firewall::{Counters, Filter, FilterFamily, Instance, Term};

/// Bytes of an Ethernet header, and of a tag.
const ETHERNET: i32 = 14;
const TAG: i32 = 4;
const DIRECTIONS: [Direction; 2] = [Direction::Input, Direction::Output];

/// The rows of a table, by name. The device prints them in alphabetical order (genieparser,
/// `ShowFirewall`).
type Rows = BTreeMap<String, Traffic>;

/// Returns the output for each filter that a unit uses; one output for each unit and direction if the filter
/// is `interface-specific`.
pub(super) fn filters(applied: &Applied, device: &CountedDevice) -> Vec<ShownPort> {
    let mut found = Vec::new();
    for (family, name, filter) in applied.firewall.filters.iter() {
        let places: Vec<Place> = places(applied, device, (family, name)).collect();
        let together: Vec<&[Place]> = match filter.counters {
            Counters::Shared => vec![places.as_slice()],
            Counters::OfInterface => places.iter().map(std::slice::from_ref).collect(),
        };
        for places in together.into_iter().filter(|places| !places.is_empty()) {
            found.push(shown(applied, (family, name), filter, places));
        }
    }
    found
}

/// A unit and a direction in which it uses a filter.
struct Place<'p> {
    port: &'p CountedPort<'p>,
    direction: Direction,
    /// The line that attaches the filter.
    line: usize,
    /// Bytes that the filter counts for a packet in addition to its IP bytes.
    overhead: i32,
}

impl Place<'_> {
    /// Returns the suffix of the names of counters that are separate for this place.
    fn suffix(&self) -> String {
        let direction = match self.direction {
            Direction::Input => "i",
            Direction::Output => "o",
        };
        format!("-{}-{direction}", self.port.port.name)
    }
}

/// Iterates over the places of a filter.
fn places<'p>(
    applied: &'p Applied,
    device: &'p CountedDevice,
    (family, name): (FilterFamily, &'p str),
) -> impl Iterator<Item = Place<'p>> {
    let of_port = move |port: &'p CountedPort<'p>| {
        let (interface, number) = port.port.name.split_once('.')?;
        let units = &applied.interface(interface)?.units;
        Some((port, units.iter().find(|unit| unit.number == number)?))
    };
    device.ports.iter().filter_map(of_port).flat_map(move |(port, unit)| {
        // Filters of frames count the frame without its check sequence (recalled).
        let overhead = if family.has_frames() { ETHERNET + TAG * i32::from(unit.tags) } else { 0 };
        DIRECTIONS.into_iter().flat_map(move |direction| {
            let side = match direction {
                Direction::Input => &unit.sides.input,
                Direction::Output => &unit.sides.output,
            };
            let own = side.filters.iter().filter(move |(own, at)| *own == family && at.value == name);
            own.map(move |(_, at)| Place { port, direction, line: at.line, overhead })
        })
    })
}

fn shown(
    applied: &Applied,
    (family, name): (FilterFamily, &str),
    filter: &Filter,
    places: &[Place],
) -> ShownPort {
    let suffix = match (filter.counters, places) {
        (Counters::OfInterface, [place]) => place.suffix(),
        _ => String::new(),
    };
    let (mut counters, mut policers) = (Rows::new(), Rows::new());
    for term in &filter.terms {
        let traffic: Vec<Counted> = places.iter().map(|place| counted(place, (name, term))).collect();
        if let Some(counter) = &term.then.count {
            let row = counters.entry(format!("{counter}{suffix}")).or_default();
            *row = traffic.iter().fold(*row, |sum, own| sum + own.accepted);
        }
        if let Some(policer) = &term.then.policer {
            let name = match applied.firewall.policers.instance(policer) {
                // All terms share a bucket, so they share a row (inferred).
                Instance::Filter => format!("{}{suffix}", policer.name()),
                _ => format!("{}-{}{suffix}", policer.name(), term.name),
            };
            let row = policers.entry(name).or_default();
            *row = traffic.iter().fold(*row, |sum, own| sum + own.exceeding);
        }
    }
    let name = format!("{name}{suffix}");
    let mut lines = vec![format!("Filter: {name}")];
    table("Counters:", &counters, &mut lines);
    table("Policers:", &policers, &mut lines);
    let document = json!({
        "filter": name,
        "family": family.word(),
        "counters": document(&counters),
        "policers": document(&policers),
    });
    ShownPort { text: lines.join("\n") + "\n", document }
}

fn table(title: &str, rows: &Rows, lines: &mut Vec<String>) {
    if rows.is_empty() {
        return;
    }
    let row = |name: &str, bytes: &str, packets: &str| format!("{name:<36} {bytes:>20} {packets:>20}");
    lines.extend([title.to_owned(), row("Name", "Bytes", "Packets")]);
    lines.extend(
        rows.iter().map(|(name, traffic)| {
            row(name, &traffic.whole_bytes().to_string(), &traffic.packets.to_string())
        }),
    );
}

fn document(rows: &Rows) -> Vec<Value> {
    let row = |(name, traffic): (&String, &Traffic)| json!({"name": name, "bytes": traffic.whole_bytes(), "packets": traffic.packets});
    rows.iter().map(row).collect()
}

/// The packets of a term.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    /// The packets that the policer of the term does not drop. Dropped packets never reach `count`
    /// (recalled).
    accepted: Traffic,
    /// The packets above the rate of the policer.
    exceeding: Traffic,
}

/// Returns the packets of a term at a place.
fn counted(place: &Place, (filter, term): (&str, &Term)) -> Counted {
    let Port { input, output, links, .. } = place.port.port;
    let (policy, links) = match place.direction {
        Direction::Input => (input, &links.input),
        Direction::Output => (output, &links.output),
    };
    let named = format!("{filter} {}", term.name);
    let mut found = Counted::default();
    for index in stages(links, (term.line, place.line)) {
        let Some((name, is_metered)) = stage(policy, index).filter(|(name, _)| name.starts_with(&named))
        else {
            continue;
        };
        let colors: ColorCounters = place.port.counters.stage(place.direction, name);
        for (color, traffic) in colors {
            let traffic = traffic.with_overhead(place.overhead);
            let is_exceeding = is_metered && color == Color::RED;
            if is_exceeding {
                found.exceeding = found.exceeding + traffic;
            }
            if !(is_exceeding && drops(policy, index)) {
                found.accepted = found.accepted + traffic;
            }
        }
    }
    found
}

/// Iterates over the conditioners of a term for one attaching line.
fn stages(links: &Links, (term, attached): (usize, usize)) -> impl Iterator<Item = usize> {
    let is_own = move |class: &&perhop_device::lower::ClassLinks| {
        class.line == term && class.lines.contains(&attached)
    };
    links.classes.iter().filter(is_own).filter_map(|class| class.conditioner)
}

/// Returns the name of a conditioner and whether it meters; `None` for a conditioner that only colors packets
/// for the meter behind it.
fn stage(policy: &PolicyConfig, index: usize) -> Option<(&str, bool)> {
    let stage = policy.conditioners.get(index)?;
    let is_metered = stage.meter.is_some();
    let only_colors = matches!(stage.actions.as_slice(), [Action::Color(_), Action::Continue]);
    Some((stage.name.as_deref()?, is_metered)).filter(|_| !only_colors)
}

/// Whether a conditioner drops packets above its rate.
fn drops(policy: &PolicyConfig, index: usize) -> bool {
    policy.conditioners.get(index).is_some_and(|stage| stage.red.contains(&Action::Drop))
}
