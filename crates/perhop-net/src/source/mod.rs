//! Sources: the times and sizes of the packets of a flow.

mod cbr;
mod emission;
mod on_off;
mod poisson;
mod replay;
mod spacing;
mod trace;

use perhop_qos::random::Stream;
use perhop_qos::units::Time;

pub use cbr::Cbr;
pub use emission::Emission;
pub use on_off::OnOff;
pub use poisson::Poisson;
pub use replay::{Replay, ReplayedPacket};
pub use trace::Trace;

use perhop_scenario::{SourceConfig, TraceEntry};

/// A source of any kind, stored by value and dispatched by one `match`.
#[derive(Clone, Debug)]
pub enum Source {
    /// Constant bit rate: [`Cbr`].
    Cbr(Cbr),
    /// Bursts at constant bit rate: [`OnOff`].
    OnOff(OnOff),
    /// Poisson process: [`Poisson`].
    Poisson(Poisson),
    /// Packets of a file: [`Trace`].
    Trace(Trace),
}

impl Source {
    /// Creates the source that `config` describes, which begins at `start`. `trace` has the entries of the
    /// file of a trace source. Returns `None` for applications on TCP and for recordings, because they are
    /// not sources of a single flow.
    pub fn new(config: &SourceConfig, start: Time, stream: Stream, trace: Vec<TraceEntry>) -> Option<Source> {
        Some(match config {
            SourceConfig::Cbr(config) => Source::Cbr(Cbr::new(config, start, stream)),
            SourceConfig::OnOff(config) => Source::OnOff(OnOff::new(config, start, stream)),
            SourceConfig::Poisson(config) => Source::Poisson(Poisson::new(config, start, stream)),
            SourceConfig::Trace(_) => Source::Trace(Trace::new(trace, start)),
            SourceConfig::Voice(_) | SourceConfig::Game(_) => {
                return Source::new(&config.forth(), start, stream, trace);
            }
            // A recording has packets of several flows. See `Replay`.
            SourceConfig::Pcap(_)
            | SourceConfig::Bulk(_)
            | SourceConfig::RequestResponse(_)
            | SourceConfig::ConnectRequestResponse(_)
            | SourceConfig::FileTransfer(_)
            | SourceConfig::Web(_)
            | SourceConfig::Video(_)
            | SourceConfig::PageLoad(_)
            | SourceConfig::SpeedTest(_) => return None,
        })
    }
    /// Returns the next packet, which is not earlier than the previous packet; [`Emission::NEVER`] after the
    /// source has ended.
    #[allow(clippy::inline_always)] // on the path of every packet, and short for constant bit rate
    #[inline(always)]
    pub fn next_packet(&mut self) -> Emission {
        if let Source::Cbr(source) = self { source.next_packet() } else { self.next_packet_uncommon() }
    }
    #[inline(never)] // most sources are longer than their caller
    fn next_packet_uncommon(&mut self) -> Emission {
        match self {
            Source::Cbr(source) => source.next_packet(),
            Source::OnOff(source) => source.next_packet(),
            Source::Poisson(source) => source.next_packet(),
            Source::Trace(source) => source.next_packet(),
        }
    }
}
