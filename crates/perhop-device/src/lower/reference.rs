//! [`Reference`]: the rates that the percentages and defaults of a policy refer to.

use perhop_qos::Rate;

use super::resolved::ResolvedClass;

/// The rates that the numbers of a policy refer to.
#[derive(Clone, Copy, Debug)]
pub struct Reference {
    /// The base of percentages of `bandwidth`, `priority` and `shape`: the shaper above, the guarantee of the
    /// parent class, or the interface.
    pub queueing: Rate,
    /// The base of percentages of `police`: the rate of the next shaper above, of the next policer, or of the
    /// interface. The `bandwidth` of a parent does not count. Cisco, "Percentage-Based Policing and Shaping"
    /// (12.2T to IOS-XE).
    pub police: Rate,
    /// The rate of the next shaper above, or of the interface.
    pub line: Rate,
    /// The rate of the port below a tunnel. It limits the base of a shaper in percent.
    pub below: Option<Rate>,
    /// The rate of the interface or circuit.
    pub interface: Rate,
    /// Percent of `queueing` that classes may reserve.
    pub reservable_percent: u64,
    /// Whether the policy belongs to a peer of a tunnel.
    pub is_per_tunnel: bool,
}

impl Reference {
    /// Returns the reference of the top policy of a port of `bandwidth`.
    pub fn top(bandwidth: Rate, reservable_percent: u64) -> Reference {
        Reference {
            queueing: bandwidth,
            police: bandwidth,
            line: bandwidth,
            interface: bandwidth,
            below: None,
            reservable_percent,
            is_per_tunnel: false,
        }
    }

    /// Returns the reference of the policy inside `class`.
    pub(super) fn inside(self, class: &ResolvedClass) -> Reference {
        let shape = class.shape.map(|shape| Rate::from_bits_per_second(shape.target_bps));
        let shape = shape.map(|shape| self.below.map_or(shape, |below| shape.min(below)));
        let police = class.police.as_ref().map(|police| Rate::from_bits_per_second(police.cir_bps));
        let guarantee = (class.share.rate_bps > 0).then(|| Rate::from_bits_per_second(class.share.rate_bps));
        Reference {
            queueing: shape.or(guarantee).unwrap_or(self.queueing),
            police: shape.or(police).unwrap_or(self.police),
            line: shape.unwrap_or(self.line),
            reservable_percent: 100,
            ..self
        }
    }
}
