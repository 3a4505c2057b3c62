"""The types of scenarios in Python against the schema that they are generated from."""

from __future__ import annotations

import json
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType
from typing import get_type_hints, is_typeddict

import perhop
from conftest import ROOT
from perhop import schema_types


def _generator() -> ModuleType:
    spec = spec_from_file_location("generate_types", ROOT / "schema" / "generate_types.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_types_match_the_schema() -> None:
    generator = _generator()
    schema = json.loads(generator.SCHEMA.read_text(encoding="utf-8"))
    text = generator.TARGET.read_text(encoding="utf-8")
    assert text == generator.module(schema), "run python schema/generate_types.py"


def test_every_key_of_every_object_has_a_type() -> None:
    schema = perhop.schema()
    for name, definition in {"ScenarioConfig": schema, **schema["$defs"]}.items():
        if "properties" in definition:
            kind = getattr(schema_types, name)
            assert is_typeddict(kind)
            assert set(get_type_hints(kind, vars(schema_types))) == set(definition["properties"])
            assert kind.__required_keys__ <= set(definition["properties"])
