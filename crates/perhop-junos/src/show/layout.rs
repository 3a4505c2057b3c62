//! [`Layout`]: the parts of outputs that differ between families.

use crate::families::Family;

/// The layout of a family.
#[derive(Debug)]
pub(super) struct Layout {
    /// The number of forwarding classes that the device supports, if its output shows it.
    pub(super) classes: Option<u8>,
    /// The word for an interface that is not disabled.
    pub(super) enabled: &'static str,
    pub(super) drops: Drops,
    pub(super) indexes: Indexes,
}

/// The rows for dropped packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Drops {
    /// Rows for the drops of random early detection by loss priority, the drops of `rate-limit`, and the
    /// depth of the queue.
    ByLossPriority(Depth),
    /// Rows for the sums in packets and in bytes.
    Sums,
}

/// Whether the output has the depth of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Depth {
    Printed,
    NotPrinted,
}

/// The indexes of built-in objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Indexes {
    /// Numbers that are the same on all devices.
    Fixed,
    /// 0 for all objects.
    Zero,
}

/// `show interfaces queue` of MX routers, including an MX301 (Juniper techpost, "MX301: a powerful filtering
/// gateway"). It shows 16 classes and the depth of queues.
const MX: Layout = Layout {
    classes: Some(16),
    enabled: "Enabled",
    drops: Drops::ByLossPriority(Depth::Printed),
    indexes: Indexes::Fixed,
};

/// The layout is recalled, because no output of this family was found. Its documents describe eight queues.
const SRX: Layout = Layout {
    classes: Some(8),
    enabled: "Enabled",
    drops: Drops::ByLossPriority(Depth::NotPrinted),
    indexes: Indexes::Fixed,
};

/// `show interfaces queue` of an ACX7509 (Juniper techpost about virtual output queues).
const ACX: Layout = Layout { classes: Some(8), enabled: "up", drops: Drops::Sums, indexes: Indexes::Zero };

/// `show interfaces queue` and `show class-of-service interface` of a PTX with Junos Evolved (K. Nawaz, MPLS
/// Backbone Class of Service Design Principles); the source cuts off the number of classes.
const PTX: Layout = Layout { classes: None, enabled: "Enabled", drops: Drops::Sums, indexes: Indexes::Zero };

impl Layout {
    pub(super) fn of_family(family: Family) -> &'static Layout {
        match family {
            Family::Srx => &SRX,
            Family::Acx => &ACX,
            Family::Ptx => &PTX,
            _ => &MX,
        }
    }

    /// Returns the printed index of a built-in object.
    pub(super) fn index(&self, fixed: u32) -> u32 {
        match self.indexes {
            Indexes::Fixed => fixed,
            Indexes::Zero => 0,
        }
    }
}
