//! Every meter under any sequence of packets, compared with plain arithmetic. Meters per flow are compared
//! with a single meter.

use arbitrary::Arbitrary;
use perhop_qos::meter::{FlowMeters, Meter, MeterConfig};
use perhop_qos::random::Streams;
use perhop_qos::{Color, FlowKey, Packet, Time};
use serde_json::{Value, json};

use crate::outcome::{Outcome, structured};
use crate::plain::meters::{Arrival, PlainMeter};

#[derive(Debug, Arbitrary)]
struct Input {
    kind: u8,
    rates: [Scaled; 2],
    bursts: [Scaled; 2],
    is_aware: bool,
    packets: Vec<(Scaled, u32, u8)>,
}

/// A number of any magnitude.
#[derive(Clone, Copy, Debug, Arbitrary)]
struct Scaled {
    digits: u64,
    shift: u8,
}

impl Scaled {
    fn up_to(self, most: u64) -> u64 {
        (self.digits >> (self.shift % 64)).clamp(1, most)
    }
}

fn config(input: &Input) -> Value {
    let rate = input.rates.map(|rate| rate.up_to(u64::MAX / 2));
    let more = format!("{}b/s", rate[0] + rate[1]);
    let rate = rate.map(|rate| format!("{rate}b/s"));
    let burst = input.bursts.map(|burst| format!("{}B", burst.up_to(u64::MAX)));
    let mode = if input.is_aware { "color-aware" } else { "color-blind" };
    let interval = format!("{}us", input.bursts[0].up_to(100_000_000));
    match input.kind % 12 {
        0 => json!({"token-bucket": {"rate": rate[0], "burst": burst[0], "excess": "yellow"}}),
        1 => json!({"packet-rate": {
            "rate": format!("{} packets/s", input.rates[0].up_to(1_000_000_000)),
            "burst": format!("{} packets", input.bursts[0].up_to(1_000_000)),
        }}),
        2 => json!({"token-bucket-with-debt": {"rate": rate[0], "burst": burst[0], "debt-limit": burst[1]}}),
        3 => json!({"single-rate-tcm": {"cir": rate[0], "cbs": burst[0], "ebs": burst[1], "mode": mode}}),
        4 => json!({"early-tcm": {"cir": rate[0], "cbs": burst[0], "ebs": burst[1], "mode": mode}}),
        5 => json!({"early-tcm": {"cir": rate[0], "cbs": burst[0], "mode": mode}}),
        6 => json!({"two-rate-tcm":
            {"cir": rate[0], "cbs": burst[0], "pir": more, "pbs": burst[1], "mode": mode}}),
        7 => json!({"rfc4115":
            {"cir": rate[0], "cbs": burst[0], "eir": rate[1], "ebs": burst[1], "mode": mode}}),
        8 => {
            let buckets: Vec<Value> =
                (0..2).map(|level| json!({"rate": rate[level], "burst": burst[level]})).collect();
            json!({"rate-based": {"buckets": buckets, "mode": mode}})
        }
        9 => json!({"tsw2cm": {"ctr": rate[0], "avg-interval": interval}}),
        10 => json!({"hierarchical": {
            "premium": [1, 4, 6],
            "premium-rate": rate[0],
            "premium-burst": burst[0],
            "rate": rate[1],
            "burst": burst[1],
        }}),
        _ => json!({"tsw3cm": {"ctr": rate[0], "ptr": more, "avg-interval": interval}}),
    }
}

/// Compares meters with plain arithmetic, for the packets in `bytes`.
pub fn meter(bytes: &[u8]) -> Outcome {
    structured(bytes, check)
}

fn check(input: &Input) -> Outcome {
    let config: MeterConfig = serde_json::from_value(config(input)).expect("a meter");
    let streams = Streams::new(1, 0);
    let mut meter = config.build(&streams).expect("all numbers are in range");
    let mut per_flow = FlowMeters::new(&config, &streams).expect("all numbers are in range");
    let (mut plain, mut now) = (PlainMeter::from_config(&config, &streams), Time::ZERO);
    let is_random = matches!(config, MeterConfig::Tsw2cm(_) | MeterConfig::Tsw3cm(_));
    for (number, (gap, length, color)) in input.packets.iter().take(200).enumerate() {
        let gap = if gap.digits == 0 { 0 } else { gap.up_to(u64::MAX) };
        now = now.saturating_add(Time::from_picoseconds(gap));
        let color = Color::new(usize::from(*color) % Color::COUNT);
        let arrival = Arrival { at: now, length: (*length).max(1), color };
        let label = color.index() as u8;
        let mut packet = Packet { color, label, ..Packet::new(FlowKey::default(), arrival.length) };
        let found = meter.measure(now, &packet);
        let Some(expected) = plain.color(&arrival) else { break };
        assert_eq!(found, expected, "packet {number} of {config:?}");
        if !is_random {
            assert_eq!(per_flow.measure(now, &packet), found, "packet {number}, the meter of the flow");
            // A packet of another flow uses no tokens of this flow.
            packet.source_port = 1;
            per_flow.measure(now, &packet);
        }
    }
    Outcome::Kept
}
