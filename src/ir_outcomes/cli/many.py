"""The commands for many runs, for the far end of the lists, for one run, and for data."""

import json
import math
import re
import sys
from dataclasses import asdict
from functools import partial
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

import ir_measures
from cyclopts import Parameter
from cyclopts.validators import Number

import ir_outcomes as iro
from ir_outcomes.cli import options, output
from ir_outcomes.evaluation.evaluation import is_saved
from ir_outcomes.samples import write_sample, write_suite


def check(
    qrels: options.QRELS,
    runs: options.RUNS,
    /,
    *,
    out: output.Output = output.Output(),
) -> int:
    """Find what in the files would change results.

    Ids that do not match, with the rule that would make them match; missing queries, identical
    runs, scores that contradict the ranks, equal scores, repeated judgments. The exit status is 3
    where there is a problem, else 0.

    Examples
    --------
    ir-outcomes check qrels.txt *.run
    """
    result = iro.check(qrels, runs)
    out.write(result)
    return result.exit_status


def evaluate(
    qrels: options.QRELS,
    runs: options.RUNS,
    /,
    *,
    path: Annotated[Path, Parameter(name=["--output", "-o"]), output.TARGET],
    settings: options.SystemOptions = options.SystemOptions(),
    measures: options.MEASURES = None,
    quiet: output.QUIET = False,
) -> None:
    """Evaluate runs once, into a file that stands for them.

    Parameters
    ----------
    path
        The file to write (.npz).
    measures
        Also keep the values of this measure, such as nDCG@10; may be given more than once.

    Examples
    --------
    ir-outcomes evaluate qrels.txt *.run -o board.npz
    """
    evaluation = settings.evaluate(qrels, runs, measures=measures or ())
    output.note_of_old_file(path)
    evaluation.save(path)


def leaderboard(
    qrels: options.QRELS,
    runs: options.RUNS | None = None,
    /,
    *,
    sources: options.Sources = options.Sources(),
    settings: options.SystemOptions = options.SystemOptions(),
    order: Literal["measure", "wins"] | None = None,
    entries: Path | None = None,
    alpha: options.ALPHA = 0.05,
    correction: options.CORRECTION = "holm",
    out: output.PlotOutput = output.PlotOutput(),
    kind: Annotated[Literal["tiers", "verdicts", "history"], output.PLOT_KIND] = "tiers",
    page: output.ReportOptions = output.ReportOptions(),
) -> None:
    """Order runs by a measure, with tiers and verdicts.

    Compares each run with the run above it and with the best. The first measure orders the runs; by
    default it is the reciprocal rank within the cutoff, and where the unit is documents pairs won
    less pairs lost.

    Parameters
    ----------
    order
        What orders the runs: the first measure, or pairs won less pairs lost by the verdicts
        (wins), then the measure.
    entries
        Dates and groups of the runs, for --plot-kind history: a CSV or JSON file with id, date and
        group.
    correction
        The correction of p-values over all pairs.
    kind
        The figure of --plot.

    Examples
    --------
    ir-outcomes leaderboard qrels.txt *.run --measure nDCG@10 --plot tiers.pdf
    """
    source, measures = sources.read(qrels, runs, settings, **page.kept())
    result = iro.leaderboard(
        source,
        measures=measures,
        order=order,
        alpha=alpha,
        correction=correction,
        entries=entries,
        progress=output.progress_is_shown(),
    )
    out.show(result, kind)
    page.write(result, None if sources.from_outputs else source, qrels)


def sota_history(
    entries: str,
    /,
    *,
    score: str | None = None,
    until: str | None = None,
    lower_is_better: bool = False,
    out: output.PlotOutput = output.PlotOutput(),
) -> None:
    """Find the submissions that took first place.

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
    ir-outcomes sota-history leaderboard.csv --until 2021-02-15
    """
    out.show(
        iro.sota_history(entries, score=score, until=until, higher_is_better=not lower_is_better)
    )


