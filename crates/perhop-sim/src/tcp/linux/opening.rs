//! The start of the sender when the connection opens.

use perhop_qos::units::Time;

use super::super::sender::Sender;
use super::{LinuxSender, microseconds};

impl LinuxSender {
    /// Starts the sender. `round_trip` is the sample of the handshake, if any. `syns` is the number of times
    /// that the SYN was sent.
    pub(in crate::tcp) fn on_open(
        &mut self,
        stream: &mut Sender,
        now: Time,
        round_trip: Option<Time>,
        syns: u32,
    ) {
        if self.quic.is_some() {
            self.open_quic(stream, now, round_trip);
        } else if let Some(round_trip) = round_trip {
            let sample = microseconds(round_trip).max(1);
            self.least.add(microseconds(now), sample);
            self.take_sample(stream, now, sample);
        }
        if syns > 2 && self.quic.is_none() {
            // net/ipv4/tcp_input.c, tcp_init_transfer: the window is one segment, because more than one SYN
            // was lost.
            self.window = 1;
        }
        self.open_bbr(stream, now);
        self.open_prague(stream);
        self.usage.begin(self.clock.ticks_at(now));
        if let Some(hystart) = &mut self.hystart {
            hystart.start_round(microseconds(now), stream.next);
        }
    }
}
