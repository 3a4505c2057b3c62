//! [`DevicePair`] and [`Ends`]: the devices and sites that are compared.

use perhop_network::snapshot::{Site, SnapshotDevice};

/// A device that both snapshots contain: its state in the old and in the new snapshot.
pub(super) type DevicePair<'s, 'a> = [&'s SnapshotDevice<'a>; 2];
/// A pair of sites: the sender and the receiver.
pub(super) type Ends<'s> = [&'s Site; 2];
