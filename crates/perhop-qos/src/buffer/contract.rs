//! [`BufferManager`]: the contract of every buffer manager.

use crate::queue::{Occupancy, Stay};
use crate::{Color, Packet, Time, Verdict};

/// The contract of every buffer manager.
pub trait BufferManager {
    /// Whether `packet`, of drop precedence `precedence`, may join the queue, which does not count it yet.
    fn admit(&mut self, now: Time, packet: &Packet, precedence: Color, queue: &Occupancy) -> Verdict;
    /// `packet`, of drop precedence `precedence`, has left the head of the queue after this `stay`, and the
    /// queue no longer counts it: may it go on? If it is dropped, the next head follows at once, unless the
    /// scheduler prefers another queue.
    fn release(
        &mut self,
        now: Time,
        packet: &Packet,
        precedence: Color,
        stay: Stay,
        queue: &Occupancy,
    ) -> Verdict {
        let _ = (packet, stay);
        self.departed(now, precedence, queue);
        Verdict::Pass
    }
    /// A packet of drop precedence `precedence` has left the head of the queue, which no longer counts it,
    /// and goes on: all there is to do where the buffer manager [decides on
    /// arrival](BufferManager::decides_on_arrival).
    fn departed(&mut self, now: Time, precedence: Color, queue: &Occupancy) {
        let _ = (now, precedence, queue);
    }
    /// The queue has given up the first packet of its flow `flow`, because it held too many.
    fn gave_up(&mut self, flow: u16) {
        let _ = flow;
    }
    /// Whether the queue must note when packets join, so that [`release`](BufferManager::release) knows.
    fn asks_for_stays(&self) -> bool {
        false
    }
    /// Whether every packet that joined the queue may go on from its head.
    fn decides_on_arrival(&self) -> bool {
        false
    }
    /// Whether it lets pass, and remembers nothing of, every packet that finds the queue empty and leaves
    /// it at once: then it need not be asked about such a packet.
    fn ignores_an_empty_queue(&self) -> bool {
        false
    }
}
