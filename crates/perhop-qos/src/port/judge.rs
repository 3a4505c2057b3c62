//! [`judge`]: applies the verdict of a buffer manager to a packet.

use crate::observer::Place;
use crate::packet::Ecn;
use crate::{DropCause, Observer, Packet, Time, Verdict};

/// Applies a buffer manager's verdict to `packet`, and reports a mark or a drop to the observer.
///
/// # Errors
/// The cause of the drop, if the verdict is a drop.
#[inline]
pub(super) fn judge<O: Observer>(
    now: Time,
    place: Place,
    packet: &mut Packet,
    verdict: Verdict,
    observer: &mut O,
) -> Result<(), DropCause> {
    match verdict {
        Verdict::Pass => {}
        Verdict::MarkCe => {
            packet.marks = packet.marks.with_ecn(Ecn::CongestionExperienced);
            observer.marked(now, place, packet);
        }
        Verdict::Drop(cause) => {
            observer.dropped(now, Some(place), packet, cause);
            return Err(cause);
        }
    }
    Ok(())
}
