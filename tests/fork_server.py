"""Forks a command of perhop for every request on its socket, and replies with its end; see `forks`.

The arguments of this program are the number of the socket and the modules to load. A request is a line of
JSON that comes with three descriptors, the standard streams of the command:

- `folder`, `arguments`, `environment`: the folder in which the command runs, its words, and all its variables
- `hangs_after_s`: the time after which a command that still runs is aborted
- `is_limited`: whether it has the processor time and memory of `_LIMITS`
- `signal` after `after_s`: a signal that the server sends to the command
- `fault`: the call that fails (faults.c), with the file `log` for the list of calls
"""

from __future__ import annotations

import atexit
import ctypes
import faulthandler
import gc
import importlib
import json
import os
import resource
import select
import signal
import socket
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any

from perhop.__main__ import main
from perhop.interrupts import ENDING

# The limits for a hostile input: 60 s of processor time, 8 GB of addresses.
_LIMITS = {resource.RLIMIT_CPU: 60, resource.RLIMIT_AS: 8 << 30}
_TO_WRITE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# A fork has only its main thread. Polars starts these threads at its import, and its pool at the first use.
# Forks work without them: the allocator handles forks, and the cleaner removes files of results that exceed
# the memory.
_NOT_MISSED = {"python", "jemalloc_bg_thd", "polars-ooc-clea"}
# A folder that logs of system calls do not list among the files of the command.
_LOG = 900


def _command(request: dict[str, Any]) -> None:
    """Run a command in this process, and end the process."""
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    if request["is_limited"]:
        for limit, most in _LIMITS.items():
            resource.setrlimit(limit, (most, most))
    sys.argv = ["perhop", *request["arguments"]]
    if "fault" in request:
        os.dup2(os.open(request["log"], _TO_WRITE), _LOG)
        arm = ctypes.CDLL(None).faults_arm
        arm.argtypes = [ctypes.c_char_p, ctypes.c_long, ctypes.c_int, ctypes.c_int, ctypes.c_int]
        arm(request["folder"].encode(), *request["fault"], _LOG)
    main()


def _end(code: int) -> None:
    """End the process as the interpreter does, except for freeing its objects.

    Freeing the objects takes ten times as long as a short command.
    """
    threading._shutdown()
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
    except OSError:
        # The interpreter exits with 120 if it cannot flush standard output.
        code = 120
    os._exit(code)


def _run(request: dict[str, Any], streams: list[int], requests: socket.socket, *, is_loaded: bool) -> Any:
    """Return the exit code and the resources of a command that ran in its own process."""
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        requests.close()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        try:
            _command(request)
        except SystemExit as ended:
            if not is_loaded:
                raise
            _end(int(ended.code or 0))
        except BaseException:
            traceback.print_exc()
            _end(1)
    for stream in streams:
        os.close(stream)
    process = os.pidfd_open(child)
    if "signal" in request and not _has_ended(process, request["after_s"]):
        signal.pidfd_send_signal(process, request["signal"])
    if not _has_ended(process, request["hangs_after_s"]):
        # The dump shows the position of each thread; the exit code is not a code of any command.
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


def _received(requests: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    """Return the next request and its descriptors, `None` after the test process closed the socket."""
    line, streams, _, _ = socket.recv_fds(requests, 65536, 3)
    while line and not line.endswith(b"\n"):
        line += requests.recv(65536)
    return (json.loads(line), streams) if line else None


def _serve(requests: socket.socket, modules: list[str]) -> None:
    # Before perhop installs its handlers, Ctrl-C must end the command without an exception in the server's
    # code. The parent of the tests may ignore signals: nohup ignores SIGHUP, and a shell ignores Ctrl-C for
    # background jobs.
    for number in ENDING:
        signal.signal(number, signal.SIG_DFL)
    faulthandler.enable(file=2)
    for name in modules:
        importlib.import_module(name)
    threads = {task.joinpath("comm").read_text().strip() for task in Path("/proc/self/task").iterdir()}
    assert threads <= _NOT_MISSED, f"forks would miss some of {threads}"
    # A collection in a fork would copy every page of the loaded modules.
    gc.collect()
    gc.freeze()
    while (request := _received(requests)) is not None:
        ended = _run(*request, requests, is_loaded=bool(modules))
        requests.sendall(json.dumps(ended).encode() + b"\n")


if __name__ == "__main__":
    # A fork that starts a program does not pass the socket on.
    _serve(socket.socket(fileno=int(sys.argv[1])), sys.argv[2:])
