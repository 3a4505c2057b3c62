//! Replay of a trace file.

use perhop_qos::units::Time;

use super::emission::Emission;
use perhop_scenario::TraceEntry;

/// Replays the entries of a trace once.
#[derive(Clone, Debug)]
pub struct Trace {
    entries: std::vec::IntoIter<TraceEntry>,
    start: Time,
}

impl Trace {
    /// Creates the replay of `entries`, whose times are relative to `start`.
    pub fn new(entries: Vec<TraceEntry>, start: Time) -> Trace {
        Trace { entries: entries.into_iter(), start }
    }
    pub(super) fn next_packet(&mut self) -> Emission {
        let Some(TraceEntry { time, length, dscp }) = self.entries.next() else { return Emission::NEVER };
        Emission { at: self.start.saturating_add(time), length, dscp }
    }
}
