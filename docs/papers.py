"""Make the numbers and pictures of the pages on real runs.

    python docs/papers.py            write docs/numbers/*.md and docs/numbers/*.png
    python docs/papers.py --check    exit 1 where the numbers on disk are different

The runs are looked for in ../shared/data beside the project, or where $IR_OUTCOMES_REAL_DATA
points.
"""

import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from conditions import cutoffs, judges, slices, suites
from real_runs import DATA, OUT, SETTINGS, Collection, percent, table

import ir_outcomes as iro
from ir_outcomes.comparison.verdict import NO_DIFFERENCE, is_unconfirmed, meaning_of
from ir_outcomes.showing.figures.leaderboards import conditions_plot


def lin(collections: dict[str, Collection], save: Callable[[Any, str], None]) -> dict[str, str]:
    history = iro.sota_history(DATA / "leaderboard" / "msmarco-document.csv", until="2021-02-15")
    save(history.plot(), "lin-figure-1")
    sota = table(
        ("", "date", "run", ">MRR@100", ">submissions so far"),
        (
            (f"R{run.number}", run.date, run.run, f"{run.score:.3f}", run.looks)
            for run in history.runs
        ),
    )
    rows, boards = [], {}
    for name, collection in collections.items():
        board = boards[name] = iro.leaderboard(collection.evaluation)
        raw = iro.leaderboard(collection.evaluation, correction="none")
        labels = Counter(_kind(pair) for pair in raw.pairs)
        rows.append(
            [
                name,
                collection.evaluation.unit,
                len(raw.pairs),
                *(labels[kind] for kind in KINDS),
                len(board.tiers),
                len(board.cycles),
            ]
        )
    verdicts = table(
        (
            "collection",
            "unit",
            ">pairs",
            *(f">{kind}" for kind in KINDS),
            ">tiers",
            ">cycles",
        ),
        rows,
    )
    save(boards["known-item"].plot("verdicts"), "lin-verdicts")
    save(boards["known-item"].plot("tiers"), "lin-tiers")
    rules, changes = _label_changes(collections)
    return {"lin-sota": sota, "lin-verdicts": verdicts, "lin-rules": rules, "lin-changes": changes}


KINDS = (
    "both facets",
    "one facet",
    "over all queries",
    "one, unconfirmed",
    "trade-off",
    "no difference",
)


def _kind(pair: Any) -> str:
    """Name what carries the label, without saying which of the two runs is the better one."""
    meaning = meaning_of(pair.label)
    if is_unconfirmed(pair.label):
        return "one, unconfirmed"
    if meaning.direction == "none":
        return "no difference" if pair.label == NO_DIFFERENCE else "trade-off"
    return {"both": "both facets", "all queries": "over all queries"}.get(meaning.by, "one facet")


def _label_changes(collections: dict[str, Collection]) -> tuple[str, str]:
    """Count and list the labels that the guard and the rule for few differences change, on all pairs at all cutoffs."""
    counts, changes = [], []
    for name, collection in collections.items():
        for cutoff in collection.cutoffs:
            pairs = collection.labels(cutoff)
            counts.append(
                [
                    name,
                    cutoff,
                    len(pairs),
                    sum(pair.few for pair in pairs),
                    sum(is_unconfirmed(pair.label) for pair in pairs),
                    sum(pair.label != pair.without_guard for pair in pairs),
                    sum(pair.without_guard != pair.by_t for pair in pairs),
                ]
            )
            for pair in pairs:
                if pair.label != pair.by_t:
                    reason = "few differences" if pair.label == pair.without_guard else "guard"
                    changes.append(
                        [name, cutoff, pair.baseline, pair.contender, pair.by_t, pair.label, reason]
                    )
    heads = ("collection", ">cutoff", ">pairs", ">fewer than 30 queries differ", ">unconfirmed")
    heads += (">changed by the guard", ">by few differences")
    columns = ("collection", ">cutoff", "A", "B", "by t, without guard", "label", "because of")
    return table(heads, counts), table(columns, changes)


