"""Make the pictures of README and docs with the program itself: `make docs-pictures`.

    python tools/docs_pictures.py [FOLDER]

All pictures are SVG: they are small, and a diff shows their changes. The picture of a terminal has the output
of the command.
"""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

_ROOT = Path(__file__).parent.parent
PICTURES = _ROOT / "docs" / "pictures"
_COLUMNS = 96
_FIFO = ["--set", "policies.wan.queueing.scheduler=fifo"]
# Commands in the order of their execution, and the file that each command writes for the documentation, if
# any.
_COMMANDS: list[tuple[list[str], str | None]] = [
    (["init", "first"], None),
    (["init", "classes", "--template", "classes"], None),
    (["init", "wred", "--template", "wred"], None),
    (["draw", "classes", "-o", "policy.svg"], "policy.svg"),
    (["run", "first", "-q", "-o", "priority"], None),
    (["run", "first", "-q", "-o", "fifo", *_FIFO], None),
    (["plot", "delay-cdf", "priority", "fifo", "--log-x", "-o", "delay.svg"], "delay.svg"),
    (["run", "wred", "-q", "--plot", "queue=queue.svg"], "queue.svg"),
    (["run", "classes", "-q", "--plot", "throughput-stacked=throughput.svg"], "throughput.svg"),
    (["draw", str((_ROOT / "examples" / "network").absolute()), "-o", "network.svg"], "network.svg"),
]
# The arguments of the command that README shows.
_TYPED = ["run", "first"]
# The picture uses the fonts of the reader's machine. The format of rich would load a font from the network.
_FORMAT = """\
<svg class="terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: "DejaVu Sans Mono", Menlo, Consolas, monospace;
  font-size: {char_height}px; line-height: {line_height}px; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/></clipPath>{lines}</defs>
<rect width="{width}" height="{height}" rx="8" fill="#12181f"/>
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g>
</svg>
"""
_COLORS = [(18, 24, 31), (255, 138, 92), (31, 196, 154), (240, 180, 41), (86, 180, 233), (229, 156, 201)]
_COLORS += [(95, 208, 195), (230, 237, 243)]
_THEME = TerminalTheme((18, 24, 31), (230, 237, 243), _COLORS)


def made(folder: Path) -> list[str]:
    """Make all pictures in a folder and return their names."""
    names = ["terminal.svg"]
    with tempfile.TemporaryDirectory() as work:
        for command, picture in _COMMANDS:
            subprocess.run(
                [sys.executable, "-m", "perhop", *command], cwd=work, check=True, capture_output=True
            )
            if picture is not None:
                (folder / picture).write_text((Path(work) / picture).read_text("utf-8"), "utf-8")
                names.append(picture)
        (folder / "terminal.svg").write_text(_still(Path(work)), "utf-8")
    return names


def _still(work: Path) -> str:
    """Return a picture of a terminal with the output of a command."""
    screen = Console(width=_COLUMNS, record=True, file=io.StringIO())
    screen.print(Text(f"$ perhop {' '.join(_TYPED)}", style="bold"))
    screen.print(Text.from_ansi(_printed(work)))
    return screen.export_svg(title="perhop", theme=_THEME, code_format=_FORMAT, unique_id="terminal")


def _printed(work: Path) -> str:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(_COLUMNS), "LINES": "60", "TERM": "xterm-256color"}
    with subprocess.Popen(
        [sys.executable, "-m", "perhop", *_TYPED],
        cwd=work, env=environment, stdout=theirs, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 65536):
                shown += part
        except OSError:
            # On Linux, a read fails if no process has the other side of the terminal open.
            pass
        if process.wait() != 0:
            raise RuntimeError(shown.decode())
    os.close(ours)
    return shown.decode().replace("\r\n", "\n").rstrip()


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURES
    target.mkdir(exist_ok=True)
    sys.stdout.write("\n".join(str(target / name) for name in made(target)) + "\n")
