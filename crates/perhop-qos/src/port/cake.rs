//! The path of packets through a port with CAKE. The queues of the port are the tins, and they only count
//! packets.

use super::judge::judge;
use super::peaks::Peaks;
use super::{Departure, Port};
use crate::observer::Place;
use crate::queue::{Queue, QueueId};
use crate::{DropCause, Observer, Packet, Time, Verdict};

impl Port {
    /// Adds `packet`, which tin `id` already counts, to the queue of its flow. Drops packets while CAKE
    /// exceeds its memory limit.
    #[inline(never)]
    pub(super) fn join_tin<O: Observer>(
        &mut self,
        now: Time,
        id: QueueId,
        packet: &Packet,
        observer: &mut O,
    ) {
        let Port { cake, queues, peaks, backlog, .. } = self;
        let Some(cake) = cake else { return };
        if cake.filters_acknowledgments() {
            let header = observer.tcp_header(packet);
            if let Some(redundant) = cake.push_filtered(now, id.index(), packet, header) {
                let place = uncount(now, id.index(), &redundant, queues, peaks.as_deref_mut());
                *backlog -= 1;
                observer.dropped(now, Some(place), &redundant, DropCause::EarlyForced);
            }
        } else {
            cake.push(now, id.index(), packet);
        }
        while let Some((tin, packet)) = cake.overflow(now) {
            let place = uncount(now, tin, &packet, queues, peaks.as_deref_mut());
            *backlog -= 1;
            observer.dropped(now, Some(place), &packet, DropCause::QueueFull);
        }
    }

    /// Moves the packet that CAKE selects into the ring. The caller ensures that the ring has room.
    #[inline(never)]
    pub(super) fn serve_cake<O: Observer>(
        &mut self,
        now: Time,
        packet: &mut Packet,
        mut observer: O,
    ) -> Option<Departure> {
        let Port { cake, queues, peaks, backlog, .. } = self;
        let cake = cake.as_mut()?;
        let pulled = cake.pull(now, packet, |tin, packet, cause| {
            let place = uncount(now, tin, packet, queues, peaks.as_deref_mut());
            *backlog -= 1;
            observer.dropped(now, Some(place), packet, cause);
        });
        let Some(pulled) = pulled else {
            self.shaped_until = cake.held_until();
            return None;
        };
        let place = uncount(now, pulled.tin, packet, queues, peaks.as_deref_mut());
        *backlog -= 1;
        cake.wash(packet);
        if pulled.is_marked {
            // A marked packet is sent, so the result of `judge` is not needed.
            let _ = judge(now, place, packet, Verdict::MarkCe, &mut observer);
        }
        Some(self.hand_over(now, place, packet, &mut observer))
    }
}

/// Subtracts `packet` from the counts of tin number `tin`. Returns the place of the packet.
fn uncount(now: Time, tin: usize, packet: &Packet, queues: &mut [Queue], peaks: Option<&mut Peaks>) -> Place {
    let id = QueueId(tin as u16);
    if let Some(peaks) = peaks {
        peaks.record(now, id, queues);
    }
    let queue = &mut queues[tin];
    let place = Place { queue: id, precedence: queue.precedence_of(packet) };
    queue.drop_head(place.precedence, packet.length);
    place
}
