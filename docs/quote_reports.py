"""Quote the reports in FOLDER, from `perhop study run --all -o FOLDER`, in the READMEs of the studies."""

import sys
from pathlib import Path

BEGIN = "<!-- report: begin"
END = "<!-- report: end -->"
# Rows that are compared with nothing would bury those that are.
LEFT_OUT = "| not comparable |"


def quoted(readme: str, report: str) -> str:
    """Return the README with the report between its two marks, from the report's first section on."""
    before, begin, rest = readme.partition(BEGIN)
    mark = rest.partition("\n")[0]
    _, end, after = rest.partition(END)
    if not (begin and end):
        return readme
    sections = report[report.index("\n## ") :].strip()
    lines = [line for line in sections.splitlines() if LEFT_OUT not in line]
    return f"{before}{begin}{mark}\n\n" + "\n".join(lines) + f"\n\n{end}{after}"


def main(results: Path) -> None:
    """Write the README of each study that has a report in `results`."""
    for readme in (Path(__file__).parents[1] / "studies").glob("*/README.md"):
        report = results / readme.parent.name / "report.md"
        if report.is_file():
            texts = readme.read_text(encoding="utf-8"), report.read_text(encoding="utf-8")
            readme.write_text(quoted(*texts), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
