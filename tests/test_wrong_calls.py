"""Wrong calls of the public functions: each says what it takes, and never ends in an error of Python."""

import inspect
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import ir_outcomes as iro

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
    "verdict_from_means": {
        "n": 100,
        "baseline": ".40",
        "contender": ".50",
        "measure": "coverage",
    },
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


def right_arguments(name: str) -> dict[str, Any]:
    """Return the required arguments of a function."""
    parameters = inspect.signature(FUNCTIONS[name]).parameters.values()
    required = [
        parameter.name
        for parameter in parameters
        if parameter.default is parameter.empty and parameter.kind != parameter.VAR_POSITIONAL
    ]
    return {
        argument: (RIGHT | OWN.get(name, {}))[argument]
        for argument in required
        if argument not in ("settings", "rules")
    }


def wrong_calls(name: str) -> Iterator[dict[str, Any]]:
    """Yield the arguments of calls with one wrong argument, or two swapped ones."""
    right = right_arguments(name)
    for argument, value in itertools.product(right, WRONG):
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


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: ANY.holes("qrels.txt", "a"),
            "`evaluation` is of type str; it must be what ir_outcomes.evaluate returns",
        ),
        (lambda: ANY.holes(PAIR), "`evaluation` is of type Comparison"),
        (lambda: ANY.report(PAIR), "`evaluation` is of type Comparison"),
        (lambda: ANY.compare_slices(QRELS, "a", by="length"), "`evaluation` is of type dict"),
        (
            lambda: ANY.compare_measure("qrels.txt", "a", measure="RR"),
            "`evaluation` is of type str",
        ),
        (
            lambda: ANY.gate(EVALUATION),
            "`compared` is of type Evaluation; .* what ir_outcomes.compare or compare_collections",
        ),
        (
            lambda: ANY.plan(EVALUATION),
            "`comparison` is of type Evaluation; .* what ir_outcomes.compare returns",
        ),
        (
            lambda: ANY.compare_judges(EVALUATION, "a"),
            "`evaluations` is of type Evaluation; .* a mapping from names",
        ),
        (lambda: ANY.compare_judges("x"), "`evaluations` is of type str; .* a mapping from names"),
        (
            lambda: ANY.compare_collections(EVALUATION, "a"),
            "`evaluations` is of type Evaluation; .* a mapping from names",
        ),
        (
            lambda: ANY.leaderboard(PAIR),
            "`source` is of type Comparison; .* ir_outcomes.evaluate or ir_outcomes.scores_from",
        ),
        (
            lambda: ANY.read_run(pd.DataFrame()),
            "`path` is of type DataFrame; .* path of a file; ir_outcomes.as_run takes other",
        ),
        (lambda: ANY.plan(PAIR, coverage=-3), "`coverage=-3`: must be a number between"),
        (lambda: ANY.plan(PAIR, coverage=1e-9), "`coverage=1e-09`: must be a number between"),
        (lambda: ANY.plan(PAIR, ranking=float("inf")), "`ranking=inf`: must be a number between"),
        (
            lambda: ANY.evaluate(QRELS, [A], judged_only="no"),
            "`judged_only` is of type str; it must be True or False",
        ),
        (lambda: ANY.evaluate(QRELS, [A], names=[""]), "the name '' of a run is blank"),
        (
            lambda: ANY.compare(EVALUATION, "a", "b", alpha=0.85),
            "`alpha=0.85`: must be a number between 0 and 0.5",
        ),
    ],
)
def test_what_a_function_takes_is_said(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(iro.ParameterError, match=message):
        call()


def test_what_is_meant_is_clear(tmp_path: Path) -> None:
    assert ANY.plan(FAMILY) == ANY.plan(PAIR)
    assert ANY.holes(EVALUATION).baseline == "a"
    path = tmp_path / "board.npz"
    EVALUATION.save(path)
    assert ANY.compare_cutoffs(path, "a", cutoffs=[1, 2]) == ANY.compare_cutoffs(
        EVALUATION, "a", cutoffs=[1, 2]
    )
    assert ANY.headroom(path) == ANY.headroom(EVALUATION)
