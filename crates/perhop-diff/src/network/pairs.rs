//! [`DevicePair`] and [`Ends`]: the devices and sites that are compared.

use perhop_network::snapshot::{Site, SnapshotDevice};

/// A device of both snapshots, the old one first.
pub(super) type DevicePair<'s, 'a> = [&'s SnapshotDevice<'a>; 2];
/// The sites of a pair.
pub(super) type Ends<'s> = [&'s Site; 2];
