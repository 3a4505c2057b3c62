//! Sources: when a flow sends a packet, and of what size.

mod cbr;
mod on_off;
mod poisson;
mod replay;
mod spacing;
mod trace;

use perhop_qos::packet::Dscp;
use perhop_qos::random::Stream;
use perhop_qos::units::Time;

pub use cbr::Cbr;
pub use on_off::OnOff;
pub use poisson::Poisson;
pub use replay::{Due, Replay};
pub use trace::Trace;

use perhop_scenario::{SourceConfig, TraceEntry};

/// One packet to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emission {
    /// When.
    pub at: Time,
    /// IP bytes.
    pub length: u32,
    /// Codepoint, where the source sets one itself.
    pub dscp: Option<Dscp>,
}

impl Emission {
    /// What a source that has ended sends next.
    pub const NEVER: Emission = Emission { at: Time::MAX, length: 0, dscp: None };
}

/// A source of any kind: stored by value, dispatched by one `match`.
#[derive(Clone, Debug)]
pub enum Source {
    /// See [`Cbr`].
    Cbr(Cbr),
    /// See [`OnOff`].
    OnOff(OnOff),
    /// See [`Poisson`].
    Poisson(Poisson),
    /// See [`Trace`].
    Trace(Trace),
}

impl Source {
    /// The source that `config` describes, its first packet due at `start`; `trace` are the entries
    /// of the file that a trace source names. `None` for what is no source of one flow: applications on TCP, and
    /// recordings.
    pub fn new(config: &SourceConfig, start: Time, stream: Stream, trace: Vec<TraceEntry>) -> Option<Source> {
        Some(match config {
            SourceConfig::Cbr(config) => Source::Cbr(Cbr::new(config, start, stream)),
            SourceConfig::OnOff(config) => Source::OnOff(OnOff::new(config, start, stream)),
            SourceConfig::Poisson(config) => Source::Poisson(Poisson::new(config, start, stream)),
            SourceConfig::Trace(_) => Source::Trace(Trace::new(trace, start)),
            // The simulator replays recordings itself: their packets are those of many flows.
            SourceConfig::Pcap(_)
            | SourceConfig::Bulk(_)
            | SourceConfig::RequestResponse(_)
            | SourceConfig::ConnectRequestResponse(_)
            | SourceConfig::FileTransfer(_)
            | SourceConfig::Web(_) => return None,
        })
    }
    /// The next packet, no earlier than the one before; [`Emission::NEVER`] when the source has ended.
    #[inline(never)] // of most sources longer than what asks for it
    pub fn next_packet(&mut self) -> Emission {
        match self {
            Source::Cbr(source) => source.next_packet(),
            Source::OnOff(source) => source.next_packet(),
            Source::Poisson(source) => source.next_packet(),
            Source::Trace(source) => source.next_packet(),
        }
    }
    /// The same, put in the place of the one before.
    #[allow(clippy::inline_always)] // a part of what every packet begins with, and short for the commonest source
    #[inline(always)]
    pub fn put_next_packet(&mut self, place: &mut Emission) {
        *place = if let Source::Cbr(source) = self { source.next_packet() } else { self.next_packet() };
    }
}
