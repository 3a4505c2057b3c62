//! Conversion of calls and games to plain datagram sources.

use std::borrow::Cow;

use perhop_qos::units::{ByteSize, PacketRate, Rate};

use crate::media::{GameConfig, TalkSpurts, VoiceConfig};
use crate::traffic::{CbrConfig, CutGap, OnOffConfig, PacketSize, PeriodLaw, SourceConfig};

/// RTP header without contributing sources, bytes (RFC 3550 §5.1).
const RTP_HEADER: u64 = 12;

impl VoiceConfig {
    /// Returns the datagram source of one party's voice packets.
    fn packets(&self) -> SourceConfig {
        let planning = self.codec.planning();
        let counted = planning.payload + RTP_HEADER;
        let packet = PacketSize::Payload(ByteSize::from_bytes(counted));
        // Packets contain whole milliseconds of speech, so the rate is a whole number of bits per second.
        let rate = Rate::from_bits_per_second(8_000_000 * counted / (planning.frames * planning.frame_us));
        match self.talk_spurts {
            None => SourceConfig::Cbr(CbrConfig { rate, packet, rate_counts: None, jitter: 0.0 }),
            Some(TalkSpurts { talk, silence }) => SourceConfig::OnOff(OnOffConfig {
                rate,
                packet,
                on_time: talk,
                off_time: silence,
                law: PeriodLaw::Exponential,
                cut_gap: CutGap::Dropped,
            }),
        }
    }
}

impl GameConfig {
    fn commands(&self) -> SourceConfig {
        regular(self.command_rate.unwrap_or(self.tick_rate), self.command)
    }
    fn snapshots(&self) -> SourceConfig {
        regular(self.tick_rate, self.snapshot)
    }
}

fn regular(rate: PacketRate, payload: ByteSize) -> SourceConfig {
    let rate = Rate::from_bits_per_second(rate.as_packets_per_second() * 8 * payload.as_bytes());
    SourceConfig::Cbr(CbrConfig {
        rate,
        packet: PacketSize::Payload(payload),
        rate_counts: None,
        jitter: 0.0,
    })
}

impl SourceConfig {
    /// Returns the source of the packets from sender to receiver: a datagram source or an application on TCP.
    pub fn forth(&self) -> Cow<'_, SourceConfig> {
        match self {
            SourceConfig::Voice(voice) => Cow::Owned(voice.packets()),
            SourceConfig::Game(game) => Cow::Owned(game.commands()),
            others => Cow::Borrowed(others),
        }
    }
    /// Whether this source is judged by its individual packets.
    pub fn is_judged_by_packets(&self) -> bool {
        matches!(self, SourceConfig::Voice(_) | SourceConfig::Game(_))
    }
    /// Returns the source of the datagrams that the receiver sends in the other direction, if it sends any.
    pub fn back(&self) -> Option<SourceConfig> {
        match self {
            SourceConfig::Game(game) => Some(game.snapshots()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::Codec;

    /// A packet of G.711 has 160 bytes of speech and 12 bytes of RTP every 20 ms. G.729 has 20 bytes of
    /// speech, and G.723.1 has 24 bytes every 30 ms.
    #[test]
    fn voice_is_sent_at_the_rate_of_its_codec_with_headers() {
        for (codec, payload, rate) in
            [(Codec::G711, 172, 68_800), (Codec::G729, 32, 12_800), (Codec::G7231Vad, 36, 9_600)]
        {
            let source = SourceConfig::Voice(VoiceConfig { codec, ..VoiceConfig::default() });
            let SourceConfig::Cbr(cbr) = source.forth().into_owned() else { panic!("not regular") };
            assert_eq!(cbr.packet.counted(), payload, "{codec:?}");
            assert_eq!(cbr.rate.as_bits_per_second(), rate, "{codec:?}");
        }
    }
}
