//! Random traffic through RED and its queue.

use perhop_qos::buffer::{BufferManager, Mred};
use perhop_qos::queue::{Occupancy, PrecedenceSource, Queue};
use perhop_qos::{Packet, Rate, Time, Verdict};
use proptest::prelude::*;

pub(crate) const DRAIN: Rate = Rate::from_bits_per_second(8_000_000);

/// An event at a queue after a pause: a packet arrives, or a packet leaves if the queue contains one.
pub(crate) type Traffic = Vec<(Time, Option<Packet>)>;

pub(crate) fn traffic(packet: impl Strategy<Value = Packet>) -> impl Strategy<Value = Traffic> {
    let happening = prop_oneof![3 => packet.prop_map(Some), 2 => Just(None)];
    let pause = prop_oneof![8 => 0..1_000u64, 1 => 0..20_000u64, 1 => 0..200_000u64];
    prop::collection::vec((pause.prop_map(Time::from_microseconds), happening), 1..400)
}

/// Runs `traffic` through `buffer` and a queue. At each arrival and departure, calls `watch` with the time,
/// whether the packet arrives, the packet, the buffer manager, and the occupancy of the queue that the buffer
/// manager used.
pub(crate) fn run(
    buffer: &mut Mred,
    traffic: &Traffic,
    mut watch: impl FnMut(Time, bool, &Packet, &Mred, &Occupancy),
) -> Vec<Verdict> {
    let (mut queue, mut now, mut verdicts) = (Queue::new(&PrecedenceSource::Color), Time::ZERO, Vec::new());
    for (pause, arrives) in traffic {
        now += *pause;
        if let Some(packet) = arrives {
            let verdict = buffer.admit(now, packet, packet.color, queue.occupancy());
            watch(now, true, packet, buffer, queue.occupancy());
            verdicts.push(verdict);
            if matches!(verdict, Verdict::Pass | Verdict::MarkCe) {
                queue.push(*packet);
            }
        } else if let Some(packet) = queue.pop() {
            buffer.departed(now, packet.color, packet.length, queue.occupancy());
            watch(now, false, &packet, buffer, queue.occupancy());
        }
    }
    verdicts
}
