"""Several collections: plain loops over the ranks, and what must never be hidden."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ir_outcomes as iro
from ir_outcomes.errors import MismatchError, ParameterError
from tests.helpers.corrections import multipletests
from tests.helpers.estimate import Mean, mean_of_means, mean_of_queries
from tests.helpers.runs import Ranks, in_blocks, qrels_of, run_of

CUTOFF = 20


def drawn(seed: int, n: int = 60, better: float = 0.5) -> dict[str, Ranks]:
    """Ranks of two runs, "a" and "b", of which "b" ranks some queries higher."""
    rng = np.random.default_rng(seed)
    ranks = {
        f"c{seed}-q{query}": int(rank) if rank <= CUTOFF else None
        for query, rank in enumerate(rng.geometric(0.1, n))
    }
    moved = {
        query: max(1, (rank or CUTOFF + 1) - int(rng.integers(-1, 6)))
        if rng.random() < better
        else rank
        for query, rank in ranks.items()
    }
    kept = {query: rank if rank and rank <= CUTOFF else None for query, rank in moved.items()}
    return {"a": ranks, "b": kept}


def evaluated(ranks: dict[str, Ranks], **settings: Any) -> iro.Evaluation:
    runs = {name: run_of(run, CUTOFF) for name, run in ranks.items()}
    queries = next(iter(ranks.values()))
    return iro.evaluate(qrels_of(queries), runs, cutoff=CUTOFF, **settings)


def rows_of(ranks: dict[str, Ranks], contender: str = "b") -> dict[str, Mean]:
    """The three rows of a collection, from the definitions."""
    pairs = [(ranks["a"][query], ranks[contender][query]) for query in ranks["a"]]
    k = CUTOFF + 1
    return {
        "coverage": mean_of_queries(
            [100.0 * ((b is not None) - (a is not None)) for a, b in pairs], 100.0
        ),
        "ranking": mean_of_queries([float(b - a) for a, b in pairs if a and b], CUTOFF - 1.0),
        "all queries": mean_of_queries(
            [float((b or k) - (a or k)) for a, b in pairs], float(CUTOFF)
        ),
    }


def check(row: Any, expected: Mean) -> None:
    assert row.difference == pytest.approx(expected.difference)
    assert row.standard_error == pytest.approx(expected.error)
    assert row.df == pytest.approx(expected.df)
    assert row.pvalue == pytest.approx(expected.pvalue())
    assert row.interval == pytest.approx(expected.interval())
    gain = row.difference if row.higher_is_better else -row.difference
    significant = "better" if gain > 0 else "worse"
    assert row.found == (significant if row.pvalue <= 0.05 else "none")


def test_groups_are_averaged_first() -> None:
    suite = {f"c{seed}": drawn(seed, 50) for seed in range(5)}
    evaluations = {name: evaluated(own) for name, own in suite.items()}
    groups = {"c1": "parts", "c3": "parts", "c4": "parts"}
    (overall,) = iro.compare_collections(evaluations, "a", groups=groups).overall
    for row in overall.parts:
        means = {name: rows_of(ranks)[row.name] for name, ranks in suite.items()}
        parts = mean_of_means([means[name] for name in groups])
        check(row, mean_of_means([means["c0"], parts, means["c2"]]))
        assert row.n == 3
        assert row.contender is not None
        assert row.baseline is not None
        assert row.contender - row.baseline == pytest.approx(row.difference)
    assert overall.new == {}  # of three that count
    with pytest.raises(ParameterError, match="groups names 'c9', which is no collection"):
        iro.compare_collections(evaluations, "a", groups={"c9": "parts"})


def test_a_collection_of_upside_down_scores_stops_the_others() -> None:
    suite = {f"c{seed}": drawn(seed, 50) for seed in range(2)}
    evaluations = {name: evaluated(own) for name, own in suite.items()}
    first, second = evaluations["c1"]
    equal = replace(second, diagnosis=replace(second.diagnosis, equal_scores=1.0))
    evaluations["c1"] = replace(evaluations["c1"], runs=(first, equal))
    with pytest.raises(MismatchError, match="same score"):
        iro.compare_collections(evaluations, "a")
    found = iro.compare_collections(evaluations, "a", allow=["equal-scores"])
    assert found.conditions[1].comparison.notes[0].kind == "equal-scores"


def test_a_measure_is_pooled_and_decides_nothing() -> None:
    suite = {f"c{seed}": drawn(seed) for seed in range(3)}
    evaluations = {name: evaluated(own, measures=["RR@5"]) for name, own in suite.items()}
    (overall,) = iro.compare_collections(evaluations, "a", measures=["RR@5"]).overall
    (measure,) = overall.measures
    means = []
    for ranks in suite.values():
        values = [
            [1 / rank if rank and rank <= 5 else 0.0 for rank in run.values()]
            for run in ranks.values()
        ]
        means.append(mean_of_queries(np.subtract(values[1], values[0]).tolist(), 1.0))
    check(measure, mean_of_means(means))
    (without,) = iro.compare_collections(evaluations, "a").overall
    assert overall.label == without.label


def test_a_label_that_holm_over_the_collections_does_not_keep_is_marked() -> None:
    suite = {f"c{seed}": evaluated(drawn(seed, better=0.3)) for seed in range(8)}
    found = iro.compare_collections(suite, "a")
    assert {row.holds for row in found.conditions} == {True, False}
    corrected = {
        name: multipletests(
            [getattr(row.comparison, name).pvalue for row in found.conditions], method="holm"
        )[1]
        for name in ("coverage", "ranking", "all_queries")
    }
    for place, row in enumerate(found.conditions):
        significant = [name for name, pvalues in corrected.items() if pvalues[place] <= 0.05]
        assert (row.label_over_conditions == "no significant difference") == (not significant)
        assert row.holds == (row.label == row.label_over_conditions)


def test_harm_in_one_collection_is_named_and_counted() -> None:
    worse = {"a": drawn(9)["b"], "b": drawn(9)["a"]}
    suite = {f"c{seed}": drawn(seed, 200) for seed in range(6)} | {"hurt": worse}
    found = iro.compare_collections({name: evaluated(own) for name, own in suite.items()}, "a")
    (overall,) = found.overall
    assert overall.label.startswith("better")
    assert overall.hurt == ("hurt",)
    assert overall.worse == 1
    assert overall.new["all queries"].low < 0 < overall.new["all queries"].high
    assert overall.outlook == "could go either way"


def test_a_better_collection_whose_ranking_is_worse_by_the_raw_p_is_hurt() -> None:
    """B answers 14 more of 60 queries and ranks some of the others one rank later."""
    suite = {}
    for later in (8, 5):
        a, b = in_blocks((34 - later, 1, 1), (later, 1, 2), (20, None, 1), (6, 1, None))
        suite[f"{later} later"] = evaluated({"a": a, "b": b, "c": a})
    found = iro.compare_collections(suite, "a")
    labels = {
        row.condition: (row.label, row.comparison.ranking.pvalue, row.comparison.ranking.found)
        for row in found.of("b")
    }
    assert all(
        (label or "").endswith("better over all queries") or label for label, *_ in labels.values()
    )
    assert labels["8 later"][1] <= 0.05 < labels["5 later"][1]
    assert found.overall[0].hurt == ("8 later",)


def test_a_family_is_the_contenders_of_the_call_in_every_collection() -> None:
    """A collection that lacks two of three contenders is corrected over three all the same."""
    suite = {}
    for seed in range(2):
        ranks = drawn(seed)
        suite[f"c{seed}"] = evaluated(ranks | {"c": ranks["b"], "d": ranks["b"]})
    for correction in ("holm", "bonferroni", "fdr_bh", "none"):
        whole = iro.compare_collections(suite, "a", correction=correction)
        lacking = {**suite, "c1": suite["c1"][["a", "b"]]}
        part = iro.compare_collections(lacking, "a", correction=correction)
        assert {row.comparison.settings.family for row in part.conditions} == {3}
        (row,) = (row for row in part.of("b") if row.condition == "c1")
        for of_row in row.comparison.deciding:
            alone = [of_row.pvalue, 1.0, 1.0]
            expected = of_row.pvalue
            if correction != "none":
                expected = multipletests(alone, method=correction)[1][0]
            assert of_row.pvalue_corrected == pytest.approx(expected)
        assert part.settings.family == whole.settings.family == 3


def test_a_run_that_a_collection_lacks_is_left_out_and_named() -> None:
    suite = {f"c{seed}": drawn(seed) for seed in range(3)}
    evaluations = {name: evaluated(own | {"c": own["b"]}) for name, own in suite.items()}
    evaluations["c1"] = evaluations["c1"][["a", "b"]]
    found = iro.compare_collections(evaluations, "a")
    assert found.missing == (("c", "c1"),)
    b, c = found.overall
    assert (b.coverage.n, c.coverage.n) == (3, 2)
    assert any("c1 lacks c" in note for note in found.notes)
    with pytest.raises(ParameterError, match="no collection has both 'a' and a contender"):
        iro.compare_collections(
            {"one": evaluations["c1"][["a"]], "two": evaluations["c0"][["b"]]}, "a", "b"
        )


def test_a_row_of_fewer_than_two_units_is_left_out() -> None:
    alone: dict[str, Ranks] = {
        "a": {"x1": 3, **{f"x{query}": None for query in range(2, 40)}},
        "b": {f"x{query}": 1 for query in range(1, 40)},
    }
    suite = {"alone": alone, "c1": drawn(1), "c2": drawn(2)}
    (overall,) = iro.compare_collections(
        {name: evaluated(own) for name, own in suite.items()}, "a"
    ).overall
    assert overall.left_out == {"ranking": ("alone",)}
    assert (overall.coverage.n, overall.ranking.n) == (3, 2)
    check(
        overall.ranking, mean_of_means([rows_of(suite[name])["ranking"] for name in ("c1", "c2")])
    )


def test_collections_that_cannot_be_compared_are_refused() -> None:
    ranks = drawn(0)
    suite = {"one": evaluated(ranks), "two": evaluated(drawn(1)).with_cutoff(10)}
    with pytest.raises(MismatchError, match=r"differ in cutoff \(one 20 and two 10\)"):
        iro.compare_collections(suite, "a")
    assert iro.compare_collections(suite, "a", allow=["cutoff"]).settings.cutoff is None
    assert iro.compare_collections(suite, "a", cutoff=10).settings.cutoff == 10
    with pytest.raises(ParameterError, match="there is no collection"):
        iro.compare_collections({}, "a")
    with pytest.raises(ParameterError, match="there is no contender"):
        iro.compare_collections({"one": suite["one"]}, "a", [])


@pytest.mark.realdata
def test_a_published_suite(real_data: Path) -> None:
    """Differences of nDCG@10, colberter minus tasb, as MeteSertkan/ranger at 1711341 has them."""
    published = {
        "antique": 0.122602,
        "dbpedia-entity": 0.031409,
        "nfcorpus": 0.007292,
        "trec-covid": 0.184815,
        "trec_podcast": 0.025695,
        "tripclick": 0.008639,
    }
    folder = real_data / "suite-colberter"
    evaluations = {
        name: iro.evaluate(
            folder / name / "qrels.txt.gz",
            [folder / name / f"{run}.run.gz" for run in ("tasb", "colberter")],
            cutoff=10,
            unit="document",
            measures=["nDCG@10"],
        )
        for name in published
    }
    found = iro.compare_collections(evaluations, "tasb", measures=["nDCG@10"])
    differences = {row.condition: row.comparison.measures[0].difference for row in found.conditions}
    assert differences == pytest.approx(published, abs=5e-7)
    (overall,) = found.overall
    assert overall.measures[0].difference == pytest.approx(sum(published.values()) / 6, abs=5e-7)
    assert overall.hurt == ()
