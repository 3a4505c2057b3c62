//! [`Tables`]: the result tables that contain counters of ports, and the counters of one port.

use std::collections::BTreeMap;

use perhop_device::show::{
    ColorCounters, PortCounters, PrecedenceCounters, QueueCounters, QueueSample, Traffic,
};
use perhop_qos::{Color, DropCause};
use serde::Deserialize;

/// The name of the row with packets that are dropped after their queue.
const BEYOND: &str = "(beyond)";
/// Prefix of the columns of drops by cause.
const DROPPED: &str = "dropped_";

/// The result tables of one replication that contain counters of ports, as lists of rows.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Tables {
    #[serde(default)]
    ports: Vec<QueueRow>,
    #[serde(default)]
    conditioners: Vec<StageRow>,
    /// The last samples of queues.
    #[serde(default)]
    queues: Vec<SampleRow>,
}

#[derive(Clone, Debug, Deserialize)]
struct QueueRow {
    port: String,
    queue: String,
    precedence: u64,
    arrived_packets: u64,
    arrived_bytes: u64,
    sent_packets: u64,
    sent_bytes: u64,
    marked_packets: u64,
    /// The counters in all other columns, by name.
    #[serde(flatten)]
    others: BTreeMap<String, u64>,
}

#[derive(Clone, Debug, Deserialize)]
struct StageRow {
    node: String,
    neighbor: String,
    side: String,
    stage: String,
    color: Color,
    packets: u64,
    bytes: u64,
}

#[derive(Clone, Debug, Deserialize)]
struct SampleRow {
    port: String,
    queue: String,
    precedence: u64,
    packets: u64,
    bytes: u64,
    average: Option<f64>,
}

impl QueueRow {
    fn counters(&self) -> PrecedenceCounters {
        let column = |cause: DropCause| format!("{DROPPED}{}", cause.name().replace('-', "_"));
        PrecedenceCounters {
            arrived: Traffic::new(self.arrived_packets, self.arrived_bytes as f64),
            sent: Traffic::new(self.sent_packets, self.sent_bytes as f64),
            marked_packets: self.marked_packets,
            dropped: DropCause::ALL.map(|cause| self.others.get(&column(cause)).copied().unwrap_or(0)),
        }
    }
}

impl Tables {
    /// Returns the counters of the port of `node` on the link to `neighbor`, measured over `seconds`.
    pub(super) fn of_port(&self, node: &str, neighbor: Option<&str>, seconds: f64) -> PortCounters {
        let mut found = PortCounters { seconds, ..PortCounters::default() };
        let Some(neighbor) = neighbor else { return found };
        let (leaving, arriving) = (format!("{node}->{neighbor}"), format!("{neighbor}->{node}"));
        let mut lost = Traffic::default();
        for row in &self.ports {
            if row.port == leaving {
                let counters = row.counters();
                if row.queue != BEYOND {
                    found.handed = found.handed + counters.arrived;
                }
                let queue = found.queues.entry(row.queue.clone()).or_default();
                queue.precedences.insert(row.precedence, counters);
            } else if row.port == arriving {
                let counters = row.counters();
                found.arrived = found.arrived + counters.sent;
                lost = lost + counters.drops(&[DropCause::Lost]);
            }
        }
        found.arrived = found.arrived - lost;
        self.add_samples(&leaving, &mut found.queues);
        for row in self.conditioners.iter().filter(|row| row.node == node && row.neighbor == neighbor) {
            let side = if row.side == "input" { &mut found.input } else { &mut found.output };
            let colors: &mut ColorCounters = side.entry(row.stage.clone()).or_default();
            colors.insert(row.color, Traffic::new(row.packets, row.bytes as f64));
        }
        found
    }

    fn add_samples(&self, port: &str, queues: &mut BTreeMap<String, QueueCounters>) {
        for row in self.queues.iter().filter(|row| row.port == port) {
            let queue = queues.entry(row.queue.clone()).or_default();
            let sample = queue.sample.get_or_insert_with(|| QueueSample {
                packets: row.packets,
                bytes: row.bytes,
                averages: BTreeMap::new(),
            });
            sample.averages.extend(row.average.map(|average| (row.precedence, average)));
        }
    }
}
