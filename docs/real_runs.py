"""The real runs that the pages of the docs are about, and tables of numbers in Markdown."""

import os
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import ir_outcomes as iro
from ir_outcomes.comparison.outcomes import coverage_test_for
from ir_outcomes.comparison.pair_tests import run_tests, stacked
from ir_outcomes.comparison.verdict import judge
from ir_outcomes.leaderboards.pairs import blocks_of_pairs
from ir_outcomes.showing import Table
from ir_outcomes.showing.formats import markdown_table
from ir_outcomes.table_columns import NUMBER, TEXT, Column

DATA = Path(os.environ.get("IR_OUTCOMES_REAL_DATA", Path(__file__).parents[2] / "shared" / "data"))
OUT = Path(__file__).parent / "numbers"
SETTINGS: dict[str, dict[str, Any]] = {
    "msmarco-doc-dev": {"cutoff": 10, "rel": 1},
    "known-item": {"cutoff": 100, "rel": 1},
    "dl20-passage": {"cutoff": 100, "rel": 2},
    "dl-hard-doc": {"cutoff": 100, "rel": 1},
}


class PairLabels(NamedTuple):
    """The label of a pair of runs by all rules, without the guard, and without the rule for few differences as well."""

    baseline: str
    contender: str
    few: bool
    label: str
    without_guard: str
    by_t: str


class Collection:
    """Qrels, the runs, and their settings."""

    def __init__(self, name: str) -> None:
        folder = DATA / name
        self.qrels = iro.read_qrels(folder / "qrels.txt")
        self.folder = folder
        paths = [path for path in sorted(folder.glob("*.gz")) if not path.name.endswith(".eval.gz")]
        self.runs = {
            path.name.removesuffix(".gz").removesuffix(".run"): iro.read_run(path) for path in paths
        }
        self.settings = SETTINGS[name]
        self._labels: dict[int, list[PairLabels]] = {}

    @cached_property
    def evaluation(self) -> iro.Evaluation:
        """Search lengths, and the scores by the measures of Table 4 of Craswell et al."""
        return iro.evaluate(self.qrels, self.runs, measures=["nDCG@10"], **self.settings)

    @property
    def reciprocal_rank(self) -> str:
        return "RR" if self.settings["rel"] == 1 else f"RR(rel={self.settings['rel']})"

    @property
    def default_cutoffs(self) -> tuple[int, ...]:
        """The cutoff of the collection's task, and that of these pages where it is another."""
        return (1000, 100) if self.settings["rel"] == 2 else (self.settings["cutoff"],)

    @cached_property
    def cutoffs(self) -> tuple[int, ...]:
        """The usual cutoffs, up to the longest list of most runs."""
        depth = (
            1000
            if self.settings["rel"] == 2 or "hard" in self.folder.name
            else self.settings["cutoff"]
        )
        return tuple(cutoff for cutoff in (10, 20, 50, 100, 1000) if cutoff <= depth)

    def labels(self, cutoff: int) -> list[PairLabels]:
        """Label all pairs of runs, the better mean first, with uncorrected p-values."""
        if cutoff not in self._labels:
            order = [standing.run for standing in iro.leaderboard(self.evaluation).standings]
            self._labels[cutoff] = _labels(self.evaluation[order], cutoff)
        return self._labels[cutoff]


def _labels(evaluation: iro.Evaluation, cutoff: int) -> list[PairLabels]:
    coverage_test = coverage_test_for(evaluation)
    few, tests, by_t = [], [], []
    for block in blocks_of_pairs(evaluation.with_cutoff(cutoff), (0.05, 0.05)):
        few += block.samples.ranking.differences.few.tolist()
        tests.append(run_tests(block.samples, "t", coverage_test))
        mean = block.samples.ranking.many("t")
        mean = mean._replace(direction=-mean.direction)  # a shorter search is better
        by_t.append(tests[-1]._replace(ranking=mean, ranking_mean=mean, won_and_lost=None))
    joined = stacked(tests)
    rules = joined, joined._replace(won_and_lost=None), stacked(by_t)
    labels = (judge(rule, alpha=0.05).labels() for rule in rules)
    pairs = combinations(evaluation.names, 2)
    return [PairLabels(*pair, *of_pair) for pair, *of_pair in zip(pairs, few, *labels, strict=True)]


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Write a table in Markdown; columns whose name starts with > are numbers."""
    declared = tuple(
        Column(name.lstrip(">"), form=NUMBER if name.startswith(">") else TEXT) for name in columns
    )
    return markdown_table(Table(declared, tuple(tuple(map(str, row)) for row in rows)))


def percent(share: float) -> str:
    return f"{100 * share:.1f}"
