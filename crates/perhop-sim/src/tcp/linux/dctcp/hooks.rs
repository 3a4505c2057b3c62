//! The use of DCTCP by the sender.

use super::super::super::sender::Sender;
use super::super::{LinuxSender, Scalable};
use super::{Dctcp, GAIN_SHIFT, ONE};

impl Dctcp {
    /// Updates the mean fraction of marks when a window of data is acknowledged (`dctcp_update_alpha`). The
    /// fraction of marked segments in this window has a weight of 1/16. `delivered` and `marked` are totals
    /// of the connection.
    pub(in crate::tcp::linux) fn update(&mut self, stream: &Sender, delivered: u32, marked: u32) {
        if stream.unacknowledged < self.ends {
            return;
        }
        let (all, marks) = (delivered - self.delivered, marked - self.marked);
        // If alpha is below 16, the shifted value is 0. Without this rule, alpha would never become 0.
        let less = self.alpha >> GAIN_SHIFT;
        self.alpha -= if less == 0 { self.alpha } else { less };
        if marks > 0 {
            self.alpha = (self.alpha + (marks << (10 - GAIN_SHIFT)) / all.max(1)).min(ONE);
        }
        *self = Dctcp { alpha: self.alpha, ends: stream.next, delivered, marked };
    }
}

impl LinuxSender {
    /// Updates DCTCP's fraction of marks if a window of data has ended. Call it before the deliveries of an
    /// acknowledgment are counted (`CA_ACK_WIN_UPDATE`).
    pub(in crate::tcp::linux) fn update_share(&mut self, stream: &Sender) {
        if let Some(Scalable::Dctcp(dctcp)) = self.scalable.as_deref_mut() {
            dctcp.update(stream, self.delivered, self.feedback.marked);
        }
    }
    /// Sets the threshold after a loss; DCTCP halves the window (`dctcp_react_to_loss`, RFC 8257 §3.5).
    pub(in crate::tcp::linux) fn react_to_loss(&mut self, stream: &Sender) {
        match self.scalable.as_deref_mut() {
            Some(Scalable::Dctcp(_)) => self.threshold = (self.window >> 1).max(2),
            Some(Scalable::Prague(_)) => self.reduce_prague_by_loss(stream),
            None => {}
        }
    }
}
