"""Other users cannot use a cluster: a local one has no port, a remote one requires a certificate."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import perhop as library
from conftest import Command, files_in
from perhop.engines import named
from perhop.errors import InvalidInputError
from perhop.sweeping import Advance

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")

from perhop.engines.dask import ExposedClusterWarning  # noqa: E402 - needs the package

# Dask closes sockets and event loops only at the end of the process.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

VALUES = {"seed": "1:4:1", "duration": "2s"}
WITHIN_S = 60.0
# The state of a listening socket in /proc/net/tcp.
LISTENING = "0A"


def listening(pid: int) -> set[str]:
    """The local addresses at which a process and its children listen, by TCP or a Unix socket."""
    inodes: set[str] = set()
    for process_id in (pid, *children(pid)):
        for descriptor in Path(f"/proc/{process_id}/fd").iterdir():
            with contextlib.suppress(OSError):
                target = str(descriptor.readlink())
                if target.startswith("socket:"):
                    inodes.add(target[8:-1])
    found = set()
    for table in ("tcp", "tcp6"):
        rows = [row.split() for row in Path(f"/proc/net/{table}").read_text().splitlines()[1:]]
        found |= {row[1] for row in rows if row[3] == LISTENING and row[9] in inodes}
    # The flag __SO_ACCEPTCON of /proc/net/unix.
    rows = [row.split() for row in Path("/proc/net/unix").read_text().splitlines()[1:]]
    return found | {" ".join(row[7:]) for row in rows if int(row[3], 16) & 0x10000 and row[6] in inodes}


def children(pid: int) -> list[int]:
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            with contextlib.suppress(OSError):
                fields = (process / "stat").read_text().rpartition(")")[2].split()
                if int(fields[1]) == pid:
                    found += [int(process.name), *children(int(process.name))]
    return found


def test_listening_sockets_are_seen() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = f":{server.getsockname()[1]:04X}"
        assert any(address.endswith(port) for address in listening(os.getpid()))


def test_a_local_cluster_opens_no_port(scenario: Path) -> None:
    before = listening(os.getpid())
    seen: list[set[str]] = []

    def look(now: Advance) -> None:
        seen.append(listening(os.getpid()) - before)

    library.sweep(scenario, VALUES, engine=named("dask", threads=2), progress=look)
    assert seen and not any(seen)


def test_a_local_cluster_is_within_this_process(scenario: Path) -> None:
    """A separate process would start with the current folder on its path."""
    seen: list[list[int]] = []
    library.sweep(
        scenario,
        VALUES,
        engine=named("dask", threads=2),
        progress=lambda now: seen.append(children(os.getpid())),
    )
    assert seen and len({pid for found in seen for pid in found} - set(children(os.getpid()))) == 0


def test_a_local_cluster_uses_no_folder_that_others_may_have_made(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dask's own folder has the same name for all users: another user could create it first, as a link."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    target = tmp_path / "of-somebody"
    target.mkdir()
    (tmp_path / "dask-scratch-space").symlink_to(target)
    library.sweep(scenario, VALUES, engine=named("dask", threads=1))
    assert list(target.iterdir()) == []
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith("perhop-dask-")] == []


@pytest.fixture
def nobody_listens() -> Iterator[str]:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{unused.getsockname()[1]}"


@pytest.mark.parametrize("scheme", ["tcp://", ""])
def test_a_scheduler_without_tls_has_a_warning(
    scheme: str, nobody_listens: str, perhop: Command, scenario: Path
) -> None:
    address = f"{scheme}{nobody_listens}"
    with (
        pytest.warns(ExposedClusterWarning, match="has no TLS"),
        pytest.raises(InvalidInputError, match="no scheduler answers"),
    ):
        library.sweep(scenario, VALUES, engine=named("dask", scheduler=address))


def test_the_command_line_shows_that_warning(nobody_listens: str, perhop: Command, scenario: Path) -> None:
    line = ["sweep", scenario, "--set", "seed=1,2", "--duration", "2s", "--engine", "dask"]
    ended = perhop(*line, "--scheduler", f"tcp://{nobody_listens}")
    assert ended.code == 2
    assert f"warning: the cluster at `tcp://{nobody_listens}` has no TLS" in ended.err


def certificates(folder: Path, name: str) -> tuple[Path, Path]:
    """A certificate that is its own authority, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    certificate, key = folder / f"{name}.pem", folder / f"{name}.key"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}"),
            *("-days", "2", "-keyout", str(key), "-out", str(certificate)),
        ],
        check=True,
        capture_output=True,
    )
    return certificate, key


@pytest.fixture
def protected(tmp_path: Path) -> Iterator[tuple[str, Path, Path]]:
    """A scheduler and a worker with certificates: the address, the certificate and its key."""
    certificate, key = certificates(tmp_path, "cluster")
    files = ["--tls-ca-file", certificate, "--tls-cert", certificate, "--tls-key", key]
    file = tmp_path / "scheduler.json"
    scheduler = ["distributed.cli.dask_scheduler", "--protocol", "tls", "--host", "127.0.0.1", "--port", "0"]
    worker = ["distributed.cli.dask_worker", "--scheduler-file", file, "--protocol", "tls", "--nthreads", "1"]
    worker += ["--no-nanny", "--host", "127.0.0.1", "--death-timeout", "60"]
    ways = [[*scheduler, "--scheduler-file", file], worker]
    with contextlib.ExitStack() as stack:
        for way in ways:
            line = [sys.executable, "-m", *map(str, way), "--no-dashboard", *map(str, files)]
            process = subprocess.Popen(
                line, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
            until = time.monotonic() + WITHIN_S
            while not file.exists():
                assert time.monotonic() < until and process.poll() is None
                time.sleep(0.1)
        yield json.loads(file.read_text())["address"], certificate, key


@pytest.mark.touched
def test_a_scheduler_with_tls_requires_its_certificate(
    protected: tuple[str, Path, Path], scenario: Path, tmp_path: Path
) -> None:
    address, certificate, key = protected
    assert address.startswith("tls://")

    def sides(certificate: Path, key: Path) -> dict[str, str]:
        prefix = "distributed.comm.tls"
        return {
            f"{prefix}.ca-file": str(tmp_path / "cluster.pem"),
            f"{prefix}.client.cert": str(certificate),
            f"{prefix}.client.key": str(key),
        }

    engine = named("dask", scheduler=address)
    with dask.config.set(sides(certificate, key)):
        library.sweep(scenario, VALUES, output=tmp_path / "dask", engine=engine)
    library.sweep(scenario, VALUES, output=tmp_path / "embedded")
    assert files_in(tmp_path / "dask") == files_in(tmp_path / "embedded")
    with pytest.raises(InvalidInputError, match="no scheduler answers") as refused:
        library.sweep(scenario, VALUES, engine=engine)
    assert "DASK_DISTRIBUTED__COMM__TLS__CA_FILE" in str(refused.value.help)
    with (
        dask.config.set(sides(*certificates(tmp_path, "stranger"))),
        pytest.raises(InvalidInputError, match="no scheduler answers"),
    ):
        library.sweep(scenario, VALUES, engine=engine)
