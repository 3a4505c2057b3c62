"""Running the replications of a scenario live, and their results."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from perhop import _core, disk, manifest
from perhop.document import Document, typed
from perhop.live.fidelity import Fidelity, judge
from perhop.live.running import Account, Ended, Program, Socket, Watching, play
from perhop.live.scratch import scratch
from perhop.results import Results
from perhop.saving import whole_folder


@dataclass(frozen=True)
class Measured:
    """The measurements of live runs."""

    #: Name of the scenario.
    scenario: str
    #: Results in the form of a simulation; `None` if the scenario's traffic did not run.
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

    def save(self, folder: Path, *, force: bool = False) -> None:
        """Write the results like those of a simulation, with the output of programs.

        With `force`, a folder with other content is renamed.

        Raises:
            InvalidInputError: the folder cannot be used, or has other content.
            OSError: a file cannot be written.

        """
        with whole_folder(folder, "live", force=force) as new:
            if self.results is not None:
                replace(self.results, summary=self.summary()).write_into(new, self._write_outputs)
            else:
                disk.write(new / "summary.json", manifest.json_text(self.summary()))
                self._write_outputs(new)
                manifest.seal(new, "live", {})

    def _write_outputs(self, folder: Path) -> None:
        for index, ended in enumerate(self.programs):
            disk.write(folder / f"program-{index}.txt", ended.output)


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
    with scratch() as files:
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
                    files=files / str(replication),
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
    """Return the callbacks of one of several runs."""
    tell = watching.progress
    if tell is None:
        return watching
    return replace(watching, progress=lambda share: tell((replication + share) / replications))
