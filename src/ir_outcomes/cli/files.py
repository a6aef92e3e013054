"""The commands for files: whether they fit, one run like the ir_measures command, datasets, the sample."""

import json
import math
import re
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import ir_measures
from cyclopts import Parameter
from cyclopts.validators import Number

import ir_outcomes as iro
from ir_outcomes.cli.options import QRELS, RUNS, UsageError
from ir_outcomes.cli.output import OUTPUT, QUIET, Output, error_line, print_lines
from ir_outcomes.samples import write_sample, write_suite


def check(
    qrels: QRELS,
    runs: RUNS,
    /,
    *,
    out: Output = Output(),
) -> int:
    """Find what in the files would change results.

    Runs that cannot be read; ids that do not match, with the rule that would make them match;
    missing queries, identical runs, scores that contradict the ranks, equal scores, repeated
    judgments. The exit status is 1 where a run cannot be read, 3 where there is another problem,
    else 0.

    Examples
    --------
    ir-outcomes check qrels.txt *.run
    """
    result = iro.check(qrels, runs)
    out.write(result)
    return result.exit_status


def measure(
    qrels: QRELS,
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
        Parameter(name=["--format", "--output_format", "-o"], group=OUTPUT),
    ] = "tsv",
    provider: str | None = None,
    quiet: QUIET = False,
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
        The format: lines, or one JSON document with the name of the run.
    provider
        The provider of ir_measures to evaluate with, such as pytrec_eval; by default the first that
        can.

    Examples
    --------
    ir-outcomes measure qrels.txt bm25.run ESL@100 Answered@100 nDCG@10
    ir-outcomes measure qrels.txt bm25.run RR@10 -q -n
    """
    if no_summary and not by_query:
        raise UsageError("--no_summary (-n) only makes sense with --by_query (-q).")
    providers = ir_measures.providers.registry
    evaluator: Any = ir_measures if provider is None else providers.get(provider)
    if evaluator is None:
        raise UsageError(f"--provider {provider}: must be one of {', '.join(providers)}.")
    # Measures are separated at white space, but not within the parentheses of one: a path may
    # contain blanks.
    words = [word for text in measures for word in re.findall(r"(?:[^\s(]|\([^)]*\)?)+", text)]
    chosen = list(dict.fromkeys(map(iro.parse_measure, words)))
    if not chosen:
        raise UsageError("There is no measure; name at least one, such as ESL@100.")
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
            error_line(
                f"{measure}: the mean is over {len(values) - undefined} of {len(values)} queries"
            )
    of_queries = metrics if by_query else []
    of_all = [] if no_summary else means
    if form == "json":
        document: dict[str, Any] = {"run": evaluated.name}
        for query, measure, value in of_queries:
            document.setdefault("queries", {}).setdefault(query, {})[str(measure)] = _finite(value)
        document["measures"] = {str(measure): _finite(value) for _, measure, value in of_all}
        print_lines(json.dumps(document, ensure_ascii=False, indent=2))
        return
    for query, measure, value in (*of_queries, *of_all):
        head = {**({"query_id": query} if by_query else {}), "measure": str(measure)}
        if form == "jsonl":
            print_lines(json.dumps({**head, "value": _finite(value)}))
        else:
            print_lines(
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
    from ir_outcomes.showing.text import as_text, print_text
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
        print_lines(str(path))
