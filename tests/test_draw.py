"""Pictures of networks and policies: they contain every element, and no elements overlap."""

from __future__ import annotations

import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

import perhop
from conftest import ROOT, Command
from perhop.draw import draw, network, policies
from perhop.draw.layout import places
from programs import needs

SVG = "{http://www.w3.org/2000/svg}"
SCENARIOS = sorted(ROOT.glob("examples/*.perhop.yaml")) + sorted(ROOT.glob("studies/*/*.perhop.yaml"))


def texts(picture: ElementTree.Element) -> list[str]:
    return [text.text or "" for text in picture.iter(f"{SVG}text")]


@pytest.mark.parametrize("file", SCENARIOS, ids=lambda file: file.name)
def test_every_scenario_is_drawn(file: Path) -> None:
    scenario = perhop.Scenario.load(file)
    picture = ElementTree.fromstring(draw(scenario))
    words = texts(picture)
    for name in [*scenario["hosts"], *scenario.get("routers", {})]:
        assert name in words
    for flow in scenario["traffic"]:
        assert flow["name"] in words
    at = list(places(scenario).values())
    for index, (column, row) in enumerate(at):
        for other, level in at[index + 1 :]:
            assert column != other or abs(row - level) >= 0.999, "two nodes in one place"


def test_a_port_with_its_numbers() -> None:
    words = texts(
        ElementTree.fromstring(draw(perhop.Scenario.load(ROOT / "examples" / "nested-classes.perhop.yaml")))
    )
    for expected in (
        "Port router → sink, policy campus",
        "classifier",
        "dscp ef",
        "data/physics/bulk",
        "strict priority",
        "WF²Q+",
        "weight 2",
        "transmit ring",
        "1 packet",
        "10 Mb/s",
    ):
        assert expected in words, expected
    words = texts(ElementTree.fromstring(draw(perhop.Scenario.load(ROOT / "examples" / "wred.perhop.yaml"))))
    assert "0: 40 to 80 packets, up to 2 %" in words
    assert "token-bucket rate 6 Mb/s, burst 30 kB, excess yellow" in words


def test_a_title_names_the_counted_unit() -> None:
    loaded = perhop.Scenario.load(ROOT / "examples" / "nested-classes.perhop.yaml")
    for overhead, expected in ((18, "+ 18 B"), (-20, "- 20 B")):
        counting = loaded.set("policies.campus.overhead", overhead)
        title = f"Port router → sink, policy campus, counts IP {expected}"
        assert title in texts(ElementTree.fromstring(draw(counting)))


def test_a_scheduler_shows_the_total_limit_of_its_queues() -> None:
    loaded = perhop.Scenario.load(ROOT / "examples" / "nested-classes.perhop.yaml")
    limited = loaded.set("policies.campus.queueing.limit", "512 packets")
    assert "at most 512 packets in all" in texts(ElementTree.fromstring(draw(limited)))


def test_limits_by_drop_precedence() -> None:
    loaded = perhop.Scenario.load(ROOT / "examples" / "nested-classes.perhop.yaml")
    limits = {"weighted-tail-drop": {"limits": ["60 packets", "20kB"]}}
    weighted = loaded.set("policies.campus.queueing.classes.0.buffer", limits)
    words = texts(ElementTree.fromstring(draw(weighted)))
    for expected in ("weighted tail drop, at most", "0: 60 packets", "1: 20 kB"):
        assert expected in words, words


@pytest.mark.parametrize(
    ("buffer", "expected"),
    [
        (
            {"codel": {"law": "linux"}},
            ("CoDel (linux), at most 1000 packets", "target 5 ms, interval 100 ms"),
        ),
        (
            {"fq-codel": {"limit": "500 packets", "target": "1ms"}},
            ("FQ-CoDel (rfc), at most 500 packets", "target 1 ms, interval 100 ms"),
        ),
    ],
)
def test_delay_controllers_show_their_targets(buffer: dict[str, object], expected: tuple[str, ...]) -> None:
    loaded = perhop.Scenario.load(ROOT / "examples" / "nested-classes.perhop.yaml")
    drawn = loaded.set("policies.campus.queueing.classes.0.buffer", buffer)
    words = texts(ElementTree.fromstring(draw(drawn)))
    for word in expected:
        assert word in words, words


def test_pie_shows_its_target() -> None:
    loaded = perhop.Scenario.load(ROOT / "examples" / "nested-classes.perhop.yaml")
    pie = {"pie": {"law": "linux", "target": "20ms", "limit": "500 packets", "ecn": "mark"}}
    words = texts(ElementTree.fromstring(draw(loaded.set("policies.campus.queueing.classes.0.buffer", pie))))
    for expected in ("PIE (linux), at most 500 packets", "steers towards 20 ms", "marks ECN-capable packets"):
        assert expected in words, words
    flows = {"fq-pie": {"law": "linux"}}
    words = texts(
        ElementTree.fromstring(draw(loaded.set("policies.campus.queueing.classes.0.buffer", flows)))
    )
    assert "FQ-PIE (linux), at most 10240 packets" in words, words


