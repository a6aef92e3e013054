"""The one package that knows PyTerrier: experiments with the right means, directions and verdicts.

`pyterrier.Experiment` takes the measures of this package as they are; but it averages by plain sum, takes the largest value for
the best, and calls a p-value that is not a number a rejection. `experiment` has the same arguments and runs it once, for its
per-query values, and computes the rest itself. It needs the extra ``pyterrier``, which is PyTerrier without Java.
"""

from ir_outcomes.pyterrier.comparisons import comparisons
from ir_outcomes.pyterrier.experiment import experiment

__all__ = ["comparisons", "experiment"]
