//! Applications on UDP by which people judge a network: calls and games.

use std::borrow::Cow;

use perhop_qos::units::{ByteSize, PacketRate, Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::codec::Codec;
use crate::default::bytes;
use crate::traffic::{CbrConfig, CutGap, OnOffConfig, PacketSize, PeriodLaw, SourceConfig};

/// RTP header without contributing sources, bytes (RFC 3550 §5.1).
const RTP_HEADER: u64 = 12;

/// The voice of one party of a call: RTP packets, played by the receiver behind a de-jitter buffer, rated by
/// the E-model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct VoiceConfig {
    /// The coder of speech, which gives size and interval of the packets.
    #[serde(default)]
    pub codec: Codec,
    /// When the receiver plays a packet; later ones are lost.
    #[serde(default)]
    pub jitter_buffer: JitterBuffer,
    /// Speech in talk spurts with silence between them, in which nothing is sent; by default packets are sent
    /// all the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub talk_spurts: Option<TalkSpurts>,
}

/// When a receiver of voice plays packets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum JitterBuffer {
    /// The first packet waits for this long, and every other as long after it was sent as the first.
    Fixed(Time),
    /// The delay follows an estimate from one talk spurt to the next (Ramjee et al. 1994, algorithm 1).
    Adaptive(AdaptiveBuffer),
}

impl Default for JitterBuffer {
    /// The default `playout-delay nominal` of a dial peer of Cisco's gateways.
    fn default() -> JitterBuffer {
        JitterBuffer::Fixed(Time::from_milliseconds(60))
    }
}

/// A de-jitter buffer whose delay adapts at the start of each talk spurt.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct AdaptiveBuffer {
    /// How long the first packet waits.
    #[serde(default = "nominal_buffer")]
    pub nominal: Time,
    /// The longest wait above the estimated delay.
    #[serde(default = "most_buffer")]
    pub most: Time,
    /// Weight of the earlier estimate when a packet arrives, at least 0 and below 1.
    #[serde(default = "gain")]
    pub gain: f64,
}

fn nominal_buffer() -> Time {
    Time::from_milliseconds(60)
}
fn most_buffer() -> Time {
    Time::from_milliseconds(250)
}
/// That of Ramjee et al. (1994, §2).
fn gain() -> f64 {
    0.998_002
}

/// Speech and silence in turn, both exponentially distributed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TalkSpurts {
    /// Mean length of a talk spurt; by default that of ITU-T P.59.
    #[serde(default = "talk_spurt")]
    pub talk: Time,
    /// Mean length of the silence after it; by default that of ITU-T P.59.
    #[serde(default = "silence")]
    pub silence: Time,
}

/// ITU-T P.59 (1993), table 1: 1.004 s.
fn talk_spurt() -> Time {
    Time::from_milliseconds(1004)
}
/// ITU-T P.59 (1993), table 1: 1.587 s.
fn silence() -> Time {
    Time::from_milliseconds(1587)
}

impl VoiceConfig {
    /// The source of its packets.
    fn packets(&self) -> SourceConfig {
        let planning = self.codec.planning();
        let counted = planning.payload + RTP_HEADER;
        let packet = PacketSize::Payload(ByteSize::from_bytes(counted));
        // Packets take whole milliseconds: bits per second are whole.
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

/// A game between a player at `from` and a server at `to`: the player sends commands, the server a snapshot
/// of the world each tick.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct GameConfig {
    /// Snapshots of the server per second.
    #[serde(default = "tick_rate")]
    pub tick_rate: PacketRate,
    /// Commands of the player per second; by default as many as ticks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_rate: Option<PacketRate>,
    /// UDP payload of a command, bytes; by default the mean of Färber (2002).
    #[serde(default = "bytes::<80>")]
    pub command: ByteSize,
    /// UDP payload of a snapshot, bytes; by default the mean of Färber (2002) for each player.
    #[serde(default = "bytes::<120>")]
    pub snapshot: ByteSize,
}

/// What servers of shooters run at.
fn tick_rate() -> PacketRate {
    PacketRate::from_packets_per_second(64)
}

impl GameConfig {
    /// The time between two snapshots.
    pub fn tick(&self) -> Time {
        Time::from_seconds_f64(1.0 / self.tick_rate.as_packets_per_second() as f64)
    }
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
    /// What it sends from sender to receiver, as a source of datagrams or an application on TCP.
    pub fn forth(&self) -> Cow<'_, SourceConfig> {
        match self {
            SourceConfig::Voice(voice) => Cow::Owned(voice.packets()),
            SourceConfig::Game(game) => Cow::Owned(game.commands()),
            others => Cow::Borrowed(others),
        }
    }
    /// Whether it is judged by its packets one by one.
    pub fn is_judged_by_packets(&self) -> bool {
        matches!(self, SourceConfig::Voice(_) | SourceConfig::Game(_))
    }
    /// The datagrams that the receiver sends back by itself.
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

    /// 160 bytes of G.711 and 12 of RTP each 20 ms; 20 bytes of G.729; 24 each 30 ms of G.723.1.
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