def test_dualpi2_describes_both_queues() -> None:
    loaded = perhop.Scenario.load(ROOT / "examples" / "nested-classes.perhop.yaml")
    dual = {"dualpi2": {"law": "linux", "limit": "500 packets"}}
    words = texts(ElementTree.fromstring(draw(loaded.set("policies.campus.queueing.classes.0.buffer", dual))))
    assert "DualPI2 (linux), at most 500 packets" in words, words
    assert "classic queue: steers towards 15 ms" in words, words
    single = {"dualpi2": {"queues": "one", "limit": "500 packets"}}
    words = texts(
        ElementTree.fromstring(draw(loaded.set("policies.campus.queueing.classes.0.buffer", single)))
    )
    assert "PI2 (rfc), at most 500 packets" in words, words


def test_cake_shows_its_shaper_and_its_fairness() -> None:
    loaded = perhop.Scenario.load(ROOT / "examples" / "nested-classes.perhop.yaml")
    cake = {"name": "all", "buffer": {"cake": {"bandwidth": "9Mb/s", "tins": "diffserv4"}}}
    changed = loaded.set("policies.campus.queueing", {"classes": [cake]})
    words = texts(ElementTree.fromstring(draw(changed)))
    for expected in ("CAKE, shaped to 9 Mb/s", "diffserv4, triple-isolate", "round trips of 100 ms"):
        assert expected in words, words


def test_names_are_text_not_markup(scenario: Path) -> None:
    scenario.write_text(scenario.read_text().replace("steady", '"<b>&\\"steady"'))
    picture = ElementTree.fromstring(draw(perhop.Scenario.load(scenario)))
    assert '<b>&"steady' in texts(picture)
    assert not list(picture.iter(f"{SVG}b"))


def test_the_command(perhop: Command, scenario: Path, tmp_path: Path) -> None:
    ended = perhop("draw", scenario)
    assert (ended.code, ended.out) == (0, "")
    text = (tmp_path / "overload.svg").read_text()
    assert perhop("draw", scenario, "-o", "-").out == text
    faster = perhop("draw", scenario, "-o", "-", "--set", "links.1.rate=3Mb/s").out
    assert "3 Mb/s" in faster
    assert "3 Mb/s" not in text


def test_router_configurations_are_drawn_as_their_policies() -> None:
    scenario = perhop.Scenario.load(ROOT / "examples/router-configuration.perhop.yaml")
    for shown in (scenario, scenario.embedded()):
        names = [picture.title for picture in policies(shown)]
        assert any(name.startswith("port ") for name in names), names
        assert "class-default" in draw(shown)


def test_a_routers_configuration_is_drawn_interface_by_interface(perhop: Command, tmp_path: Path) -> None:
    ended = perhop("draw", ROOT / "examples" / "router.cfg")
    assert (ended.code, ended.out) == (0, ""), ended.err
    words = texts(ElementTree.fromstring((tmp_path / "router.svg").read_text()))
    for expected in (
        "branch: policies of 2 interfaces",
        "FastEthernet0/0: output",
        "Serial0/0: output, counts IP + 4 B",
        "dscp ef",
        "policed: rate 256 kb/s, burst 6400 B, while congested",
        "others/class-default",
        "fair queueing queues 256, flows exact, weights equal",
        "at most 16 packets of a flow, at most 4096 packets in all",
        "strict priority",
        "bandwidth 768 kb/s",
        "2 packets",
        "2 Mb/s",
        "hdlc",
        "192.168.1.2/30",
    ):
        assert expected in words, expected
    marked = ROOT / "studies" / "wred-bottleneck" / "router.cfg"
    words = texts(ElementTree.fromstring(perhop("draw", marked, "-o", "-").out))
    assert "FastEthernet3/1: input" in words
    assert "mark-precedence flash, transmit" in words
    assert "3: 15 to 30 packets, up to 50 %" in words, "thresholds of every precedence"
    assert "40 particles of 512 B behind the packet sent" in words


def test_undrawable_files_are_reported(perhop: Command, tmp_path: Path) -> None:
    (tmp_path / "bare.cfg").write_text("hostname bare\n")
    for arguments, expected in [
        (("bare.cfg",), "has no interface"),
        ((ROOT / "examples" / "router.cfg", "-o", "router.gif"), "use .svg, .png or .pdf"),
        (
            (ROOT / "examples" / "router.cfg", "--set", "links.0.rate=1Mb/s"),
            "not to router configurations",
        ),
    ]:
        ended = perhop("draw", *arguments)
        assert (ended.code, ended.out) == (2, "")
        assert expected in ended.err


LINUX = [ROOT / "examples" / "uplink.tc", *sorted(ROOT.glob("vectors/tc/*"))]


