//! [`TestWire`]: a wire with a clock that is set by hand.

use std::collections::VecDeque;

use perhop_qos::units::Time;

use crate::wire::{DeviceId, Wire, WireError};

/// A wire with lists of frames to be received and of sent frames, with their times, and a clock that is set
/// by hand. It makes the forwarder's behavior reproducible to the picosecond.
#[derive(Clone, Debug, Default)]
pub struct TestWire {
    /// The current time.
    pub clock: Time,
    /// Frames to be received, in order: device, time, frame. Each frame is received at its time.
    pub coming: VecDeque<(DeviceId, Time, Vec<u8>)>,
    /// Sent frames, in order: device, time, frame.
    pub sent: Vec<(DeviceId, Time, Vec<u8>)>,
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
    fn now(&self) -> Time {
        self.clock
    }
}
