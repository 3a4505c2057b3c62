//! Everything that a port tells, in order: two ports are alike where their logs are.

use perhop_qos::Packet;
use perhop_qos::observer::{Observer, Place};
use perhop_qos::port::Departure;
use perhop_qos::units::Time;
use perhop_qos::verdict::DropCause;

/// What a port told.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Log(pub(crate) Vec<String>);

impl Observer for Log {
    fn arrived(&mut self, now: Time, place: Place, packet: &Packet) {
        self.0.push(format!("{now:?} {place:?} at {packet:?}"));
    }
    fn enqueued(&mut self, now: Time, place: Place, packet: &Packet) {
        self.0.push(format!("{now:?} {place:?} in {packet:?}"));
    }
    fn dropped(&mut self, now: Time, place: Option<Place>, packet: &Packet, cause: DropCause) {
        self.0.push(format!("{now:?} {place:?} {cause} {packet:?}"));
    }
    fn marked(&mut self, now: Time, place: Place, packet: &Packet) {
        self.0.push(format!("{now:?} {place:?} marked {packet:?}"));
    }
    fn dequeued(&mut self, now: Time, place: Place, packet: &Packet, departure: Departure) {
        self.0.push(format!("{now:?} {place:?} out {packet:?} {departure:?}"));
    }
}
