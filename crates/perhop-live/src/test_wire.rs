//! [`TestWire`]: a wire with a clock that is set by hand.

use std::collections::VecDeque;

use perhop_qos::units::Time;

use crate::wire::{DeviceId, Wire, WireError};

/// Frames to be received and frames that were sent, each at its instant, and a clock that stands still until it is set.
/// What the forwarder does with the same frames at the same instants, it does again, to the picosecond.
#[derive(Clone, Debug, Default)]
pub struct TestWire {
    /// What time it is.
    pub clock: Time,
    /// Frames to come, in order: device, instant, frame. Those whose instant has come are received.
    pub coming: VecDeque<(DeviceId, Time, Vec<u8>)>,
    /// Frames that were sent, in order: device, instant, frame.
    pub sent: Vec<(DeviceId, Time, Vec<u8>)>,
}

impl TestWire {
    /// No frames, at the beginning of time.
    pub fn new() -> TestWire {
        TestWire::default()
    }
}

impl Wire for TestWire {
    fn receive(&mut self, each: &mut impl FnMut(DeviceId, Time, &[u8])) -> Result<usize, WireError> {
        let due = self.coming.partition_point(|(_, arrives, _)| *arrives <= self.clock);
        for (device, arrived, frame) in self.coming.drain(..due) {
            each(device, arrived, &frame);
        }
        Ok(due)
    }
    fn send(&mut self, device: DeviceId, frame: &[u8]) -> Result<(), WireError> {
        self.sent.push((device, self.clock, frame.to_vec()));
        Ok(())
    }
    fn flush(&mut self) -> Result<(), WireError> {
        Ok(())
    }
    fn wait(&mut self, _: Option<Time>) -> Result<(), WireError> {
        Ok(())
    }
    fn now(&self) -> Time {
        self.clock
    }
}
