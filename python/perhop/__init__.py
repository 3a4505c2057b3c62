"""A DiffServ quality-of-service laboratory.

import perhop

results = perhop.run("scenario.yaml", seed=1, replications=10)
print(results.classes)
"""

from typing import TYPE_CHECKING, Any

from perhop._core import ScenarioError, __version__

if TYPE_CHECKING:
    from perhop.configuration import Configuration
    from perhop.results import Results
    from perhop.running import run
    from perhop.scenario import Scenario, schema
    from perhop.sweeping import Sweep, sweep

__all__ = [
    "Configuration",
    "Results",
    "Scenario",
    "ScenarioError",
    "Sweep",
    "__version__",
    "run",
    "schema",
    "sweep",
]

_HOMES = {
    "Configuration": "perhop.configuration",
    "Results": "perhop.results",
    "Scenario": "perhop.scenario",
    "Sweep": "perhop.sweeping",
    "run": "perhop.running",
    "schema": "perhop.scenario",
    "sweep": "perhop.sweeping",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a module attribute may be anything
    """Import what is asked for when it is asked for: `perhop --help` needs none of it."""
    if name not in _HOMES:
        raise AttributeError(f"module 'perhop' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
