//! Serial lines, and circuits of frame relay and ATM: settings of the two ends that do not match, and
//! settings without effect.

mod atm;
mod circuits;
mod compression;
mod fragments;
mod guarantees;
mod lines;
mod rates;
mod shaping;
mod voice;

use circuits::Circuits;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};

/// Reports circuits and serial lines whose ends do not match, and classes of circuits without effect.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    compression::check(snapshot, trees, found);
    lines::check(snapshot, trees, found);
    voice::check(snapshot, trees, found);
    let circuits = Circuits::frame_relay(snapshot, trees);
    fragments::check(snapshot, &circuits, found);
    guarantees::check(snapshot, trees, &circuits, found);
    rates::check(snapshot, &circuits, found);
    shaping::check(snapshot, trees, &circuits, found);
    atm::check(snapshot, &Circuits::atm(snapshot, trees), found);
}