def craswell(
    collections: dict[str, Collection], save: Callable[[Any, str], None]
) -> dict[str, str]:
    rows = []
    for name, collection in collections.items():
        result = iro.rank_distribution(collection.evaluation)
        for run in result.runs[:5]:
            rows.append(
                [
                    name,
                    run.rank,
                    run.run,
                    f"{run.score:.4f}",
                    *run.counts[:5],
                    f"{run.expected_rank:.2f}",
                ]
            )
        rows[-5][0] = f"{name} (median tau {result.median_tau:.2f})"
        if name == "dl20-passage":
            save(result.plot(), "craswell-figure-3")
    top_5 = table(
        (
            "collection",
            ">rank",
            "run",
            ">mean RR",
            ">1st",
            ">2nd",
            ">3rd",
            ">4th",
            ">5th",
            ">expected",
        ),
        rows,
    )

    evaluation = collections["known-item"].evaluation
    private = list(evaluation.query_ids)[:45]
    public = list(evaluation.query_ids)[45:]
    conditions = {
        f"{measure}\n{label}": iro.rank_distribution(
            evaluation, measure=measure, queries=ids, condition=label
        )
        for measure in ("RR", "nDCG@10")
        for label, ids in (("2955 public", public), ("45 private", private))
    }
    save(conditions_plot(conditions, ["bm25-stem", "bm25-flat", "bm25"]), "craswell-figure-4")
    figure_4 = table(
        ("condition", "run", ">rank", ">expected", "95 % interval", ">first, %"),
        (
            [
                name.replace("\n", ", "),
                run,
                result[run].rank,
                f"{result[run].expected_rank:.2f}",
                f"{result[run].low:.0f} to {result[run].high:.0f}",
                percent(result[run].first),
            ]
            for name, result in conditions.items()
            for run in ("bm25-stem", "bm25-flat", "bm25")
        ),
    )
    rows, labels = [], []
    for name, collection in collections.items():
        cutoff, rel = collection.settings["cutoff"], collection.settings["rel"]
        grade, also = ("", "") if rel == 1 else (f"(rel={rel})", f",rel={rel}")
        measures = (
            collection.reciprocal_rank,
            "nDCG@10",
            f"ESL{grade}@{cutoff}",
            f"ASL(missing='cutoff'{also})@{cutoff}",
        )
        result = iro.agreement(collection.evaluation, measures=measures)
        of = {(test.measure, test.test, test.aggregate): test for test in result.tests}
        for measure in dict.fromkeys(test.measure for test in result.tests):
            agree = [of[measure, test, "mean"] for test in ("sign", "ranksum", "wilcoxon", "t")]
            agree += [of[measure, test, "median"] for test in ("sign", "ranksum", "wilcoxon")]
            shown = [f"{percent(test.agree)} ({percent(test.significant)})" for test in agree]
            rows.append(
                [
                    name,
                    measure.replace("missing='cutoff',", "").replace("(missing='cutoff')", ""),
                    *shown,
                ]
            )
        labels += [
            _labels(name, cutoff, "t", of[measure, "t", "mean"])
            for measure in (collection.reciprocal_rank, "nDCG@10")
        ]
        # One of them where the unit is "query".
        units = dict.fromkeys(("query", collection.evaluation.unit))
        for depth in collection.default_cutoffs:
            for unit in units:
                deep = replace(collection.evaluation, unit=unit)
                found = iro.agreement(
                    deep, measures=[collection.reciprocal_rank], cutoff=depth
                ).verdict
                labels.append(_labels(name, depth, "verdict", found))
    columns = (
        "collection",
        "measure",
        ">sign",
        ">rank sum",
        ">signed rank",
        ">t",
        ">sign, med.",
        ">rank sum, med.",
        ">signed rank, med.",
    )
    kinds = (
        "collection",
        "measure",
        ">cutoff",
        "by",
        ">same",
        ">one side",
        ">opposite",
        ">decided",
        ">replicates",
    )
    return {
        "craswell-top-5": top_5,
        "craswell-figure-4": figure_4,
        "craswell-table-4": table(columns, rows),
        "craswell-verdicts": table(kinds, labels),
    }


def _labels(collection: str, cutoff: int, decides_by: str, found: Any) -> list[str]:
    """Return a row of how far the labels of two halves agree, in %."""
    shares = (found.same, found.one_sided, found.opposite, found.decided, found.replicates)
    places = (1, 1, 2, 1, 1)  # opposite labels are rare
    cells = (
        "-" if share is None else f"{100 * share:.{digits}f}"
        for share, digits in zip(shares, places, strict=True)
    )
    return [collection, found.measure, "" if decides_by == "t" else str(cutoff), decides_by, *cells]


