//! TCP connections over time: what `measure.connections` asks for.

use std::ops::Range;

use perhop_qos::observer::Watch;
use perhop_qos::units::Time;

use super::Transport;
use crate::agenda::Slot;
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

/// One end of a connection at one instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ConnectionSample {
    pub(crate) time: Time,
    pub(crate) session: usize,
    /// Which of its session's connections it is, from 0.
    pub(crate) connection: u32,
    /// Congestion window and slow-start threshold, segments.
    pub(crate) window: f64,
    pub(crate) threshold: f64,
    /// Payload bytes sent and not acknowledged.
    pub(crate) in_flight: u64,
    /// The smoothed round-trip time, once one was measured.
    pub(crate) round_trip: Option<Time>,
    /// The retransmission timeout, back-off included.
    pub(crate) timeout: Time,
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
