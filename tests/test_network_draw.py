"""`perhop draw FOLDER`: the picture of a network of devices."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from conftest import Command

SVG = "{http://www.w3.org/2000/svg}"
Box = tuple[float, float, float, float]


def tree(folder: Path, routers: int, fan_out: int) -> Path:
    """Write a tree of routers, each with a link to its parent, and a LAN at each leaf."""
    ports: dict[int, list[str]] = {number: [] for number in range(routers)}
    for number in range(1, routers):
        parent = (number - 1) // fan_out
        subnet = f"10.{128 + number // 256}.{number % 256}"
        for end, host in ((parent, 1), (number, 2)):
            ports[end].append(f" ip address {subnet}.{host} 255.255.255.252")
    for number, addresses in ports.items():
        if number * fan_out + 1 >= routers:
            addresses.append(f" ip address 10.{number // 256}.{number % 256}.1 255.255.255.0")
        lines = [f"interface GigabitEthernet0/{place}\n{line}" for place, line in enumerate(addresses)]
        (folder / f"r{number}.cfg").write_text("\n".join([f"hostname site-{number:03}-edge", *lines, ""]))
    return folder


def boxes_of(picture: Path) -> tuple[list[Box], list[Box], set[str]]:
    """Return the boxes of devices, the boxes of labels, and the labels."""
    root = ET.parse(picture).getroot()
    shapes, labels, names = [], [], set()
    for rectangle in root.iter(f"{SVG}rect"):
        if "router" in rectangle.get("class", ""):
            x, y, width, height = (float(rectangle.get(key, "0")) for key in ("x", "y", "width", "height"))
            shapes.append((x, y, x + width, y + height))
    for label in root.iter(f"{SVG}text"):
        size, x, y = (float(label.get(key, "0")) for key in ("font-size", "x", "y"))
        # A letter of a sans-serif font is on average half as wide as high (Helvetica: 0.5 to 0.56).
        half = 0.56 * size * len(label.text or "") / 2
        labels.append((x - half, y - 0.75 * size, x + half, y + 0.25 * size))
        names.add(label.text or "")
    return shapes, labels, names


def overlaps(boxes: list[Box]) -> list[tuple[Box, Box]]:
    return [
        (a, b)
        for a, b in combinations(boxes, 2)
        if a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
    ]


@pytest.mark.parametrize(("routers", "fan_out"), [(300, 299), (300, 8), (120, 1), (3, 2)])
def test_labels_do_not_overlap(perhop: Command, tmp_path: Path, routers: int, fan_out: int) -> None:
    (tmp_path / "net").mkdir()
    picture = tmp_path / "net.svg"
    ended = perhop("draw", tree(tmp_path / "net", routers, fan_out), "-o", picture)
    assert ended.code == 0, ended.err
    shapes, labels, names = boxes_of(picture)
    assert {f"site-{number:03}-edge" for number in range(routers)} <= names
    assert len(shapes) == routers
    assert not overlaps(shapes)
    assert not overlaps(labels)
    root = ET.parse(picture).getroot()
    width, height = float(root.get("width", "0")), float(root.get("height", "0"))
    assert all(x >= 0 and y >= 0 and right <= width and low <= height for x, y, right, low in labels)
    assert width < 4000
    lines = [
        title
        for title in root.iter(f"{SVG}title")
        if re.search("Ethernet0/.* - .*Ethernet0/", title.text or "")
    ]
    assert len(lines) == routers - 1


def test_values_of_scenarios_are_refused(perhop: Command, tmp_path: Path) -> None:
    (tmp_path / "net").mkdir()
    ended = perhop("draw", tree(tmp_path / "net", 3, 2), "--set", "duration=1s")
    assert ended.code == 2
    assert "--set" in ended.err
