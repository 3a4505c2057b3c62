"""Quote what `perhop show policy-map interface` prints for the example in docs/show.md."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "show.md"
EXAMPLE = ROOT / "examples" / "router-configuration.perhop.yaml"
BEGIN, END = "<!-- shown: begin (python docs/quote_show.py) -->\n", "<!-- shown: end -->"


def quoted(page: str) -> str:
    """Return the page with the output between its two marks."""
    before, _, rest = page.partition(BEGIN)
    line = [sys.executable, "-m", "perhop", "show", "policy-map", "interface", str(EXAMPLE)]
    shown = subprocess.run(line, check=True, capture_output=True, text=True).stdout.rstrip()
    return f"{before}{BEGIN}\n```text\n{shown}\n```\n\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(quoted(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
