"""Design rules from published measurements: parameters of a policy for a goal, with their formulas.

from perhop import design

print(design.wred("2Mb/s", "100ms"))
print(design.star("300kb/s", "20ms", link="2Mb/s"))
print(design.policer("2Mb/s", rtt="100ms"))
print(design.calls("2Mb/s", codec="g729", framing="ppp"))
print(design.buffers("switch.cfg", "200kB", "10Gb/s", interface="gi1/0/1"))
"""

from perhop.design.advice import Advice, Step
from perhop.design.buffers import buffers
from perhop.design.burst import policer, shaper, voice_policer
from perhop.design.calls import calls
from perhop.design.queue import queue, ring
from perhop.design.star import star
from perhop.design.wred import wred

__all__ = [
    "Advice",
    "Step",
    "buffers",
    "calls",
    "policer",
    "queue",
    "ring",
    "shaper",
    "star",
    "voice_policer",
    "wred",
]
