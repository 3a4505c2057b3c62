//! [`Wire`]: source and sink of frames, with a clock.

use std::{fmt, io};

use perhop_qos::units::Time;

/// A device of a [`Wire`]: its index in [`ForwarderConfig::devices`](crate::ForwarderConfig::devices).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceId(pub u16);

impl DeviceId {
    /// The index in the list of devices.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// An error of a wire.
#[derive(Debug)]
pub struct WireError {
    /// The failed device, if other devices still work; `None` if no device works.
    pub device: Option<DeviceId>,
    /// Error of the system.
    pub error: io::Error,
}

impl fmt::Display for WireError {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self.device {
            Some(DeviceId(device)) => write!(formatter, "device {device}: {}", self.error),
            None => self.error.fmt(formatter),
        }
    }
}

impl std::error::Error for WireError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

impl From<io::Error> for WireError {
    fn from(error: io::Error) -> WireError {
        WireError { device: None, error }
    }
}

/// Source and sink of frames.
///
/// Times come from a monotonic clock that starts when the wire is created.
pub trait Wire {
    /// Passes at most a batch of received frames of all devices to `each`, oldest first: device, time of
    /// arrival and frame. Returns the number of frames. Does not wait.
    ///
    /// # Errors
    /// One device or all devices cannot be read any more. Some frames may already have been passed to `each`.
    fn receive(&mut self, each: &mut impl FnMut(DeviceId, Time, &[u8])) -> Result<usize, WireError>;
    /// Sends `frame` on `device`; the frame may remain in a batch until [`flush`](Wire::flush).
    ///
    /// # Errors
    /// The frame was not sent and will not be sent.
    fn send(&mut self, device: DeviceId, frame: &[u8]) -> Result<(), WireError>;
    /// Sends the frames that remain in a batch. Does nothing on a wire without batches.
    ///
    /// # Errors
    /// Some frames were not sent and will not be sent.
    fn flush(&mut self) -> Result<(), WireError> {
        Ok(())
    }
    /// Sleeps until a frame arrives or until `deadline`, but not longer than a client may wait for counters
    /// (about 100 ms). A wire whose clock is set by hand does not sleep.
    ///
    /// # Errors
    /// Arrivals cannot be detected.
    fn wait(&mut self, _: Option<Time>) -> Result<(), WireError> {
        Ok(())
    }
    /// The current time.
    fn now(&self) -> Time;
}
