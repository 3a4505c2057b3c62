"""The documents that `--json` prints, as shapes; `perhop schema NAME` prints them as JSON Schema.

A shape lists the keys of a document in this version. Later versions add keys. `schema_version` rises when a
key is removed or changes its meaning. Policies have the same keys as in scenarios (`perhop schema scenario`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perhop.layout import SUMMARY
from perhop.shape import METRIC, AnyValue, ByName, OneOf, Optional, OrNull, Pair

_LINE = {"line": int, "text": str}
_SEVERITY = OneOf(("error", "warning", "note"))

#: A finding about a scenario.
DIAGNOSTIC = {
    "severity": _SEVERITY,
    "rule": str,
    "file": OrNull(str),
    "line": OrNull(int),
    "column": OrNull(int),
    "path": str,
    "set": OrNull(str),
    "message": str,
    "help": OrNull(str),
}
#: The document of a failed command.
ERROR: Mapping[str, Any] = {
    "schema_version": int,
    "error": {
        "kind": str,
        "message": str,
        "help": Optional(str),
        "diagnostics": Optional([DIAGNOSTIC]),
        "written": Optional([str]),
    },
}

_FINDING = {
    "rule": str,
    "severity": _SEVERITY,
    "line": OrNull(int),
    "column": OrNull(int),
    "message": str,
    "remedy": OrNull(str),
    "fixed": OrNull(str),
}
_STATES = ("modelled", "irrelevant", "not-modelled", "suspicious", "not-recognized")
_PLATFORM = {
    "profile": str,
    "dialect": str,
    "system": str,
    "supported": bool,
    "chosen": bool,
    "certain": bool,
    "because": [{**_LINE, "says": str}],
    # For a switch, the names of the rules for its memory, by evidence.
    "memory_rules": Optional(ByName([str])),
}
_CHECKED = {
    "file": str,
    "valid": bool,
    "holds": OrNull(OneOf(("scenario", "policies", "tests", "router"))),
    "findings": [_FINDING],
    "diagnostics": [AnyValue()],
    "attached_errors": Optional([{"line": int, "interfaces": [str]}]),
    "platform": Optional(_PLATFORM),
    "lines": Optional(
        [
            {
                "number": int,
                "state": OneOf(_STATES),
                "text": str,
                "note": Optional(str),
                "block": Optional(int),
            }
        ]
    ),
    "counts": Optional(dict.fromkeys(_STATES, int)),
    "has_interface_up": Optional(bool),
    "router": Optional(AnyValue()),
}
_JUDGED = {
    "assertion": str,
    "class": str,
    "quantity": str,
    "operator": str,
    "bound": float,
    "unit": str,
    "measured": OrNull(METRIC),
    "why": OrNull(str),
    "passed": bool,
    "uncertain": bool,
}
_VERDICT = {
    "class": str,
    "state": str,
    "role": OrNull(str),
    "role_from": OrNull(str),
    "verdict": OrNull(OneOf(("fit", "unfit", "undecided"))),
    "r": OrNull(METRIC),
    "mos": OrNull(METRIC),
    "mouth_to_ear": OrNull(METRIC),
    "late": OrNull(METRIC),
    "y1541": OrNull(int),
    "loss_percent": OrNull(float),
    "served_percent": OrNull(float),
    "cause": OrNull(str),
    "cause_percent": OrNull(float),
    "port": OrNull(str),
    "holder": OrNull(str),
    "holder_percent": OrNull(float),
    "pool_holder": OrNull(str),
    "pool_holder_percent": OrNull(float),
    "text": str,
}
_INTERVAL = {"mean": OrNull(float), "ci95": OrNull(Pair(float))}
_FELT = {"before": OrNull(_INTERVAL), "after": OrNull(_INTERVAL), "differs": bool}


def _optional(shape: Any) -> Optional:  # noqa: ANN401 - a shape
    return shape if isinstance(shape, Optional) else Optional(shape)


_SIDE = OneOf(("input", "output", "control-plane"))
_STAGE = {
    "stage": OneOf(
        (
            "entrance",
            "access-list",
            "class",
            "conditioner",
            "forwarding",
            "labels",
            "encapsulation",
            "queue",
        )
    ),
    "side": Optional(_SIDE),
    "interface": Optional(str),
    "lines": Optional([_LINE]),
    "because": Optional(str),
    "list": Optional(str),
    "decision": Optional(AnyValue()),
    "policy": Optional(str),
    "class": Optional(str),
    "line": Optional(int),
    "criteria": Optional([_LINE]),
    "name": Optional(str),
    "meter": Optional(AnyValue()),
    "color": Optional(str),
    "actions": Optional([AnyValue()]),
    "packet": Optional(str),
    "destination": Optional(str),
    "route": Optional(
        OneOf(("own", "connected", "static", "ospf", "isis", "given", "vpn", "chosen", "discard", "unknown"))
    ),
    "prefix": Optional(str),
    "next_hop": Optional(str),
    "protocol": Optional(int),
    "classified_by": Optional(OneOf(("outer", "inner"))),
    "operation": Optional(OneOf(("impose", "swap", "pop", "unlabeled"))),
    "labels": Optional([str]),
    "queue": Optional(str),
    "classes": Optional([AnyValue()]),
}
_PATH = {
    "stages": [_STAGE],
    "packet": str,
    "end": OneOf(("queued", "no-queue", "leaves", "delivered", "dropped")),
    "cause": Optional(OneOf(("access-list", "conditioner", "route"))),
    "leaves": OrNull(str),
    "queue": OrNull(str),
    "color": int,
}
_CAUSE = OneOf(("access-list", "conditioner", "route"))
_CHANGE = {"device": str, "file": str, "from": str, "to": str, "lines": [_LINE]}
_EXP_CHANGE = {"device": str, "file": str, "from": int, "to": int, "lines": [_LINE]}
_WALK_END = {
    "end": OneOf(("delivered", "dropped", "leaves-snapshot", "path-unknown", "loop")),
    "device": str,
    "interface": Optional(str),
    "cause": Optional(_CAUSE),
    "next_hop": Optional(str),
    "because": Optional(str),
    "help": Optional(str),
}
_HOP = {
    "device": str,
    "file": str,
    "arrives": OrNull(str),
    "leaves": OrNull(str),
    "queue": OrNull(str),
    "packet": str,
    "labels": [{"label": str, "exp": int}],
    "stages": [_STAGE],
}
_WALK = {
    "packet": str,
    "paths": [{"hops": [_HOP], **_WALK_END, "dscp": str, "changes": [_CHANGE], "exp_changes": [_EXP_CHANGE]}],
    "assumed": [str],
    "not_looked_at": [str],
}
_FATE = {
    "from": str,
    "to": str,
    "dscp": [str],
    "fate": OneOf(("kept", "changed", "lost")),
    "at": Optional({key: _optional(shape) for key, shape in (_CHANGE | _WALK_END).items()}),
    "exp": Optional(
        {
            "fate": OneOf(("kept", "changed")),
            "at": Optional({key: shape for key, shape in _EXP_CHANGE.items() if key != "from"}),
        }
    ),
}
_LINK = {
    "ends": [{"device": str, "interface": str}],
    "reason": OneOf(("written", "cable", "subnet")),
    "source": Optional(str),
    "subnet": Optional(str),
    "is_tunnel": bool,
}
_NEIGHBOR = {"interface": str, "address": OrNull(str), "subnet": OrNull(str), "line": OrNull(int)}
_MOVED = {
    "interface": str,
    "arrives": OrNull(str),
    "before": OrNull(str),
    "after": OrNull(str),
    "packet": str,
}
_END = {"packet": str, "dropped": bool, "queue": OrNull(str)}
_LINE_CHANGE = {
    "section": [str],
    "old": OrNull(_LINE),
    "new": OrNull(_LINE),
    "effect": OneOf(("irrelevant", "same", "compared", "elsewhere", "not-compared")),
    "parts": [{"interface": str, "part": str}],
    "reason": OrNull(str),
}

_STOP = {"device": str, "interface": str, "port": str, "queue": OrNull(str)}
_PAIR = {
    "name": str,
    "from": str,
    "to": str,
    "class": str,
    "packet": str,
    "rate": float,
    "kind": str,
    "ways": [[_STOP]],
    "offered_bps": float,
    "delivered_bps": float,
    "loss_percent": float,
    "delay_mean_s": OrNull(float),
    "delay_p99_s": OrNull(float),
    "mos": OrNull(float),
    "verdict": OrNull(str),
    "loss_at": OrNull({**_STOP, "value": float}),
    "delay_at": OrNull({**_STOP, "value": float}),
}
_LEFT_OUT = {
    "from": str,
    "to": str,
    "class": OrNull(str),
    "is_reply": bool,
    "because": Optional(str),
    "end": Optional(OneOf(("delivered", "dropped", "leaves-snapshot", "path-unknown", "loop"))),
    "cause": Optional(str),
    "device": Optional(str),
    "interface": Optional(str),
    "next_hop": Optional(str),
    "help": Optional(str),
}
#: The differences between two configurations.
_DIFFERENT = {
    "moved": [_MOVED],
    "changed": [
        {
            "interface": str,
            "part": str,
            "what": str,
            "before": AnyValue(),
            "after": AnyValue(),
            "packet": OrNull(str),
        }
    ],
    "renamed": [{"interface": str, "before": str, "after": str}],
    "examples": [{"arrives": str, "part": str, "leaves": str, "packet": str, "before": _END, "after": _END}],
    "lines": [_LINE_CHANGE],
    "not_compared": [_LINE_CHANGE],
}
_ASPECT = {"what": str, "first": OrNull(str), "second": OrNull(str)}
#: The proof that all packets are treated equally, or a counterexample.
_PROOF = {
    "verdict": OneOf(("equal", "differ", "not-decided")),
    "place": OrNull(str),
    "counterexample": OrNull({"packet": str, "with": OrNull(str), "treatment": [_ASPECT]}),
    "not_decided": [str],
    "compared": [str],
    "not_looked_at": [str],
    "assumed": [str],
}
_WALK_CHANGE = {"pairs": [Pair(str)], "codepoints": [str], "packet": str, "what": [_ASPECT]}
_NETWORK_DIFFERENCE = {
    "differs": bool,
    "only": [
        {
            "snapshot": OneOf(("old", "new")),
            "kind": OneOf(("device", "link", "site", "policy")),
            "name": str,
        }
    ],
    "devices": [
        {
            "device": str,
            "old": str,
            "new": str,
            "difference": {
                **_DIFFERENT,
                "assumed": [str],
                "not_looked_at": [str],
                "remarks": [str],
            },
        }
    ],
    "changes": [_WALK_CHANGE],
    "witnesses": [_WALK_CHANGE],
    "same": int,
    "sites": int,
    "proof": _PROOF,
    "not_compared": [str],
}

#: The documents by the command that prints them.
ANSWERS: Mapping[str, Mapping[str, Any]] = {
    "check": {"schema_version": int, "settings": OrNull(str), "files": [_CHECKED]},
    "run": {
        **SUMMARY,
        "verdicts": [_VERDICT],
        "assertions": Optional([_JUDGED]),
        "bounds": Optional(AnyValue()),
        "platforms": Optional(ByName(_PLATFORM)),
        "not_looked_at": Optional([str]),
        # Only for a folder of configurations: the keys from here to `not_modeled`.
        "pairs": Optional([_PAIR]),
        "left_out": Optional([_LEFT_OUT]),
        "load": Optional(str),
        "missing": Optional([str]),
        "assumed": Optional([str]),
        "not_modeled": Optional([str]),
    },
    "trace": {
        "schema_version": int,
        "packets": Optional([{"packet": str, "paths": [_PATH], "assumed": [str], "not_looked_at": [str]}]),
        "neighbors": Optional([_NEIGHBOR]),
        "walks": Optional([{"there": _WALK, "back": _WALK}]),
        "matrix": Optional([_FATE]),
        "reach": Optional(ByName(OrNull(str))),
        "classes": Optional([{"queues": [str], "packets": int, "share": float, "example": str}]),
        "assumed": Optional([str]),
        "not_looked_at": Optional([str]),
    },
    "prove": {"schema_version": int, "first": str, "second": str, **_PROOF},
    "diff": {
        "schema_version": int,
        "old": str,
        "new": str,
        **_DIFFERENT,
        "remarks": [str],
        "simulated": [AnyValue()],
        "assumed": [str],
        "not_looked_at": [str],
        "felt": OrNull(
            {
                "classes": [
                    {"name": str, "loss_percent": _FELT, "delay_p99_s": _FELT, "throughput_bps": _FELT}
                ],
                "replications": int,
                "seed": int,
                "reason": OrNull(str),
                "load": OneOf(("quiet", "busy", "overload")),
            }
        ),
        # Only for two folders. The lists of differences above are then empty.
        "network": Optional(_NETWORK_DIFFERENCE),
    },
    "network": {
        "schema_version": int,
        "devices": [{"name": str, "file": str, "interfaces": int, "policies": int}],
        "links": [_LINK],
        "guesses": [
            {
                "ends": [{"device": str, "interface": str}],
                "described": [{"device": str, "interface": str, "description": str}],
            }
        ],
        "cables": [{"ends": [str], "source": str}],
        "sites": [{"name": str, "device": str, "interface": str, "subnet": OrNull(str), "address": str}],
        "left_out": [{"file": str, "because": str}],
        "passed_over": int,
        "remarks": [str],
    },
    "test": {
        "schema_version": int,
        "passed": int,
        "failed": int,
        "error": int,
        "tests": [
            {
                "name": str,
                "file": str,
                "line": int,
                "scenario": str,
                "outcome": OneOf(("passed", "failed", "error")),
                "error": OrNull(AnyValue()),
                "seed": OrNull(int),
                "replications": OrNull(int),
                "warnings": OrNull(AnyValue()),
                "assertions": [_JUDGED],
                "verdicts": [_VERDICT],
            }
        ],
    },
}

#: The file `network.yaml` of a folder of configurations.
FACTS: Mapping[str, Any] = {
    "links": Optional([[str]]),
    "hosts": Optional(ByName(str)),
    "routes": Optional(ByName([str])),
    "devices": Optional(ByName({"name": Optional(str), "platform": Optional(str)})),
}

#: Descriptions of keys whose names need an explanation.
_DESCRIPTIONS = {
    "ci95": "Bounds of the 95 % confidence interval over replications; null with one replication.",
    "color": "Drop precedence.",
    "delay_at": "The hop with the longest mean wait; `value` in seconds.",
    "fixed": "The corrected line.",
    "devices": "Devices; in network.yaml names and platforms by the path of the configuration.",
    "hosts": "Addresses of hosts by name.",
    "links": "Links; in network.yaml each a list of ends `DEVICE:INTERFACE`.",
    "passed_over": "The number of files that are neither configurations nor outputs of devices.",
    "routes": "Routes by device: `PREFIX = NEXT HOP`, `PREFIX = INTERFACE`, `vrf NAME PREFIX = NEXT HOP`.",
    "guesses": "Links that descriptions of interfaces suggest. No packet takes them.",
    "holds": "The kind of the file; null if it cannot be read as any of these.",
    "left_out": "Traffic that is not run, with the end of its walk or the reason.",
    "loss_at": "The hop with most loss; `value` is the part of its packets that the queue loses, percent.",
    "missing": "Classes and ports without traffic.",
    "not_looked_at": "Parts that may change the answer and that perhop did not consider.",
    "not_modeled": "Parts of the network that may change the results and are not in the run.",
    "router": "The resulting policies by port.",
    "rule": "`perhop explain RULE` describes it.",
    "settings": "The perhop.toml whose defaults apply.",
    "set": "The override that caused it, as PATH=VALUE.",
    "ways": "The stops of packets: several ways where meters may color them differently.",
    "valid": "Whether no finding fails, by --fail-on.",
    "warmup_s": "Simulated time that is not measured.",
    "y1541": "The most demanding class of ITU-T Y.1541 that is met.",
}


def json_schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of the document that `perhop NAME --json` prints.

    Raises:
        KeyError: no command `name` prints such a document.

    """
    title = f"perhop {name} --json"
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "anyOf": [_schema(ANSWERS[name]), _schema(ERROR)],
        "$defs": {"figure": _schema({**METRIC})},
    }


