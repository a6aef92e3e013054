"""Wrong calls of the public functions: each says what it takes, and never ends in an error of Python."""

import inspect
import itertools
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import ir_measures
import matplotlib.pyplot as plt
import pandas as pd
import pytest

import ir_outcomes as iro
from ir_outcomes.cli.signatures import arguments_by_name
from tests.helpers.results import KINDS, result_of

QRELS = {f"q{n}": {"d": 1, "e": 0} for n in range(40)}
A = {query: {"x": 2.0, "d": 1.0} for query in QRELS}
B = {query: {"d": 2.0 if n % 3 else 0.5, "x": 1.0} for n, query in enumerate(QRELS)}
EVALUATION = iro.evaluate(QRELS, {"a": A, "b": B}, documents=100)
PAIR: Any = iro.compare(EVALUATION, "a", "b")
FAMILY: Any = iro.compare(EVALUATION, "a", ["b"])
BOARD = iro.leaderboard(EVALUATION)
ANY: Any = iro  # whose functions take anything, as they do without a type checker
RIGHT: dict[str, Any] = {  # by the name of the argument
    "qrels": QRELS, "runs": {"a": A, "b": B}, "run": B, "baseline": "a", "contender": "b", "contenders": "b",
    "evaluation": EVALUATION, "ev": EVALUATION, "source": EVALUATION, "evaluations": {"x": EVALUATION, "y": EVALUATION},
    "compared": PAIR, "comparison": PAIR, "measure": "nDCG@10", "by": {query: query[-1] for query in QRELS}, "n": 10, "won": 1,
    "lost": 1, "ranking_difference": 0.5, "ranking_pvalue": 0.5, "first": BOARD, "second": BOARD, "sources": {"q": {"RR": 1.0}},
    "entries": [{"id": "a", "date": "2020-01-01", "score": 1.0}], "name": "no/such", "text": "nDCG@10", "path": "no.such",
    "folder": "no.such", "suite": "no.such",
}  # fmt: skip
OWN: dict[str, dict[str, Any]] = {
    "compare": {"contenders": B, "baseline": A},
    "compare_outputs": {"baseline": {"q": {"RR": 1.0}}, "contenders": {"q": {"RR": 0.5}}},
}
WRONG: tuple[Any, ...] = (
    None, 3, float("nan"), "no.such", b"x", {}, {"a": 1}, {1, 2}, [], ["a", "b"], (1, 2), object(), len,
    pd.DataFrame({"a": [1]}), QRELS, B, {"x": EVALUATION}, EVALUATION, EVALUATION[0], PAIR, FAMILY, BOARD,
)  # fmt: skip
FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: function
    for name in iro.__all__
    if inspect.isfunction(function := getattr(iro, name)) and name != "known_tasks"
}


