//! The E-model of ITU-T G.107 (06/2015): the quality of a telephone call, from delay, loss and codec.
//!
//! R = Ro - Is - Id - Ie,eff + A. Parameters that a network does not change have the default values of Table
//! 2. The symbols and formulas are those of the Recommendation, in decibels, milliseconds and percent. The
//!    public functions of this module take seconds and percent.

use libm::{exp, hypot, log2, log10, pow};
use perhop_scenario::Planning;

// Default values of G.107, Table 2: loudness ratings, room and circuit noise (dB), and factors of the
// telephone.
const SLR: f64 = 8.0;
const RLR: f64 = 2.0;
const STMR: f64 = 15.0;
const DS: f64 = 3.0;
const DR: f64 = 3.0;
const PS: f64 = 35.0;
const PR: f64 = 35.0;
const NC: f64 = -70.0;
const NFOR: f64 = -64.0;
// The loss of the echo paths of talker and listener (dB), and the number of quantizing distortion units.
const TELR: f64 = 65.0;
const WEPL: f64 = 110.0;
const QDU: f64 = 1.0;
// The delay that users do not notice (ms), and the sensitivity of users to delay, for the default class of
// users.
const MT: f64 = 100.0;
const ST: f64 = 1.0;

/// The longest delay for which the model is valid (Table 2), seconds.
pub const LONGEST_DELAY_S: f64 = 0.5;
/// The greatest loss for which the model is valid (Table 2), percent.
pub const GREATEST_LOSS_PERCENT: f64 = 20.0;

/// For each category, the lower limit of R, the quality in words (G.109), and the satisfaction of users
/// (G.107 Annex B).
pub const CATEGORIES: [(f64, &str, &str); 6] = [
    (90.0, "best", "users very satisfied"),
    (80.0, "high", "users satisfied"),
    (70.0, "medium", "some users dissatisfied"),
    (60.0, "low", "many users dissatisfied"),
    (50.0, "poor", "nearly all users dissatisfied"),
    (0.0, "not recommended", "not recommended"),
];

/// The effects of a network on the packets of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Path {
    /// One-way delay from mouth to ear, Ta, seconds. The delay of the echo is the same: T = Ta, Tr = 2 Ta.
    pub delay_s: f64,
    /// The share of lost or late packets, Ppl, percent.
    pub loss_percent: f64,
    /// The mean length of runs of lost packets divided by the mean length for random losses: `BurstR`.
    pub burst_ratio: f64,
    /// The advantage factor A.
    pub advantage: f64,
}

impl Path {
    /// Creates a path with random losses and an advantage factor of 0.
    pub fn random(delay_s: f64, loss_percent: f64) -> Path {
        Path { delay_s, loss_percent, burst_ratio: 1.0, advantage: 0.0 }
    }
}

/// Returns the transmission rating factor R, at least 0; `None` if packets are lost and G.113 has no
/// robustness factor for `codec`.
pub fn rating(path: Path, codec: &Planning) -> Option<f64> {
    let impairment = match codec.bpl {
        Some(bpl) => equipment_impairment(path.loss_percent, codec.ie, bpl, path.burst_ratio),
        None if path.loss_percent > 0.0 => return None,
        None => codec.ie,
    };
    let rating = basic_ratio() - simultaneous() - delay_impairment(path.delay_s) - impairment;
    Some((rating + path.advantage).max(0.0))
}

/// Returns the mean opinion score of a conversation, MOS-CQE, from 1 to 4.5 (G.107, Annex B). Below R = 6.5,
/// the formula has results below 1; the function then returns 1, the lowest score of the scale.
pub fn opinion(r: f64) -> f64 {
    if r <= 0.0 {
        return 1.0;
    }
    if r >= 100.0 {
        return 4.5;
    }
    (1.0 + 0.035 * r + r * (r - 60.0) * (100.0 - r) * 7e-6).max(1.0)
}

/// Returns the category of speech transmission quality for R (G.109, Table 1), and the satisfaction of users
/// (G.107 Annex B).
pub fn category(r: f64) -> (&'static str, &'static str) {
    let found = CATEGORIES.iter().find(|(least, ..)| r >= *least).unwrap_or(&CATEGORIES[5]);
    (found.1, found.2)
}

/// Returns `Ie,eff`, the impairment by the codec and by packet loss (G.107, 7.5).
pub fn equipment_impairment(loss_percent: f64, ie: f64, bpl: f64, burst_ratio: f64) -> f64 {
    ie + (95.0 - ie) * loss_percent / (loss_percent / burst_ratio + bpl)
}

