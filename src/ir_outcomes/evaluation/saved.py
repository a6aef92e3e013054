"""Runs of saved evaluations, in the place of their files."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self

from ir_outcomes.errors import MismatchError, ParameterError, some
from ir_outcomes.evaluation.evaluation import Evaluation, is_saved, load_evaluation
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.types import Floats


@dataclass(frozen=True, eq=False)
class SavedRun:
    """A run of a saved evaluation."""

    lengths: SearchLengths
    values: Mapping[str, Floats]  # of the measures that were kept, by their names
    system: str | None = None  # of which it is one of several runs


class SavedRuns(NamedTuple):
    """Runs, with those of saved evaluations in the place of their files, and these."""

    runs: Any
    evaluations: Mapping[str, Evaluation] = {}  # by the path of the file

    @classmethod
    def among(cls, runs: Any) -> Self:
        """Find the saved evaluations among runs, and load them."""
        listed = list(runs) if isinstance(runs, (list, tuple)) else [runs]
        loaded = {
            os.fspath(source): load_evaluation(source) for source in listed if is_saved(source)
        }
        if not loaded:
            return cls(runs)
        return cls(
            [
                run
                for source in listed
                for run in (_runs_in(loaded[os.fspath(source)]) if is_saved(source) else [source])
            ],
            loaded,
        )

    def shared(self, setting: Literal["cutoff", "unit"]) -> Any:
        """Return what they were evaluated with; None where there are none."""
        found = {
            path: getattr(evaluation, setting) for path, evaluation in self.evaluations.items()
        }
        if len(set(found.values())) > 1:
            each = ", ".join(f"{path}: {value}" for path, value in found.items())
            raise MismatchError(
                f"saved evaluations have different {setting}s ({each}); say which {setting} holds"
            )
        return next(iter(found.values()), None)


def saved_baseline(source: Any) -> SavedRuns:
    """Return a saved evaluation that has only one run."""
    found = SavedRuns.among(source)
    names = [run.lengths.name for run in found.runs]
    if len(names) > 1:
        raise ParameterError(
            f"{os.fspath(source)} holds {len(names)} runs ({some(names)}), and the baseline is one"
            " of them: give the file among the contenders, and the baseline by its name"
        )
    return found


def _runs_in(evaluation: Evaluation) -> list[SavedRun]:
    system_of = {run: name for name, runs in evaluation.replicates.items() for run in runs}
    found = []
    for row, lengths in enumerate(evaluation):
        values = {scores.measure: scores.values[row] for scores in evaluation.scores}
        found.append(SavedRun(lengths, values, system_of.get(lengths.name)))
    return found