def alex(collections: dict[str, Collection], save: Callable[[Any, str], None]) -> dict[str, str]:
    passages, documents = collections["dl20-passage"], collections["dl-hard-doc"]
    deep = {
        name: run
        for name, run in passages.runs.items()
        if name in ("BM25", "BM25RM3", "BM25_docT5q_ColBERT", "prf_rank_beta1")
    }
    deep_runs = iro.evaluate(passages.qrels, deep, cutoff=1000)
    rows = []
    for missing in ("retrieved", "cutoff"):
        for run in iro.length_distributions(deep_runs, missing=missing).runs:
            rows.append(
                [
                    run.run,
                    missing,
                    f"{run.asl:.0f}",
                    f"{run.asl_top:.0f}",
                    f"{run.missing}",
                    f"{percent(run.effective_share)}",
                ]
            )
    asl = table(
        ("run", "missing documents", ">ASL", ">ASL@g1-10", ">missing", ">averaged by AP, %"), rows
    )
    save(iro.length_distributions(deep_runs).plot(), "alex-figure-5")
    save(iro.length_changes(deep_runs, "BM25", "prf_rank_beta1", bins=10).plot(), "alex-figure-6")
    save(iro.headroom(deep_runs).plot(), "alex-figures-1-to-4")

    rows = []
    pairs = [
        ("passages 2020", passages, "BM25RM3", "BM25_docT5q_ColBERT"),
        ("passages 2020", passages, "BM25RM3", "prf_rank_beta1"),
    ]
    pairs.append(("DL-Hard documents", documents, "bm25+rm3", "bm25+electra-mp"))
    for name, collection, baseline, contender in pairs:
        runs = {run: collection.runs[run] for run in (baseline, contender)}
        result = iro.rrie(iro.evaluate(collection.qrels, runs, cutoff=1000), baseline, contender)
        for reduction in result.reductions:
            share = "-" if reduction.rrie is None else f"{100 * reduction.rrie:.0f} %"
            measure = reduction.measure.replace(
                "(first=10,missing='cutoff')@1000", "@g1-10"
            ).replace("(missing='cutoff')@1000", "")
            rows.append(
                [
                    name,
                    f"{baseline}, {contender}",
                    measure.replace("AP@1000", "MAP"),
                    f"{reduction.baseline:.3g}",
                    f"{reduction.contender:.3g}",
                    share,
                ]
            )
    table_1 = table(("collection", "runs", "measure", ">baseline", ">contender", ">RRIE"), rows)

    rows, shares = [], []
    for name, collection in collections.items():
        cutoff = 1000 if name == "dl-hard-doc" else collection.settings["cutoff"]
        chosen = {
            run: ranking
            for run, ranking in collection.runs.items()
            if name != "known-item" or run != "bm25-top20"
        }
        evaluated = iro.evaluate(collection.qrels, chosen, cutoff=cutoff)
        result = iro.reordering(evaluated)
        for change in result.changes:
            value = "-" if change.delta_value is None else f"{change.delta_value:.3g}x"
            tau = "-" if change.tau is None else f"{change.tau:.2f}"
            rows.append(
                [
                    f"{name}, depth {cutoff}",
                    change.step,
                    f"{change.delta_sort:.0f} %",
                    change.run,
                    tau,
                    value,
                ]
            )
        # Of whole lists, as MAP is: no list is deeper than 1000.
        found = [
            run.effective_share for run in iro.length_distributions(evaluated, cutoff=1000).runs
        ]
        shares.append(
            [
                name,
                len(found),
                percent(min(found)),
                percent(sum(found) / len(found)),
                percent(max(found)),
            ]
        )
    table_2 = table(
        ("collection", "step", ">Delta-Sort", "run", ">Kendall tau", ">Delta-Value"), rows
    )
    averaged = table(("collection", ">runs", ">least, %", ">mean, %", ">most, %"), shares)
    return {
        "alex-asl": asl,
        "alex-table-1": table_1,
        "alex-table-2": table_2,
        "alex-averaged": averaged,
    }


def main() -> int:
    check = "--check" in sys.argv[1:]
    if not DATA.is_dir():
        print(f"the real runs are not at {DATA}: the numbers of docs/numbers cannot be made here")
        return 0

    def save(axes: Any, name: str) -> None:
        if not check:
            axes.figure.savefig(OUT / f"{name}.png", dpi=110, bbox_inches="tight")

    OUT.mkdir(exist_ok=True)
    collections = {name: Collection(name) for name in SETTINGS}
    wrong = []
    for page in (lin, craswell, alex, suites, slices, cutoffs, judges):
        for name, text in page(collections, save).items():
            path = OUT / f"{name}.md"
            if not check:
                path.write_text(f"{text}\n", encoding="utf-8")
            elif not path.exists() or path.read_text(encoding="utf-8") != f"{text}\n":
                wrong.append(path.name)
    if wrong:
        print(
            f"docs/numbers is not what docs/papers.py makes: {', '.join(wrong)}; run python"
            " docs/papers.py"
        )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
