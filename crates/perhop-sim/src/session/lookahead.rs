//! The time up to which ends of connections may answer ahead of the agenda (`docs/decisions/0005`).

use perhop_qos::packet::Packet;
use perhop_qos::units::Time;
use perhop_scenario::tcp::Flags;

use super::transport::{Answers, Session, Transport};

impl Transport {
    /// Returns the lookahead of the end to which `packet` is addressed. Until this time, no event of the
    /// agenda affects the end, so the end may answer `packet` as soon as its arrival is known. Returns `None`
    /// if the end must wait for the agenda, and the end of the run if no end receives `packet`.
    ///
    /// Segments that open or close a connection wait for the agenda, because they concern both ends and later
    /// connections. All segments wait while the session has several connections.
    pub(crate) fn lookahead(&self, packet: &Packet) -> Option<Time> {
        let Some(carried) = self.segments.carried_by(packet) else { return Some(self.duration) };
        let place = carried.end as usize;
        // A segment of a recording, or of a closed connection, has no recipient.
        let Some(end) = self.ends.get(place).filter(|end| end.generation == carried.generation) else {
            return Some(self.duration);
        };
        let Session { answers, open, due, .. } = &self.sessions[end.session()];
        if answers[place % 2] == Answers::OnTime
            || *open != 1
            || carried.segment.flags.intersects(Flags::SYN | Flags::FIN)
            || !end.connection.is_only_open()
        {
            return None;
        }
        Some((*due).min(self.not_beyond))
    }
}
