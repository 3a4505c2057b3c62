"""Running the replications of a scenario live, and their results."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from perhop import _core
from perhop.document import Document, typed
from perhop.live.fidelity import Fidelity, judge
from perhop.live.owner import PREFIX, Owner
from perhop.live.running import Account, Ended, Program, Socket, Watching, play
from perhop.results import Results
from perhop.saving import MANIFEST, json_text, whole_folder


@dataclass(frozen=True)
class Measured:
    """The measurements of live runs."""

    #: Name of the scenario.
    scenario: str
    #: Results as of a simulation; `None` where the scenario's traffic did not run.
    results: Results | None
    #: The final counters of the forwarders by node, of the last run.
    forwarders: Mapping[str, dict[str, Any]]
    programs: Sequence[Ended]
    fidelity: Fidelity

    def summary(self) -> dict[str, Any]:
        """Return all figures as plain data."""
        found: dict[str, Any] = {"schema_version": 1, "kind": "live", "scenario": self.scenario}
        if self.results is not None:
            found = dict(self.results.summary)
        else:
            found["forwarders"] = list(self.forwarders.values())
        return found | {
            "fidelity": self.fidelity.to_dict(),
            "programs": [program.to_dict() for program in self.programs],
        }

    def save(self, folder: Path) -> None:
        """Write the results like those of a simulation, with the output of programs.

        Raises:
            InvalidInputError: the folder cannot be used, or holds something else.
            OSError: a file cannot be written.

        """
        with whole_folder(folder) as new:
            if self.results is not None:
                replace(self.results, summary=self.summary()).write_into(new)
            else:
                (new / "summary.json").write_text(json_text(self.summary()), encoding="utf-8")
                manifest = {"schema_version": 1, "perhop": _core.__version__, "kind": "live"}
                (new / MANIFEST).write_text(json_text(manifest), encoding="utf-8")
            for index, ended in enumerate(self.programs):
                (new / f"program-{index}.txt").write_text(ended.output, encoding="utf-8")


def measure(
    scenario: Document,
    *,
    seed: int | None = None,
    replications: int = 1,
    programs: Sequence[Program] = (),
    with_traffic: bool = True,
    congestion_controls: Mapping[str, str] | None = None,
    socket: Socket = "af-packet",
    watching: Watching | None = None,
) -> Measured:
    """Run the replications of a scenario live, one after the other; see `running.play`."""
    resolved = scenario.embedded()
    resolved["seed"] = resolved["seed"] if seed is None else seed
    resolved["replications"] = replications
    watching = watching or Watching()
    accounts: list[Account] = []
    # Named after this process, so that `perhop live clean` can identify the owner.
    with tempfile.TemporaryDirectory(prefix=f"{PREFIX}{Owner.current().tag}-") as files:
        for replication in range(replications):
            accounts.append(
                play(
                    resolved,
                    seed=resolved["seed"],
                    replication=replication,
                    programs=programs,
                    with_traffic=with_traffic,
                    congestion_controls=congestion_controls,
                    socket=socket,
                    watching=_share_of(watching, replication, replications),
                    files=Path(files) / str(replication),
                )
            )
        results = _results(resolved, accounts) if with_traffic else None
        hosts = [
            json.loads(file.read_text(encoding="utf-8"))
            for account in accounts
            for file in account.hosts.values()
        ]
    counters = [counters for account in accounts for counters in account.forwarders.values()]
    return Measured(
        scenario=resolved["name"],
        results=results,
        forwarders=accounts[-1].forwarders,
        programs=[ended for account in accounts for ended in account.programs],
        fidelity=judge(counters, hosts, [setting for account in accounts for setting in account.refused]),
    )


def _results(scenario: Document, accounts: Sequence[Account]) -> Results:
    runs = [
        {
            "hosts": [str(file) for file in account.hosts.values()],
            "forwarders": [str(file) for file in account.forwarder_files.values()],
        }
        for account in accounts
    ]
    summary, tables, units = _core.live_results(
        scenario.to_json(), scenario.base, scenario["seed"], json.dumps(runs)
    )
    return Results(
        summary=json.loads(summary),
        scenario=typed(dict(scenario)),
        seed=scenario["seed"],
        replications=scenario["replications"],
        units=units,
        _columns=tables,
    )


def _share_of(watching: Watching, replication: int, replications: int) -> Watching:
    """Return the callbacks for one of several runs."""
    tell = watching.progress
    if tell is None:
        return watching
    return replace(watching, progress=lambda share: tell((replication + share) / replications))
