"""Ids of a run that are not those of the qrels, and the rule that would make them match."""

import unicodedata
from collections.abc import Callable

import pytest

import ir_outcomes as iro
from ir_outcomes.errors import EmptyInput
from ir_outcomes.evaluation.repairs import repair_of_queries
from ir_outcomes.evaluation.search import search_lengths

CHANGES: dict[str, Callable[[str], str]] = {
    'a trailing ".0"': lambda identifier: f"{identifier}.0",
    "capital letters": str.upper,
    "leading zeros": lambda identifier: f"000{identifier}",
    "quotes or white space around them": lambda identifier: f' "{identifier}"',
    "a trailing comma": lambda identifier: f"{identifier},",
    "the path or address before the last slash": lambda identifier: (
        f"https://example.org/{len(identifier)}/{identifier}"
    ),
    "the file ending": lambda identifier: (
        f"{identifier}.{'html' if len(identifier) > 3 else 'txt'}"
    ),
    'the prefix "msmarco-"': lambda identifier: f"msmarco-{identifier}",
    'the suffix "_v2"': lambda identifier: f"{identifier}_v2",
    'what follows the last "#"': lambda identifier: f"{identifier}#{len(identifier)}",
    "the path or address before the last slash and the file ending": lambda identifier: (
        f"/{len(identifier)}/{identifier}.html"
    ),
}
IDS = [f"{number}{'ab'[number % 2]}" for number in range(1, 201)]


@pytest.mark.parametrize("rule", CHANGES)
@pytest.mark.parametrize("side", ["run", "qrels"])
def test_the_rule_is_found_on_either_side(rule: str, side: str) -> None:
    changed = list(map(CHANGES[rule], IDS))
    repair = repair_of_queries(*((changed, IDS) if side == "run" else (IDS, changed)))
    assert repair is not None
    assert (repair.rule, repair.matches) == (f"{rule} in the {side}", 200)


@pytest.mark.parametrize("side", ["run", "qrels"])
def test_composed_and_decomposed_letters_are_told_apart(side: str) -> None:
    """A file system, or a tool, writes é as one sign or as two."""
    composed = [f"café{number}" for number in range(20)]
    decomposed = [unicodedata.normalize("NFD", identifier) for identifier in composed]
    repair = repair_of_queries(
        *((decomposed, composed) if side == "run" else (composed, decomposed))
    )
    assert repair is not None
    assert (repair.rule, repair.matches) == (f"decomposed letters in the {side}", 20)
    assert [repair.undo(identifier) for identifier in decomposed] == composed


def test_names_within_names_are_no_other_way_of_writing_them() -> None:
    # Without the last part.
    assert repair_of_queries(["numpy.ma.sum", "numpy.ma.sort"], ["numpy.sum", "numpy.sort"]) is None
    classes = [f"Class{number}" for number in range(20)]
    assert (
        repair_of_queries(
            classes, [f"{name}.{method}" for name in classes for method in ("fit", "score", "set")]
        )
        is None
    )


def test_other_topics_are_no_other_way_of_writing_these() -> None:
    assert repair_of_queries(map(str, range(101, 151)), map(str, range(1, 51))) is None
    assert repair_of_queries([], ["1"]) is None


def test_an_evaluation_names_the_rule_for_queries() -> None:
    qrels = {query: {"d": 1} for query in IDS}
    with pytest.raises(
        EmptyInput,
        match=r'the qrels have 1b, 2a, 3b and 197 more\. Without a trailing "\.0" in the run 200',
    ):
        iro.evaluate(qrels, {f"{query}.0": {"d": 1.0} for query in IDS})
    whole = {query: {"d": 1.0} for query in IDS}
    half = {query if place % 2 else f"{query}.0": {"d": 1.0} for place, query in enumerate(IDS)}
    notes = iro.leaderboard(iro.evaluate(qrels, {"whole": whole, "half": half})).notes
    assert any(
        note.endswith('ignored here. Without a trailing ".0" in the run 100 more would match.')
        for note in notes
    )


@pytest.mark.parametrize("judged_only", [False, True])
def test_whether_the_qrels_know_a_document(judged_only: bool) -> None:
    qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    for run, known in (
        ({"q1": {"d1": 1.0}}, True),
        ({"q1": {"d2": 1.0}}, True),  # in another query
        ({"q1": {"d1.0": 1.0}, "q3": {"d": 1.0}}, False),
    ):
        for form in (run, iro.as_run(run)):
            lengths = search_lengths(qrels, form, judged_only=judged_only)
            assert (lengths.diagnosis.unknown_ids == "") is known