/// Returns `Id`, the impairment by delay and by late echo: `Idte` + `Idle` + `Idd` (G.107, 7.4).
pub fn delay_impairment(delay_s: f64) -> f64 {
    let ms = 1e3 * delay_s;
    talker_echo(ms) + listener_echo(2.0 * ms) + absolute_delay(ms)
}

/// Returns `Idte` for a one-way delay of `t` milliseconds, by the formula for 9 dB <= STMR <= 20 dB.
fn talker_echo(t: f64) -> f64 {
    let terv = TELR - 40.0 * log10((1.0 + t / 10.0) / (1.0 + t / 150.0)) + 6.0 * exp(-0.3 * t * t);
    let re = 80.0 + 2.5 * (terv - 14.0);
    let half = (-1.5 * (noise() - RLR) - re) / 2.0;
    (half + hypot(half, 10.0) - 1.0) * (1.0 - exp(-t))
}

/// Returns `Idle` for a round-trip delay of `tr` milliseconds.
fn listener_echo(tr: f64) -> f64 {
    let rle = 10.5 * (WEPL + 7.0) / pow(tr + 1.0, 0.25);
    let half = (basic_ratio() - rle) / 2.0;
    half + hypot(half, 13.0)
}

/// Returns `Idd` for an absolute delay of `ta` milliseconds.
fn absolute_delay(ta: f64) -> f64 {
    if ta <= MT {
        return 0.0;
    }
    let (x, n) = (log2(ta / MT), 6.0 * ST);
    25.0 * (rooted(x, n) - 3.0 * rooted(x / 3.0, n) + 2.0)
}

/// Computes (1 + x^n)^(1/n), a smooth transition between two lines of the model.
fn rooted(x: f64, n: f64) -> f64 {
    pow(1.0 + pow(x, n), 1.0 / n)
}

/// Returns `Ro`, the basic signal-to-noise ratio (G.107, 7.2).
pub fn basic_ratio() -> f64 {
    15.0 - 1.5 * (SLR + noise())
}

/// Returns `No`, the sum of all noise in dBm0p: from the circuit, the sender's room, the receiver's room and
/// the noise floor.
fn noise() -> f64 {
    let olr = SLR + RLR;
    let pre = PR + 10.0 * log10(1.0 + pow(10.0, (10.0 - (STMR + DR)) / 10.0));
    let square = |x: f64| x * x;
    let senders = PS - SLR - DS - 100.0 + 0.004 * square(PS - olr - DS - 14.0);
    let receivers = RLR - 121.0 + pre + 0.008 * square(pre - 35.0);
    let powers = [NC, senders, receivers, NFOR + RLR].map(|level| pow(10.0, level / 10.0));
    10.0 * log10(powers.iter().sum())
}

/// Returns `Is`, the impairment by loudness, sidetone and quantizing: `Iolr` + `Ist` + `Iq` (G.107, 7.3).
pub fn simultaneous() -> f64 {
    let louder = (SLR + RLR + 0.2 * (64.0 + noise() - RLR)) / 8.0;
    let iolr = 20.0 * (rooted(louder, 8.0) - louder);
    let stmr = -10.0 * log10(pow(10.0, -STMR / 10.0) + pow(10.0, -TELR / 10.0));
    let ist = 12.0 * rooted((stmr - 13.0) / 6.0, 8.0)
        - 28.0 * rooted((stmr + 1.0) / 19.4, 35.0)
        - 13.0 * rooted((stmr - 3.0) / 33.0, 13.0)
        + 29.0;
    let q = 37.0 - 15.0 * log10(QDU);
    let g = 1.07 + 0.258 * q + 0.0602 * q * q;
    let y = (basic_ratio() - 100.0) / 15.0 + 46.0 / 8.4 - g / 9.0;
    let z = 46.0 / 30.0 - g / 40.0;
    iolr + ist + 15.0 * log10(1.0 + pow(10.0, y) + pow(10.0, z))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For Ta = 200 ms, X is 1, so Idd is 25 (2^(1/6) - 3 (1 + 3^-6)^(1/6) + 2) = 3.044.
    #[test]
    fn absolute_delay_impairs_as_by_hand() {
        let by_hand = 25.0 * (2.0_f64.powf(1.0 / 6.0) - 3.0 * (1.0 + 3.0_f64.powi(-6)).powf(1.0 / 6.0) + 2.0);
        assert!((absolute_delay(200.0) - by_hand).abs() < 1e-9);
        assert!((absolute_delay(200.0) - 3.044).abs() < 0.001);
        assert_eq!(absolute_delay(100.0), 0.0);
    }
}
