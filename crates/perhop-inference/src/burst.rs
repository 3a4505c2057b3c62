//! [`Microburst`]: the description of a burst of frames.

use perhop_qos::Rate;
use serde::Deserialize;

/// Preamble and gap around an Ethernet frame, bytes (IEEE 802.3, 4.4.2).
pub(crate) const PREAMBLE_AND_GAP_BYTES: u32 = 20;

/// A burst of frames from one or several senders at the same time.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Microburst {
    /// The line rate of each sender.
    pub arrival: Rate,
    /// The rate of the leaving interface, if the user sets it.
    pub line: Option<Rate>,
    /// The total size of the frames of each sender, bytes.
    pub bytes: u64,
    /// The size of a frame with header and check sequence, bytes.
    pub frame_bytes: u32,
    /// The number of senders.
    pub senders: u32,
    /// The class that gets the burst; `None` for every class.
    pub class: Option<String>,
    /// Further interfaces through which an equal burst leaves at the same time.
    #[serde(default)]
    pub also: Vec<String>,
}

impl Microburst {
    /// Returns the number of frames of each sender.
    pub(crate) fn frames(&self) -> u64 {
        self.bytes.div_ceil(self.frame_bytes.into()).max(1)
    }

    /// Returns the time between two frames of a sender, seconds.
    pub(crate) fn interval(&self) -> f64 {
        f64::from(self.frame_bytes + PREAMBLE_AND_GAP_BYTES) * 8.0 / self.arrival.as_bits_per_second() as f64
    }

    /// Returns the rate at which frames for one interface arrive, bits per second.
    pub(crate) fn arrival_bps(&self) -> f64 {
        self.arrival.as_bits_per_second() as f64 * f64::from(self.senders)
    }

    /// Returns the rate at which frames for all interfaces arrive, bits per second.
    pub(crate) fn whole_arrival_bps(&self) -> f64 {
        self.arrival_bps() * (1 + self.also.len()) as f64
    }
}
