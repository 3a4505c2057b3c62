"""The E-model against published figures: G.107 itself, G.113's tables, and the fit of Cole and Rosenbluth."""

from __future__ import annotations

from itertools import pairwise

import pytest

from perhop.verdicts import emodel
from perhop.verdicts.emodel import CODECS, category, equipment_impairment, opinion, rating

G711 = CODECS["g711"]


def test_all_defaults_give_the_rating_that_the_recommendation_states() -> None:
    # G.107 (06/2015), 7.7: R = 93.2; its parts are 94.77 - 1.41 - 0.15.
    found = rating(0.0, 0.0, G711)
    assert found is not None
    assert round(found, 1) == 93.2
    parts = (emodel.basic_ratio(), emodel.simultaneous(), emodel.delay_impairment(0.0))
    assert [round(one, 2) for one in parts] == [94.77, 1.41, 0.15]


@pytest.mark.parametrize(("r", "mos"), [(90, 4.34), (80, 4.03), (70, 3.60), (60, 3.10), (50, 2.58)])
def test_opinions_are_those_of_table_b1(r: float, mos: float) -> None:
    # The table has 4.03 at R = 80, where the formula beside it gives 4.024.
    assert opinion(r) == pytest.approx(mos, abs=0.01)


def test_opinions_stay_on_the_scale_and_never_fall() -> None:
    found = [opinion(tenth / 10) for tenth in range(-100, 1200)]
    assert (found[0], found[-1]) == (1.0, 4.5)
    assert all(before <= after for before, after in pairwise(found))


# G.113 Appendix I (09/1999 and 10/2001), tables of Ie at random loss, from which the Bpl were fitted.
@pytest.mark.parametrize(
    ("codec", "loss", "published", "within"),
    [
        ("g711", 2, 7, 0.5),
        ("g711", 10, 25, 2.5),
        ("g729a-vad", 2, 19, 0.5),
        ("g729a-vad", 8, 36, 0.5),
        ("g729a-vad", 16, 49, 0.5),
        ("g723.1-vad", 2, 24, 0.5),
        ("gsm-efr", 5, 33, 2.5),
    ],
)
def test_losses_impair_as_the_tables_of_g113_say(
    codec: str, loss: float, published: float, within: float
) -> None:
    one = CODECS[codec]
    assert one.bpl is not None
    assert equipment_impairment(loss, one.ie, one.bpl) == pytest.approx(published, abs=within)


def test_losses_impair_as_by_hand() -> None:
    # G.729A + VAD, 5 %: 11 + 84 * 5 / (5 + 19) = 28.5; in bursts of twice the length: 11 + 420 / 21.5.
    assert equipment_impairment(5.0, 11.0, 19.0) == pytest.approx(28.5)
    assert equipment_impairment(5.0, 11.0, 19.0, burst_ratio=2.0) == pytest.approx(11 + 420 / 21.5)


@pytest.mark.parametrize("delay_ms", [0, 25, 50, 75, 100, 125, 150, 177, 200, 250, 300])
def test_delay_impairs_as_the_published_fit_says(delay_ms: float) -> None:
    """Cole and Rosenbluth (2001) fitted two lines to G.107's curve for default echo, which has no corner."""
    fit = 0.024 * delay_ms + 0.11 * max(0.0, delay_ms - 177.3)
    within = 1.1 if 160 < delay_ms < 190 else 0.3
    assert rating(delay_ms / 1e3, 0.0, G711) == pytest.approx(93.2 - fit, abs=within)


def test_absolute_delay_impairs_as_by_hand() -> None:
    # Ta = 200 ms: X = 1, so 25 (2^(1/6) - 3 (1 + 3^-6)^(1/6) + 2) = 3.044.
    assert emodel._absolute_delay(200.0) == pytest.approx(
        25 * (2 ** (1 / 6) - 3 * (1 + 3**-6) ** (1 / 6) + 2)
    )
    assert emodel._absolute_delay(200.0) == pytest.approx(3.044, abs=0.001)
    assert emodel._absolute_delay(100.0) == 0.0


def test_a_rating_falls_with_delay_and_loss_and_not_below_nothing() -> None:
    by_delay = [rating(ms / 1e3, 0.0, G711) or 0.0 for ms in range(0, 2000, 10)]
    by_loss = [rating(0.1, tenth / 10, G711) or 0.0 for tenth in range(1001)]
    for values in (by_delay, by_loss):
        assert all(before >= after >= 0.0 for before, after in pairwise(values))
    assert rating(5.0, 100.0, CODECS["g711-no-plc"]) == 0.0


def test_without_a_published_robustness_only_calls_without_losses_are_rated() -> None:
    g729 = CODECS["g729"]
    assert rating(0.0, 0.1, g729) is None
    assert rating(0.0, 0.0, g729) == pytest.approx((rating(0.0, 0.0, G711) or 0.0) - 10.0)


@pytest.mark.parametrize(
    ("codec", "ms"), [("g711", 20.125), ("g729a-vad", 35.0), ("g723.1-vad", 67.5), ("gsm-efr", 40.0)]
)
def test_coding_and_packets_take_the_time_of_g114(codec: str, ms: float) -> None:
    assert 1e3 * CODECS[codec].delay_s == pytest.approx(ms)


@pytest.mark.parametrize(
    ("r", "word"),
    [(93.2, "best"), (80.0, "high"), (79.9, "medium"), (60.0, "low"), (50.0, "poor"), (0.0, "not")],
)
def test_categories_are_those_of_g109(r: float, word: str) -> None:
    assert category(r).split()[0] == word
