//! [`SwitchHardware`]: the queueing hardware of switches.

/// The queueing hardware of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SwitchHardware {
    /// Shaped round robin and queue-sets: Catalyst 2960, 3560, 3750.
    Mls,
    /// Chips whose limits are factors of the free memory: Nexus 9000 and 3064.
    Nexus,
    /// UADP chips: Catalyst 3650, 3850, 9000.
    Uadp,
}
