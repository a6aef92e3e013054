"""Closed sets of choices and array aliases that several packages share."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = [
    "Bools",
    "Columns",
    "Correction",
    "CoverageTest",
    "FamilyCorrection",
    "Floats",
    "Ints",
    "Mark",
    "Missing",
    "OnError",
    "OneOrder",
    "RankingTest",
    "Ties",
    "Unit",
    "UnitChoice",
]

Ties = Literal["trec", "msmarco", "input", "expected"]
OneOrder = Literal["trec", "msmarco", "input"]  # the tie rules that give one order
Unit = Literal["query", "document"]
UnitChoice = Literal["auto", "query", "document"]
Missing = Literal["retrieved", "cutoff"]
OnError = Literal["raise", "report"]
RankingTest = Literal["t", "wilcoxon", "sign", "signflip"]
CoverageTest = Literal["exact", "midp"]
Correction = Literal["holm", "bonferroni", "fdr_bh", "none"]
FamilyCorrection = Literal["holm", "bonferroni", "fdr_bh", "tukey", "none"]
Columns = Literal["default", "paper"]  # of a comparison that is shown; "paper" is Tables 1 and 2 of Lin et al. 2021
Mark = Literal["best", "significant"]  # what a format emphasizes

Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
Bools: TypeAlias = npt.NDArray[np.bool_]
