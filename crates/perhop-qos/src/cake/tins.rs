//! The tins of CAKE, their codepoints, and their shares of the bandwidth.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Dscp;

/// The mapping of codepoints to tins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CakeTins {
    /// One tin for all packets.
    #[serde(rename = "besteffort")]
    BestEffort,
    /// Eight tins by IP precedence. Each has seven eighths of the bandwidth of the next lower tin.
    Precedence,
    /// `bulk` (LE, CS1) up to a sixteenth, `voice` (CS6, CS7, EF, VA, TOS 4) up to a quarter, and
    /// `best-effort` (all others).
    #[default]
    Diffserv3,
    /// `bulk` (LE, CS1) up to a sixteenth, `video` (`AF2x`, `AF3x`, `AF4x`, CS2, CS3, TOS 4) up to a half,
    /// `voice` (CS4 to CS7, EF, VA) up to a quarter, and `best-effort` (all others).
    Diffserv4,
    /// Eight tins by kind of application. Each has seven eighths of the bandwidth of the next lower tin.
    Diffserv8,
}

/// The name of a tin in results, and the shift n of its share 2^-n of the bandwidth and of the bytes per
/// round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TinShare {
    pub(super) name: &'static str,
    pub(super) shift: u32,
}

const BULK: TinShare = TinShare { name: "bulk", shift: 4 };
const BEST_EFFORT: TinShare = TinShare { name: "best-effort", shift: 0 };
const VIDEO: TinShare = TinShare { name: "video", shift: 1 };
const VOICE: TinShare = TinShare { name: "voice", shift: 2 };

const EIGHT: [&str; 8] = ["tin-0", "tin-1", "tin-2", "tin-3", "tin-4", "tin-5", "tin-6", "tin-7"];

impl CakeTins {
    /// The names of the tins in results. Tins are listed from the least to the most urgent one. `bulk` is the
    /// exception: it is urgent only up to its share.
    pub fn names(self) -> Vec<&'static str> {
        match self.halves() {
            Some(shares) => shares.iter().map(|share| share.name).collect(),
            None => EIGHT.to_vec(),
        }
    }

    /// The share of the bandwidth of each tin. Up to its share, a tin is served before the tins that precede
    /// it in the list. The first tin has the remaining bandwidth.
    pub fn parts(self) -> Vec<f64> {
        match self.halves() {
            Some(shares) => shares.iter().map(|share| 0.5f64.powi(share.shift.cast_signed())).collect(),
            None => (0..8).map(|place| 0.875f64.powi(place)).collect(),
        }
    }

    /// Returns the tins whose shares are powers of one half, or `None` if each tin has seven eighths of the
    /// next lower one.
    fn halves(self) -> Option<&'static [TinShare]> {
        match self {
            CakeTins::BestEffort => Some(&[BEST_EFFORT]),
            CakeTins::Diffserv3 => Some(&[BEST_EFFORT, BULK, VOICE]),
            CakeTins::Diffserv4 => Some(&[BEST_EFFORT, BULK, VIDEO, VOICE]),
            CakeTins::Precedence | CakeTins::Diffserv8 => None,
        }
    }

    /// Returns the bytes per second and the weight of each tin, for a total of `bytes_per_second`. A rate of
    /// 0 means unlimited.
    ///
    /// Linux, `cake_config_besteffort` to `cake_config_diffserv8`.
    pub(super) fn shares(self, bytes_per_second: u64) -> Vec<(u64, i64)> {
        if let Some(shares) = self.halves() {
            let whole = if self == CakeTins::BestEffort { 65_535 } else { 1024 };
            return shares
                .iter()
                .map(|share| (bytes_per_second >> share.shift, whole >> share.shift))
                .collect();
        }
        let next = |&(rate, weight): &(u64, i64)| Some(((rate * 7) >> 3, (weight * 7) >> 3));
        std::iter::successors(Some((bytes_per_second, 256)), next).take(8).collect()
    }

    /// The codepoints of tin number `tin`.
    pub fn codepoints(self, tin: usize) -> impl Iterator<Item = Dscp> {
        (0..64).filter_map(Dscp::new).filter(move |dscp| self.tin_of(*dscp) == tin)
    }

    /// The number of the tin to which packets with the codepoint `dscp` belong.
    pub fn tin_of(self, dscp: Dscp) -> usize {
        let value = dscp.value();
        match self {
            CakeTins::BestEffort => 0,
            CakeTins::Precedence => usize::from(value >> 3),
            CakeTins::Diffserv3 => diffserv3(value),
            CakeTins::Diffserv4 => diffserv4(value),
            CakeTins::Diffserv8 => diffserv8(value),
        }
    }
}

/// The tin of a codepoint (`diffserv3` of Linux).
fn diffserv3(dscp: u8) -> usize {
    match dscp {
        1 | 8 => 1,
        4 | 44 | 46 | 48 | 56 => 2,
        _ => 0,
    }
}

/// The tin of a codepoint (`diffserv4` of Linux).
fn diffserv4(dscp: u8) -> usize {
    match dscp {
        1 | 8 => 1,
        4 | 16 | 18 | 20 | 22 | 24 | 26 | 28 | 30 | 34 | 36 | 38 => 2,
        32 | 40 | 44 | 46 | 48 | 56 => 3,
        _ => 0,
    }
}

/// The tin of a codepoint (`diffserv8` of Linux).
fn diffserv8(dscp: u8) -> usize {
    match dscp {
        1 => 0,
        2 | 8 | 10 | 12 | 14 => 1,
        24 | 26 | 28 | 30 | 34 | 36 | 38 => 3,
        4 | 18 | 20 | 22 => 4,
        16 => 5,
        32 | 40 | 44 | 46 => 6,
        48 | 56 => 7,
        _ => 2,
    }
}
