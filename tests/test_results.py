import copy
import dataclasses
import json
import pickle
from typing import Any

import pytest

from ir_outcomes.errors import FormatError
from ir_outcomes.results import FrozenDict
from tests.helpers.packages import needed
from tests.helpers.results import KINDS, result_of
from tests.helpers.schemas import kinds, schema_of


def test_results_cannot_be_changed_at_any_depth() -> None:
    result: Any = result_of("Comparison")
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.notes = ()
    with pytest.raises(TypeError, match="does not support item assignment"):
        result.ranking.tests["new"] = 1.0
    shares = FrozenDict({"won": 1, "lost": 2})
    assert shares == {"lost": 2, "won": 1} == shares
    assert hash(shares) == hash(FrozenDict({"lost": 2, "won": 1}))
    assert repr(shares) == "{'won': 1, 'lost': 2}"


@pytest.mark.parametrize("kind", KINDS)
def test_every_result_survives_json_pickle_and_copy(kind: str) -> None:
    result = result_of(kind)
    text = result.to_json(per_query=True)
    assert json.loads(text, parse_constant=pytest.fail)["kind"] == kind
    for same in (
        type(result).from_json(text),
        pickle.loads(pickle.dumps(result)),
        copy.deepcopy(result),
    ):
        assert same == result
        assert hash(same) == hash(result)
        assert json.loads(same.to_json(per_query=True)) == json.loads(text)
    assert len(repr(result)) < 200
    assert repr(result).startswith(f"<{kind}: ")
    assert "\x1b" not in repr(result)


@pytest.mark.parametrize("kind", KINDS)
def test_json_follows_its_schema(kind: str) -> None:
    jsonschema = needed("jsonschema")
    result = result_of(kind)
    schema = schema_of(type(result))
    jsonschema.Draft202012Validator.check_schema(schema)
    checks = jsonschema.Draft202012Validator(schema)
    for per_query in (False, True):
        checks.validate(json.loads(result.to_json(per_query=per_query)))
    for wrong in ({}, {"schema": 0}, {"kind": "other"}, {"notes": [1]}, {"more": 1}):
        assert not checks.is_valid({**result.to_dict(), **wrong} if wrong else {})


def test_every_kind_of_result_is_tested() -> None:
    ours = {kind.__name__ for kind in kinds() if kind.__module__.startswith("ir_outcomes.")}
    assert ours == {*KINDS}


def test_values_of_queries_are_in_json_on_request() -> None:
    result: Any = result_of("Comparison")
    assert "queries" not in result.to_dict()
    assert type(result).from_json(result.to_json()).queries is None
    assert type(result).from_json(result.to_json(per_query=True)).queries == result.queries


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n_queries": "many"}, r"n_queries: Expected `int`, got `str`"),
        ({"settings": {"cutoff": 10}}, r"settings: Object missing required field"),
        ({"notes": [3]}, r"notes\[0\]: Expected a note with kind, text and runs, got 3"),
        ({"n_missing": [0, float("nan")]}, r"n_missing"),
        (
            {
                "outcomes": {
                    "neither": 1,
                    "lost": 1,
                    "won": 1,
                    "both": 1,
                    "shares": [float("nan")] * 4,
                }
            },
            "holds NaN or infinity",
        ),
        (
            {"schema": 1},
            r"must be an object of kind 'Comparison' with schema 4, .* and schema 1",
        ),
        ({"kind": "Leaderboard"}, r"must be .*; it has kind 'Leaderboard' and schema 4"),
        ("[" * 100_000, "is not valid"),
        ("[]", "must be an object of kind 'Comparison'"),
        ('{"part": NaN}', r"is not valid \(JSON is malformed"),
        ('{"baseline": "a"}', "must be .*; it has kind None and schema None"),
        (3, "is not valid"),
    ],
)
def test_foreign_values_are_named(given: Any, message: str) -> None:
    result: Any = result_of("Comparison")
    read = type(result).from_dict if isinstance(given, dict) else type(result).from_json
    with pytest.raises(FormatError, match=f"^JSON: {message}"):
        read({**result.to_dict(), **given} if isinstance(given, dict) else given)
