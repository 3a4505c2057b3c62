//! [`BufferManager`]: the contract of every buffer manager.

use crate::queue::{Occupancy, Stay};
use crate::{Color, Packet, Time, Verdict};

/// The contract of every buffer manager.
pub trait BufferManager {
    /// Returns the verdict on an arriving `packet` of drop precedence `precedence`. The `queue` does not
    /// count this packet yet.
    fn admit(&mut self, now: Time, packet: &Packet, precedence: Color, queue: &Occupancy) -> Verdict;
    /// Returns the verdict on a `packet` of drop precedence `precedence` that has left the head of the queue
    /// after this `stay`. The `queue` no longer counts it. If the packet is dropped, the scheduler takes the
    /// next head at once, unless it prefers another queue.
    fn release(
        &mut self,
        now: Time,
        packet: &Packet,
        precedence: Color,
        stay: Stay,
        queue: &Occupancy,
    ) -> Verdict {
        let _ = stay;
        self.departed(now, precedence, packet.length, queue);
        Verdict::Pass
    }
    /// Records that a packet of drop precedence `precedence` and `length` IP bytes has left the head of the
    /// queue and passes. The `queue` no longer counts it. Callers use this method instead of
    /// [`release`](BufferManager::release) if the buffer manager [decides on
    /// arrival](BufferManager::decides_on_arrival).
    fn departed(&mut self, now: Time, precedence: Color, length: u32, queue: &Occupancy) {
        let _ = (now, precedence, length, queue);
    }
    /// Records that the queue exceeded its limit and discarded the first packet of `flow`.
    fn discarded_from_flow(&mut self, flow: u16) {
        let _ = flow;
    }
    /// Whether [`release`](BufferManager::release) needs the times at which packets joined the queue.
    fn needs_sojourn_times(&self) -> bool {
        false
    }
    /// Whether every packet that joined the queue passes at the head.
    fn decides_on_arrival(&self) -> bool {
        false
    }
    /// Whether a packet that finds the queue empty and leaves at once is always admitted and does not change
    /// the state. The caller makes no calls for such packets.
    fn ignores_an_empty_queue(&self) -> bool {
        false
    }
}
