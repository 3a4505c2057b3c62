//! Meters: 64 to 1500 bytes every 600 ns, 10.4 Gb/s, half of it committed; of one meter, or of 4096 that share it.

use std::hint::black_box;

use perhop_qos::meter::{AnyMeter, Meter, MeterConfig};
use perhop_qos::random::Streams;
use perhop_qos::{Color, FlowKey, Packet, Time};
use serde_json::{Value, json};

use crate::{Bench, Numbers, TABLE};

/// Picoseconds from packet to packet.
const GAP: u64 = 600_000;
const COMMITTED: u64 = 5_000_000_000;
/// Of the peak, and of what is in excess of the committed rate.
const PEAK: u64 = 8_000_000_000;
const EXCESS: u64 = 3_000_000_000;

pub(crate) fn run(bench: &Bench) {
    for instances in [1, 4096] {
        let rate = |total: u64| format!("{}b/s", total / instances as u64);
        let (cir, pir, eir) = (rate(COMMITTED), rate(PEAK), rate(EXCESS));
        let cases = [
            ("srtcm-blind", json!({"single-rate-tcm": {"cir": cir, "cbs": "30kB", "ebs": "30kB"}})),
            (
                "srtcm-aware",
                json!({"single-rate-tcm": {"cir": cir, "cbs": "30kB", "ebs": "30kB", "mode": "color-aware"}}),
            ),
            ("trtcm-blind", json!({"two-rate-tcm": {"cir": cir, "cbs": "30kB", "pir": pir, "pbs": "30kB"}})),
            (
                "trtcm-aware",
                json!({"two-rate-tcm": {
                    "cir": cir, "cbs": "30kB", "pir": pir, "pbs": "30kB", "mode": "color-aware",
                }}),
            ),
            ("rfc4115-blind", json!({"rfc4115": {"cir": cir, "cbs": "30kB", "eir": eir, "ebs": "30kB"}})),
            (
                "rfc4115-aware",
                json!({"rfc4115": {
                    "cir": cir, "cbs": "30kB", "eir": eir, "ebs": "30kB", "mode": "color-aware",
                }}),
            ),
            ("car", json!({"token-bucket-with-debt": {"rate": cir, "burst": "30kB", "debt-limit": "60kB"}})),
        ];
        for (name, config) in cases {
            bench.case(&format!("meter/{name}/{instances}"), || meter(config, instances));
        }
    }
}

/// Gives packet after packet to one of `instances` meters, and says its color.
fn meter(config: Value, instances: usize) -> impl FnMut(usize) -> usize {
    let config: MeterConfig = serde_json::from_value(config).expect("the benchmark's meter is valid");
    let meter = config.build(&Streams::new(1, 0)).expect("the benchmark's meter can be built");
    let mut meters: Vec<AnyMeter> = vec![meter; instances];
    let (lengths, colors) = (Numbers::table(1, 1437), Numbers::table(2, 3));
    let places = Numbers::shuffled(3, instances);
    let mut packet = Packet::new(FlowKey::default(), 0);
    move |n| {
        let row = n % TABLE;
        packet.length = 64 + lengths[row];
        packet.color = Color::new(colors[row] as usize);
        let now = Time::from_picoseconds(n as u64 * GAP);
        meters[places[row] as usize].measure(now, black_box(&packet)).index()
    }
}
