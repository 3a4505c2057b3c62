"""Links to the playground may be hostile: one text, keys of a schema, a limited number of bytes."""

from __future__ import annotations

import subprocess

import pytest

from conftest import ROOT
from programs import lacking

# Packs a state, whose text may be repeated, and prints the state as a reader of the link receives it.
_SCRIPT = """
import { readFileSync } from "node:fs";
const { packed, unpacked } = await import(`${process.argv[1]}/share.js`);
const state = Function(`return ${readFileSync(0, "utf8")}`)();
try { console.log(JSON.stringify(await unpacked(typeof state === "string" ? state : await packed(state)))); }
catch (error) { console.log(`refused: ${error.message}`); }
console.log(Math.round(process.memoryUsage().rss / 1e6));
"""


def read(state: str) -> tuple[str, int]:
    """Return the state that a reader of the link receives, and the memory used by the reader in megabytes."""
    if reason := lacking("node"):
        pytest.skip(reason)
    line = ["node", "--input-type=module", "-e", _SCRIPT, str(ROOT / "playground" / "src")]
    ended = subprocess.run(line, input=state, capture_output=True, text=True, check=True, timeout=120)
    found, megabytes = ended.stdout.splitlines()
    return found, int(megabytes)


def test_a_link_cannot_run_another_text_than_it_shows() -> None:
    found, _ = read('({text: "shown", around: {ask: "start", text: "run", loads: {a: 1}, rate: "1Mb/s"}})')
    assert found == '{"text":"shown","around":{"rate":"1Mb/s","loads":{"a":1}}}'
    main = (ROOT / "playground" / "src" / "main.js").read_text()
    assert '{ ...state.around, ask: "around", text }' in main, "the text of the editor comes last"


def test_a_link_that_inflates_beyond_the_limit_is_refused_early() -> None:
    found, _ = read('({text: "a".repeat(1_900_000)})')
    assert found.startswith('{"text":"aaa')
    found, _ = read('({text: "a".repeat(5_000_000)})')
    assert found == "refused: the link has more than 4194304 bytes"
    # 200 MB of zeros, compressed.
    bomb = """(() => { const z = process.getBuiltinModule("node:zlib");
      return z.deflateRawSync(Buffer.alloc(200e6)).toString("base64url"); })()"""
    found, _ = read(bomb)
    assert found == "refused: the link has more than 4194304 bytes"
    found, _ = read('"A".repeat(1_048_577)')
    assert found == "refused: the link has more than 1048576 letters"


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("({})", "an invalid `text` in its scenario"),
        ("({text: 1})", "an invalid `text` in its scenario"),
        ("([])", "the link has no scenario"),
        ('({text: "", seed: 1.5})', "an invalid `seed` in its scenario"),
        ('({text: "", around: {loads: {a: "x"}}})', "an invalid `loads` in its traffic"),
        ('({text: "", lessons: {texts: {a: 1}}})', "an invalid `texts` in its lessons"),
        ('({text: "", lessons: {entries: {a: {scenario: 1}}}})', "an invalid `scenario` in its lessons"),
    ],
)
def test_a_state_of_another_kind_is_refused(state: str, said: str) -> None:
    found, _ = read(state)
    assert found.startswith("refused: ") and said in found


def test_a_whole_state_comes_back() -> None:
    state = (
        '{"text":"t","around":{"interface":"Gi0","rate":"1Mb/s","ring":3,"loads":{"a":1}},"seed":7,"port":"a->b",'
        '"at":0.5,"place":3,"lessons":{"lesson":"one","student":"s","texts":{"one":"t"},'
        '"entries":{"one":{"lesson":"one","scenario":"t","seed":1,"check":"c","met":true,"measured":[1,null]}}}}'
    )
    assert read(f"({state})")[0] == state
