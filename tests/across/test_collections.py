"""Several collections: published figures, plain loops over `compare`, and what must never be counted."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import ir_outcomes as iro
from ir_outcomes.comparison.verdict import MIRRORED
from ir_outcomes.errors import MismatchError, ParameterError
from ir_outcomes.statistics.pooling import fixed_mean, log_ratio_of_means
from tests.helpers import literal
from tests.helpers.comparisons import compare_several
from tests.helpers.runs import qrels_of, run_of

# Published differences of nDCG@10, colberter minus tasb (MeteSertkan/ranger at 1711341).
NDCG = {
    "antique": 0.122602,
    "dbpedia-entity": 0.031409,
    "nfcorpus": 0.007292,
    "trec-covid": 0.184815,
    "trec_podcast": 0.025695,
    "tripclick": 0.008639,
}

Ranks = dict[str, int | None]


def evaluated(*ranks: Ranks, **settings: Any) -> iro.Evaluation:
    """Evaluate runs "a", "b" and so on by their ranks."""
    runs = {name: run_of(run, 20) for name, run in zip("abcd", ranks, strict=False)}
    return iro.evaluate(
        qrels_of({query: 1 for run in ranks for query in run}), runs, cutoff=20, **settings
    )


def made_up(seed: int, n: int = 60, better: float = 0.5) -> iro.Evaluation:
    """Two runs, "a" and "b", of which "b" ranks some queries higher."""
    rng = np.random.default_rng(seed)
    ranks = {
        f"c{seed}-q{q}": int(rank) if rank <= 20 else None
        for q, rank in enumerate(rng.geometric(0.2, n))
    }
    moved = {
        q: max(1, r - int(rng.integers(0, 4))) if r and rng.random() < better else r
        for q, r in ranks.items()
    }
    return evaluated(ranks, moved)


@pytest.mark.realdata
def test_published_figures(real_data: Path) -> None:
    """Differences of nDCG@10, and figures that were measured with Paule-Mandel and Hartung-Knapp-Sidik-Jonkman."""
    folder, settings = (
        real_data / "suite-colberter",
        {
            "cutoff": 10,
            "unit": "document",
            "measures": ["nDCG@10"],
        },
    )
    runs = {
        name: [folder / name / f"{run}.run.gz" for run in ("tasb", "colberter")] for name in NDCG
    }
    evaluations = {
        name: iro.evaluate(folder / name / "qrels.txt.gz", of, **settings)  # type: ignore[arg-type]
        for name, of in runs.items()
    }
    found = iro.compare_collections(evaluations, "tasb", measures=["nDCG@10"])
    rows, (overall,) = found.conditions, found.overall
    assert {
        row.condition: row.measures[0].effect for row in rows if row.measures[0]
    } == pytest.approx(NDCG, abs=5e-7)
    coverage, ranking, ndcg = (effect.new for effect in overall.pooled)
    assert coverage is not None
    assert ranking is not None
    assert ndcg is not None
    assert (ndcg.effect, ndcg.low, ndcg.high) == pytest.approx((0.0575, -0.0148, 0.1299), abs=5e-5)
    assert (ndcg.predicted_low, ndcg.predicted_high) == pytest.approx((-0.133, 0.254), abs=1e-3)
    assert (ndcg.pvalue, ndcg.i_squared) == pytest.approx((0.096, 0.96), abs=5e-3)
    ratios = np.exp(
        [ranking.effect, ranking.low, ranking.high, ranking.predicted_low, ranking.predicted_high]
    )
    assert ratios == pytest.approx([0.83, 0.72, 0.96, 0.56, 1.19], abs=5e-3)
    assert ranking.pvalue == pytest.approx(0.020, abs=5e-4)
    assert (coverage.effect, coverage.low, coverage.high) == pytest.approx(
        (1.40, -0.40, 3.21), abs=0.01
    )
    labels = {row.condition: row.label for row in rows}
    assert labels == {
        **dict.fromkeys(("antique", "dbpedia-entity", "trec-covid"), "better on both facets"),
        "nfcorpus": "better on ranking",
        "tripclick": "better on coverage",
        "trec_podcast": "ranking gain, unconfirmed",
    }
    assert [row.condition for row in rows if not row.survives] == ["tripclick"]
    assert overall.hurt == ()
    assert "could go either way" in " ".join(str(found).split())
    assert any("judged unequally" in note and "trec-covid" in note for note in found.notes)


def test_rows_are_those_of_compare_and_means_those_of_the_statistics() -> None:
    evaluations = {f"c{seed}": made_up(seed, 40 + 15 * seed) for seed in range(3)}
    found = iro.compare_collections(evaluations, "a")
    rankings = []
    for row, (name, evaluation) in zip(found.conditions, evaluations.items(), strict=True):
        assert (row.condition, row.comparison) == (name, compare_several(evaluation, "a", ["b"])[0])
        lengths = np.stack([run.esl() for run in evaluation.at()])
        x, y = lengths[:, ~np.isnan(lengths).any(axis=0)]
        assert row.ranking is not None
        assert (row.ranking.effect, row.ranking.variance, row.ranking.df) == pytest.approx(
            log_ratio_of_means(x, y)
        )
        rankings.append(row.ranking)
    mean = found.overall[0].pooled[1].these
    assert mean is not None
    effects, variances, dfs = (
        np.array([getattr(each, name) for each in rankings])
        for name in ("effect", "variance", "df")
    )
    pooled = fixed_mean(effects, variances, dfs + 1, 0.95)
    assert (mean.effect, mean.pvalue) == pytest.approx((pooled.effect, pooled.pvalue))


def test_swapping_the_runs_mirrors_everything() -> None:
    evaluations = {f"c{seed}": made_up(seed) for seed in range(5)}
    (there,), (back,) = (
        iro.compare_collections(evaluations, *runs).overall for runs in (("a", "b"), ("b", "a"))
    )
    assert back.label == MIRRORED[there.label or ""]
    for forth, mirrored in zip(there.pooled, back.pooled, strict=True):
        assert (forth.better, forth.worse) == (mirrored.worse, mirrored.better)
        for name in ("these", "new"):
            one, other = getattr(forth, name), getattr(mirrored, name)
            assert (one.effect, one.pvalue) == pytest.approx((-other.effect, other.pvalue))


def test_a_missing_run_is_named_and_left_out() -> None:
    whole, partly = made_up(1), made_up(2)
    found = iro.compare_collections({"whole": whole, "partly": partly[["a"]]}, "a", "b")
    assert [row.condition for row in found.conditions] == ["whole"]
    assert any(
        note.startswith("partly lacks b: it is left out of the means") for note in found.notes
    )
    alone = iro.compare_collections({"whole": whole}, "a", "b")
    assert found.overall[0].pooled == alone.overall[0].pooled
    # One collection is its own overall row.
    assert alone.overall[0].label == alone.conditions[0].label
    with pytest.raises(ParameterError, match="no run is called 'c'"):
        iro.compare_collections({"whole": whole}, "c")
    run = {"q": {"x": 2.0, "gold": 1.0}}
    same = iro.evaluate({"q": {"gold": 1}}, {"a": run, "b": run, "c": run})
    assert [
        overall.label for overall in iro.compare_collections({"1": same, "2": same}, "a").overall
    ] == [None, None]


def test_groups_count_as_one() -> None:
    evaluations = {f"c{seed}": made_up(seed, 50) for seed in range(4)}
    found = iro.compare_collections(evaluations, "a", groups={"c0": "many", "c1": "many"})
    effects = [row.coverage.effect for row in found.conditions if row.coverage is not None]
    mean = found.overall[0].pooled[0].these
    assert mean is not None
    assert [mean.k, mean.effect] == pytest.approx(
        [3, np.mean([np.mean(effects[:2]), *effects[2:]])]
    )
    with pytest.raises(ParameterError, match="groups names 'c9', which is no collection"):
        iro.compare_collections(evaluations, "a", groups={"c9": "x"})


def test_settings_must_agree() -> None:
    evaluations = {"first": made_up(1), "second": made_up(2).with_cutoff(10)}
    with pytest.raises(MismatchError, match=r"differ in cutoff \(first 20 and second 10\)"):
        iro.compare_collections(evaluations, "a")
    allowed = iro.compare_collections(evaluations, "a", allow=("cutoff",))
    assert allowed.settings.cutoff is None
    assert "The collections differ in cutoff: first 20 and second 10." in allowed.notes
    assert iro.compare_collections(evaluations, "a", cutoff=10).settings.cutoff == 10
    with pytest.raises(ParameterError, match="there is no collection"):
        iro.compare_collections({}, "a")
    qrels: literal.Qrels = {f"m{q}": {f"d{d}": 1 for d in range(3)} for q in range(30)}
    run = {q: {f"d{d}": 3.0 - d for d in range(3)} for q in qrels}
    several = iro.evaluate(qrels, {"a": run, "b": dict(run)}, cutoff=20)
    found = iro.compare_collections({"single": made_up(1), "several": several}, "a")
    assert [row.comparison.unit for row in found.conditions] == ["document", "document"]


def test_the_largest_collection_does_not_decide() -> None:
    """Three small collections improve and a large one worsens; with all queries in one pool the sign would be the opposite."""
    evaluations = {}
    for seed, (n, step) in enumerate(((40, -2), (40, -2), (40, -2), (900, 1))):
        ranks: Ranks = {f"c{seed}-q{q}": 4 + q % 11 for q in range(n)}
        evaluations[f"c{seed}"] = evaluated(
            ranks, {q: (rank or 0) + step * (not q.endswith("0")) for q, rank in ranks.items()}
        )
    found = iro.compare_collections(evaluations, "a")
    assert any(
        "if each collection weighed as much as its queries, the mean effect on ranking" in note
        for note in found.notes
    )
    assert found.overall[0].hurt == ("c3",)
    assert found.conditions[3].comparison.ranking.pvalue < 1e-300
    where = "(raw p at most 0.05) or a trade-off: c3 (ranking, p < 1e-300)."
    assert f"Hurt {where}" in " ".join(str(found).split())
    several = {
        name: replace(own, runs=(*own.runs, replace(own["a"], name="c")), sources=())
        for name, own in evaluations.items()
    }
    text = iro.compare_collections(several, "a").to_text(details=True)
    assert f"b: hurt {where}" in " ".join(text.split())


def test_hurt_is_raw_as_everywhere() -> None:
    """Corrected over contenders and with no label, the one that ranks 8 of 200 queries worse still hurts."""
    ranks = {f"q{q}": 5 for q in range(200)}
    worse = {q: rank + (number < 8) for number, (q, rank) in enumerate(ranks.items())}
    runs = {"a": run_of(ranks, 20)} | {
        f"b{n}": run_of(worse if n == 0 else ranks, 20) for n in range(8)
    }
    found = iro.compare_collections(
        dict.fromkeys(("c1", "c2"), iro.evaluate(qrels_of(ranks), runs, cutoff=20)), "a"
    )
    ranking, mean = found.conditions[0].comparison.ranking, found.overall[0].pooled[1].these
    assert ranking.pvalue < 0.05 < ranking.pvalue_corrected
    assert found.conditions[0].label == "no significant difference"
    assert [overall.hurt for overall in found.overall[:2]] == [("c1", "c2"), ()]
    assert mean is not None
    assert (found.settings.family, mean.pvalue <= mean.pvalue_corrected, len(found.rows())) == (
        8,
        True,
        16 + 16,
    )


def test_a_label_of_one_facet_is_confirmed_by_the_mean_over_all_queries() -> None:
    """Ranking improves in every collection; answers that are lost late and won early leave coverage as it is."""

    def collection(seed: int, lost_at: int, won_at: int) -> iro.Evaluation:
        lost, both, won = (
            [f"c{seed}-{kind}{q}" for q in range(n)]
            for kind, n in (("lost", 8), ("both", 42), ("won", 8))
        )
        baseline: Ranks = {
            **dict.fromkeys(lost, lost_at),
            **{query: 8 + place % 5 for place, query in enumerate(both)},
        }
        contender: Ranks = {
            **{query: 7 + place % 4 for place, query in enumerate(both)},
            **dict.fromkeys(won, won_at),
        }
        return evaluated(baseline, contender)

    for ranks, label, sign in (
        ((20, 1), "better on ranking", -1),
        ((1, 20), "ranking gain, unconfirmed", 1),
    ):
        found = iro.compare_collections(
            {f"c{seed}": collection(seed, *ranks) for seed in range(3)}, "a"
        ).overall[0]
        mean = found.all_queries.these
        assert (found.label, mean is not None and np.sign(mean.effect)) == (label, sign)


def test_effects_of_clusters() -> None:
    """Every query is asked twice: as clusters the effects are as certain as those of the queries once."""
    rng = np.random.default_rng(5)
    ranks = {
        f"q{q}": int(rank) if rank <= 20 else None for q, rank in enumerate(rng.geometric(0.2, 60))
    }
    moved = {
        q: max(1, rank - int(rng.integers(0, 4))) if rank else None for q, rank in ranks.items()
    }

    def compared(forms: int, **settings: Any) -> Any:
        asked = [
            {f"{q}/{form}": rank for q, rank in run.items() for form in range(forms)}
            for run in (ranks, moved)
        ]
        return (
            iro.compare_collections({"one": evaluated(*asked, **settings)}, "a")
            .conditions[0]
            .effects[1:]
        )

    for once, twice, naive in zip(
        compared(1), compared(2, clusters="by:/"), compared(2), strict=True
    ):
        assert (twice.effect, twice.variance, twice.df) == pytest.approx(
            (once.effect, once.variance, once.df)
        )
        assert twice.interval == pytest.approx(once.interval)
        assert naive.variance < 0.6 * once.variance


@pytest.mark.parametrize(("prefix", "is_said"), [("", False), ("doc-", True)])
def test_one_sentence_for_all_collections_that_share_ids(prefix: str, is_said: bool) -> None:
    qrels = {f"{prefix}{q}": {f"{prefix}{q}": 1} for q in range(1000, 1020)}
    run = {query: {query: 1.0} for query in qrels}
    found = iro.compare_collections(
        {f"c{n}": iro.evaluate(qrels, {"a": run, "b": run}) for n in range(18)}, "a"
    )
    named = "c0, c1, c2, c3, c4, c5 and 12 more"
    said = (
        f"Collections have ids of queries ({named}) and of judged documents ({named}) in common: "
    )
    assert [note.startswith(said) for note in found.notes if "in common" in note] == [
        True
    ] * is_said


def test_intervals_of_effects_stay_within_what_is_possible() -> None:
    ranks = {f"q{q}": 1 for q in range(12)}
    moved = ranks | {"q0": 10, "q1": 4}
    found = iro.compare_collections(
        {"few": iro.evaluate(qrels_of(ranks), {"a": run_of(ranks), "b": run_of(moved)}, cutoff=10)},
        "a",
        "b",
        alpha=0.001,
    )
    ranking, everywhere = found.conditions[0].ranking, found.conditions[0].all_queries
    assert ranking is not None
    assert everywhere is not None
    assert ranking.interval == (-np.log(10), np.log(10))
    assert everywhere.interval == (-10, 10)


def test_means_stay_within_what_is_possible() -> None:
    """Only means of coverage were cut."""
    ranks = {f"q{q}": 1 for q in range(12)}
    moved = ranks | {"q0": 10, "q1": 4}
    runs = {"a": run_of(ranks), "b": run_of(moved)}
    collections = {
        str(number): iro.evaluate(qrels_of(ranks), runs, cutoff=10 - 5 * (number % 2))
        for number in range(6)
    }
    overall = iro.compare_collections(
        collections, "a", "b", alpha=1e-15, allow=("cutoff",)
    ).overall[0]
    ranking = overall.pooled[1]
    assert ranking.these is not None
    assert ranking.new is not None
    assert overall.all_queries.these is not None
    assert overall.all_queries.new is not None
    ratio = (np.log(10) + np.log(5)) / 2
    assert ranking.these.interval == pytest.approx((-ratio, ratio))
    assert ranking.new.prediction == pytest.approx((-np.log(10), np.log(10)))
    assert overall.all_queries.these.interval == (-7.5, 7.5)
    assert overall.all_queries.new.prediction == (-10, 10)


def test_a_prediction_stays_within_what_is_possible() -> None:
    ranks: Ranks = {f"q{q}": 1 for q in range(12)}
    none: Ranks = dict.fromkeys(ranks)
    collections = {
        str(number): iro.evaluate(
            qrels_of(ranks),
            {
                "a": run_of(ranks if number % 2 else none),
                "b": run_of(none if number % 2 else ranks),
            },
            cutoff=10,
        )
        for number in range(6)
    }
    coverage = iro.compare_collections(collections, "a", "b").overall[0].pooled[0]
    assert coverage.new is not None
    assert coverage.new.prediction == (-100, 100)


def test_one_very_skewed_collection_among_few_is_said() -> None:
    rng = np.random.default_rng(1)
    collections = {}
    for name in ("even", "also even", "skewed"):
        ranks = {f"{name}{q}": int(rank) for q, rank in enumerate(rng.integers(3, 8, 60))}
        moved = {q: rank + int(rng.integers(-2, 3)) for q, rank in ranks.items()}
        if name == "skewed":
            moved |= {f"{name}0": 90, f"{name}1": 60}
        collections[name] = iro.evaluate(
            qrels_of(ranks), {"a": run_of(ranks, 100), "b": run_of(moved, 100)}, cutoff=100
        )
    notes = iro.compare_collections(collections, "a", "b").notes
    assert (
        sum("a few of the queries of skewed decide most of the ranking" in note for note in notes)
        == 1
    )
    del collections["skewed"]
    assert not any(
        "decide most of the ranking" in note
        for note in iro.compare_collections(collections, "a", "b").notes
    )


def test_the_figure_says_of_a_new_collection_what_the_table_says() -> None:
    alike = iro.compare_collections(
        {f"c{seed}": made_up(seed, better=0.9) for seed in range(6)}, "a"
    )
    worse = {f"c{seed}": made_up(seed, better=0.9 * (seed % 2)) for seed in range(6)}
    for found in (alike, iro.compare_collections(worse, "a")):
        axes = found.plot("forest", ax=Figure())
        (outlook,) = {overall.outlook for overall in found.overall}
        assert outlook in {"likely better", "could go either way"}
        assert outlook in str(found)
        drawn = {text.get_text().strip() for panel in axes.figure.axes for text in panel.texts}
        assert outlook in drawn
