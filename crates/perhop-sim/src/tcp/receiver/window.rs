//! The receive buffer and the offered window.

use perhop_qos::units::Time;

use super::super::segment::Segment;
use super::{PendingAck, Receiver};

impl Receiver {
    /// Adjusts the size of the buffer after the data of `segment` arrived in order.
    pub(super) fn tune(&mut self, now: Time, segment: &Segment) {
        let (Some(tuning), Some(delay)) = (&mut self.tuning, &mut self.adaptive) else { return };
        if let Some(timestamps) = segment.timestamps() {
            tuning.measure(now, timestamps.echo, u64::from(segment.length));
        }
        tuning.adjust(now, self.next - self.unread);
        delay.grow_to(tuning.window());
    }
    /// Grows the offered window after a segment with `length` payload bytes.
    pub(super) fn grow_buffer(&mut self, length: u32) {
        if let Some(delay) = &mut self.adaptive {
            self.buffer = delay.grow(self.buffer, length, self.payload);
        }
    }

    /// Adds `bytes` that the application has not read.
    pub(in crate::tcp) fn add_unread(&mut self, bytes: u64) {
        self.unread += bytes;
    }
    /// Removes `bytes` that the application reads.
    pub(in crate::tcp) fn read(&mut self, bytes: u64) {
        let has_room = |receiver: &Receiver| receiver.edge >= receiver.next + receiver.payload;
        let was_closed = !has_room(self);
        self.unread = self.unread.saturating_sub(bytes);
        self.open_window();
        if was_closed && has_room(self) {
            // The sender waits until the window has room for a segment, so it needs a window update.
            self.pending_ack = PendingAck::Pure;
        }
    }
    /// Advances the right edge of the window to the end of the free buffer, in steps of at least a segment or
    /// half the buffer (RFC 9293 §3.8.6.2.2).
    fn open_window(&mut self) {
        self.advance_to(self.next + self.buffer.saturating_sub(self.unread));
    }
    /// Advances the right edge of the window after the application has read all data.
    #[inline]
    pub(in crate::tcp) fn open_whole_window(&mut self) {
        debug_assert_eq!(self.unread, 0, "the application reads at once");
        self.advance_to(self.next + self.buffer);
    }
    #[inline]
    fn advance_to(&mut self, edge: u64) {
        if edge >= self.edge + self.least_advance {
            self.edge = edge;
        }
    }
    /// Returns the number of bytes in order that the application has not read.
    pub(in crate::tcp) fn unread(&self) -> u64 {
        self.unread
    }
}