def rank_distribution(
    qrels: options.QRELS,
    runs: options.RUNS | None = None,
    /,
    *,
    sources: options.Sources = options.Sources(),
    cutoff: options.SHARED_CUTOFF = None,
    settings: options.EvaluateOptions = options.EvaluateOptions(),
    subsets: Annotated[list[str] | None, Parameter(name="--subset")] = None,
    labels: list[str] | None = None,
    top_k: Annotated[int, Parameter(name="--top", validator=options.POSITIVE)] = 5,
    level: Annotated[float, Parameter(group=options.STATISTICS, validator=options.LEVEL)] = 0.95,
    resamples: options.RESAMPLES = 1000,
    seed: options.SEED = 0,
    out: output.PlotOutput = output.PlotOutput(),
) -> None:
    """Rank the runs on bootstrap resamples of the queries.

    Shows how far the ranks depend on the choice of queries, for each measure, each qrels and each
    subset of the queries.

    Parameters
    ----------
    subsets
        NAME=FILE: also rank the runs on the queries in this file only; it has one id on each line.
    labels
        NAME=QRELS: also rank the runs by these other qrels.
    top_k
        Report how often each run is among the first so many.
    level
        The confidence level of the intervals of ranks.

    Examples
    --------
    ir-outcomes rank-distribution qrels.txt *.run -m RR@10 -m nDCG@10 --resamples 200 --plot ranks.pdf
    """
    sets = {"": None, **options.named_files(subsets, "--subset")}
    judgments = {"": qrels, **options.named_files(labels, "--labels")}
    results = {}
    for label, judged in judgments.items():
        source, measures = sources.read(judged, runs, settings, cutoff=cutoff)
        for measure, (subset, file) in product(measures or (None,), sets.items()):
            condition = ", ".join(filter(None, (label, subset)))
            result = iro.rank_distribution(
                source,
                measure=measure,
                queries=file,
                resamples=resamples,
                seed=seed,
                top_k=top_k,
                level=level,
                condition=condition,
                progress=output.progress_is_shown(),
            )
            results[f"{result.measure}\n{condition}".strip()] = result
    plot = result.plot
    if len(results) > 1:
        from ir_outcomes.showing.figures.leaderboards import conditions_plot

        plot = partial(conditions_plot, results)
    out.draw(plot)
    out.write(*results.values())


def agreement(
    qrels: options.QRELS,
    runs: options.RUNS | None = None,
    /,
    *,
    sources: options.Sources = options.Sources(),
    settings: options.RunOptions = options.RunOptions(),
    splits: Annotated[int, Parameter(validator=options.POSITIVE)] = 100,
    pairs: Annotated[int, Parameter(validator=options.POSITIVE)] = 20_000,
    alpha: options.ALPHA = 0.05,
    seed: options.SEED = 0,
    out: output.Output = output.Output(),
) -> None:
    """Count how often verdicts agree on halves of queries.

    Divides the queries at random, many times, and counts how often both halves give a pair of runs
    the same verdict, and how often each significance test decides alike, by default by the
    reciprocal rank and nDCG@10 (of saved evaluations, where it was kept).

    Parameters
    ----------
    splits
        The number of random splits into halves.
    pairs
        The most pairs of runs to judge; of more, a random sample of so many is drawn.

    Examples
    --------
    ir-outcomes agreement qrels.txt *.run --splits 10
    """
    kept = [iro.load_evaluation(run).scores for run in runs or () if is_saved(run)]
    has_it = [any(scores.measure == "nDCG@10" for scores in known) for known in kept]
    default = ["nDCG@10"] if all(has_it) else []
    source, measures = sources.read(qrels, runs, settings, default=default)
    result = iro.agreement(
        source,
        measures=measures,
        splits=splits,
        seed=seed,
        alpha=alpha,
        pairs=pairs,
        n_jobs=settings.n_jobs,
        progress=output.progress_is_shown(),
    )
    out.write(result)


