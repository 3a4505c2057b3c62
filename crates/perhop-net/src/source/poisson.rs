//! [`Poisson`]: a Poisson process of packets.

use perhop_qos::random::Stream;
use perhop_qos::units::{Rate, Time};

use super::emission::Emission;
use perhop_scenario::{PacketSize, PoissonConfig, SizeLaw};

/// A Poisson process of packets.
#[derive(Clone, Debug)]
pub struct Poisson {
    mean_gap_seconds: f64,
    packet: PacketSize,
    sizes: SizeLaw,
    stream: Stream,
    next: Time,
}

/// The largest IPv4 packet, bytes (RFC 791 §3.1: Total Length has 16 bits).
const LARGEST_IP_LENGTH: f64 = 65535.0;

impl Poisson {
    /// Creates a source according to `config`, whose process begins at `start`.
    pub fn new(config: &PoissonConfig, start: Time, stream: Stream) -> Poisson {
        let PoissonConfig { rate, packet, sizes } = *config;
        let mean_gap_seconds = mean_gap_seconds(packet, rate);
        let mut source = Poisson { mean_gap_seconds, packet, sizes, stream, next: start };
        source.next = start.saturating_add(source.gap());
        source
    }
    pub(super) fn next_packet(&mut self) -> Emission {
        let length = match self.sizes {
            SizeLaw::Fixed => self.packet.ip_length(),
            SizeLaw::Exponential => self.random_length(),
        };
        let emission = Emission { at: self.next, length, dscp: None };
        self.next = self.next.saturating_add(self.gap());
        emission
    }
    fn gap(&mut self) -> Time {
        Time::from_seconds_f64(self.mean_gap_seconds * self.stream.exponential())
    }
    fn random_length(&mut self) -> u32 {
        let counted = self.packet.counted() as f64 * self.stream.exponential();
        let headers = f64::from(self.packet.ip_length()) - self.packet.counted() as f64;
        (libm::round(counted) + headers).clamp(1.0, LARGEST_IP_LENGTH) as u32
    }
}

fn mean_gap_seconds(packet: PacketSize, rate: Rate) -> f64 {
    packet.counted() as f64 * 8.0 / rate.as_bits_per_second() as f64
}
