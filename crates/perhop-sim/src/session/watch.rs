//! TCP connections over time: what `measure.connections` asks for.

use std::ops::Range;

use perhop_qos::observer::Watch;
use perhop_qos::units::Time;

use super::Transport;
use perhop_measure::tcp::ConnectionSample;
use perhop_net::agenda::Slot;

use crate::world::World;

/// A probe of the connections of some sessions.
#[derive(Debug)]
pub(crate) struct ConnectionProbe {
    pub(crate) sessions: Range<usize>,
    /// The end that is looked at.
    pub(crate) end: usize,
    pub(crate) every: Time,
    pub(crate) slot: Slot,
    pub(crate) samples: Vec<ConnectionSample>,
}

impl<W: Watch> World<W> {
    /// `probe` takes a sample of every connection that is open.
    pub(crate) fn sample_connections(&mut self, now: Time, probe: usize) {
        let Transport { dialogues, ends, probes, .. } = &mut self.transport;
        let ConnectionProbe { sessions, end, every, slot, samples } = &mut probes[probe];
        let first = samples.len();
        let pairs = dialogues.iter().zip(ends.chunks_exact(2));
        for (dialogue, pair) in pairs.filter(|(dialogue, _)| sessions.contains(&dialogue.session)) {
            let Some(connection) = dialogue.number else { continue };
            let sampled = &pair[*end].connection;
            samples.push(ConnectionSample {
                time: now,
                session: dialogue.session,
                connection,
                window: sampled.congestion_window(),
                threshold: sampled.slow_start_threshold(),
                in_flight: sampled.flight(),
                round_trip: sampled.round_trip_time(),
                timeout: sampled.retransmission_timeout(),
            });
        }
        // Places are used again: a connection may stand before an earlier one.
        samples[first..].sort_by_key(|sample| (sample.session, sample.connection));
        self.agenda.schedule(*slot, now + *every);
    }
}
