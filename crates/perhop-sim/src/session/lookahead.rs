//! Which ends of connections may answer ahead of the agenda, and up to when (`docs/decisions/0005`).

use perhop_measure::tcp::CLIENT;
use perhop_qos::packet::Packet;
use perhop_qos::units::Time;
use perhop_scenario::tcp::Flags;

use super::transport::{Answers, Session, Transport, end_of};

impl Session {
    /// The lookahead of its client and its server: the agenda holds nothing that happens to that end of its only
    /// connection before.
    fn lookaheads(&self) -> [Time; 2] {
        let due = self.due.saturating_add(Time::from_picoseconds(1));
        self.answers.map(|answers| if answers == Answers::Ahead && self.open == 1 { due } else { Time::ZERO })
    }
}

impl Transport {
    /// The lookahead of the end that `packet` is for: before that instant nothing that the agenda holds happens to it,
    /// and it may answer `packet` as soon as its arrival is known. [`Time::MAX`] where nobody answers.
    ///
    /// What opens or closes a connection is left to the agenda, since it concerns both ends and those that follow.
    pub(crate) fn lookahead(&self, packet: &Packet) -> Time {
        let Some(carried) = self.segments.of(packet) else { return Time::MAX };
        let place = carried.end as usize;
        // A segment of a recording, or of a connection that is over, is for nobody.
        let Some(end) = self.ends.get(place).filter(|end| end.generation == carried.generation) else {
            return Time::MAX;
        };
        debug_assert_eq!(end.lookahead, self.sessions[end.session].lookaheads()[place % 2]);
        if carried.segment.flags.intersects(Flags::SYN | Flags::FIN) || !end.connection.is_only_open() {
            return Time::ZERO;
        }
        end.lookahead
    }
    /// `session` has opened the connection at `place`.
    pub(super) fn note_open(&mut self, session: usize, place: usize) {
        self.open_places.resize(self.sessions.len(), 0);
        if self.sessions[session].open == 2 {
            // No longer the only one.
            self.set_lookaheads(self.open_places[session], [Time::ZERO; 2]);
        }
        self.open_places[session] += place;
        self.update_lookahead(session);
    }
    /// `session` has lost the connection at `place`.
    pub(super) fn note_over(&mut self, session: usize, place: usize) {
        self.open_places[session] -= place;
        self.update_lookahead(session);
    }
    /// The place of `session` on the agenda has changed, or what it has open.
    pub(super) fn update_lookahead(&mut self, session: usize) {
        if self.sessions[session].open == 1 {
            self.set_lookaheads(self.open_places[session], self.sessions[session].lookaheads());
        }
    }
    fn set_lookaheads(&mut self, place: usize, lookaheads: [Time; 2]) {
        for (end, lookahead) in self.ends[end_of(place, CLIENT)..].iter_mut().zip(lookaheads) {
            end.lookahead = lookahead;
        }
    }
}
