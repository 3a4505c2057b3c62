"""Malformed variants of every kind of input that perhop reads, and the commands that read them."""

from __future__ import annotations

import random
import shlex
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from conftest import ROOT, SCENARIO
from mutated import mutated_bytes, mutated_text
from perhop import Scenario, compare, sweep, tune
from test_router_output import OLD
from test_traffic_files import FLOWD, IPFIX, NFDUMP, PLAIN, ROUTER

Command = tuple[str, ...]
Commands = Iterator[Command]

_BRIEFLY = ("--duration", "10ms", "--set", "measure.warmup=0s")
_QUIETLY = (*_BRIEFLY, "-q")
_PACKETS = (
    "udp 10.1.0.5:20000 > 10.2.0.9:16384 dscp ef len 200",
    "tcp [2001:db8::1]:443 > [2001:db8::2]:50000 dscp af21",
)
_PACKET = ("--packet", _PACKETS[0])
_GOAL = "links.1.rate as small as possible"
_VARIED = "links.1.rate=1Mb/s:4Mb/s:100kb/s"
# Lines whose last word is damaged.
_LINES = (
    *(f"trace router.cfg --packet '{packet}'" for packet in _PACKETS),
    *(f"run overload.yaml {' '.join(_QUIETLY)} --set {value}" for value in (_VARIED, "traffic.0.count=2")),
    f"run overload.yaml {' '.join(_QUIETLY)} --assert 'data.delay_p99 < 20ms'",
    f"sweep overload.yaml {' '.join(_QUIETLY)} --set {_VARIED}",
    f"tune overload.yaml {' '.join(_BRIEFLY)} --trials 2 --goal '{_GOAL}' --vary {_VARIED}",
    f"tune overload.yaml {' '.join(_BRIEFLY)} --trials 2 --vary {_VARIED} --goal '{_GOAL}'",
    "bounds overload.yaml --ef 'router->sink:data=300kb/s'",
    "check router.cfg --assume 'VOICE = dscp ef'",
    "check router.cfg --ignore mark-unusual,queue-delay",
    "explain class-shadowed",
    "design wred --delay 100ms --bandwidth 2Mb/s",
    "design star --arrival 300kb/s --link 2Mb/s --delay 20ms",
    "design policer --rate 2Mb/s --rtt 100ms",
    "design calls --bandwidth 2Mb/s --codec g729 --framing ppp",
)

_STUDIES = ("car-wfq-tcp", "linux-aqm", "wred-bottleneck")


def _texts(*patterns: str) -> list[str]:
    files = [file for pattern in patterns for file in sorted(ROOT.glob(pattern))]
    return [file.read_text(encoding="utf-8", errors="replace") for file in files]


