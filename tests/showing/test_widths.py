"""Text of every kind of result fits terminals of 60, 80 and 120 columns, in whole words."""

import re
from collections.abc import Callable
from functools import cache

import pytest
from rich.cells import cell_len

import ir_outcomes as iro
from ir_outcomes.results import Result
from tests.helpers.many import collection
from tests.showing.test_same_everywhere import RESULTS, each_result

NAMES = (
    "bm25-default",
    "msmarco-distilbert-base-tas-b",
    "splade-cocondenser-ensembledistil",
    "d-bert-kd-tasb-ensemble-reranked",
)
SEEDS = ("bm25", "dense_1", "dense_2", "dense_3", "dense_4", "dense_5")
SUITE = ("antique/test", "dbpedia-entity", "trec-covid", "nfcorpus", "trec_podcast")
MEASURES = ["nDCG@10", "RR@10"]


@cache
def named(relevant: int) -> iro.Evaluation:
    qrels, runs = collection(4, 60, relevant=relevant, seed=5)
    return iro.evaluate(
        qrels, list(runs.values()), names=NAMES, cutoff=10, unjudged=True, measures=MEASURES
    )


@cache
def seeds(relevant: int) -> iro.Evaluation:
    qrels, runs = collection(6, 60, relevant=relevant, seed=5)
    return iro.evaluate(
        qrels, list(runs.values()), names=SEEDS, cutoff=10, replicates="by:_", measures=MEASURES
    )


def suite(relevant: int) -> dict[str, iro.Evaluation]:
    return dict.fromkeys(SUITE, named(relevant))


OF_LONG_NAMES: dict[str, Callable[[int], Result]] = {
    "pair": lambda n: iro.compare(named(n), *NAMES[1:3], measures=MEASURES),
    "several": lambda n: iro.compare(named(n), NAMES[0], list(NAMES[1:]), measures=MEASURES),
    "pairs": lambda n: iro.compare(named(n), all_pairs=True, baseline=NAMES[0]),
    "seeds": lambda n: iro.compare(seeds(n), "bm25", "dense", measures=MEASURES),
    "board": lambda n: iro.leaderboard(named(n)),
    "board of measures": lambda n: iro.leaderboard(named(n), measures=[*MEASURES, "coverage"]),
    "board of systems": lambda n: iro.leaderboard(seeds(n), measures=MEASURES),
    "ranks": lambda n: iro.rank_distribution(named(n), resamples=20),
    "suite": lambda n: iro.compare_collections(suite(n), NAMES[0], measures=MEASURES),
    "suite of a pair": lambda n: iro.compare_collections(suite(n), *NAMES[:2], measures=MEASURES),
    "cutoffs of several": lambda n: iro.compare_cutoffs(named(n), NAMES[0], cutoffs=(1, 5, 10)),
    "audit": lambda n: iro.compare_judges(
        {"nist": named(n), "gpt-4o": named(n)}, *NAMES[:2], reference="nist", measures=MEASURES
    ),
    "holes of several": lambda n: iro.holes(named(n), NAMES[0], list(NAMES[1:])),
    "plan of seeds": lambda n: iro.plan(iro.compare(seeds(n), "bm25", "dense")),
    "decisions": lambda n: iro.gate(
        iro.compare(named(n), NAMES[0], list(NAMES[1:])), margins=(1.0, 0.5)
    ),
    "all lengths": lambda n: iro.length_distributions(named(n)),
    "orders": lambda n: iro.reordering(named(n)),
    "errors left": lambda n: iro.rrie(named(n), *NAMES[:2]),
    "left to gain": lambda n: iro.headroom(named(n)),
    "halves": lambda n: iro.agreement(named(n), splits=4),
}
EVERY = {**RESULTS, **OF_LONG_NAMES}


@cache
def result_of(kind: str, relevant: int) -> Result:
    return EVERY[kind](relevant)


def parts_of(text: str) -> set[str]:
    """Return the words of a text; names may be divided behind hyphens and underscores."""
    return {
        part
        for word in text.split()
        for part in re.findall(r"[^_-]*[_-]+|[^_-]+?(?=@\d)|[^_-]+", word)
    }


@each_result
@pytest.mark.parametrize("kind", EVERY)
def test_every_result_fits_in_whole_words(
    kind: str, relevant: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def shown(width: int) -> str:
        monkeypatch.setenv("COLUMNS", str(width))
        return result_of(kind, relevant).to_text(details=True, rows=None)

    whole = parts_of(shown(4000))
    for width in (60, 80, 120):
        lines = shown(width).splitlines()
        assert max(map(cell_len, lines)) <= width
        assert not [line for line in lines if re.match(r"\s*[%*](\s|$)", line)]
        assert parts_of("\n".join(lines)) == whole


def test_columns_that_do_not_fit_follow_beside_the_names_of_the_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every cell of a table in several parts stands in the line of its row, below its heading."""
    monkeypatch.setenv("COLUMNS", "60")
    result = result_of("several", 1)
    (table,) = [table for table in result.view().details if "intervals" in table.title]
    lines = result.to_text(details=True).partition(table.title)[2].splitlines()[1:]
    places = {column.title: place for place, column in enumerate(table.columns)}
    for name in NAMES[1:]:
        (row,) = [row for row in table.rows if row[0] == name]
        first = re.split("(?<=-)", name)[0]
        of_row = [line for line in lines if line.startswith(first)]
        assert len(of_row) > 1  # parts
        for title in ("coverage", "ranking"):
            cell = row[places[title]]
            assert any(cell in " ".join(line.split()) for line in of_row)
