"""A matrix of traffic between the sites of a network, as CSV."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from perhop.errors import InvalidInputError
from perhop.inference.given import KINDS, LARGEST_PACKET
from perhop.inference.table import Row, rows_of
from perhop.inputs import TRAFFIC, read_input
from perhop.quantity import quantity

#: The columns. Required are `from`, `to`, `rate`, and `class` or `dscp`.
COLUMNS = ("from", "to", "class", "dscp", "rate", "packet_bytes", "kind", "protocol", "port")
_NEEDED = ("from", "to", "rate")
_EXAMPLE = "from,to,class,rate"


def read_matrix(file: Path) -> tuple[list[dict[str, Any]], list[Row]]:
    """Return the demands of a matrix of traffic, and the line of each.

    Raises:
        InvalidInputError: a line of the file is wrong.

    """
    rows = rows_of(file, read_input(file, TRAFFIC))
    header = next(rows, None)
    if header is None:
        raise InvalidInputError(f"`{file}` is empty", f"its first line is `{_EXAMPLE}`")
    names = header.cells
    if unknown := [column for column in names if column not in COLUMNS]:
        raise header.wrong(f"there is no column `{unknown[0]}`", f"columns: {','.join(COLUMNS)}")
    if missing := [column for column in _NEEDED if column not in names]:
        raise header.wrong(f"the column `{missing[0]}` is missing", f"for example {_EXAMPLE}")
    if "class" not in names and "dscp" not in names:
        raise header.wrong("neither `class` nor `dscp` is a column", f"for example {_EXAMPLE}")
    lines = list(rows)
    if not lines:
        raise header.wrong("no traffic follows the header", "for example `B1,HUB,voice,512kb/s`")
    return [_demand(row, row.by_name(names)) for row in lines], lines


def _demand(row: Row, cells: Mapping[str, str]) -> dict[str, Any]:
    rate = quantity(cells["rate"])
    if rate is None or rate[1] not in ("b/s", "") or rate[0] <= 0:
        raise row.wrong(f"`{cells['rate']}` is not a rate", "for example 512kb/s or 2.5Mb/s")
    kind = cells.get("kind", "").lower()
    if kind and kind not in KINDS:
        raise row.wrong(f"there is no kind of traffic `{kind}`", f"kinds: {', '.join(KINDS)}")
    name = cells.get("class") or cells.get("dscp", "")
    if not name:
        raise row.wrong("neither class nor dscp is given", "for example ef, af31 or voice")
    return {
        "from": cells["from"],
        "to": cells["to"],
        "class": name,
        "dscp": cells.get("dscp") or None,
        "rate": rate[0],
        "packet_bytes": _number(row, cells.get("packet_bytes", ""), "packet size", 28, LARGEST_PACKET),
        "kind": KINDS.get(kind),
        "protocol": cells.get("protocol", "").lower() or None,
        "port": _number(row, cells.get("port", ""), "port", 1, 65535),
    }


def _number(row: Row, text: str, what: str, least: int, most: int) -> int | None:
    if not text:
        return None
    if not (re.fullmatch("[0-9]{1,5}", text) and least <= int(text) <= most):
        raise row.wrong(f"`{text}` is not a {what}", f"a whole number from {least} to {most}")
    return int(text)
