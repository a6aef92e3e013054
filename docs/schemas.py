"""The JSON Schema of each kind of result, which the documentation publishes: `python docs/schemas.py FILE`."""

import json
import sys
from pathlib import Path
from typing import Any

import msgspec

import ir_outcomes as iro
from ir_outcomes.notes import Note
from ir_outcomes.results import SCHEMA, Result

NOTE = {
    "type": "object",
    "properties": {
        "kind": {"type": "string"},
        "text": {"type": "string"},
        "runs": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["kind", "text", "runs"],
    "additionalProperties": False,
}


def kinds() -> list[type[Result]]:
    """Every kind of result."""
    for name in iro.__all__:  # a public name is imported when it is asked for
        getattr(iro, name)
    subclasses = Result.__subclasses__()
    for kind in subclasses:  # of conditions there is a kind of kinds
        subclasses += kind.__subclasses__()
    return [
        kind for kind in subclasses if kind.__name__ in iro.__all__ or not kind.__subclasses__()
    ]


def schema_of(kind: type[Result]) -> dict[str, Any]:
    """The schema of what `to_json` of one kind of result writes."""
    schema = msgspec.json.schema(kind, schema_hook=lambda part: NOTE if part is Note else {})
    results = {result.__name__ for result in kinds()}
    for name, described in schema["$defs"].items():
        if name in results:
            head = {"schema": {"const": SCHEMA}, "kind": {"const": name}}
            described["properties"] = head | described["properties"]
            described["required"] = [*head, *described["required"]]
        if "properties" in described:
            described["additionalProperties"] = False
    return dict(schema)


def write(path: Path) -> None:
    """Write all schemas into a file."""
    schemas = {kind.__name__: schema_of(kind) for kind in kinds()}
    path.write_text(json.dumps(schemas, indent=1, ensure_ascii=False), "utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
