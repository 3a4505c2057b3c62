//! [`Status`]: counters and state of a forwarder's process, as JSON and as Prometheus metrics.

use std::fmt::Write;

use perhop_qos::conditioner::Count;
use serde::Serialize;
use serde_json::{Value, json};

use crate::report::{DirectionReport, Report};
use crate::socket::{DeviceCounters, DeviceState, WaitReport};
use crate::unclassified;

/// 99th percentile of the sending lateness, seconds, above which delays may differ from the simulation by
/// more than the tolerance.
const LATE_S: f64 = 0.001;
/// The processor load above which bursts may delay frames.
const SATURATED: f64 = 0.95;

/// Counters and state of a forwarder's process at one time.
#[derive(Clone, Debug)]
pub struct Status {
    /// Counters of the forwarder.
    pub report: Report,
    /// Counters of each interface.
    pub devices: Vec<DeviceCounters>,
    /// Statistics of waiting.
    pub waiting: WaitReport,
    /// Reading of the machine's monotonic clock at the start of the forwarder, nanoseconds.
    pub started_at_ns: u64,
    /// Processor time since the start, seconds.
    pub processor_s: f64,
    /// Time since the start, seconds.
    pub elapsed_s: f64,
    /// Resident memory of the process, bytes.
    pub resident_bytes: u64,
    /// The reason why the forwarder has ended; `None` while it runs.
    pub ending: Option<Ending>,
}

/// The reason why a forwarder has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// A signal requested the end.
    Asked,
    /// The other end of standard input was closed.
    Orphaned,
    /// No interface is left, or the system does not report arrivals.
    Failed(String),
}

impl Status {
    /// Fidelity warnings: reasons why measurements may not be valid. Empty if there are none.
    pub fn fidelity_warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let mut warn = |holds: bool, text: String| warnings.extend(holds.then_some(text));
        if let Some(Ending::Failed(why)) = &self.ending {
            warn(true, format!("the forwarder ended early: {why}"));
        }
        for device in &self.devices {
            let name = &device.device;
            warn(device.state == DeviceState::Lost, format!("interface {name} was removed"));
            let lost = device.lost_frames;
            warn(lost > 0, format!("{lost} frames were lost at interface {name} because the ring was full"));
            let oversized = device.oversized_frames;
            warn(
                oversized > 0,
                format!(
                    "{oversized} frames at interface {name} were longer than its MTU and were dropped, \
                     because they contain several packets; switch off tso, gso and gro at the sender"
                ),
            );
            let unfinished = device.unfinished_checksums;
            warn(
                unfinished > 0,
                format!(
                    "{unfinished} packets arrived at interface {name} without a transport checksum that could be \
                     completed, and their receivers drop them; switch off tx at the sender (ethtool -K DEVICE tx \
                     off)"
                ),
            );
        }
        let oversized = self.report.frames.oversized;
        warn(
            oversized > 0,
            format!(
                "{oversized} frames were longer than the slots of the forwarder and were dropped; lower the \
                 MTU"
            ),
        );
        let seconds = self.report.counted_until_s - self.report.counted_from_s;
        for direction in &self.report.directions {
            let passed = unclassified::warning(direction, seconds);
            warn(passed.is_some(), passed.unwrap_or_default());
        }
        let late = self.report.send_delay.p99_s;
        warn(late > LATE_S, format!("one frame in a hundred was sent at least {:.1} ms late", late * 1e3));
        let load = self.load();
        warn(load > SATURATED, format!("the forwarder was busy {:.0} % of the time", load * 1e2));
        let dropped = self.report.frames.no_slot;
        warn(
            dropped > 0,
            format!("{dropped} frames were dropped because all slots of the forwarder were in use"),
        );
        warnings
    }
    /// Share of the time in which the processor was busy, excluding busy waiting.
    fn load(&self) -> f64 {
        let share = self.processor_s / self.elapsed_s.max(f64::MIN_POSITIVE);
        (share - self.waiting.busy_share).max(0.0)
    }
    /// All fields as JSON: the counters of the report and of the process.
    pub fn json(&self) -> Value {
        let mut all = json!(self.report);
        let own = json!({
            "devices": self.devices,
            "waiting": self.waiting,
            "started-at-ns": self.started_at_ns,
            "elapsed-s": self.elapsed_s,
            "processor-s": self.processor_s,
            "load": self.load(),
            "resident-bytes": self.resident_bytes,
            "ending": self.ending,
            // The key keeps its old name, because scripts read it.
            "doubts": self.fidelity_warnings(),
        });
        if let (Value::Object(all), Value::Object(own)) = (&mut all, own) {
            all.extend(own);
        }
        all
    }
    /// All counters as metrics in the text format 0.0.4 of Prometheus.
    pub fn metrics(&self) -> String {
        let mut page = Page { text: String::new(), node: &self.report.node, family: "" };
        self.frames(&mut page);
        self.devices(&mut page);
        queues(&mut page, &self.report.directions);
        page.family("perhop_backlog_packets", "gauge", "Packets in queues.");
        for direction in &self.report.directions {
            page.sample(&[("direction", &direction.name)], direction.backlog);
        }
        page.family("perhop_send_lateness_seconds", "gauge", "Lateness of sent frames.");
        let delay = &self.report.send_delay;
        for (quantile, value) in [("0.5", delay.p50_s), ("0.99", delay.p99_s), ("1", delay.max_s)] {
            page.sample(&[("quantile", quantile)], value);
        }
        page.family("perhop_processor_seconds_total", "counter", "Processor time used.");
        page.sample(&[], self.processor_s);
        page.family("perhop_busy_wait_ratio", "gauge", "Share of the time spent in busy waiting.");
        page.sample(&[], self.waiting.busy_share);
        page.family("perhop_resident_bytes", "gauge", "Resident memory.");
        page.sample(&[], self.resident_bytes);
        page.text
    }

    fn frames(&self, page: &mut Page) {
        let frames = &self.report.frames;
        page.family("perhop_frames_total", "counter", "Frames by outcome.");
        let fates = [
            ("received", frames.received),
            ("sent", frames.sent),
            ("unsent", frames.unsent),
            ("no-slot", frames.no_slot),
            ("oversized", frames.oversized),
            ("unexpected", frames.unexpected),
            ("local", frames.local),
        ];
        for (fate, count) in fates {
            page.sample(&[("fate", fate)], count);
        }
        page.family(
            "perhop_frames_refused_total",
            "counter",
            "Frames without a packet to forward, by reason.",
        );
        for (reason, count) in &frames.refused {
            page.sample(&[("reason", reason)], *count);
        }
        page.family("perhop_dropped_packets_total", "counter", "Packets dropped, by cause.");
        for (cause, count) in &frames.dropped {
            page.sample(&[("cause", cause)], *count);
        }
    }
    fn devices(&self, page: &mut Page) {
        page.family("perhop_device_frames_total", "counter", "Frames at an interface, by outcome.");
        for device in &self.devices {
            let fates = [
                ("received", device.received_frames),
                ("sent", device.sent_frames),
                ("lost", device.lost_frames),
                ("refused", device.refused_frames),
                ("oversized", device.oversized_frames),
            ];
            for (fate, count) in fates {
                page.sample(&[("device", &device.device), ("fate", fate)], count);
            }
        }
        page.family("perhop_device_up", "gauge", "Whether an interface is usable.");
        for device in &self.devices {
            let up = u64::from(device.state == DeviceState::Up);
            page.sample(&[("device", &device.device)], up);
        }
    }
}

