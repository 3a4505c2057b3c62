//! What a connection sends next, and how it becomes a segment.

use perhop_qos::packet::Ecn;
use perhop_qos::units::Time;

use super::connection::{Connection, Opening};
use super::parameters::Recovery;
use super::receiver::Due;
use super::segment::{Flags, SackBlocks, Segment, Timestamps};
use super::transmit::Piece;

/// What is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outgoing {
    /// A SYN or SYN-ACK.
    Syn,
    /// An acknowledgment in a segment of its own, whatever else there is to send.
    Alone,
    /// A piece of the stream.
    Data(Piece),
    /// An acknowledgment, because there is nothing else to send.
    Acknowledgment,
}

impl Outgoing {
    /// Whether it is known that nothing comes after it now: who asks again is told so.
    pub(crate) fn is_last(self) -> bool {
        match self {
            Outgoing::Acknowledgment => true,
            Outgoing::Data(piece) => piece.is_last,
            Outgoing::Syn | Outgoing::Alone => false,
        }
    }
}

impl Connection {
    /// What to [`write`](Self::write) next.
    pub(crate) fn next_outgoing(&mut self, now: Time) -> Option<Outgoing> {
        if self.syn_due {
            return Some(Outgoing::Syn);
        }
        if self.opening != Opening::Open {
            return None;
        }
        if self.receiver.due() == Due::Alone {
            return Some(Outgoing::Alone);
        }
        if let Some(piece) = self.sender.poll(now) {
            return Some(Outgoing::Data(piece));
        }
        (self.receiver.due() == Due::Now).then_some(Outgoing::Acknowledgment)
    }

    /// Writes what is `outgoing` into `segment`, whatever that was before.
    pub(crate) fn write(&mut self, now: Time, outgoing: Outgoing, segment: &mut Segment) {
        segment.length = 0;
        segment.flags = Flags::default();
        segment.ecn = Ecn::NotCapable;
        segment.sack.clear();
        let stamps = self.sender.parameters.timestamps;
        segment.timestamps = stamps.then_some(Timestamps { value: now, echo: Time::ZERO });
        if let Outgoing::Data(piece) = outgoing {
            self.write_data(piece, segment);
        } else if outgoing == Outgoing::Syn {
            self.write_syn(now, segment);
        } else {
            self.write_acknowledgment(segment);
        }
    }

    #[cold]
    fn write_syn(&mut self, now: Time, segment: &mut Segment) {
        self.syn_due = false;
        segment.sequence = 0;
        segment.acknowledgment = 0;
        segment.flags = Flags::SYN;
        if self.opening == Opening::SynReceived {
            self.receiver.stamp(segment);
            if self.sender.ecn {
                segment.flags |= Flags::ECE;
            }
        } else if self.sender.parameters.ecn {
            segment.flags |= Flags::ECE | Flags::CWR;
        }
        segment.window = self.sender.parameters.window;
        let factor = 1u64 << self.syns.min(16);
        let parameters = &self.sender.parameters;
        let wait = Time::from_picoseconds(parameters.initial_rto.as_picoseconds().saturating_mul(factor));
        self.syn_deadline = now + wait.min(parameters.maximum_rto);
        self.syns += 1;
        self.syn_sent = now;
    }

    fn write_acknowledgment(&mut self, segment: &mut Segment) {
        segment.sequence = self.sender.next;
        self.receiver.stamp(segment);
        if self.sender.parameters.recovery == Recovery::Sack {
            let most = SackBlocks::MOST - usize::from(segment.timestamps.is_some());
            self.receiver.write_blocks(most, &mut segment.sack);
        }
    }

    fn write_data(&mut self, piece: Piece, segment: &mut Segment) {
        segment.sequence = piece.sequence;
        segment.length = piece.length;
        if piece.fin {
            segment.flags |= Flags::FIN;
        }
        if piece.is_new && piece.length > 0 && self.sender.ecn {
            // RFC 3168 §6.1.4 to §6.1.6: only data that were never sent are ECN-capable.
            segment.ecn = Ecn::Capable0;
            if std::mem::take(&mut self.sender.announce_reduction) {
                segment.flags |= Flags::CWR;
            }
        }
        self.receiver.stamp(segment);
    }
}
