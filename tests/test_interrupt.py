"""Ctrl-C and SIGTERM: the run stops soon, and no incomplete file remains."""

from __future__ import annotations

import importlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from conftest import HANGS_AFTER_S, command_line, leftovers
from perhop import batch, interrupts
from perhop.command.terminal import print_note
from perhop.document import Document
from perhop.interrupts import EndedBySignal
from perhop.running import Progress
from perhop.scenario import Scenario

# Hours of work, with few samples.
LONG = (
    *("--duration", "1000000s", "--replications", "100"),
    *("--set", "measure.queues.0.every=100s", "--set", "measure.throughput-every=100s"),
)


def _await_simulation(process: subprocess.Popen[Any]) -> None:
    """Wait until a run has threads that simulate."""
    until = time.monotonic() + HANGS_AFTER_S
    while time.monotonic() < until:
        assert process.poll() is None, process.communicate()
        if int(re.findall(r"Threads:\s+(\d+)", Path(f"/proc/{process.pid}/status").read_text())[0]) > 1:
            return
        time.sleep(0.05)
    raise AssertionError("the run does not begin")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 3), (signal.SIGTERM, 3)])
def test_a_long_run_is_interrupted(scenario: Path, number: signal.Signals, code: int) -> None:
    out = scenario.parent / "out"
    line = command_line(["run", scenario, *LONG, "-o", out, "--json"])
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    _await_simulation(process)
    process.send_signal(number)
    output, complained = process.communicate(timeout=HANGS_AFTER_S)
    assert process.returncode == code
    assert "Traceback" not in complained
    assert '"error"' in output
    assert not out.exists()
    assert leftovers(scenario.parent) == []


def test_an_earlier_result_survives_an_interrupted_run(scenario: Path) -> None:
    out = scenario.parent / "out"
    subprocess.run(command_line(["run", scenario, "-o", out, "-q"]), check=True)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    process = subprocess.Popen(
        command_line(["run", scenario, *LONG, "-o", out]),
        stderr=subprocess.PIPE,
    )
    _await_simulation(process)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=HANGS_AFTER_S)
    assert process.returncode == 3
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_an_ignored_ctrl_c_stays_ignored(scenario: Path) -> None:
    """A shell ignores Ctrl-C for its jobs in the background; SIGTERM still ends them."""
    line = " ".join(command_line(["run", scenario, *LONG]))
    process = subprocess.Popen(
        ["bash", "-c", f"trap '' INT; exec {line}"], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    _await_simulation(process)
    process.send_signal(signal.SIGINT)
    time.sleep(1)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    _, complained = process.communicate(timeout=HANGS_AFTER_S)
    assert (process.returncode, complained) == (3, "terminated: nothing was written\n")


def _assert_ends_by_signal_in_callback(preparation: str, ending: str) -> None:
    """Run a program that gets a signal in the callback of a weak reference, and assert that it handles it.

    `preparation` runs before signals are handled. `ending` is the statement that handles the exception.
    """
    program = (
        "import os, sys, time, weakref\n"
        "from perhop import interrupts\n"
        f"{preparation}"
        "def callback(gone):\n"
        "    os.kill(os.getpid(), int(sys.argv[1]))\n"
        "    for _ in range(1000): pass\n"
        "class Module: pass\n"
        "interrupts.handle()\n"
        "module = Module()\n"
        "kept = weakref.ref(module, callback)\n"
        "try:\n"
        "    del module\n"
        # Python does not look for signals between the callback and the first sleep.
        "    for _ in range(400): time.sleep(0.1)\n"
        f"except (KeyboardInterrupt, interrupts.EndedBySignal): {ending}\n"
    )
    for number in (signal.SIGINT, signal.SIGTERM):
        line = [sys.executable, "-c", program, str(int(number))]
        ended = subprocess.run(line, capture_output=True, text=True, timeout=50, check=False)
        assert (ended.returncode, ended.stderr) == (3, "")


def test_a_signal_inside_a_callback_is_raised_later() -> None:
    """The tested callback is that of a weak reference, as the import of a module runs it."""
    _assert_ends_by_signal_in_callback("", "sys.exit(3)")


def test_a_retry_inside_the_hook_for_ignored_exceptions_is_retried_again() -> None:
    """On a busy machine, the alarm rings before the hook ends. Python would ignore its exception, too."""
    slow = (
        "again, calls = interrupts._come_again, []\n"
        "def come_again(number):\n"
        "    again(number)\n"
        "    calls.append(number)\n"
        "    if len(calls) == 1: time.sleep(0.1)\n"
        "interrupts._come_again = come_again\n"
    )
    _assert_ends_by_signal_in_callback(slow, "sys.exit(3 if len(calls) > 1 else 4)")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_does_not_interrupt_an_import(tmp_path: Path, number: signal.Signals) -> None:
    """An interrupted import would leave a partly initialized module, whose next import would fail."""
    (tmp_path / "torn.py").write_text(
        "import os, sys, time\nos.kill(os.getpid(), int(sys.argv[1]))\ntime.sleep(0.1)\nwhole = True\n"
    )
    importing = (
        "import sys, time\n"
        "from perhop import interrupts\n"
        "interrupts.handle()\n"
        "try:\n"
        "    import torn\n"
        "    time.sleep(60)\n"
        "except BaseException as error:\n"
        "    print(type(error).__name__, sys.modules['torn'].whole)\n"
    )
    line = [sys.executable, "-c", importing, str(int(number))]
    ended = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, timeout=50, check=False)
    raised = "KeyboardInterrupt" if number == signal.SIGINT else "EndedBySignal"
    assert (ended.stdout, ended.stderr) == (f"{raised} True\n", "")


