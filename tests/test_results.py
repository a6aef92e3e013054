from __future__ import annotations

import copy
import dataclasses
import json
import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal, NamedTuple

import numpy as np
import pytest

from ir_outcomes.errors import FormatError, ParameterError
from ir_outcomes.results import OPTIONAL, FrozenDict, Result
from tests.helpers.results import KINDS, result_of

every_kind = pytest.mark.parametrize("kind", KINDS)


class Pair(NamedTuple):
    low: float
    high: float


@dataclass(frozen=True)
class Part:
    name: str
    level: float

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise ParameterError(f"level={self.level}: must be between 0 and 1")


@dataclass(frozen=True)
class Sample(Result):
    part: Part
    choice: Literal["a", "b"]
    pair: Pair | None
    shares: Mapping[str, Mapping[str, float]]
    parts: tuple[Part, ...]
    two: tuple[int, bool]
    day: date
    number: int | str | None = None
    queries: tuple[Pair, ...] | None = field(default=None, compare=False, metadata=OPTIONAL)

    def _summary(self) -> str:
        return self.part.name


def sample(**changes: Any) -> Sample:
    values: dict[str, Any] = {
        "part": Part("p\x1b[31m", 0.5),
        "choice": "a",
        "pair": Pair(0.1, np.float64(0.2)),
        "shares": {"x": {"y": 0.5}},
        "parts": [Part("q", 0.25)],
        "two": (np.int64(3), True),
        "day": date(2021, 2, 28),
        "queries": (Pair(1.0, 2.0),),
    }
    return Sample(**values | changes)


def test_fields_cannot_be_changed_at_any_depth() -> None:
    result = sample()
    assert type(result.two[0]) is int
    assert isinstance(result.parts, tuple)
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.choice = "b"  # type: ignore[misc]
    with pytest.raises(TypeError, match="does not support item assignment"):
        result.shares["x"]["y"] = 9.0  # type: ignore[index]
    assert hash(result) == hash(sample())
    assert result == sample() != sample(choice="b")


def test_frozen_dicts_are_mappings_by_value() -> None:
    shares = FrozenDict({"won": 1, "lost": 2})
    assert shares == {"lost": 2, "won": 1} == shares
    assert hash(shares) == hash(FrozenDict({"lost": 2, "won": 1}))
    assert repr(shares) == "{'won': 1, 'lost': 2}"
    for same in (copy.deepcopy(shares), pickle.loads(pickle.dumps(shares))):
        assert type(same) is FrozenDict
        assert same == shares


def test_json_of_every_type_of_field_and_of_queries_on_request() -> None:
    result = sample()
    data = json.loads(result.to_json())
    assert (data["schema"], data["kind"]) == (1, "Sample")
    assert "queries" not in data
    assert Sample.from_json(result.to_json()) == result
    complete = Sample.from_json(result.to_json(per_query=True))
    assert complete.queries == result.queries
    assert isinstance(complete.queries, tuple)
    assert isinstance(complete.queries[0], Pair)
    assert Sample.from_dict(sample(number="n").to_dict()).number == "n"
    assert Sample.from_dict({**result.to_dict(), "number": 3}).number == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"choice": "c"}, r"choice: Invalid enum value 'c'"),
        ({"part": {"name": "p", "level": 2.0}}, r"part: level=2.0: must be between 0 and 1"),
        ({"parts": [{"name": "p", "level": 0.5}, 3]}, r"parts\[1\]: Expected `object`, got `int`"),
        ({"shares": {"x": {1: 0.5}}}, r"Expected `str`, got `int` - at `key` in `\$\.shares"),
        ({"schema": 2}, r"has the schema 2, and this version reads 1"),
        ({"kind": "Leaderboard"}, r"holds a result of kind 'Leaderboard'"),
    ],
)
def test_foreign_values_are_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(FormatError, match=f"^JSON: {message}"):
        Sample.from_dict({**sample().to_dict(), **change})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000, "is not valid"),
        ("[]", r"must be an object, not '\[\]'"),
        ('{"part": NaN}', r"is not valid \(JSON is malformed"),
        ('{"baseline": "a"}', "lacks the key 'schema': it was not written by to_json, or by a version before"),
        (3, "needs the text that to_json returned, not a int"),
    ],
)
def test_foreign_text_is_refused(text: Any, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        Sample.from_json(text)


@every_kind
def test_every_result_survives_json_pickle_and_copy(kind: str) -> None:
    result = result_of(kind)
    text = result.to_json(per_query=True)
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))
    assert json.loads(text)["kind"] == kind
    for same in (type(result).from_json(text), pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
        assert same == result
        assert hash(same) == hash(result)
        assert json.loads(same.to_json(per_query=True)) == json.loads(text)
    assert len(repr(result)) < 200
    assert repr(result).startswith(f"<{kind}: ")
    assert "\x1b" not in repr(result)


def test_every_kind_of_result_is_tested() -> None:
    defined = {kind.__name__ for kind in Result.__subclasses__() if kind.__module__.startswith("ir_outcomes.")}
    assert defined == set(KINDS)


def test_paper_columns_are_for_comparisons() -> None:
    result = result_of("Headroom")
    for show in (result.to_text, result.to_csv):
        with pytest.raises(ParameterError, match="columns='paper' is for comparisons; Headroom has"):
            show(columns="paper")
        with pytest.raises(ParameterError, match="columns='wide': must be one of default, paper"):
            show(columns="wide")  # type: ignore[arg-type]
