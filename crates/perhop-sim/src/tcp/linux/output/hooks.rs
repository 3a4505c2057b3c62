//! The choice of the next segment by the sender.

use perhop_qos::units::Time;
use perhop_scenario::tcp::Handshake;

use super::super::super::sender::Sender;
use super::super::super::transmit::Piece;
use super::super::records::{Marks, Record};
use super::super::timer::Timer;
use super::super::{LinuxSender, State, microseconds};
use super::Forced;

impl LinuxSender {
    /// Returns the next segment to send, if there is one.
    pub(in crate::tcp) fn poll(&mut self, stream: &mut Sender, now: Time) -> Option<Piece> {
        if let Some(forced) = self.output.forced.take()
            && let Some(piece) = self.send_forced(stream, now, forced)
        {
            return Some(piece);
        }
        if self.waits_for_pace(stream, now) {
            self.end_burst(stream, now);
            return None;
        }
        if self.output.new_first {
            if let Some(piece) = self.send_new(stream, now) {
                return Some(piece);
            }
            self.output.new_first = false;
            if stream.next <= self.state_ends {
                self.give_up_frto();
                self.output.repairs = true;
            }
        }
        if self.output.repairs {
            if let Some(piece) = self.send_lost(stream, now) {
                return Some(piece);
            }
            self.output.repairs = false;
        }
        if self.output.restrained != Some(stream.written)
            && let Some(piece) = self.send_new(stream, now)
        {
            return Some(piece);
        }
        self.end_burst(stream, now);
        None
    }

    fn send_forced(&mut self, stream: &mut Sender, now: Time, forced: Forced) -> Option<Piece> {
        match forced {
            Forced::Head if self.records.is_empty() => None,
            Forced::Head => Some(self.resend(stream, now, self.records.head_number())),
            Forced::FirstLoss => {
                let number = self.records.next_lost()?;
                Some(self.resend_lost(stream, now, number))
            }
            Forced::NewProbe => {
                let piece = stream.next_piece(now)?;
                let piece = self.record_new(stream, now, piece);
                self.on_probe_sent(stream, now, false);
                Some(piece)
            }
            Forced::TailProbe => {
                let number = self.records.tail_number();
                self.note_probe(number);
                let piece = self.write_again(stream, now, number);
                self.on_probe_sent(stream, now, true);
                Some(piece)
            }
            Forced::Probe => self.send_quic_probe(stream, now),
        }
    }

    /// Retransmits the next lost segment, if the window permits it.
    fn send_lost(&mut self, stream: &mut Sender, now: Time) -> Option<Piece> {
        if self.room() == 0 {
            return None;
        }
        let number = self.records.next_lost()?;
        Some(self.resend_lost(stream, now, number))
    }
    pub(in crate::tcp::linux) fn resend_lost(
        &mut self,
        stream: &mut Sender,
        now: Time,
        number: u64,
    ) -> Piece {
        let is_head = number == self.records.head_number();
        let piece = self.resend(stream, now, number);
        self.count_in_reduction();
        if is_head && self.timer != Timer::Reordering && self.quic.is_none() {
            let ticks = self.rto_ticks(stream);
            self.set_timer(stream, now, Timer::Retransmission, ticks);
        }
        piece
    }
    /// Retransmits the segment `number` (`tcp_retransmit_skb`).
    fn resend(&mut self, stream: &mut Sender, now: Time, number: u64) -> Piece {
        let piece = self.write_again(stream, now, number);
        let marks = &mut self.records.at(number).marks;
        if !marks.has(Marks::RETRANSMITTED) {
            marks.set(Marks::RETRANSMITTED);
            self.records.retransmitted += 1;
        }
        self.undo.on_retransmission(microseconds(now));
        piece
    }
    pub(in crate::tcp::linux) fn write_again(
        &mut self,
        stream: &mut Sender,
        now: Time,
        number: u64,
    ) -> Piece {
        if self.in_flight() == 0 {
            self.on_first_in_flight(stream, now);
        }
        self.note_departure(now, number);
        self.records.resend(number, microseconds(now), self.delivered);
        let (start, end) = self.records.get(number).map_or((0, 0), |record| (record.start, record.end));
        self.note_packet(stream, now, number);
        self.pace(stream, now, end - start);
        stream.count_sent(now, 1);
        stream.piece_again(start.max(stream.unacknowledged), end)
    }

    /// Sends the next segment of new data, if the windows permit it.
    fn send_new(&mut self, stream: &mut Sender, now: Time) -> Option<Piece> {
        if stream.next >= stream.end() {
            return None;
        }
        if self.records.is_empty() && stream.next < stream.edge {
            // `tcp_slow_start_after_idle_check`: Linux calls it when data are written, or when the window
            // permits data again.
            self.restart_after_idle(stream, now);
        }
        // RFC 3042: for data that duplicate acknowledgments report as delivered, new data may be sent.
        let makes_room = stream.parameters.limited_transmit || self.state != State::Disorder;
        if self.room() <= if makes_room { 0 } else { self.records.sacked } {
            return None;
        }
        if !self.joins_burst(stream, now) {
            return None;
        }
        let piece = stream.next_piece(now)?;
        self.output.new_segments += 1;
        Some(self.record_new(stream, now, piece))
    }
    /// Records that a segment of new data is sent (`tcp_event_new_data_sent`).
    pub(in crate::tcp::linux) fn record_new(
        &mut self,
        stream: &mut Sender,
        now: Time,
        piece: Piece,
    ) -> Piece {
        if self.in_flight() == 0 {
            self.on_first_in_flight(stream, now);
        }
        if stream.highest == 0 && stream.parameters.handshake == Handshake::None {
            self.open_bbr(stream, now);
        }
        let was_empty = self.records.is_empty();
        let number = self.records.head_number() + u64::from(self.records.len());
        self.note_departure(now, number);
        let mut marks = Marks::default();
        if piece.fin {
            marks.set(Marks::FIN);
        }
        let end = piece.end();
        self.records.push(Record {
            start: piece.sequence,
            end,
            sent: microseconds(now),
            delivered: self.delivered,
            marks,
        });
        stream.next = end;
        stream.highest = stream.highest.max(end);
        self.note_packet(stream, now, number);
        self.pace(stream, now, end - piece.sequence);
        stream.count_sent(now, 0);
        self.count_in_reduction();
        if was_empty || self.timer == Timer::Probe {
            self.restart_retransmission(stream, now);
        }
        Piece { is_new: true, ..piece }
    }
    fn count_in_reduction(&mut self) {
        if matches!(self.state, State::Cwr | State::Recovery) {
            self.reduction.sent += 1;
        }
    }

    /// Ends the burst, because no further segment can be sent now.
    fn end_burst(&mut self, stream: &mut Sender, now: Time) {
        self.end_offload(stream, now);
        let sent = std::mem::take(&mut self.output.new_segments);
        let is_waiting = stream.next < stream.end() && self.window_limits();
        if self.output.restrained != Some(stream.written) && (sent > 0 || is_waiting) {
            self.note_usage(stream, now);
        }
        if let Some(bursts) = &mut self.bursts {
            bursts.stop_waiting();
        }
        if sent > 0 {
            self.schedule_probe(stream, now, None);
        }
    }
    /// Whether the congestion window delays new data, either now or because a burst waits for a larger
    /// window.
    pub(in crate::tcp::linux) fn window_limits(&self) -> bool {
        self.in_flight() >= self.window || self.bursts.as_ref().is_some_and(|bursts| bursts.waits())
    }
}
