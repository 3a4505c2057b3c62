//! [`Codec`]: speech coders, their packets and their effect on the quality of a call.

use perhop_qos::units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A speech coder in RTP packets (RFC 3551).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Codec {
    /// G.711, 64 kb/s, packets of 20 ms, with concealment of lost packets.
    #[default]
    #[serde(rename = "g711")]
    G711,
    /// G.711 without concealment of lost packets.
    #[serde(rename = "g711-no-plc")]
    G711NoPlc,
    /// G.729A with voice activity detection, 8 kb/s, packets of 20 ms.
    #[serde(rename = "g729a-vad")]
    G729aVad,
    /// G.723.1 with voice activity detection, 6.3 kb/s, packets of 30 ms.
    #[serde(rename = "g723.1-vad")]
    G7231Vad,
    /// GSM enhanced full rate, 12.2 kb/s, packets of 20 ms.
    #[serde(rename = "gsm-efr")]
    GsmEfr,
    /// G.726, 32 kb/s, packets of 20 ms.
    #[serde(rename = "g726-32")]
    G72632,
    /// G.728, 16 kb/s, packets of 20 ms.
    #[serde(rename = "g728")]
    G728,
    /// G.729, 8 kb/s, packets of 20 ms.
    #[serde(rename = "g729")]
    G729,
}

/// Planning values of a codec (ITU-T G.113, Appendix I) and its packet format.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Planning {
    /// The name in scenarios, and the value of `--codec`.
    pub name: &'static str,
    /// The name in reports.
    pub words: &'static str,
    /// Equipment impairment factor without loss (Table I.1).
    pub ie: f64,
    /// Packet-loss robustness factor (Table I.4); `None` if it is not published.
    pub bpl: Option<f64>,
    /// Frame duration, microseconds (G.114, Appendix I).
    pub frame_us: u64,
    /// Look-ahead, microseconds (G.114, Appendix I).
    pub look_ahead_us: u64,
    /// Frames in a packet.
    pub frames: u64,
    /// Bytes of speech in a packet (RFC 3551, table 1 and section 4.5).
    pub payload: u64,
}

/// The planning values, in the order of [`Codec`].
const PLANNING: [Planning; 8] = [
    planning("g711", "G.711 with loss concealment", (0.0, Some(25.1)), (125, 0, 160), 160),
    planning("g711-no-plc", "G.711 without loss concealment", (0.0, Some(4.3)), (125, 0, 160), 160),
    planning("g729a-vad", "G.729A with VAD", (11.0, Some(19.0)), (10_000, 5_000, 2), 20),
    planning("g723.1-vad", "G.723.1 with VAD, 6.3 kb/s", (15.0, Some(16.1)), (30_000, 7_500, 1), 24),
    planning("gsm-efr", "GSM EFR", (5.0, Some(10.0)), (20_000, 0, 1), 31),
    planning("g726-32", "G.726, 32 kb/s", (7.0, None), (125, 0, 160), 80),
    planning("g728", "G.728, 16 kb/s", (7.0, None), (625, 0, 32), 40),
    planning("g729", "G.729", (10.0, None), (10_000, 5_000, 2), 20),
];

const fn planning(
    name: &'static str,
    words: &'static str,
    (ie, bpl): (f64, Option<f64>),
    (frame_us, look_ahead_us, frames): (u64, u64, u64),
    payload: u64,
) -> Planning {
    Planning { name, words, ie, bpl, frame_us, look_ahead_us, frames, payload }
}

impl Codec {
    /// All codecs.
    pub const ALL: [Codec; 8] = [
        Codec::G711,
        Codec::G711NoPlc,
        Codec::G729aVad,
        Codec::G7231Vad,
        Codec::GsmEfr,
        Codec::G72632,
        Codec::G728,
        Codec::G729,
    ];

    /// Returns the codec with the name `name`.
    pub fn named(name: &str) -> Option<Codec> {
        Codec::ALL.into_iter().find(|codec| codec.planning().name == name)
    }
    /// Returns the planning values of this codec.
    pub fn planning(self) -> &'static Planning {
        &PLANNING[self as usize]
    }
}

impl Planning {
    /// Returns the duration of the speech in one packet.
    pub fn packet(&self) -> Time {
        Time::from_microseconds(self.frames * self.frame_us)
    }
    /// Returns the delay of coding and packetization: (N + 1) frames and the look-ahead (G.114, A.2).
    pub fn delay(&self) -> Time {
        Time::from_microseconds((self.frames + 1) * self.frame_us + self.look_ahead_us)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_codec_is_found_by_the_name_that_scenarios_have() {
        for codec in Codec::ALL {
            let name = serde_json::to_value(codec).unwrap();
            assert_eq!(name, codec.planning().name);
            assert_eq!(Codec::named(name.as_str().unwrap()), Some(codec));
        }
        assert_eq!(Codec::named("mp3"), None);
    }

    /// The expected delays by G.114 A.2 are 161 samples of 125 us, 3 frames of 10 ms plus 5 ms, and 2 frames
    /// of 30 ms plus 7.5 ms.
    #[test]
    fn coding_and_packets_take_the_time_of_g114() {
        for (codec, us) in [
            (Codec::G711, 20_125),
            (Codec::G729aVad, 35_000),
            (Codec::G7231Vad, 67_500),
            (Codec::GsmEfr, 40_000),
        ] {
            assert_eq!(codec.planning().delay(), Time::from_microseconds(us), "{codec:?}");
        }
    }

    /// RFC 3551: the payload of a packet is the coder's rate times the packet's duration. A GSM EFR frame has
    /// 244 bits and a 4-bit signature; a G.723.1 frame has 189 bits in 24 bytes.
    #[test]
    fn packets_carry_what_the_rate_makes_of_their_time() {
        let rates = [64e3, 64e3, 8e3, 6.4e3, 12.4e3, 32e3, 16e3, 8e3];
        for (codec, rate) in Codec::ALL.into_iter().zip(rates) {
            let planning = codec.planning();
            let bits = 8.0 * planning.payload as f64;
            assert!((bits / planning.packet().as_seconds() - rate).abs() < 1e-6, "{codec:?}");
        }
    }
}