def reordering(
    qrels: options.QRELS,
    runs: options.RUNS,
    /,
    *,
    measures: options.MEASURES = None,
    settings: options.TailOptions = options.TailOptions(),
    rules: options.TailRules = options.TailRules(),
    out: output.Output = output.Output(),
) -> None:
    """Show how runs are reordered by another measure.

    By default in steps from average precision (AP) to atomized search length (ASL).

    Parameters
    ----------
    measures
        A measure; give at least two, the old one first.

    Examples
    --------
    ir-outcomes reordering qrels.txt *.run
    """
    evaluation = settings.evaluate(qrels, runs, measures=measures or ())
    out.write(iro.reordering(evaluation, measures=measures, **asdict(rules)))


def tail(
    qrels: options.QRELS,
    runs: options.RUNS,
    /,
    *,
    show: Literal["lengths", "changes", "rrie", "headroom"] = "lengths",
    bins: Annotated[int | None, Parameter(validator=options.POSITIVE)] = None,
    settings: options.TailOptions = options.TailOptions(),
    rules: options.TailRules = options.TailRules(),
    out: output.PlotOutput = output.PlotOutput(),
    kind: Annotated[
        Literal["top precision", "top length", "precision", "length"] | None, output.PLOT_KIND
    ] = None,
) -> None:
    """Show where all relevant documents are ranked.

    Parameters
    ----------
    show
        The distribution of search lengths (lengths); between two runs their changes (changes) or
        the relative reduction in error (rrie); or the distribution of what the best run leaves to
        gain (headroom).
    bins
        The number of buckets of equal width, of lengths (by default 10) and of changes (by default
        growing buckets).
    kind
        The figure of --show headroom; quote a name of two words.

    Examples
    --------
    ir-outcomes tail qrels.txt bm25.run rrf-stem-lsa.run --show changes --bins 10
    """
    if show in ("changes", "rrie") and len(runs) != 2:
        raise options.UsageError(
            f"--show {show} is for two runs, the baseline and the contender; there are {len(runs)}."
        )
    if show == "rrie" and out.plot is not None:
        raise options.UsageError("--plot is not for --show rrie, which has no figure.")
    if bins is not None and show not in ("lengths", "changes"):
        raise options.UsageError("--bins is for --show lengths and --show changes.")
    evaluation = settings.evaluate(qrels, runs)
    result: Any
    if show == "lengths":
        result = iro.length_distributions(evaluation, bins=bins or 10, **asdict(rules))
    elif show == "changes":
        result = iro.length_changes(evaluation, *evaluation.names, bins=bins, **asdict(rules))
    elif show == "rrie":
        result = iro.rrie(evaluation, *evaluation.names, **asdict(rules))
    else:
        result = iro.headroom(evaluation, **asdict(rules))
    out.show(result, kind)


