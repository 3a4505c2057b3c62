"""Telephony over a class: what a call in it would be rated, by the delays and losses of its packets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from perhop import _core
from perhop.errors import InvalidInputError
from perhop.quantity import quantity
from perhop.verdicts.figures import Figure

#: Columns of a table as lists, text as text.
Lists = Mapping[str, Sequence[Any]]
#: What is needed of the tables of a run.
CLASS_COLUMNS = ("replication", "class", "delivered_packets", "dropped_packets", "delay_min_s")
HISTOGRAM_COLUMNS = ("replication", "class", "quantity", "up_to_s", "packets")
DEFAULT_CODEC = "g711"
#: The default `playout-delay nominal` of a dial peer of Cisco's gateways, which a fixed buffer has.
DEFAULT_BUFFER = "60ms"
# Beyond this a de-jitter buffer is none for conversation.
_LONGEST_BUFFER_S = 10.0


@dataclass(frozen=True)
class Codec:
    """A codec of which ITU-T G.113, Appendix I, has planning values."""

    #: By what scenarios and `--codec` call it.
    name: str
    #: What it is called in words.
    words: str
    #: Duration of the speech in a packet, in seconds.
    packet_s: float
    #: Delay of coding and packetization, in seconds (G.114, A.2).
    delay_s: float


#: By the name that `--codec` takes.
CODECS = {one[0]: Codec(*one) for one in _core.codecs()}


@dataclass(frozen=True)
class Telephony:
    """What is assumed of the telephones: codec, de-jitter buffer, and how losses come."""

    codec: Codec
    #: Playout is this much later than the packet with the least delay would allow, in seconds.
    jitter_buffer_s: float
    #: BurstR of G.107: 1 for losses at random.
    burst_ratio: float = 1.0
    #: The advantage factor A of G.107: 0 for telephones on a wire.
    advantage: float = 0.0

    @classmethod
    def of(
        cls,
        codec: str | None = None,
        jitter_buffer: str | None = None,
        burst_ratio: float = 1.0,
        advantage: float = 0.0,
    ) -> Telephony:
        """Return it by a codec's name and a time with its unit; raises `InvalidInputError`."""
        name = (codec or DEFAULT_CODEC).lower()
        if name not in CODECS:
            near = get_close_matches(name, CODECS, n=1)
            help = f"did you mean `{near[0]}`?" if near else f"codecs: {', '.join(CODECS)}"
            raise InvalidInputError(f"there is no codec `{codec}`", help)
        found = quantity(jitter_buffer or DEFAULT_BUFFER)
        if found is None or found[1] != "s" or not 0.0 <= found[0] <= _LONGEST_BUFFER_S:
            raise InvalidInputError(
                f"`{jitter_buffer}` is no de-jitter buffer",
                "give a time from 0 to 10 s with its unit, as in 60ms",
            )
        if not burst_ratio > 0.0:
            raise InvalidInputError(f"a burst ratio is above 0, not {burst_ratio:g}")
        return cls(CODECS[name], found[0], burst_ratio, advantage)

    def __str__(self) -> str:
        """Say what is assumed."""
        packet, buffer = (f"{1e3 * one:g} ms" for one in (self.codec.packet_s, self.jitter_buffer_s))
        return f"{self.codec.words}, {packet} of speech in a packet, de-jitter buffer {buffer}"


@dataclass(frozen=True)
class Call:
    """The rating of a call through a class; what cannot be told is `None`."""

    r: Figure | None
    mos: Figure | None
    #: One-way delay from mouth to ear, in seconds.
    mouth_to_ear: Figure | None
    #: Packets that arrive after their playout, per delivered packets.
    late: Figure | None
    #: Why there is no rating, or why it is to be taken with care; empty otherwise.
    remark: str = ""


def calls(classes: Lists, histogram: Lists, telephony: Telephony) -> dict[str, Call]:
    """Return the rating of a call through each class, by its name.

    Every packet is played at the least delay of its class and replication plus the de-jitter buffer; later
    ones are lost. Delays are known to the width of their bin, a thousandth. The model is ITU-T G.107.
    """
    bins = [
        (replication, name, edge, packets)
        for replication, name, quantity, edge, packets in zip(
            *(histogram[column] for column in HISTOGRAM_COLUMNS), strict=True
        )
        if quantity == "delay"
    ]
    rated = _core.rate_calls(
        list(zip(*(classes[column] for column in CLASS_COLUMNS), strict=True)),
        bins,
        telephony.codec.name,
        telephony.jitter_buffer_s,
        telephony.burst_ratio,
        telephony.advantage,
    )
    return {name: _call(samples, remark) for name, samples, remark in rated}


def _call(samples: Sequence[tuple[float | None, ...]], remark: str) -> Call:
    r, mos, delay, late = (list(column) for column in zip(*samples, strict=True))
    return Call(
        Figure.over(r, ""), Figure.over(mos, ""), Figure.over(delay, "s"), Figure.over(late, "%"), remark
    )
