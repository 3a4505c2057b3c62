"""The test for bufferbloat of a line: the latency of the idle and of the loaded line, for each qdisc.

from perhop import bufferbloat

tested = bufferbloat.test("50/10Mb/s", rtt="20ms", qdiscs=["fifo", "cake"])
print([(one.qdisc, one.grade) for one in tested.runs])
tested.chart().save("bufferbloat.html")
"""

from perhop.bufferbloat.grades import GRADES, GRADES_SOURCE, grade
from perhop.bufferbloat.line import FIFO, Line, disciplines
from perhop.bufferbloat.tested import Loaded, Run, Tested, test

__all__ = [
    "FIFO",
    "GRADES",
    "GRADES_SOURCE",
    "Line",
    "Loaded",
    "Run",
    "Tested",
    "disciplines",
    "grade",
    "test",
]