def facts_schema() -> dict[str, Any]:
    """Return the JSON Schema of `network.yaml`. The schema rejects unknown keys."""
    schema = _schema(FACTS)
    device = schema["properties"]["devices"]["anyOf"][0]["additionalProperties"]
    device["additionalProperties"] = schema["additionalProperties"] = False
    title = "network.yaml of a folder of configurations"
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **schema}


_PLAIN = {str: "string", bool: "boolean", int: "integer", float: "number"}


def _schema(shape: Any) -> dict[str, Any]:  # noqa: ANN401 - a type, list or object, as in `perhop.shape`
    # All figures have this shape, so the schema defines it once.
    if shape is METRIC:
        return {"$ref": "#/$defs/figure"}
    match shape:
        case type():
            return {"type": _PLAIN[shape]}
        case AnyValue():
            return {}
        case OrNull(inner) | Optional(inner):
            return {"anyOf": [_schema(inner), {"type": "null"}]}
        case OneOf(texts):
            return {"enum": list(texts)}
        case Pair(inner):
            return {"type": "array", "items": _schema(inner), "minItems": 2, "maxItems": 2}
        case [inner]:
            return {"type": "array", "items": _schema(inner)}
        case ByName(inner):
            return {"type": "object", "additionalProperties": _schema(inner)}
        case _:
            keys = {key: _described(key, _schema(inner)) for key, inner in shape.items()}
            needed = sorted(key for key, inner in shape.items() if not isinstance(inner, Optional))
            return {"type": "object", "properties": keys, "required": needed}


def _described(key: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {**schema, "description": _DESCRIPTIONS[key]} if key in _DESCRIPTIONS else schema
