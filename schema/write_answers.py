"""Write schema/perhop-NAME.schema.json for each document that `--json` prints, and that of network.yaml.

    python schema/write_answers.py

Run this after a change of python/perhop/answers.py; tests/test_answers.py compares the files with it.
"""

from __future__ import annotations

import json
from pathlib import Path

from perhop.answers import ANSWERS, facts_schema, json_schema


def main() -> None:
    """Write the files."""
    for name in ANSWERS:
        file = Path(__file__).parent / f"perhop-{name}.schema.json"
        file.write_text(json.dumps(json_schema(name), indent=2) + "\n", encoding="utf-8")
    file = Path(__file__).parent / "network.yaml.schema.json"
    file.write_text(json.dumps(facts_schema(), indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
