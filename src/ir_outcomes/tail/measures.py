"""The four measures that the tail is looked at with: precision and search length, at the top and over all documents."""

from __future__ import annotations

from typing import Any

from ir_measures import AP, P

from ir_outcomes.lengths import Missing
from ir_outcomes.measures.definitions import ASL
from ir_outcomes.ranking import Ties

__all__ = ["top_and_all"]


def top_and_all(cutoff: int | None, rel: int, ties: Ties, missing: Missing) -> list[Any]:
    """Name P@20, ASL@g1-10, AP and ASL as measures of ir_measures.

    References
    ----------
    Alex et al. 2022, Table 1.
    """
    settings = {"rel": rel, "ties": ties}
    given = {name: value for name, value in settings.items() if value != ASL.SUPPORTED_PARAMS[name].default}
    grade = {"rel": rel} if "rel" in given else {}
    measures = [ASL(first=10, missing=missing, **given), AP(**grade), ASL(missing=missing, **given)]
    at_cutoff = measures if cutoff is None else [measure @ cutoff for measure in measures]
    return [P(**grade) @ 20, *at_cutoff]
