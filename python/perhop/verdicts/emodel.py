"""The E-model of ITU-T G.107 (06/2015): the quality of a telephone call by delay, loss and codec.

    R = Ro - Is - Id - Ie,eff + A

Parameters that a network does not change have the default values of its Table 2. Symbols are those of the
Recommendation; decibels, milliseconds and percent inside, seconds and percent outside.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import exp, hypot, log2, log10

# Defaults of G.107, Table 2: loudness ratings, room and circuit noise (dB), factors of the telephone.
_SLR, _RLR, _STMR, _DS, _DR = 8.0, 2.0, 15.0, 3.0, 3.0
_PS = _PR = 35.0
_NC, _NFOR = -70.0, -64.0
# Loss of the echo paths of talker and listener (dB), quantizing distortion units.
_TELR, _WEPL, _QDU = 65.0, 110.0, 1.0
# Delay below which nobody notices (ms), and the sensitivity to it: the default class.
_MT, _ST = 100.0, 1.0
#: The delay (s) and the loss (%) up to which Table 2 permits the model.
LONGEST_DELAY_S, GREATEST_LOSS_PERCENT = 0.5, 20.0

#: Lower ends of R, the words of G.109 for the quality, and those of G.107 Annex B for the users.
CATEGORIES = (
    (90.0, "best", "users very satisfied"),
    (80.0, "high", "users satisfied"),
    (70.0, "medium", "some users dissatisfied"),
    (60.0, "low", "many users dissatisfied"),
    (50.0, "poor", "nearly all users dissatisfied"),
    (0.0, "not recommended", "not recommended"),
)


@dataclass(frozen=True)
class Codec:
    """A codec with the planning values of ITU-T G.113, Appendix I, and its packets."""

    #: What it is called in words.
    words: str
    #: Equipment impairment factor without loss (Table I.1).
    ie: float
    #: Packet-loss robustness factor (Table I.4); `None` where none is published.
    bpl: float | None
    #: Frame and look-ahead of the coder, in milliseconds (G.114, Appendix I).
    frame_ms: float
    look_ahead_ms: float
    #: Frames in a packet.
    frames: int

    @property
    def packet_s(self) -> float:
        """Duration of the speech in a packet, in seconds."""
        return self.frames * self.frame_ms / 1e3

    @property
    def delay_s(self) -> float:
        """Delay of coding and packetization in seconds: (N + 1) frames and the look-ahead (G.114, A.2)."""
        return ((self.frames + 1) * self.frame_ms + self.look_ahead_ms) / 1e3


#: By the name that `--codec` takes.
CODECS = {
    "g711": Codec("G.711 with loss concealment", 0.0, 25.1, 0.125, 0.0, 160),
    "g711-no-plc": Codec("G.711 without loss concealment", 0.0, 4.3, 0.125, 0.0, 160),
    "g729a-vad": Codec("G.729A with VAD", 11.0, 19.0, 10.0, 5.0, 2),
    "g723.1-vad": Codec("G.723.1 with VAD, 6.3 kb/s", 15.0, 16.1, 30.0, 7.5, 1),
    "gsm-efr": Codec("GSM EFR", 5.0, 10.0, 20.0, 0.0, 1),
    "g726-32": Codec("G.726, 32 kb/s", 7.0, None, 0.125, 0.0, 160),
    "g728": Codec("G.728, 16 kb/s", 7.0, None, 0.625, 0.0, 32),
    "g729": Codec("G.729", 10.0, None, 10.0, 5.0, 2),
}


def rating(
    delay_s: float, loss_percent: float, codec: Codec, burst_ratio: float = 1.0, advantage: float = 0.0
) -> float | None:
    """Return the transmission rating factor R, which is not below 0.

    Args:
        delay_s: one-way delay from mouth to ear, Ta, in seconds; the echo's is as long: T = Ta, Tr = 2 Ta.
        loss_percent: packets lost or late, Ppl, in percent.
        codec: its Ie and Bpl.
        burst_ratio: mean length of runs of lost packets by that of random loss, BurstR.
        advantage: the advantage factor A.

    Returns:
        R, or `None` where packets are lost and G.113 has no robustness factor for the codec.

    """
    if loss_percent > 0 and codec.bpl is None:
        return None
    impairment = equipment_impairment(loss_percent, codec.ie, codec.bpl or 1.0, burst_ratio)
    return max(0.0, basic_ratio() - simultaneous() - delay_impairment(delay_s) - impairment + advantage)


def opinion(r: float) -> float:
    """Return the mean opinion score of a conversation, MOS-CQE, from 1 to 4.5 (G.107, Annex B).

    Below R = 6.5 the formula would give less than 1, which the scale does not have.
    """
    if r <= 0.0:
        return 1.0
    if r >= 100.0:
        return 4.5
    return max(1.0, 1.0 + 0.035 * r + r * (r - 60.0) * (100.0 - r) * 7e-6)


def category(r: float) -> str:
    """Return the category of speech transmission quality by G.109, Table 1."""
    return next(words for least, words, _ in CATEGORIES if r >= least)


def equipment_impairment(loss_percent: float, ie: float, bpl: float, burst_ratio: float = 1.0) -> float:
    """Return Ie,eff, the impairment by codec and loss (G.107, 7.5)."""
    return ie + (95.0 - ie) * loss_percent / (loss_percent / burst_ratio + bpl)


def delay_impairment(delay_s: float) -> float:
    """Return Id, the impairment by delay and by echo that comes late: Idte + Idle + Idd (G.107, 7.4)."""
    ms = 1e3 * delay_s
    return _talker_echo(ms) + _listener_echo(2.0 * ms) + _absolute_delay(ms)


def _talker_echo(t: float) -> float:
    """Return Idte, for 9 dB <= STMR <= 20 dB, of a one-way delay of `t` milliseconds."""
    terv = _TELR - 40.0 * log10((1.0 + t / 10.0) / (1.0 + t / 150.0)) + 6.0 * exp(-0.3 * t * t)
    re = 80.0 + 2.5 * (terv - 14.0)
    half = (-1.5 * (_noise() - _RLR) - re) / 2.0
    return (half + hypot(half, 10.0) - 1.0) * (1.0 - exp(-t))


def _listener_echo(tr: float) -> float:
    """Return Idle of a round-trip delay of `tr` milliseconds."""
    rle = 10.5 * (_WEPL + 7.0) / float((tr + 1.0) ** 0.25)
    half = (basic_ratio() - rle) / 2.0
    return half + hypot(half, 13.0)


def _absolute_delay(ta: float) -> float:
    """Return Idd of an absolute delay of `ta` milliseconds."""
    if ta <= _MT:
        return 0.0
    x, n = log2(ta / _MT), 6.0 * _ST
    return 25.0 * (_rooted(x, n) - 3.0 * _rooted(x / 3.0, n) + 2.0)


def _rooted(x: float, n: float) -> float:
    """Return the n-th root of 1 + x^n, with which the model bends from one line into another."""
    return float((1.0 + x**n) ** (1.0 / n))


@cache
def basic_ratio() -> float:
    """Return Ro, the basic signal-to-noise ratio (G.107, 7.2)."""
    return 15.0 - 1.5 * (_SLR + _noise())


@cache
def _noise() -> float:
    """Return No, the sum of all noise in dBm0p: circuit, sender's room, receiver's room, floor."""
    olr = _SLR + _RLR
    pre = _PR + 10.0 * log10(1.0 + 10.0 ** ((10.0 - (_STMR + _DR)) / 10.0))
    senders = _PS - _SLR - _DS - 100.0 + 0.004 * (_PS - olr - _DS - 14.0) ** 2
    receivers = _RLR - 121.0 + pre + 0.008 * (pre - 35.0) ** 2
    return 10.0 * log10(sum(10.0 ** (n / 10.0) for n in (_NC, senders, receivers, _NFOR + _RLR)))


@cache
def simultaneous() -> float:
    """Return Is: too loud, sidetone and quantizing, Iolr + Ist + Iq (G.107, 7.3)."""
    louder = (_SLR + _RLR + 0.2 * (64.0 + _noise() - _RLR)) / 8.0
    iolr = 20.0 * (_rooted(louder, 8) - louder)
    stmr = -10.0 * log10(10.0 ** (-_STMR / 10.0) + 10.0 ** (-_TELR / 10.0))
    ist = (
        12.0 * _rooted((stmr - 13.0) / 6.0, 8)
        - 28.0 * _rooted((stmr + 1.0) / 19.4, 35)
        - 13.0 * _rooted((stmr - 3.0) / 33.0, 13)
        + 29.0
    )
    q = 37.0 - 15.0 * log10(_QDU)
    g = 1.07 + 0.258 * q + 0.0602 * q * q
    y = (basic_ratio() - 100.0) / 15.0 + 46.0 / 8.4 - g / 9.0
    z = 46.0 / 30.0 - g / 40.0
    return iolr + ist + 15.0 * log10(1.0 + 10.0**y + 10.0**z)
