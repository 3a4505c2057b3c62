//! The use of LEDBAT by the sender.

use super::super::LinuxSender;
use super::super::acknowledged::Ack;

impl LinuxSender {
    /// Adapts the window to the delay of `delivered` segments.
    pub(in crate::tcp::linux) fn adapt_ledbat(&mut self, ack: &Ack, delivered: u32) {
        let flight = self.in_flight() + delivered;
        let (Some(ledbat), Some(delay)) = (&mut self.ledbat, ack.one_way) else { return };
        // A loss or an idle time may have changed the sender's window.
        if ledbat.window as u32 != self.window {
            ledbat.window = f64::from(self.window);
        }
        ledbat.add(ack.now, delay);
        ledbat.adapt(delivered, flight);
        self.window = ledbat.window as u32;
        // LEDBAT has no slow start.
        self.threshold = self.threshold.min(self.window);
    }
}
