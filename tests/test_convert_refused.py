"""Lines of the input of `perhop convert` that its device refuses."""

from __future__ import annotations

from pathlib import Path

from conftest import Command


def test_refused_lines_of_the_input_are_reported(perhop: Command, tmp_path: Path) -> None:
    file = tmp_path / "up.tc"
    classes = "tc class add dev eth0 parent 1: classid 1:1 htb rate 9mbit\n"
    good = f"tc qdisc add dev eth0 root handle 1: htb default 1\n{classes}"
    file.write_text(f"{good}tc class add dev eth0 parent 1:1 classid 1:20 htb rate 6mbt\n")
    ended = perhop("convert", file, "--to", "yaml")
    assert ended.code == 2
    assert f"error: {file}, line 3: `rate 6mbt` of htb" in ended.err
    assert "1:1" in ended.out and "1:20" not in ended.out
    (line,) = perhop("convert", file, "--to", "ios", "--json").json()["refused"]
    assert (line["line"], line["interfaces"]) == (3, ["eth0"])
    file.write_text(good)
    assert perhop("convert", file, "--to", "yaml").code == 0
