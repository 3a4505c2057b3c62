//! [`Status`]: everything that a forwarder's process knows of itself, as JSON and as Prometheus reads it.

use std::fmt::Write;

use perhop_qos::conditioner::Count;
use serde::Serialize;
use serde_json::{Value, json};

use crate::report::{DirectionReport, Report};
use crate::socket::{DeviceCounters, DeviceState, WaitReport};

/// Sending later than this, for one frame in a hundred, moves a delay by more than a live run may differ from a
/// simulated one, in seconds.
const LATE_S: f64 = 0.001;
/// A processor that is busy for more than this share of the time has nothing left for a burst.
const SATURATED: f64 = 0.95;

/// What a forwarder's process knows of itself at one moment.
#[derive(Clone, Debug)]
pub struct Status {
    /// What the forwarder has counted.
    pub report: Report,
    /// What was counted at each interface.
    pub devices: Vec<DeviceCounters>,
    /// What waiting was like.
    pub waiting: WaitReport,
    /// Reading of the machine's monotonic clock when the forwarder's began, in nanoseconds.
    pub started_at_ns: u64,
    /// Processor time that the process has used since then, in seconds.
    pub processor_s: f64,
    /// How long that is ago, in seconds.
    pub elapsed_s: f64,
    /// Memory that the process has in use, in bytes.
    pub resident_bytes: u64,
    /// Why it has ended; `None` while it runs.
    pub ending: Option<Ending>,
}

/// Why a forwarder has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// A signal asked for it.
    Asked,
    /// Whoever held the other end of standard input has let go of it.
    Orphaned,
    /// No interface is left, or the system does not say when a frame arrives.
    Failed(String),
}

