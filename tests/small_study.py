"""A study whose figures follow from arithmetic, for tests."""

from __future__ import annotations

from pathlib import Path

from conftest import SCENARIO

# The link carries 2 Mb/s. It loses nothing of 800 kb/s, and half of 4 Mb/s.
STUDY = """\
title = "A link that is too slow"
paper = "Arithmetic"
replications = 3
sensitivity-replications = 2

[metrics.dropped_percent]
absolute = 0.5
[metrics.delivered]
not-comparable = "the duration is not published"

[[tables]]
id = "1"
title = "Loss"
[[tables.cases]]
name = "light"
set = { "traffic.steady.source.cbr.rate" = "800kb/s" }
rows = { load = "light" }
[[tables.cases]]
name = "heavy"
set = { "traffic.steady.source.cbr.rate" = "4Mb/s" }
rows = { load = "heavy" }

[[tables]]
id = "2"
title = "The same case again"
[[tables.cases]]
name = "heavy again"
set = { "traffic.steady.source.cbr.rate" = "4Mb/s" }

[[highlights]]
label = "light loss"
table = "1"
metric = "dropped_percent"
rows = { load = "light" }

[[assumptions]]
name = "link rate"
value = "2 Mb/s"
why = "the paper forgot to say"
set = { "links.1.rate" = "2Mb/s" }
[[assumptions.alternatives]]
value = "4 Mb/s"
set = { "links.1.rate" = "4Mb/s" }
tables = ["1"]
"""
REFERENCE = """\
table,load,metric,value,unit
1,light,dropped_percent,0,%
1,heavy,dropped_percent,50,%
1,heavy,delivered,1234,packets
"""
CLAIMS = """\
[[claim]]
id = "slow.lossless"
where = "section 1"
text = "A light load loses nothing."
tables = ["1"]
[[claim]]
id = "slow.half"
where = "section 1"
text = "A heavy load loses half."
tables = ["1"]
[[claim]]
id = "slow.repeats"
where = "section 2"
text = "The same case gives the same result."
"""
MEASURES = """\
def dropped_percent(results, case):
    return _steady(results, "dropped_percent")

def delivered(results, case):
    assert case == {"load": "heavy"}
    return _steady(results, "delivered_packets")

def _steady(results, column):
    return [value for name, value in results.classes.select("class", column).iter_rows() if name == "steady"]
"""
JUDGES = """\
from perhop.study import agrees_if

def lossless(outcome):
    figure = outcome.figure("1", "dropped_percent", load="light")
    return agrees_if(figure.measured == 0, f"{figure.measured} % lost")

def half(outcome):
    figure = outcome.figure("1", "dropped_percent", load="heavy")
    return agrees_if(abs(figure.measured - 50) < 1, f"{figure.measured} % lost")

def repeats(outcome):
    same = outcome.results("heavy").classes.equals(outcome.results("heavy again").classes)
    return agrees_if(same, "compared all classes")
"""

MORE_CASES = """
[[tables]]
id = "3"
title = "The heavy case, compared with other figures"
""" + "".join(
    f"""
[[tables.cases]]
name = "case {load}"
set = {{ "traffic.steady.source.cbr.rate" = "4Mb/s" }}
rows = {{ load = "{load}" }}
"""
    for load in "xyz"
)


def make_study(folder: Path) -> Path:
    (folder / "reference").mkdir(parents=True)
    only_steady = SCENARIO.replace("poisson: { rate: 4Mb/s", "poisson: { rate: 1kb/s")
    (folder / "scenario.yaml").write_text(only_steady)
    (folder / "study.toml").write_text(STUDY)
    (folder / "reference" / "slow.csv").write_text(REFERENCE)
    (folder / "claims.toml").write_text(CLAIMS)
    (folder / "claims.py").write_text(JUDGES)
    (folder / "measures.py").write_text(MEASURES)
    return folder
