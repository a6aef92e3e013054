"""Numbers and pictures of the pages on suites, slices, cutoffs and judges."""

from collections import Counter
from collections.abc import Callable, Sequence
from math import exp
from pathlib import Path
from typing import Any

from real_runs import DATA, Collection, percent, table

import ir_outcomes as iro
from ir_outcomes.across.result import Condition
from ir_outcomes.formatting import fixed, pvalue

Save = Callable[[Any, str], None]
Numbers = dict[str, str]
JUDGES = {
    "nist": ("qrels.txt.gz", 2),
    "gpt-4o": ("qrels.gpt-4o.txt.gz", 2),
    "rank1-32b": ("qrels.rank1-32b.txt.gz", 1),
}
PAIR_OF_CUTOFFS = "ANCE", "BM25RM3"


def suites(collections: dict[str, Collection], save: Save) -> Numbers:
    pages = {}
    colberter = {
        folder.name: _evaluation(folder, rel=1, measures=["nDCG@10"])
        for folder in _folders("suite-colberter")
    }
    result = iro.compare_collections(colberter, "tasb", "colberter", measures=["nDCG@10"])
    save(result.plot("forest"), "suite-forest")
    pages["suite-rows"] = _rows(result)
    pages["suite-means"] = table(
        ("mean of", "over", ">mean", ">95 % interval", ">p", ">a new one lies in", ">I^2, %"),
        (row for effect in result.overall[0].pooled for row in _means(effect)),
    )
    trec = {folder.name: _evaluation(folder, rel=2) for folder in _folders("suite-rerankers")}
    years = iro.compare_collections(trec, "monot5-3b", "rank1-32b")
    pages["suite-years"] = _rows(years)
    return pages


def _folders(suite: str) -> list[Path]:
    return sorted(path for path in (DATA / suite).iterdir() if path.is_dir())


def _evaluation(folder: Path, qrels: str = "qrels.txt.gz", **settings: Any) -> iro.Evaluation:
    runs = {path.name.removesuffix(".run.gz"): path for path in sorted(folder.glob("*.run.gz"))}
    return iro.evaluate(folder / qrels, runs, cutoff=10, unit="document", **settings)


def _rows(result: iro.ConditionsComparison) -> str:
    return table(
        (
            "collection",
            ">queries",
            ">coverage, points",
            ">p",
            ">ranking, documents above",
            ">p",
            *(f">{measure}" for measure in result.measures),
            ">judged A, %",
            ">judged B, %",
            "label",
        ),
        (
            [
                row.condition,
                row.comparison.n_queries,
                fixed(row.comparison.coverage.difference, 2, signed=True),
                pvalue(row.comparison.coverage.pvalue),
                fixed(row.comparison.ranking.difference, 2, signed=True),
                pvalue(row.comparison.ranking.pvalue),
                *(
                    fixed(effect.effect if effect else None, 4, signed=True)
                    for effect in row.measures
                ),
                *(map(percent, row.judged) if row.judged else ("", "")),
                f"{row.label}{'' if row.survives else ' *'}",
            ]
            for row in result.conditions
        ),
    )


def _means(effect: Any) -> list[list[str]]:
    """Two rows: these collections, and a new one."""
    ratio = effect.name == "ranking"
    places = 2 if effect.name in ("coverage", "ranking") else 4

    def number(value: float) -> str:
        return fixed(exp(value) if ratio else value, places, signed=not ratio)

    these, new = effect.these, effect.new
    return [
        [
            effect.name,
            "these",
            number(these.effect),
            f"{number(these.low)} to {number(these.high)}",
            pvalue(these.pvalue),
            "",
            "",
        ],
        [
            effect.name,
            "a new one",
            number(new.effect),
            f"{number(new.low)} to {number(new.high)}",
            pvalue(new.pvalue),
            f"{number(new.predicted_low)} to {number(new.predicted_high)}",
            f"{100 * new.i_squared:.0f}",
        ],
    ]


