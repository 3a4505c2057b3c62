//! The use of the pace by the sender.

use perhop_qos::units::Time;

use super::super::super::sender::Sender;
use super::super::LinuxSender;

impl LinuxSender {
    /// Whether the pace delays the next segment at `now`. If a segment waits and the window permits it, wakes
    /// the sender when the pace permits the segment.
    pub(in crate::tcp::linux) fn waits_for_pace(&mut self, stream: &mut Sender, now: Time) -> bool {
        let Some(departs) = self.pacer.as_ref().map(|pacer| pacer.departs).filter(|departs| *departs > now)
        else {
            return false;
        };
        let has_more = self.records.retransmitted < self.records.lost || stream.next < stream.end();
        if has_more && self.room() > 0 {
            self.wake_at(stream, departs);
        }
        true
    }
    /// Records that a segment of `bytes` is sent.
    pub(in crate::tcp::linux) fn pace(&mut self, stream: &Sender, now: Time, bytes: u64) {
        if self.pacer.is_none() {
            return;
        }
        let sent = match &mut self.bursts {
            Some(bursts) => bursts.add(bytes),
            None => Some((bytes, 1)),
        };
        if let Some((bytes, segments)) = sent {
            self.count_pace(stream, now, bytes, segments);
        }
    }
    /// Records that `segments` segments of `bytes` in total left together.
    pub(in crate::tcp::linux) fn count_pace(
        &mut self,
        stream: &Sender,
        now: Time,
        bytes: u64,
        segments: u32,
    ) {
        let rate = self.pacing_rate(stream);
        if let Some(pacer) = &mut self.pacer {
            pacer.on_sent(now, bytes, segments, rate);
        }
    }
}
