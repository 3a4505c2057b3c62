//! [`Wire`]: where frames come from and where they go, and what time it is there.

use std::{fmt, io};

use perhop_qos::units::Time;

/// A device of a [`Wire`]: its place in [`ForwarderConfig::devices`](crate::ForwarderConfig::devices).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceId(pub u16);

impl DeviceId {
    /// As an index into the list of devices.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a wire cannot do.
#[derive(Debug)]
pub struct WireError {
    /// The device at fault, while the others still work; `None` where none does.
    pub device: Option<DeviceId>,
    /// What the system said.
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

/// Where frames come from and where they go.
///
/// Instants are those of one clock that never goes back, counted from when the wire was made.
pub trait Wire {
    /// Frames that have arrived on any device, at most a batch, oldest first: `each` is told the device, when
    /// the frame arrived and the frame. Returns how many there were; does not wait for any.
    ///
    /// # Errors
    /// Where a device, or all of them, can be read no more. Frames handed over before that count.
    fn receive(&mut self, each: &mut impl FnMut(DeviceId, Time, &[u8])) -> Result<usize, WireError>;
    /// Sends `frame` by `device`; it may stay in a batch until [`flush`](Wire::flush).
    ///
    /// # Errors
    /// Where the frame did not go out and will not.
    fn send(&mut self, device: DeviceId, frame: &[u8]) -> Result<(), WireError>;
    /// Sends what is still in a batch.
    ///
    /// # Errors
    /// Where some of it did not go out and will not.
    fn flush(&mut self) -> Result<(), WireError>;
    /// Sleeps until a frame arrives or it is `deadline`; without one, and at the longest, as long as whoever
    /// asks for counters may wait (some 100 ms).
    ///
    /// # Errors
    /// Where the wire cannot tell when a frame arrives.
    fn wait(&mut self, deadline: Option<Time>) -> Result<(), WireError>;
    /// What time it is.
    fn now(&self) -> Time;
}
