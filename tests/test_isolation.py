"""Code of the current folder and of Python's variables does not run in the processes of a testbed."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import HANGS_AFTER_S, ROOT
from live_testbed import WITHIN_S, needs_rights, own_run, two_hosts
from perhop.live.inside import Place
from perhop.live.rights import as_root
from perhop.live.testbed import LiveTestbed

# Files that another user puts into a folder: each records that it was executed, and does nothing else.
HOSTILE = ("json.py", "typing.py", "perhop.py", "sitecustomize.py", "usercustomize.py", "resource.py")
NOTE = "import os; open({mark!r}, 'a').write(__file__ + ' ' + str(os.getpid()) + '\\n')\n"
PACKAGE = ROOT / "python" / "perhop"

SCENARIO = """\
perhop: 1
name: Small
duration: 1s
hosts: { source: {}, sink: {} }
links: [{ between: [source, sink], rate: 1Mb/s, delay: 1ms }]
traffic:
  - name: steady
    from: source
    to: sink
    source: { cbr: { rate: 400kb/s, packet: { ip: 500B } } }
"""
POLICIES = "policies: { wan: {} }\n"


class Hostile:
    """A folder of another user, and the list of its files that were executed."""

    def __init__(self, folder: Path, mark: Path) -> None:
        self.folder, self.mark = folder, mark
        folder.mkdir()
        for name in HOSTILE:
            (folder / name).write_text(NOTE.format(mark=str(mark)))
        (folder / "small.yaml").write_text(SCENARIO)
        (folder / "wan.perhop.yaml").write_text(POLICIES)

    @property
    def executed(self) -> list[str]:
        return self.mark.read_text().splitlines() if self.mark.exists() else []


@pytest.fixture
def hostile(tmp_path: Path) -> Hostile:
    return Hostile(tmp_path / "of-a-stranger", tmp_path / "executed")


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """The program `perhop` as it is installed: its own folder is the first of Python's path."""
    entry = tmp_path / "bin" / "perhop"
    entry.parent.mkdir()
    entry.write_text(
        f"import sys\nsys.path.insert(1, {str(ROOT / 'python')!r})\n"
        "from perhop.__main__ import main\nsys.exit(main())\n"
    )
    return entry


def environment(**changes: str) -> dict[str, str]:
    """Return this environment without the variables of Python, with some changes."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return kept | changes


def run(line: list[str], hostile: Hostile, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        line,
        cwd=hostile.folder,
        env=environment(**variables),
        capture_output=True,
        text=True,
        timeout=HANGS_AFTER_S,
        check=False,
    )


@needs_rights
@pytest.mark.parametrize(
    "command",
    [
        ["live", "run", "small.yaml", "--json"],
        ["live", "run", "small.yaml", "--json", "--exec", "sink=true"],
        ["compare", "small.yaml", "--json"],
    ],
    ids=["run", "exec", "compare"],
)
def test_a_run_executes_nothing_of_its_folder(command: list[str], hostile: Hostile, program: Path) -> None:
    ended = run([sys.executable, str(program), *command], hostile)
    assert ended.returncode in (0, 4), ended.stderr
    assert json.loads(ended.stdout)
    assert hostile.executed == []


@needs_rights
def test_a_module_of_python_is_not_taken_from_the_current_folder(hostile: Hostile) -> None:
    """`python -m perhop` has the current folder on its path; modules that it loads later are Python's."""
    for name in ("perhop.py", "typing.py"):
        (hostile.folder / name).unlink()
    line = [sys.executable, "-m", "perhop", "live", "run", "small.yaml", "--json"]
    ended = run(line, hostile, PYTHONPATH=str(ROOT / "python"))
    assert ended.returncode == 0, ended.stderr
    assert hostile.executed == []


@own_run
@needs_rights
def test_a_bridge_executes_nothing_of_its_folder(hostile: Hostile, program: Path) -> None:
    with LiveTestbed(two_hosts(), "Boxes") as testbed:
        ends = ["--in", "eth0", "--out", "eth1", "--policy", "wan.perhop.yaml", "--json"]
        inner = ["sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", str(hostile.folder)]
        line = [*inner, sys.executable, str(program), "live", "bridge", *ends]
        bridge = testbed.start("router", "bridge", "program", *line)
        until = time.monotonic() + WITHIN_S
        while not list(Path("/run/perhop").glob("*/bridge.sock")):
            assert bridge.code is None and time.monotonic() < until, bridge.failure()
            time.sleep(0.05)
        bridge.request_end()
        assert bridge.process.wait(timeout=WITHIN_S) == 0, bridge.failure()
    assert hostile.executed == []


