//! SACK and DSACK blocks (RFC 2018, RFC 2883; `tcp_sacktag_write_queue`).

use super::super::segment::{Range, Segment};
use super::super::sender::Sender;
use super::acknowledged::Ack;
use super::records::Marks;
use super::{LinuxSender, State};

/// The maximum reordering, segments (`tcp_max_reordering`).
pub(super) const MOST_REORDERING: u32 = 300;

impl LinuxSender {
    /// Processes the blocks of `segment`.
    pub(super) fn add_blocks(&mut self, stream: &Sender, ack: &mut Ack, segment: &Segment) {
        if segment.sack.is_empty() || !stream.parameters.recovery.is_selective() {
            return;
        }
        let mut blocks = [Range::default(); 4];
        let mut count = 0;
        for (start, end) in segment.sack.iter() {
            blocks[count] = Range { start, end };
            count += 1;
        }
        let first = blocks[0];
        let within = |outer: Range| outer.start <= first.start && first.end <= outer.end;
        // RFC 2883 §4: a first block reports duplicate data if it is below the acknowledgment or part of the
        // second block.
        let repeats = first.start < segment.acknowledgment || (count > 1 && within(blocks[1]));
        if repeats {
            self.add_duplicate(stream, ack, first);
        }
        for block in &blocks[usize::from(repeats)..count] {
            let is_valid = block.start >= stream.unacknowledged && block.end <= stream.highest;
            if is_valid && block.start < block.end {
                self.add_block(stream, ack, *block);
            }
        }
        self.known_blocks =
            if repeats { [blocks[1], blocks[2], blocks[3], Range::default()] } else { blocks };
        if self.state != State::Loss || self.undo.is_possible() {
            self.check_reordering(stream, ack.late);
        }
    }

    /// Marks the segments that `block` covers, except those that a block of the last acknowledgment covered.
    fn add_block(&mut self, stream: &Sender, ack: &mut Ack, block: Range) {
        let all = self.records.covered(block.start, block.end);
        let known = self.known_blocks.iter().find(|known| known.start < block.end && block.start < known.end);
        let done = known.map_or(all.start..all.start, |known| self.records.covered(known.start, known.end));
        let done = done.start.clamp(all.start, all.end)..done.end.clamp(all.start, all.end);
        for number in (all.start..done.start).chain(done.end..all.end) {
            self.select(stream, ack, number);
        }
    }

    /// Marks the segment `number` as SACKed (`tcp_sacktag_one`).
    fn select(&mut self, stream: &Sender, ack: &mut Ack, number: u64) {
        let record = *self.records.at(number);
        if record.marks.has(Marks::SACKED) {
            return;
        }
        if !(record.marks.is_sent_again() && ack.echoes_before(record.sent)) {
            self.advance_rack(ack.now, &record);
        }
        if !record.marks.is_sent_again() {
            if record.start < self.records.forward_most(stream.unacknowledged) {
                ack.late = ack.late.min(record.start);
            }
            ack.proves_original |= record.end <= self.state_ends;
            ack.first_selected = ack.first_selected.or(Some(record.sent));
            ack.last_selected = Some(record.sent);
        }
        let marks = &mut self.records.at(number).marks;
        marks.set(Marks::SACKED);
        if record.marks.has(Marks::LOST) {
            marks.clear(Marks::LOST);
            self.records.lost -= 1;
            if record.marks.has(Marks::RETRANSMITTED) {
                self.records.at(number).marks.clear(Marks::RETRANSMITTED);
                self.records.retransmitted -= 1;
            }
        }
        if let Some(rate) = &mut self.rate {
            rate.on_delivered(number, record.sent, record.end);
        }
        ack.selects = true;
        ack.delivered_before = ack.delivered_before.max(Some(record.delivered));
        self.records.sacked += 1;
        self.delivered += 1;
        self.records.raise_highest_sacked(record.end);
    }

    /// Records that the data of `block` arrived twice (`tcp_check_dsack`, `tcp_dsack_seen`).
    fn add_duplicate(&mut self, stream: &Sender, ack: &mut Ack, block: Range) {
        let segments = ((block.end - block.start).div_ceil(stream.payload)).max(1) as u32;
        self.undo.repeated += segments;
        if u64::from(self.undo.repeated) > stream.statistics.retransmissions {
            // There are more duplicates than retransmissions, so the network duplicated a packet.
            return;
        }
        if self.probe.is_answered_by(block.end) {
            ack.repeats_probe = true;
        } else if self.has_reordered {
            self.rack.has_duplicate = true;
        }
        ack.repeats = true;
        self.delivered += segments;
        self.undo.on_duplicate(block.end, segments, ack.previous);
        for number in self.records.covered(block.start, block.end) {
            let record = self.records.at(number);
            if record.marks.is_sent_again() {
                self.undo.on_duplicate_in_flight(record.end);
            }
            if record.marks.has(Marks::RETRANSMITTED) {
                record.marks.clear(Marks::RETRANSMITTED);
                self.records.retransmitted -= 1;
            }
        }
    }

    /// Updates the reordering, if the data from `late` on were delivered after later data
    /// (`tcp_check_sack_reordering`).
    pub(super) fn check_reordering(&mut self, stream: &Sender, late: u64) {
        let forward_most = self.records.forward_most(stream.unacknowledged);
        if late >= forward_most {
            return;
        }
        let distance = forward_most - late;
        if distance > u64::from(self.reordering) * stream.payload {
            self.reordering = (distance.div_ceil(stream.payload) as u32).min(MOST_REORDERING);
        }
        self.has_reordered = true;
    }
}