class Inputs:
    """Makes malformed inputs in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        shutil.copytree(ROOT / "examples", folder, dirs_exist_ok=True)
        # Targets of commands that refuse to replace them.
        (folder / "made").mkdir()
        mistakes = "crates/perhop-scenario/tests/diagnostics/*.yaml"
        self._scenarios = _texts("examples/*.perhop.yaml", mistakes)
        self._routers = _texts("tests/configurations/*.cfg", "vectors/ios/*.cfg", "examples/*.cfg")
        self._linux = _texts("vectors/tc/*", "examples/*.tc")
        self._tests = _texts("examples/*.tests.yaml")
        self._capture = (folder / "replay.pcapng").read_bytes()
        self._trace = (folder / "trace.csv").read_text()
        self._rates = "class,rate,packet_bytes,kind\nVOICE,300kb/s,120,voice\nERP,500kb/s,,transactional\n"
        (folder / "edge.cfg").write_text(ROUTER)
        (folder / "overload.yaml").write_text(SCENARIO)
        (folder / "shown.txt").write_text(OLD)
        for name in _STUDIES:
            shutil.copytree(ROOT / "studies" / name, folder / name, ignore=shutil.ignore_patterns("__*"))
        self._save()

    def _save(self) -> None:
        scenario = Scenario.load(self._folder / "overload.yaml", {"duration": "2s"})
        first, second = (scenario.run(seed=seed) for seed in (1, 2))
        saved = self._folder / "saved"
        first.save(saved / "run")
        sweep(scenario, {"seed": [1, 2]}).save(saved / "sweep")
        compare.compare(first, second).save(saved / "comparison")
        tune(scenario, [_GOAL], {"links.1.rate": "1Mb/s:2Mb/s"}, trials=3, output=saved / "tuning")

    def draw(self, draw: random.Random) -> Commands:
        """Write a malformed input, and generate the commands that read it."""
        kinds: dict[Callable[[random.Random], Commands], int] = {
            self._scenario: 30,
            self._router: 25,
            self._of_linux: 15,
            self._result: 12,
            self._captured: 9,
            self._table: 9,
            self._line: 12,
            self._shown: 3,
            self._policy_tests: 2,
            self._study: 3,
        }
        (kind,) = draw.choices(list(kinds), list(kinds.values()))
        yield from kind(draw)

    def _write(self, name: str, text: str, draw: random.Random) -> None:
        (self._folder / name).write_bytes(mutated_text(text, draw))

    def _new(self, draw: random.Random) -> str:
        return f"made/{draw.randrange(10**12)}"

    def _scenario(self, draw: random.Random) -> Commands:
        self._write("scenario.yaml", draw.choice(self._scenarios), draw)
        yield ("check", "scenario.yaml")
        if draw.random() < 0.25:
            yield ("run", "scenario.yaml", *_QUIETLY, "--replications", "1")
        if draw.random() < 0.25:
            yield draw.choice(
                [
                    *self._asked_of_any("scenario.yaml", draw),
                    ("diff", "scenario.yaml", "router-configuration.perhop.yaml"),
                    ("sweep", "scenario.yaml", "--set", "seed=1,2", *_QUIETLY),
                ]
            )

    def _router(self, draw: random.Random) -> Commands:
        self._write("mutated.cfg", draw.choice(self._routers), draw)
        yield ("check", "mutated.cfg")
        if draw.random() < 0.25:
            yield ("run", "mutated.cfg", *_QUIETLY)
        if draw.random() < 0.5:
            yield draw.choice(
                [
                    *self._asked_of_any("mutated.cfg", draw),
                    ("check", "mutated.cfg", "--fix", f"{self._new(draw)}.cfg"),
                    ("check", "mutated.cfg", "--sarif"),
                    ("compare", "--router", "shown.txt", "mutated.cfg", *_BRIEFLY),
                    ("diff", "mutated.cfg", "router.cfg"),
                    ("diff", "router.cfg", "mutated.cfg", "--markdown"),
                    ("init", self._new(draw), "--from", "mutated.cfg"),
                ]
            )

    def _of_linux(self, draw: random.Random) -> Commands:
        file = draw.choice(["mutated.tc", "mutated.sh", "mutated.json"])
        self._write(file, draw.choice(self._linux), draw)
        yield ("check", file, *draw.choice([(), ("--platform", "linux")]))
        yield draw.choice(
            [
                *self._asked_of_any(file, draw),
                ("diff", file, "uplink.tc"),
                ("init", self._new(draw), "--from", file),
                ("run", file, *_QUIETLY),
            ]
        )

    def _asked_of_any(self, file: str, draw: random.Random) -> list[Command]:
        """The commands that accept a scenario, a router and a Linux device."""
        to = draw.choice(["yaml", "ios", "tc"])
        platform = draw.choice(["linux", "hqf", "ios-xe"])
        return [
            ("bounds", file),
            ("convert", file, "--to", to, *(["--platform", platform] if to == "ios" else [])),
            ("draw", file, "-o", "made/drawn.svg"),
            ("show", "policy-map", "interface", file, *_BRIEFLY),
            ("trace", file, "--reach", "all"),
            ("trace", file, *_PACKET),
        ]

    def _result(self, draw: random.Random) -> Commands:
        folder = self._folder / "changed"
        shutil.rmtree(folder, ignore_errors=True)
        kind = draw.choice(["run", "sweep", "comparison", "tuning"])
        shutil.copytree(self._folder / "saved" / kind, folder)
        file = draw.choice(sorted(path for path in folder.rglob("*") if path.is_file()))
        content = file.read_bytes()
        if file.suffix == ".parquet":
            file.write_bytes(mutated_bytes(content, draw))
        else:
            self._write(str(file.relative_to(self._folder)), content.decode(), draw)
        yield from draw.sample(
            [
                ("report", "changed", "-o", "made.html"),
                ("verify", "changed", "--no-repeat"),
                ("plot", "throughput", "changed", "-o", "made.svg"),
                *(("export", kind, "changed", "-o", self._new(draw)) for kind in ("csv", "flent", "iperf3")),
                ("compare", "changed", "saved/run"),
                ("show", "policy-map", "interface", "changed"),
                ("run", "changed/scenario.json", *_QUIETLY),
            ],
            2,
        )

    def _captured(self, draw: random.Random) -> Commands:
        (self._folder / "replay.pcapng").write_bytes(mutated_bytes(self._capture, draw))
        yield draw.choice(
            [
                ("run", "replay.perhop.yaml", *_QUIETLY),
                ("run", "edge.cfg", "--traffic", "replay.pcapng", *_QUIETLY),
                ("bounds", "router.cfg", "--traffic", "replay.pcapng"),
                ("trace", "router.cfg", "--pcap", "replay.pcapng"),
            ]
        )

    def _table(self, draw: random.Random) -> Commands:
        if draw.random() < 0.3:
            self._write("trace.csv", self._trace, draw)
            yield ("run", "trace.perhop.yaml", *_QUIETLY)
        else:
            self._write("traffic.csv", draw.choice([self._rates, PLAIN, NFDUMP, FLOWD, IPFIX]), draw)
            yield ("run", "edge.cfg", "--traffic", "traffic.csv", *_QUIETLY)

    def _line(self, draw: random.Random) -> Commands:
        """Damage an argument of the command line, up to the length that the system accepts."""
        *words, last = shlex.split(draw.choice(_LINES))
        damaged = mutated_text(last, draw).decode(errors="replace").replace("\0", "")
        yield (*words, damaged[:10_000])

    def _shown(self, draw: random.Random) -> Commands:
        self._write("shown.txt", OLD, draw)
        yield ("compare", "--router", "shown.txt", "router.cfg", *_BRIEFLY)

    def _policy_tests(self, draw: random.Random) -> Commands:
        self._write("mutated.tests.yaml", draw.choice(self._tests), draw)
        yield ("test", "mutated.tests.yaml")

    def _study(self, draw: random.Random) -> Commands:
        study = draw.choice(_STUDIES)
        self._write(f"{study}/study.toml", (ROOT / "studies" / study / "study.toml").read_text(), draw)
        yield ("study", "show", f"./{study}")
