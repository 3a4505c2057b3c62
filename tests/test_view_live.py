"""`--watch=web` of live runs and bridges: the page shows the forwarders' own counters."""

from __future__ import annotations

import json
import re
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from chromium import screenshot
from live_testbed import WITHIN_S, needs_rights, own_run
from perhop.live import namespaces
from test_live_bridge import POLICIES, SEND, bridged, ended
from test_live_run import SCENARIO
from test_watch import in_a_terminal
from watched import needs_view, needs_view_in_browser, until, view, watched

pytestmark = [needs_rights, own_run]


def rows(page: Any) -> dict[str, list[str]]:
    """The rows of the table of counters, as text."""
    found = [row.locator("th, td").all_inner_texts() for row in page.locator("#counters tr").all()[1:]]
    return {name: numbers for name, *numbers in found}


def expected(report: dict[str, Any], direction: str) -> dict[str, list[str]]:
    """Return the expected rows from a forwarder's report."""
    (found,) = (candidate for candidate in report["directions"] if candidate["name"] == direction)
    counted: dict[str, list[str]] = {queue["queue"]: ["0", "0", "0", "0", ""] for queue in found["waiting"]}
    for queue in found["queues"]:
        dropped = {cause: count["packets"] for cause, count in queue["dropped"].items()}
        why = ", ".join(f"{cause} {packets:,}" for cause, packets in dropped.items())
        numbers = (queue["arrived"]["packets"], queue["sent"]["packets"], sum(dropped.values()))
        counted[queue["queue"]] = [
            *(f"{number:,}" for number in numbers),
            f"{queue['marked']['packets']:,}",
            why,
        ]
    return counted


@needs_view_in_browser
def test_the_page_of_a_live_run_ends_with_its_counters(tmp_path: Path) -> None:
    file = tmp_path / "live.perhop.yaml"
    file.write_text(SCENARIO)
    arguments = ["live", "run", file, "--duration", "4s", "--json"]
    with watched(arguments, tmp_path) as here:
        with view(here.link) as seen:
            until(
                seen.page,
                "perhopView.frames.some(({ ports }) => ports.flat().some((one) => one.waiting > 0))",
            )
            assert seen.page.locator("#ports").locator("option:checked").inner_text() == "router → sink"
            assert seen.page.locator("#legend").inner_text().split() == ["steady", "rest"]
            port = seen.page.evaluate("perhopView.scene.port")
            assert (port["scheduler"], port["rate"]) == ("strict priority", "1 Mb/s")
            assert [queue["limit"] for queue in port["queues"]] == [64, 10], "what the scenario says"
            screenshot(seen.page, "watch-live")
            until(seen.page, "document.documentElement.dataset.ran === '1'")
            seen.page.wait_for_timeout(300)
            shown = rows(seen.page)
        code, out = here.ended()
    assert code == 0
    summary = json.loads(out)
    ports = {row["queue"]: row for row in summary["ports"] if row["port"] == "router->sink"}
    assert set(ports) == set(shown) == {"steady", "rest"}
    for queue, port in ports.items():
        numbers = [int(text.replace(",", "")) for text in shown[queue][:3]]
        metrics = ("arrived_packets", "sent_packets", "dropped_packets")
        assert numbers == [port[metric]["mean"] for metric in metrics], queue
    assert int(shown["rest"][2].replace(",", "")) > 50, "it was an overload"
    assert shown["rest"][4].startswith("queue-full ")


@needs_view
def test_an_interrupted_live_run_with_a_page_ends_normally(tmp_path: Path) -> None:
    file = tmp_path / "live.perhop.yaml"
    file.write_text(SCENARIO)
    with watched(["live", "run", file, "--duration", "60s", "-o", "results"], tmp_path) as here:
        time.sleep(1.0)
        assert here.interrupt()[0] == 3
    assert not (tmp_path / "results").exists()


def test_the_terminal_shows_the_queues_and_keeps_the_last_table(tmp_path: Path) -> None:
    file = tmp_path / "live.perhop.yaml"
    file.write_text(SCENARIO)
    code, drawn = in_a_terminal(
        ["live", "run", file, "--duration", "3s", "--watch", "--json"], columns=110, rows=40
    )
    assert code == 0, drawn
    assert "Live overload, " in drawn and "% of the run" in drawn
    assert re.search(r"router->sink.*steady", drawn)


@contextmanager
def relayed(namespace: str, port: int) -> Iterator[None]:
    """Relay connections from a loopback port of this machine to the loopback port of a namespace."""
    listening = socket.create_server(("127.0.0.1", port))
    serving: list[threading.Thread] = []

    def carry(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while part := source.recv(65536):
                target.sendall(part)
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    def serve(near: socket.socket) -> None:
        address = ("127.0.0.1", port)
        with near, suppress(OSError), namespaces.inside(namespace), socket.create_connection(address) as far:
            back = threading.Thread(target=carry, args=(far, near), daemon=True)
            back.start()
            carry(near, far)
            back.join()

    def accept() -> None:
        with suppress(OSError):
            while True:
                serving.append(threading.Thread(target=serve, args=(listening.accept()[0],), daemon=True))
                serving[-1].start()

    accepting = threading.Thread(target=accept, daemon=True)
    accepting.start()
    try:
        yield
    finally:
        # Closing the socket does not wake a thread that waits for a connection.
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        accepting.join()
        for thread in serving:
            thread.join()


@needs_view_in_browser
def test_the_page_of_a_bridge_ends_with_its_counters(tmp_path: Path) -> None:
    policies = tmp_path / "wan.perhop.yaml"
    policies.write_text(POLICIES)
    options = ["--policy", policies, "--name", "wan", "--rate", "8Mb/s", "--watch=web", "--no-open"]
    with bridged(*options) as (testbed, process):
        log = next(child.log for child in testbed.children if child.name == "bridge")
        router = testbed.state.namespaces["router"]
        link = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=\S+", log.read_text())
        assert link, log.read_text()
        with relayed(router, int(link[1])), view(link[0]) as seen:
            until(seen.page, "perhopView.started !== undefined")
            seen.page.select_option("#ports", label="eth0 → eth1")
            sender = testbed.start("left", "sender", "program", sys.executable, "-c", SEND)
            assert sender.process.wait(timeout=WITHIN_S) == 0, sender.failure()
            until(seen.page, "perhopView.frames.at(-1).ports.flat().some((one) => one.sent > 90)")
            screenshot(seen.page, "watch-bridge")
            report = ended(process, testbed)
            until(seen.page, "document.documentElement.dataset.ran === '1'")
            seen.page.wait_for_timeout(300)
            assert rows(seen.page) == expected(report, "eth0->eth1")
            assert "ended" in seen.page.inner_text("#status")
            # The server ends with the bridge. The page shows no error, and its content remains.
            seen.errors.clear()


@needs_view
@pytest.mark.parametrize("arguments", [["live", "run"], ["live", "bridge"]])
def test_help_names_the_view(arguments: list[str], perhop: Any) -> None:
    help_text = perhop(*arguments, "--help").out
    assert "--watch" in help_text and "--no-open" in help_text
