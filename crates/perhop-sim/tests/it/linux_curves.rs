//! `linux-6` compared with Linux 6.1: one TCP flow through a FIFO, sample by sample
//! (`studies/linux-aqm/reference/windows.toml`).

use std::fmt::Write as _;
use std::path::Path;

use crate::simulation::{ONCE, numbers, simulate};
use perhop_sim::RunOptions;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Case {
    id: String,
    congestion: String,
    extras: String,
    round_trip_ms: u64,
    first_s: f64,
    window: String,
    threshold: String,
    smoothed_us: String,
}

#[derive(Clone, Copy, Debug)]
struct Sample {
    time_s: f64,
    window: f64,
    threshold: f64,
    smoothed_us: f64,
}

impl Case {
    fn samples(&self) -> Vec<Sample> {
        let words =
            |text: &str| text.split_whitespace().map(|word| word.parse().unwrap()).collect::<Vec<f64>>();
        let (windows, thresholds, round_trips) =
            (words(&self.window), words(&self.threshold), words(&self.smoothed_us));
        let mut time_s = self.first_s;
        let mut samples = Vec::new();
        for ((window, threshold), smoothed_us) in windows.into_iter().zip(thresholds).zip(round_trips) {
            samples.push(Sample { time_s, window, threshold, smoothed_us });
            time_s += if time_s < 2.995 { 0.01 } else { 0.1 };
        }
        samples
    }
    fn tcp(&self) -> Value {
        let mut tcp = json!({"profile": "linux-6", "window": "4MiB", "congestion": self.congestion});
        if self.extras == "plain" {
            tcp["recovery"] = json!("newreno");
            tcp["timestamps"] = json!(false);
            tcp["slow-start-exit"] = json!("loss");
            tcp["frto"] = json!(false);
            tcp["initial-ssthresh"] = json!("8 packets");
        }
        tcp
    }
    /// Returns the samples of perhop. The shaper delivers a packet at the moment it leaves the queue, as HTB
    /// does. HTB counts the Ethernet header (1514 bytes for 1500). According to the kernel's count of
    /// acknowledged bytes, HTB sends a full frame every 1.21159 ms, which is 0.03 % below 10 Mb/s.
    fn simulated(&self, seed: u64) -> Vec<Sample> {
        let scenario = json!({
            "perhop": 1, "name": "linux", "duration": "60s",
            "hosts": {"client": {}, "server": {}}, "routers": {"router": {}},
            "links": [
                {"between": ["client", "router"], "rate": "100Gb/s"},
                {"between": ["router", "server"], "rate": "100Gb/s",
                 "delay": format!("{}ms", self.round_trip_ms / 2), "interfaces": {"router": {"output": "queue"}}},
            ],
            "policies": {"queue": {"queueing": {"classes": [{"name": "all",
                "shape": {"rate": "9904300b/s", "burst": "1500B"},
                "buffer": {"tail-drop": {"limit": "100 packets"}}}]}}},
            "traffic": [{"name": "flow", "from": "client", "to": "server", "start": "100ms",
                "source": {"bulk": {"tcp": self.tcp()}}}],
            "measure": {"connections": [{"traffic": "flow", "every": "10ms"}]},
        });
        let results = simulate(&scenario, RunOptions { seed, ..ONCE });
        let table = results.table("connections").unwrap();
        let column = |name| numbers(table, name);
        let (times, windows) = (column("time_s"), column("cwnd_segments"));
        let (thresholds, round_trips) = (column("ssthresh_segments"), column("srtt_s"));
        (0..times.len())
            .map(|row| Sample {
                time_s: times[row],
                window: windows[row],
                threshold: thresholds[row],
                smoothed_us: round_trips[row] * 1e6,
            })
            .collect()
    }
}

/// The distance between two curves.
#[derive(Debug)]
struct Distance {
    /// The time until which windows are equal, and the mean and the largest difference of windows, segments.
    equal_until_s: f64,
    mean: f64,
    most: f64,
    /// The largest difference of the smoothed round trip up to that time, microseconds, and of the threshold,
    /// segments.
    round_trip_us: f64,
    threshold: f64,
}

fn distance(measured: &[Sample], simulated: &[Sample]) -> Distance {
    let mut found =
        Distance { equal_until_s: 60.0, mean: 0.0, most: 0.0, round_trip_us: 0.0, threshold: 0.0 };
    for sample in measured {
        let row = simulated.iter().find(|row| (row.time_s - sample.time_s).abs() < 1e-6).unwrap();
        let off = (row.window - sample.window).abs();
        if off > 0.0 {
            found.equal_until_s = found.equal_until_s.min(sample.time_s);
        }
        if found.equal_until_s == 60.0 {
            found.round_trip_us = found.round_trip_us.max((row.smoothed_us - sample.smoothed_us).abs());
        }
        if sample.threshold > 0.0 {
            found.threshold = found.threshold.max((row.threshold - sample.threshold).abs());
        }
        found.mean += off / measured.len() as f64;
        found.most = found.most.max(off);
    }
    found
}

/// Limits by case: the minimum time for which the windows are equal (seconds), the mean difference of windows
/// (segments), and the difference of thresholds (segments). Reno's curves depend on the clock only through
/// the wait of a delayed acknowledgment. CUBIC's growth is computed once per tick. The phase of the tick in
/// the kernel is unknown, so losses occur up to 0.3 s earlier or later.
const BOUNDS: [(&str, f64, f64, f64); 8] = [
    ("reno-plain-r20", 1.9, 0.1, 1.0),
    ("reno-plain-r100", 20.0, 0.1, 1.0),
    ("reno-on-r20", 0.2, 0.1, 1.0),
    ("reno-on-r100", 0.6, 0.1, 1.0),
    ("cubic-plain-r20", 2.0, 1.0, 3.0),
    ("cubic-plain-r100", 3.0, 0.5, 3.0),
    ("cubic-on-r20", 1.5, 1.5, 3.0),
    ("cubic-on-r100", 2.0, 0.5, 3.0),
];

#[test]
fn windows_follow_the_kernels_curves() {
    #[derive(Deserialize)]
    struct File {
        case: Vec<Case>,
    }
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../studies/linux-aqm/reference/windows.toml");
    let File { case: cases } = toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut wrong = String::new();
    for (id, equal_until_s, mean, threshold) in BOUNDS {
        let case = cases.iter().find(|case| case.id == id).unwrap();
        let found = distance(&case.samples(), &case.simulated(1));
        println!("{id}: {found:?}");
        if found.equal_until_s < equal_until_s || found.mean > mean || found.threshold > threshold {
            writeln!(wrong, "{id}: {found:?}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
