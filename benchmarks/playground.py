"""Compare a run in the playground's module, under Node.js, with the same run of the native engine.

    python benchmarks/playground.py [--rounds N] [--output FILE]

The run is the starter scenario for a simulated minute, for which a user of the page waits after each change.
Both engines run in each round, because a shared machine disturbs both. The result of a round is the minimum
of several runs. `make setup playground` builds the required files.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

from measuring import condition, machine

_ROOT = Path(__file__).parents[1]
_MODULE = _ROOT / "python" / "perhop" / "playground" / "assets" / "perhop.wasm"
_STARTER = _ROOT / "python" / "perhop" / "templates" / "voice.perhop.yaml"
_TARGETS = {"module_ms": 1000.0, "ratio": 3.0}
# Node.js compiles the hot parts of a module during its first runs.
_RUNS = 15


def main() -> int:
    """Measure both engines, print the times, and write them to `--output`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="number of rounds (default: 5)")
    parser.add_argument("--output", type=Path, default=Path("results/playground.json"))
    arguments = parser.parse_args()
    node = shutil.which("node")
    if node is None or not _MODULE.is_file():
        sys.stderr.write("error: no Node.js, or no module; run: make setup playground\n")
        return 5
    rounds = max(1, arguments.rounds)
    found = machine()
    both = [(_in_module(node), _natively()) for _ in range(rounds)]
    row = {
        "module_ms": statistics.median(module for module, _ in both),
        "native_ms": statistics.median(native for _, native in both),
        "ratio": statistics.median(module / native for module, native in both),
    }
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    stored = {"machine": found, "rounds": rounds, "targets": _TARGETS, "measured": row}
    arguments.output.write_text(json.dumps(stored, indent=2) + "\n")
    sys.stdout.write(f"{condition(rounds, found)}\n{_in_words(row)}\nwritten to {arguments.output}\n")
    return 0


def _minute() -> str:
    return re.sub(r"(?m)^duration: .*", "duration: 60s", _STARTER.read_text())


def _in_module(node: str) -> float:
    """Return the least time of a run in the module, milliseconds."""
    asked = json.dumps({"module": str(_MODULE), "runs": [{"text": _minute(), "seed": 1, "times": _RUNS}]})
    script = _ROOT / "playground" / "tests" / "summaries.mjs"
    ended = subprocess.run([node, script], input=asked, stdout=subprocess.PIPE, text=True, check=True)
    return float(json.loads(ended.stdout)[0]["least"])


def _natively() -> float:
    """Return the least time of a native run with one thread, milliseconds."""
    from perhop import _core

    loaded = _core.load(_STARTER, [("duration", "60s")])
    times = []
    for _ in range(_RUNS):
        began = time.perf_counter()
        run = _core.start(loaded.embedded, loaded.base, 1, 1, 1)
        while not run.wait(10.0):
            pass
        run.result()
        times.append(1000 * (time.perf_counter() - began))
    return min(times)


def _in_words(row: dict[str, float]) -> str:
    """Return the two times and their ratio as text, each with its target."""
    verdicts = {name: "met" if row[name] <= at_most else "not met" for name, at_most in _TARGETS.items()}
    return (
        f"a simulated minute: {row['module_ms']:.1f} ms in the module "
        f"(at most {_TARGETS['module_ms']:g}: {verdicts['module_ms']}), "
        f"{row['native_ms']:.1f} ms natively, {row['ratio']:.2f} times as long "
        f"(at most {_TARGETS['ratio']:g}: {verdicts['ratio']})"
    )


if __name__ == "__main__":
    sys.exit(main())
