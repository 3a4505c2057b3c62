//! Which ends of connections may be ahead of the agenda, and up to when (`docs/decisions/0005`).

use perhop_qos::packet::Packet;
use perhop_qos::units::Time;

use perhop_measure::tcp::CLIENT;

use super::{Session, Transport, end_of};
use perhop_scenario::tcp::Flags;

impl Session {
    /// The instants before which its client and its server may be ahead of the agenda: earlier, the agenda holds nothing that
    /// happens to that end of its only connection.
    fn leads(&self) -> [Time; 2] {
        let due = self.due.saturating_add(Time::from_picoseconds(1));
        self.may_be_ahead.map(|may| if may && self.open == 1 { due } else { Time::ZERO })
    }
}

impl Transport {
    /// Whether what `packet` carries may be answered as soon as it is known that it will arrive at `arrives`: nothing
    /// that the agenda holds happens to that end of its connection before.
    ///
    /// What opens or closes a connection is left to the agenda, since it concerns both ends and those that follow.
    pub(crate) fn may_answer(&self, packet: &Packet, arrives: Time) -> bool {
        let Some(carried) = self.segments.of(packet) else { return true };
        let place = carried.end as usize;
        // A segment of a recording, or of a connection that is over, is for nobody.
        let Some(end) = self.ends.get(place).filter(|end| end.generation == carried.generation) else {
            return true;
        };
        debug_assert_eq!(end.lead, self.sessions[end.session].leads()[place % 2]);
        arrives < end.lead
            && !carried.segment.flags.intersects(Flags::SYN | Flags::FIN)
            && end.connection.is_only_open()
    }
    /// `session` has opened the connection at `place`.
    pub(super) fn note_open(&mut self, session: usize, place: usize) {
        self.open_places.resize(self.sessions.len(), 0);
        if self.sessions[session].open == 2 {
            // No longer the only one.
            self.set_leads(self.open_places[session], [Time::ZERO; 2]);
        }
        self.open_places[session] += place;
        self.note_leads(session);
    }
    /// `session` has lost the connection at `place`.
    pub(super) fn note_over(&mut self, session: usize, place: usize) {
        self.open_places[session] -= place;
        self.note_leads(session);
    }
    /// The place of `session` on the agenda has changed, or what it has open.
    pub(super) fn note_leads(&mut self, session: usize) {
        if self.sessions[session].open == 1 {
            self.set_leads(self.open_places[session], self.sessions[session].leads());
        }
    }
    fn set_leads(&mut self, place: usize, leads: [Time; 2]) {
        for (end, lead) in self.ends[end_of(place, CLIENT)..].iter_mut().zip(leads) {
            end.lead = lead;
        }
    }
}
