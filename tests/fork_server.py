"""Forks a command of perhop for every line on its input, and tells on its output how it ended; see `forks`.

Its arguments are the modules that commands find loaded. A line is JSON: the `folder` in which the command
runs, its `arguments`, the files of what it says (`said`, `printed`), and what happens to it, if anything: a
`signal` after `after_s`, or a `fault` (faults.c) whose calls are listed in the file `log`.
"""

from __future__ import annotations

import atexit
import ctypes
import faulthandler
import importlib
import json
import os
import resource
import select
import signal
import sys
import time
from pathlib import Path
from typing import Any

from perhop.__main__ import main
from perhop.interrupts import ENDING

# What a hostile input may take: 60 s of processor time, 8 GB of addresses.
_LIMITS = {resource.RLIMIT_CPU: 60, resource.RLIMIT_AS: 8 << 30}
# No command of these tests takes a minute.
_HANGS_AFTER_S = 600
_TO_WRITE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# A fork has its main thread only. Polars starts these when it is imported, and its pool when it is first
# used: the allocator knows of forks, and the cleaner removes what was too large for the memory.
_NOT_MISSED = {"python", "jemalloc_bg_thd", "polars-ooc-clea"}
# Where no reader of a log of system calls can mistake it for a file of the command.
_LOG = 900


def _command(told: dict[str, Any]) -> None:
    """Run a command in this process, from which nothing returns."""
    os.chdir(told["folder"])
    for limit, most in _LIMITS.items():
        resource.setrlimit(limit, (most, most))
    sys.argv = ["perhop", *told["arguments"]]
    if "fault" in told:
        os.dup2(os.open(told["log"], _TO_WRITE), _LOG)
        arm = ctypes.CDLL(None).faults_arm
        arm.argtypes = [ctypes.c_char_p, ctypes.c_long, ctypes.c_int, ctypes.c_int, ctypes.c_int]
        arm(told["folder"].encode(), *told["fault"], _LOG)
    main()


def _run(told: dict[str, Any], *, is_loaded: bool) -> dict[str, object]:
    """Return how a command in a process of its own ended, and what it took."""
    # Here, so that they are empty also where the command ends before it could open them.
    said, printed = (os.open(told[name], _TO_WRITE) for name in ("said", "printed"))
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        os.dup2(printed, 1)
        os.dup2(said, 2)
        try:
            _command(told)
        except SystemExit as ended:
            if not is_loaded:
                raise
            # All is written and said; to take the interpreter apart takes ten times as long as a command.
            atexit._run_exitfuncs()
            os._exit(int(ended.code or 0))
    os.close(said)
    os.close(printed)
    process = os.pidfd_open(child)
    if "signal" in told and not _has_ended(process, told["after_s"]):
        signal.pidfd_send_signal(process, told["signal"])
    if not _has_ended(process, _HANGS_AFTER_S):
        # It says where each thread is, and ends with a code that no command has.
        signal.pidfd_send_signal(process, signal.SIGABRT)
    os.close(process)
    _, status, used = os.wait4(child, 0)
    return {
        "code": os.waitstatus_to_exitcode(status),
        "lasted_s": time.monotonic() - began,
        "processor_s": used.ru_utime + used.ru_stime,
        "megabytes": used.ru_maxrss / 1024,
    }


def _has_ended(process: int, within_s: float) -> bool:
    return bool(select.select([process], [], [], within_s)[0])


def _serve(modules: list[str]) -> None:
    # Until perhop handles it, Ctrl-C is to end the command, and not to interrupt what is above. Who starts
    # tests may ignore signals: nohup does SIGHUP, a shell Ctrl-C for its jobs in the background.
    for number in ENDING:
        signal.signal(number, signal.SIG_DFL)
    faulthandler.enable(file=2)
    for name in modules:
        importlib.import_module(name)
    threads = {task.joinpath("comm").read_text().strip() for task in Path("/proc/self/task").iterdir()}
    assert threads <= _NOT_MISSED, f"forks would miss some of {threads}"
    for line in sys.stdin:
        sys.stdout.write(json.dumps(_run(json.loads(line), is_loaded=bool(modules))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _serve(sys.argv[1:])