impl Status {
    /// Reasons not to trust what was measured; none, where all is well.
    pub fn doubts(&self) -> Vec<String> {
        let mut doubts = Vec::new();
        if let Some(Ending::Failed(why)) = &self.ending {
            doubts.push(format!("the forwarder ended early: {why}"));
        }
        for device in &self.devices {
            let name = &device.device;
            if device.state == DeviceState::Lost {
                doubts.push(format!("interface {name} was removed"));
            }
            if device.lost_frames > 0 {
                let lost = device.lost_frames;
                doubts.push(format!("{lost} frames were lost at interface {name} before they could be read"));
            }
            if device.oversized_frames > 0 {
                let frames = device.oversized_frames;
                doubts.push(format!(
                    "{frames} frames at interface {name} were longer than its MTU and were dropped: several packets \
                     glued together; switch off tso, gso and gro where they come from"
                ));
            }
            if device.unfinished_checksums > 0 {
                let packets = device.unfinished_checksums;
                doubts.push(format!(
                    "{packets} packets came to interface {name} without a transport checksum; switch off tx where \
                     they come from"
                ));
            }
        }
        let late = self.report.lateness.p99_s;
        if late > LATE_S {
            doubts.push(format!("one frame in a hundred was sent {:.1} ms or more too late", late * 1e3));
        }
        let load = self.load();
        if load > SATURATED {
            doubts.push(format!("the forwarder was busy for {:.0} % of the time", load * 1e2));
        }
        if self.report.frames.no_slot > 0 {
            let frames = self.report.frames.no_slot;
            doubts.push(format!("{frames} frames found no room in the forwarder's memory"));
        }
        doubts
    }
    /// Share of the time in which the processor worked, busy waiting left out.
    fn load(&self) -> f64 {
        let share = self.processor_s / self.elapsed_s.max(f64::MIN_POSITIVE);
        (share - self.waiting.busy_share).max(0.0)
    }
    /// All of it: the report's fields, and beside them those of the process.
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
            "doubts": self.doubts(),
        });
        if let (Value::Object(all), Value::Object(own)) = (&mut all, own) {
            all.extend(own);
        }
        all
    }
    /// The same for Prometheus, in its text format 0.0.4.
    pub fn metrics(&self) -> String {
        let mut page = Page { text: String::new(), node: &self.report.node };
        self.frames(&mut page);
        self.devices(&mut page);
        queues(&mut page, &self.report.directions);
        page.family("perhop_backlog_packets", "gauge", "Packets that are queued.");
        for direction in &self.report.directions {
            page.sample("perhop_backlog_packets", &[("direction", &direction.name)], direction.backlog);
        }
        page.family("perhop_send_lateness_seconds", "gauge", "How late frames were sent.");
        let lateness = &self.report.lateness;
        for (quantile, value) in [("0.5", lateness.p50_s), ("0.99", lateness.p99_s), ("1", lateness.max_s)] {
            page.sample("perhop_send_lateness_seconds", &[("quantile", quantile)], value);
        }
        page.family("perhop_processor_seconds_total", "counter", "Processor time used.");
        page.sample("perhop_processor_seconds_total", &[], self.processor_s);
        page.family("perhop_busy_wait_ratio", "gauge", "Share of the time spent looking at the clock.");
        page.sample("perhop_busy_wait_ratio", &[], self.waiting.busy_share);
        page.family("perhop_resident_bytes", "gauge", "Memory in use.");
        page.sample("perhop_resident_bytes", &[], self.resident_bytes);
        page.text
    }

    fn frames(&self, page: &mut Page) {
        let frames = &self.report.frames;
        page.family("perhop_frames_total", "counter", "Frames by what became of them.");
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
            page.sample("perhop_frames_total", &[("fate", fate)], count);
        }
        page.family(
            "perhop_frames_refused_total",
            "counter",
            "Frames without a packet to forward, by reason.",
        );
        for (reason, count) in &frames.refused {
            page.sample("perhop_frames_refused_total", &[("reason", reason)], *count);
        }
        page.family("perhop_dropped_packets_total", "counter", "Packets dropped, by cause.");
        for (cause, count) in &frames.dropped {
            page.sample("perhop_dropped_packets_total", &[("cause", cause)], *count);
        }
    }
    fn devices(&self, page: &mut Page) {
        page.family(
            "perhop_device_frames_total",
            "counter",
            "Frames at an interface, by what became of them.",
        );
        for device in &self.devices {
            let fates = [
                ("received", device.received_frames),
                ("sent", device.sent_frames),
                ("lost", device.lost_frames),
                ("refused", device.refused_frames),
                ("oversized", device.oversized_frames),
            ];
            for (fate, count) in fates {
                page.sample(
                    "perhop_device_frames_total",
                    &[("device", &device.device), ("fate", fate)],
                    count,
                );
            }
        }
        page.family("perhop_device_up", "gauge", "Whether an interface can be used.");
        for device in &self.devices {
            let up = u64::from(device.state == DeviceState::Up);
            page.sample("perhop_device_up", &[("device", &device.device)], up);
        }
    }
}

fn queues(page: &mut Page, directions: &[DirectionReport]) {
    let packets = |count: &Count| count.packets;
    page.family("perhop_queue_packets_total", "counter", "Packets at a queue, by what became of them.");
    each_count(page, "perhop_queue_packets_total", directions, packets);
    let bytes = |count: &Count| count.bytes;
    page.family("perhop_queue_bytes_total", "counter", "IP bytes at a queue, by what became of them.");
    each_count(page, "perhop_queue_bytes_total", directions, bytes);
}

fn each_count(page: &mut Page, name: &str, directions: &[DirectionReport], of: impl Fn(&Count) -> u64) {
    for direction in directions {
        for queue in &direction.queues {
            let precedence = queue.precedence.to_string();
            let mut sample = |fate: &str, cause: Option<&str>, count: &Count| {
                let mut labels = vec![("direction", direction.name.as_str()), ("queue", &queue.queue)];
                labels.extend([("precedence", precedence.as_str()), ("fate", fate)]);
                labels.extend(cause.map(|cause| ("cause", cause)));
                page.sample(name, &labels, of(count));
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

/// A page of metrics of one node.
struct Page<'a> {
    text: String,
    node: &'a str,
}

impl Page<'_> {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }
    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl std::fmt::Display) {
        let _ = write!(self.text, "{name}{{node=\"{}\"", escaped(self.node));
        for (label, text) in labels {
            let _ = write!(self.text, ",{label}=\"{}\"", escaped(text));
        }
        let _ = writeln!(self.text, "}} {value}");
    }
}

/// A label's value as the format wants it.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