def test_a_pending_signal_is_discarded_at_the_end() -> None:
    """The alarm that repeats a pending signal would end the process before its exit code is set."""
    ending = (
        "import os, signal, sys, time\n"
        "from perhop import interrupts\n"
        "interrupts.handle()\n"
        "__name__ = 'polars'\n"
        "os.kill(os.getpid(), signal.SIGINT)\n"
        "interrupts.handle_as(signal.SIG_IGN)\n"
        "signal.signal(signal.SIGALRM, signal.SIG_DFL)\n"
        "time.sleep(0.1)\n"
        "sys.exit(7)\n"
    )
    ended = subprocess.run([sys.executable, "-c", ending], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (7, "")


def test_an_interrupt_at_the_start_shows_no_traceback() -> None:
    """The interrupt arrives while the command line is loaded."""
    loading = (
        "import sys, perhop.errors\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, *more):\n"
        "        if name == 'perhop.command.direct': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "from perhop.__main__ import main; main()\n"
    )
    ended = subprocess.run([sys.executable, "-c", loading], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (3, "")
    assert ended.stderr == "interrupted: nothing was written\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_as_soon_as_it_is_handled_ends_with_a_message(number: signal.Signals) -> None:
    """The exception of the signal is raised before the command starts."""
    at_once = (
        "import signal, sys\n"
        "from perhop import interrupts\n"
        "handle = interrupts.handle\n"
        "def handled():\n"
        "    handle()\n"
        "    signal.raise_signal(int(sys.argv[1]))\n"
        "interrupts.handle = handled\n"
        "from perhop.command import main; main(['schema'])\n"
    )
    line = [sys.executable, "-c", at_once, str(int(number))]
    ended = subprocess.run(line, capture_output=True, text=True, check=False)
    word = "interrupted" if number == signal.SIGINT else "terminated"
    assert (ended.returncode, ended.stderr) == (3, f"{word}: nothing was written\n")


@pytest.mark.parametrize("library", ["matplotlib.transforms", "numpy.ma", "polars.frame"])
def test_a_signal_waits_for_native_code(library: str) -> None:
    """Native code replaces an exception of a Python callback with its own error."""
    working = (
        "import os, signal, sys, time\n"
        "from perhop import interrupts\n"
        "interrupts.handle()\n"
        "work = 'import os; os.kill(os.getpid(), 15)\\nfor _ in range(9): pass\\ndone.append(1)'\n"
        "done = []\n"
        "try:\n"
        "    exec(work, {'__name__': sys.argv[1], 'done': done})\n"
        "    time.sleep(60)\n"
        "finally: print(done)\n"
    )
    line = [sys.executable, "-c", working, library]
    ended = subprocess.run(line, capture_output=True, text=True, timeout=50, check=False)
    assert (ended.returncode, ended.stdout) == (3, "[1]\n")


@pytest.mark.parametrize("moment", ["taken", "to be released"])
def test_a_lock_is_not_left_taken_by_a_signal(moment: str) -> None:
    """A thread that waits for a locked lock, for example to deliver a result, would wait forever."""
    locking = (
        "import _thread, signal, sys, threading, time\n"
        "from functools import partial\n"
        "from perhop import interrupts\n"
        "interrupts.handle()\n"
        # In C, because the handler runs when Python code continues, that is, in the methods of `threading`.
        "send = partial(_thread.interrupt_main, signal.SIGTERM)\n"
        "class Sender:\n"
        "    __neg__ = send\n"
        "class Lock:\n"
        "    def __init__(self):\n"
        "        lock = threading.Lock()\n"
        "        self.acquire, self.release, self.locked = lock.acquire, lock.release, lock.locked\n"
        "    @property\n"
        "    def __enter__(self):\n"
        "        self.acquire()\n"
        "        return send if sys.argv[1] == 'taken' else time.time\n"
        "    def __exit__(self, *raised):\n"
        "        self.release()\n"
        "lock, sender = Lock(), Sender()\n"
        "try:\n"
        "    with threading.Condition(lock):\n"
        "        if sys.argv[1] == 'to be released': -sender\n"
        "    time.sleep(60)\n"
        "finally: print(lock.locked())\n"
    )
    line = [sys.executable, "-c", locking, moment]
    ended = subprocess.run(line, capture_output=True, text=True, timeout=50, check=False)
    assert (ended.returncode, ended.stdout) == (3, "False\n"), ended.stderr


def test_a_message_is_one_line_for_any_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message of a signal must not follow on the same line."""
    written = []

    class Disturbed:
        def write(self, text: str) -> None:
            written.append(text)
            raise KeyboardInterrupt

    monkeypatch.setattr(sys, "stderr", Disturbed())
    with pytest.raises(KeyboardInterrupt):
        print_note("written to out")
    assert written == ["written to out\n"]


class _Disturbed(ThreadPoolExecutor):
    """An executor that sends a signal at each submission of work to a thread."""

    def submit(self, *given: Any, **named: Any) -> Future[Any]:
        signal.raise_signal(signal.SIGTERM)
        return super().submit(*given, **named)


@pytest.fixture
def ended() -> Iterator[None]:
    """SIGTERM ends the called function, as it ends a command."""

    def ends(number: int, frame: object) -> None:
        raise EndedBySignal(number)

    before = signal.signal(signal.SIGTERM, ends)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.usefixtures("ended")
def test_a_report_whose_thread_starts_is_written_before_the_signal_ends_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = importlib.import_module("perhop.command.study")
    monkeypatch.setattr(module, "ThreadPoolExecutor", _Disturbed)
    options = {"only": ["scenario-1"], "replications": 1, "sensitivity": False, "quiet": True}
    with pytest.raises(SystemExit):
        module.run(["car-wfq-tcp"], output=tmp_path, **options)
    assert (tmp_path / "car-wfq-tcp" / "manifest.json").exists()


@pytest.mark.usefixtures("ended")
def test_a_report_is_written_in_spite_of_repeated_interrupts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = importlib.import_module("perhop.command.study")
    written = []

    def write(report: object, folder: Path, **_: bool) -> None:
        for _ in range(3):
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.1)
        written.append(folder)

    monkeypatch.setattr(module, "_write", write)
    options = {"only": ["scenario-1"], "replications": 1, "sensitivity": False, "quiet": True}
    with pytest.raises(SystemExit):
        module.run(["car-wfq-tcp"], output=tmp_path, **options)
    assert written == [tmp_path / "car-wfq-tcp"]


@pytest.mark.usefixtures("ended")
def test_a_batch_whose_threads_start_is_given_up(scenario: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The batch ends without waiting for the work that its threads have started."""
    monkeypatch.setattr(batch, "ThreadPoolExecutor", _Disturbed)
    finished = []

    def simulated(job: Document, *, progress: Callable[[Progress], None], **_: object) -> None:
        for _ in range(500):
            progress(Progress(0.0, 0.0, 0))
            time.sleep(0.01)
        finished.append(job)

    monkeypatch.setattr(batch, "simulate", simulated)
    jobs = [batch.Job(Scenario.load(scenario), seed, 1) for seed in (1, 2)]
    with pytest.raises(SystemExit):
        batch.simulate_all(jobs, 2, None)
    assert finished == []


@pytest.mark.parametrize(
    "sent", [KeyboardInterrupt(), EndedBySignal(signal.SIGTERM), EndedBySignal(signal.SIGHUP)]
)
def test_a_lock_broken_by_a_signal_is_not_reported(sent: BaseException) -> None:
    with pytest.raises(RuntimeError, match="release unlocked lock") as found:
        _tear(sent)
    assert interrupts.behind(found.value) is sent
    with pytest.raises(RuntimeError) as found:
        _tear(ValueError("no signal"))
    assert interrupts.behind(found.value) is found.value


def _tear(sent: BaseException) -> None:
    """Leave the state of a `Condition.wait` that a signal interrupts before the lock is taken again."""
    lock = threading.Lock()
    with lock:
        lock.release()
        raise sent
