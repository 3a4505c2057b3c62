"""Telephony over a class: the rating of a call from the delays and losses of the class's packets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from perhop import _core
from perhop.deprecation import former_name
from perhop.errors import InvalidInputError
from perhop.quantity import quantity
from perhop.verdicts.figures import Figure

#: The columns of a table as lists; names are text.
Lists = Mapping[str, Sequence[Any]]
#: The columns that the rating needs from each table.
CLASS_COLUMNS = (
    "replication",
    "class",
    "delivered_packets",
    "dropped_packets",
    "delay_min_s",
    "delay_mean_s",
)
CALL_COLUMNS = (
    "replication",
    "class",
    "codec",
    "r",
    "mos",
    "mouth_to_ear_s",
    "late_percent",
    "missing_percent",
)
HISTOGRAM_COLUMNS = ("replication", "class", "quantity", "up_to_s", "packets")
DEFAULT_CODEC = "g711"
#: The de-jitter buffer that follows the variation of the delay (Ramjee et al. 1994, algorithm 1).
ADAPTIVE = "adaptive"
# The longest de-jitter buffer with which a conversation is possible.
_LONGEST_BUFFER_S = 10.0


@dataclass(frozen=True)
class Codec:
    """A codec with planning values in ITU-T G.113, Appendix I."""

    #: The name of the codec in scenarios and for `--codec`.
    name: str
    #: The name of the codec in text.
    words: str
    #: Duration of the speech in a packet, in seconds.
    packet_s: float
    #: Delay of coding and packetization, in seconds (G.114, A.2).
    delay_s: float


#: The codecs by their names for `--codec`.
CODECS = {row[0]: Codec(*row) for row in _core.codecs()}


@dataclass(frozen=True)
class Telephony:
    """Assumptions about telephones: codec, de-jitter buffer and burstiness of losses."""

    codec: Codec
    #: The length of a fixed de-jitter buffer, in seconds; `None` for an adaptive buffer.
    fixed_buffer_s: float | None = None
    #: BurstR of G.107: 1 for losses at random.
    burst_ratio: float = 1.0
    #: The advantage factor A of G.107: 0 for telephones on a wire.
    advantage: float = 0.0
    #: Whether the caller chose any of these settings. Otherwise, classes with calls are rated by the settings
    #: of their calls.
    is_chosen: bool = False

    @classmethod
    def from_options(
        cls,
        codec: str | None = None,
        jitter_buffer: str | None = None,
        burst_ratio: float | None = None,
        advantage: float | None = None,
    ) -> Telephony:
        """Parse the name of a codec, and `adaptive` or a time with its unit; raises `InvalidInputError`."""
        name = (codec or DEFAULT_CODEC).lower()
        if name not in CODECS:
            near = get_close_matches(name, CODECS, n=1)
            help = f"did you mean `{near[0]}`?" if near else f"codecs: {', '.join(CODECS)}"
            raise InvalidInputError(f"there is no codec `{codec}`", help)
        fixed = None if jitter_buffer in (None, ADAPTIVE) else _fixed_buffer(str(jitter_buffer))
        if burst_ratio is not None and not burst_ratio > 0.0:
            raise InvalidInputError(f"the burst ratio must be above 0, not {burst_ratio:g}")
        given = (codec, jitter_buffer, burst_ratio, advantage)
        return cls(
            CODECS[name],
            fixed,
            1.0 if burst_ratio is None else burst_ratio,
            advantage or 0.0,
            is_chosen=any(option is not None for option in given),
        )

    of = classmethod(former_name("Telephony.of", from_options.__func__))  # type: ignore[attr-defined]

    def __str__(self) -> str:
        """Return the codec and the de-jitter buffer as text."""
        packet = f"{1e3 * self.codec.packet_s:g} ms of speech in a packet"
        fixed = self.fixed_buffer_s
        buffer = "adaptive de-jitter buffer" if fixed is None else f"de-jitter buffer {1e3 * fixed:g} ms"
        return f"{self.codec.words}, {packet}, {buffer}"


def _fixed_buffer(text: str) -> float:
    """Return the length of a fixed de-jitter buffer, in seconds; raises `InvalidInputError`."""
    found = quantity(text)
    if found is None or found[1] != "s" or not 0.0 <= found[0] <= _LONGEST_BUFFER_S:
        raise InvalidInputError(
            f"`{text}` is not a de-jitter buffer",
            "give `adaptive`, or a time from 0 to 10 s with its unit, for example 60ms",
        )
    return found[0]


@dataclass(frozen=True)
class Call:
    """The rating of a call through a class; unknown values are `None`."""

    r: Figure | None
    mos: Figure | None
    #: One-way delay from mouth to ear, in seconds.
    mouth_to_ear: Figure | None
    #: Packets that arrive after their playout, per delivered packet.
    late: Figure | None
    #: The reason why there is no rating or why it is uncertain, or empty.
    remark: str = ""


@dataclass(frozen=True)
class Heard:
    """Columns of three tables of a run, for the rating of calls."""

    classes: Lists
    histogram: Lists
    #: The calls of the scenario.
    own: Lists


def calls(heard: Heard, telephony: Telephony) -> dict[str, Call]:
    """Return the rating of a call through each class, by the name of the class.

    A class with calls of its own has the rating of these calls, unless the user chose telephones. Delays are
    exact to the width of their bin, a thousandth. The model is ITU-T G.107.
    """
    bins = [
        (replication, name, edge, packets)
        for replication, name, quantity, edge, packets in zip(
            *(heard.histogram[column] for column in HISTOGRAM_COLUMNS), strict=True
        )
        if quantity == "delay"
    ]
    rated = _core.rate_calls(
        list(zip(*(heard.classes[column] for column in CLASS_COLUMNS), strict=True)),
        bins,
        []
        if telephony.is_chosen
        else list(zip(*(heard.own[column] for column in CALL_COLUMNS), strict=True)),
        telephony.codec.name,
        telephony.fixed_buffer_s,
        telephony.burst_ratio,
        telephony.advantage,
    )
    return {name: _call(samples, remark) for name, samples, remark in rated}


def _call(samples: Sequence[tuple[float | None, ...]], remark: str) -> Call:
    r, mos, delay, late = (list(column) for column in zip(*samples, strict=True))
    return Call(
        Figure.over(r, ""), Figure.over(mos, ""), Figure.over(delay, "s"), Figure.over(late, "%"), remark
    )