fn queues(page: &mut Page, directions: &[DirectionReport]) {
    let packets = |count: &Count| count.packets;
    page.family("perhop_queue_packets_total", "counter", "Packets at a queue, by outcome.");
    each_count(page, directions, packets);
    let bytes = |count: &Count| count.bytes;
    page.family("perhop_queue_bytes_total", "counter", "IP bytes at a queue, by outcome.");
    each_count(page, directions, bytes);
}

fn each_count(page: &mut Page, directions: &[DirectionReport], of: impl Fn(&Count) -> u64) {
    for direction in directions {
        for queue in &direction.queues {
            let precedence = queue.precedence.to_string();
            let mut sample = |fate: &str, cause: Option<&str>, count: &Count| {
                let mut labels = vec![("direction", direction.name.as_str()), ("queue", &queue.queue)];
                labels.extend([("precedence", precedence.as_str()), ("fate", fate)]);
                labels.extend(cause.map(|cause| ("cause", cause)));
                page.sample(&labels, of(count));
            };
            sample("arrived", None, &queue.arrived);
            sample("sent", None, &queue.sent);
            sample("marked", None, &queue.marked);
            for (cause, count) in &queue.dropped {
                sample("dropped", Some(cause), count);
            }
        }
    }
}

/// The metrics of one node.
struct Page<'a> {
    text: String,
    node: &'a str,
    /// The family of the samples that follow.
    family: &'static str,
}

impl Page<'_> {
    fn family(&mut self, name: &'static str, kind: &str, help: &str) {
        self.family = name;
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }
    fn sample(&mut self, labels: &[(&str, &str)], value: impl std::fmt::Display) {
        let _ = write!(self.text, "{}{{node=\"{}\"", self.family, escaped(self.node));
        for (label, text) in labels {
            let _ = write!(self.text, ",{label}=\"{}\"", escaped(text));
        }
        let _ = writeln!(self.text, "}} {value}");
    }
}

/// Escapes the value of a label.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