def measure(
    qrels: options.QRELS,
    run: str,
    measures: list[str],
    /,
    *,
    places: Annotated[
        int, Parameter(name=["--places", "-p"], validator=Number(gte=-1, lte=100))
    ] = 4,
    by_query: Annotated[bool, Parameter(name=["--by_query", "-q"])] = False,
    no_summary: Annotated[bool, Parameter(name=["--no_summary", "-n"])] = False,
    form: Annotated[
        Literal["tsv", "jsonl", "json"],
        Parameter(name=["--format", "--output_format", "-o"], group=output.OUTPUT),
    ] = "tsv",
    provider: str | None = None,
    quiet: output.QUIET = False,
) -> None:
    """Evaluate one run, like the ir_measures command.

    Takes its arguments and prints its output, also for ESL, ASL and Answered. How many queries a
    mean is over is printed to stderr. In JSON an undefined or infinite value is null.

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
        The provider of ir_measures to evaluate with, such as pytrec_eval; by default the first that
        can.

    Examples
    --------
    ir-outcomes measure qrels.txt bm25.run ESL@100 Answered@100 nDCG@10
    ir-outcomes measure qrels.txt bm25.run RR@10 -q -n
    """
    if no_summary and not by_query:
        raise options.UsageError("--no_summary (-n) only makes sense with --by_query (-q).")
    providers = ir_measures.providers.registry
    evaluator: Any = ir_measures if provider is None else providers.get(provider)
    if evaluator is None:
        raise options.UsageError(f"--provider {provider}: must be one of {', '.join(providers)}.")
    # Measures are separated at white space, but not within the parentheses of one: a path may
    # contain blanks.
    words = [word for text in measures for word in re.findall(r"(?:[^\s(]|\([^)]*\)?)+", text)]
    chosen = list(dict.fromkeys(map(iro.parse_measure, words)))
    if not chosen:
        raise options.UsageError("There is no measure; name at least one, such as ESL@100.")
    evaluated = iro.as_run(run)
    judgments = iro.as_qrels(qrels).for_trec_eval().to_dict()
    try:
        metrics = list(evaluator.iter_calc(chosen, judgments, evaluated.to_dict()))
    except ValueError as error:  # of a provider that lacks a measure
        raise iro.ParameterError(f"{error}; leave --provider out, or choose another one") from None
    means = []
    for measure in chosen:
        total = measure.aggregator()
        values = [metric.value for metric in metrics if metric.measure == measure]
        for value in values:
            total.add(value)
        means.append(ir_measures.Metric("all", measure, total.result()))
        if not quiet and (undefined := sum(map(math.isnan, values))):
            output.error_line(
                f"{measure}: the mean is over {len(values) - undefined} of {len(values)} queries"
            )
    of_queries = metrics if by_query else []
    of_all = [] if no_summary else means
    if form == "json":
        document: dict[str, Any] = {"run": evaluated.name, "metadata": evaluated.metadata}
        for query, measure, value in of_queries:
            document.setdefault("queries", {}).setdefault(query, {})[str(measure)] = _finite(value)
        document["measures"] = {str(measure): _finite(value) for _, measure, value in of_all}
        output.print_lines(json.dumps(document, ensure_ascii=False, indent=2))
        return
    for query, measure, value in (*of_queries, *of_all):
        head = {**({"query_id": query} if by_query else {}), "measure": str(measure)}
        if form == "jsonl":
            output.print_lines(json.dumps({**head, "value": _finite(value)}))
        else:
            output.print_lines(
                "\t".join([*head.values(), format(value, "" if places < 0 else f".{places}f")])
            )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def datasets(dataset: str | None = None, /) -> None:
    """List the known datasets, or describe one.

    Shows how a dataset is evaluated, and which of its parts are on this machine; nothing is
    downloaded.

    Parameters
    ----------
    dataset
        An ir_datasets id.

    Examples
    --------
    ir-outcomes datasets msmarco-document/dev
    """
    from ir_outcomes.showing.formats import as_text, print_text
    from ir_outcomes.showing.views import task_view, tasks_view

    if dataset is None:
        view = tasks_view([iro.load(name) for name in iro.known_tasks()])
    else:
        view = task_view(iro.load(dataset))
    print_text(as_text(view, rows=None), sys.stdout)


def sample(folder: Path, /, *, suite: bool = False) -> None:
    """Write the embedded sample, to try everything offline.

    The sample has 1000 queries with their texts and qrels, and four runs.

    Parameters
    ----------
    folder
        The folder to write to; it is created if it does not exist.
    suite
        Write four small collections with three runs each instead, for ir-outcomes
        compare-collections.

    Examples
    --------
    ir-outcomes sample sample
    ir-outcomes sample --suite suite
    """
    for path in write_suite(folder) if suite else write_sample(folder):
        output.print_lines(str(path))
