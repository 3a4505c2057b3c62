"""Verdicts and assertions of a run: on the terminal, in the document of `--json`, as the exit code."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from perhop.command.ink import BAD, DOUBTFUL, GOOD
from perhop.command.lines import show_lines, table_width
from perhop.command.terminal import print_note
from perhop.errors import Exit
from perhop.quantity import counted
from perhop.results import Results
from perhop.verdicts import Telephony, Verdict, assertions, document, line
from perhop.verdicts.assertions import Assertion, Judged

# Styles of words in verdicts. In the text of a verdict, no name precedes these words.
_STYLES = {
    r"\bno losses\b|\bfit for\b": GOOD,
    r"\bunfit for\b|\bstarved\b|\bnothing arrived\b": BAD,
    r"\bundecided\b": DOUBTFUL,
}
_ANSWERS = {r"(?<=^ )PASS\b": GOOD, r"(?<=^ )FAIL\b": BAD}
_HELD = {r"\b(?:it holds|all hold)$": GOOD, r"\b\d+ failed$": BAD}
# The longest name with a verdict on its line; longer ones have a separate line.
_LONGEST_NAME = 24
_NARROWEST = 40
# The replies of TCP, as results call them.
_BACK = " (back)"


@dataclass(frozen=True)
class Judging:
    """The options of verdicts: assertions, and assumptions about telephones."""

    asserted: Sequence[Assertion]
    telephony: Telephony

    @classmethod
    def from_options(
        cls, asserted: list[str] | None, codec: str | None, jitter_buffer: str | None
    ) -> Judging:
        """Read the options of a command; raises `InvalidInputError`."""
        return cls(assertions.read(asserted or []), Telephony.from_options(codec, jitter_buffer))

    def check(self, scenario: Mapping[str, Any]) -> None:
        """Before a run, refuse assertions about classes that the scenario lacks."""
        names = [str(traffic.get("class") or traffic["name"]) for traffic in scenario["traffic"]]
        names = list(dict.fromkeys(names))
        assertions.require_classes(self.asserted, [*names, *(name + _BACK for name in names)])

    def judge(self, results: Results) -> Judgement:
        """Return the verdicts and the judged assertions of a run."""
        verdicts = results.judged(self.telephony)
        judged = assertions.judge(self.asserted, verdicts, results.summary)
        return Judgement(verdicts, judged, self.telephony, results.replications)


@dataclass(frozen=True)
class Judgement:
    """The verdicts and the judged assertions of a run."""

    verdicts: Sequence[Verdict]
    judged: Sequence[Judged]
    telephony: Telephony
    replications: int

    @property
    def code(self) -> Exit:
        """The exit code: 4 if an assertion is false."""
        return Exit.OK if all(assertion.passed for assertion in self.judged) else Exit.NOT_MET

    def document(self) -> dict[str, Any]:
        """Return the keys that the judgment adds to the summary of a run."""
        found: dict[str, Any] = {"verdicts": [document(verdict) for verdict in self.verdicts]}
        if self.judged:
            found["assertions"] = [assertion.to_json() for assertion in self.judged]
        return found

    def show(self) -> None:
        """Print a line for each class, and one for each assertion."""
        show_lines(f"verdicts; calls: {self.telephony}", {})
        if notes := "; ".join(self._notes()):
            show_lines(f" {notes}", {})
        # The verdict on replies without losses adds nothing to the verdict on their class.
        spoken = [verdict for verdict in self.verdicts if verdict.cause or not verdict.name.endswith(_BACK)]
        room = min(max((len(verdict.name) + 1 for verdict in spoken), default=0), _LONGEST_NAME)
        for verdict in spoken:
            _show_beside(f"{verdict.name}:", line(verdict), room)
        if self.judged:
            print()
            show_judged(self.judged)

    def _notes(self) -> Iterator[str]:
        """Generate the notes: the origin of roles, and the lack of intervals."""
        if any(verdict.fitness.origin == "codepoint" for verdict in self.verdicts):
            yield "roles of codepoints by RFC 4594"
        if self.replications == 1:
            yield "1 replication: no interval"

    def report_failed(self) -> None:
        """Report the false assertions on stderr, for outputs that do not show the judgment."""
        for judged in self.judged:
            if not judged.passed:
                print_note(f"failed: {judged.text}: {measured_words(judged)}")


def _show_beside(name: str, words: str, room: int) -> None:
    """Print a name and its text in two columns; the text is wrapped."""
    width = max(table_width() - room - 3, _NARROWEST)
    lines = textwrap.wrap(words, width, break_long_words=False, break_on_hyphens=False)
    if len(name) > room:
        show_lines(f" {name}", {})
        name = ""
    for number, text in enumerate(lines):
        show_lines(f" {(name if number == 0 else ''):{room}}  {text}", _STYLES)


def show_judged(judged: Sequence[Judged]) -> None:
    """Print a line for each assertion: whether it is true, and the measured value."""
    room = max(len(assertion.text) for assertion in judged)
    for assertion in judged:
        answer = "PASS" if assertion.passed else "FAIL"
        show_lines(f" {answer}  {assertion.text:{room}}  {measured_words(assertion)}", _ANSWERS)
    failed = sum(not assertion.passed for assertion in judged)
    show_lines(
        f" {counted(len(judged), 'assertion')}, {failed} failed" if failed else _all_hold(len(judged)), _HELD
    )


def _all_hold(count: int) -> str:
    return f" {counted(count, 'assertion')}, {'it holds' if count == 1 else 'all hold'}"


def measured_words(judged: Judged) -> str:
    """Return the measured value, and whether its interval contains the bound."""
    if judged.measured is None:
        return f"not measured: {judged.why}"
    doubt = "; undecided: the bound is within the 95 % interval" if judged.uncertain else ""
    return judged.measured.shown().rstrip() + doubt
