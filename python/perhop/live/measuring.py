"""Running a scenario on real packets as often as wanted, and the results of it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perhop import _core
from perhop.live.fidelity import Fidelity, judge
from perhop.live.owner import PREFIX, Owner
from perhop.live.running import Account, Ended, Program, Socket, Watching, play
from perhop.scenario import Scenario

if TYPE_CHECKING:
    from perhop.results import Results


@dataclass(frozen=True)
class Measured:
    """What was measured on real packets."""

    #: Name of the scenario.
    scenario: str
    #: In the shape of a simulation's; `None` where the scenario's traffic did not run.
    results: Results | None
    #: The final counters of the forwarders, by node; of the last run, where there were several.
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
        """Write the results as those of a simulation, and beside them what programs wrote."""
        from perhop.saving import MANIFEST, json_text, whole_folder

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
    scenario: Scenario,
    *,
    seed: int | None = None,
    replications: int = 1,
    programs: Sequence[Program] = (),
    with_traffic: bool = True,
    congestion_controls: Mapping[str, str] | None = None,
    socket: Socket = "af-packet",
    watching: Watching | None = None,
) -> Measured:
    """Run a scenario on real packets, `replications` times one after the other; see `running.play`."""
    resolved = scenario.embedded()
    resolved["seed"] = resolved["seed"] if seed is None else seed
    resolved["replications"] = replications
    watching = watching or Watching()
    accounts: list[Account] = []
    # Named after this process, so that `perhop live clean` knows whose it was.
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


def _results(scenario: Scenario, accounts: Sequence[Account]) -> Results:
    from perhop.results import Results

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
        scenario=dict(scenario),
        seed=scenario["seed"],
        replications=scenario["replications"],
        units=units,
        _columns=tables,
    )


def _share_of(watching: Watching, replication: int, replications: int) -> Watching:
    """Return who is told of one of several runs."""
    tell = watching.progress
    if tell is None:
        return watching
    return replace(watching, progress=lambda share: tell((replication + share) / replications))
