"""A DiffServ quality-of-service simulator.

import perhop

results = perhop.run("scenario.yaml", seed=1, replications=10)
print(results.classes)

ARCHITECTURE.md lists the layers of the package; `tests/test_imports.py` checks that every import follows
them.

Imports are at the top of a module. An import inside a function carries a comment `# lazy: reason`. The
reasons are optional packages (matplotlib, pyroute2) and processor time before something is shown, measured
with warm caches: polars with numpy 340 ms, numpy alone 120 ms, rich 70 ms, cyclopts 60 ms, jinja2 with
markdown-it 90 ms, against 40 ms for the command line itself. `import perhop` and `perhop --help` load none of
them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from perhop._core import __version__
from perhop.errors import (
    InvalidInputError,
    MissingCapabilityError,
    PerhopError,
    PerhopWarning,
    ScenarioError,
    UnknownNameError,
    UnreadableFileError,
)
from perhop.plots import Drawing

if TYPE_CHECKING:
    from perhop.checking import check
    from perhop.configuration import Configuration
    from perhop.document import schema
    from perhop.lessons import lesson
    from perhop.results import Results
    from perhop.scenario import Scenario, run
    from perhop.sweeping import Sweep, sweep
    from perhop.tuning import Tuning, tune

__all__ = [
    "Configuration",
    "InvalidInputError",
    "MissingCapabilityError",
    "PerhopError",
    "PerhopWarning",
    "Results",
    "Scenario",
    "ScenarioError",
    "Sweep",
    "Tuning",
    "UnknownNameError",
    "UnreadableFileError",
    "__version__",
    "check",
    "lesson",
    "run",
    "schema",
    "sweep",
    "tune",
]

_MODULES = {
    "check": "perhop.checking",
    "lesson": "perhop.lessons",
    "Configuration": "perhop.configuration",
    "Results": "perhop.results",
    "Scenario": "perhop.scenario",
    "Sweep": "perhop.sweeping",
    "Tuning": "perhop.tuning",
    "run": "perhop.scenario",
    "schema": "perhop.document",
    "sweep": "perhop.sweeping",
    "tune": "perhop.tuning",
}

# `results.plot` calls functions of a layer above results.
Drawing.function_of = lambda kind: getattr(import_module("perhop.plot"), kind)


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a module attribute may be anything
    """Import a public name when it is first used: `perhop --help` needs none of them."""
    if name not in _MODULES:
        raise AttributeError(f"module 'perhop' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return __all__
