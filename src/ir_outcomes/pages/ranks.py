"""Columns of ranks, one for each run, from which the page computes the verdict on any two of them."""

from typing import NamedTuple

import numpy as np

from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.types import Unit


class RankColumns(NamedTuple):
    """Where runs rank what is relevant to some queries."""

    sizes: list[int] | None  # relevant documents of each query; None where each query has one rank
    # For each run: by query of the first relevant document, by document of each; 0 where not found.
    ranks: list[list[int]]
    depths: list[int]  # the longest list of each run

    def changes(self) -> list[float]:
        """Return for each query how much its search lengths differ between the runs."""
        ranks = np.array(self.ranks)
        ranks[ranks == 0] = max(self.depths) + 1
        if self.sizes:
            starts = np.cumsum([0, *self.sizes[:-1]])
            ranks = np.add.reduceat(ranks, starts, axis=1) / np.array(self.sizes)
        spread: list[float] = np.ptp(ranks, axis=0).tolist()
        return spread


def rank_columns(
    evaluation: Evaluation, runs: list[str], unit: Unit, cutoff: int | None
) -> RankColumns:
    """Return the ranks within a cutoff for the answerable queries, in their order."""
    within = [evaluation[run].at(cutoff) for run in runs]
    answerable = evaluation.answerable
    depths = [run.depth for run in within]
    if unit == "query":
        first = [np.nan_to_num(run.esl()[answerable]) for run in within]
        return RankColumns(None, [column.astype(int).tolist() for column in first], depths)
    sizes = evaluation[0].relevant[answerable].tolist()
    return RankColumns(sizes, [run.rank.tolist() for run in within], depths)
