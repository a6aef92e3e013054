"""The commands for one run and for data: measure, datasets, sample."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ir_outcomes.cli.groups import add_command
from ir_outcomes.cli.options import QRELS, QUIET, choice, usage_error
from ir_outcomes.cli.streams import error_line, print_json, print_lines, standard_output

__all__ = ["register"]

Form = Literal["tsv", "jsonl", "json"]


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    add_command(
        app,
        measure,
        "ir-outcomes measure qrels.txt bm25.run ESL@100 Answered@100 nDCG@10",
        "ir-outcomes measure qrels.txt bm25.run RR@10 -q -n",
    )
    add_command(app, datasets, "ir-outcomes datasets", "ir-outcomes datasets msmarco-document/dev")
    add_command(app, sample, "ir-outcomes sample sample", "ir-outcomes sample --suite suite")


def measure(
    qrels: QRELS,
    run: Annotated[str, typer.Argument(metavar="RUN", help="The run file, or irds:<dataset id>.")],
    measures: Annotated[list[str], typer.Argument(metavar="MEASURE...", help="The measures, such as ESL@100 nDCG@10.")],
    places: Annotated[int, typer.Option("--places", "-p", help="The number of decimal places; -1 for all.")] = 4,
    by_query: Annotated[bool, typer.Option("--by_query", "-q", help="Print a line for each query.")] = False,
    no_summary: Annotated[
        bool, typer.Option("--no_summary", "-n", help="With --by_query: do not print the means over all queries.")
    ] = False,
    form: Annotated[
        Form,
        choice(
            Form,
            "--format",
            "--output_format",
            "-o",
            help="The format: lines, or one JSON document with the name and the metadata of the run.",
        ),
    ] = "tsv",
    provider: Annotated[
        str | None,
        typer.Option(help="The provider of ir_measures to evaluate with, such as pytrec_eval; by default the first that can."),
    ] = None,
    quiet: QUIET = False,
) -> None:
    """Evaluate one run, like the ir_measures command.

    Takes the same arguments as that command and prints the same output, also for ESL, ASL and Answered. How many queries the
    mean of a search length is over is printed to stderr. In JSON an undefined or infinite value is null.
    """
    import ir_measures
    from ir_measures.util import Metric

    from ir_outcomes.reading.measure_names import parse_measure
    from ir_outcomes.reading.qrels import as_qrels
    from ir_outcomes.reading.runs import as_run

    if no_summary and not by_query:
        raise usage_error("--no_summary (-n) only makes sense with --by_query (-q).")
    providers = ir_measures.providers.registry
    if provider is not None and provider not in providers:
        raise usage_error(f"--provider {provider}: must be one of {', '.join(providers)}.")
    if form != "tsv" and places != 4:
        error_line(f"--places is ignored with --format {form}")

    chosen = list(dict.fromkeys(parse_measure(name) for names in measures for name in _names_in(names)))
    if not chosen:
        raise usage_error("There is no measure; name at least one, such as ESL@100.")
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


def datasets(
    dataset: Annotated[str | None, typer.Argument(metavar="[ID]", help="An ir_datasets id.")] = None,
) -> None:
    """List the known datasets, or describe one.

    Shows how a dataset is evaluated, and which of its parts are on this machine; nothing is downloaded.
    """
    from ir_outcomes.reading.tasks import known_tasks, load
    from ir_outcomes.showing.text import print_text, write
    from ir_outcomes.showing.views.tail import task_view, tasks_view

    view = tasks_view([load(name) for name in known_tasks()]) if dataset is None else task_view(load(dataset))
    print_text(write(view, rows=None), standard_output())


def sample(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="The folder to write to; it is created if it does not exist.")
    ],
    suite: Annotated[
        bool, typer.Option("--suite", help="Write four small collections with three runs each instead, for ir-outcomes suite.")
    ] = False,
) -> None:
    """Write the embedded sample, to try everything offline.

    The sample has 1000 queries with their texts and qrels, and four runs.
    """
    from ir_outcomes.samples import write_sample, write_suite

    for path in write_suite(folder) if suite else write_sample(folder):
        print_lines(str(path))


def _names_in(text: str) -> list[str]:
    """Separate names of measures at white space, but not within the parentheses of one: a path may contain blanks."""
    return re.findall(r"(?:[^\s(]|\([^)]*\)?)+", text)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
