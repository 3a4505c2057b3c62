"""Verdicts on the classes of a run: fit for telephony, video, bulk; starved, policed, idle."""

from perhop.verdicts.judging import judge
from perhop.verdicts.page import table
from perhop.verdicts.telephony import CALL_COLUMNS, CLASS_COLUMNS, HISTOGRAM_COLUMNS, Heard, Telephony
from perhop.verdicts.verdict import Verdict
from perhop.verdicts.words import COLUMNS, document, line, row

__all__ = [
    "CALL_COLUMNS",
    "CLASS_COLUMNS",
    "COLUMNS",
    "HISTOGRAM_COLUMNS",
    "Heard",
    "Telephony",
    "Verdict",
    "document",
    "judge",
    "line",
    "row",
    "table",
]
