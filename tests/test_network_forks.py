"""Networks in a fork of a Python process that has read a network before (`multiprocessing`)."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from perhop.network import Network

TEXT = """\
hostname R{number}
interface GigabitEthernet0/0
 ip address 192.0.2.{number} 255.255.255.252
interface GigabitEthernet0/1
 ip address 10.{number}.0.1 255.255.255.0
"""
#: Seconds after which the fork hangs.
PATIENCE = 120


def devices(folder: Path) -> list[str]:
    return [device["name"] for device in Network.read(folder).summary()["devices"]]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # a fork of a process with threads
def test_a_fork_answers_with_threads_of_its_own(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"r{number}.cfg").write_text(TEXT.format(number=number))
    expected = devices(tmp_path)
    assert expected == ["R1", "R2"]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(devices, [tmp_path] * 4).get(PATIENCE) == [expected] * 4
