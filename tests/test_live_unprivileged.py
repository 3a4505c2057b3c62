"""Without root privileges, a testbed is built in a user namespace, or an error reports what is missing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from watched import needs_view

NOBODY = 65534
HERE = Path(__file__).parent

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")


def as_nobody(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python as an unprivileged user; skip the test if this user can start no interpreter."""
    paths = [path for path in sys.path if path.startswith("/")]
    for interpreter in (sys.executable, "/usr/bin/python3"):
        try:
            return subprocess.run(
                [interpreter, *map(str, arguments)],
                user=NOBODY,
                group=NOBODY,
                extra_groups=[],
                cwd="/",
                env={"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "PYTHONPATH": ":".join(paths), **environment},
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
        except (PermissionError, FileNotFoundError):
            continue
    pytest.skip("nobody may run Python here")


def user_namespaces_work() -> bool:
    """Whether the system allows unprivileged user namespaces, tested with another program than perhop."""
    tried = subprocess.run(
        ["unshare", "-Urnm", "true"], user=NOBODY, group=NOBODY, extra_groups=[], check=False
    )
    return tried.returncode == 0


def test_a_testbed_in_a_user_namespace(tmp_path: Path) -> None:
    script = """
import sys
from test_live_testbed import transfer
from live_testbed import start_copier, two_hosts
from perhop.live.testbed import LiveTestbed
with LiveTestbed(two_hosts(), "Test") as testbed:
    start_copier(testbed)
    transfer(testbed, "right", 100_000)
    print(testbed.refused)
"""
    ended = as_nobody("-c", script, XDG_RUNTIME_DIR="")
    if user_namespaces_work():
        assert (ended.stdout, ended.returncode) == ("[]\n", 0), ended.stderr
    else:
        assert "no user namespace to be had" in ended.stderr
    assert not list(Path(f"/tmp/perhop-{NOBODY}").glob("*"))


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


def test_a_run_without_root_privileges() -> None:
    with tempfile.TemporaryDirectory() as folder:
        scenario, out = Path(folder) / "small.yaml", Path(folder) / "out"
        scenario.write_text(SCENARIO)
        Path(folder).chmod(0o1777)
        run = ("-m", "perhop", "live", "run", scenario, "--json", "-o", out)
        ended = as_nobody(*run, XDG_RUNTIME_DIR=folder)
        assert "Traceback" not in ended.stderr
        if not user_namespaces_work():
            assert ended.returncode == 5
            return
        assert ended.returncode == 0, ended.stderr
        assert json.loads(ended.stdout)["classes"][0]["delivered_packets"]["mean"] > 0
        assert out.stat().st_uid == NOBODY
        assert not list((Path(folder) / "perhop").iterdir())


# Starts the command line, and reads its page from outside its network namespace.
LOOK = """
import re, signal, subprocess, sys, urllib.request
run = subprocess.Popen([sys.executable, "-m", "perhop", *sys.argv[1:]], stderr=subprocess.PIPE, text=True)
said = ""
for line in run.stderr:
    said += line
    if found := re.search(r"http://\\S+", line):
        break
else:
    sys.exit(said)
with urllib.request.urlopen(found[0], timeout=30) as page:
    print(page.status)
for line in run.stderr:
    if "everything is done" in line:
        run.send_signal(signal.SIGINT)
print(run.wait())
"""


@needs_view
def test_its_page_is_reached_from_outside_the_namespace() -> None:
    if not user_namespaces_work():
        pytest.skip("no user namespaces here")
    with tempfile.TemporaryDirectory() as folder:
        scenario = Path(folder) / "small.yaml"
        scenario.write_text(SCENARIO)
        Path(folder).chmod(0o1777)
        run = ("live", "run", scenario, "-q", "--watch=web", "--no-open")
        ended = as_nobody("-c", LOOK, *run, XDG_RUNTIME_DIR=folder)
        assert ended.stdout.split() == ["200", "0"], ended.stderr


# A user namespace without permission for further ones, and a process in it without capabilities.
WITHOUT = (
    "echo 0 > /proc/sys/user/max_user_namespaces &&"
    ' exec setpriv --inh-caps=-all --bounding-set=-all -- "$0" -m perhop "$@"'
)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["doctor"], "live testbeds: not possible here"),
        (["live", "run", "SCENARIO"], "sudo sysctl user.max_user_namespaces"),
    ],
)
def test_without_privileges_the_missing_ones_are_named(
    tmp_path: Path, arguments: list[str], words: str
) -> None:
    scenario = tmp_path / "small.yaml"
    scenario.write_text(SCENARIO)
    line = [str(scenario) if word == "SCENARIO" else word for word in arguments]
    ended = subprocess.run(
        ["unshare", "-Urm", "sh", "-c", WITHOUT, sys.executable, *line],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    if ended.returncode == 1 and "unshare" in ended.stderr:
        pytest.skip(f"no user namespaces here: {ended.stderr}")
    assert ended.returncode == 5, ended.stderr
    assert "Traceback" not in ended.stderr
    assert words in ended.stdout + ended.stderr
    assert "CAP_NET_ADMIN" in ended.stdout + ended.stderr


def test_sudo_finds_the_command_to_run_as_root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The PATH of sudo has no virtual environment: `sudo perhop` is not found there."""
    from perhop.live.rights import as_root

    program = tmp_path / "bin" / "perhop"
    program.parent.mkdir()
    program.touch()
    monkeypatch.setattr(sys, "argv", [str(program), "live", "clean"])
    assert as_root() == f"sudo {program} live clean"
    assert as_root("live ...") == f"sudo {program} live ..."
    monkeypatch.setattr(sys, "argv", ["/a/notebook", "-f", "kernel.json"])
    assert as_root("live ...") == f"sudo {sys.executable} -I -m perhop live ..."
