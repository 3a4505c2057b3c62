"""Design rules from published measurements: parameters of a policy for a goal, with their formulas.

from perhop import design

print(design.wred("2Mb/s", "100ms"))
print(design.star("300kb/s", "20ms", link="2Mb/s"))
"""

from perhop.design.advice import Advice, Step
from perhop.design.star import star
from perhop.design.wred import wred

__all__ = ["Advice", "Step", "star", "wred"]
