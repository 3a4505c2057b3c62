//! Applications on UDP by which users judge a network: calls and games.

use perhop_qos::units::{ByteSize, PacketRate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::codec::Codec;
use crate::default::bytes;

/// The voice of one party of a call: RTP packets, which the receiver plays from a de-jitter buffer and rates
/// by the E-model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct VoiceConfig {
    /// The speech coder, which determines size and interval of the packets.
    #[serde(default)]
    pub codec: Codec,
    /// The playout rule of the receiver. Packets that arrive after their playout time are lost.
    #[serde(default)]
    pub jitter_buffer: JitterBuffer,
    /// Talk spurts and silence in turn; no packets are sent during silence. By default packets are sent all
    /// the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub talk_spurts: Option<TalkSpurts>,
}

/// The playout rule of a receiver of voice.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum JitterBuffer {
    /// Every packet is played this time after its earliest possible arrival.
    Fixed(Time),
    /// The buffer follows the variation of the delay (Ramjee et al. 1994, algorithm 1).
    Adaptive(AdaptiveBuffer),
}

impl Default for JitterBuffer {
    /// The adaptive buffer, which is the default `playout-delay mode` of a dial peer of Cisco's gateways.
    fn default() -> JitterBuffer {
        JitterBuffer::Adaptive(AdaptiveBuffer::default())
    }
}

/// A de-jitter buffer of four times the mean absolute deviation of the delay, above the mean delay.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct AdaptiveBuffer {
    /// The shortest wait above the mean delay; 40 ms is the `minimum default` of Cisco's gateways.
    #[serde(default = "least_buffer")]
    pub least: Time,
    /// The longest wait above the mean delay; 250 ms is the `maximum` of Cisco's gateways.
    #[serde(default = "most_buffer")]
    pub most: Time,
}

impl Default for AdaptiveBuffer {
    fn default() -> AdaptiveBuffer {
        AdaptiveBuffer { least: least_buffer(), most: most_buffer() }
    }
}

fn least_buffer() -> Time {
    Time::from_milliseconds(40)
}
fn most_buffer() -> Time {
    Time::from_milliseconds(250)
}

/// Speech and silence in turn, both exponentially distributed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TalkSpurts {
    /// Mean length of a talk spurt; by default the value of ITU-T P.59.
    #[serde(default = "talk_spurt")]
    pub talk: Time,
    /// Mean length of the silence between talk spurts; by default the value of ITU-T P.59.
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

/// A game between a player at `from` and a server at `to`. The player sends commands, the server sends a
/// snapshot of the world each tick.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct GameConfig {
    /// Snapshots of the server per second.
    #[serde(default = "tick_rate")]
    pub tick_rate: PacketRate,
    /// Commands of the player per second; by default the tick rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_rate: Option<PacketRate>,
    /// UDP payload of a command, bytes; by default the mean of Färber (2002).
    #[serde(default = "bytes::<80>")]
    pub command: ByteSize,
    /// UDP payload of a snapshot, bytes; by default the mean per player of Färber (2002).
    #[serde(default = "bytes::<120>")]
    pub snapshot: ByteSize,
}

/// The usual tick rate of servers of shooters.
fn tick_rate() -> PacketRate {
    PacketRate::from_packets_per_second(64)
}

impl GameConfig {
    /// Returns the time between two snapshots.
    pub fn tick(&self) -> Time {
        Time::from_seconds_f64(1.0 / self.tick_rate.as_packets_per_second() as f64)
    }
}
