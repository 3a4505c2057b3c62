//! TCP connections over time: what `measure.connections` asks for.

use perhop_qos::units::Time;

use super::transport::{ConnectionProbe, Transport};
use crate::engine::Engine;
use perhop_measure::tcp::ConnectionSample;

/// Looks at connections over time.
pub(crate) trait ConnectionProbes: Engine {
    /// `probe` takes a sample of every connection that is open.
    fn sample_connections(&mut self, now: Time, probe: usize) {
        let (hosts, agenda) = self.split();
        let Transport { pairs, ends, probes, .. } = &mut hosts.transport;
        let ConnectionProbe { sessions, end, every, slot, samples } = &mut probes[probe];
        let first = samples.len();
        let open = pairs.iter().zip(ends.chunks_exact(2));
        for (pair, ends) in open.filter(|(pair, _)| sessions.contains(&pair.session)) {
            let Some(connection) = pair.number else { continue };
            let sampled = &ends[*end].connection;
            samples.push(ConnectionSample {
                time: now,
                session: pair.session,
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
        agenda.schedule(*slot, now + *every);
    }
}

impl<E: Engine> ConnectionProbes for E {}
