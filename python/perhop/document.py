"""Scenarios: read from a file, changed in code, run."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perhop import _core

if TYPE_CHECKING:
    from perhop.results import Results
    from perhop.running import Progress


def schema() -> dict[str, Any]:
    """Return the JSON Schema of scenario files."""
    parsed: dict[str, Any] = json.loads(_core.schema())
    return parsed


class Scenario(MutableMapping[str, Any]):
    """A scenario, with every default written out.

    It is a mapping of the same keys as the file, to be read and changed in place; `run` and `check`
    say what is wrong with a change.

        scenario = perhop.Scenario.load("scenario.yaml")
        scenario["links"][0]["rate"] = "2 Mb/s"
        scenario.set("traffic.video.count", 5)
        results = scenario.run(seed=1)
    """

    def __init__(self, data: Mapping[str, Any], base: str | PathLike[str] = ".") -> None:
        """Take the keys of a scenario file; relative paths in them start from `base`."""
        self._data = dict(data)
        self._base = Path(base)
        #: What was suspicious, though not wrong, when it was read.
        self.warnings: _core.Warnings | None = None
        #: What was guessed, where it was made around a router's configuration.
        self.guessed: str | None = None

    @classmethod
    def load(cls, path: str | PathLike[str], set: Mapping[str, object] | None = None) -> Scenario:
        """Read a scenario file; `set` replaces values in it by their path.

        Given a router's configuration, it returns what `around` makes of it.
        Raises `ScenarioError`, which says what is wrong and where.
        """
        from perhop.configuration import router_text

        overrides = [(where, _as_text(value)) for where, value in (set or {}).items()]
        text = router_text(Path(path))
        if text is None:
            return cls._from(_core.load(path, overrides))
        surrounded = cls._around(Path(path), text, None)
        loaded = cls._from(_core.load_json(surrounded.to_json(), surrounded.base, overrides))
        loaded.guessed = surrounded.guessed
        return loaded

    @classmethod
    def around(cls, path: str | PathLike[str], interface: str | None = None) -> Scenario:
        """Put hosts, links and traffic around a router's configuration, one kind of traffic for each class.

        Packets leave by `interface`; by default by the one whose policy has most classes. `guessed` says what
        was assumed; it is a scenario like any other, to be changed to what is there. Raises `ScenarioError`
        where the router itself would refuse its configuration.
        """
        from perhop.configuration import router_text

        file = Path(path)
        text = router_text(file)
        return cls._around(file, _core.router_text(file.read_bytes()) if text is None else text, interface)

    @classmethod
    def _around(cls, file: Path, text: str, interface: str | None) -> Scenario:
        from perhop.around import around
        from perhop.configuration import STANDARD_INPUT

        configuration = {"text": text} if file == STANDARD_INPUT else {"file": file.name}
        made = around(text, configuration, file.parent, interface=interface)
        scenario = cls(made.data, file.parent).check()
        scenario.guessed = made.summary
        return scenario

    @classmethod
    def _from(cls, loaded: _core.Loaded) -> Scenario:
        scenario = cls(json.loads(loaded.json), loaded.base)
        scenario.warnings = loaded.warnings
        return scenario

    @property
    def base(self) -> Path:
        """The folder that relative paths in the scenario start from."""
        return self._base

    def to_json(self) -> str:
        """Return the scenario as one line of JSON."""
        return json.dumps(self._data, ensure_ascii=False, separators=(",", ":"))

    def set(self, path: str, value: object) -> Scenario:
        """Replace the value at a path, as `perhop run --set` does: `traffic.voice.source.cbr.rate`.

        Returns the scenario, so that changes can be chained; raises `ScenarioError` if it does not fit.
        """
        changed = self.changed({path: value})
        self._data, self.warnings = changed._data, changed.warnings
        return self

    def changed(self, changes: Mapping[str, object]) -> Scenario:
        """Return another scenario with values at some paths replaced, all at once; this one stays as is."""
        overrides = [(path, _as_text(value)) for path, value in changes.items()]
        return self._from(_core.load_json(self.to_json(), self._base, overrides))

    def check(self) -> Scenario:
        """Return the scenario as it would run, or raise `ScenarioError`."""
        return self._from(_core.load_json(self.to_json(), self._base, []))

    def embedded(self) -> Scenario:
        """Return the scenario as it would run, with the configurations of its routers written into it.

        It needs no other file, traces left aside. Raises `ScenarioError`.
        """
        loaded = _core.load_json(self.to_json(), self._base, [])
        return Scenario(json.loads(loaded.embedded), loaded.base)

    def run(
        self,
        seed: int | None = None,
        replications: int | None = None,
        threads: int | None = None,
        progress: Callable[[Progress], None] | None = None,
        *,
        pcap: str | PathLike[str] | None = None,
        pcap_links: Sequence[str] | None = None,
        snap_length: int | None = None,
    ) -> Results:
        """Simulate it; see `perhop.run`."""
        from perhop.capturing import Captures
        from perhop.running import simulate

        return simulate(
            self,
            seed=seed,
            replications=replications,
            threads=threads,
            progress=progress,
            captures=Captures.of(pcap, pcap_links, snap_length),
        )

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401 - a scenario holds text, numbers, lists, mappings
        return self._data[key]

    def __setitem__(self, key: str, value: object) -> None:
        self._data[key] = value

    def __delitem__(self, key: str) -> None:
        del self._data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def _repr_html_(self) -> str:
        """Draw its network and policies in a notebook."""
        from perhop.draw import draw

        # A wide policy is scrolled, not shrunk until nobody can read it.
        return f'<div style="overflow-x:auto">{draw(self)}</div>'

    def __repr__(self) -> str:
        return f"<Scenario {self._data.get('name', 'without a name')!r}>"


def _as_text(value: object) -> str:
    """Return a value as it would stand in a file: text as it is, anything else as JSON, a part of YAML."""
    return value if isinstance(value, str) else json.dumps(value)
