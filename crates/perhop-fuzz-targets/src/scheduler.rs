//! Nested and shaped schedulers under any sequence of packets. The wire is never idle while a packet may be
//! sent, every packet is sent once, and every queue is sent in order. A single scheduler does not exceed its
//! proved bounds.

use arbitrary::Arbitrary;
use perhop_qos::scheduler::{SchedulerConfig, ShapeConfig, ShapeForm};
use perhop_qos::units::{ByteSize, Time};

use crate::outcome::{Outcome, structured};
use trees::{ALL, LONGEST, Place, Tree, shape};
use wire::Arrival;

#[path = "../../perhop-qos/tests/it/bounds/mod.rs"]
#[allow(dead_code, reason = "the tests of perhop-qos use more of it")]
mod bounds;
#[path = "../../perhop-qos/tests/it/fluid/mod.rs"]
#[allow(dead_code, reason = "the tests of perhop-qos use more of it")]
mod fluid;
#[path = "../../perhop-qos/tests/it/trees/mod.rs"]
#[allow(dead_code, reason = "the tests of perhop-qos use more of it")]
mod trees;
#[path = "../../perhop-qos/tests/it/wire/mod.rs"]
mod wire;

#[derive(Debug, Arbitrary)]
struct Input {
    outer: u8,
    weights: [u8; 4],
    inner: Option<(u8, [u8; 3])>,
    shapes: [Option<Shape>; 2],
    /// Nanoseconds since the previous packet, queue, and IP bytes.
    packets: Vec<(u32, u8, u16)>,
}

#[derive(Clone, Copy, Debug, Arbitrary)]
struct Shape {
    place: u8,
    kilobits: u16,
    burst: u16,
    excess: u16,
    is_peak: bool,
}

impl Shape {
    fn config(self) -> (Place, ShapeConfig) {
        let place = match usize::from(self.place % 7) {
            outer @ 0..4 => Place::Outer(outer),
            inner => Place::Inner(inner - 4),
        };
        let form = if self.is_peak { ShapeForm::Peak } else { ShapeForm::Average };
        let excess = ByteSize::from_bytes(u64::from(self.excess));
        let average = shape(1000 * (u64::from(self.kilobits) + 1), u64::from(self.burst) + 1);
        (place, ShapeConfig { excess, form, ..average })
    }
}

impl Input {
    fn tree(&self) -> Tree {
        let scheduler = |number: u8| -> SchedulerConfig { ALL[usize::from(number) % ALL.len()] };
        let weights =
            |weights: &[u8]| weights.iter().map(|weight| f64::from(weight % 10 + 1)).collect::<Vec<_>>();
        Tree {
            outer: scheduler(self.outer),
            weights: weights(&self.weights),
            inner: self.inner.as_ref().map(|(inner, shares)| (scheduler(*inner), weights(shares))),
            shapes: self.shapes.iter().flatten().map(|shape| shape.config()).collect(),
        }
    }
}

/// Sends the packets in `bytes` through a tree of schedulers. No bound may be violated, and no packet may be
/// lost.
pub fn scheduler(bytes: &[u8]) -> Outcome {
    structured(bytes, check)
}

fn check(input: &Input) -> Outcome {
    let tree = input.tree();
    if !tree.is_allowed() {
        return Outcome::Refused;
    }
    let queues = tree.weights.len() + tree.inner.as_ref().map_or(0, |(_, weights)| weights.len() - 1);
    let mut at = Time::ZERO;
    let packets = input.packets.iter().take(80).map(|(gap, queue, length)| {
        at += Time::from_nanoseconds(u64::from(*gap % 6_000_000));
        let length = u32::from(*length) % (LONGEST - 39) + 40;
        Arrival { at, queue: usize::from(*queue) % queues, length }
    });
    tree.check(&packets.collect::<Vec<_>>());
    Outcome::Kept
}
