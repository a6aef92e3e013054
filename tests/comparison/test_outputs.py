from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from ir_measures import AP, RR, nDCG

import ir_outcomes as iro
from ir_outcomes import ESL
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.errors import MismatchError, ParameterError
from ir_outcomes.samples import write_sample
from tests.helpers.comparisons import all_notes, compare_pair


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_sample(tmp_path_factory.mktemp("outputs"))[0].parent


@pytest.fixture(scope="module")
def inputs(folder: Path) -> list[Any]:
    runs = [iro.read_run(folder / f"{system}.run").to_dict() for system in ("bm25", "bm25-stem")]
    return [iro.read_qrels(folder / "qrels.txt").to_dict(), *runs]


@pytest.fixture(scope="module")
def expected(inputs: Any) -> Comparison:
    return compare_pair(*inputs, names=["A", "B"])


def compared(*outputs: Any, **settings: Any) -> Comparison:
    found = iro.compare_outputs(*outputs, **settings)
    assert isinstance(found, Comparison)
    return found


def check(found: Comparison, expected: Comparison) -> None:
    assert found.outcomes == expected.outcomes
    assert found.verdict.label == expected.verdict.label
    for one, other in ((found.coverage, expected.coverage), (found.ranking, expected.ranking)):
        assert one.pvalue == pytest.approx(other.pvalue)
        assert one.interval == pytest.approx(other.interval)
    assert Comparison.from_json(found.to_json()) == found


def test_ir_measures_and_pytrec_eval_give_the_verdict_of_the_runs(
    inputs: Any, expected: Comparison
) -> None:
    qrels, *runs = inputs
    for measure in (RR, ESL @ 100, ESL(unanswered="cutoff+1") @ 100):
        check(
            compared(*(ir_measures.calc([measure, nDCG @ 10], qrels, run) for run in runs)),
            expected,
        )
        check(
            compared(*(list(ir_measures.iter_calc([measure], qrels, run)) for run in runs)),
            expected,
        )
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank", "map"})
    check(compared(*(evaluator.evaluate(run) for run in runs), qrels=qrels), expected)


def test_text_of_trec_eval_is_rounded_and_that_is_noticed(
    inputs: Any, expected: Comparison, tmp_path: Path
) -> None:
    names = {"RR": "recip_rank", "AP": "map"}
    paths = [tmp_path / "a.eval", tmp_path / "b.eval"]
    for path, run in zip(paths, inputs[1:], strict=True):
        metrics = ir_measures.iter_calc([RR, AP], inputs[0], run)
        lines = [
            f"{names[str(each.measure)]:22}\t{each.query_id}\t{each.value:.4f}" for each in metrics
        ]
        path.write_text(
            "\n".join(
                ["runid                 \tall\tbm25", *lines, "recip_rank            \tall\t0.5"]
            )
        )
    found = compared(*paths)
    check(found, expected)  # all ranks here are at most 100, which 4 places can tell
    notes = "\n".join(all_notes(found))
    assert (
        "Compared on values of recip_rank as they were written; the tie rule and cutoff are those"
        " of the tool" in notes
    )
    assert "Values are rounded to 4 places: ranks beyond about 100 cannot be told exactly." in notes
    assert "Without qrels, queries that have no relevant document cannot be told apart" in notes
    assert (found.cutoff, found.ties) == (None, "unknown")


def test_other_measures_split_at_zero_and_say_so(inputs: Any) -> None:
    qrels, *runs = inputs
    outputs = [list(ir_measures.iter_calc([nDCG @ 10], qrels, run)) for run in runs]
    found = compared(*outputs, names=("A", "B"))
    a, b = ({metric.query_id: metric.value for metric in output} for output in outputs)
    assert found.outcomes.won == sum(b[q] > 0 and a[q] == 0 for q in a)
    both = [q for q in a if a[q] > 0 and b[q] > 0]
    assert found.ranking.n == len(both)
    assert found.ranking.difference == pytest.approx(np.mean([b[q] - a[q] for q in both]))
    assert (found.ranking.higher_is_better, found.ranking.measured_in) == (True, "nDCG@10")
    assert "ranking, nDCG@10" in " ".join(str(found).split())
    assert "nDCG@10 is" in found.verdict.sentence
    assert any(
        "Coverage is the share of queries with nDCG@10 above zero" in note
        for note in all_notes(found)
    )


A = {"q1": {"RR": 0.5, "nDCG@10": 0.3}, "q2": {"RR": 1.0, "nDCG@10": 1.0}}


