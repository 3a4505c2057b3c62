"""Refuse a commit message whose subject is not `component: imperative` or has more than 72 characters.

pre-commit calls this program with the file that contains the message. CONTRIBUTING.md states the rule.
"""

import re
import sys
from pathlib import Path

LONGEST = 72
# The subject of a merge or a revert is the subject that git generates.
SUBJECT = re.compile(r"[a-z][a-z0-9-]*([+/][a-z0-9-]+)*: \S.*[^.\s]|Merge .*|Revert .*|(fixup|squash)! .*")


def fault(message: str) -> str | None:
    """Return the fault in the subject of a message; `None` if there is none."""
    subject, _, rest = message.partition("\n")
    if len(subject) > LONGEST:
        return f"the subject has {len(subject)} characters; at most {LONGEST}"
    if not SUBJECT.fullmatch(subject):
        return "the subject must be `component: what was done`, without a period at the end"
    if rest and not rest.startswith("\n"):
        return "a blank line must separate the subject from the body"
    return None


if __name__ == "__main__":
    found = fault(Path(sys.argv[1]).read_text(encoding="utf-8"))
    if found:
        sys.exit(f"error: {found}")
