"""The page of one run: `perhop run --report`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from perhop.configuration import STANDARD_INPUT, Configuration
from perhop.results import Results
from perhop.scenario import Scenario

if TYPE_CHECKING:
    from perhop.network.running import NetworkRun


@dataclass(frozen=True)
class RunReport:
    """The page that a run writes."""

    file: Path
    #: Whether classes of replies are shown.
    back: bool

    @classmethod
    def requested(cls, file: Path | None, *, back: bool) -> RunReport | None:
        """Return the page for a file; refuses a file that cannot be written. `None` without a file."""
        if file is None:
            return None
        from perhop.command.report import check_page  # lazy: pages, which only --report needs

        check_page(file)
        return cls(file, back)

    def sampled(self, scenario: Scenario) -> Scenario:
        """Return the scenario with the samples of the page's charts."""
        from perhop.plot.kinds import settings_for  # lazy: polars, which only plots need
        from perhop.plot.linked import SAMPLED  # lazy: polars

        added = settings_for(scenario, SAMPLED)
        return scenario.changed(added) if added else scenario

    def write(
        self, results: Results, scenario: Scenario, source: Path | None, network: NetworkRun | None = None
    ) -> None:
        """Write the page. For an inferred scenario, it has every line of the configuration `source`."""
        if network is not None:
            from perhop.command.network_run import write_page  # lazy: only for folders

            write_page(network, results, self.file)
            return
        from perhop.report import write_run  # lazy: pages, which only --report needs

        is_file = source is not None and source != STANDARD_INPUT and scenario.origin is not None
        configurations = [Configuration.read(source)] if source is not None and is_file else []
        write_run(results, configurations, self.file, back=self.back)
