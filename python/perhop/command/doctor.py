"""`perhop doctor`."""

from __future__ import annotations

from perhop.command.ink import BAD, GOOD
from perhop.command.lines import show_lines
from perhop.command.options import Json
from perhop.command.terminal import print_json
from perhop.errors import Exit
from perhop.live.abilities import abilities

_STYLES = {r"^ok\b|(?<=: )possible$": GOOD, r"^MISSING\b|(?<=: )not possible here$": BAD}


def doctor(*, json: Json = False) -> Exit:
    """Check whether this machine can run live testbeds, and show how to get missing capabilities.

    Exits with code 5 if live testbeds are not possible.

    """
    found = abilities()
    works = all(ability.works for ability in found if ability.need == "required")
    if json:
        document = {"schema_version": 1, "live": works, "abilities": [ability.to_dict() for ability in found]}
        print_json(document)
    else:
        width = max(len(ability.name) for ability in found)
        for ability in found:
            mark = "ok" if ability.works else "MISSING" if ability.need == "required" else "-"
            remedy = f" ({ability.remedy})" if ability.remedy and not ability.works else ""
            show_lines(f"{mark:<8} {ability.name:<{width}}  {ability.found}{remedy}", _STYLES)
        show_lines(f"live testbeds: {'possible' if works else 'not possible here'}", _STYLES)
    return Exit.OK if works else Exit.MISSING_CAPABILITY
