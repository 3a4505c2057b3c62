//! The decision of RED (average, probability and draw), for one queue or for 4096.

use std::hint::black_box;

use perhop_qos::buffer::{BufferConfig, BufferManager, MredConfig};
use perhop_qos::queue::Occupancy;
use perhop_qos::random::Streams;
use perhop_qos::{Color, DropCause, FlowKey, Packet, Rate, Time, Verdict};
use serde_json::json;

use crate::{Arrival, Bench, MOST, Numbers, TABLE, arrivals, most};

pub(crate) fn run(bench: &Bench) {
    // A drop takes longer than an admission, so this program and its DPDK twin must drop equally often: a
    // tenth of the packets. All queues share one random number, which each drop renews. With many queues,
    // each queue therefore drops less often.
    for (instances, max_probability) in [(1, 0.0515), (MOST, 0.0446)] {
        // The thresholds are 32 and 96 packets. The first case has queues of 1 to 31 packets, and the second
        // one queues of 33 to 95.
        bench.case(&format!("red/below-min/{instances}"), || red::<1>(instances, 31, max_probability));
        bench.case(&format!("red/in-region/{instances}"), || red::<33>(instances, 63, max_probability));
    }
    bench.case("rio-c/1", rio_c);
}

/// Passes packets of any color to one of `instances` buffer managers. The queue has `SHORTEST` packets, or up
/// to `range` more. The function returns whether the buffer manager keeps the packet, draws a number for it,
/// or drops it.
fn red<const SHORTEST: u64>(
    instances: usize,
    range: u64,
    max_probability: f64,
) -> impl FnMut(usize) -> usize {
    let precedence = json!({"min": "32 packets", "max": "96 packets", "max-probability": max_probability});
    // One random number is drawn for each drop, as in the twin.
    let config: MredConfig = serde_json::from_value(json!({
        "precedences": [precedence, precedence, precedence],
        "averaging": {"exponent": 9},
        "drop-spacing": "uniform-per-drop",
    }))
    .expect("the benchmark's RED is valid");
    let rate = Rate::from_bits_per_second(10_000_000_000);
    let buffer = config.build(rate, &Streams::new(1, 0)).expect("the benchmark's RED can be built");
    let mut buffers = most(buffer);
    let arrivals = arrivals(range, instances);
    // Prevents the compiler from computing the arguments in advance.
    let (packet, mut queue) = (black_box(Packet::new(FlowKey::default(), 1000)), Occupancy::default());
    // Moves each average close to the queue length. Otherwise, 4096 queues would need 4096 times as many
    // packets for this.
    for buffer in &mut buffers[..instances] {
        queue.packets = SHORTEST + range / 2;
        for _ in 0..4096 {
            buffer.admit(Time::ZERO, &packet, Color::GREEN, &queue);
        }
    }
    move |n| {
        let Arrival { length, place, color } = arrivals[n % TABLE];
        queue.packets = SHORTEST + u64::from(length);
        let now = Time::from_picoseconds(n as u64 * 600_000);
        match buffers[place as usize % MOST].admit(now, &packet, color, &queue) {
            Verdict::Pass | Verdict::MarkCe => 0,
            Verdict::Drop(DropCause::EarlyRandom) => 1,
            Verdict::Drop(_) => 2,
        }
    }
}

/// Passes packets of any color to RIO-C with three precedences. The queue has up to 15 packets of each
/// precedence.
fn rio_c() -> impl FnMut(usize) -> usize {
    let config: BufferConfig = serde_json::from_value(json!({"rio-c": {
        "precedences": [
            {"min": "24 packets", "max": "48 packets", "max-probability": 0.02},
            {"min": "16 packets", "max": "32 packets", "max-probability": 0.05},
            {"min": "16 packets", "max": "32 packets", "max-probability": 0.1},
        ],
        "limit": "64 packets",
    }}))
    .expect("the benchmark's RIO-C is valid");
    let rate = Rate::from_bits_per_second(10_000_000_000);
    let mut buffer = config.build(rate, &Streams::new(1, 0)).expect("the benchmark's RIO-C can be built");
    let (lengths, colors) = (Numbers::table(1, 1 << 12), Numbers::table(2, 3));
    let (packet, mut queue) = (black_box(Packet::new(FlowKey::default(), 1000)), Occupancy::default());
    move |n| {
        let row = n % TABLE;
        let held = [0, 4, 8].map(|shift| u64::from(lengths[row] >> shift) % 16);
        queue.packets_of[..3].copy_from_slice(&held);
        queue.packets = held.iter().sum();
        let now = Time::from_picoseconds(n as u64 * 600_000);
        match buffer.admit(now, &packet, Color::new(colors[row] as usize), &queue) {
            Verdict::Pass | Verdict::MarkCe => 0,
            Verdict::Drop(DropCause::EarlyRandom) => 1,
            Verdict::Drop(_) => 2,
        }
    }
}
