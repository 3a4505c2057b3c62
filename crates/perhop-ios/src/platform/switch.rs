//! [`SwitchHardware`]: the queueing hardware of switches.

/// The queueing hardware of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SwitchHardware {
    /// Shaped round robin and queue-sets: Catalyst 2960, 3560, 3750.
    Mls,
    /// UADP chips: Catalyst 3650, 3850, 9000.
    Uadp,
}
