"""The commands for many runs, for the far end of the lists, for one run, and for data."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from ir_outcomes.cli.options import (
    ALPHA,
    HIGHER_IS_BETTER,
    MEASURES,
    POSITIVE,
    QRELS,
    RESAMPLES,
    RUNS,
    SEED,
    STATISTICS,
    EvaluateOptions,
    OneOrderOptions,
    RunOptions,
    SavedRunOptions,
    UsageError,
    named_files,
)
from ir_outcomes.cli.output import (
    OUTPUT,
    PlotOutput,
    ReportOutput,
    error_line,
    print_json,
    print_lines,
    progress_is_shown,
    save_figure,
    standard_output,
)
from ir_outcomes.types import Correction, Missing, unreachable

if TYPE_CHECKING:
    from ir_outcomes.evaluation.scores import Scores

FROM_OUTPUTS = Annotated[
    bool,
    Parameter(
        help="Instead of qrels and runs, take per-query values: files that trec_eval -q, ir_measures -q or PyTerrier wrote, "
        "one for each run; or a single table, CSV or tab-separated, with a row for each run and a column for each query.",
    ),
]
MISSING = Annotated[
    Missing,
    Parameter(
        group=STATISTICS,
        help="The search length of a relevant document that was not retrieved: just beyond the cutoff (cutoff), or the number "
        "of irrelevant documents retrieved (retrieved; equation 3 of Alex et al. 2022).",
    ),
]
SHARED_CUTOFF = Annotated[
    int | None,
    Parameter(
        name=["--cutoff", "-k"],
        validator=POSITIVE,
        help="Ignore ranks beyond this one; by default that of the dataset, or 100, or the depth that all runs reach.",
    ),
]


def leaderboard(
    qrels: QRELS,
    runs: RUNS | None = None,
    /,
    *,
    measures: MEASURES = None,
    options: SavedRunOptions = SavedRunOptions(),
    from_outputs: FROM_OUTPUTS = False,
    entries: Path | None = None,
    alpha: ALPHA = 0.05,
    correction: Annotated[Correction, Parameter(group=STATISTICS)] = "holm",
    higher_is_better: HIGHER_IS_BETTER = None,
    output: ReportOutput = ReportOutput(),
    kind: Annotated[Literal["tiers", "verdicts", "history"], Parameter(name="--plot-kind", group=OUTPUT)] = "tiers",
) -> None:
    """Order runs by a measure, with tiers and verdicts.

    Shows what is significantly better than what by each measure, and compares each run with the run above it and with the best.

    Parameters
    ----------
    measures
        A measure such as nDCG@10, or coverage, ranking or all queries; give it once for each column, first the one that orders
        the runs (by default the reciprocal rank within the cutoff).
    entries
        Dates and groups of the runs: a CSV or JSON file with id, date and group.
    alpha
        The significance level of tests and verdicts; intervals have level 1 - alpha.
    correction
        The correction of p-values over all pairs.
    kind
        The figure of --plot.

    Examples
    --------
    ir-outcomes leaderboard qrels.txt *.run --cutoff 100
    ir-outcomes leaderboard qrels.txt *.run --measure nDCG@10 --plot tiers.pdf
    """
    from ir_outcomes.leaderboards.board import FACETS
    from ir_outcomes.leaderboards.board import leaderboard as order_runs

    if output.plot is not None and kind == "history" and entries is None:
        raise UsageError("--plot-kind history needs --entries.")
    if output.plot is not None and kind == "verdicts" and from_outputs:
        raise UsageError("--plot-kind verdicts needs the runs; --from-outputs has no verdicts.")
    source: Any
    if from_outputs:
        source, measures = _scores_of_one(qrels, runs, measures, higher_is_better, options), None
    else:
        kept = [measure for measure in measures or () if measure not in FACETS]
        source = options.evaluate(qrels, _needed(runs), measures=kept, directions=higher_is_better, documents=output.documents)
    result = order_runs(
        source, measures=measures, alpha=alpha, correction=correction, entries=entries, progress=progress_is_shown()
    )
    output.draw(result, kind)
    output.write(result)
    output.write_report(result, None if from_outputs else source, (qrels,))


def history(
    entries: str,
    /,
    *,
    score: str | None = None,
    until: str | None = None,
    lower_is_better: bool = False,
    output: PlotOutput = PlotOutput(),
) -> None:
    """Find the submissions that took first place.

    Needs only the dates and scores of a leaderboard, no runs.

    Parameters
    ----------
    entries
        The leaderboard: a CSV or JSON file with id, date and score.
    score
        The name of the column with the score; by default score, or the one with eval in its name.
    until
        Leave out entries after this date, such as 2021-02-15.
    lower_is_better
        Smaller scores are better.

    Examples
    --------
    ir-outcomes history leaderboard.csv --until 2021-02-15
    """
    from ir_outcomes.leaderboards.history import sota_history

    result = sota_history(entries, score=score, until=until, higher_is_better=not lower_is_better)
    output.draw(result)
    output.write(result)


def stability(
    qrels: QRELS,
    runs: RUNS | None = None,
    /,
    *,
    measures: MEASURES = None,
    cutoff: SHARED_CUTOFF = None,
    options: OneOrderOptions = OneOrderOptions(),
    from_outputs: FROM_OUTPUTS = False,
    subsets: Annotated[list[str] | None, Parameter(name="--subset")] = None,
    labels: list[str] | None = None,
    top: Annotated[int, Parameter(validator=POSITIVE)] = 5,
    level: Annotated[float, Parameter(group=STATISTICS, validator=Number(gt=0, lt=1))] = 0.95,
    resamples: RESAMPLES = 1000,
    seed: SEED = 0,
    higher_is_better: HIGHER_IS_BETTER = None,
    output: PlotOutput = PlotOutput(),
    kind: Annotated[Literal["ranks", "tau"], Parameter(name="--plot-kind", group=OUTPUT)] = "ranks",
) -> None:
    """Rank the runs on bootstrap resamples of the queries.

    Shows how far the ranks depend on the choice of queries, for each measure, each qrels and each subset of the queries.

    Parameters
    ----------
    measures
        A measure, such as nDCG@10; give it once for each measure.
    subsets
        NAME=FILE: also rank the runs on the queries in this file only; it has one id on each line.
    labels
        NAME=QRELS: also rank the runs by these other qrels.
    top
        Report how often each run is among the first so many.
    level
        The confidence level of the intervals of ranks.
    kind
        The figure of --plot; several conditions are drawn together.

    Examples
    --------
    ir-outcomes stability qrels.txt *.run --resamples 200
    ir-outcomes stability qrels.txt *.run -m RR@10 -m nDCG@10 --resamples 200 --plot ranks.pdf
    """
    from ir_outcomes.leaderboards.stability import rank_distribution

    sets = {"": None, **named_files(subsets, "--subset")}
    judgments = {"": qrels, **named_files(labels, "--labels")}
    if measures and (cutoff is not None or (not from_outputs and _settings_of_runs(options))):
        raise UsageError(
            "--cutoff, --rel, --ties and --judged-only are for the default measure; write them into --measure, "
            "as in RR(rel=2)@10."
        )
    if from_outputs and (cutoff is not None or labels):
        raise UsageError("--cutoff and --labels need runs; outputs are values of one measure.")
    results = {}
    for label, judged in judgments.items():
        for source, measure in _sources(judged, runs, measures, cutoff, from_outputs, higher_is_better, options):
            for subset, file in sets.items():
                condition = ", ".join(filter(None, (label, subset)))
                result = rank_distribution(
                    source, measure=measure, queries=file, resamples=resamples, seed=seed, top_k=top, level=level,
                    condition=condition, progress=progress_is_shown(),
                )  # fmt: skip
                results[f"{result.measure}\n{condition}".strip()] = result
    if output.plot is not None and len(results) > 1:
        from ir_outcomes.showing.figures import blank_figure, conditions_plot

        save_figure(conditions_plot(results, ax=blank_figure()), output.plot)
    else:
        output.draw(next(iter(results.values())), kind)
    output.write(*results.values())


def agreement(
    qrels: QRELS,
    runs: RUNS | None = None,
    /,
    *,
    measures: MEASURES = None,
    options: RunOptions = RunOptions(),
    from_outputs: FROM_OUTPUTS = False,
    splits: Annotated[int, Parameter(validator=POSITIVE)] = 100,
    alpha: ALPHA = 0.05,
    seed: SEED = 0,
    higher_is_better: HIGHER_IS_BETTER = None,
    output: PlotOutput = PlotOutput(),
) -> None:
    """Count how often verdicts agree on halves of the queries.

    Divides the queries at random, many times, and counts for each pair of runs how often both halves give the same verdict, and
    how often each significance test decides alike.

    Parameters
    ----------
    measures
        A measure, such as nDCG@10; give it once for each measure.
    splits
        The number of random splits into halves.
    alpha
        The significance level of tests and verdicts.

    Examples
    --------
    ir-outcomes agreement qrels.txt *.run --splits 10
    """
    from ir_outcomes.leaderboards.agreement import agreement as agree

    source: Any
    if from_outputs:
        source, measures = _scores_of_one(qrels, runs, measures, higher_is_better, options), None
    else:
        source = options.evaluate(qrels, _needed(runs), measures=measures or ["nDCG@10"], directions=higher_is_better)
    result = agree(source, measures=measures, splits=splits, seed=seed, alpha=alpha, progress=progress_is_shown())
    output.draw(result)
    output.write(result)


def _needed(runs: Sequence[str] | None) -> list[str]:
    """Return the runs, which only a command that is given outputs can do without."""
    if not runs:
        raise UsageError("Missing argument RUN.")
    return list(runs)


def _sources(
    qrels: str,
    runs: list[str] | None,
    measures: list[str] | None,
    cutoff: int | None,
    from_outputs: bool,
    higher_is_better: bool | None,
    options: OneOrderOptions,
) -> Iterator[tuple[Any, str | None]]:
    """Yield what the runs are ranked by: an evaluation and a measure of it, or scores."""
    if from_outputs:
        for measure in measures or (None,):
            yield _scores(qrels, runs, measure, higher_is_better, options), None
        return
    evaluation = options.evaluate(qrels, _needed(runs), measures=measures or (), directions=higher_is_better)
    if cutoff is not None:
        evaluation = evaluation.with_cutoff(cutoff)
    for measure in measures or (None,):
        yield evaluation, measure


def _scores(
    first: str, others: Sequence[str] | None, measure: str | None, higher_is_better: bool | None, options: EvaluateOptions
) -> Scores:
    """Read per-query values: one file for each run, or one file of several runs, which the names choose."""
    from ir_outcomes.evaluation.scores import scores_from_outputs

    has_cutoff = isinstance(options, RunOptions) and (options.cutoff is not None or options.unit != "auto")
    if _settings_of_runs(options) or has_cutoff or options.n_jobs != 1:
        raise UsageError(
            "--cutoff, --rel, --ties, --unit, --judged-only, and --jobs need runs; outputs are values already computed."
        )
    outputs: Any = [first, *others] if others else first
    return scores_from_outputs(outputs, measure, higher_is_better=higher_is_better, names=options.names)


def _scores_of_one(
    first: str,
    others: Sequence[str] | None,
    measures: Sequence[str] | None,
    higher_is_better: bool | None,
    options: EvaluateOptions,
) -> Scores:
    if measures and len(measures) > 1:
        raise UsageError("--from-outputs takes one --measure.")
    return _scores(first, others, measures[0] if measures else None, higher_is_better, options)


def _settings_of_runs(options: EvaluateOptions) -> bool:
    """Return whether an option was given that changes search lengths."""
    return options.rel is not None or options.ties != "trec" or options.judged_only


def reordering(
    qrels: QRELS,
    runs: RUNS,
    /,
    *,
    measures: MEASURES = None,
    cutoff: SHARED_CUTOFF = None,
    options: EvaluateOptions = EvaluateOptions(),
    missing: MISSING = "cutoff",
    output: PlotOutput = PlotOutput(),
    kind: Annotated[Literal["orders", "changes"], Parameter(name="--plot-kind", group=OUTPUT)] = "orders",
) -> None:
    """Show how runs are reordered by another measure.

    By default in steps from average precision (AP) to atomized search length (ASL).

    Parameters
    ----------
    measures
        A measure; give at least two, the old one first.
    kind
        The figure of --plot.

    Examples
    --------
    ir-outcomes reordering qrels.txt *.run --plot-kind changes --plot changes.pdf
    """
    from ir_outcomes.reading.measure_names import parse_measure
    from ir_outcomes.tail.reordering import reordering as reorder

    if measures and len(measures) < 2:
        raise UsageError("Give --measure at least twice, the old measure first.")
    # The analysis gives an ASL the depth that all runs share, and computes it from search lengths.
    kept = [measure for measure in measures or () if parse_measure(measure).NAME != "ASL"]
    evaluation = options.evaluate(qrels, runs, measures=kept)
    result = reorder(evaluation, measures=measures, cutoff=cutoff, missing=missing)
    output.draw(result, kind)
    output.write(result)


Show = Literal["lengths", "changes", "rrie", "headroom"]
HeadroomKind = Literal["top precision", "top length", "precision", "length"]


def tail(
    qrels: QRELS,
    runs: RUNS,
    /,
    *,
    show: Show = "lengths",
    cutoff: SHARED_CUTOFF = None,
    bins: Annotated[int | None, Parameter(validator=POSITIVE)] = None,
    options: EvaluateOptions = EvaluateOptions(),
    missing: MISSING = "cutoff",
    output: PlotOutput = PlotOutput(),
    kind: Annotated[HeadroomKind | None, Parameter(name="--plot-kind", group=OUTPUT)] = None,
) -> None:
    """Show where all relevant documents are ranked.

    The search length of a relevant document is the number of irrelevant documents above it, plus 1.

    Parameters
    ----------
    show
        The distribution of search lengths (lengths); between two runs their changes (changes) or the relative reduction in
        error (rrie); or the distribution of what the best run leaves to gain (headroom).
    bins
        The number of buckets of equal width; by default 10 for lengths, and growing buckets for changes.
    kind
        The figure of --show headroom; quote a name of two words.

    Examples
    --------
    ir-outcomes tail qrels.txt *.run
    ir-outcomes tail qrels.txt bm25.run rrf-stem-lsa.run --show changes --bins 10
    """
    from ir_outcomes.tail.lengths import length_changes, length_distributions
    from ir_outcomes.tail.rrie import headroom, rrie

    if show in ("changes", "rrie") and len(runs) != 2:
        raise UsageError(f"--show {show} is for two runs, the baseline and the contender; there are {len(runs)}.")
    if bins is not None and show not in ("lengths", "changes"):
        raise UsageError("--bins is for --show lengths and --show changes.")
    if kind is not None and show != "headroom":
        raise UsageError("--plot-kind is for --show headroom.")
    if output.plot is not None and show == "rrie":
        raise UsageError("--plot is for --show lengths, changes and headroom.")
    evaluation = options.evaluate(qrels, runs)
    result: Any
    if show == "lengths":
        number = {} if bins is None else {"bins": bins}
        result = length_distributions(evaluation, cutoff=cutoff, missing=missing, **number)
    elif show == "changes":
        result = length_changes(evaluation, *evaluation.names, cutoff=cutoff, missing=missing, bins=bins)
    elif show == "rrie":
        result = rrie(evaluation, *evaluation.names, cutoff=cutoff, missing=missing)
    elif show == "headroom":
        result = headroom(evaluation, cutoff=cutoff, missing=missing)
    else:
        unreachable(show)
    output.draw(result, kind)
    output.write(result)


Form = Literal["tsv", "jsonl", "json"]


def measure(
    qrels: QRELS,
    run: str,
    measures: list[str],
    /,
    *,
    places: Annotated[int, Parameter(name=["--places", "-p"])] = 4,
    by_query: Annotated[bool, Parameter(name=["--by_query", "-q"])] = False,
    no_summary: Annotated[bool, Parameter(name=["--no_summary", "-n"])] = False,
    form: Annotated[Form, Parameter(name=["--format", "--output_format", "-o"], group=OUTPUT)] = "tsv",
    provider: str | None = None,
    quiet: Annotated[bool, Parameter(group=OUTPUT)] = False,
) -> None:
    """Evaluate one run, like the ir_measures command.

    Takes the same arguments as that command and prints the same output, also for ESL, ASL and Answered. How many queries the
    mean of a search length is over is printed to stderr. In JSON an undefined or infinite value is null.

    Parameters
    ----------
    run
        The run file, or irds:ID, the run that comes with a dataset.
    measures
        The measures, such as ESL@100 nDCG@10.
    places
        The number of decimal places; -1 for all.
    by_query
        Print a line for each query.
    no_summary
        With --by_query: do not print the means over all queries.
    form
        The format: lines, or one JSON document with the name and the metadata of the run.
    provider
        The provider of ir_measures to evaluate with, such as pytrec_eval; by default the first that can.
    quiet
        Print no warnings.

    Examples
    --------
    ir-outcomes measure qrels.txt bm25.run ESL@100 Answered@100 nDCG@10
    ir-outcomes measure qrels.txt bm25.run RR@10 -q -n
    """
    import ir_measures
    from ir_measures.util import Metric

    from ir_outcomes.reading.measure_names import parse_measure
    from ir_outcomes.reading.qrels import as_qrels
    from ir_outcomes.reading.runs import as_run

    if no_summary and not by_query:
        raise UsageError("--no_summary (-n) only makes sense with --by_query (-q).")
    providers = ir_measures.providers.registry
    if provider is not None and provider not in providers:
        raise UsageError(f"--provider {provider}: must be one of {', '.join(providers)}.")
    if form != "tsv" and places != 4:
        error_line(f"--places is ignored with --format {form}")

    # Measures are separated at white space, but not within the parentheses of one: a path may contain blanks.
    words = [word for text in measures for word in re.findall(r"(?:[^\s(]|\([^)]*\)?)+", text)]
    chosen = list(dict.fromkeys(map(parse_measure, words)))
    if not chosen:
        raise UsageError("There is no measure; name at least one, such as ESL@100.")
    evaluator: Any = ir_measures if provider is None else providers[provider]
    totals = {measure: measure.aggregator() for measure in chosen}
    undefined = dict.fromkeys(chosen, 0)
    queries, evaluated = as_qrels(qrels), as_run(run)
    standard_output()  # a closed one is refused before the work
    document: dict[str, Any] = {"run": evaluated.name, "metadata": evaluated.metadata}

    def show(metric: Metric, *, with_query: bool) -> None:
        head = {**({"query_id": metric.query_id} if with_query else {}), "measure": str(metric.measure)}
        if form == "jsonl":
            print_json(json.dumps({**head, "value": _finite(metric.value)}))
        else:
            print_lines("\t".join([*head.values(), format(metric.value, "" if places == -1 else f".{places}f")]))

    for metric in evaluator.iter_calc(chosen, queries.to_dict(), evaluated.to_dict()):
        totals[metric.measure].add(metric.value)
        undefined[metric.measure] += math.isnan(metric.value)
        if by_query and form == "json":
            values = document.setdefault("queries", {}).setdefault(metric.query_id, {})
            values[str(metric.measure)] = _finite(metric.value)
        elif by_query:
            show(metric, with_query=True)
    means = {} if no_summary else {measure: totals[measure].result() for measure in chosen}
    if form == "json":
        document["measures"] = {str(measure): _finite(mean) for measure, mean in means.items()}
        print_json(json.dumps(document, ensure_ascii=False, indent=2))
    else:
        for measure, mean in means.items():
            show(Metric(query_id="all", measure=measure, value=mean), with_query=by_query)
    for measure in chosen:
        if undefined[measure] and not quiet:
            defined = len(queries.query_ids) - undefined[measure]
            error_line(f"{measure}: the mean is over {defined} of {len(queries.query_ids)} queries")


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def datasets(dataset: str | None = None, /) -> None:
    """List the known datasets, or describe one.

    Shows how a dataset is evaluated, and which of its parts are on this machine; nothing is downloaded.

    Parameters
    ----------
    dataset
        An ir_datasets id.

    Examples
    --------
    ir-outcomes datasets
    ir-outcomes datasets msmarco-document/dev
    """
    from ir_outcomes.reading.qrels import known_tasks, load
    from ir_outcomes.showing.text import print_text, write
    from ir_outcomes.showing.views.tail import task_view, tasks_view

    view = tasks_view([load(name) for name in known_tasks()]) if dataset is None else task_view(load(dataset))
    print_text(write(view, rows=None), standard_output())


def sample(folder: Path, /, *, suite: bool = False) -> None:
    """Write the embedded sample, to try everything offline.

    The sample has 1000 queries with their texts and qrels, and four runs.

    Parameters
    ----------
    folder
        The folder to write to; it is created if it does not exist.
    suite
        Write four small collections with three runs each instead, for ir-outcomes suite.

    Examples
    --------
    ir-outcomes sample sample
    ir-outcomes sample --suite suite
    """
    from ir_outcomes.samples import write_sample, write_suite

    for path in write_suite(folder) if suite else write_sample(folder):
        print_lines(str(path))