@own_run
@needs_rights
def test_a_program_in_a_host_executes_nothing_of_its_folder(hostile: Hostile, program: Path) -> None:
    with LiveTestbed(two_hosts(), "Boxes"):
        line = ["live", "exec", "--pid", str(os.getpid()), "left", "--", "true"]
        ended = run([sys.executable, str(program), *line], hostile)
    assert ended.returncode == 0, ended.stderr
    assert hostile.executed == []


@pytest.mark.parametrize(
    "variables",
    [
        {"PYTHONPATH": "HOSTILE"},
        {"PYTHONPATH": ""},
        {"PYTHONPATH": f".{os.pathsep}HOSTILE", "SUDO_UID": "1000"},
        {"PYTHONSTARTUP": "HOSTILE/json.py"},
        {"PYTHONHOME": "HOSTILE"},
        {"PYTHONUSERBASE": "HOSTILE"},
    ],
    ids=["path", "empty", "here", "startup", "home", "user"],
)
def test_variables_of_a_user_have_no_effect_on_a_child(variables: dict[str, str], hostile: Hostile) -> None:
    """Root gets the variables of a user if sudo keeps the environment (`sudo -E`)."""
    given = {name: value.replace("HOSTILE", str(hostile.folder)) for name, value in variables.items()}
    child = Place(namespace=None).command("program", "sh", "-c", "echo $PYTHONPATH$PYTHONSTARTUP")
    ended = run(child, hostile, **given)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert hostile.executed == []
    # The user's own program still gets the variables.
    assert ended.stdout.strip() == given.get("PYTHONPATH", "") + given.get("PYTHONSTARTUP", "")


def test_a_child_uses_the_package_of_its_parent(hostile: Hostile, tmp_path: Path) -> None:
    """The package may be on the path through PYTHONPATH alone, with another perhop installed."""
    copy = tmp_path / "copy" / "perhop"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "studies", "assets"))
    (copy / "live" / "inside.py").write_text("def main(arguments):\n    print(__file__, *arguments)\n")
    (copy.parent / "json.py").write_text(NOTE.format(mark=str(hostile.mark)))
    ended = run([sys.executable, "-I", str(copy / "live" / "entry.py"), "one"], hostile)
    assert (ended.stdout, ended.stderr) == (f"{copy / 'live' / 'inside.py'} one\n", "")
    assert hostile.executed == []


def _starts() -> Iterator[tuple[Path, ast.expr]]:
    """Generate every list of the package that starts with Python's own program, with its second element."""
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.List | ast.Tuple)
                and node.elts
                and ast.unparse(node.elts[0]) == "sys.executable"
            ):
                yield file, node.elts[1]


def test_every_start_of_python_is_isolated() -> None:
    found = list(_starts())
    assert [file.name for file, _ in found] == ["inside.py"]
    assert all(ast.unparse(option) == "'-I'" for _, option in found)
    # Workers of process pools start Python with the path of their parent.
    for file in PACKAGE.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        for word in ("import multiprocessing", "ProcessPoolExecutor", "LocalCluster"):
            assert word not in text, f"{file}: {word}"


def test_the_advice_for_root_is_isolated(monkeypatch: pytest.MonkeyPatch, hostile: Hostile) -> None:
    monkeypatch.setattr(sys, "argv", ["/a/notebook"])
    words = as_root("--version").split()
    assert words == ["sudo", sys.executable, "-I", "-m", "perhop", "--version"]
    run(words[1:], hostile)
    assert hostile.executed == []
    text = "".join((ROOT / file).read_text() for file in ("README.md", "SECURITY.md", "docs/live.md"))
    assert "sudo python -I -m perhop" in text
    assert "sudo python -m perhop" not in text.replace("not `sudo python -m perhop`", "")