@pytest.mark.parametrize(
    ("baseline", "contender", "settings", "error", "message"),
    [
        (
            {"q": {"RR(rel=2)": 1.0}},
            {"q": {"RR(rel=2)": 1.0}},
            {"rel": 1},
            ParameterError,
            "counts grades from 2 on",
        ),
        (A, A, {"correction": "sidak", "measure": "RR"}, ParameterError, "must be one of holm"),
        (A, {"z": {"RR": 1.0}}, {}, MismatchError, "have no query in common"),
        (
            {"q": {"AP": 1, "P@5": 1}},
            {"q": {"AP": 1, "P@5": 1}},
            {},
            ParameterError,
            "has several measures",
        ),
        (
            {"q": {"mine": 1}},
            {"q": {"mine": 1}},
            {},
            ParameterError,
            "the direction of mine is not known",
        ),
        (
            {"q": {"ASL": 1}},
            {"q": {"ASL": 1}},
            {},
            ParameterError,
            "does not say both what was found and how far down",
        ),
        (
            {"q": 1.0},
            A,
            {},
            ParameterError,
            "values without the name of their measure; name it with `measure`",
        ),
        (
            A,
            A,
            {"names": ("A",)},
            ParameterError,
            r"one name for each of the 2 outputs, such as `names=\['a', 'b'\]`",
        ),
        (
            A,
            A,
            {"names": "bm25"},
            ParameterError,
            "`names='bm25'`: must be one name for each of the 2 outputs",
        ),
        (A, A, {"qrels": {"q9": {"d": 1}}}, MismatchError, "no query of the outputs"),
        (
            A,
            {"q1": {"AP": 1}},
            {},
            MismatchError,
            "different measures .*; choose one with `measure`",
        ),
    ],
)
def test_wrong_outputs(
    baseline: Any, contender: Any, settings: Any, error: Any, message: str
) -> None:
    with pytest.raises(error, match=message):
        iro.compare_outputs(baseline, contender, **settings)


@pytest.mark.parametrize(
    ("measure", "cutoff"), [("nDCG@10", 10), ("AP", None), ("RR(rel=2)@10", 10)]
)
def test_the_cutoff_and_grade_of_a_measure_are_those_of_its_name(
    measure: str, cutoff: int | None
) -> None:
    a, b = ({f"q{n}": {measure: value} for n in range(40)} for value in (0.25, 0.5))
    found = compared(a, b)
    assert (found.cutoff, found.rel) == (cutoff, 2 if "rel=2" in measure else None)
    assert found.verdict.label == "better on ranking"  # its mean over all queries confirms it
    text = " ".join(found.to_text().split()) + "".join(found.notes)
    assert cutoff is None or "cutoff 10, " in text
    assert "cutoff unknown" not in text
    assert "Without a cutoff" not in text


def test_an_unknown_measure_is_told_its_direction() -> None:
    a, b = ({f"q{n}": {"cost": value} for n in range(9)} for value in (4.0, 2.0))
    found = compared(a, b, higher_is_better=False)
    assert found.verdict.label == "better over all queries"  # 0 may not mean that nothing is found


def test_missing_queries_and_unanswerable_ones() -> None:
    several = iro.compare_outputs(
        A, [{"q1": {"RR": 1.0}}, A], measure="RR", names=("A", "B", "A again")
    )
    assert isinstance(several, Comparisons)
    found, again = several
    assert (found.outcomes.lost, again.verdict.label) == (1, "no significant difference")
    assert any("B lacks 1 query (q2), counted as unanswered." in note for note in all_notes(found))
    told = compared(A, {"q1": {"RR": 1.0}}, qrels={"q1": {"d": 1}, "q2": {"d": 0}})
    assert (told.n_queries, told.n_unanswerable) == (1, 1)
    assert (found.n_queries, found.n_unanswerable) == (2, 0)


@pytest.mark.parametrize("coarse_is_first", [True, False])
def test_outputs_are_rounded_to_the_places_of_the_coarsest(coarse_is_first: bool) -> None:
    coarse = {"q1": {"RR": 0.33}, "q2": {"RR": 1.0}}
    fine = {"q1": {"RR": 0.3333}, "q2": {"RR": 0.1429}}
    order = (coarse, fine) if coarse_is_first else (fine, coarse)
    notes = " ".join(all_notes(compared(*order)))
    assert "Values are rounded to 2 places: ranks beyond about 10 cannot be told exactly." in notes


def test_rounded_values_are_the_ranks_that_they_can_stand_for_and_others_stay() -> None:
    """A mean over tied documents is the reciprocal of no rank."""
    written = {"q1": 1.0, "q2": 0.3333, "q3": 0.0101, "q4": 0.4167, "q5": 0.7}
    lengths = [1.0, 3.0, 99.0, 1 / 0.4167, 1 / 0.7]
    outputs = [
        {query: {"RR": value} for query, value in values.items()}
        for values in (written, dict.fromkeys(written, 0.5))
    ]
    found = [query.baseline for query in compared(*outputs).per_query()]
    assert found == pytest.approx(lengths, abs=1e-12)
    # As they are computed, without any rounding.
    exact: Any = {query: {"RR": 1 / length} for query, length in zip(written, lengths, strict=True)}
    found = [query.baseline for query in compared(exact, outputs[1]).per_query()]
    assert found == pytest.approx(lengths, abs=1e-12)


def test_outputs_without_names_are_called_by_their_position() -> None:
    outputs = [
        {f"q{query}": {"recip_rank": 1 / (1 + (query + number) % 4)} for query in range(8)}
        for number in range(3)
    ]
    alone = iro.compare_outputs(outputs[0], outputs[1])
    assert (alone.baseline, alone.contender) == ("baseline", "contender")
    together = iro.compare_outputs(outputs[0], outputs[1:])
    assert [(item.baseline, item.contender) for item in together] == [
        ("baseline", "contender 1"),
        ("baseline", "contender 2"),
    ]