@pytest.mark.parametrize(
    "file", [*LINUX, *sorted(ROOT.glob("vectors/ios/**/*.cfg"))], ids=lambda file: file.name
)
def test_every_configuration_is_drawn(file: Path) -> None:
    from perhop.draw.router import router
    from perhop.errors import InvalidInputError

    try:
        picture = ElementTree.fromstring(router(file.read_text(errors="replace")))
    except InvalidInputError as error:
        assert any(part in str(error) for part in ("no interface", "does not simulate", "name the product"))
        return
    assert texts(picture)


def test_a_device_of_linux_has_an_assumed_line() -> None:
    from perhop.draw.router import router

    words = texts(ElementTree.fromstring(router(LINUX[0].read_text())))
    # eth1, whose shaper sends 1.9 Mb/s, and eth0, which has FQ-CoDel alone
    assert words.count("1 Gb/s, assumed") == 2
    assert "1.9 Mb/s" not in words


@pytest.mark.parametrize("file", SCENARIOS, ids=lambda file: file.name)
def test_no_mark_of_a_policy_hides_a_label_or_another_node(file: Path) -> None:
    picture = ElementTree.fromstring(network(perhop.Scenario.load(file)).svg())

    def boxes(kind: str, radius: str) -> list[tuple[float, float, float, float]]:
        found = [element.attrib for element in picture.iter(f"{SVG}rect") if element.get("class") == kind]
        sized = [
            [float(attributes[name]) for name in ("x", "y", "width", "height")]
            for attributes in found
            if attributes.get("rx") == radius
        ]
        return [(x, y, x + width, y + height) for x, y, width, height in sized]

    chips = boxes("chip", "7.5")
    nodes = [*boxes("host", "6"), *boxes("router", "22")]
    for left, top, right, bottom in chips:
        for label in boxes("paper", "3"):
            apart = right <= label[0] or label[2] <= left or bottom <= label[1] or label[3] <= top
            assert apart, f"a chip at {left}, {top} on the label at {label}"
        over = [
            node
            for node in nodes
            if left < node[2] and node[0] < right and top < node[3] and node[1] < bottom
        ]
        assert len(over) <= 1, "it touches its own node and no other"


def test_a_file_needs_neither_variables_nor_style_sheets(perhop: Command, scenario: Path) -> None:
    """Viewers such as librsvg and Inkscape do not support `var()`, and painted everything black."""
    text = perhop("draw", scenario, "-o", "-").out
    assert "var(" not in text and "<style" not in text
    looks = [
        element
        for element in ElementTree.fromstring(text).iter()
        if element.tag in (f"{SVG}rect", f"{SVG}path")
    ]
    assert looks and all(element.get("fill") for element in looks)


@needs("rsvg-convert")
def test_another_viewer_shows_light_boxes_on_white(perhop: Command, scenario: Path, tmp_path: Path) -> None:
    import matplotlib.image as images

    perhop("draw", scenario, "-o", "drawn.svg")
    subprocess.run(["rsvg-convert", "drawn.svg", "-o", "drawn.png"], cwd=tmp_path, check=True)
    pixels = images.imread(tmp_path / "drawn.png")[..., :3]
    assert pixels[0, 0].min() == 1.0, "white paper"
    assert pixels.min(axis=2).mean() > 0.85, "hardly any ink"


@pytest.mark.parametrize("suffix", ["png", "pdf"])
def test_drawings_as_pictures(perhop: Command, scenario: Path, tmp_path: Path, suffix: str) -> None:
    for name in ("first", "again"):
        ended = perhop("draw", scenario, "-o", f"{name}.{suffix}")
        assert ended.code == 0, ended.err
    content = (tmp_path / f"first.{suffix}").read_bytes()
    assert content.startswith(b"\x89PNG" if suffix == "png" else b"%PDF")
    assert content == (tmp_path / f"again.{suffix}").read_bytes()


def test_text_that_looks_like_an_element_stays_text(scenario: Path) -> None:
    scenario.write_text(scenario.read_text().replace("steady", "x class=box y"))
    text = draw(perhop.Scenario.load(scenario).set("traffic.0.name", 'a class="box" b'))
    assert 'a class="box" b' in texts(ElementTree.fromstring(text))


def test_a_circuit_has_its_configured_rate() -> None:
    """The link of ef-star is a port of 149.8 Mb/s, and the circuit on it one of 2 Mb/s."""
    scenario = perhop.Scenario.load(ROOT / "studies" / "ef-star" / "star.perhop.yaml")
    picture = ElementTree.fromstring(network(scenario).svg())
    assert "149.8 Mb/s" not in texts(picture)
    drawn = {
        (group.findtext(f"{SVG}title") or "").partition(":")[0]: group.find(f"{SVG}path")
        for group in picture.iter(f"{SVG}g")
    }
    widths = {name: float(path.get("stroke-width", 0)) for name, path in drawn.items() if path is not None}
    slow, fast = widths["link star to far"], widths["link ef-source to star"]
    assert slow < fast, "faster links are wider"