def slices(collections: dict[str, Collection], save: Save) -> Numbers:
    known = collections["known-item"]
    names = ("bm25", "bm25-stem", "chargram", "rrf-stem-lsa")
    evaluation = iro.evaluate(
        known.qrels,
        {name: known.runs[name] for name in names},
        queries=known.folder / "queries.tsv",
        **known.settings,
    )
    result = iro.compare_slices(evaluation, "bm25", by="length")
    save(
        iro.compare_slices(evaluation, "bm25", "chargram", by="length").plot("forest"),
        "slices-forest",
    )
    differ = table(
        ("run", "facet", ">Cochran's Q", ">p", ">corrected"),
        (
            [
                found.contender,
                found.facet,
                fixed(found.cochran_q, 2),
                pvalue(found.pvalue),
                pvalue(found.pvalue_corrected),
            ]
            for found in result.differ
        ),
    )
    rows = table(
        ("run", "slice", ">queries", ">coverage, points", ">ranking, times as far", "label"),
        (
            [
                row.comparison.contender,
                row.condition,
                row.comparison.n_queries,
                fixed(row.comparison.coverage.difference, 2, signed=True),
                _ratio(row),
                f"{row.label}{'' if row.survives else ' *'}",
            ]
            for row in result.conditions
        ),
    )
    return {"slices-differ": differ, "slices-rows": rows}


def _ratio(row: Condition) -> str:
    """Write the ratio of mean search lengths with its interval."""
    if row.ranking is None:
        return "-"
    low, high = row.ranking.interval
    return f"{exp(row.ranking.effect):.2f} [{exp(low):.2f}, {exp(high):.2f}]"


def cutoffs(collections: dict[str, Collection], save: Save) -> Numbers:
    rows = []
    for name, collection in collections.items():
        if name == "msmarco-doc-dev":  # lists of 10 documents have one cutoff
            continue
        found = Counter(map(_agreement, _labels_by_pair(collection)))
        kinds = [found[kind] for kind in ("same", "different", "opposite")]
        rows.append([name, collection.evaluation.unit, sum(kinds), *kinds])
    labels = table(
        (
            "collection",
            "unit",
            ">pairs",
            ">one label at all cutoffs",
            ">labels differ",
            ">better at one, worse at another",
        ),
        rows,
    )
    passages = collections["dl20-passage"].evaluation
    result = iro.compare_cutoffs(passages, *PAIR_OF_CUTOFFS)
    save(result.plot("curve"), "cutoffs-curve")
    pair = table(
        (">cutoff", ">coverage, points", ">p", ">ranking, ranks", ">p", "label"),
        (
            [
                row.condition,
                fixed(row.comparison.coverage.difference, 2, signed=True),
                pvalue(row.comparison.coverage.pvalue),
                fixed(row.comparison.ranking.difference, 2, signed=True),
                pvalue(row.comparison.ranking.pvalue),
                row.label,
            ]
            for row in result.conditions
        ),
    )
    return {"cutoffs-labels": labels, "cutoffs-pair": pair}


def _labels_by_pair(collection: Collection) -> list[list[str]]:
    """Return the labels of each pair at the cutoffs up to the longest list of the shallower run, as `compare` shows them."""
    depth = {run.name: run.retrieved.max() for run in collection.evaluation.runs}
    labels: dict[tuple[str, str], list[str]] = {}
    for cutoff in collection.cutoffs:
        for pair in collection.labels(cutoff):
            names = pair.baseline, pair.contender
            if cutoff <= min(depth[name] for name in names):
                labels.setdefault(names, []).append(pair.label)
    return list(labels.values())


def _agreement(labels: Sequence[str]) -> str:
    directions = {label.split()[0] for label in labels} & {"better", "worse"}
    return "opposite" if len(directions) == 2 else "same" if len(set(labels)) == 1 else "different"


def judges(collections: dict[str, Collection], save: Save) -> Numbers:
    rows, flips = [], []
    for folder in _folders("suite-rerankers"):
        evaluations = {
            judge: _evaluation(folder, qrels, rel=rel) for judge, (qrels, rel) in JUDGES.items()
        }
        for contender in ("rank1-32b", "rankllama-13b", "monot5-base"):
            result = iro.compare_judges(evaluations, "monot5-3b", contender)
            labels = result.labels(contender)
            rows.append([folder.name, contender, *(labels[judge] for judge in JUDGES)])
            flips.append(
                [
                    folder.name,
                    contender,
                    result.conditions[0].comparison.n_queries,
                    len(result.flips),
                ]
            )
    label_table = table(("year", "B", *JUDGES), rows)
    return {
        "judges-labels": label_table,
        "judges-flips": table(
            ("year", "B", ">queries", ">judges disagree on the direction"), flips
        ),
    }