def parameters_of(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """List the parameters that have a name in calls."""
    unnamed = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = inspect.signature(function).parameters.values()
    return [parameter for parameter in parameters if parameter.kind not in unnamed]


def required(function: Callable[..., Any]) -> list[str]:
    return [item.name for item in parameters_of(function) if item.default is item.empty]


def right_arguments(name: str) -> dict[str, Any]:
    """Return the required arguments of a function."""
    values = RIGHT | OWN.get(name, {})
    return {argument: values[argument] for argument in required(FUNCTIONS[name])}


def wrong_calls(name: str) -> Iterator[dict[str, Any]]:
    """Yield the arguments of calls with one wrong argument, or two swapped ones."""
    right = right_arguments(name)
    options = [item.name for item in parameters_of(FUNCTIONS[name])]
    for argument, value in itertools.product(right or options, WRONG):
        yield right | {argument: value}
    for first, second in itertools.combinations(right, 2):
        yield right | {first: right[second], second: right[first]}


@pytest.mark.filterwarnings("ignore::ir_outcomes.IrOutcomesWarning")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_wrong_argument_never_ends_in_an_error_of_python(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    function = FUNCTIONS[name]
    messages: list[str] = []
    for arguments in wrong_calls(name):
        try:
            function(**arguments)
        except iro.IrOutcomesError as error:
            messages.append(str(error))
    assert messages
    assert max(map(len, messages)) < 700


def public_methods(value: object) -> list[str]:
    """List the methods of an object, those of its class among them."""
    return [
        name
        for name, method in inspect.getmembers(type(value), callable)
        if not name.startswith("_")
        and str(getattr(method, "__module__", "")).startswith("ir_outcomes")
    ]


VALUES = (*WRONG, True, 0, -1, 2.5, "t", "query", "rows", ("x", "y"), range(3), 10**6)
OBJECTS = (
    *map(result_of, KINDS),
    *(EVALUATION, EVALUATION[0], EVALUATION.qrels, EVALUATION.scores_of("ESL@10")),
    *(iro.as_run(A), iro.load("vaswani"), iro.report(EVALUATION)),
)
CLASSES = (iro.Evaluation, iro.Scores, iro.Qrels, iro.Run, iro.Task, iro.Rules, iro.Reading)
MEASURES: Any = (iro.ESL, iro.ASL, iro.Answered, iro.Outcome)


def values_of(measure: Any, **parameters: Any) -> list[Any]:
    """Compute a measure with any parameters."""
    return list(ir_measures.iter_calc([measure(**parameters)], {"q": {"d": 1}}, {"q": {"d": 1.0}}))


def random_call(random: Random) -> tuple[Callable[..., Any], dict[str, Any]]:
    """Choose a public function with up to three arguments of any kind, or a method or a class with any."""
    kind = random.random()
    if kind < 0.05:
        measure = random.choice(MEASURES)
        names = random.sample(sorted(measure.SUPPORTED_PARAMS), random.randint(1, 2))
        return partial(values_of, measure), {name: random.choice(VALUES) for name in names}
    arguments: dict[str, Any] = {}
    function: Callable[..., Any] = random.choice(CLASSES)
    if kind > 0.6:
        name = random.choice(sorted(FUNCTIONS))
        function, arguments = FUNCTIONS[name], right_arguments(name)
    elif kind > 0.2:
        instance = random.choice(OBJECTS)
        function = getattr(instance, random.choice(public_methods(instance)))
    named = {item.name: item for item in parameters_of(function)} | arguments_by_name(function)
    choices = [name for name in named if name not in ("progress", "n_jobs")]
    chosen = random.sample(choices, min(len(choices), random.randint(1, 3)))
    for name in (*chosen, *(name for name in required(function) if name not in arguments)):
        arguments[name] = random.choice(VALUES)
    return function, arguments


@pytest.mark.filterwarnings("ignore::ir_outcomes.IrOutcomesWarning")
@pytest.mark.parametrize("part", range(10))
def test_random_calls_never_end_in_an_error_of_python(
    part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """2,000 calls, seeded."""
    monkeypatch.chdir(tmp_path)
    messages = [""]
    for seed in range(part * 200, part * 200 + 200):
        function, arguments = random_call(Random(seed))
        try:
            function(**arguments)
        except iro.IrOutcomesError as error:
            messages.append(str(error))
    assert max(map(len, messages)) < 700
    plt.close("all")


def test_what_is_meant_is_clear(tmp_path: Path) -> None:
    assert ANY.holes(EVALUATION).baseline == "a"
    path = tmp_path / "board.npz"
    EVALUATION.save(path)
    assert ANY.compare(path, "a") == ANY.compare(EVALUATION, "a")
    assert ANY.headroom(path) == ANY.headroom(EVALUATION)


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: PAIR.per_query(top=-1), "top=-1"),
        (lambda: BOARD.to_text(rows=-1), "rows=-1"),
        (lambda: BOARD.to_markdown(rows=0), "rows=0"),
        (lambda: iro.rank_distribution(EVALUATION, resamples=9).place_shares(-1), "places=-1"),
        (lambda: iro.sota_history(RIGHT["entries"], until="2020-01-15 or so"), "until="),
        (lambda: iro.compare_judges({}), "judges"),
        (lambda: iro.leaderboard(EVALUATION, measures=[]), "measure"),
        (lambda: iro.compare(EVALUATION, "a", "b", margins=(150, 1)), "margins"),
    ],
)
def test_numbers_that_cannot_be_are_refused(call: Callable[[], Any], argument: str) -> None:
    with pytest.raises(iro.ParameterError) as refused:
        call()
    assert argument in str(refused.value)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_argument_that_no_function_has_is_refused(name: str) -> None:
    with pytest.raises(iro.ParameterError, match="no_such"):
        FUNCTIONS[name](**right_arguments(name), no_such=1)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: iro.compare("q.txt", "a.run", "b.run", cutof=10), "cutoff"),  # type: ignore[call-overload]
        (lambda: iro.leaderboard("q.txt", "a.run"), "source"),  # type: ignore[arg-type, call-arg]
        (lambda: iro.load(), "name"),  # type: ignore[call-arg]
    ],
)
def test_calls_that_fit_no_signature_name_what_fits(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(iro.ParameterError, match=said):
        call()
