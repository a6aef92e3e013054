"""Values of measures as evaluations, as `ir_outcomes.outputs` returns them."""

from typing import Any

import ir_outcomes as iro


def as_values(scores: iro.Scores, replicates: Any = None) -> iro.Evaluation:
    """Return an evaluation that has only the values of a measure."""
    return iro.Evaluation(
        (), scores.measure, 10, "query", values=scores, replicates=replicates or {}
    )
