"""What is shown of the analyses of all relevant documents."""

from __future__ import annotations

from typing import Any

import pytest

import ir_outcomes as iro
from tests.helpers.many import collection


def flat(text: str) -> str:
    """Undo the wrapping of lines."""
    return " ".join(text.split())


@pytest.mark.parametrize("ties", ["trec", "msmarco", "input", "expected"])
def test_every_result_shows_depth_relevance_and_tie_rule(ties: Any) -> None:
    qrels, runs = collection(3, 20, relevant=2)
    ev = iro.evaluate(qrels, runs, ties=ties)
    pair = ("run0", "run1")
    changes = iro.length_changes(ev, *pair)
    results = [iro.length_distributions(ev), changes, changes.documents("won"), iro.rrie(ev, *pair), iro.headroom(ev)]
    if ties != "expected":
        results.append(iro.reordering(ev))
    for result in results:
        assert f"depth 10, rel 1, ties {ties}, missing cutoff" in str(result)
    judged = iro.length_distributions(iro.evaluate(qrels, runs, ties=ties, judged_only=True), cutoff=2)
    assert f"depth 2, rel 1, ties {ties}, missing cutoff, judged documents only" in str(judged)


def test_delta_sort_is_defined_where_it_is_shown() -> None:
    qrels, runs = collection(3, 20, relevant=2)
    ev = iro.evaluate(qrels, runs, measures=["AP", "nDCG"])
    for result in (iro.reordering(ev), iro.reordering(ev, measures=["AP", "nDCG"])):
        for shown in (str(result), result.to_html(), result.to_latex(), result.to_markdown()):
            assert "a mean that is 10" in flat(shown)
            assert "in a paired t test" in flat(shown)


def test_counts_and_shares_in_a_row_belong_together() -> None:
    qrels = {"many": {f"d{number}": 1 for number in range(9)}, "single": {"d0": 1}}
    found = {"many": {"d0": 1.0, "x": 0.5}, "single": {"d0": 1.0, "x": 0.5}}
    lost = {"many": {"x": 1.0, "y": 0.5}, "single": {"x": 1.0, "d0": 0.5}}
    result = iro.length_changes(iro.evaluate(qrels, {"A": found, "B": lost}), "A", "B")
    (table,) = result.view().tables
    # One document of ten is lost, although it is an eighteenth of the relevant documents by queries of the same weight.
    assert table.rows[-1] == ("one run only", "0", "0.0", "1", "10.0")
    assert table.rows[0] == ("1 or more", "0", "0.0", "1", "10.0")
    assert "found by neither: 8 (80.0 %)" in flat(str(result))


def test_published_means_are_shown_without_settings() -> None:
    result = iro.rrie_from_means({"MAP": 0.4, "ASL": 264}, {"MAP": 0.572, "ASL": 215}, names=("BM25", "neural"))
    text = str(result)
    assert "neural (B) against BM25 (A): relative reduction in error\n" in text
    assert "published means" in text
    assert "28.7" in text
    assert "18.6" in text


def test_the_number_of_documents_is_shown_where_only_some_are_listed() -> None:
    qrels, runs = collection(2, 30, relevant=3)
    listed = iro.length_changes(iro.evaluate(qrels, runs), "run0", "run1").documents("further down", top=2)
    assert f"{listed.n_documents} relevant documents further down, 2 shown: run1 (B) against run0 (A)" in flat(str(listed))
