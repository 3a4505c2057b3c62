//! Constant bit rate.

use perhop_qos::units::Time;

use super::{Emission, spacing::Spacing};
use crate::scenario::CbrConfig;

/// One packet of fixed size every so often.
#[derive(Clone, Debug)]
pub struct Cbr {
    spacing: Spacing,
    next: Time,
    length: u32,
}

impl Cbr {
    /// The source of `config`; its first packet is due at `start`.
    pub fn new(config: &CbrConfig, start: Time) -> Cbr {
        let spacing = Spacing::new(config.packet.counted(), config.rate);
        Cbr { spacing, next: start, length: config.packet.ip_length() }
    }
    pub(super) fn next_packet(&mut self) -> Emission {
        let emission = Emission { at: self.next, length: self.length, dscp: None };
        self.next += self.spacing.gap();
        emission
    }
}
