//! The single queue of an interface or circuit without classes.

use perhop_device::intent::{Discipline, PlainQueue};

use crate::ast::{At, Hardware, Interface};
use crate::convert::wire::Circuit;

/// Returns the queue of `circuit` for the case that no policy has queues.
pub(in crate::convert) fn plain_queue(interface: &Interface, circuit: &Circuit) -> PlainQueue {
    let pvc = circuit.pvc;
    let hold = pvc.and_then(|pvc| pvc.hold_queue).or(interface.hold_queue);
    let detect = pvc.and_then(|pvc| pvc.random_detect.as_ref()).or(interface.random_detect.as_ref());
    let fair = pvc.and_then(|pvc| pvc.fair_queue).or(interface.fair_queue);
    let discipline = match (detect, fair) {
        (Some(detect), _) => Discipline::Random(detect.value.clone()),
        (None, Some(At { value: Some(fair), .. })) => Discipline::Fair(fair),
        (None, None) if interface.hardware == Hardware::Serial => Discipline::OfSerialLine,
        (None, _) => Discipline::Fifo,
    };
    PlainQueue { limit: hold.map(|hold| hold.value), rate: circuit.bandwidth, discipline }
}
