//! DCTCP (RFC 8257 §3.3; Linux `net/ipv4/tcp_dctcp.c`).

use super::super::sender::Sender;
use super::{LinuxSender, Scalable};

/// Parts of one in which the share of marks is kept.
const ONE: u32 = 1024;
/// RFC 8257 §4.2: g = 1/16.
const GAIN_SHIFT: u32 = 4;

/// The share of segments that arrive marked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dctcp {
    /// DCTCP.Alpha in 1024ths. RFC 8257 §3.3: 1 at first.
    alpha: u32,
    /// The offset whose acknowledgment ends the window of data, and what was delivered before it began.
    ends: u64,
    delivered: u32,
    marked: u32,
}

impl Default for Dctcp {
    fn default() -> Dctcp {
        Dctcp { alpha: ONE, ends: 0, delivered: 0, marked: 0 }
    }
}

impl Dctcp {
    /// `dctcp_ssthresh`: the window after marks, RFC 8257 §3.3.
    pub(super) fn reduced(&self, window: u32) -> u32 {
        window - ((u64::from(window) * u64::from(self.alpha)) >> 11) as u32
    }
    /// `dctcp_update_alpha`: when a window of data is acknowledged, the share of its marked segments counts
    /// by a sixteenth. So many segments are delivered by now, so many of them marked.
    pub(super) fn update(&mut self, stream: &Sender, delivered: u32, marked: u32) {
        if stream.unacknowledged < self.ends {
            return;
        }
        let (all, marks) = (delivered - self.delivered, marked - self.marked);
        // Below a sixteenth of one, no shift would bring it down to none.
        let less = self.alpha >> GAIN_SHIFT;
        self.alpha -= if less == 0 { self.alpha } else { less };
        if marks > 0 {
            self.alpha = (self.alpha + (marks << (10 - GAIN_SHIFT)) / all.max(1)).min(ONE);
        }
        *self = Dctcp { alpha: self.alpha, ends: stream.next, delivered, marked };
    }
}

impl LinuxSender {
    /// Before an acknowledgment delivers anything: DCTCP looks whether a window of data has ended
    /// (`CA_ACK_WIN_UPDATE`).
    pub(super) fn update_share(&mut self, stream: &Sender) {
        if let Some(Scalable::Dctcp(dctcp)) = self.scalable.as_deref_mut() {
            dctcp.update(stream, self.delivered, self.feedback.marked);
        }
    }
    /// `dctcp_react_to_loss`, RFC 8257 §3.5: after a loss half of the window is left.
    pub(super) fn react_to_loss(&mut self, stream: &Sender) {
        match self.scalable.as_deref_mut() {
            Some(Scalable::Dctcp(_)) => self.threshold = (self.window >> 1).max(2),
            Some(Scalable::Prague(_)) => self.reduce_prague_by_loss(stream),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8257 §3.3 by hand: a quarter marked, from 1 on: 15/16 + 1/64 = 0.953.
    #[test]
    fn the_share_is_averaged_with_a_sixteenth() {
        let mut dctcp = Dctcp { marked: 0, delivered: 0, ..Dctcp::default() };
        assert_eq!(dctcp.reduced(100), 50);
        dctcp.alpha -= dctcp.alpha >> GAIN_SHIFT;
        dctcp.alpha += (10 << (10 - GAIN_SHIFT)) / 40;
        assert_eq!(dctcp.alpha, 976);
        assert_eq!(dctcp.reduced(100), 53);
    }
}
